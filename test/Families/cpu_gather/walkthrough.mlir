// REQUIRES: compiler
// RUN: disco-opt %s --disco-select-kernel="target=avx2 force-family=cpu_gather" --disco-explain=output=%t.md -o /dev/null
// RUN: FileCheck %s --input-file=%t.md

// CHECK: - @layer -> disco_cpu_gather_run of the runtime, in a workspace of the size that disco_cpu_gather_workspace_bytes gives{{$}}
// CHECK: ## 3. Device side, step by step{{$}}
// CHECK: ### Schedule{{$}}
// CHECK: - tile = 32 (longitudes (points) whose features are computed together; 0: none){{$}}
// CHECK: - channel_block = 16 (channels whose features are computed together; 0: none){{$}}
// CHECK: ### Which thread does what{{$}}
// CHECK: - a task is (sample, output row); a thread runs one task at a time, in tiles of 32 longitudes, 16 channels at a time{{$}}
// CHECK: - 4 vectors of 8 longitudes times 3 features are summed in registers{{$}}
// CHECK: ### For example{{$}}
// CHECK: - in the first pass over a tile, lane 3 of vector 1 is column 11{{$}}
// CHECK: ### Loads{{$}}
// CHECK: - x: windows of the rings, copied without wrap{{$}}
// CHECK: - psi: a value is splat once for all vectors that are summed{{$}}
// CHECK: ### Computation{{$}}
// CHECK: - a fused multiply-add for each tap, feature and vector{{$}}
// CHECK: - {{[0-9]+}} pairs of the 432 taps mirror each other for all features: one multiplication of their sum or difference each, so that fewer FLOP are issued than are useful{{$}}
// CHECK: ### Channel mix{{$}}
// CHECK: - the thread of a task mixes the features of its tile while they are in its cache{{$}}
// CHECK: - 6 rows by 2 vectors of 8 columns of sums are in registers, in a fixed order{{$}}
// CHECK: ### Stores{{$}}
// CHECK: - vectors of 8 columns, each element once{{$}}
// CHECK: - not generated: the kernel is part of the runtime{{$}}

#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, norm = mean, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>
!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
func.func @layer(%x: tensor<1x16x16x32xbf16>, %w: tensor<16x16x9xbf16>) -> tensor<1x16x16x32xbf16> {
  %psi = disco.filter #filter -> !psi
  %y = disco.conv %x, %psi, %w : (tensor<1x16x16x32xbf16>, !psi, tensor<16x16x9xbf16>) -> tensor<1x16x16x32xbf16>
  return %y : tensor<1x16x16x32xbf16>
}
