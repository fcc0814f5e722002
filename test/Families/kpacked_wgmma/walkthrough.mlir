// REQUIRES: compiler
// RUN: disco-opt %s --disco-select-kernel="target=h200 include-planned force-family=kpacked_wgmma" --disco-explain="include-planned output=%t.md" -o /dev/null
// RUN: FileCheck %s --input-file=%t.md

// CHECK: | provider | generated PTX; planned: no kernel exists yet | exact |{{$}}
// CHECK: - @layer -> kpacked_wgmma: no kernel exists yet{{$}}
// CHECK: ## 3. Device side, step by step{{$}}
// CHECK: ### Schedule{{$}}
// CHECK: - staged = 1 (1: ring windows are copied to shared memory; 0: each element is loaded from global memory with a test for the longitude's wrap){{$}}
// CHECK: - stages = 3 (chunks of taps in flight){{$}}
// CHECK: - block_rows = 0 (rows of the K-expanded tensor between filter and mix; 0: all){{$}}
// CHECK: ### Which thread does what{{$}}
// CHECK: - a CTA of 128 threads is (output row, 8 fields, 8 longitudes){{$}}
// CHECK: - row m of the tile is field m / 8, longitude m % 8; its 16 columns are the features, 7 of them zeros{{$}}
// CHECK: ### For example{{$}}
// CHECK: - row 13 of the tile: field 1, longitude 5{{$}}
// CHECK: ### Loads{{$}}
// CHECK: - x: ring windows into shared memory, then 64 x 16 tiles gathered from them{{$}}
// CHECK: - psi: 16 x 16 tiles, 3 in flight{{$}}
// CHECK: ### Computation{{$}}
// CHECK: - one m64n16k16 instruction of a warpgroup for 16 taps, sums in f32 registers{{$}}
// CHECK: ### Channel mix{{$}}
// CHECK: - 1 product(s) of [16, 144] and [144, 512]{{$}}
// CHECK: - a CTA of 256 threads is a tile of 16 x 256 of the result, with 3 stages of both operands in flight{{$}}
// CHECK: ### Stores{{$}}
// CHECK: - planes of one feature, 8 longitudes of a field at a time{{$}}
// CHECK: - not generated: no kernel exists yet{{$}}

#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, norm = mean, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>
!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
func.func @layer(%x: tensor<1x16x16x32xbf16>, %w: tensor<16x16x9xbf16>) -> tensor<1x16x16x32xbf16> {
  %psi = disco.filter #filter -> !psi
  %y = disco.conv %x, %psi, %w : (tensor<1x16x16x32xbf16>, !psi, tensor<16x16x9xbf16>) -> tensor<1x16x16x32xbf16>
  return %y : tensor<1x16x16x32xbf16>
}
