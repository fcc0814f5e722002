// RUN: disco-opt %s --disco-select-kernel --disco-explain=output=%t.md -o /dev/null
// RUN: FileCheck %s --input-file=%t.md
// RUN: disco-opt %s --disco-select-kernel --disco-explain=output=%t2.md -o /dev/null && cmp %t.md %t2.md
// RUN: disco-opt %s --disco-select-kernel --disco-explain="format=json output=%t.json" -o /dev/null
// RUN: FileCheck %s --check-prefix=JSON --input-file=%t.json
// RUN: disco-opt %s --disco-select-kernel --disco-explain -o /dev/null 2>&1 | FileCheck %s
// RUN: not disco-opt %s --disco-explain 2>&1 | FileCheck %s --check-prefix=UNPLANNED
// RUN: not disco-opt %s --disco-select-kernel --disco-explain=format=html 2>&1 | FileCheck %s --check-prefix=FORMAT
// RUN: not disco-opt %s --disco-select-kernel --disco-explain=output=%t.none/page.md 2>&1 | FileCheck %s --check-prefix=FILE

// UNPLANNED: error: 'builtin.module' op expected at least 1 operation with a plan, but got 0: run disco-select-kernel first{{$}}
// FORMAT: error: 'builtin.module' op expected format to be md or json, but got html{{$}}
// FILE: error: 'builtin.module' op expected to write {{.*}}.none/page.md, but got: No such file or directory{{$}}

#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>
!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
func.func @layer(%x: tensor<?x4x16x32xf32>, %w: tensor<6x2x9xf32>, %b: tensor<6xf32>) -> tensor<?x6x16x32xf32> {
  %psi = disco.filter #filter -> !psi
  %y = disco.conv %x, %psi, %w bias %b groups 2 activation gelu : (tensor<?x4x16x32xf32>, !psi, tensor<6x2x9xf32>, tensor<6xf32>) -> tensor<?x6x16x32xf32> loc(callsite("filter_conv"("model.py":12:3) at "train.py":34:5))
  return %y : tensor<?x6x16x32xf32>
}
