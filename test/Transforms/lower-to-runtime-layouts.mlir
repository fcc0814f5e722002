// RUN: disco-opt %s --disco-select-kernel="target=h200 force-family=toeplitz_wgmma" --disco-assign-layout --disco-verify-plan=target=h200 --disco-materialize-filters --disco-lower-to-runtime | FileCheck %s

// Packed activations: the call counts channels as they are, not in blocks of 8.

#filter = #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.4, norm = mean, in = #disco.grid<legendre_gauss, 16x32>, out = #disco.grid<legendre_gauss, 16x32>>
!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
// CHECK-LABEL: func.func @f
// CHECK: %[[X:.*]] = linalg.pack
// CHECK: disco.kernel_workspace <kind = contract, dtype = bf16, channels = 12,
// CHECK: disco.kernel_call <kind = contract, dtype = bf16, channels = 12, storage = {{.*}} plan = <toeplitz_wgmma, layout = c8 -> nchw, {{.*}} ins(%[[X]] psi({{.*}} : (tensor<?x2x16x32x8xbf16>, {{.*}}) -> (tensor<?x12x9x16x32xbf16>, tensor<?xi8>){{$}}
func.func @f(%x: tensor<?x12x16x32xbf16>) -> tensor<?x12x9x16x32xbf16> {
  %psi = disco.filter #filter -> !psi
  %z = disco.contract %x, %psi : (tensor<?x12x16x32xbf16>, !psi) -> tensor<?x12x9x16x32xbf16>
  return %z : tensor<?x12x9x16x32xbf16>
}
// CHECK-LABEL: func.func @g
// CHECK: %[[Y:.*]]:2 = disco.kernel_call <kind = contract_sum, dtype = bf16, channels = 12, storage = {{.*}} plan = <toeplitz_wgmma, order = weight_first, layout = nchw -> c8, {{.*}} -> (tensor<?x2x16x32x8xbf16>, tensor<?xi8>){{$}}
// CHECK: linalg.unpack %[[Y]]#0
func.func @g(%z: tensor<?x12x9x16x32xbf16>) -> tensor<?x12x16x32xbf16> {
  %psi = disco.filter #filter -> !psi
  %y = disco.contract_sum %z, %psi : (tensor<?x12x9x16x32xbf16>, !psi) -> tensor<?x12x16x32xbf16>
  return %y : tensor<?x12x16x32xbf16>
}
