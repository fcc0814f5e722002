// REQUIRES: compiler
// RUN: disco-opt %s --disco-select-kernel="target=h200 include-planned force-family=csr_gather" --disco-explain="include-planned output=%t.md" -o /dev/null
// RUN: FileCheck %s --input-file=%t.md

// CHECK: ## 3. Device side, step by step{{$}}
// CHECK: ### Schedule{{$}}
// CHECK: - bc_tile = 4 (fields (batch times channels) of a CTA){{$}}
// CHECK: - k_tile = 9 (features that a thread sums at a time){{$}}
// CHECK: - threads = 128 (threads of a CTA, one longitude (or point) each){{$}}
// CHECK: - split_taps = 1024 (rows with more taps are split into pieces; 0: never){{$}}
// CHECK: - block_rows = 0 (rows of the K-expanded tensor between filter and mix; 0: all){{$}}
// CHECK: - atomics = 0 (1: the weight gradient's pieces are added with atomics){{$}}
// CHECK: ### Which thread does what{{$}}
// CHECK: - a CTA is (output row, 4 fields, tile of 128 longitudes); a field is a sample and channel{{$}}
// CHECK: - thread i sums longitude i of the tile, for all 4 fields and 9 features at a time{{$}}
// CHECK: ### For example{{$}}
// CHECK: - CTA (row 0, fields 0..3, tile 0), thread 5: longitude 5{{$}}
// CHECK: ### Loads{{$}}
// CHECK: - x: each ring window once into shared memory, 2 element(s) a load of a thread{{$}}
// CHECK: - psi: 3 broadcast(s) of 16 B for each tap{{$}}
// CHECK: ### Computation{{$}}
// CHECK: - multiply-adds in registers, no atomics{{$}}
// CHECK: - rows of more than 1024 taps are pieces that are added in order{{$}}
// CHECK: ### Stores{{$}}
// CHECK: - neighbouring threads store neighbouring longitudes, each element once{{$}}

#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, norm = mean, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>
!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
func.func @layer(%x: tensor<1x16x16x32xbf16>, %w: tensor<16x16x9xbf16>) -> tensor<1x16x16x32xbf16> {
  %psi = disco.filter #filter -> !psi
  %y = disco.conv %x, %psi, %w : (tensor<1x16x16x32xbf16>, !psi, tensor<16x16x9xbf16>) -> tensor<1x16x16x32xbf16>
  return %y : tensor<1x16x16x32xbf16>
}
