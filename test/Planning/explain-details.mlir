// RUN: disco-opt %s --disco-select-kernel="target=h200 include-planned force-family=csr_gather force-order=filter_first force-fields=fields=4 overrides=dram_gbps=3000,launch_us=4" --disco-explain="include-planned output=%t.md" -o /dev/null
// RUN: FileCheck %s --input-file=%t.md
// RUN: disco-opt %s --disco-select-kernel="force-family=cpu_gather force-order=filter_first" --disco-explain=output=%t.cpu.md -o /dev/null
// RUN: FileCheck %s --check-prefix=CPU --input-file=%t.cpu.md
// RUN: not disco-opt %s --disco-select-kernel --disco-explain=output= 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: disco-opt %s --disco-select-kernel="target=h200 include-planned force-family=csr_gather overrides=launch_us=4" --disco-select-kernel="overrides=launch_us=5 include-planned" | FileCheck %s --check-prefix=REPLACED

// FILE: error: 'builtin.module' op expected output to be the name of a file or -, but got ''{{$}}
// REPLACED: #disco.target<"h200", "launch_us=5">

// Numbers that were replaced show; points are no longitudes of rings, and
// examples name what exists.
// CHECK: # disco.conv in @points: csr_gather{{$}}
// CHECK: | target | h200 (sm_90a) with dram_gbps = 3000, launch_us = 4 | exact |{{$}}
// CHECK: - @points -> disco_device_run of the runtime, with what disco_device_prepare made for csr_gather, in a workspace of the size that disco_device_workspace_bytes gives{{$}}
// CHECK: - CTAs and what each takes are those of the stage contraction, which computes most{{$}}
// 300 points in tiles of 128, one block of 4 fields.
// CHECK: | CTAs | 3 | model |{{$}}
// CHECK: - a CTA is (4 fields, tile of 128 points); a field is a sample and channel{{$}}
// CHECK: - thread i sums point i of the tile, for all 4 fields and 2 features at a time{{$}}
// CHECK: - CTA (fields 0..3, tile 1), thread 5: point 133{{$}}
// CHECK: - x: each tap's element of each field from global memory; threads of a warp read other points{{$}}
// CHECK: - psi: 1 load(s) of 16 B for each tap, of the thread's own row{{$}}
// CHECK: - neighbouring threads store neighbouring points, each element once{{$}}
// CHECK-NOT: ring
// CHECK: ## 6. Instruction set{{$}}
// CHECK: - not generated: the kernel is part of the runtime{{$}}
// CHECK: - device kernel: lib/Runtime/CUDA/CsrGather/CsrGather.cpp:{{[0-9]+$}}

// CHECK: # disco.conv in @tiny: csr_gather{{$}}
// CHECK: - CTA (row 0, fields 0..0, tile 0), thread 3: longitude 3{{$}}

// A kernel of the runtime exists, and tasks are blocks of points.
// CPU: # disco.conv in @points: cpu_gather{{$}}
// CPU: | kernel symbol | disco_cpu_gather_run | exact |{{$}}
// CPU: | provider | runtime, host | exact |{{$}}
// CPU: | file | lib/Runtime/CPU/CpuGather/CpuGather.cpp:{{[0-9]+}} | exact |{{$}}
// CPU: - tasks are those of the stage contraction, which computes most{{$}}
// CPU: | tasks | 4 | model |{{$}}
// CPU: - a task is (sample, block of 96 points);
// CPU: - not generated: the kernel is part of the runtime{{$}}
// CPU: # disco.conv in @tiny: cpu_gather{{$}}
// CPU: lane 3 of vector 0 is column 3{{$}}

func.func @points(%x: tensor<1x4x300xf32>, %i: tensor<300x3xi32>, %v: tensor<300x3x2xf32>, %w: tensor<1x4x2xf32>) -> tensor<1x1x300xf32> {
  %psi = disco.assemble knn(%i, %v) : (tensor<300x3xi32>, tensor<300x3x2xf32>) -> !disco.psi<table<3>, 2, 300 -> 300>
  %y = disco.conv %x, %psi, %w : (tensor<1x4x300xf32>, !disco.psi<table<3>, 2, 300 -> 300>, tensor<1x4x2xf32>) -> tensor<1x1x300xf32>
  return %y : tensor<1x1x300xf32>
}

// Four longitudes, one channel.
func.func @tiny(%x: tensor<1x1x4x4xf32>, %w: tensor<1x1x1xf32>) -> tensor<1x1x4x4xf32> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [1], cutoff = 2.0, in = #disco.grid<legendre_gauss, 4x4>, out = #disco.grid<legendre_gauss, 4x4>> -> !disco.psi<sphere, 1, 4x4 -> 4x4>
  %y = disco.conv %x, %psi, %w : (tensor<1x1x4x4xf32>, !disco.psi<sphere, 1, 4x4 -> 4x4>, tensor<1x1x1xf32>) -> tensor<1x1x4x4xf32>
  return %y : tensor<1x1x4x4xf32>
}
