// RUN: disco-opt %s --split-input-file --disco-select-kernel="target=h200 include-planned" --remarks-filter=disco-select-kernel -o /dev/null 2>&1 | FileCheck %s

// What an op permits decides rules and costs. Plain f32: the mix is bound by the
// vector units.
#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.2, in = #disco.grid<legendre_gauss, 64x128>, out = #disco.grid<legendre_gauss, 64x128>>
!psi = !disco.psi<sphere, 9, 64x128 -> 64x128>
// CHECK: [Passed] csr_gather | Category:disco-select-kernel | Function=ieee | {{.*}}Bound=fma,
func.func @ieee(%x: tensor<1x512x64x128xf32>, %w: tensor<512x512x9xf32>) -> tensor<1x512x64x128xf32> {
  %psi = disco.filter #filter -> !psi
  %y = disco.conv %x, %psi, %w : (tensor<1x512x64x128xf32>, !psi, tensor<512x512x9xf32>) -> tensor<1x512x64x128xf32>
  return %y : tensor<1x512x64x128xf32>
}

// -----

// Leave to round to tf32 changes nothing: csr_gather multiplies f32 on plain cores.
#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.2, in = #disco.grid<legendre_gauss, 64x128>, out = #disco.grid<legendre_gauss, 64x128>>
!psi = !disco.psi<sphere, 9, 64x128 -> 64x128>
// CHECK: [Passed] csr_gather | Category:disco-select-kernel | Function=tf32 | {{.*}}Bound=fma,
func.func @tf32(%x: tensor<1x512x64x128xf32>, %w: tensor<512x512x9xf32>) -> tensor<1x512x64x128xf32> {
  %psi = disco.filter #filter -> !psi
  %y = disco.conv %x, %psi, %w precision tf32 : (tensor<1x512x64x128xf32>, !psi, tensor<512x512x9xf32>) -> tensor<1x512x64x128xf32>
  return %y : tensor<1x512x64x128xf32>
}
