// Tables say as much about the taps as the filter that they were made from.
// RUN: disco-opt %s --disco-select-kernel --disco-materialize-filters -o %t.before.mlir
// RUN: disco-opt %s --disco-materialize-filters --disco-select-kernel -o %t.after.mlir
// RUN: grep -o 'plan <.*problem = 0x[0-9a-f]*>' %t.before.mlir > %t.before
// RUN: grep -o 'plan <.*problem = 0x[0-9a-f]*>' %t.after.mlir > %t.after
// RUN: diff %t.before %t.after && FileCheck %s --check-prefix=PLANS --input-file=%t.after
// RUN: disco-opt %t.before.mlir --disco-verify-plan --disco-select-kernel | FileCheck %s --check-prefix=KEPT
// RUN: disco-opt %t.before.mlir --disco-explain=output=%t.md -o /dev/null && FileCheck %s --check-prefix=PAGE --input-file=%t.md

// PLANS-COUNT-5: plan <{{.*}}problem = 0x
// KEPT: disco.conv {{.*}} plan <cpu_gather,
// PAGE: # disco.conv in @forward: cpu_gather
// PAGE: - psi: tables: #disco.storage<arcs, !disco.psi<sphere, 9, 16x32 -> 16x32>>{{$}}
// PAGE: | taps a row, most | {{[0-9]+}} | exact |

// What became stale, and what no kernel takes, is refused.
// RUN: sed 's/problem = 0x[0-9a-f]*/problem = 0x1/' %t.before.mlir > %t.stale.mlir
// RUN: not disco-opt %t.stale.mlir --disco-verify-plan 2>&1 | FileCheck %s --check-prefix=STALE
// RUN: sed 's/channel_block = [0-9]*/channel_block = 0/; s/tile = [0-9]*/tile = 0/; s/, problem = 0x[0-9a-f]*//' %t.before.mlir > %t.field.mlir
// RUN: not disco-opt %t.field.mlir --disco-verify-plan 2>&1 | FileCheck %s --check-prefix=FIELD
// RUN: sed 's/, problem = 0x[0-9a-f]*//' %t.before.mlir | sed 's/plan <cpu_gather, order = weight_first/plan <cpu_gather/; t; s/plan <cpu_gather/plan <cpu_gather, order = weight_first/' > %t.order.mlir
// RUN: not disco-opt %t.order.mlir --disco-verify-plan 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: sed 's/plan <cpu_gather.*> :/plan <csr_gather> :/' %t.before.mlir > %t.chip.mlir
// RUN: not disco-opt %t.chip.mlir --disco-select-kernel 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not disco-opt %t.before.mlir --disco-select-kernel=force-order=weight_first 2>&1 | FileCheck %s --check-prefix=FORCED
// STALE: 'disco.conv' op expected the problem of the plan to be 0x{{[0-9a-f]*}}, but got 0x0000000000000001: the plan was made for another operation{{$}}
// FIELD: 'disco.conv' op family 'cpu_gather' is not applicable: rule 12:
// ORDER: 'disco.conv_weight_grad' op expected the arcs of psi to be those of {{.*}}, which the order {{.*}} applies, but got those of {{.*$}}
// CHIP: 'disco.conv' op family 'csr_gather' is not applicable: rule 4: expected the target to be a cuda target, but got avx2 (cpu); suggestion: compile for a cuda target{{$}}
// FORCED: error: 'disco.conv' op expected the plan to have the order 'weight_first' that is forced, but got 'filter_first'{{$}}

#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>
#down = #disco.sphere_filter<piecewise_linear, [3], cutoff = 0.4, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 8x16>>
!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
!x = tensor<1x4x16x32xf32>
func.func @forward(%x: !x, %w: tensor<4x4x9xf32>) -> !x {
  %psi = disco.filter #filter -> !psi
  %y = disco.conv %x, %psi, %w : (!x, !psi, tensor<4x4x9xf32>) -> !x
  return %y : !x
}

func.func @input_gradient(%gy: tensor<1x4x8x16xf32>, %w: tensor<4x4x2xf32>) -> !x {
  %psi = disco.filter #down -> !disco.psi<sphere, 2, 16x32 -> 8x16>
  %adjoint = disco.adjoint %psi : !disco.psi<sphere, 2, 16x32 -> 8x16>
  %gx = disco.conv %gy, %adjoint, %w : (tensor<1x4x8x16xf32>, !disco.psi<sphere, 2, 8x16 -> 16x32>, tensor<4x4x2xf32>) -> !x
  return %gx : !x
}

func.func @weight_gradient(%x: !x, %gy: tensor<1x16x8x16xf32>) -> tensor<16x4x2xf32> {
  %psi = disco.filter #down -> !disco.psi<sphere, 2, 16x32 -> 8x16>
  %gw = disco.conv_weight_grad %x, %gy, %psi : (!x, tensor<1x16x8x16xf32>, !disco.psi<sphere, 2, 16x32 -> 8x16>) -> tensor<16x4x2xf32>
  return %gw : tensor<16x4x2xf32>
}

func.func @table(%x: tensor<1x4x300xf32>, %v: tensor<3x2x2xf32>, %w: tensor<5x4x2xf32>) -> tensor<1x5x3xf32> {
  %i = arith.constant dense<[[0, 1], [5, 300], [9, 7]]> : tensor<3x2xi32>
  %psi = disco.assemble knn(%i, %v) : (tensor<3x2xi32>, tensor<3x2x2xf32>) -> !disco.psi<table<2>, 2, 300 -> 3>
  %y = disco.conv %x, %psi, %w : (tensor<1x4x300xf32>, !disco.psi<table<2>, 2, 300 -> 3>, tensor<5x4x2xf32>) -> tensor<1x5x3xf32>
  return %y : tensor<1x5x3xf32>
}

func.func @run_time(%x: tensor<1x4x300xf32>, %i: tensor<300x3xi32>, %v: tensor<300x3x2xf32>, %w: tensor<5x4x2xf32>) -> tensor<1x5x300xf32> {
  %psi = disco.assemble knn(%i, %v) : (tensor<300x3xi32>, tensor<300x3x2xf32>) -> !disco.psi<table<3>, 2, 300 -> 300>
  %y = disco.conv %x, %psi, %w : (tensor<1x4x300xf32>, !disco.psi<table<3>, 2, 300 -> 300>, tensor<5x4x2xf32>) -> tensor<1x5x300xf32>
  return %y : tensor<1x5x300xf32>
}
