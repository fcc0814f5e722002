//===- Reference.h - the operations in float64 ------------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the operations of the dialect mean, computed as plainly as possible with
// float64 sums. Everything else is tested against this. It runs in parallel
// over independent outputs; results do not depend on the number of threads.
//
// The same code computes the *naive* result in a dtype, by which the accuracy
// of kernels in 16-bit types is judged: psi, W and x rounded to the dtype,
// float32 sums in index order, intermediate fields and the result rounded once.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_RUNTIME_REFERENCE_H
#define DISCO_RUNTIME_REFERENCE_H

#include "disco/Runtime/Operator.h"

#include <optional>
#include <string_view>

namespace disco::reference {

/// Dense row-major float64.
struct Tensor {
  std::vector<int64_t> shape;
  std::vector<double> data;

  static Tensor zeros(std::vector<int64_t> shape);
  static Tensor from(const Array &array);
  /// Rounds to `dtype`; an error when memory is missing.
  Result<Array> to(DType dtype) const;
  /// Every element rounded to `dtype` and back.
  Tensor rounded(DType dtype) const;
  int64_t size() const { return static_cast<int64_t>(data.size()); }
};

enum class Activation { none, relu, gelu, geluTanh, silu };
/// "none", "relu", "gelu" (with erf), "gelu_tanh", "silu".
std::optional<Activation> parseActivation(std::string_view name);
double apply(Activation activation, double value);

/// filterFirst expands x over k and then mixes channels; weightFirst mixes
/// first and then sums over k. The result is the same but for rounding.
enum class Order { filterFirst, weightFirst };
std::optional<Order> parseOrder(std::string_view name);

/// Float64, or the naive computation in a dtype (f32, f16 or bf16).
struct Precision {
  std::optional<DType> naive;
};

struct ConvOptions {
  int64_t groups = 1;
  Activation activation = Activation::none;
  Order order = Order::filterFirst;
};

/// x [B,C,in...] -> [B,C,K,out...].
Result<Tensor> contract(const Operator &psi, const Tensor &x,
                        Precision precision = {});

/// z [B,C,K,in...] -> [B,C,out...], the sum over k of psi_k z_k.
Result<Tensor> contractSum(const Operator &psi, const Tensor &z,
                           Precision precision = {});

/// x [B,C,in...], weight [O,C/groups,K], bias [O] or null, residual
/// [B,O,out...] or null -> act(conv(x) + bias) + residual, [B,O,out...].
Result<Tensor> conv(const Operator &psi, const Tensor &x, const Tensor &weight,
                    const Tensor *bias, const Tensor *residual,
                    const ConvOptions &options, Precision precision = {});

/// The gradients of conv (without activation) with respect to its parameters:
/// x [B,C,in...], gy [B,O,out...] -> weight [O,C/groups,K] and bias [O].
struct ParameterGradients {
  Tensor weight, bias;
};
Result<ParameterGradients> convWeightGrad(const Operator &psi, const Tensor &x,
                                          const Tensor &gy, int64_t groups,
                                          Precision precision = {});

/// The gradient with respect to the input: a conv with adjoint(psi), which the
/// caller gives, and each group's weight transposed.
/// gy [B,O,out...] -> [B,C,in...].
Result<Tensor> convInputGrad(const Operator &adjointPsi, const Tensor &gy,
                             const Tensor &weight, int64_t groups,
                             Precision precision = {});

/// [O,C/groups,K] -> [C,O/groups,K]; group g of the result is the transpose of
/// group g of the weight.
Result<Tensor> transposeWeight(const Tensor &weight, int64_t groups);

} // namespace disco::reference

#endif // DISCO_RUNTIME_REFERENCE_H
