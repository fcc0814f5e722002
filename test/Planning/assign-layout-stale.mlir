// RUN: disco-opt %s --verify-diagnostics --disco-assign-layout

// A new hash would make a stale plan valid.

#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>
!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
func.func @stale(%x: tensor<1x4x16x32xbf16>) -> tensor<1x4x9x16x32xbf16> {
  %psi = disco.filter #filter -> !psi
  // expected-error-re @below {{'disco.contract' op expected the problem of the plan to be 0x{{[0-9a-f]+}}, but got 0x0000000000001234: the plan was made for another operation}}
  // expected-note @below {{the operation is: contract forward bf16, sphere 16x32 -> 16x32, K 9, B 1, C 4}}
  %z = disco.contract %x, %psi plan <toeplitz_wgmma, kernel_layout = c8 -> nchw, problem = 0x1234> : (tensor<1x4x16x32xbf16>, !psi) -> tensor<1x4x9x16x32xbf16>
  return %z : tensor<1x4x9x16x32xbf16>
}
