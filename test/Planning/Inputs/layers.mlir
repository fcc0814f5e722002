// The seven layers of include/disco/Planning/Layers.def in every direction, in
// the element type DTYPE. Tests put a type for DTYPE.

func.func @DTYPE_self256_forward(%x: tensor<1x256x360x720xDTYPE>, %w: tensor<256x256x9xDTYPE>) -> tensor<1x256x360x720xDTYPE> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.017, norm = mean, in = #disco.grid<legendre_gauss, 360x720>, out = #disco.grid<legendre_gauss, 360x720>> -> !disco.psi<sphere, 9, 360x720 -> 360x720>
  %y = disco.conv %x, %psi, %w : (tensor<1x256x360x720xDTYPE>, !disco.psi<sphere, 9, 360x720 -> 360x720>, tensor<256x256x9xDTYPE>) -> tensor<1x256x360x720xDTYPE>
  return %y : tensor<1x256x360x720xDTYPE>
}
func.func @DTYPE_self256_input_gradient(%gy: tensor<1x256x360x720xDTYPE>, %w: tensor<256x256x9xDTYPE>) -> tensor<1x256x360x720xDTYPE> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.017, norm = mean, in = #disco.grid<legendre_gauss, 360x720>, out = #disco.grid<legendre_gauss, 360x720>> -> !disco.psi<sphere, 9, 360x720 -> 360x720>
  %adjoint = disco.adjoint %psi : !disco.psi<sphere, 9, 360x720 -> 360x720>
  %gx = disco.conv %gy, %adjoint, %w : (tensor<1x256x360x720xDTYPE>, !disco.psi<sphere, 9, 360x720 -> 360x720>, tensor<256x256x9xDTYPE>) -> tensor<1x256x360x720xDTYPE>
  return %gx : tensor<1x256x360x720xDTYPE>
}
func.func @DTYPE_self256_weight_gradient(%x: tensor<1x256x360x720xDTYPE>, %gy: tensor<1x256x360x720xDTYPE>) -> tensor<256x256x9xDTYPE> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.017, norm = mean, in = #disco.grid<legendre_gauss, 360x720>, out = #disco.grid<legendre_gauss, 360x720>> -> !disco.psi<sphere, 9, 360x720 -> 360x720>
  %gw = disco.conv_weight_grad %x, %gy, %psi : (tensor<1x256x360x720xDTYPE>, tensor<1x256x360x720xDTYPE>, !disco.psi<sphere, 9, 360x720 -> 360x720>) -> tensor<256x256x9xDTYPE>
  return %gw : tensor<256x256x9xDTYPE>
}
func.func @DTYPE_self256_contract(%x: tensor<1x256x360x720xDTYPE>) -> tensor<1x256x9x360x720xDTYPE> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.017, norm = mean, in = #disco.grid<legendre_gauss, 360x720>, out = #disco.grid<legendre_gauss, 360x720>> -> !disco.psi<sphere, 9, 360x720 -> 360x720>
  %z = disco.contract %x, %psi : (tensor<1x256x360x720xDTYPE>, !disco.psi<sphere, 9, 360x720 -> 360x720>) -> tensor<1x256x9x360x720xDTYPE>
  return %z : tensor<1x256x9x360x720xDTYPE>
}
func.func @DTYPE_self256_contract_sum(%z: tensor<1x256x9x360x720xDTYPE>) -> tensor<1x256x360x720xDTYPE> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.017, norm = mean, in = #disco.grid<legendre_gauss, 360x720>, out = #disco.grid<legendre_gauss, 360x720>> -> !disco.psi<sphere, 9, 360x720 -> 360x720>
  %adjoint = disco.adjoint %psi : !disco.psi<sphere, 9, 360x720 -> 360x720>
  %x = disco.contract_sum %z, %adjoint : (tensor<1x256x9x360x720xDTYPE>, !disco.psi<sphere, 9, 360x720 -> 360x720>) -> tensor<1x256x360x720xDTYPE>
  return %x : tensor<1x256x360x720xDTYPE>
}

func.func @DTYPE_self512_forward(%x: tensor<1x512x360x720xDTYPE>, %w: tensor<512x512x9xDTYPE>) -> tensor<1x512x360x720xDTYPE> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.017, norm = mean, in = #disco.grid<legendre_gauss, 360x720>, out = #disco.grid<legendre_gauss, 360x720>> -> !disco.psi<sphere, 9, 360x720 -> 360x720>
  %y = disco.conv %x, %psi, %w : (tensor<1x512x360x720xDTYPE>, !disco.psi<sphere, 9, 360x720 -> 360x720>, tensor<512x512x9xDTYPE>) -> tensor<1x512x360x720xDTYPE>
  return %y : tensor<1x512x360x720xDTYPE>
}
func.func @DTYPE_self512_input_gradient(%gy: tensor<1x512x360x720xDTYPE>, %w: tensor<512x512x9xDTYPE>) -> tensor<1x512x360x720xDTYPE> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.017, norm = mean, in = #disco.grid<legendre_gauss, 360x720>, out = #disco.grid<legendre_gauss, 360x720>> -> !disco.psi<sphere, 9, 360x720 -> 360x720>
  %adjoint = disco.adjoint %psi : !disco.psi<sphere, 9, 360x720 -> 360x720>
  %gx = disco.conv %gy, %adjoint, %w : (tensor<1x512x360x720xDTYPE>, !disco.psi<sphere, 9, 360x720 -> 360x720>, tensor<512x512x9xDTYPE>) -> tensor<1x512x360x720xDTYPE>
  return %gx : tensor<1x512x360x720xDTYPE>
}
func.func @DTYPE_self512_weight_gradient(%x: tensor<1x512x360x720xDTYPE>, %gy: tensor<1x512x360x720xDTYPE>) -> tensor<512x512x9xDTYPE> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.017, norm = mean, in = #disco.grid<legendre_gauss, 360x720>, out = #disco.grid<legendre_gauss, 360x720>> -> !disco.psi<sphere, 9, 360x720 -> 360x720>
  %gw = disco.conv_weight_grad %x, %gy, %psi : (tensor<1x512x360x720xDTYPE>, tensor<1x512x360x720xDTYPE>, !disco.psi<sphere, 9, 360x720 -> 360x720>) -> tensor<512x512x9xDTYPE>
  return %gw : tensor<512x512x9xDTYPE>
}
func.func @DTYPE_self512_contract(%x: tensor<1x512x360x720xDTYPE>) -> tensor<1x512x9x360x720xDTYPE> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.017, norm = mean, in = #disco.grid<legendre_gauss, 360x720>, out = #disco.grid<legendre_gauss, 360x720>> -> !disco.psi<sphere, 9, 360x720 -> 360x720>
  %z = disco.contract %x, %psi : (tensor<1x512x360x720xDTYPE>, !disco.psi<sphere, 9, 360x720 -> 360x720>) -> tensor<1x512x9x360x720xDTYPE>
  return %z : tensor<1x512x9x360x720xDTYPE>
}
func.func @DTYPE_self512_contract_sum(%z: tensor<1x512x9x360x720xDTYPE>) -> tensor<1x512x360x720xDTYPE> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.017, norm = mean, in = #disco.grid<legendre_gauss, 360x720>, out = #disco.grid<legendre_gauss, 360x720>> -> !disco.psi<sphere, 9, 360x720 -> 360x720>
  %adjoint = disco.adjoint %psi : !disco.psi<sphere, 9, 360x720 -> 360x720>
  %x = disco.contract_sum %z, %adjoint : (tensor<1x512x9x360x720xDTYPE>, !disco.psi<sphere, 9, 360x720 -> 360x720>) -> tensor<1x512x360x720xDTYPE>
  return %x : tensor<1x512x360x720xDTYPE>
}

func.func @DTYPE_down_forward(%x: tensor<1x80x721x1440xDTYPE>, %w: tensor<512x80x9xDTYPE>) -> tensor<1x512x360x720xDTYPE> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.017, norm = mean, in = #disco.grid<equiangular, 721x1440>, out = #disco.grid<legendre_gauss, 360x720>> -> !disco.psi<sphere, 9, 721x1440 -> 360x720>
  %y = disco.conv %x, %psi, %w : (tensor<1x80x721x1440xDTYPE>, !disco.psi<sphere, 9, 721x1440 -> 360x720>, tensor<512x80x9xDTYPE>) -> tensor<1x512x360x720xDTYPE>
  return %y : tensor<1x512x360x720xDTYPE>
}
func.func @DTYPE_down_input_gradient(%gy: tensor<1x512x360x720xDTYPE>, %w: tensor<80x512x9xDTYPE>) -> tensor<1x80x721x1440xDTYPE> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.017, norm = mean, in = #disco.grid<equiangular, 721x1440>, out = #disco.grid<legendre_gauss, 360x720>> -> !disco.psi<sphere, 9, 721x1440 -> 360x720>
  %adjoint = disco.adjoint %psi : !disco.psi<sphere, 9, 721x1440 -> 360x720>
  %gx = disco.conv %gy, %adjoint, %w : (tensor<1x512x360x720xDTYPE>, !disco.psi<sphere, 9, 360x720 -> 721x1440>, tensor<80x512x9xDTYPE>) -> tensor<1x80x721x1440xDTYPE>
  return %gx : tensor<1x80x721x1440xDTYPE>
}
func.func @DTYPE_down_weight_gradient(%x: tensor<1x80x721x1440xDTYPE>, %gy: tensor<1x512x360x720xDTYPE>) -> tensor<512x80x9xDTYPE> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.017, norm = mean, in = #disco.grid<equiangular, 721x1440>, out = #disco.grid<legendre_gauss, 360x720>> -> !disco.psi<sphere, 9, 721x1440 -> 360x720>
  %gw = disco.conv_weight_grad %x, %gy, %psi : (tensor<1x80x721x1440xDTYPE>, tensor<1x512x360x720xDTYPE>, !disco.psi<sphere, 9, 721x1440 -> 360x720>) -> tensor<512x80x9xDTYPE>
  return %gw : tensor<512x80x9xDTYPE>
}
func.func @DTYPE_down_contract(%x: tensor<1x80x721x1440xDTYPE>) -> tensor<1x80x9x360x720xDTYPE> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.017, norm = mean, in = #disco.grid<equiangular, 721x1440>, out = #disco.grid<legendre_gauss, 360x720>> -> !disco.psi<sphere, 9, 721x1440 -> 360x720>
  %z = disco.contract %x, %psi : (tensor<1x80x721x1440xDTYPE>, !disco.psi<sphere, 9, 721x1440 -> 360x720>) -> tensor<1x80x9x360x720xDTYPE>
  return %z : tensor<1x80x9x360x720xDTYPE>
}
func.func @DTYPE_down_contract_sum(%z: tensor<1x80x9x360x720xDTYPE>) -> tensor<1x80x721x1440xDTYPE> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.017, norm = mean, in = #disco.grid<equiangular, 721x1440>, out = #disco.grid<legendre_gauss, 360x720>> -> !disco.psi<sphere, 9, 721x1440 -> 360x720>
  %adjoint = disco.adjoint %psi : !disco.psi<sphere, 9, 721x1440 -> 360x720>
  %x = disco.contract_sum %z, %adjoint : (tensor<1x80x9x360x720xDTYPE>, !disco.psi<sphere, 9, 360x720 -> 721x1440>) -> tensor<1x80x721x1440xDTYPE>
  return %x : tensor<1x80x721x1440xDTYPE>
}

func.func @DTYPE_local828_forward(%x: tensor<1x828x360x720xDTYPE>, %w: tensor<828x828x9xDTYPE>) -> tensor<1x828x360x720xDTYPE> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.02771993517873347, norm = mean, in = #disco.grid<legendre_gauss, 360x720>, out = #disco.grid<legendre_gauss, 360x720>> -> !disco.psi<sphere, 9, 360x720 -> 360x720>
  %y = disco.conv %x, %psi, %w : (tensor<1x828x360x720xDTYPE>, !disco.psi<sphere, 9, 360x720 -> 360x720>, tensor<828x828x9xDTYPE>) -> tensor<1x828x360x720xDTYPE>
  return %y : tensor<1x828x360x720xDTYPE>
}
func.func @DTYPE_local828_input_gradient(%gy: tensor<1x828x360x720xDTYPE>, %w: tensor<828x828x9xDTYPE>) -> tensor<1x828x360x720xDTYPE> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.02771993517873347, norm = mean, in = #disco.grid<legendre_gauss, 360x720>, out = #disco.grid<legendre_gauss, 360x720>> -> !disco.psi<sphere, 9, 360x720 -> 360x720>
  %adjoint = disco.adjoint %psi : !disco.psi<sphere, 9, 360x720 -> 360x720>
  %gx = disco.conv %gy, %adjoint, %w : (tensor<1x828x360x720xDTYPE>, !disco.psi<sphere, 9, 360x720 -> 360x720>, tensor<828x828x9xDTYPE>) -> tensor<1x828x360x720xDTYPE>
  return %gx : tensor<1x828x360x720xDTYPE>
}
func.func @DTYPE_local828_weight_gradient(%x: tensor<1x828x360x720xDTYPE>, %gy: tensor<1x828x360x720xDTYPE>) -> tensor<828x828x9xDTYPE> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.02771993517873347, norm = mean, in = #disco.grid<legendre_gauss, 360x720>, out = #disco.grid<legendre_gauss, 360x720>> -> !disco.psi<sphere, 9, 360x720 -> 360x720>
  %gw = disco.conv_weight_grad %x, %gy, %psi : (tensor<1x828x360x720xDTYPE>, tensor<1x828x360x720xDTYPE>, !disco.psi<sphere, 9, 360x720 -> 360x720>) -> tensor<828x828x9xDTYPE>
  return %gw : tensor<828x828x9xDTYPE>
}
func.func @DTYPE_local828_contract(%x: tensor<1x828x360x720xDTYPE>) -> tensor<1x828x9x360x720xDTYPE> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.02771993517873347, norm = mean, in = #disco.grid<legendre_gauss, 360x720>, out = #disco.grid<legendre_gauss, 360x720>> -> !disco.psi<sphere, 9, 360x720 -> 360x720>
  %z = disco.contract %x, %psi : (tensor<1x828x360x720xDTYPE>, !disco.psi<sphere, 9, 360x720 -> 360x720>) -> tensor<1x828x9x360x720xDTYPE>
  return %z : tensor<1x828x9x360x720xDTYPE>
}
func.func @DTYPE_local828_contract_sum(%z: tensor<1x828x9x360x720xDTYPE>) -> tensor<1x828x360x720xDTYPE> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.02771993517873347, norm = mean, in = #disco.grid<legendre_gauss, 360x720>, out = #disco.grid<legendre_gauss, 360x720>> -> !disco.psi<sphere, 9, 360x720 -> 360x720>
  %adjoint = disco.adjoint %psi : !disco.psi<sphere, 9, 360x720 -> 360x720>
  %x = disco.contract_sum %z, %adjoint : (tensor<1x828x9x360x720xDTYPE>, !disco.psi<sphere, 9, 360x720 -> 360x720>) -> tensor<1x828x360x720xDTYPE>
  return %x : tensor<1x828x360x720xDTYPE>
}

func.func @DTYPE_encoder_forward(%x: tensor<1x65x721x1440xDTYPE>, %w: tensor<780x1x9xDTYPE>) -> tensor<1x780x360x720xDTYPE> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.02772, norm = mean, in = #disco.grid<equiangular, 721x1440>, out = #disco.grid<legendre_gauss, 360x720>> -> !disco.psi<sphere, 9, 721x1440 -> 360x720>
  %y = disco.conv %x, %psi, %w groups 65 : (tensor<1x65x721x1440xDTYPE>, !disco.psi<sphere, 9, 721x1440 -> 360x720>, tensor<780x1x9xDTYPE>) -> tensor<1x780x360x720xDTYPE>
  return %y : tensor<1x780x360x720xDTYPE>
}
func.func @DTYPE_encoder_input_gradient(%gy: tensor<1x780x360x720xDTYPE>, %w: tensor<65x12x9xDTYPE>) -> tensor<1x65x721x1440xDTYPE> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.02772, norm = mean, in = #disco.grid<equiangular, 721x1440>, out = #disco.grid<legendre_gauss, 360x720>> -> !disco.psi<sphere, 9, 721x1440 -> 360x720>
  %adjoint = disco.adjoint %psi : !disco.psi<sphere, 9, 721x1440 -> 360x720>
  %gx = disco.conv %gy, %adjoint, %w groups 65 : (tensor<1x780x360x720xDTYPE>, !disco.psi<sphere, 9, 360x720 -> 721x1440>, tensor<65x12x9xDTYPE>) -> tensor<1x65x721x1440xDTYPE>
  return %gx : tensor<1x65x721x1440xDTYPE>
}
func.func @DTYPE_encoder_weight_gradient(%x: tensor<1x65x721x1440xDTYPE>, %gy: tensor<1x780x360x720xDTYPE>) -> tensor<780x1x9xDTYPE> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.02772, norm = mean, in = #disco.grid<equiangular, 721x1440>, out = #disco.grid<legendre_gauss, 360x720>> -> !disco.psi<sphere, 9, 721x1440 -> 360x720>
  %gw = disco.conv_weight_grad %x, %gy, %psi groups 65 : (tensor<1x65x721x1440xDTYPE>, tensor<1x780x360x720xDTYPE>, !disco.psi<sphere, 9, 721x1440 -> 360x720>) -> tensor<780x1x9xDTYPE>
  return %gw : tensor<780x1x9xDTYPE>
}
func.func @DTYPE_encoder_contract(%x: tensor<1x65x721x1440xDTYPE>) -> tensor<1x65x9x360x720xDTYPE> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.02772, norm = mean, in = #disco.grid<equiangular, 721x1440>, out = #disco.grid<legendre_gauss, 360x720>> -> !disco.psi<sphere, 9, 721x1440 -> 360x720>
  %z = disco.contract %x, %psi : (tensor<1x65x721x1440xDTYPE>, !disco.psi<sphere, 9, 721x1440 -> 360x720>) -> tensor<1x65x9x360x720xDTYPE>
  return %z : tensor<1x65x9x360x720xDTYPE>
}
func.func @DTYPE_encoder_contract_sum(%z: tensor<1x65x9x360x720xDTYPE>) -> tensor<1x65x721x1440xDTYPE> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.02772, norm = mean, in = #disco.grid<equiangular, 721x1440>, out = #disco.grid<legendre_gauss, 360x720>> -> !disco.psi<sphere, 9, 721x1440 -> 360x720>
  %adjoint = disco.adjoint %psi : !disco.psi<sphere, 9, 721x1440 -> 360x720>
  %x = disco.contract_sum %z, %adjoint : (tensor<1x65x9x360x720xDTYPE>, !disco.psi<sphere, 9, 360x720 -> 721x1440>) -> tensor<1x65x721x1440xDTYPE>
  return %x : tensor<1x65x721x1440xDTYPE>
}

func.func @DTYPE_decoder_forward(%x: tensor<1x780x721x1440xDTYPE>, %w: tensor<65x12x9xDTYPE>) -> tensor<1x65x721x1440xDTYPE> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.02772, norm = mean, in = #disco.grid<equiangular, 721x1440>, out = #disco.grid<equiangular, 721x1440>> -> !disco.psi<sphere, 9, 721x1440 -> 721x1440>
  %y = disco.conv %x, %psi, %w groups 65 : (tensor<1x780x721x1440xDTYPE>, !disco.psi<sphere, 9, 721x1440 -> 721x1440>, tensor<65x12x9xDTYPE>) -> tensor<1x65x721x1440xDTYPE>
  return %y : tensor<1x65x721x1440xDTYPE>
}
func.func @DTYPE_decoder_input_gradient(%gy: tensor<1x65x721x1440xDTYPE>, %w: tensor<780x1x9xDTYPE>) -> tensor<1x780x721x1440xDTYPE> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.02772, norm = mean, in = #disco.grid<equiangular, 721x1440>, out = #disco.grid<equiangular, 721x1440>> -> !disco.psi<sphere, 9, 721x1440 -> 721x1440>
  %adjoint = disco.adjoint %psi : !disco.psi<sphere, 9, 721x1440 -> 721x1440>
  %gx = disco.conv %gy, %adjoint, %w groups 65 : (tensor<1x65x721x1440xDTYPE>, !disco.psi<sphere, 9, 721x1440 -> 721x1440>, tensor<780x1x9xDTYPE>) -> tensor<1x780x721x1440xDTYPE>
  return %gx : tensor<1x780x721x1440xDTYPE>
}
func.func @DTYPE_decoder_weight_gradient(%x: tensor<1x780x721x1440xDTYPE>, %gy: tensor<1x65x721x1440xDTYPE>) -> tensor<65x12x9xDTYPE> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.02772, norm = mean, in = #disco.grid<equiangular, 721x1440>, out = #disco.grid<equiangular, 721x1440>> -> !disco.psi<sphere, 9, 721x1440 -> 721x1440>
  %gw = disco.conv_weight_grad %x, %gy, %psi groups 65 : (tensor<1x780x721x1440xDTYPE>, tensor<1x65x721x1440xDTYPE>, !disco.psi<sphere, 9, 721x1440 -> 721x1440>) -> tensor<65x12x9xDTYPE>
  return %gw : tensor<65x12x9xDTYPE>
}
func.func @DTYPE_decoder_contract(%x: tensor<1x780x721x1440xDTYPE>) -> tensor<1x780x9x721x1440xDTYPE> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.02772, norm = mean, in = #disco.grid<equiangular, 721x1440>, out = #disco.grid<equiangular, 721x1440>> -> !disco.psi<sphere, 9, 721x1440 -> 721x1440>
  %z = disco.contract %x, %psi : (tensor<1x780x721x1440xDTYPE>, !disco.psi<sphere, 9, 721x1440 -> 721x1440>) -> tensor<1x780x9x721x1440xDTYPE>
  return %z : tensor<1x780x9x721x1440xDTYPE>
}
func.func @DTYPE_decoder_contract_sum(%z: tensor<1x780x9x721x1440xDTYPE>) -> tensor<1x780x721x1440xDTYPE> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.02772, norm = mean, in = #disco.grid<equiangular, 721x1440>, out = #disco.grid<equiangular, 721x1440>> -> !disco.psi<sphere, 9, 721x1440 -> 721x1440>
  %adjoint = disco.adjoint %psi : !disco.psi<sphere, 9, 721x1440 -> 721x1440>
  %x = disco.contract_sum %z, %adjoint : (tensor<1x780x9x721x1440xDTYPE>, !disco.psi<sphere, 9, 721x1440 -> 721x1440>) -> tensor<1x780x721x1440xDTYPE>
  return %x : tensor<1x780x721x1440xDTYPE>
}

func.func @DTYPE_deg1_forward(%x: tensor<1x64x180x360xDTYPE>, %w: tensor<64x64x9xDTYPE>) -> tensor<1x64x180x360xDTYPE> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.03, norm = mean, in = #disco.grid<legendre_gauss, 180x360>, out = #disco.grid<legendre_gauss, 180x360>> -> !disco.psi<sphere, 9, 180x360 -> 180x360>
  %y = disco.conv %x, %psi, %w : (tensor<1x64x180x360xDTYPE>, !disco.psi<sphere, 9, 180x360 -> 180x360>, tensor<64x64x9xDTYPE>) -> tensor<1x64x180x360xDTYPE>
  return %y : tensor<1x64x180x360xDTYPE>
}
func.func @DTYPE_deg1_input_gradient(%gy: tensor<1x64x180x360xDTYPE>, %w: tensor<64x64x9xDTYPE>) -> tensor<1x64x180x360xDTYPE> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.03, norm = mean, in = #disco.grid<legendre_gauss, 180x360>, out = #disco.grid<legendre_gauss, 180x360>> -> !disco.psi<sphere, 9, 180x360 -> 180x360>
  %adjoint = disco.adjoint %psi : !disco.psi<sphere, 9, 180x360 -> 180x360>
  %gx = disco.conv %gy, %adjoint, %w : (tensor<1x64x180x360xDTYPE>, !disco.psi<sphere, 9, 180x360 -> 180x360>, tensor<64x64x9xDTYPE>) -> tensor<1x64x180x360xDTYPE>
  return %gx : tensor<1x64x180x360xDTYPE>
}
func.func @DTYPE_deg1_weight_gradient(%x: tensor<1x64x180x360xDTYPE>, %gy: tensor<1x64x180x360xDTYPE>) -> tensor<64x64x9xDTYPE> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.03, norm = mean, in = #disco.grid<legendre_gauss, 180x360>, out = #disco.grid<legendre_gauss, 180x360>> -> !disco.psi<sphere, 9, 180x360 -> 180x360>
  %gw = disco.conv_weight_grad %x, %gy, %psi : (tensor<1x64x180x360xDTYPE>, tensor<1x64x180x360xDTYPE>, !disco.psi<sphere, 9, 180x360 -> 180x360>) -> tensor<64x64x9xDTYPE>
  return %gw : tensor<64x64x9xDTYPE>
}
func.func @DTYPE_deg1_contract(%x: tensor<1x64x180x360xDTYPE>) -> tensor<1x64x9x180x360xDTYPE> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.03, norm = mean, in = #disco.grid<legendre_gauss, 180x360>, out = #disco.grid<legendre_gauss, 180x360>> -> !disco.psi<sphere, 9, 180x360 -> 180x360>
  %z = disco.contract %x, %psi : (tensor<1x64x180x360xDTYPE>, !disco.psi<sphere, 9, 180x360 -> 180x360>) -> tensor<1x64x9x180x360xDTYPE>
  return %z : tensor<1x64x9x180x360xDTYPE>
}
func.func @DTYPE_deg1_contract_sum(%z: tensor<1x64x9x180x360xDTYPE>) -> tensor<1x64x180x360xDTYPE> {
  %psi = disco.filter #disco.sphere_filter<harmonic, [3, 3], cutoff = 0.03, norm = mean, in = #disco.grid<legendre_gauss, 180x360>, out = #disco.grid<legendre_gauss, 180x360>> -> !disco.psi<sphere, 9, 180x360 -> 180x360>
  %adjoint = disco.adjoint %psi : !disco.psi<sphere, 9, 180x360 -> 180x360>
  %x = disco.contract_sum %z, %adjoint : (tensor<1x64x9x180x360xDTYPE>, !disco.psi<sphere, 9, 180x360 -> 180x360>) -> tensor<1x64x180x360xDTYPE>
  return %x : tensor<1x64x180x360xDTYPE>
}
