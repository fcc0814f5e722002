// RUN: disco-opt %s --disco-select-kernel=force-family=loops --disco-explain=output=%t.md -o /dev/null
// RUN: FileCheck %s --input-file=%t.md
// RUN: disco-opt %s --disco-select-kernel=force-family=loops --disco-explain=output=%t2.md -o /dev/null && cmp %t.md %t2.md
// RUN: disco-opt %s --disco-select-kernel=force-family=loops --disco-explain="format=json output=%t.json" -o /dev/null
// RUN: FileCheck %s --check-prefix=JSON --input-file=%t.json
// RUN: disco-opt %s --disco-select-kernel=force-family=loops --disco-explain -o /dev/null 2>&1 | FileCheck %s
// RUN: not disco-opt %s --disco-explain 2>&1 | FileCheck %s --check-prefix=UNPLANNED
// RUN: disco-opt %s --disco-select-kernel=force-family=loops --disco-explain=kernel=loops -o /dev/null 2>&1 | FileCheck %s
// RUN: not disco-opt %s --disco-select-kernel=force-family=loops --disco-explain=kernel=disco_cpu_gather_run 2>&1 | FileCheck %s --check-prefix=KERNEL
// RUN: disco-opt %s --disco-select-kernel=force-family=cpu_gather --disco-explain=kernel=disco_cpu_gather_run -o /dev/null 2>&1 | FileCheck %s --check-prefix=SYMBOL
// RUN: not disco-opt %s --disco-select-kernel=force-family=loops --disco-explain=format=html 2>&1 | FileCheck %s --check-prefix=FORMAT
// RUN: not disco-opt %s --disco-select-kernel=force-family=loops --disco-explain=output=%t.none/page.md 2>&1 | FileCheck %s --check-prefix=FILE

// UNPLANNED: error: 'builtin.module' op expected at least 1 operation with a plan, but got 0: run disco-select-kernel first{{$}}
// KERNEL: error: 'builtin.module' op expected an operation with a plan to run the kernel disco_cpu_gather_run, but got none of {{[0-9]+$}}
// SYMBOL: | kernel symbol | disco_cpu_gather_run | exact |{{$}}
// SYMBOL: - @layer -> disco_cpu_gather_run of the runtime,
// SYMBOL: - kernel: lib/Runtime/CPU/CpuGather/CpuGather.cpp:{{[0-9]+$}}
// FORMAT: error: 'builtin.module' op expected format to be md or json, but got html{{$}}
// FILE: error: 'builtin.module' op expected to write {{.*}}.none/page.md, but got: No such file or directory{{$}}

// CHECK:      # disco.conv in @layer: loops{{$}}
// CHECK:      | what | value | from |{{$}}
// CHECK:      |---|---|---|{{$}}
// CHECK:      | kernel family | loops | exact |{{$}}
// CHECK:      | kernel symbol | none | exact |{{$}}
// CHECK:      | provider | generated for the host | exact |{{$}}
// CHECK:      | order | filter_first | exact |{{$}}
// CHECK:      | file | lib/Transforms/Lowering/Families/Loops.cpp:{{[0-9]+}} | exact |{{$}}
// CHECK:      | target | avx2 (x86-64-v3) | exact |{{$}}
// CHECK:      | predicted time | {{.+}} | model |{{$}}
// CHECK:      | bound by | latency | model |{{$}}
// CHECK:      ## 1. Overview{{$}}
// CHECK:      - conv[b,o,n] = sum over c, k: w[o,c,k] * (sum over taps t of n: v[t,k] * x[b,c,m(t)]){{$}}
// CHECK:      - psi: #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, norm = nodal, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>{{$}}
// CHECK:      - fused behind the channel mix: bias, then gelu{{$}}
// CHECK:      - order: x is filtered, then channels and features are mixed on the output points{{$}}
// CHECK:      - x: tensor<?x4x16x32xf32>{{$}}
// CHECK:      - w: tensor<6x2x9xf32>{{$}}
// CHECK:      - bias: tensor<6xf32>{{$}}
// CHECK:      - y: tensor<?x6x16x32xf32>{{$}}
// CHECK:      | what | value | from |{{$}}
// CHECK:      |---|---|---|{{$}}
// CHECK:      | sums in | f32 | exact |{{$}}
// CHECK:      | two runs are bit-equal | yes | exact |{{$}}
// CHECK:      | batch, assumed | {{.+}} | model |{{$}}
// CHECK:      | FLOP of the filter | 995 kFLOP | model |{{$}}
// CHECK:      | FLOP of the channel mix | 111 kFLOP | model |{{$}}
// CHECK:      ## 2. Host side{{$}}
// CHECK:      ### Why this family{{$}}
// CHECK:      - the plan is not what selection would choose, which is cpu_gather, filter_first with tile={{[0-9]+}},channel_block={{[0-9]+}}: {{[0-9.]+}} us{{$}}
// CHECK:      - this plan's family and order, with the best schedule: loops, filter_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by latency{{$}}
// CHECK:      - rejected: loops, weight_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by latency{{$}}
// CHECK:      - rejected: cpu_gather, weight_first: {{[0-9.]+}} us, {{[0-9.]+}} times the winner, bound by {{[a-z0-9]+}}{{$}}
// CHECK:      - rejected: csr_gather: rule 4: expected the target to be a cuda target, but got avx2 (cpu); suggestion: compile for a cuda target{{$}}
// CHECK:      - rejected: kpacked_wgmma: expected the family to be available, but got one that is planned; suggestion: use an available family; disco-select-kernel ranks planned ones with include-planned{{$}}
// CHECK:      - rejected: toeplitz_wgmma: expected the op to be one of contract, contract_sum, but got conv, which is planned; suggestion: use an available family; disco-select-kernel ranks planned ones with include-planned{{$}}
// CHECK:      ### Launch{{$}}
// CHECK:      - inlined into @layer: there is no kernel symbol and no launch{{$}}
// CHECK:      | what | value | from |{{$}}
// CHECK:      |---|---|---|{{$}}
// CHECK:      | problem hash | {{0x[0-9a-f]+}} | exact |{{$}}
// CHECK:      | launches | 0 | model |{{$}}
// CHECK:      | tasks | {{.+}} | model |{{$}}
// CHECK:      | workspace | {{.+}} | model |{{$}}
// CHECK:      | layout of the activations | nchw -> nchw | exact |{{$}}
// CHECK:      | layout of the kernel | nchw -> nchw | exact |{{$}}
// CHECK:      ## 3. Device side, step by step{{$}}
// CHECK:      ### Schedule{{$}}
// CHECK:      - the family has no fields{{$}}
// CHECK:      ### Which thread does what{{$}}
// CHECK:      - one thread runs all loops{{$}}
// CHECK:      - the filter, from the outside in: sample, channel, feature, output point, tap{{$}}
// CHECK:      ### For example{{$}}
// CHECK:      - sample 0, channel 0, feature 0, row 8: one sum over its taps, 21 in the median row and 56 in the longest one{{$}}
// CHECK:      ### Loads{{$}}
// CHECK:      - one element of x and one value of psi for each tap, each at an index computed for it{{$}}
// CHECK:      ### Computation{{$}}
// CHECK:      - sums in f32, tap by tap in one order, a multiplication and an addition each{{$}}
// CHECK:      ### Channel mix{{$}}
// CHECK:      - the same thread, one sum over channels and features for each element{{$}}
// CHECK:      ### Stores{{$}}
// CHECK:      - each element once, after one rounding{{$}}
// CHECK:      - the K-expanded tensor is kept in memory, in f32{{$}}
// CHECK:      ## 4. Data flow{{$}}
// CHECK:      - bytes are those that must cross memory, each once (model){{$}}
// CHECK:      ```{{$}}
// CHECK:      x, w, bias, psi{{$}}
// CHECK:      |  99.2 kB read{{$}}
// CHECK:      v{{$}}
// CHECK:      [loops]  {{[0-9.]+}} us, latency{{$}}
// CHECK:      |  86.0 kB written{{$}}
// CHECK:      v{{$}}
// CHECK:      y{{$}}
// CHECK:      ```{{$}}
// CHECK:      ## 5. Memory and bounds{{$}}
// CHECK:      | what | value | from |{{$}}
// CHECK:      |---|---|---|{{$}}
// CHECK:      | predicted time | {{.+}} | model |{{$}}
// CHECK:      | bound by | latency | model |{{$}}
// CHECK:      | time over that of the next bound | {{.+}} | model |{{$}}
// CHECK:      ### Counts of loops{{$}}
// CHECK:      | what | value | from |{{$}}
// CHECK:      |---|---|---|{{$}}
// CHECK:      | bytes read from memory, compulsory | {{.+}} | model |{{$}}
// CHECK:      | bytes written to memory, compulsory | {{.+}} | model |{{$}}
// CHECK:      | bytes requested from the shared cache | {{.+}} | model |{{$}}
// CHECK:      | L1 requests | {{.+}} | model |{{$}}
// CHECK:      | FLOP useful | {{.+}} | model |{{$}}
// CHECK:      | FLOP padded | {{.+}} | model |{{$}}
// CHECK:      | FLOP issued | {{.+}} | model |{{$}}
// CHECK:      | issue slots | {{.+}} | model |{{$}}
// CHECK:      | tasks for each core | {{.+}} | model |{{$}}
// CHECK:      | taps of the longest row over the mean row | {{.+}} | model |{{$}}
// CHECK:      | time if bound by dram | {{.+}} | model |{{$}}
// CHECK:      | time if bound by l2 | {{.+}} | model |{{$}}
// CHECK:      | time if bound by lsu | {{.+}} | model |{{$}}
// CHECK:      | time if bound by fma | {{.+}} | model |{{$}}
// CHECK:      | time if bound by issue | {{.+}} | model |{{$}}
// CHECK:      ### Taps{{$}}
// CHECK:      - a row is a latitude that the filter gives: its 32 longitudes have the same taps, shifted{{$}}
// CHECK:      | what | value | from |{{$}}
// CHECK:      |---|---|---|{{$}}
// CHECK:      | rows | 16 | exact |{{$}}
// CHECK:      | rows without taps | 0 | exact |{{$}}
// CHECK:      | taps a row, mean | 27 | exact |{{$}}
// CHECK:      | taps a row, median | 21 | exact |{{$}}
// CHECK:      | taps a row, most | 56 | exact |{{$}}
// CHECK:      | rings a row, mean | 4.62 | exact |{{$}}
// CHECK:      | gaps in rings | 0 | exact |{{$}}
// CHECK:      ```{{$}}
// CHECK:      taps of a row      rows   share of all taps{{$}}
// CHECK:           8 .. 15          6     19 % ########{{$}}
// CHECK:          16 .. 31          4     19 % ########{{$}}
// CHECK:          32 .. 63          6     62 % #########################{{$}}
// CHECK:      ```{{$}}
// CHECK:      ## 6. Instruction set{{$}}
// CHECK:      - not generated: the host's code is made later, from the whole entry{{$}}
// CHECK:      ## 7. Source index{{$}}
// CHECK:      ### The operation{{$}}
// CHECK:      - "filter_conv" at model.py:12:3{{$}}
// CHECK:      - called from train.py:34:5{{$}}
// CHECK:      ### The family{{$}}
// CHECK:      - rules: lib/Planning/Families/Loops.cpp:{{[0-9]+}}{{$}}
// CHECK:      - candidates: lib/Planning/Families/Loops.cpp:{{[0-9]+}}{{$}}
// CHECK:      - cost: lib/Planning/Families/Loops.cpp:{{[0-9]+}}{{$}}
// CHECK:      - description: lib/Planning/Families/Loops.cpp:{{[0-9]+}}{{$}}
// CHECK:      - lowering: lib/Transforms/Lowering/Families/Loops.cpp:{{[0-9]+}}{{$}}

// JSON: "title": "disco.conv in @layer: loops",
// JSON: "name": "predicted time",
// JSON-NEXT: "value": {{[0-9.e+]+}},
// JSON-NEXT: "unit": "us",
// JSON-NEXT: "from": "model"
// JSON: "title": "Overview",
// JSON: "name": "FLOP of the filter",
// JSON-NEXT: "value": 995328,
// JSON-NEXT: "unit": "FLOP",
// JSON-NEXT: "from": "model"
// JSON: "title": "Host side",
// JSON: "title": "Device side, step by step",
// JSON: "title": "Data flow",
// JSON: "drawing":
// JSON: "title": "Memory and bounds",
// JSON: "title": "Instruction set",
// JSON: "title": "Source index",

#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>
!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
func.func @layer(%x: tensor<?x4x16x32xf32>, %w: tensor<6x2x9xf32>, %b: tensor<6xf32>) -> tensor<?x6x16x32xf32> {
  %psi = disco.filter #filter -> !psi
  %y = disco.conv %x, %psi, %w bias %b groups 2 activation gelu : (tensor<?x4x16x32xf32>, !psi, tensor<6x2x9xf32>, tensor<6xf32>) -> tensor<?x6x16x32xf32> loc(callsite("filter_conv"("model.py":12:3) at "train.py":34:5))
  return %y : tensor<?x6x16x32xf32>
}
