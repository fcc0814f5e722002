// RUN: disco-opt %s --disco-select-kernel | FileCheck %s
// RUN: disco-opt %s --disco-select-kernel="target=avx512 assumed-batch=8" | FileCheck %s --check-prefix=AVX512
// RUN: disco-opt %s --disco-select-kernel | disco-opt --disco-select-kernel --disco-verify-plan | FileCheck %s
// RUN: disco-opt %s --disco-select-kernel="force-order=weight_first" | FileCheck %s --check-prefix=FORCED

// Planned again, plans stay as they are: the third line.

#down = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 8x16>>
!down = !disco.psi<sphere, 9, 16x32 -> 8x16>

// CHECK: module attributes {disco.target = #disco.target<"avx2">}
// AVX512: module attributes {disco.target = #disco.target<"avx512">}

// Downsampling filters first: the mix then runs on the small grid.
// CHECK-LABEL: @downsampling
// CHECK: plan <cpu_gather, schedule = {tile = {{[0-9]+}}, channel_block = {{[0-9]+}}}, target = "avx2", batch = 1, problem = 0x{{[0-9a-f]+}}>
// AVX512-LABEL: @downsampling
// AVX512: plan <cpu_gather, schedule = {{{.*}}}, target = "avx512", batch = 8, problem = 0x
// FORCED-LABEL: @downsampling
// FORCED: plan <cpu_gather, order = weight_first, schedule = {tile = 0, channel_block = {{[0-9]+}}},
func.func @downsampling(%x: tensor<?x4x16x32xf32>, %w: tensor<4x4x9xf32>) -> tensor<?x4x8x16xf32> {
  %psi = disco.filter #down -> !down
  %y = disco.conv %x, %psi, %w : (tensor<?x4x16x32xf32>, !down, tensor<4x4x9xf32>) -> tensor<?x4x8x16xf32>
  return %y : tensor<?x4x8x16xf32>
}

// Few outputs of many channels mix first. A static batch is no assumption.
// CHECK-LABEL: @reducing
// CHECK: plan <cpu_gather, order = weight_first, schedule = {tile = 0, channel_block = {{[0-9]+}}}, target = "avx2", problem = 0x
func.func @reducing(%x: tensor<2x64x16x32xf32>, %w: tensor<1x64x9xf32>) -> tensor<2x1x8x16xf32> {
  %psi = disco.filter #down -> !down
  %y = disco.conv %x, %psi, %w : (tensor<2x64x16x32xf32>, !down, tensor<1x64x9xf32>) -> tensor<2x1x8x16xf32>
  return %y : tensor<2x1x8x16xf32>
}

// What is written is kept, the rest is chosen.
// CHECK-LABEL: @by_hand
// CHECK: plan <loops, order = weight_first, target = "avx2", batch = 3, problem = 0x
func.func @by_hand(%x: tensor<?x4x16x32xf32>, %w: tensor<4x4x9xf32>) -> tensor<?x4x8x16xf32> {
  %psi = disco.filter #down -> !down
  %y = disco.conv %x, %psi, %w plan <loops, order = weight_first, batch = 3> : (tensor<?x4x16x32xf32>, !down, tensor<4x4x9xf32>) -> tensor<?x4x8x16xf32>
  return %y : tensor<?x4x8x16xf32>
}

// An op with one order is not asked for another.
// CHECK-LABEL: @one_order
// CHECK: disco.contract %{{.*}} plan <cpu_gather, schedule = {tile = {{[0-9]+}}, channel_block = 0}, target
// CHECK: disco.contract_sum %{{.*}} plan <loops, order = weight_first, target
// FORCED-LABEL: @one_order
// FORCED: disco.contract %{{.*}} plan <cpu_gather, schedule
func.func @one_order(%x: tensor<?x4x16x32xf32>) -> tensor<?x4x16x32xf32> {
  %psi = disco.filter #down -> !down
  %z = disco.contract %x, %psi : (tensor<?x4x16x32xf32>, !down) -> tensor<?x4x9x8x16xf32>
  %adjoint = disco.adjoint %psi : !down
  %y = disco.contract_sum %z, %adjoint plan <loops> : (tensor<?x4x9x8x16xf32>, !disco.psi<sphere, 9, 8x16 -> 16x32>) -> tensor<?x4x16x32xf32>
  return %y : tensor<?x4x16x32xf32>
}

// Tables known only at run time, and constant ones, in every structure; the
// smallest problems do not pay for starting threads.
// CHECK-LABEL: @tables
// CHECK-COUNT-5: plan <loops, target = "avx2"
func.func @tables(%x: tensor<?x4x6xf32>, %i: tensor<5x3xi32>, %v: tensor<5x3x2xf32>, %psi: !disco.psi<csr, 2, 6 -> 5>)
    -> (tensor<?x4x2x5xf32>, tensor<?x4x2x5xf32>, tensor<?x4x2x5xf32>, tensor<?x4x2x5xf32>, tensor<?x4x2x5xf32>) {
  %0 = disco.contract %x, %psi : (tensor<?x4x6xf32>, !disco.psi<csr, 2, 6 -> 5>) -> tensor<?x4x2x5xf32>
  %t = disco.assemble knn(%i, %v) : (tensor<5x3xi32>, tensor<5x3x2xf32>) -> !disco.psi<table<3>, 2, 6 -> 5>
  %1 = disco.contract %x, %t : (tensor<?x4x6xf32>, !disco.psi<table<3>, 2, 6 -> 5>) -> tensor<?x4x2x5xf32>
  %ci = arith.constant dense<[[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 6], [6, 6, 6]]> : tensor<5x3xi32>
  %cv = arith.constant dense<1.0> : tensor<5x3x2xf32>
  %c = disco.assemble knn(%ci, %cv) : (tensor<5x3xi32>, tensor<5x3x2xf32>) -> !disco.psi<table<3>, 2, 6 -> 5>
  %2 = disco.contract %x, %c : (tensor<?x4x6xf32>, !disco.psi<table<3>, 2, 6 -> 5>) -> tensor<?x4x2x5xf32>
  %bins = arith.constant dense<1> : tensor<5x3xi32>
  %o = disco.assemble knn_onehot(%ci, %bins) : (tensor<5x3xi32>, tensor<5x3xi32>) -> !disco.psi<table<3>, 2, 6 -> 5>
  %3 = disco.contract %x, %o : (tensor<?x4x6xf32>, !disco.psi<table<3>, 2, 6 -> 5>) -> tensor<?x4x2x5xf32>
  %ro = arith.constant dense<[0, 0, 1, 1, 2, 2]> : tensor<6xi32>
  %rc = arith.constant dense<[3, 5]> : tensor<2xi32>
  %rv = arith.constant dense<1.0> : tensor<2x2xf32>
  %r = disco.assemble csr(%ro, %rc, %rv) : (tensor<6xi32>, tensor<2xi32>, tensor<2x2xf32>) -> !disco.psi<csr, 2, 6 -> 5>
  %4 = disco.contract %x, %r : (tensor<?x4x6xf32>, !disco.psi<csr, 2, 6 -> 5>) -> tensor<?x4x2x5xf32>
  return %0, %1, %2, %3, %4 : tensor<?x4x2x5xf32>, tensor<?x4x2x5xf32>, tensor<?x4x2x5xf32>, tensor<?x4x2x5xf32>, tensor<?x4x2x5xf32>
}
