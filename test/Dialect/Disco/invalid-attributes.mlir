// RUN: disco-opt %s -split-input-file -verify-diagnostics -allow-unregistered-dialect

// The grammar and the rules of grids and filters are lib/Filter's; these cases
// show that they surface through the attribute, whole and at the right place.

// expected-error @+1 {{expected nlat to be at least 2, but got 1}}
"test.op"() {a = #disco.grid<legendre_gauss, 1x32>} : () -> ()

// -----

// expected-error @+1 {{expected nlat to be at least 2, but got -9223372036854775808}}
"test.op"() {grid_C1_smallest_integer = #disco.grid<legendre_gauss, -9223372036854775808x32>} : () -> ()

// -----

// expected-error @+1 {{expected nlat to be at most 65536, but got 65537}}
"test.op"() {grid_C1_most = #disco.grid<legendre_gauss, 65537x32>} : () -> ()

// -----

// expected-error @+1 {{expected nlon to be at least 1, but got 0}}
"test.op"() {grid_C2 = #disco.grid<legendre_gauss, 16x0>} : () -> ()

// -----

// expected-error @+1 {{expected the number of grid points to be at most 2147483647, but got 65536x9223372036854775807}}
"test.op"() {grid_C3 = #disco.grid<legendre_gauss, 65536x9223372036854775807>} : () -> ()

// -----

// expected-error @+1 {{expected the grid to be equiangular, legendre_gauss, lobatto or equiangular_trapezoidal, but got 'healpix' at offset 5}}
"test.op"() {grid_unknown = #disco.grid<healpix, 16x32>} : () -> ()

// -----

// expected-error @+1 {{expected nlat to fit in 64 bits, but got '9223372036854775808' at offset 21}}
"test.op"() {grid_overflow = #disco.grid<legendre_gauss, 9223372036854775808x32>} : () -> ()

// -----

// expected-error @+1 {{expected ',', but got '>' at offset 19}}
"test.op"() {grid_without_size = #disco.grid<legendre_gauss>} : () -> ()

// -----

// expected-error @+1 {{expected the shape of harmonic to be 1 or 2 numbers, but got 3}}
"test.op"() {filter_C1 = #disco.sphere_filter<harmonic, [3, 3, 3], in = #disco.grid<lobatto, 16x32>, out = #disco.grid<lobatto, 16x32>>} : () -> ()

// -----

// expected-error @+1 {{expected the shape of zernike to be 1 number, but got 2}}
"test.op"() {filter_C1_zernike = #disco.sphere_filter<zernike, [3, 3], in = #disco.grid<lobatto, 16x32>, out = #disco.grid<lobatto, 16x32>>} : () -> ()

// -----

// expected-error @+1 {{expected entry 1 of the shape of piecewise_linear to be at least 1, but got 0}}
"test.op"() {filter_C2 = #disco.sphere_filter<piecewise_linear, [3, 0], in = #disco.grid<lobatto, 16x32>, out = #disco.grid<lobatto, 16x32>>} : () -> ()

// -----

// expected-error @+1 {{expected entry 0 of the shape of morlet to be at least 1, but got -3}}
"test.op"() {filter_C2_negative = #disco.sphere_filter<morlet, [-3, 3], in = #disco.grid<lobatto, 16x32>, out = #disco.grid<lobatto, 16x32>>} : () -> ()

// -----

// expected-error @+1 {{expected entry 0 of the shape of zernike to be at most 4096, but got 9223372036854775807}}
"test.op"() {filter_C2_most = #disco.sphere_filter<zernike, [9223372036854775807], in = #disco.grid<lobatto, 16x32>, out = #disco.grid<lobatto, 16x32>>} : () -> ()

// -----

// expected-error @+1 {{expected the number of basis functions to be at most 4096, but got 4160}}
"test.op"() {filter_C3 = #disco.sphere_filter<harmonic, [64, 65], in = #disco.grid<lobatto, 16x32>, out = #disco.grid<lobatto, 16x32>>} : () -> ()

// -----

// expected-error @+1 {{expected cutoff to be positive and finite, but got 0}}
"test.op"() {filter_C4 = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0, in = #disco.grid<lobatto, 16x32>, out = #disco.grid<lobatto, 16x32>>} : () -> ()

// -----

// expected-error @+1 {{expected cutoff to be at most pi, but got 3.5}}
"test.op"() {filter_C4_beyond_the_sphere = #disco.sphere_filter<harmonic, [3, 3], cutoff = 3.5, in = #disco.grid<lobatto, 16x32>, out = #disco.grid<lobatto, 16x32>>} : () -> ()

// -----

// expected-error @+1 {{expected cutoff to be positive and finite, but got -0.1}}
"test.op"() {filter_C4_negative = #disco.sphere_filter<harmonic, [3, 3], cutoff = -1e-1, in = #disco.grid<lobatto, 16x32>, out = #disco.grid<lobatto, 16x32>>} : () -> ()

// -----

// expected-error @+1 {{expected cutoff to be a number, but got 'nan' at offset 41}}
"test.op"() {filter_C4_nan = #disco.sphere_filter<harmonic, [3, 3], cutoff = nan, in = #disco.grid<lobatto, 16x32>, out = #disco.grid<lobatto, 16x32>>} : () -> ()

// -----

// expected-error @+1 {{expected cutoff to be in the range of float64, but got '1e999' at offset 41}}
"test.op"() {filter_C4_infinite = #disco.sphere_filter<harmonic, [3, 3], cutoff = 1e999, in = #disco.grid<lobatto, 16x32>, out = #disco.grid<lobatto, 16x32>>} : () -> ()

// -----

// expected-error @+1 {{input grid: expected nlat to be at least 2, but got 1}}
"test.op"() {filter_C5_in = #disco.sphere_filter<harmonic, [3, 3], in = #disco.grid<lobatto, 1x32>, out = #disco.grid<lobatto, 16x32>>} : () -> ()

// -----

// expected-error @+1 {{output grid: expected nlon to be at least 1, but got -32}}
"test.op"() {filter_C5_out = #disco.sphere_filter<harmonic, [3, 3], in = #disco.grid<lobatto, 16x32>, out = #disco.grid<lobatto, 16x-32>>} : () -> ()

// -----

// expected-error @+1 {{expected nlon of the input grid to be a multiple of nlon of the output grid, but got 32 and 12}}
"test.op"() {filter_C6 = #disco.sphere_filter<harmonic, [3, 3], in = #disco.grid<lobatto, 16x32>, out = #disco.grid<lobatto, 16x12>>} : () -> ()

// -----

// expected-error @+1 {{expected nlon of the output grid to be a multiple of nlon of the input grid, but got 16 and 32}}
"test.op"() {filter_C6_transpose = #disco.sphere_filter<harmonic, [3, 3], in = #disco.grid<lobatto, 16x32>, out = #disco.grid<lobatto, 16x16>, transpose>} : () -> ()

// -----

// expected-error @+1 {{expected the basis to be piecewise_linear, harmonic, morlet, zernike or fourier_bessel, but got 'wavelet' at offset 14}}
"test.op"() {filter_unknown_basis = #disco.sphere_filter<wavelet, [3, 3], in = #disco.grid<lobatto, 16x32>, out = #disco.grid<lobatto, 16x32>>} : () -> ()

// -----

// expected-error @+1 {{expected the norm to be nodal, modal, mean, support, geometric or none, but got 'l2' at offset 39}}
"test.op"() {filter_unknown_norm = #disco.sphere_filter<harmonic, [3, 3], norm = l2, in = #disco.grid<lobatto, 16x32>, out = #disco.grid<lobatto, 16x32>>} : () -> ()

// -----

// expected-error @+1 {{expected a grid 'out = ...', but got none at offset 65}}
"test.op"() {filter_without_out = #disco.sphere_filter<harmonic, [3, 3], in = #disco.grid<lobatto, 16x32>>} : () -> ()

// -----

// expected-error @+1 {{expected each option at most once, but got 'norm' at offset 45}}
"test.op"() {filter_option_twice = #disco.sphere_filter<harmonic, [3, 3], norm = mean, norm = mean, in = #disco.grid<lobatto, 16x32>, out = #disco.grid<lobatto, 16x32>>} : () -> ()

// -----

// expected-error @+1 {{expected the storage form of a sphere psi to be one that holds it, but got csr}}
"test.op"() {storage_C1_sphere = #disco.storage<csr, !disco.psi<sphere, 9, 16x32 -> 16x32>>} : () -> ()

// -----

// expected-error @+1 {{expected the storage form of a csr psi to be one that holds it, but got table}}
"test.op"() {storage_C1_csr = #disco.storage<table, !disco.psi<csr, 9, 300 -> 33>>} : () -> ()

// -----

// expected-error @+1 {{expected the storage form of a csr psi to be one that holds it, but got onehot}}
"test.op"() {storage_C1_onehot = #disco.storage<onehot, !disco.psi<csr, 9, 300 -> 33>>} : () -> ()

// -----

// expected-error @+1 {{expected the storage form of a table psi to be one that holds it, but got arcs}}
"test.op"() {storage_C1_table = #disco.storage<arcs, !disco.psi<table<5>, 9, 300 -> 33>>} : () -> ()

// -----

// expected-error @+1 {{expected the storage form to be arcs, csr, table or onehot, but got dense}}
"test.op"() {storage_form = #disco.storage<dense, !disco.psi<csr, 9, 300 -> 33>>} : () -> ()

// -----

// expected-error @+1 {{invalid kind of type specified: expected disco.psi, but found 'f32'}}
"test.op"() {storage_of_another_type = #disco.storage<csr, f32>} : () -> ()

// -----

// expected-error @+1 {{expected 'adjoint'}}
"test.op"() {storage_word = #disco.storage<csr, !disco.psi<csr, 9, 300 -> 33>, transposed>} : () -> ()

// -----

// expected-error @+1 {{expected the kernel family to be one of loops, cpu_gather, csr_gather, kpacked_wgmma, toeplitz_wgmma, but got warp_drive}}
"test.op"() {plan_C1 = #disco.plan<warp_drive>} : () -> ()

// -----

// expected-error @+1 {{expected the order to be filter_first or weight_first, but got sideways}}
"test.op"() {plan_order = #disco.plan<loops, order = sideways>} : () -> ()

// -----

// expected-error @+2 {{expected ::mlir::disco::Activation to be one of: none, relu, gelu, gelu_tanh, silu}}
// expected-error @+1 {{failed to parse Disco_ActivationAttr parameter 'value' which is to be a `::mlir::disco::Activation`}}
"test.op"() {activation = #disco<activation swish>} : () -> ()

// -----

// expected-error @+1 {{unknown attribute 'filtre' in dialect 'disco'}}
"test.op"() {unknown_attribute = #disco.filtre<harmonic>} : () -> ()
