#f = #disco.sphere_filter<harmonic, [2, 2], cutoff = 6e-1, in = #disco.grid<equiangular, 7x8>, out = #disco.grid<equiangular, 7x8>>
func.func @bf16(%x: tensor<?x2x7x8xbf16>, %w: tensor<2x2x4xbf16>, %b: tensor<2xbf16>, %wide: tensor<?xf64>) -> (tensor<?x2x7x8xbf16>, tensor<?xbf16>) {
  %psi = disco.filter #f -> !disco.psi<sphere, 4, 7x8 -> 7x8>
  %y = disco.conv %x, %psi, %w bias %b activation silu : (tensor<?x2x7x8xbf16>, !disco.psi<sphere, 4, 7x8 -> 7x8>, tensor<2x2x4xbf16>, tensor<2xbf16>) -> tensor<?x2x7x8xbf16>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %wide, %c0 : tensor<?xf64>
  %e = tensor.empty(%n) : tensor<?xbf16>
  %narrow = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%wide : tensor<?xf64>) outs(%e : tensor<?xbf16>) {
  ^bb0(%a: f64, %o: bf16):
    %t = arith.truncf %a : f64 to bf16
    linalg.yield %t : bf16
  } -> tensor<?xbf16>
  return %y, %narrow : tensor<?x2x7x8xbf16>, tensor<?xbf16>
}
func.func @f16(%x: tensor<?x2x7x8xf16>, %w: tensor<2x2x4xf16>, %wide: tensor<?xf64>) -> (tensor<?x2x7x8xf16>, tensor<?xf16>) {
  %psi = disco.filter #f -> !disco.psi<sphere, 4, 7x8 -> 7x8>
  %y = disco.conv %x, %psi, %w activation gelu_tanh : (tensor<?x2x7x8xf16>, !disco.psi<sphere, 4, 7x8 -> 7x8>, tensor<2x2x4xf16>) -> tensor<?x2x7x8xf16>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %wide, %c0 : tensor<?xf64>
  %e = tensor.empty(%n) : tensor<?xf16>
  %narrow = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%wide : tensor<?xf64>) outs(%e : tensor<?xf16>) {
  ^bb0(%a: f64, %o: f16):
    %t = arith.truncf %a : f64 to f16
    linalg.yield %t : f16
  } -> tensor<?xf16>
  return %y, %narrow : tensor<?x2x7x8xf16>, tensor<?xf16>
}
