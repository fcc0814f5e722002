// REQUIRES: compiler
// RUN: disco-opt %s --disco-select-kernel="target=avx2 include-planned force-family=cpu_gather" --disco-explain="include-planned output=%t.md" -o /dev/null
// RUN: FileCheck %s --input-file=%t.md

// CHECK: ## 3. Device side, step by step{{$}}
// CHECK: ### Schedule{{$}}
// CHECK: - k_tile = 3 (features that are summed at a time){{$}}
// CHECK: - vectors = 4 (vectors of longitudes that are summed at a time){{$}}
// CHECK: - channel_block = 16 (fields filtered between two channel mixes){{$}}
// CHECK: ### Which thread does what{{$}}
// CHECK: - a task is (sample, output row, 16 channels); a thread runs one task at a time{{$}}
// CHECK: - a pass holds 4 vectors of 8 longitudes times 3 features: 12 sums in registers{{$}}
// CHECK: ### For example{{$}}
// CHECK: - pass 0 of a row: lane 3 of vector 0 is longitude 3{{$}}
// CHECK: ### Loads{{$}}
// CHECK: - x: 4 vector loads for each tap{{$}}
// CHECK: - psi: one broadcast for each tap and feature{{$}}
// CHECK: ### Computation{{$}}
// CHECK: - a fused multiply-add for each tap, feature and vector; the channel mix follows in cache, in a fixed order{{$}}
// CHECK: ### Stores{{$}}
// CHECK: - vectors of 8 longitudes, each element once{{$}}

#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, norm = mean, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>
!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
func.func @layer(%x: tensor<1x16x16x32xbf16>, %w: tensor<16x16x9xbf16>) -> tensor<1x16x16x32xbf16> {
  %psi = disco.filter #filter -> !psi
  %y = disco.conv %x, %psi, %w : (tensor<1x16x16x32xbf16>, !psi, tensor<16x16x9xbf16>) -> tensor<1x16x16x32xbf16>
  return %y : tensor<1x16x16x32xbf16>
}
