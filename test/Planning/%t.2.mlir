module {
  func.func private @types(!disco.psi<sphere, 9, 721x1440 -> 360x720>, !disco.psi<sphere, 1, 8x16 -> 16x32>, !disco.psi<table<25>, 100, 128 -> 40>, !disco.psi<csr, 4, 300 -> 33>)
  func.func private @grids() attributes {a = #disco.grid<equiangular, 721x1440>, b = #disco.grid<legendre_gauss, 360x720>, c = #disco.grid<lobatto, 16x32>, d = #disco.grid<equiangular_trapezoidal, 2x1>}
  func.func private @filters() attributes {a = #disco.sphere_filter<piecewise_linear, [3], norm = nodal, in = #disco.grid<lobatto, 16x32>, out = #disco.grid<lobatto, 16x32>>, b = #disco.sphere_filter<harmonic, [3, 3], cutoff = 1e-05, norm = modal, in = #disco.grid<lobatto, 16x32>, out = #disco.grid<lobatto, 8x16>>, c = #disco.sphere_filter<morlet, [2, 4], cutoff = 2, norm = mean, in = #disco.grid<lobatto, 16x32>, out = #disco.grid<lobatto, 16x32>>, d = #disco.sphere_filter<zernike, [3], cutoff = 0.45, norm = support, in = #disco.grid<lobatto, 16x32>, out = #disco.grid<lobatto, 16x32>>, e = #disco.sphere_filter<fourier_bessel, [3, 0], cutoff = 0.02771993517873347, norm = geometric, in = #disco.grid<lobatto, 8x16>, out = #disco.grid<lobatto, 16x32>, transpose>, f = #disco.sphere_filter<harmonic, [1], cutoff = 0.1, norm = none, in = #disco.grid<lobatto, 16x32>, out = #disco.grid<lobatto, 16x32>>}
  func.func private @storages() attributes {a = #disco.storage<arcs, !disco.psi<sphere, 9, 16x32 -> 8x16>>, b = #disco.storage<csr, !disco.psi<csr, 3, 300 -> 33>, adjoint>, c = #disco.storage<csr, !disco.psi<table<5>, 3, 128 -> 40>>, d = #disco.storage<table, !disco.psi<table<5>, 3, 128 -> 40>, adjoint>, e = #disco.storage<onehot, !disco.psi<table<5>, 3, 128 -> 40>>}
  func.func private @plans() attributes {a = #disco.plan<loops>, b = #disco.plan<loops, order = weight_first>, c = #disco.plan<loops, provider = runtime>, d = #disco.plan<loops, provider = runtime, order = weight_first>}
  func.func private @enumerations() attributes {a = #disco<activation silu>, b = #disco<table_format knn_onehot>}
  func.func @filter() -> !disco.psi<sphere, 9, 8x16 -> 16x32> {
    %0 = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.1, norm = mean, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 8x16>> {note = "kept"} -> !disco.psi<sphere, 9, 16x32 -> 8x16>
    %1 = disco.adjoint %0 : !disco.psi<sphere, 9, 16x32 -> 8x16>
    return %1 : !disco.psi<sphere, 9, 8x16 -> 16x32>
  }
  func.func @assemble(%arg0: tensor<?xi64>, %arg1: tensor<?xi32>, %arg2: tensor<?xi32>, %arg3: tensor<99xi64>, %arg4: tensor<99xf64>, %arg5: tensor<16x?x2xi32>, %arg6: tensor<16x?x16xbf16>, %arg7: tensor<16xi32>, %arg8: tensor<34xi32>, %arg9: tensor<99x4xf32>, %arg10: tensor<40x25xi32>, %arg11: tensor<40x25x100xf16>, %arg12: tensor<40x25xi64>) {
    %0 = disco.assemble  harmonics_csr(%arg0, %arg1, %arg2, %arg3, %arg4) : (tensor<?xi64>, tensor<?xi32>, tensor<?xi32>, tensor<99xi64>, tensor<99xf64>) -> !disco.psi<sphere, 9, 16x32 -> 8x16>
    %1 = disco.assemble  coo(%arg1, %arg2, %arg3, %arg4) : (tensor<?xi32>, tensor<?xi32>, tensor<99xi64>, tensor<99xf64>) -> !disco.psi<sphere, 9, 16x32 -> 16x32>
    %2 = disco.assemble  coo(%arg1, %arg2, %arg3, %arg4) : (tensor<?xi32>, tensor<?xi32>, tensor<99xi64>, tensor<99xf64>) -> !disco.psi<csr, 4, 300 -> 33>
    %3 = disco.assemble  kpacked(%arg5, %arg6, %arg7) : (tensor<16x?x2xi32>, tensor<16x?x16xbf16>, tensor<16xi32>) -> !disco.psi<sphere, 9, 16x32 -> 16x32>
    %4 = disco.assemble  csr(%arg8, %arg3, %arg9) : (tensor<34xi32>, tensor<99xi64>, tensor<99x4xf32>) -> !disco.psi<csr, 4, 300 -> 33>
    %5 = disco.assemble  knn(%arg10, %arg11) : (tensor<40x25xi32>, tensor<40x25x100xf16>) -> !disco.psi<table<25>, 100, 128 -> 40>
    %6 = disco.assemble  knn_onehot(%arg10, %arg12) {note = "kept"} : (tensor<40x25xi32>, tensor<40x25xi64>) -> !disco.psi<table<25>, 100, 128 -> 40>
    return
  }
  func.func @contract(%arg0: tensor<?x4x16x32xf32>, %arg1: !disco.psi<sphere, 9, 16x32 -> 8x16>, %arg2: tensor<3x4x128xf64>, %arg3: tensor<40x5xi64>, %arg4: tensor<40x5x3xf64>) {
    %0 = disco.contract %arg0, %arg1 : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<?x4x9x8x16xf32>
    %1 = disco.contract %arg0, %arg1 plan <loops> : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<2x4x9x8x16xf32>
    %2 = disco.contract %arg2, (%arg3, %arg4) storage <table, !disco.psi<table<5>, 3, 128 -> 40>> plan <loops, order = weight_first> {note = "kept"} : (tensor<3x4x128xf64>, tensor<40x5xi64>, tensor<40x5x3xf64>) -> tensor<3x4x3x40xf64>
    return
  }
  func.func @contract_sum(%arg0: tensor<?x4x9x16x32xbf16>, %arg1: !disco.psi<sphere, 9, 16x32 -> 8x16>, %arg2: tensor<0x1x3x33xf16>, %arg3: tensor<34xi32>, %arg4: tensor<?xi32>, %arg5: tensor<?x3xf16>) {
    %0 = disco.contract_sum %arg0, %arg1 : (tensor<?x4x9x16x32xbf16>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<?x4x8x16xbf16>
    %1 = disco.contract_sum %arg2, (%arg3, %arg4, %arg5) storage <csr, !disco.psi<csr, 3, 33 -> 300>, adjoint> plan <loops, provider = runtime> {note = "kept"} : (tensor<0x1x3x33xf16>, tensor<34xi32>, tensor<?xi32>, tensor<?x3xf16>) -> tensor<0x1x300xf16>
    return
  }
  func.func @conv(%arg0: tensor<?x4x16x32xf32>, %arg1: !disco.psi<sphere, 9, 16x32 -> 16x32>, %arg2: tensor<6x4x9xf32>, %arg3: tensor<6x2x9xf32>, %arg4: tensor<6xf32>, %arg5: tensor<?x6x16x32xf32>, %arg6: tensor<1x4x16x32xf16>, %arg7: tensor<6xf16>, %arg8: tensor<17xi32>, %arg9: tensor<?x4xi32>, %arg10: tensor<?x9xf32>) {
    %0 = disco.conv %arg0, %arg1, %arg2 : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x4x9xf32>) -> tensor<?x6x16x32xf32>
    %1 = disco.conv %arg0, %arg1, %arg3 bias %arg4 residual %arg5 groups 2 activation gelu plan <loops, order = weight_first> : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x2x9xf32>, tensor<6xf32>, tensor<?x6x16x32xf32>) -> tensor<?x6x16x32xf32>
    %2 = disco.conv %arg0, (%arg8, %arg9, %arg10), %arg2 residual %arg5 activation relu storage <arcs, !disco.psi<sphere, 9, 16x32 -> 16x32>> {note = "kept"} : (tensor<?x4x16x32xf32>, tensor<17xi32>, tensor<?x4xi32>, tensor<?x9xf32>, tensor<6x4x9xf32>, tensor<?x6x16x32xf32>) -> tensor<?x6x16x32xf32>
    %3 = disco.conv %arg6, %arg1, %arg2 bias %arg7 activation gelu_tanh : (tensor<1x4x16x32xf16>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x4x9xf32>, tensor<6xf16>) -> tensor<1x6x16x32xf16>
    %4 = disco.conv %arg6, %arg1, %arg2 activation silu : (tensor<1x4x16x32xf16>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x4x9xf32>) -> tensor<1x6x16x32xf16>
    return
  }
  func.func @conv_weight_grad(%arg0: tensor<?x4x16x32xbf16>, %arg1: tensor<?x6x8x16xbf16>, %arg2: !disco.psi<sphere, 9, 16x32 -> 8x16>, %arg3: tensor<9xi32>, %arg4: tensor<?x4xi32>, %arg5: tensor<?x9xbf16>) {
    %weight_grad = disco.conv_weight_grad %arg0, %arg1, %arg2 : (tensor<?x4x16x32xbf16>, tensor<?x6x8x16xbf16>, !disco.psi<sphere, 9, 16x32 -> 8x16>) -> tensor<6x4x9xf32>
    %weight_grad_0, %bias_grad = disco.conv_weight_grad %arg0, %arg1, (%arg3, %arg4, %arg5) groups 2 storage <arcs, !disco.psi<sphere, 9, 16x32 -> 8x16>> plan <loops> {note = "kept"} : (tensor<?x4x16x32xbf16>, tensor<?x6x8x16xbf16>, tensor<9xi32>, tensor<?x4xi32>, tensor<?x9xbf16>) -> (tensor<6x2x9xbf16>, tensor<6xf32>)
    return
  }
}

