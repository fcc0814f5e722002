#f = #disco.sphere_filter<harmonic, [2, 2], cutoff = 6e-1, in = #disco.grid<equiangular, 7x8>, out = #disco.grid<equiangular, 7x8>>
func.func @layer(%x: tensor<?x2x7x8xf32>, %w: tensor<2x2x4xf32>, %b: tensor<2xf32>) -> tensor<?x2x7x8xf32> {
  %psi = disco.filter #f -> !disco.psi<sphere, 4, 7x8 -> 7x8>
  %y = disco.conv %x, %psi, %w bias %b activation gelu : (tensor<?x2x7x8xf32>, !disco.psi<sphere, 4, 7x8 -> 7x8>, tensor<2x2x4xf32>, tensor<2xf32>) -> tensor<?x2x7x8xf32>
  return %y : tensor<?x2x7x8xf32>
}
