// RUN: not disco-opt %s --disco-select-kernel="target=h200 include-planned" 2>&1 | FileCheck %s --check-prefix=GPU
// RUN: disco-opt %s --disco-select-kernel="target=avx2 include-planned" --remarks-filter=disco-select-kernel 2>&1 | FileCheck %s --check-prefix=HOST

// 32 taps of each of 40000 rows and 2000 features: 2.56e9 values of psi are more
// than any family indexes with 32 bits. The extents decide, before it is asked
// whether the taps are known.
// GPU: error: 'disco.contract' op no kernel family is applicable to contract forward bf16, sphere 40000x8 -> 40000x8, K 2000, B 1, C 4 on h200{{$}}
// GPU-NEXT: loops, filter_first: rule 10: expected the target to be a cpu target, but got h200 (cuda); suggestion: compile for cpu{{$}}
// GPU-NEXT: cpu_gather, filter_first: rule 4: expected the target to be a cpu target, but got h200 (cuda); suggestion: compile for a cpu target{{$}}
// GPU-NEXT: csr_gather, filter_first: rule 11: expected the filter to have fewer than 2147483648 values for 32-bit indices, but got 2560000000; suggestion: use a smaller cutoff{{$}}
// GPU-NEXT: kpacked_wgmma, filter_first: rule 17: expected the filter to have fewer than 2147483648 values for 32-bit indices, but got 2560000000; suggestion: use a smaller cutoff{{$}}
// GPU-NEXT: toeplitz_wgmma, filter_first: rule 14: expected the filter to have fewer than 2147483648 values for 32-bit indices, but got 2560000000; suggestion: use a smaller cutoff{{$}}

// HOST: [Passed] loops |
// HOST: [Missed] cpu_gather {{.*}} Reason="expected the filter to have fewer than 2147483648 values for 32-bit indices, but got 2560000000", Rule=11,
// HOST: plan <loops, target = "avx2", problem =
func.func @values(%x: tensor<1x4x40000x8xbf16>, %psi: !disco.psi<sphere, 2000, 40000x8 -> 40000x8>) -> tensor<1x4x2000x40000x8xbf16> {
  %z = disco.contract %x, %psi : (tensor<1x4x40000x8xbf16>, !disco.psi<sphere, 2000, 40000x8 -> 40000x8>) -> tensor<1x4x2000x40000x8xbf16>
  return %z : tensor<1x4x2000x40000x8xbf16>
}
