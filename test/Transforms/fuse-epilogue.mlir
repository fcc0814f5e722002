// RUN: disco-opt %s -split-input-file -disco-fuse-epilogue | FileCheck %s

!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
!y = tensor<?x6x16x32xf32>

// The bias as a linalg.generic that reads [O].
// CHECK-LABEL: func @bias_generic
// CHECK-SAME: (%[[X:arg[0-9]+]]: tensor<?x4x16x32xf32>, %[[PSI:arg[0-9]+]]: !disco.psi<sphere, 9, 16x32 -> 16x32>, %[[W:arg[0-9]+]]: tensor<6x4x9xf32>, %[[B:arg[0-9]+]]: tensor<6xf32>)
// CHECK-NEXT: %[[Y:.*]] = disco.conv %[[X]], %[[PSI]], %[[W]] bias %[[B]] : (tensor<?x4x16x32xf32>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x4x9xf32>, tensor<6xf32>) -> tensor<?x6x16x32xf32>
// CHECK-NEXT: return %[[Y]]
func.func @bias_generic(%x: tensor<?x4x16x32xf32>, %psi: !psi, %w: tensor<6x4x9xf32>, %b: tensor<6xf32>) -> !y {
  %y = disco.conv %x, %psi, %w : (tensor<?x4x16x32xf32>, !psi, tensor<6x4x9xf32>) -> !y
  %c0 = arith.constant 0 : index
  %batch = tensor.dim %y, %c0 : !y
  %e = tensor.empty(%batch) : !y
  %z = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y, %b : !y, tensor<6xf32>) outs(%e : !y) {
  ^bb0(%p: f32, %q: f32, %out: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  } -> !y
  return %z : !y
}

// -----

!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
!y = tensor<2x6x16x32xf64>

// The bias broadcast by linalg.broadcast, its operand on the left.
// CHECK-LABEL: func @bias_broadcast
// CHECK-SAME: %[[B:arg[0-9]+]]: tensor<6xf64>)
// CHECK-NEXT: %[[Y:.*]] = disco.conv %{{.*}}, %{{.*}}, %{{.*}} bias %[[B]] : (tensor<2x4x16x32xf64>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x4x9xf64>, tensor<6xf64>) -> tensor<2x6x16x32xf64>
// CHECK-NEXT: return %[[Y]]
func.func @bias_broadcast(%x: tensor<2x4x16x32xf64>, %psi: !psi, %w: tensor<6x4x9xf64>, %b: tensor<6xf64>) -> !y {
  %y = disco.conv %x, %psi, %w : (tensor<2x4x16x32xf64>, !psi, tensor<6x4x9xf64>) -> !y
  %e = tensor.empty() : !y
  %bb = linalg.broadcast ins(%b : tensor<6xf64>) outs(%e : !y) dimensions = [0, 2, 3]
  %z = arith.addf %bb, %y : !y
  return %z : !y
}

// -----

!psi = !disco.psi<csr, 3, 300 -> 33>
!y = tensor<?x6x33xf32>

// A constant bias expanded to [O, 1] first, on a point set.
// CHECK-LABEL: func @bias_expanded
// CHECK: %[[B:.*]] = arith.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00, 5.000000e+00, 6.000000e+00]> : tensor<6xf32>
// CHECK-NEXT: %[[Y:.*]] = disco.conv %{{.*}}, %{{.*}}, %{{.*}} bias %[[B]] : (tensor<?x4x300xf32>, !disco.psi<csr, 3, 300 -> 33>, tensor<6x4x3xf32>, tensor<6xf32>) -> tensor<?x6x33xf32>
// CHECK-NEXT: return %[[Y]]
func.func @bias_expanded(%x: tensor<?x4x300xf32>, %psi: !psi, %w: tensor<6x4x3xf32>) -> !y {
  %b = arith.constant dense<[1., 2., 3., 4., 5., 6.]> : tensor<6xf32>
  %b2 = tensor.expand_shape %b [[0, 1]] output_shape [6, 1] : tensor<6xf32> into tensor<6x1xf32>
  %y = disco.conv %x, %psi, %w : (tensor<?x4x300xf32>, !psi, tensor<6x4x3xf32>) -> !y
  %c0 = arith.constant 0 : index
  %batch = tensor.dim %x, %c0 : tensor<?x4x300xf32>
  %e = tensor.empty(%batch) : !y
  %z = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%y, %b2 : !y, tensor<6x1xf32>) outs(%e : !y) {
  ^bb0(%p: f32, %q: f32, %out: f32):
    %s = arith.addf %q, %p : f32
    linalg.yield %s : f32
  } -> !y
  return %z : !y
}

// -----

!psi = !disco.psi<table<5>, 3, 128 -> 40>
!y = tensor<2x6x40xf32>

// CHECK-LABEL: func @relu_maximumf
// CHECK: %[[Y:.*]] = disco.conv %{{.*}}, %{{.*}}, %{{.*}} activation relu : (
// CHECK-NEXT: return %[[Y]]
func.func @relu_maximumf(%x: tensor<2x4x128xf32>, %psi: !psi, %w: tensor<6x4x3xf32>) -> !y {
  %zero = arith.constant dense<0.0> : !y
  %y = disco.conv %x, %psi, %w : (tensor<2x4x128xf32>, !psi, tensor<6x4x3xf32>) -> !y
  %z = arith.maximumf %zero, %y : !y
  return %z : !y
}

// CHECK-LABEL: func @relu_maxnumf_of_fill
// CHECK: %[[Y:.*]] = disco.conv %{{.*}}, %{{.*}}, %{{.*}} activation relu : (
// CHECK-NEXT: return %[[Y]]
func.func @relu_maxnumf_of_fill(%x: tensor<2x4x128xf32>, %psi: !psi, %w: tensor<6x4x3xf32>) -> !y {
  %cst = arith.constant 0.0 : f32
  %e = tensor.empty() : !y
  %zero = linalg.fill ins(%cst : f32) outs(%e : !y) -> !y
  %y = disco.conv %x, %psi, %w : (tensor<2x4x128xf32>, !psi, tensor<6x4x3xf32>) -> !y
  %z = arith.maxnumf %y, %zero : !y
  return %z : !y
}

// CHECK-LABEL: func @relu_select
// CHECK: %[[Y:.*]] = disco.conv %{{.*}}, %{{.*}}, %{{.*}} activation relu : (
// CHECK-NEXT: return %[[Y]]
func.func @relu_select(%x: tensor<2x4x128xf32>, %psi: !psi, %w: tensor<6x4x3xf32>) -> !y {
  %cst = arith.constant 0.0 : f32
  %y = disco.conv %x, %psi, %w : (tensor<2x4x128xf32>, !psi, tensor<6x4x3xf32>) -> !y
  %e = tensor.empty() : !y
  %z = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%y : !y) outs(%e : !y) {
  ^bb0(%p: f32, %out: f32):
    %c = arith.cmpf ugt, %p, %cst : f32
    %s = arith.select %c, %p, %cst : f32
    linalg.yield %s : f32
  } -> !y
  return %z : !y
}

// -----

!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
!y = tensor<?x6x16x32xf32>
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#channel = affine_map<(d0, d1, d2, d3) -> (d1)>

// One body holds the bias, gelu and the residual.
// CHECK-LABEL: func @gelu_in_one_body
// CHECK-SAME: %[[B:[^:]*]]: tensor<6xf32>, %[[R:[^:]*]]: tensor<?x6x16x32xf32>)
// CHECK-NEXT: %[[Y:.*]] = disco.conv %{{.*}}, %{{.*}}, %{{.*}} bias %[[B]] residual %[[R]] groups 2 activation gelu : (
// CHECK-NEXT: return %[[Y]]
func.func @gelu_in_one_body(%x: tensor<?x4x16x32xf32>, %psi: !psi, %w: tensor<6x2x9xf32>, %b: tensor<6xf32>, %r: !y) -> !y {
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %s2 = arith.constant 0.70710678 : f32
  %y = disco.conv %x, %psi, %w groups 2 : (tensor<?x4x16x32xf32>, !psi, tensor<6x2x9xf32>) -> !y
  %c0 = arith.constant 0 : index
  %batch = tensor.dim %x, %c0 : tensor<?x4x16x32xf32>
  %e = tensor.empty(%batch) : !y
  %z = linalg.generic {indexing_maps = [#id, #channel, #id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y, %b, %r : !y, tensor<6xf32>, !y) outs(%e : !y) {
  ^bb0(%p: f32, %q: f32, %res: f32, %out: f32):
    %v = arith.addf %p, %q : f32
    %a = arith.mulf %v, %s2 : f32
    %f = math.erf %a : f32
    %g = arith.addf %f, %one : f32
    %h = arith.mulf %v, %half : f32
    %act = arith.mulf %h, %g : f32
    %sum = arith.addf %act, %res : f32
    linalg.yield %sum : f32
  } -> !y
  return %z : !y
}

// -----

!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
!y = tensor<1x6x16x32xf32>

// Elementwise ops on tensors; divided by sqrt 2, 0.5 taken into the sum.
// CHECK-LABEL: func @gelu_on_tensors
// CHECK-NEXT: %[[Y:.*]] = disco.conv %{{.*}}, %{{.*}}, %{{.*}} activation gelu : (
// CHECK-NEXT: return %[[Y]]
func.func @gelu_on_tensors(%x: tensor<1x4x16x32xf32>, %psi: !psi, %w: tensor<6x4x9xf32>) -> !y {
  %half = arith.constant dense<0.5> : !y
  %s2 = arith.constant dense<1.41421356> : !y
  %y = disco.conv %x, %psi, %w : (tensor<1x4x16x32xf32>, !psi, tensor<6x4x9xf32>) -> !y
  %a = arith.divf %y, %s2 : !y
  %f = math.erf %a : !y
  %g = arith.mulf %f, %half : !y
  %h = arith.addf %half, %g : !y
  %z = arith.mulf %h, %y : !y
  return %z : !y
}

// CHECK-LABEL: func @gelu_erfc
// CHECK-NEXT: %[[Y:.*]] = disco.conv %{{.*}}, %{{.*}}, %{{.*}} activation gelu : (
// CHECK-NEXT: return %[[Y]]
func.func @gelu_erfc(%x: tensor<1x4x16x32xf32>, %psi: !psi, %w: tensor<6x4x9xf32>) -> !y {
  %half = arith.constant dense<0.5> : !y
  %s2 = arith.constant dense<-0.70710678> : !y
  %y = disco.conv %x, %psi, %w : (tensor<1x4x16x32xf32>, !psi, tensor<6x4x9xf32>) -> !y
  %a = arith.mulf %y, %s2 : !y
  %f = math.erfc %a : !y
  %g = arith.mulf %f, %half : !y
  %z = arith.mulf %g, %y : !y
  return %z : !y
}

// CHECK-LABEL: func @gelu_tanh_cube
// CHECK-NEXT: %[[Y:.*]] = disco.conv %{{.*}}, %{{.*}}, %{{.*}} activation gelu_tanh : (
// CHECK-NEXT: return %[[Y]]
func.func @gelu_tanh_cube(%x: tensor<1x4x16x32xf32>, %psi: !psi, %w: tensor<6x4x9xf32>) -> !y {
  %half = arith.constant dense<0.5> : !y
  %one = arith.constant dense<1.0> : !y
  %three = arith.constant dense<3.0> : !y
  %cubic = arith.constant dense<0.044715> : !y
  %scale = arith.constant dense<0.797884561> : !y
  %y = disco.conv %x, %psi, %w : (tensor<1x4x16x32xf32>, !psi, tensor<6x4x9xf32>) -> !y
  %y3 = math.powf %y, %three : !y
  %c3 = arith.mulf %cubic, %y3 : !y
  %in = arith.addf %y, %c3 : !y
  %s = arith.mulf %in, %scale : !y
  %t = math.tanh %s : !y
  %t1 = arith.addf %one, %t : !y
  %h = arith.mulf %half, %t1 : !y
  %z = arith.mulf %y, %h : !y
  return %z : !y
}

// CHECK-LABEL: func @gelu_tanh_square
// CHECK-NEXT: %[[Y:.*]] = disco.conv %{{.*}}, %{{.*}}, %{{.*}} activation gelu_tanh : (
// CHECK-NEXT: return %[[Y]]
func.func @gelu_tanh_square(%x: tensor<1x4x16x32xf32>, %psi: !psi, %w: tensor<6x4x9xf32>) -> !y {
  %half = arith.constant dense<0.5> : !y
  %one = arith.constant dense<1.0> : !y
  %cubic = arith.constant dense<0.044715> : !y
  %scale = arith.constant dense<0.797884561> : !y
  %y = disco.conv %x, %psi, %w : (tensor<1x4x16x32xf32>, !psi, tensor<6x4x9xf32>) -> !y
  %y2 = arith.mulf %y, %y : !y
  %c2 = arith.mulf %cubic, %y2 : !y
  %c21 = arith.addf %c2, %one : !y
  %sy = arith.mulf %y, %scale : !y
  %s = arith.mulf %sy, %c21 : !y
  %t = math.tanh %s : !y
  %t1 = arith.addf %t, %one : !y
  %h = arith.mulf %half, %y : !y
  %z = arith.mulf %t1, %h : !y
  return %z : !y
}

// CHECK-LABEL: func @silu_quotient
// CHECK-NEXT: %[[Y:.*]] = disco.conv %{{.*}}, %{{.*}}, %{{.*}} activation silu : (
// CHECK-NEXT: return %[[Y]]
func.func @silu_quotient(%x: tensor<1x4x16x32xf32>, %psi: !psi, %w: tensor<6x4x9xf32>) -> !y {
  %one = arith.constant dense<1.0> : !y
  %y = disco.conv %x, %psi, %w : (tensor<1x4x16x32xf32>, !psi, tensor<6x4x9xf32>) -> !y
  %n = arith.negf %y : !y
  %e = math.exp %n : !y
  %d = arith.addf %e, %one : !y
  %z = arith.divf %y, %d : !y
  return %z : !y
}

// CHECK-LABEL: func @silu_sigmoid
// CHECK-NEXT: %[[Y:.*]] = disco.conv %{{.*}}, %{{.*}}, %{{.*}} activation silu : (
// CHECK-NEXT: return %[[Y]]
func.func @silu_sigmoid(%x: tensor<1x4x16x32xf32>, %psi: !psi, %w: tensor<6x4x9xf32>) -> !y {
  %one = arith.constant dense<1.0> : !y
  %y = disco.conv %x, %psi, %w : (tensor<1x4x16x32xf32>, !psi, tensor<6x4x9xf32>) -> !y
  %n = arith.negf %y : !y
  %e = math.exp %n : !y
  %d = arith.addf %one, %e : !y
  %s = arith.divf %one, %d : !y
  %z = arith.mulf %s, %y : !y
  return %z : !y
}

// -----

!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
!y = tensor<2x6x16x32xf32>

// Bias, activation and residual as ops of their own; the storage stays.
// CHECK-LABEL: func @in_steps
// CHECK-SAME: %[[B:[^:]*]]: tensor<6xf32>, %[[R:[^:]*]]: tensor<2x6x16x32xf32>)
// CHECK-NEXT: %[[Y:.*]] = disco.conv %{{.*}}, (%{{.*}}, %{{.*}}, %{{.*}}), %{{.*}} bias %[[B]] residual %[[R]] activation relu storage <arcs, !disco.psi<sphere, 9, 16x32 -> 16x32>> : (
// CHECK-NEXT: return %[[Y]]
func.func @in_steps(%x: tensor<2x4x16x32xf32>, %o: tensor<17xi32>, %a: tensor<40x4xi32>, %v: tensor<99x9xf32>, %w: tensor<6x4x9xf32>, %b: tensor<6xf32>, %r: !y) -> !y {
  %zero = arith.constant dense<0.0> : !y
  %y = disco.conv %x, (%o, %a, %v), %w storage <arcs, !psi>
    : (tensor<2x4x16x32xf32>, tensor<17xi32>, tensor<40x4xi32>, tensor<99x9xf32>, tensor<6x4x9xf32>) -> !y
  %e = tensor.empty() : !y
  %bb = linalg.broadcast ins(%b : tensor<6xf32>) outs(%e : !y) dimensions = [0, 2, 3]
  %1 = arith.addf %y, %bb : !y
  %2 = arith.maximumf %1, %zero : !y
  %3 = arith.addf %r, %2 : !y
  return %3 : !y
}

// The result of one conv is the residual of the other.
// CHECK-LABEL: func @sum_of_convs
// CHECK-NEXT: %[[P:.*]] = disco.conv %[[X:.*]], %{{.*}}, %{{.*}} : (
// CHECK-NEXT: %[[Y:.*]] = disco.conv %[[X]], %{{.*}}, %{{.*}} residual %[[P]] : (
// CHECK-NEXT: return %[[Y]]
func.func @sum_of_convs(%x: tensor<2x4x16x32xf32>, %psi: !psi, %w: tensor<6x4x9xf32>, %v: tensor<6x4x9xf32>) -> !y {
  %1 = disco.conv %x, %psi, %w : (tensor<2x4x16x32xf32>, !psi, tensor<6x4x9xf32>) -> !y
  %2 = disco.conv %x, %psi, %v : (tensor<2x4x16x32xf32>, !psi, tensor<6x4x9xf32>) -> !y
  %3 = arith.addf %1, %2 : !y
  return %3 : !y
}

// -----

!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
!y = tensor<?x6x16x32xbf16>
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#channel = affine_map<(d0, d1, d2, d3) -> (d1)>

// bf16 with an f32 body, an f32 bias and constants of bf16.
// CHECK-LABEL: func @bf16_in_f32
// CHECK-SAME: %[[B:[^:]*]]: tensor<6xf32>, %[[R:[^:]*]]: tensor<?x6x16x32xbf16>)
// CHECK-NEXT: %[[Y:.*]] = disco.conv %{{.*}}, %{{.*}}, %{{.*}} bias %[[B]] residual %[[R]] activation silu : (tensor<?x4x16x32xbf16>, !disco.psi<sphere, 9, 16x32 -> 16x32>, tensor<6x4x9xbf16>, tensor<6xf32>, tensor<?x6x16x32xbf16>) -> tensor<?x6x16x32xbf16>
// CHECK-NEXT: return %[[Y]]
func.func @bf16_in_f32(%x: tensor<?x4x16x32xbf16>, %psi: !psi, %w: tensor<6x4x9xbf16>, %b: tensor<6xf32>, %r: !y) -> !y {
  %one = arith.constant 1.0 : f32
  %y = disco.conv %x, %psi, %w : (tensor<?x4x16x32xbf16>, !psi, tensor<6x4x9xbf16>) -> !y
  %c0 = arith.constant 0 : index
  %batch = tensor.dim %y, %c0 : !y
  %e = tensor.empty(%batch) : !y
  %z = linalg.generic {indexing_maps = [#id, #channel, #id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y, %b, %r : !y, tensor<6xf32>, !y) outs(%e : !y) {
  ^bb0(%p: bf16, %q: f32, %res: bf16, %out: bf16):
    %pe = arith.extf %p : bf16 to f32
    %re = arith.extf %res : bf16 to f32
    %v = arith.addf %pe, %q : f32
    %n = arith.negf %v : f32
    %ex = math.exp %n : f32
    %d = arith.addf %one, %ex : f32
    %s = arith.divf %v, %d : f32
    %sum = arith.addf %s, %re : f32
    %t = arith.truncf %sum : f32 to bf16
    linalg.yield %t : bf16
  } -> !y
  return %z : !y
}

// CHECK-LABEL: func @bf16_constants
// CHECK-NEXT: %[[Y:.*]] = disco.conv %{{.*}}, %{{.*}}, %{{.*}} activation gelu : (
// CHECK-NEXT: return %[[Y]]
func.func @bf16_constants(%x: tensor<?x4x16x32xbf16>, %psi: !psi, %w: tensor<6x4x9xbf16>) -> !y {
  %half = arith.constant 0.5 : bf16
  %one = arith.constant 1.0 : bf16
  %s2 = arith.constant 0.707 : bf16
  %y = disco.conv %x, %psi, %w : (tensor<?x4x16x32xbf16>, !psi, tensor<6x4x9xbf16>) -> !y
  %c0 = arith.constant 0 : index
  %batch = tensor.dim %y, %c0 : !y
  %e = tensor.empty(%batch) : !y
  %z = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y : !y) outs(%e : !y) {
  ^bb0(%v: bf16, %out: bf16):
    %a = arith.mulf %v, %s2 : bf16
    %f = math.erf %a : bf16
    %g = arith.addf %f, %one : bf16
    %h = arith.mulf %v, %half : bf16
    %act = arith.mulf %h, %g : bf16
    linalg.yield %act : bf16
  } -> !y
  return %z : !y
}

// -----

!psi = !disco.psi<table<5>, 3, 128 -> 40>
!y = tensor<2x6x40xf16>

// f16 extended, biased and activated in f32 on tensors, and truncated.
// CHECK-LABEL: func @f16_on_tensors
// CHECK-SAME: %[[B:arg[0-9]+]]: tensor<6xf16>)
// CHECK-NEXT: %[[Y:.*]] = disco.conv %{{.*}}, %{{.*}}, %{{.*}} bias %[[B]] activation relu : (
// CHECK-NEXT: return %[[Y]]
func.func @f16_on_tensors(%x: tensor<2x4x128xf16>, %psi: !psi, %w: tensor<6x4x3xf32>, %b: tensor<6xf16>) -> !y {
  %zero = arith.constant dense<0.0> : tensor<2x6x40xf32>
  %y = disco.conv %x, %psi, %w : (tensor<2x4x128xf16>, !psi, tensor<6x4x3xf32>) -> !y
  %e = tensor.empty() : tensor<2x6x40xf32>
  %bw = arith.extf %b : tensor<6xf16> to tensor<6xf32>
  %bb = linalg.broadcast ins(%bw : tensor<6xf32>) outs(%e : tensor<2x6x40xf32>) dimensions = [0, 2]
  %yw = arith.extf %y : !y to tensor<2x6x40xf32>
  %s = arith.addf %yw, %bb : tensor<2x6x40xf32>
  %r = arith.maximumf %s, %zero : tensor<2x6x40xf32>
  %t = arith.truncf %r : tensor<2x6x40xf32> to !y
  return %t : !y
}
