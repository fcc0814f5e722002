// RUN: disco-opt %s -split-input-file -verify-diagnostics -disco-fuse-epilogue --remarks-filter-missed=disco-fuse-epilogue | FileCheck %s

!psi = !disco.psi<sphere, 9, 16x32 -> 16x32>
!y = tensor<2x6x16x32xf32>
!x = tensor<2x4x16x32xf32>
!w = tensor<6x4x9xf32>

// The residual joins the conv, the activation behind it cannot.
// CHECK-LABEL: func @activation_after_residual
// CHECK: %[[Y:.*]] = disco.conv %{{.*}}, %{{.*}}, %{{.*}} residual %{{.*}} : (
// CHECK-NEXT: arith.maximumf %[[Y]]
func.func @activation_after_residual(%x: !x, %psi: !psi, %w: !w, %r: !y) -> !y {
  %zero = arith.constant dense<0.0> : !y
  // expected-remark @+1 {{[Missed] disco.conv | Category:disco-fuse-epilogue | Function=activation_after_residual | Reason="an activation follows the residual", Rule=order}}
  %y = disco.conv %x, %psi, %w : (!x, !psi, !w) -> !y
  %1 = arith.addf %y, %r : !y
  %2 = arith.maximumf %1, %zero : !y
  return %2 : !y
}

// CHECK-LABEL: func @second_bias
// CHECK: %[[Y:.*]] = disco.conv %{{.*}}, %{{.*}}, %{{.*}} bias %{{.*}} : (
// CHECK: arith.addf %[[Y]]
func.func @second_bias(%x: !x, %psi: !psi, %w: !w, %b: tensor<6xf32>, %c: tensor<6xf32>) -> !y {
  // expected-remark @+1 {{[Missed] disco.conv | Category:disco-fuse-epilogue | Function=second_bias | Reason="a second bias is added", Rule=order}}
  %y = disco.conv %x, %psi, %w bias %b : (!x, !psi, !w, tensor<6xf32>) -> !y
  %e = tensor.empty() : !y
  %bb = linalg.broadcast ins(%c : tensor<6xf32>) outs(%e : !y) dimensions = [0, 2, 3]
  %1 = arith.addf %y, %bb : !y
  return %1 : !y
}

func.func @bias_after_activation(%x: !x, %psi: !psi, %w: !w, %b: tensor<6xf32>) -> !y {
  // expected-remark @+1 {{[Missed] disco.conv | Category:disco-fuse-epilogue | Function=bias_after_activation | Reason="a bias is added after the activation", Rule=order}}
  %y = disco.conv %x, %psi, %w activation silu : (!x, !psi, !w) -> !y
  %e = tensor.empty() : !y
  %bb = linalg.broadcast ins(%b : tensor<6xf32>) outs(%e : !y) dimensions = [0, 2, 3]
  %1 = arith.addf %y, %bb : !y
  return %1 : !y
}

func.func @bias_after_residual(%x: !x, %psi: !psi, %w: !w, %b: tensor<6xf32>, %r: !y) -> !y {
  // expected-remark @+1 {{[Missed] disco.conv | Category:disco-fuse-epilogue | Function=bias_after_residual | Reason="a bias is added after the residual", Rule=order}}
  %y = disco.conv %x, %psi, %w residual %r : (!x, !psi, !w, !y) -> !y
  %e = tensor.empty() : !y
  %bb = linalg.broadcast ins(%b : tensor<6xf32>) outs(%e : !y) dimensions = [0, 2, 3]
  %1 = arith.addf %y, %bb : !y
  return %1 : !y
}

func.func @second_activation(%x: !x, %psi: !psi, %w: !w) -> !y {
  %zero = arith.constant dense<0.0> : !y
  // expected-remark @+1 {{[Missed] disco.conv | Category:disco-fuse-epilogue | Function=second_activation | Reason="a second activation follows", Rule=order}}
  %y = disco.conv %x, %psi, %w activation gelu : (!x, !psi, !w) -> !y
  %1 = arith.maximumf %y, %zero : !y
  return %1 : !y
}

func.func @second_residual(%x: !x, %psi: !psi, %w: !w, %r: !y, %q: !y) -> !y {
  // expected-remark @+1 {{[Missed] disco.conv | Category:disco-fuse-epilogue | Function=second_residual | Reason="a second residual is added", Rule=order}}
  %y = disco.conv %x, %psi, %w residual %r : (!x, !psi, !w, !y) -> !y
  %1 = arith.addf %y, %q : !y
  return %1 : !y
}

// CHECK-LABEL: func @planned
// CHECK: disco.conv %{{.*}}, %{{.*}}, %{{.*}} plan <loops> : (
// CHECK: arith.addf
func.func @planned(%x: !x, %psi: !psi, %w: !w, %r: !y) -> !y {
  // expected-remark @+1 {{[Missed] disco.conv | Category:disco-fuse-epilogue | Function=planned | Reason="the conv has a plan already", Rule=planned}}
  %y = disco.conv %x, %psi, %w plan <loops> : (!x, !psi, !w) -> !y
  %1 = arith.addf %y, %r : !y
  return %1 : !y
}

// CHECK-LABEL: func @result_used_twice
// CHECK: disco.conv %{{.*}}, %{{.*}}, %{{.*}} : (
// CHECK-NEXT: arith.addf
func.func @result_used_twice(%x: !x, %psi: !psi, %w: !w, %r: !y) -> (!y, !y) {
  // expected-remark @+1 {{[Missed] disco.conv | Category:disco-fuse-epilogue | Function=result_used_twice | Reason="the conv's result is used outside of the epilogue as well", Rule=single-use}}
  %y = disco.conv %x, %psi, %w : (!x, !psi, !w) -> !y
  %1 = arith.addf %y, %r : !y
  return %y, %1 : !y, !y
}

// CHECK-LABEL: func @intermediate_used_twice
// CHECK: disco.conv %{{.*}}, %{{.*}}, %{{.*}} : (
// CHECK-NEXT: arith.negf
func.func @intermediate_used_twice(%x: !x, %psi: !psi, %w: !w) -> (!y, !y) {
  %one = arith.constant dense<1.0> : !y
  // expected-remark @+1 {{[Missed] disco.conv | Category:disco-fuse-epilogue | Function=intermediate_used_twice | Reason="an intermediate value of the epilogue is used outside of it as well", Rule=single-use}}
  %y = disco.conv %x, %psi, %w : (!x, !psi, !w) -> !y
  %n = arith.negf %y : !y
  %e = math.exp %n : !y
  %d = arith.addf %e, %one : !y
  %z = arith.divf %y, %d : !y
  return %z, %e : !y, !y
}

// Neither of the sums reads the same points, nor is it an epilogue.
func.func @other_form(%x: !x, %psi: !psi, %w: !w) -> !y {
  %two = arith.constant dense<2.0> : !y
  // expected-remark @+1 {{[Missed] disco.conv | Category:disco-fuse-epilogue | Function=other_form | Reason="the elementwise op behind the conv is not a bias, an activation or a residual in its type", Rule=form}}
  %y = disco.conv %x, %psi, %w : (!x, !psi, !w) -> !y
  %1 = arith.mulf %y, %two : !y
  return %1 : !y
}

// 0.7 is not 1 / sqrt 2.
// CHECK-LABEL: func @almost_gelu
// CHECK: disco.conv %{{.*}}, %{{.*}}, %{{.*}} : (
func.func @almost_gelu(%x: !x, %psi: !psi, %w: !w) -> !y {
  %half = arith.constant dense<0.5> : !y
  %one = arith.constant dense<1.0> : !y
  %s2 = arith.constant dense<0.7071> : !y
  // expected-remark @+1 {{[Missed] disco.conv | Category:disco-fuse-epilogue | Function=almost_gelu | Reason="the elementwise op behind the conv is not a bias, an activation or a residual in its type", Rule=form}}
  %y = disco.conv %x, %psi, %w : (!x, !psi, !w) -> !y
  %a = arith.mulf %y, %s2 : !y
  %f = math.erf %a : !y
  %g = arith.addf %f, %one : !y
  %h = arith.mulf %half, %y : !y
  %z = arith.mulf %g, %h : !y
  return %z : !y
}

// A gelu whose factor and argument are different values.
// CHECK-LABEL: func @mixed_gelu
// CHECK: disco.conv %{{.*}}, %{{.*}}, %{{.*}} : (
func.func @mixed_gelu(%x: !x, %psi: !psi, %w: !w, %r: !y) -> !y {
  %half = arith.constant dense<0.5> : !y
  %one = arith.constant dense<1.0> : !y
  %s2 = arith.constant dense<0.707106769> : !y
  // expected-remark @+1 {{[Missed] disco.conv | Category:disco-fuse-epilogue | Function=mixed_gelu | Reason="the elementwise op behind the conv is not a bias, an activation or a residual in its type", Rule=form}}
  %y = disco.conv %x, %psi, %w : (!x, !psi, !w) -> !y
  %a = arith.mulf %y, %s2 : !y
  %f = math.erf %a : !y
  %g = arith.addf %f, %one : !y
  %h = arith.mulf %half, %r : !y
  %z = arith.mulf %g, %h : !y
  return %z : !y
}

func.func @transposed_read(%x: !x, %psi: !psi, %w: !w, %r: tensor<2x6x32x16xf32>) -> tensor<2x6x32x16xf32> {
  // No remark: another shape is no epilogue.
  %y = disco.conv %x, %psi, %w : (!x, !psi, !w) -> !y
  %e = tensor.empty() : tensor<2x6x32x16xf32>
  %t = linalg.transpose ins(%y : !y) outs(%e : tensor<2x6x32x16xf32>) permutation = [0, 1, 3, 2]
  %1 = arith.addf %t, %r : tensor<2x6x32x16xf32>
  return %1 : tensor<2x6x32x16xf32>
}

// -----

!psi = !disco.psi<sphere, 9, 16x16 -> 16x16>
!y = tensor<2x6x16x16xf32>
!x = tensor<2x4x16x16xf32>
!w = tensor<6x4x9xf32>

// CHECK-LABEL: func @other_points
// CHECK: disco.conv %{{.*}}, %{{.*}}, %{{.*}} : (
func.func @other_points(%x: !x, %psi: !psi, %w: !w, %r: !y) -> !y {
  // expected-remark @+1 {{[Missed] disco.conv | Category:disco-fuse-epilogue | Function=other_points | Reason="the epilogue reads the conv's result at other points", Rule=form}}
  %y = disco.conv %x, %psi, %w : (!x, !psi, !w) -> !y
  %e = tensor.empty() : !y
  %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y, %r : !y, !y) outs(%e : !y) {
  ^bb0(%p: f32, %q: f32, %out: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  } -> !y
  return %1 : !y
}

// CHECK-LABEL: func @reads_its_output
func.func @reads_its_output(%x: !x, %psi: !psi, %w: !w, %r: !y) -> !y {
  // expected-remark @+1 {{[Missed] disco.conv | Category:disco-fuse-epilogue | Function=reads_its_output | Reason="the epilogue reads the tensor that it writes", Rule=form}}
  %y = disco.conv %x, %psi, %w : (!x, !psi, !w) -> !y
  %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y : !y) outs(%r : !y) {
  ^bb0(%p: f32, %out: f32):
    %s = arith.addf %p, %out : f32
    linalg.yield %s : f32
  } -> !y
  return %1 : !y
}

func.func @scalar_argument(%x: !x, %psi: !psi, %w: !w, %s: f32) -> !y {
  // expected-remark @+1 {{[Missed] disco.conv | Category:disco-fuse-epilogue | Function=scalar_argument | Reason="the epilogue has a scalar that is not constant", Rule=form}}
  %y = disco.conv %x, %psi, %w : (!x, !psi, !w) -> !y
  %e = tensor.empty() : !y
  %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y : !y) outs(%e : !y) {
  ^bb0(%p: f32, %out: f32):
    %v = arith.addf %p, %s : f32
    linalg.yield %v : f32
  } -> !y
  return %1 : !y
}

// The activation in f64 is more exact than the conv's in f32.
// CHECK-LABEL: func @wider_arithmetic
// CHECK: disco.conv %{{.*}}, %{{.*}}, %{{.*}} : (
func.func @wider_arithmetic(%x: !x, %psi: !psi, %w: !w) -> !y {
  %one = arith.constant dense<1.0> : tensor<2x6x16x16xf64>
  // expected-remark @+1 {{[Missed] disco.conv | Category:disco-fuse-epilogue | Function=wider_arithmetic | Reason="the epilogue computes in f64, but that of a conv of f32 in f32", Rule=form}}
  %y = disco.conv %x, %psi, %w : (!x, !psi, !w) -> !y
  %d = arith.extf %y : !y to tensor<2x6x16x16xf64>
  %n = arith.negf %d : tensor<2x6x16x16xf64>
  %e = math.exp %n : tensor<2x6x16x16xf64>
  %s = arith.addf %e, %one : tensor<2x6x16x16xf64>
  %q = arith.divf %d, %s : tensor<2x6x16x16xf64>
  %t = arith.truncf %q : tensor<2x6x16x16xf64> to !y
  return %t : !y
}

// The rounding to bf16 in between would be lost.
// CHECK-LABEL: func @narrower_arithmetic
// CHECK: disco.conv %{{.*}}, %{{.*}}, %{{.*}} : (
func.func @narrower_arithmetic(%x: !x, %psi: !psi, %w: !w) -> !y {
  %zero = arith.constant dense<0.0> : tensor<2x6x16x16xbf16>
  // expected-remark @+1 {{[Missed] disco.conv | Category:disco-fuse-epilogue | Function=narrower_arithmetic | Reason="the epilogue computes in bf16, but that of a conv of f32 in f32", Rule=form}}
  %y = disco.conv %x, %psi, %w : (!x, !psi, !w) -> !y
  %d = arith.truncf %y : !y to tensor<2x6x16x16xbf16>
  %n = arith.maximumf %d, %zero : tensor<2x6x16x16xbf16>
  %t = arith.extf %n : tensor<2x6x16x16xbf16> to !y
  return %t : !y
}

func.func @bias_type(%x: tensor<2x4x16x16xbf16>, %psi: !psi, %w: !w, %b: tensor<6xf64>) -> tensor<2x6x16x16xbf16> {
  // expected-remark @+1 {{[Missed] disco.conv | Category:disco-fuse-epilogue | Function=bias_type | Reason="the elements of the bias are f64, but a conv of bf16 takes its own type or f32", Rule=dtype}}
  %y = disco.conv %x, %psi, %w : (tensor<2x4x16x16xbf16>, !psi, !w) -> tensor<2x6x16x16xbf16>
  %e = tensor.empty() : tensor<2x6x16x16xbf16>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y, %b : tensor<2x6x16x16xbf16>, tensor<6xf64>) outs(%e : tensor<2x6x16x16xbf16>) {
  ^bb0(%p: bf16, %q: f64, %out: bf16):
    %c = arith.truncf %q : f64 to bf16
    %v = arith.addf %p, %c : bf16
    linalg.yield %v : bf16
  } -> tensor<2x6x16x16xbf16>
  return %1 : tensor<2x6x16x16xbf16>
}

// The result stays f32, wider than the conv's.
// CHECK-LABEL: func @result_stays_wide
// CHECK: disco.conv %{{.*}}, %{{.*}}, %{{.*}} : (
func.func @result_stays_wide(%x: tensor<2x4x16x16xbf16>, %psi: !psi, %w: !w) -> !y {
  %zero = arith.constant dense<0.0> : !y
  // expected-remark @+1 {{[Missed] disco.conv | Category:disco-fuse-epilogue | Function=result_stays_wide | Reason="the elementwise op behind the conv is not a bias, an activation or a residual in its type", Rule=form}}
  %y = disco.conv %x, %psi, %w : (tensor<2x4x16x16xbf16>, !psi, !w) -> tensor<2x6x16x16xbf16>
  %d = arith.extf %y : tensor<2x6x16x16xbf16> to !y
  %n = arith.maximumf %d, %zero : !y
  return %n : !y
}
