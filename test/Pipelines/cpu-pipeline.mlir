// RUN: disco-opt %s --disco-cpu-pipeline --dump-pass-pipeline -o /dev/null 2>&1 | FileCheck %s --check-prefixes=CHECK,TABLES
// RUN: disco-opt %s --disco-cpu-pipeline="family=loops strided fuse=false" --dump-pass-pipeline -o /dev/null 2>&1 | FileCheck %s --check-prefix=OPTIONS
// RUN: disco-opt %s --disco-cpu-pipeline="instrument check-tables=false" --dump-pass-pipeline -o /dev/null 2>&1 | FileCheck %s --check-prefixes=CHECK,INSTRUMENT

// CHECK:           builtin.module(
// CHECK-NEXT:        inline
// CHECK-NEXT:        symbol-dce
// CHECK-NEXT:        canonicalize
// CHECK-NEXT:        disco-fuse-einsum
// CHECK-NEXT:        disco-fuse-epilogue
// CHECK-NEXT:        convert-elementwise-to-linalg
// CHECK-NEXT:        canonicalize
// CHECK-NEXT:        cse
// CHECK-NEXT:        disco-select-kernel{assumed-batch=1 force-family= force-fields= force-order= force-provider= include-planned=false overrides= target=cpu}
// CHECK-NEXT:        disco-verify-plan{include-planned=false overrides= target=}
// CHECK-NEXT:        disco-prepare-entries{strided=false}
// TABLES-NEXT:       disco-check-tables
// CHECK-NEXT:        disco-materialize-filters
// CHECK-NEXT:        cse
// INSTRUMENT-NEXT:   disco-instrument
// CHECK-NEXT:        disco-lower-to-runtime
// CHECK-NEXT:        disco-lower-to-loops
// CHECK-NEXT:        resolve-shaped-type-result-dims
// CHECK-NEXT:        canonicalize
// CHECK-NEXT:        cse
// CHECK-NEXT:        eliminate-empty-tensors
// CHECK-NEXT:        one-shot-bufferize{allow-return-allocs-from-loops=false allow-unknown-ops=false {{.*}} bufferize-function-boundaries=false
// CHECK-NEXT:        canonicalize
// CHECK-NEXT:        cse
// CHECK-NEXT:        disco-plan-workspace
// CHECK-NEXT:        disco-lower-copies
// CHECK-NEXT:        convert-linalg-to-loops
// CHECK-NEXT:        expand-strided-metadata
// CHECK-NEXT:        lower-affine
// CHECK-NEXT:        loop-invariant-code-motion
// CHECK-NEXT:        canonicalize
// CHECK-NEXT:        cse
// CHECK-NEXT:        math-extend-to-supported-types{ target-type=f32}
// CHECK-NEXT:        arith-emulate-unsupported-floats{source-types={bf16,f16} target-type=f32}
// CHECK-NEXT:        arith-expand{include-bf16=true {{.*}}}
// CHECK-NEXT:        convert-scf-to-cf
// CHECK-NEXT:        func.func(
// CHECK-NEXT:          llvm-request-c-wrappers
// CHECK-NEXT:        ),
// CHECK-NEXT:        convert-math-to-libm
// CHECK-NEXT:        convert-to-llvm
// CHECK-NEXT:        reconcile-unrealized-casts
// CHECK-NEXT:        canonicalize
// CHECK-NEXT:        cse
// CHECK-NEXT:      )

// OPTIONS:           symbol-dce
// OPTIONS-NEXT:      convert-elementwise-to-linalg
// OPTIONS:           disco-select-kernel{{{.*}}force-family=loops
// OPTIONS:           disco-prepare-entries{strided=true}
module {}
