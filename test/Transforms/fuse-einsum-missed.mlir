// RUN: disco-opt %s -split-input-file -verify-diagnostics -disco-fuse-einsum --remarks-filter-missed=disco-fuse-einsum | FileCheck %s
// RUN: disco-opt %s -split-input-file -disco-fuse-einsum | FileCheck %s --check-prefix=NONE

// No contraction of this file becomes a conv.
// NONE-NOT: disco.conv

!psi = !disco.psi<sphere, 9, 16x16 -> 16x16>
!x = tensor<2x4x16x16xf32>
!f = tensor<2x4x9x16x16xf32>
!w = tensor<6x4x9xf32>
!y = tensor<2x6x16x16xf32>

// CHECK-LABEL: func @used_twice
// CHECK: disco.contract
func.func @used_twice(%x: !x, %psi: !psi, %w: !w) -> (!f, !y) {
  // expected-remark @+1 {{[Missed] disco.contract | Category:disco-fuse-einsum | Function=used_twice | Reason="the filtered features have 2 uses, but an einsum must be the only one", Rule=single-use}}
  %f = disco.contract %x, %psi : (!x, !psi) -> !f
  %i = arith.constant dense<0.0> : !y
  %y = linalg.contract indexing_maps = [affine_map<(b, o, h, w, c, k) -> (b, c, k, h, w)>, affine_map<(b, o, h, w, c, k) -> (o, c, k)>, affine_map<(b, o, h, w, c, k) -> (b, o, h, w)>]
      ins(%f, %w : !f, !w) outs(%i : !y) -> !y
  return %f, %y : !f, !y
}

func.func @planned(%x: !x, %psi: !psi, %w: !w) -> !y {
  // expected-remark @+1 {{[Missed] disco.contract | Category:disco-fuse-einsum | Function=planned | Reason="the op has a plan already", Rule=planned}}
  %f = disco.contract %x, %psi plan <loops> : (!x, !psi) -> !f
  %i = arith.constant dense<0.0> : !y
  %y = linalg.contract indexing_maps = [affine_map<(b, o, h, w, c, k) -> (b, c, k, h, w)>, affine_map<(b, o, h, w, c, k) -> (o, c, k)>, affine_map<(b, o, h, w, c, k) -> (b, o, h, w)>]
      ins(%f, %w : !f, !w) outs(%i : !y) -> !y
  return %y : !y
}

func.func @no_einsum(%x: !x, %psi: !psi) -> !f {
  // expected-remark @+1 {{[Missed] disco.contract | Category:disco-fuse-einsum | Function=no_einsum | Reason="the op next to it is func.return, not an einsum of two operands", Rule=einsum}}
  %f = disco.contract %x, %psi : (!x, !psi) -> !f
  return %f : !f
}

// (a + b) summed instead of (a * b).
func.func @wrong_body(%x: !x, %psi: !psi, %w: !w) -> !y {
  // expected-remark @+1 {{[Missed] disco.contract | Category:disco-fuse-einsum | Function=wrong_body | Reason="the body of the einsum is not a multiply and add", Rule=body}}
  %f = disco.contract %x, %psi : (!x, !psi) -> !f
  %i = arith.constant dense<0.0> : !y
  %y = linalg.generic {indexing_maps = [affine_map<(b, o, h, w, c, k) -> (b, c, k, h, w)>, affine_map<(b, o, h, w, c, k) -> (o, c, k)>, affine_map<(b, o, h, w, c, k) -> (b, o, h, w)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%f, %w : !f, !w) outs(%i : !y) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %m = arith.addf %p, %q : f32
    %s = arith.addf %acc, %m : f32
    linalg.yield %s : f32
  } -> !y
  return %y : !y
}

// The weight at a shifted index.
func.func @shifted_index(%x: !x, %psi: !psi, %w: tensor<6x4x10xf32>) -> !y {
  // expected-remark @+1 {{[Missed] disco.contract | Category:disco-fuse-einsum | Function=shifted_index | Reason="an operand of the einsum is not indexed by distinct loops", Rule=indexing-map}}
  %f = disco.contract %x, %psi : (!x, !psi) -> !f
  %i = arith.constant dense<0.0> : !y
  %y = linalg.generic {indexing_maps = [affine_map<(b, o, h, w, c, k) -> (b, c, k, h, w)>, affine_map<(b, o, h, w, c, k) -> (o, c, k + 1)>, affine_map<(b, o, h, w, c, k) -> (b, o, h, w)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%f, %w : !f, tensor<6x4x10xf32>) outs(%i : !y) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %acc, %m : f32
    linalg.yield %s : f32
  } -> !y
  return %y : !y
}

func.func @batch_becomes_static(%x: tensor<?x4x16x16xf32>, %psi: !psi, %w: !w) -> !y {
  // expected-remark @+1 {{[Missed] disco.contract | Category:disco-fuse-einsum | Function=batch_becomes_static | Reason="the batch is static in one place and dynamic in another", Rule=batch}}
  %f = disco.contract %x, %psi : (tensor<?x4x16x16xf32>, !psi) -> !f
  %i = arith.constant dense<0.0> : !y
  %y = linalg.contract indexing_maps = [affine_map<(b, o, h, w, c, k) -> (b, c, k, h, w)>, affine_map<(b, o, h, w, c, k) -> (o, c, k)>, affine_map<(b, o, h, w, c, k) -> (b, o, h, w)>]
      ins(%f, %w : !f, !w) outs(%i : !y) -> !y
  return %y : !y
}

func.func @batch_becomes_dynamic(%x: !x, %psi: !psi, %w: !w, %n: index) -> tensor<?x6x16x16xf32> {
  // expected-remark @+1 {{[Missed] disco.contract | Category:disco-fuse-einsum | Function=batch_becomes_dynamic | Reason="the batch is static in one place and dynamic in another", Rule=batch}}
  %f = disco.contract %x, %psi : (!x, !psi) -> !f
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?x6x16x16xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<?x6x16x16xf32>) -> tensor<?x6x16x16xf32>
  %y = linalg.contract indexing_maps = [affine_map<(b, o, h, w, c, k) -> (b, c, k, h, w)>, affine_map<(b, o, h, w, c, k) -> (o, c, k)>, affine_map<(b, o, h, w, c, k) -> (b, o, h, w)>]
      ins(%f, %w : !f, !w) outs(%i : tensor<?x6x16x16xf32>) -> tensor<?x6x16x16xf32>
  return %y : tensor<?x6x16x16xf32>
}

// Fusing would run the filter in every iteration.
func.func @in_a_loop(%x: !x, %psi: !psi, %w: !w, %n: index) -> !y {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-remark @+1 {{[Missed] disco.contract | Category:disco-fuse-einsum | Function=in_a_loop | Reason="the einsum is in another block", Rule=block}}
  %f = disco.contract %x, %psi : (!x, !psi) -> !f
  %i = arith.constant dense<0.0> : !y
  %r = scf.for %j = %c0 to %n step %c1 iter_args(%last = %i) -> !y {
    %y = linalg.contract indexing_maps = [affine_map<(b, o, h, w, c, k) -> (b, c, k, h, w)>, affine_map<(b, o, h, w, c, k) -> (o, c, k)>, affine_map<(b, o, h, w, c, k) -> (b, o, h, w)>]
        ins(%f, %w : !f, !w) outs(%i : !y) -> !y
    scf.yield %y : !y
  }
  return %r : !y
}

// Something is added to.
func.func @init_is_a_tensor(%x: !x, %psi: !psi, %w: !w, %i: !y) -> !y {
  // expected-remark @+1 {{[Missed] disco.contract | Category:disco-fuse-einsum | Function=init_is_a_tensor | Reason="the init of the einsum is neither zeros nor a bias broadcast from the output channels", Rule=init}}
  %f = disco.contract %x, %psi : (!x, !psi) -> !f
  %y = linalg.contract indexing_maps = [affine_map<(b, o, h, w, c, k) -> (b, c, k, h, w)>, affine_map<(b, o, h, w, c, k) -> (o, c, k)>, affine_map<(b, o, h, w, c, k) -> (b, o, h, w)>]
      ins(%f, %w : !f, !w) outs(%i : !y) -> !y
  return %y : !y
}

// A constant that is not zero.
func.func @init_is_one(%x: !x, %psi: !psi, %w: !w) -> !y {
  // expected-remark @+1 {{[Missed] disco.contract | Category:disco-fuse-einsum | Function=init_is_one | Reason="the init of the einsum is neither zeros nor a bias broadcast from the output channels", Rule=init}}
  %f = disco.contract %x, %psi : (!x, !psi) -> !f
  %i = arith.constant dense<1.0> : !y
  %y = linalg.contract indexing_maps = [affine_map<(b, o, h, w, c, k) -> (b, c, k, h, w)>, affine_map<(b, o, h, w, c, k) -> (o, c, k)>, affine_map<(b, o, h, w, c, k) -> (b, o, h, w)>]
      ins(%f, %w : !f, !w) outs(%i : !y) -> !y
  return %y : !y
}

// A bias of the longitude.
func.func @init_of_a_point(%x: !x, %psi: !psi, %w: !w, %b: tensor<16xf32>) -> !y {
  // expected-remark @+1 {{[Missed] disco.contract | Category:disco-fuse-einsum | Function=init_of_a_point | Reason="the init of the einsum is neither zeros nor a bias broadcast from the output channels", Rule=init}}
  %f = disco.contract %x, %psi : (!x, !psi) -> !f
  %e = tensor.empty() : !y
  %i = linalg.broadcast ins(%b : tensor<16xf32>) outs(%e : !y) dimensions = [0, 1, 2]
  %y = linalg.contract indexing_maps = [affine_map<(b, o, h, w, c, k) -> (b, c, k, h, w)>, affine_map<(b, o, h, w, c, k) -> (o, c, k)>, affine_map<(b, o, h, w, c, k) -> (b, o, h, w)>]
      ins(%f, %w : !f, !w) outs(%i : !y) -> !y
  return %y : !y
}

func.func @weight_per_sample(%x: !x, %psi: !psi, %w: tensor<2x6x4x9xf32>) -> !y {
  // expected-remark @+1 {{[Missed] disco.contract | Category:disco-fuse-einsum | Function=weight_per_sample | Reason="the weight depends on the batch", Rule=weight-varies}}
  %f = disco.contract %x, %psi : (!x, !psi) -> !f
  %i = arith.constant dense<0.0> : !y
  %y = linalg.contract indexing_maps = [affine_map<(b, o, h, w, c, k) -> (b, c, k, h, w)>, affine_map<(b, o, h, w, c, k) -> (b, o, c, k)>, affine_map<(b, o, h, w, c, k) -> (b, o, h, w)>]
      ins(%f, %w : !f, tensor<2x6x4x9xf32>) outs(%i : !y) -> !y
  return %y : !y
}

func.func @weight_per_latitude(%x: !x, %psi: !psi, %w: tensor<6x4x9x16xf32>) -> !y {
  // expected-remark @+1 {{[Missed] disco.contract | Category:disco-fuse-einsum | Function=weight_per_latitude | Reason="the weight depends on the points", Rule=weight-varies}}
  %f = disco.contract %x, %psi : (!x, !psi) -> !f
  %i = arith.constant dense<0.0> : !y
  %y = linalg.contract indexing_maps = [affine_map<(b, o, h, w, c, k) -> (b, c, k, h, w)>, affine_map<(b, o, h, w, c, k) -> (o, c, k, h)>, affine_map<(b, o, h, w, c, k) -> (b, o, h, w)>]
      ins(%f, %w : !f, tensor<6x4x9x16xf32>) outs(%i : !y) -> !y
  return %y : !y
}

func.func @sum_over_batch(%x: !x, %psi: !psi, %w: !w) -> tensor<6x16x16xf32> {
  // expected-remark @+1 {{[Missed] disco.contract | Category:disco-fuse-einsum | Function=sum_over_batch | Reason="the einsum sums over the batch", Rule=field-sum}}
  %f = disco.contract %x, %psi : (!x, !psi) -> !f
  %i = arith.constant dense<0.0> : tensor<6x16x16xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(b, o, h, w, c, k) -> (b, c, k, h, w)>, affine_map<(b, o, h, w, c, k) -> (o, c, k)>, affine_map<(b, o, h, w, c, k) -> (o, h, w)>],
      iterator_types = ["reduction", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%f, %w : !f, !w) outs(%i : tensor<6x16x16xf32>) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %acc, %m : f32
    linalg.yield %s : f32
  } -> tensor<6x16x16xf32>
  return %y : tensor<6x16x16xf32>
}

func.func @basis_kept(%x: !x, %psi: !psi, %w: !w) -> tensor<2x6x9x16x16xf32> {
  // expected-remark @+1 {{[Missed] disco.contract | Category:disco-fuse-einsum | Function=basis_kept | Reason="the einsum does not sum over K", Rule=basis-sum}}
  %f = disco.contract %x, %psi : (!x, !psi) -> !f
  %i = arith.constant dense<0.0> : tensor<2x6x9x16x16xf32>
  %y = linalg.contract indexing_maps = [affine_map<(b, o, h, w, c, k) -> (b, c, k, h, w)>, affine_map<(b, o, h, w, c, k) -> (o, c, k)>, affine_map<(b, o, h, w, c, k) -> (b, o, k, h, w)>]
      ins(%f, %w : !f, !w) outs(%i : tensor<2x6x9x16x16xf32>) -> tensor<2x6x9x16x16xf32>
  return %y : tensor<2x6x9x16x16xf32>
}

func.func @weight_without_basis(%x: !x, %psi: !psi, %w: tensor<6x4xf32>) -> !y {
  // expected-remark @+1 {{[Missed] disco.contract | Category:disco-fuse-einsum | Function=weight_without_basis | Reason="the weight does not depend on K", Rule=weight-axes}}
  %f = disco.contract %x, %psi : (!x, !psi) -> !f
  %i = arith.constant dense<0.0> : !y
  %y = linalg.generic {indexing_maps = [affine_map<(b, o, h, w, c, k) -> (b, c, k, h, w)>, affine_map<(b, o, h, w, c, k) -> (o, c)>, affine_map<(b, o, h, w, c, k) -> (b, o, h, w)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%f, %w : !f, tensor<6x4xf32>) outs(%i : !y) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %acc, %m : f32
    linalg.yield %s : f32
  } -> !y
  return %y : !y
}

// "bckxy,ok->boxy": the channels are summed without a weight.
func.func @weight_without_channels(%x: !x, %psi: !psi, %w: tensor<6x9xf32>) -> !y {
  // expected-remark @+1 {{[Missed] disco.contract | Category:disco-fuse-einsum | Function=weight_without_channels | Reason="the weight does not depend on the input channels", Rule=weight-axes}}
  %f = disco.contract %x, %psi : (!x, !psi) -> !f
  %i = arith.constant dense<0.0> : !y
  %y = linalg.generic {indexing_maps = [affine_map<(b, o, h, w, c, k) -> (b, c, k, h, w)>, affine_map<(b, o, h, w, c, k) -> (o, k)>, affine_map<(b, o, h, w, c, k) -> (b, o, h, w)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%f, %w : !f, tensor<6x9xf32>) outs(%i : !y) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %acc, %m : f32
    linalg.yield %s : f32
  } -> !y
  return %y : !y
}

// Another axis of the weight is summed.
func.func @extra_sum(%x: !x, %psi: !psi, %w: tensor<6x4x9x5xf32>) -> !y {
  // expected-remark @+1 {{[Missed] disco.contract | Category:disco-fuse-einsum | Function=extra_sum | Reason="the einsum sums the weight over an axis that the filtered features do not have", Rule=free-sum}}
  %f = disco.contract %x, %psi : (!x, !psi) -> !f
  %i = arith.constant dense<0.0> : !y
  %y = linalg.generic {indexing_maps = [affine_map<(b, o, h, w, c, k, j) -> (b, c, k, h, w)>, affine_map<(b, o, h, w, c, k, j) -> (o, c, k, j)>, affine_map<(b, o, h, w, c, k, j) -> (b, o, h, w)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%f, %w : !f, tensor<6x4x9x5xf32>) outs(%i : !y) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %acc, %m : f32
    linalg.yield %s : f32
  } -> !y
  return %y : !y
}

// Groups that are interleaved: channel = c * 2 + g.
func.func @minor_groups(%x: !x, %psi: !psi, %w: tensor<2x3x2x9xf32>) -> tensor<2x2x3x16x16xf32> {
  // expected-remark @+1 {{[Missed] disco.contract | Category:disco-fuse-einsum | Function=minor_groups | Reason="the groups are not the major part of the channels", Rule=groups}}
  %f = disco.contract %x, %psi : (!x, !psi) -> !f
  %fg = tensor.expand_shape %f [[0], [1, 2], [3], [4], [5]] output_shape [2, 2, 2, 9, 16, 16] : !f into tensor<2x2x2x9x16x16xf32>
  %i = arith.constant dense<0.0> : tensor<2x2x3x16x16xf32>
  %y = linalg.contract indexing_maps = [affine_map<(b, g, o, h, w, c, k) -> (b, c, g, k, h, w)>, affine_map<(b, g, o, h, w, c, k) -> (g, o, c, k)>, affine_map<(b, g, o, h, w, c, k) -> (b, g, o, h, w)>]
      ins(%fg, %w : tensor<2x2x2x9x16x16xf32>, tensor<2x3x2x9xf32>) outs(%i : tensor<2x2x3x16x16xf32>) -> tensor<2x2x3x16x16xf32>
  return %y : tensor<2x2x3x16x16xf32>
}

// 36 = 4 x 9 split as 6 x 6 cuts through K.
func.func @uneven_reshape(%x: !x, %psi: !psi, %w: tensor<6x6x6xf32>) -> !y {
  // expected-remark @+1 {{[Missed] disco.contract | Category:disco-fuse-einsum | Function=uneven_reshape | Reason="a reshape before the einsum splits an axis unevenly", Rule=reshape}}
  %f = disco.contract %x, %psi : (!x, !psi) -> !f
  %fm = tensor.collapse_shape %f [[0], [1, 2], [3], [4]] : !f into tensor<2x36x16x16xf32>
  %fg = tensor.expand_shape %fm [[0], [1, 2], [3], [4]] output_shape [2, 6, 6, 16, 16] : tensor<2x36x16x16xf32> into tensor<2x6x6x16x16xf32>
  %i = arith.constant dense<0.0> : !y
  %y = linalg.contract indexing_maps = [affine_map<(b, o, h, w, c, k) -> (b, c, k, h, w)>, affine_map<(b, o, h, w, c, k) -> (o, c, k)>, affine_map<(b, o, h, w, c, k) -> (b, o, h, w)>]
      ins(%fg, %w : tensor<2x6x6x16x16xf32>, tensor<6x6x6xf32>) outs(%i : !y) -> !y
  return %y : !y
}

func.func @dynamic_weight(%x: !x, %psi: !psi, %w: tensor<?x4x9xf32>, %i: tensor<2x?x16x16xf32>) -> tensor<2x?x16x16xf32> {
  // expected-remark @+1 {{[Missed] disco.contract | Category:disco-fuse-einsum | Function=dynamic_weight | Reason="the shape of the weight is dynamic: tensor<?x4x9xf32>", Rule=weight-shape}}
  %f = disco.contract %x, %psi : (!x, !psi) -> !f
  %y = linalg.contract indexing_maps = [affine_map<(b, o, h, w, c, k) -> (b, c, k, h, w)>, affine_map<(b, o, h, w, c, k) -> (o, c, k)>, affine_map<(b, o, h, w, c, k) -> (b, o, h, w)>]
      ins(%f, %w : !f, tensor<?x4x9xf32>) outs(%i : tensor<2x?x16x16xf32>) -> tensor<2x?x16x16xf32>
  return %y : tensor<2x?x16x16xf32>
}

// Sums in f64 are more exact than the conv's.
func.func @wider_sums(%x: !x, %psi: !psi, %w: !w) -> !y {
  // expected-remark @+1 {{[Missed] disco.contract | Category:disco-fuse-einsum | Function=wider_sums | Reason="the einsum accumulates in f64, but a conv of f32 in f32", Rule=dtype}}
  %f = disco.contract %x, %psi : (!x, !psi) -> !f
  %i = arith.constant dense<0.0> : tensor<2x6x16x16xf64>
  %y = linalg.contract indexing_maps = [affine_map<(b, o, h, w, c, k) -> (b, c, k, h, w)>, affine_map<(b, o, h, w, c, k) -> (o, c, k)>, affine_map<(b, o, h, w, c, k) -> (b, o, h, w)>]
      ins(%f, %w : !f, !w) outs(%i : tensor<2x6x16x16xf64>) -> tensor<2x6x16x16xf64>
  %t = arith.truncf %y : tensor<2x6x16x16xf64> to !y
  return %t : !y
}

// The result of bf16 stays f32.
func.func @result_stays_wide(%x: tensor<2x4x16x16xbf16>, %psi: !psi, %w: !w) -> !y {
  // expected-remark @+1 {{[Missed] disco.contract | Category:disco-fuse-einsum | Function=result_stays_wide | Reason="the result of the einsum stays f32, but that of a conv is bf16", Rule=dtype}}
  %f = disco.contract %x, %psi : (tensor<2x4x16x16xbf16>, !psi) -> tensor<2x4x9x16x16xbf16>
  %i = arith.constant dense<0.0> : !y
  %y = linalg.contract indexing_maps = [affine_map<(b, o, h, w, c, k) -> (b, c, k, h, w)>, affine_map<(b, o, h, w, c, k) -> (o, c, k)>, affine_map<(b, o, h, w, c, k) -> (b, o, h, w)>]
      ins(%f, %w : tensor<2x4x9x16x16xbf16>, !w) outs(%i : !y) -> !y
  return %y : !y
}

func.func @weight_type(%x: tensor<2x4x16x16xf16>, %psi: !psi, %w: tensor<6x4x9xbf16>) -> tensor<2x6x16x16xf16> {
  // expected-remark @+1 {{[Missed] disco.contract | Category:disco-fuse-einsum | Function=weight_type | Reason="the elements of the weight are bf16, but a conv of f16 takes its own type or f32", Rule=dtype}}
  %f = disco.contract %x, %psi : (tensor<2x4x16x16xf16>, !psi) -> tensor<2x4x9x16x16xf16>
  %i = arith.constant dense<0.0> : !y
  %y = linalg.contract indexing_maps = [affine_map<(b, o, h, w, c, k) -> (b, c, k, h, w)>, affine_map<(b, o, h, w, c, k) -> (o, c, k)>, affine_map<(b, o, h, w, c, k) -> (b, o, h, w)>]
      ins(%f, %w : tensor<2x4x9x16x16xf16>, tensor<6x4x9xbf16>) outs(%i : !y) -> !y
  %t = arith.truncf %y : !y to tensor<2x6x16x16xf16>
  return %t : tensor<2x6x16x16xf16>
}

// -----

!psi = !disco.psi<sphere, 9, 8x16 -> 16x32>
!x = tensor<2x4x8x16xf32>
!z = tensor<2x6x9x8x16xf32>
!w = tensor<6x4x9xf32>
!y = tensor<2x6x16x32xf32>

// CHECK-LABEL: func @sum_of_argument
// CHECK: disco.contract_sum
func.func @sum_of_argument(%z: !z, %psi: !psi) -> !y {
  // expected-remark @+1 {{[Missed] disco.contract_sum | Category:disco-fuse-einsum | Function=sum_of_argument | Reason="the features are a function argument, not the result of an einsum", Rule=einsum}}
  %y = disco.contract_sum %z, %psi : (!z, !psi) -> !y
  return %y : !y
}

func.func @sum_of_other(%z: !z, %psi: !psi) -> !y {
  %n = arith.negf %z : !z
  // expected-remark @+1 {{[Missed] disco.contract_sum | Category:disco-fuse-einsum | Function=sum_of_other | Reason="the op next to it is arith.negf, not an einsum of two operands", Rule=einsum}}
  %y = disco.contract_sum %n, %psi : (!z, !psi) -> !y
  return %y : !y
}

func.func @sum_planned(%z: !z, %psi: !psi) -> !y {
  // expected-remark @+1 {{[Missed] disco.contract_sum | Category:disco-fuse-einsum | Function=sum_planned | Reason="the op has a plan already", Rule=planned}}
  %y = disco.contract_sum %z, %psi plan <loops> : (!z, !psi) -> !y
  return %y : !y
}

func.func @mixed_used_twice(%x: !x, %psi: !psi, %w: !w) -> (!z, !y) {
  %i = arith.constant dense<0.0> : !z
  %z = linalg.contract indexing_maps = [affine_map<(b, o, k, h, w, c) -> (b, c, h, w)>, affine_map<(b, o, k, h, w, c) -> (o, c, k)>, affine_map<(b, o, k, h, w, c) -> (b, o, k, h, w)>]
      ins(%x, %w : !x, !w) outs(%i : !z) -> !z
  // expected-remark @+1 {{[Missed] disco.contract_sum | Category:disco-fuse-einsum | Function=mixed_used_twice | Reason="the mixed features have 2 uses, but disco.contract_sum must be the only one", Rule=single-use}}
  %y = disco.contract_sum %z, %psi : (!z, !psi) -> !y
  return %z, %y : !z, !y
}

func.func @mixed_batch(%x: tensor<?x4x8x16xf32>, %psi: !psi, %w: !w) -> !y {
  %i = arith.constant dense<0.0> : !z
  %z = linalg.contract indexing_maps = [affine_map<(b, o, k, h, w, c) -> (b, c, h, w)>, affine_map<(b, o, k, h, w, c) -> (o, c, k)>, affine_map<(b, o, k, h, w, c) -> (b, o, k, h, w)>]
      ins(%x, %w : tensor<?x4x8x16xf32>, !w) outs(%i : !z) -> !z
  // expected-remark @+1 {{[Missed] disco.contract_sum | Category:disco-fuse-einsum | Function=mixed_batch | Reason="the batch is static in one place and dynamic in another", Rule=batch}}
  %y = disco.contract_sum %z, %psi : (!z, !psi) -> !y
  return %y : !y
}

func.func @mixed_outside_of_the_loop(%x: !x, %psi: !psi, %w: !w, %n: index) -> !y {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = arith.constant dense<0.0> : !z
  %none = arith.constant dense<0.0> : !y
  %z = linalg.contract indexing_maps = [affine_map<(b, o, k, h, w, c) -> (b, c, h, w)>, affine_map<(b, o, k, h, w, c) -> (o, c, k)>, affine_map<(b, o, k, h, w, c) -> (b, o, k, h, w)>]
      ins(%x, %w : !x, !w) outs(%i : !z) -> !z
  %r = scf.for %j = %c0 to %n step %c1 iter_args(%last = %none) -> !y {
    // expected-remark @+1 {{[Missed] disco.contract_sum | Category:disco-fuse-einsum | Function=mixed_outside_of_the_loop | Reason="the einsum is in another block", Rule=block}}
    %y = disco.contract_sum %z, %psi : (!z, !psi) -> !y
    scf.yield %y : !y
  }
  return %r : !y
}

// A bias before the filter is none behind it.
func.func @mixed_with_bias(%x: !x, %psi: !psi, %w: !w, %b: tensor<6xf32>) -> !y {
  %e = tensor.empty() : !z
  %i = linalg.broadcast ins(%b : tensor<6xf32>) outs(%e : !z) dimensions = [0, 2, 3, 4]
  %z = linalg.contract indexing_maps = [affine_map<(b, o, k, h, w, c) -> (b, c, h, w)>, affine_map<(b, o, k, h, w, c) -> (o, c, k)>, affine_map<(b, o, k, h, w, c) -> (b, o, k, h, w)>]
      ins(%x, %w : !x, !w) outs(%i : !z) -> !z
  // expected-remark @+1 {{[Missed] disco.contract_sum | Category:disco-fuse-einsum | Function=mixed_with_bias | Reason="the init of the einsum is not zeros", Rule=init}}
  %y = disco.contract_sum %z, %psi : (!z, !psi) -> !y
  return %y : !y
}

// The input has K already: a sum over channels only.
func.func @mixed_per_basis(%x: tensor<2x4x9x8x16xf32>, %psi: !psi, %w: !w) -> !y {
  %i = arith.constant dense<0.0> : !z
  %z = linalg.contract indexing_maps = [affine_map<(b, o, k, h, w, c) -> (b, c, k, h, w)>, affine_map<(b, o, k, h, w, c) -> (o, c, k)>, affine_map<(b, o, k, h, w, c) -> (b, o, k, h, w)>]
      ins(%x, %w : tensor<2x4x9x8x16xf32>, !w) outs(%i : !z) -> !z
  // expected-remark @+1 {{[Missed] disco.contract_sum | Category:disco-fuse-einsum | Function=mixed_per_basis | Reason="the input of the einsum depends on K", Rule=input-axes}}
  %y = disco.contract_sum %z, %psi : (!z, !psi) -> !y
  return %y : !y
}

func.func @mixed_weight_per_sample(%x: !x, %psi: !psi, %w: tensor<2x6x4x9xf32>) -> !y {
  %i = arith.constant dense<0.0> : !z
  %z = linalg.contract indexing_maps = [affine_map<(b, o, k, h, w, c) -> (b, c, h, w)>, affine_map<(b, o, k, h, w, c) -> (b, o, c, k)>, affine_map<(b, o, k, h, w, c) -> (b, o, k, h, w)>]
      ins(%x, %w : !x, tensor<2x6x4x9xf32>) outs(%i : !z) -> !z
  // expected-remark @+1 {{[Missed] disco.contract_sum | Category:disco-fuse-einsum | Function=mixed_weight_per_sample | Reason="the weight depends on the batch", Rule=weight-varies}}
  %y = disco.contract_sum %z, %psi : (!z, !psi) -> !y
  return %y : !y
}

// bf16 mixed to f32 and filtered in f32.
func.func @mixed_wide(%x: tensor<2x4x8x16xbf16>, %psi: !psi, %w: !w) -> !y {
  %i = arith.constant dense<0.0> : !z
  %z = linalg.contract indexing_maps = [affine_map<(b, o, k, h, w, c) -> (b, c, h, w)>, affine_map<(b, o, k, h, w, c) -> (o, c, k)>, affine_map<(b, o, k, h, w, c) -> (b, o, k, h, w)>]
      ins(%x, %w : tensor<2x4x8x16xbf16>, !w) outs(%i : !z) -> !z
  // expected-remark @+1 {{[Missed] disco.contract_sum | Category:disco-fuse-einsum | Function=mixed_wide | Reason="the input of the einsum is bf16, but the result is f32", Rule=dtype}}
  %y = disco.contract_sum %z, %psi : (!z, !psi) -> !y
  return %y : !y
}
