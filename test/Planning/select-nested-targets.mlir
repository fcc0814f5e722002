// RUN: disco-opt %s --disco-select-kernel | FileCheck %s
// RUN: disco-opt %s --disco-select-kernel --disco-verify-plan --disco-explain=output=%t.md -o /dev/null && FileCheck %s --check-prefix=PAGE --input-file=%t.md
// RUN: disco-opt %s --pass-pipeline="builtin.module(builtin.module(disco-select-kernel))" | FileCheck %s --check-prefix=INNER
// RUN: disco-opt %s --disco-select-kernel=target=a100 2> %t.warnings | FileCheck %s --check-prefix=FORCED
// RUN: FileCheck %s --check-prefix=WARNING --input-file=%t.warnings --implicit-check-not=warning
// RUN: disco-opt %s --disco-select-kernel="target=sm_80 overrides=launch_us=5" 2>/dev/null | FileCheck %s --check-prefix=REPLACED
// RUN: disco-opt %s --disco-select-kernel=overrides=launch_us=6 2>&1 | FileCheck %s --check-prefix=EVERYWHERE --implicit-check-not=warning

// Each module is planned for its own target; one without has that around it.
// CHECK: module attributes {disco.target = #disco.target<"a100", "launch_us=3">}
// CHECK: plan <csr_gather, {{.*}} target = "a100"
// CHECK: module @cpu attributes {disco.target = #disco.target<"avx2", "cores=4">}
// CHECK: plan <cpu_gather, {{.*}} target = "avx2"
// CHECK: module @inner {
// CHECK: plan <csr_gather, {{.*}} target = "a100"
// PAGE: | target | a100 (sm_80) with launch_us = 3 | exact |{{$}}
// PAGE: | target | a100 (sm_80) with launch_us = 3 | exact |{{$}}
// PAGE: | target | avx2 (x86-64-v3) with cores = 4 | exact |{{$}}

// A pass that runs on the inner modules looks around them, too.
// INNER: module @cpu attributes {disco.target = #disco.target<"avx2", "cores=4">}
// INNER: target = "avx2"
// INNER: module @inner attributes {disco.target = #disco.target<"a100", "launch_us=3">}
// INNER: target = "a100"

// The option is for all of them. Overrides of the same chip are kept; those of
// another one are not used, which is said.
// FORCED: module attributes {disco.target = #disco.target<"a100", "launch_us=3">}
// FORCED: module @cpu attributes {disco.target = #disco.target<"a100">}
// WARNING: warning: the overrides "cores=4" of disco.target are those of avx2 and not used for the target a100{{$}}
// REPLACED: module attributes {disco.target = #disco.target<"a100", "launch_us=5">}
// REPLACED: module @cpu attributes {disco.target = #disco.target<"a100", "launch_us=5">}
// EVERYWHERE: module attributes {disco.target = #disco.target<"a100", "launch_us=6">}
// EVERYWHERE: module @cpu attributes {disco.target = #disco.target<"avx2", "cores=4,launch_us=6">}

!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
!x = tensor<1x4x16x32xf32>
#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>
module attributes {disco.target = #disco.target<"a100", "launch_us=3">} {
  func.func @outer(%x: !x, %w: tensor<4x4x9xf32>) -> !x {
    %psi = disco.filter #filter -> !psi
    %y = disco.conv %x, %psi, %w : (!x, !psi, tensor<4x4x9xf32>) -> !x
    return %y : !x
  }
  module @cpu attributes {disco.target = #disco.target<"avx2", "cores=4">} {
    func.func @host(%x: !x, %w: tensor<4x4x9xf32>) -> !x {
      %psi = disco.filter #filter -> !psi
      %y = disco.conv %x, %psi, %w : (!x, !psi, tensor<4x4x9xf32>) -> !x
      return %y : !x
    }
  }
  module @inner {
    func.func @device(%x: !x, %w: tensor<4x4x9xf32>) -> !x {
      %psi = disco.filter #filter -> !psi
      %y = disco.conv %x, %psi, %w : (!x, !psi, tensor<4x4x9xf32>) -> !x
      return %y : !x
    }
  }
}
