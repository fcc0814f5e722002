module {
  func.func @csr(%x: tensor<1x2x4xf32>) -> tensor<1x2x2x3xf32> {
    %o = arith.constant dense<0> : tensor<4xi64>
    %c = arith.constant dense<> : tensor<0xi64>
    %v = arith.constant dense<> : tensor<0x2xf64>
    %psi = disco.assemble csr(%o, %c, %v) : (tensor<4xi64>, tensor<0xi64>, tensor<0x2xf64>) -> !disco.psi<csr, 2, 4 -> 3>
    %y = disco.contract %x, %psi : (tensor<1x2x4xf32>, !disco.psi<csr, 2, 4 -> 3>) -> tensor<1x2x2x3xf32>
    return %y : tensor<1x2x2x3xf32>
  }
  func.func @coo(%x: tensor<1x2x4xf32>) -> tensor<1x2x2x3xf32> {
    %k = arith.constant dense<> : tensor<0xi32>
    %v = arith.constant dense<> : tensor<0xf32>
    %psi = disco.assemble coo(%k, %k, %k, %v) : (tensor<0xi32>, tensor<0xi32>, tensor<0xi32>, tensor<0xf32>) -> !disco.psi<csr, 2, 4 -> 3>
    %y = disco.contract %x, %psi : (tensor<1x2x4xf32>, !disco.psi<csr, 2, 4 -> 3>) -> tensor<1x2x2x3xf32>
    return %y : tensor<1x2x2x3xf32>
  }
  func.func @sphere(%x: tensor<1x2x2x4xf32>) -> tensor<1x2x1x2x2xf32> {
    %k = arith.constant dense<> : tensor<0xi32>
    %v = arith.constant dense<> : tensor<0xf32>
    %psi = disco.assemble coo(%k, %k, %k, %v) : (tensor<0xi32>, tensor<0xi32>, tensor<0xi32>, tensor<0xf32>) -> !disco.psi<sphere, 1, 2x4 -> 2x2>
    %y = disco.contract %x, %psi : (tensor<1x2x2x4xf32>, !disco.psi<sphere, 1, 2x4 -> 2x2>) -> tensor<1x2x1x2x2xf32>
    return %y : tensor<1x2x1x2x2xf32>
  }
}
