// RUN: not disco-opt %s --disco-select-kernel="target=h200 force-family=csr_gather force-fields=fields=5" -o /dev/null 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not disco-opt %s --disco-select-kernel="target=h200 include-planned force-family=toeplitz_wgmma overrides=smem_cta_bytes=3000,smem_bytes=3000" -o /dev/null 2>&1 | FileCheck %s --check-prefix=SMEM
// RUN: disco-opt %s --disco-select-kernel="target=cpu assumed-batch=3 force-family=cpu_gather force-fields=tile=8" --disco-explain=output=%t.md -o /dev/null
// RUN: FileCheck %s --check-prefix=PAGE --input-file=%t.md
// RUN: sed 's/^module {/module attributes {disco.target = #disco.target<"h200", "dram_gbps = 3000, cores = 66">} {/' %s | disco-opt --disco-select-kernel | FileCheck %s --check-prefix=SPACES

// What selection says: which order a reason is for, what a chip lacks, which
// fields a better plan has, and what follows from an assumed batch.

// ORDER: filter_first: rule 12: {{.*}}; weight_first: rule 12:
// SMEM: rule 15: expected the shared memory of a CTA to be at most 3000 bytes, but got
// PAGE: | batch, assumed | 3 | model |{{$}}
// PAGE-NEXT: | FLOP of the filter | {{.*}} | model |{{$}}
// PAGE-NEXT: | FLOP of the channel mix | {{.*}} | model |{{$}}
// PAGE: - the plan is not what selection would choose, which is cpu_gather, {{[a-z]+}}_first with tile={{[0-9]+}},channel_block={{[0-9]+}}: {{[0-9.]+}} us{{$}}
// SPACES: disco.target = #disco.target<"h200", "{{.*}}">

module {
  func.func @conv(%x: tensor<?x16x16x32xbf16>, %w: tensor<16x16x9xbf16>) -> tensor<?x16x16x32xbf16> {
    %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>> -> !disco.psi<sphere, 9, 16x32 -> 16x32>
    %y = disco.conv %x, %psi, %w : (tensor<?x16x16x32xbf16>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<16x16x9xbf16>) -> tensor<?x16x16x32xbf16>
    return %y : tensor<?x16x16x32xbf16>
  }
}
