// RUN: disco-opt %s --disco-select-kernel --disco-explain=output=%t.cpu.md -o /dev/null
// RUN: FileCheck %s --check-prefix=CPU --input-file=%t.cpu.md
// RUN: disco-opt %s --disco-select-kernel=force-order=weight_first --disco-explain=output=%t.first.md -o /dev/null
// RUN: FileCheck %s --check-prefix=FIRST --input-file=%t.first.md
// RUN: disco-opt %s --disco-select-kernel=force-family=loops --disco-explain=output=%t.loops.md -o /dev/null
// RUN: FileCheck %s --check-prefix=LOOPS --input-file=%t.loops.md
// RUN: disco-opt %s --disco-select-kernel="target=h200 include-planned force-family=toeplitz_wgmma" --disco-explain="include-planned output=%t.h200.md" -o /dev/null
// RUN: FileCheck %s --check-prefix=H200 --input-file=%t.h200.md

// Pages say of what they speak: the tensor that is filtered, the order, what a
// row is, who mixes channels, and that tables and the bias are read.

#down = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 8x16>>
!psi = !disco.psi<sphere, 9, 16x32 -> 8x16>
!adjoint = !disco.psi<sphere, 9, 8x16 -> 16x32>

// CPU: # disco.conv in @conv: cpu_gather{{$}}
// CPU: - order: x is filtered, then channels and features are mixed on the output points{{$}}
// CPU: | workspace, a thread on each of 2 cores | {{[0-9.]+ k?}}B | model |{{$}}
// CPU: - x: windows of the rings, copied without wrap and sorted by longitude modulo 2{{$}}
// CPU: - {{[0-9]+}} pairs of the {{[0-9]+}} taps mirror each other for all features: one multiplication of their sum or difference each, so that fewer FLOP are issued than are useful{{$}}
// CPU: ### Channel mix{{$}}
// CPU: - the thread of a task mixes the features of its tile while they are in its cache{{$}}
// CPU: - 6 rows by 2 vectors of 8 columns of sums are in registers, in a fixed order{{$}}
// CPU: x, w, bias, psi{{$}}
// CPU: y{{$}}
// CPU: | tasks for each core | {{[0-9.]+}} | model |{{$}}
// CPU: | taps of the longest row over the mean row | {{[0-9.]+}} | model |{{$}}
// CPU: - a row is a latitude that the filter gives: its 16 longitudes have the same taps, shifted{{$}}
// CPU: | rows | 8 | exact |{{$}}
// LOOPS: # disco.conv in @conv: loops{{$}}
// LOOPS: - inlined into @conv: there is no kernel symbol and no launch{{$}}
// LOOPS: | launches | 0 | model |{{$}}
// LOOPS: ### Channel mix{{$}}
// LOOPS: - the same thread, one sum over channels and features for each element{{$}}
// H200: # disco.conv in @conv: toeplitz_wgmma{{$}}
// H200: | kernel symbol | none | exact |{{$}}
func.func @conv(%x: tensor<1x16x16x32xbf16>, %w: tensor<24x16x9xbf16>, %b: tensor<24xbf16>) -> tensor<1x24x8x16xbf16> {
  %psi = disco.filter #down -> !psi
  %y = disco.conv %x, %psi, %w bias %b : (tensor<1x16x16x32xbf16>, !psi, tensor<24x16x9xbf16>, tensor<24xbf16>) -> tensor<1x24x8x16xbf16>
  return %y : tensor<1x24x8x16xbf16>
}

// CPU: # disco.contract in @contract: cpu_gather{{$}}
// CPU-NOT: Channel mix
// H200: # disco.contract in @contract: toeplitz_wgmma{{$}}
// H200: | kernel symbol | disco_device_run | exact |{{$}}
// 16 channels of x are packed in the workspace of the runtime.
// H200: | workspace | 16.4 kB | model |{{$}}
// H200: | layout of the activations | nchw -> nchw | exact |{{$}}
// H200: | layout of the kernel | c8 -> nchw | exact |{{$}}
// H200: - x (c8): one window for each ring
// H200: - nchw: transposed in shared memory, 16 bytes a thread{{$}}
// H200: [repack x]
// H200-NOT: repack z
// H200: # disco.contract_sum
func.func @contract(%x: tensor<1x16x16x32xbf16>) -> tensor<1x16x9x8x16xbf16> {
  %psi = disco.filter #down -> !psi
  %z = disco.contract %x, %psi : (tensor<1x16x16x32xbf16>, !psi) -> tensor<1x16x9x8x16xbf16>
  return %z : tensor<1x16x9x8x16xbf16>
}

// CPU: # disco.contract_sum in @sum: cpu_gather{{$}}
// CPU: - z: windows of the rings, copied without wrap{{$}}
// CPU: - a row is a latitude that the filter gives and one of 2 phases: 16 of its longitudes, 2 apart, have the same taps, shifted{{$}}
// CPU: | rows | 32 | exact |{{$}}
// LOOPS: # disco.contract_sum in @sum: loops{{$}}
// LOOPS: - one element of z and one value of psi for each tap and feature, each at an index computed for it{{$}}
// H200: - z (c8): one window for each ring
// H200: [repack z]
func.func @sum(%z: tensor<1x16x9x8x16xbf16>) -> tensor<1x16x16x32xbf16> {
  %psi = disco.filter #down -> !psi
  %a = disco.adjoint %psi : !psi
  %y = disco.contract_sum %z, %a : (tensor<1x16x9x8x16xbf16>, !adjoint) -> tensor<1x16x16x32xbf16>
  return %y : tensor<1x16x16x32xbf16>
}

// The same in the other order, where gy is filtered; and the conv mixes first.
// FIRST: # disco.conv in @conv: cpu_gather{{$}}
// FIRST: - order: channels are mixed on the input points, then the maps are filtered and summed over k{{$}}
// FIRST: - maps (x mixed): windows of the rings, copied without wrap and sorted by longitude modulo 2{{$}}
// FIRST: - the thread of a task mixes each ring of x that its rows read, for its channels, before it adds it{{$}}
// FIRST: # disco.conv_weight_grad in @gradient: cpu_gather{{$}}
// FIRST: - order: gy is filtered with the adjoint, then multiplied with x on the input points{{$}}
// FIRST: - gy: windows of the rings, copied without wrap{{$}}
// FIRST: x, gy, psi{{$}}
// FIRST: gw, gb{{$}}
// FIRST: - a row is a latitude that the filter gives and one of 2 phases:
// LOOPS: - order: x is filtered, then multiplied with gy on the output points{{$}}
func.func @gradient(%x: tensor<1x16x16x32xbf16>, %gy: tensor<1x1x8x16xbf16>) -> (tensor<1x16x9xbf16>, tensor<1xbf16>) {
  %psi = disco.filter #down -> !psi
  %gw, %gb = disco.conv_weight_grad %x, %gy, %psi : (tensor<1x16x16x32xbf16>, tensor<1x1x8x16xbf16>, !psi) -> (tensor<1x16x9xbf16>, tensor<1xbf16>)
  return %gw, %gb : tensor<1x16x9xbf16>, tensor<1xbf16>
}
