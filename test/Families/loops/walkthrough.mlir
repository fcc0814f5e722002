// REQUIRES: compiler
// RUN: disco-opt %s --disco-select-kernel="target=avx2 include-planned force-family=loops" --disco-explain="include-planned output=%t.md" -o /dev/null
// RUN: FileCheck %s --input-file=%t.md

// CHECK: ## 3. Device side, step by step{{$}}
// CHECK: ### Schedule{{$}}
// CHECK: - the family has no fields{{$}}
// CHECK: ### Which thread does what{{$}}
// CHECK: - one thread runs all loops{{$}}
// CHECK: - the filter, from the outside in: sample, channel, feature, output point, tap{{$}}
// CHECK: ### For example{{$}}
// CHECK: - sample 0, channel 0, feature 0, row 8: one sum over its taps, 21 in the median row and 56 in the longest one{{$}}
// CHECK: ### Loads{{$}}
// CHECK: - one element of x and one value of psi for each tap, each at an index computed for it{{$}}
// CHECK: ### Computation{{$}}
// CHECK: - sums in f32, tap by tap in one order, a multiplication and an addition each{{$}}
// CHECK: ### Stores{{$}}
// CHECK: - each element once, after one rounding{{$}}
// CHECK: - the K-expanded tensor is kept in memory, in f32{{$}}

#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, norm = mean, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>
!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
func.func @layer(%x: tensor<1x16x16x32xbf16>, %w: tensor<16x16x9xbf16>) -> tensor<1x16x16x32xbf16> {
  %psi = disco.filter #filter -> !psi
  %y = disco.conv %x, %psi, %w : (tensor<1x16x16x32xbf16>, !psi, tensor<16x16x9xbf16>) -> tensor<1x16x16x32xbf16>
  return %y : tensor<1x16x16x32xbf16>
}
