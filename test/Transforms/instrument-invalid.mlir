// RUN: disco-opt %s --disco-instrument --verify-diagnostics

func.func @abstract(%x: tensor<1x2x4xf32>, %psi: !disco.psi<csr, 3, 4 -> 2>) -> tensor<1x2x3x2xf32> {
  // expected-error@below {{'disco.contract' op expected psi to be the tensors of a storage before probes are added: run disco-materialize-filters first}}
  %z = disco.contract %x, %psi : (tensor<1x2x4xf32>, !disco.psi<csr, 3, 4 -> 2>) -> tensor<1x2x3x2xf32>
  return %z : tensor<1x2x3x2xf32>
}
