// REQUIRES: compiler
// RUN: disco-opt %s --disco-select-kernel="target=h200 include-planned force-family=toeplitz_wgmma" --disco-explain="include-planned output=%t.md" -o /dev/null
// RUN: FileCheck %s --input-file=%t.md

// CHECK: ## 3. Device side, step by step{{$}}
// CHECK: ### Schedule{{$}}
// CHECK: - rows = 1 (output latitudes in the rows of A (features in the reduction)){{$}}
// CHECK: - lon_groups = 18 (groups of T longitudes of a tile){{$}}
// CHECK: - stages = 4 (stages of the pipeline: a band and three slabs of x each){{$}}
// CHECK: - fused = 1 (1: the channel mix follows in the same kernel){{$}}
// CHECK: - block_rows = 0 (rows of the K-expanded tensor between filter and mix; 0: all){{$}}
// CHECK: ### Which thread does what{{$}}
// CHECK: - a CTA has 3 warpgroups that compute, each a tile of 1 output latitude(s), 126 points and 8 channels with the same A, and 1 that loads; one CTA stays on each multiprocessor{{$}}
// CHECK: - row m of A is (feature, longitude): feature m / 7, longitude m % 7; 63 of 64 rows are used{{$}}
// CHECK: - column n is (longitude group, channel): group n / 8 of 18, channel n % 8{{$}}
// CHECK: ### For example{{$}}
// CHECK: - row 37, column 9: feature 5, longitude 2 of group 1, channel 1{{$}}
// CHECK: ### Loads{{$}}
// CHECK: - x (c8): one window for each ring, arc + 6 longitudes and 119 for the groups, by bulk copies into shared memory, 4 stages in flight{{$}}
// CHECK: - A: packed once for each filter, 16 columns of 64 rows for each step, 8 steps at a time{{$}}
// CHECK: ### Computation{{$}}
// CHECK: - m64n144k16 instructions of a warpgroup, sums in f32 registers{{$}}
// CHECK: - the features go through shared memory into a second product with W; they never reach device memory{{$}}
// CHECK: ### Stores{{$}}
// CHECK: - c8: 8 channels of a longitude are neighbours in memory, by bulk copies of a row of a tile{{$}}

#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, norm = mean, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>
!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
func.func @layer(%x: tensor<1x16x16x32xbf16>, %w: tensor<16x16x9xbf16>) -> tensor<1x16x16x32xbf16> {
  %psi = disco.filter #filter -> !psi
  %y = disco.conv %x, %psi, %w : (tensor<1x16x16x32xbf16>, !psi, tensor<16x16x9xbf16>) -> tensor<1x16x16x32xbf16>
  return %y : tensor<1x16x16x32xbf16>
}
