// RUN: disco-opt %s --disco-select-kernel=target=avx2 --disco-explain=output=%t.md -o /dev/null
// RUN: FileCheck %s --input-file=%t.md

// Rings whose elements are those of the sums are added where they are; others
// are converted into copies, and have no transforms. Pages and counts know it.

#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>
!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>

// CHECK: # disco.contract_sum in @in_place: cpu_gather{{$}}
// CHECK: - each ring of maps is read where it is, but for copies of its ends, and added to all rows of the task that read it{{$}}
// CHECK: - z: windows of the rings, in place but where they wrap{{$}}
// CHECK: - rows whose arcs are long, from 24 taps on the average, by Fourier transforms of the rings instead; counts and times are those of taps{{$}}
func.func @in_place(%z: tensor<1x16x9x16x32xf32>) -> tensor<1x16x16x32xf32> {
  %psi = disco.filter #filter -> !psi
  %y = disco.contract_sum %z, %psi : (tensor<1x16x9x16x32xf32>, !psi) -> tensor<1x16x16x32xf32>
  return %y : tensor<1x16x16x32xf32>
}

// CHECK-LABEL: # disco.contract_sum in @converted: cpu_gather{{$}}
// CHECK-NOT: by Fourier transforms
// CHECK: - each ring of maps is copied once, and added to all rows of the task that read it{{$}}
// CHECK: - z: windows of the rings, copied without wrap{{$}}
// CHECK-NOT: by Fourier transforms
func.func @converted(%z: tensor<1x16x9x16x32xbf16>) -> tensor<1x16x16x32xbf16> {
  %psi = disco.filter #filter -> !psi
  %y = disco.contract_sum %z, %psi : (tensor<1x16x9x16x32xbf16>, !psi) -> tensor<1x16x16x32xbf16>
  return %y : tensor<1x16x16x32xbf16>
}
