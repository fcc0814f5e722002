// A small spherical network, the shape of a weather model in miniature:
//
//   x [B,4,181,360] --encoder--> [B,16,90,180] --block1--block2--> --decoder--> y [B,4,181,360]
//
// - encoder: 2x downsampling, equiangular to Gauss-Legendre; four features of each of the four fields (groups 4)
// - block1: piecewise-linear filter, all channels mixed, bias, gelu
// - block2: harmonic filter, all channels mixed, bias, gelu, and the encoder's result added
// - decoder: the transposed layer back to the fine grid (groups 4). Its one function is isotropic: a transposed filter has its
//   directions at the coarse points, and all of those around a pole see the pole in the same one, which leaves a spot there
//
// The batch is dynamic. Run it with scripts/demo.sh, or:
//
//   disco-compile network.mlir -o network.so
//   disco-run network.so --input x.npy --input encoder_weight.npy ... --output y.npy

#encoder = #disco.sphere_filter<harmonic, [3, 3], cutoff = 7e-2, norm = mean, in = #disco.grid<equiangular, 181x360>, out = #disco.grid<legendre_gauss, 90x180>>
#block1 = #disco.sphere_filter<piecewise_linear, [3, 4], cutoff = 7e-2, norm = mean, in = #disco.grid<legendre_gauss, 90x180>, out = #disco.grid<legendre_gauss, 90x180>>
#block2 = #disco.sphere_filter<harmonic, [3, 3], cutoff = 7e-2, norm = mean, in = #disco.grid<legendre_gauss, 90x180>, out = #disco.grid<legendre_gauss, 90x180>>
#decoder = #disco.sphere_filter<harmonic, [1], cutoff = 7e-2, norm = nodal, in = #disco.grid<legendre_gauss, 90x180>, out = #disco.grid<equiangular, 181x360>, transpose>

func.func @network(
    %x: tensor<?x4x181x360xf32>,
    %encoder_weight: tensor<16x1x9xf32>, %encoder_bias: tensor<16xf32>,
    %block1_weight: tensor<16x16x5xf32>, %block1_bias: tensor<16xf32>,
    %block2_weight: tensor<16x16x9xf32>, %block2_bias: tensor<16xf32>,
    %decoder_weight: tensor<4x4x1xf32>, %decoder_bias: tensor<4xf32>) -> tensor<?x4x181x360xf32> {
  %encoder = disco.filter #encoder -> !disco.psi<sphere, 9, 181x360 -> 90x180>
  %block1 = disco.filter #block1 -> !disco.psi<sphere, 5, 90x180 -> 90x180>
  %block2 = disco.filter #block2 -> !disco.psi<sphere, 9, 90x180 -> 90x180>
  %decoder = disco.filter #decoder -> !disco.psi<sphere, 1, 90x180 -> 181x360>

  %h0 = disco.conv %x, %encoder, %encoder_weight bias %encoder_bias groups 4
      : (tensor<?x4x181x360xf32>, !disco.psi<sphere, 9, 181x360 -> 90x180>,
         tensor<16x1x9xf32>, tensor<16xf32>) -> tensor<?x16x90x180xf32>
  %h1 = disco.conv %h0, %block1, %block1_weight bias %block1_bias activation gelu
      : (tensor<?x16x90x180xf32>, !disco.psi<sphere, 5, 90x180 -> 90x180>,
         tensor<16x16x5xf32>, tensor<16xf32>) -> tensor<?x16x90x180xf32>
  %h2 = disco.conv %h1, %block2, %block2_weight bias %block2_bias residual %h0 activation gelu
      : (tensor<?x16x90x180xf32>, !disco.psi<sphere, 9, 90x180 -> 90x180>,
         tensor<16x16x9xf32>, tensor<16xf32>, tensor<?x16x90x180xf32>) -> tensor<?x16x90x180xf32>
  %y = disco.conv %h2, %decoder, %decoder_weight bias %decoder_bias groups 4
      : (tensor<?x16x90x180xf32>, !disco.psi<sphere, 1, 90x180 -> 181x360>,
         tensor<4x4x1xf32>, tensor<4xf32>) -> tensor<?x4x181x360xf32>
  return %y : tensor<?x4x181x360xf32>
}
