// The gradient of a field as a filter convolution.
//
// Two of the four features of harmonic [2, 2] are a bump times the sine of the distance to the east and to the south. Filtering
// with them is smoothing and differentiating at once; the weight (made by make-demo-inputs, see there) scales and signs them so
// that the two output channels are the derivatives towards the east and the north. Without a norm, filtering is plain
// quadrature, so the scale follows from an integral over the disk, the same at every latitude.
//
// The steepness is computed by upstream MLIR: disco ops mix with any others that work on tensors.
//
//   x [B,1,181,360] in m -> gradient [B,2,181,360] and its magnitude [B,1,181,360], in m/km

#slope = #disco.sphere_filter<harmonic, [2, 2], cutoff = 6.1e-2, norm = none, in = #disco.grid<equiangular, 181x360>, out = #disco.grid<equiangular, 181x360>>

func.func @gradient(%x: tensor<?x1x181x360xf32>, %weight: tensor<2x1x4xf32>)
    -> (tensor<?x2x181x360xf32>, tensor<?x1x181x360xf32>) {
  %psi = disco.filter #slope -> !disco.psi<sphere, 4, 181x360 -> 181x360>
  %gradient = disco.conv %x, %psi, %weight
      : (tensor<?x1x181x360xf32>, !disco.psi<sphere, 4, 181x360 -> 181x360>, tensor<2x1x4xf32>) -> tensor<?x2x181x360xf32>

  %zero = arith.constant 0 : index
  %batch = tensor.dim %x, %zero : tensor<?x1x181x360xf32>
  %east = tensor.extract_slice %gradient[0, 0, 0, 0] [%batch, 1, 181, 360] [1, 1, 1, 1]
      : tensor<?x2x181x360xf32> to tensor<?x1x181x360xf32>
  %north = tensor.extract_slice %gradient[0, 1, 0, 0] [%batch, 1, 181, 360] [1, 1, 1, 1]
      : tensor<?x2x181x360xf32> to tensor<?x1x181x360xf32>
  %east2 = arith.mulf %east, %east : tensor<?x1x181x360xf32>
  %north2 = arith.mulf %north, %north : tensor<?x1x181x360xf32>
  %sum = arith.addf %east2, %north2 : tensor<?x1x181x360xf32>
  %steepness = math.sqrt %sum : tensor<?x1x181x360xf32>
  return %gradient, %steepness : tensor<?x2x181x360xf32>, tensor<?x1x181x360xf32>
}
