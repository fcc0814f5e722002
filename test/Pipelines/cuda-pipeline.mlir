// RUN: disco-opt %s --disco-cuda-pipeline --dump-pass-pipeline -o /dev/null 2>&1 | FileCheck %s
// RUN: disco-opt %s --disco-cuda-pipeline="target=sm_80 family=csr_gather fuse=false" --dump-pass-pipeline -o /dev/null 2>&1 | FileCheck %s --check-prefix=OPTIONS

// CHECK:           builtin.module(
// CHECK-NEXT:        inline
// CHECK-NEXT:        symbol-dce
// CHECK-NEXT:        canonicalize
// CHECK-NEXT:        disco-fuse-einsum
// CHECK-NEXT:        disco-fuse-epilogue
// CHECK-NEXT:        convert-elementwise-to-linalg
// CHECK-NEXT:        canonicalize
// CHECK-NEXT:        cse
// CHECK-NEXT:        disco-select-kernel{assumed-batch=1 force-family= force-fields= force-order= force-provider= include-planned=false overrides= target=h200}
// CHECK-NEXT:        disco-assign-layout
// CHECK-NEXT:        disco-verify-plan{include-planned=false overrides= target=}
// CHECK-NEXT:        disco-prepare-entries{strided=false}
// CHECK-NEXT:        disco-materialize-filters
// CHECK-NEXT:        cse
// CHECK-NEXT:        disco-lower-to-runtime
// CHECK-NEXT:        canonicalize
// CHECK-NEXT:        cse
// CHECK-NEXT:      )

// OPTIONS:           symbol-dce
// OPTIONS-NEXT:      convert-elementwise-to-linalg
// OPTIONS:           disco-select-kernel{{{.*}}force-family=csr_gather {{.*}} target=sm_80}
module {}
