//===- Activation.cpp - activations in the math dialect -------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::disco;

namespace {
/// Arithmetic on values of one float type.
class Scalar {
public:
  Scalar(OpBuilder &builder, Location loc, Type type)
      : builder(builder), loc(loc), type(type) {}
  Value number(double value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getFloatAttr(type, value));
  }
  Value mul(Value a, Value b) {
    return arith::MulFOp::create(builder, loc, a, b);
  }
  Value add(Value a, Value b) {
    return arith::AddFOp::create(builder, loc, a, b);
  }

private:
  OpBuilder &builder;
  Location loc;
  Type type;
};
} // namespace

Value mlir::disco::emitActivation(OpBuilder &builder, Location loc,
                                  Activation activation, Value value) {
  Scalar s(builder, loc, value.getType());
  switch (activation) {
  case Activation::none:
    return value;
  case Activation::relu: // keeps NaN
    return arith::MaximumFOp::create(builder, loc, value, s.number(0.0));
  case Activation::gelu: {
    // x/2 (1 + erf(x / sqrt 2))
    Value scaled = s.mul(value, s.number(0.70710678118654752440));
    Value erf = math::ErfOp::create(builder, loc, scaled);
    return s.mul(s.mul(s.number(0.5), value), s.add(s.number(1.0), erf));
  }
  case Activation::gelu_tanh: {
    // x/2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
    Value cube = s.mul(s.mul(value, value), value);
    Value inner = s.add(value, s.mul(s.number(0.044715), cube));
    Value scaled = s.mul(s.number(0.79788456080286535588), inner);
    Value tanh = math::TanhOp::create(builder, loc, scaled);
    return s.mul(s.mul(s.number(0.5), value), s.add(s.number(1.0), tanh));
  }
  case Activation::silu: {
    // x / (1 + exp(-x))
    Value negated = arith::NegFOp::create(builder, loc, value);
    Value exp = math::ExpOp::create(builder, loc, negated);
    return arith::DivFOp::create(builder, loc, value,
                                 s.add(s.number(1.0), exp));
  }
  }
  llvm_unreachable("unknown activation");
}
