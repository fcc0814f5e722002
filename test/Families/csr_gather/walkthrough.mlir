// REQUIRES: compiler
// RUN: disco-opt %s --disco-select-kernel="target=h200 include-planned force-family=csr_gather" --disco-explain="include-planned output=%t.md" -o /dev/null
// RUN: FileCheck %s --input-file=%t.md

// CHECK: ## 3. Device side, step by step{{$}}
// CHECK: ### Schedule{{$}}
// CHECK: - fields = 4 (fields (batch times channels) of a CTA, of a warp where features are summed){{$}}
// CHECK: - features = 9 (features that a thread sums at a time; 0 where they are summed, and on points){{$}}
// CHECK: - block_mib = 192 (MiB of the K-expanded tensor between filter and mix; 0: no mix){{$}}
// CHECK: ### Which thread does what{{$}}
// CHECK: - a CTA is (output row, 4 fields, tile of 128 longitudes); a field is a sample and channel{{$}}
// CHECK: - thread i sums longitude i of the tile, for all 4 fields and 9 features at a time{{$}}
// CHECK: ### For example{{$}}
// CHECK: - CTA (row 0, fields 0..3, tile 0), thread 5: longitude 5{{$}}
// CHECK: ### Loads{{$}}
// CHECK: - x: each ring window once into shared memory{{$}}
// CHECK: - psi: 3 broadcast(s) of 16 B for each tap{{$}}
// CHECK: ### Computation{{$}}
// CHECK: - multiply-adds in registers, no atomics{{$}}
// CHECK: - filter and matrix product by turns, over 1 block(s) of 1 MiB{{$}}
// CHECK: ### Channel mix{{$}}
// CHECK: - a CTA of 256 threads computes a tile of 16 x 256 of 16 channels in a group by the points of a block{{$}}
// CHECK: - 3 stages of 32 steps of the sum are in shared memory{{$}}
// CHECK: ### Stores{{$}}
// CHECK: - neighbouring threads store neighbouring longitudes, each element once{{$}}

#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, norm = mean, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>
!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
func.func @layer(%x: tensor<1x16x16x32xbf16>, %w: tensor<16x16x9xbf16>) -> tensor<1x16x16x32xbf16> {
  %psi = disco.filter #filter -> !psi
  %y = disco.conv %x, %psi, %w : (tensor<1x16x16x32xbf16>, !psi, tensor<16x16x9xbf16>) -> tensor<1x16x16x32xbf16>
  return %y : tensor<1x16x16x32xbf16>
}
