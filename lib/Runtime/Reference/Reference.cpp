//===- Reference.cpp - the operations in float64 --------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Runtime/Reference.h"

#include "disco/Support/Parallel.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace disco::reference {

//===----------------------------------------------------------------------===//
// Tensors and names
//===----------------------------------------------------------------------===//

static int64_t product(const std::vector<int64_t> &dims) {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= dim;
  return count;
}

Tensor Tensor::zeros(std::vector<int64_t> shape) {
  Tensor tensor;
  tensor.data.resize(static_cast<size_t>(product(shape)));
  tensor.shape = std::move(shape);
  return tensor;
}

Tensor Tensor::from(const Array &array) {
  Tensor tensor = zeros(array.shape);
  if (array.dtype == DType::f64 && !tensor.data.empty())
    std::memcpy(tensor.data.data(), array.bytes.data(), array.bytes.size());
  else
    for (size_t i = 0; i < tensor.data.size(); ++i)
      tensor.data[i] = array.at(static_cast<int64_t>(i));
  return tensor;
}

Result<Array> Tensor::to(DType dtype) const {
  Result<Array> array = Array::create(dtype, shape);
  if (array)
    for (size_t i = 0; i < data.size(); ++i)
      array->set(static_cast<int64_t>(i), data[i]);
  return array;
}

Tensor Tensor::rounded(DType dtype) const {
  Tensor result = *this;
  for (double &value : result.data)
    value = roundTo(dtype, value);
  return result;
}

std::optional<Activation> parseActivation(std::string_view name) {
  if (name == "none")
    return Activation::none;
  if (name == "relu")
    return Activation::relu;
  if (name == "gelu")
    return Activation::gelu;
  if (name == "gelu_tanh")
    return Activation::geluTanh;
  if (name == "silu")
    return Activation::silu;
  return std::nullopt;
}

std::optional<Order> parseOrder(std::string_view name) {
  if (name == "filter_first")
    return Order::filterFirst;
  if (name == "weight_first")
    return Order::weightFirst;
  return std::nullopt;
}

/// v / (1 + exp(-w)), also where exp(-w) overflows but the quotient is not 0.
template <typename T> static T gate(T v, T w) {
  if (!(w < 0))
    return v / (1 + std::exp(-w));
  const T half = std::exp(w / 2);
  return v * half * half / (1 + half * half);
}

template <typename T> static T activate(Activation activation, T v) {
  switch (activation) {
  case Activation::none:
    return v;
  case Activation::relu:
    return v < 0 ? T(0) : v; // keeps NaN
  case Activation::gelu:
    // v/2 (1 + erf(v/sqrt 2)) without the cancellation at negative v.
    return T(0.5) * v * std::erfc(-v * T(M_SQRT1_2));
  case Activation::geluTanh:
    // v/2 (1 + tanh(w/2)), likewise.
    return gate(v, T(M_SQRT2 * M_2_SQRTPI) * (v + T(0.044715) * v * v * v));
  case Activation::silu:
    return gate(v, v);
  }
  return v;
}

double apply(Activation activation, double value) {
  return activate(activation, value);
}

//===----------------------------------------------------------------------===//
// Shape checks
//===----------------------------------------------------------------------===//

namespace {

std::string dimsOf(const std::vector<int64_t> &shape) {
  std::string text;
  for (int64_t dim : shape)
    text += (text.empty() ? "" : "x") + std::to_string(dim);
  return text.empty() ? "a scalar" : text;
}

/// A shape whose first dimensions may be anything (-1) and whose last are
/// given.
Status checkShape(const char *name, const Tensor &tensor,
                  std::vector<int64_t> expected) {
  if (tensor.shape.size() != expected.size())
    return Error{std::string("expected ") + name + " to have rank " +
                 std::to_string(expected.size()) + ", but got " +
                 std::to_string(tensor.shape.size()) + " (" +
                 dimsOf(tensor.shape) + ")"};
  for (size_t i = 0; i < expected.size(); ++i)
    if (expected[i] >= 0 && expected[i] != tensor.shape[i])
      return Error{std::string("expected ") + name + " to have dimension " +
                   std::to_string(i) + " equal to " +
                   std::to_string(expected[i]) + ", but got " +
                   std::to_string(tensor.shape[i])};
  return {};
}

std::vector<int64_t> join(std::vector<int64_t> head,
                          const std::vector<int64_t> &tail) {
  head.insert(head.end(), tail.begin(), tail.end());
  return head;
}

Status checkGroups(int64_t groups, int64_t channels, int64_t outChannels) {
  for (int64_t count : {channels, outChannels})
    if (groups < 1 || count % groups != 0)
      return Error{"expected groups to divide the " + std::to_string(channels) +
                   " input and " + std::to_string(outChannels) +
                   " output channels, but got " + std::to_string(groups)};
  return {};
}

/// Output points that one task computes together.
constexpr int64_t blockSize = 64;

int64_t numBlocks(int64_t points) {
  return (points + blockSize - 1) / blockSize;
}

//===----------------------------------------------------------------------===//
// The engine
//===----------------------------------------------------------------------===//

/// All operations with sums of type `Acc`. `intermediate` is the type to which
/// fields between the two halves of a conv are rounded.
template <typename Acc> struct Engine {
  const Operator &psi;
  std::optional<DType> intermediate;

  Acc round(Acc value) const {
    return intermediate ? static_cast<Acc>(roundTo(*intermediate, value))
                        : value;
  }

  /// features[k] = sum over taps of row: v[k] * x[tap]. `x` is one channel.
  void expand(int64_t row, const double *x, Acc *features) const {
    const int64_t numBasis = psi.numBasis();
    std::fill(features, features + numBasis, Acc(0));
    psi.forEachTap(row, [&](int64_t col, const double *v) {
      const Acc value = static_cast<Acc>(x[col]);
      for (int64_t k = 0; k < numBasis; ++k)
        features[k] += static_cast<Acc>(v[k]) * value;
    });
  }

  /// The sum over taps and k of v[k] * z[k, tap]. `z` is [K, numIn].
  template <typename Element> Acc reduce(int64_t row, const Element *z) const {
    const int64_t numBasis = psi.numBasis(), numIn = psi.numIn();
    Acc sum = 0;
    psi.forEachTap(row, [&](int64_t col, const double *v) {
      for (int64_t k = 0; k < numBasis; ++k)
        sum += static_cast<Acc>(v[k]) * static_cast<Acc>(z[k * numIn + col]);
    });
    return sum;
  }

  void contract(const Tensor &x, Tensor &y) const {
    const int64_t numOut = psi.numOut(), numBasis = psi.numBasis();
    const int64_t blocks = numBlocks(numOut);
    const int64_t fields = x.shape[0] * x.shape[1];
    parallelFor(fields * blocks, 1, [&](int64_t task) {
      const int64_t field = task / blocks, begin = task % blocks * blockSize;
      std::vector<Acc> features(static_cast<size_t>(numBasis));
      double *out = y.data.data() + field * numBasis * numOut;
      for (int64_t n = begin; n < std::min(begin + blockSize, numOut); ++n) {
        expand(n, x.data.data() + field * psi.numIn(), features.data());
        for (int64_t k = 0; k < numBasis; ++k)
          out[k * numOut + n] = features[k];
      }
    });
  }

  void contractSum(const Tensor &z, Tensor &y) const {
    const int64_t numOut = psi.numOut(), blocks = numBlocks(numOut);
    const int64_t fields = z.shape[0] * z.shape[1];
    const int64_t fieldSize = psi.numBasis() * psi.numIn();
    parallelFor(fields * blocks, 1, [&](int64_t task) {
      const int64_t field = task / blocks, begin = task % blocks * blockSize;
      for (int64_t n = begin; n < std::min(begin + blockSize, numOut); ++n)
        y.data[field * numOut + n] =
            reduce(n, z.data.data() + field * fieldSize);
    });
  }

  /// What comes after the sums of a conv.
  struct Epilogue {
    const Tensor *bias, *residual;
    Activation activation;

    double operator()(Acc sum, int64_t channel, int64_t element) const {
      if (bias)
        sum += static_cast<Acc>(bias->data[channel]);
      sum = activate(activation, sum);
      if (residual)
        sum += static_cast<Acc>(residual->data[element]);
      return sum;
    }
  };

  void convFilterFirst(const Tensor &x, const Tensor &weight, int64_t groups,
                       const Epilogue &epilogue, Tensor &y) const {
    const int64_t channels = x.shape[1], outChannels = weight.shape[0];
    const int64_t groupIn = channels / groups, groupOut = outChannels / groups;
    const int64_t numBasis = psi.numBasis(), depth = groupIn * numBasis;
    const int64_t numOut = psi.numOut(), blocks = numBlocks(numOut);
    parallelFor(x.shape[0] * groups * blocks, 1, [&](int64_t task) {
      const int64_t begin = task % blocks * blockSize;
      const int64_t g = task / blocks % groups, b = task / blocks / groups;
      std::vector<Acc> features(static_cast<size_t>(depth));
      for (int64_t n = begin; n < std::min(begin + blockSize, numOut); ++n) {
        for (int64_t c = 0; c < groupIn; ++c)
          expand(n,
                 x.data.data() + (b * channels + g * groupIn + c) * psi.numIn(),
                 features.data() + c * numBasis);
        for (Acc &feature : features)
          feature = round(feature);
        for (int64_t o = g * groupOut; o < (g + 1) * groupOut; ++o) {
          const double *w = weight.data.data() + o * depth;
          Acc sum = 0;
          for (int64_t i = 0; i < depth; ++i)
            sum += static_cast<Acc>(w[i]) * features[i];
          const int64_t element = (b * outChannels + o) * numOut + n;
          y.data[element] = epilogue(sum, o, element);
        }
      }
    });
  }

  void convWeightFirst(const Tensor &x, const Tensor &weight, int64_t groups,
                       const Epilogue &epilogue, Tensor &y) const {
    const int64_t channels = x.shape[1], outChannels = weight.shape[0];
    const int64_t groupIn = channels / groups, groupOut = outChannels / groups;
    const int64_t numBasis = psi.numBasis(), depth = groupIn * numBasis;
    const int64_t numIn = psi.numIn(), numOut = psi.numOut();
    parallelFor(x.shape[0] * outChannels, 1, [&](int64_t task) {
      const int64_t b = task / outChannels, o = task % outChannels;
      const double *first =
          x.data.data() + (b * channels + o / groupOut * groupIn) * numIn;
      std::vector<Acc> mixed(static_cast<size_t>(numBasis * numIn));
      for (int64_t c = 0; c < groupIn; ++c)
        for (int64_t k = 0; k < numBasis; ++k) {
          const Acc w =
              static_cast<Acc>(weight.data[o * depth + c * numBasis + k]);
          for (int64_t m = 0; m < numIn; ++m)
            mixed[k * numIn + m] += w * static_cast<Acc>(first[c * numIn + m]);
        }
      for (Acc &value : mixed)
        value = round(value);
      for (int64_t n = 0; n < numOut; ++n) {
        const int64_t element = task * numOut + n;
        y.data[element] = epilogue(reduce(n, mixed.data()), o, element);
      }
    });
  }

  void weightGrad(const Tensor &x, const Tensor &gy, int64_t groups,
                  Tensor &gradWeight) const {
    const int64_t channels = x.shape[1], outChannels = gy.shape[1];
    const int64_t groupIn = channels / groups, groupOut = outChannels / groups;
    const int64_t numBasis = psi.numBasis(), numOut = psi.numOut();
    // A task owns the gradients of one input channel.
    parallelFor(channels, 1, [&](int64_t channel) {
      const int64_t g = channel / groupIn, c = channel % groupIn;
      std::vector<Acc> sums(static_cast<size_t>(groupOut * numBasis));
      std::vector<Acc> features(static_cast<size_t>(numBasis));
      for (int64_t b = 0; b < x.shape[0]; ++b)
        for (int64_t n = 0; n < numOut; ++n) {
          expand(n, x.data.data() + (b * channels + channel) * psi.numIn(),
                 features.data());
          for (Acc &feature : features)
            feature = round(feature);
          for (int64_t o = 0; o < groupOut; ++o) {
            const Acc grad = static_cast<Acc>(
                gy.data[(b * outChannels + g * groupOut + o) * numOut + n]);
            for (int64_t k = 0; k < numBasis; ++k)
              sums[o * numBasis + k] += grad * features[k];
          }
        }
      for (int64_t o = 0; o < groupOut; ++o)
        for (int64_t k = 0; k < numBasis; ++k)
          gradWeight.data[((g * groupOut + o) * groupIn + c) * numBasis + k] =
              sums[o * numBasis + k];
    });
  }

  void biasGrad(const Tensor &gy, Tensor &gradBias) const {
    const int64_t outChannels = gy.shape[1], numOut = psi.numOut();
    parallelFor(outChannels, 1, [&](int64_t o) {
      Acc sum = 0;
      for (int64_t b = 0; b < gy.shape[0]; ++b)
        for (int64_t n = 0; n < numOut; ++n)
          sum += static_cast<Acc>(gy.data[(b * outChannels + o) * numOut + n]);
      gradBias.data[o] = sum;
    });
  }
};

/// Calls body(engine, round), where round(tensor) is what the engine wants of
/// its operands: as they are, or rounded to the naive dtype.
template <typename Body>
void withEngine(const Operator &psi, Precision precision, Body &&body) {
  if (!precision.naive) {
    body(Engine<double>{psi, std::nullopt},
         [](const Tensor &tensor) { return tensor; });
    return;
  }
  const DType dtype = *precision.naive;
  const Operator rounded = psi.rounded(dtype);
  body(Engine<float>{rounded, dtype},
       [dtype](const Tensor &tensor) { return tensor.rounded(dtype); });
}

} // namespace

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

Result<Tensor> contract(const Operator &psi, const Tensor &x,
                        Precision precision) {
  if (Status s = checkShape("x", x, join({-1, -1}, psi.shape().in)); !s)
    return s.error();
  Tensor y = Tensor::zeros(
      join({x.shape[0], x.shape[1], psi.numBasis()}, psi.shape().out));
  withEngine(psi, precision, [&](const auto &engine, const auto &round) {
    engine.contract(round(x), y);
  });
  return y;
}

Result<Tensor> contractSum(const Operator &psi, const Tensor &z,
                           Precision precision) {
  if (Status s =
          checkShape("z", z, join({-1, -1, psi.numBasis()}, psi.shape().in));
      !s)
    return s.error();
  Tensor y = Tensor::zeros(join({z.shape[0], z.shape[1]}, psi.shape().out));
  withEngine(psi, precision, [&](const auto &engine, const auto &round) {
    engine.contractSum(round(z), y);
  });
  return y;
}

static Status checkConv(const Operator &psi, const Tensor &x,
                        const Tensor &weight, const Tensor *bias,
                        const Tensor *residual, int64_t groups) {
  if (Status s = checkShape("x", x, join({-1, -1}, psi.shape().in)); !s)
    return s;
  if (Status s = checkShape("weight", weight, {-1, -1, -1}); !s)
    return s;
  if (Status s = checkGroups(groups, x.shape[1], weight.shape[0]); !s)
    return s;
  if (Status s = checkShape("weight", weight,
                            {-1, x.shape[1] / groups, psi.numBasis()});
      !s)
    return s;
  if (bias)
    if (Status s = checkShape("bias", *bias, {weight.shape[0]}); !s)
      return s;
  if (residual)
    if (Status s =
            checkShape("residual", *residual,
                       join({x.shape[0], weight.shape[0]}, psi.shape().out));
        !s)
      return s;
  return {};
}

Result<Tensor> conv(const Operator &psi, const Tensor &x, const Tensor &weight,
                    const Tensor *bias, const Tensor *residual,
                    const ConvOptions &options, Precision precision) {
  if (Status s = checkConv(psi, x, weight, bias, residual, options.groups); !s)
    return s.error();
  Tensor y =
      Tensor::zeros(join({x.shape[0], weight.shape[0]}, psi.shape().out));
  withEngine(psi, precision, [&](const auto &engine, const auto &round) {
    const Tensor roundedBias = bias ? round(*bias) : Tensor();
    const Tensor roundedResidual = residual ? round(*residual) : Tensor();
    const typename std::decay_t<decltype(engine)>::Epilogue epilogue{
        bias ? &roundedBias : nullptr, residual ? &roundedResidual : nullptr,
        options.activation};
    if (options.order == Order::filterFirst)
      engine.convFilterFirst(round(x), round(weight), options.groups, epilogue,
                             y);
    else
      engine.convWeightFirst(round(x), round(weight), options.groups, epilogue,
                             y);
  });
  return y;
}

Result<ParameterGradients> convWeightGrad(const Operator &psi, const Tensor &x,
                                          const Tensor &gy, int64_t groups,
                                          Precision precision) {
  if (Status s = checkShape("x", x, join({-1, -1}, psi.shape().in)); !s)
    return s.error();
  if (Status s = checkShape("output gradient", gy,
                            join({x.shape[0], -1}, psi.shape().out));
      !s)
    return s.error();
  if (Status s = checkGroups(groups, x.shape[1], gy.shape[1]); !s)
    return s.error();
  ParameterGradients result{
      Tensor::zeros({gy.shape[1], x.shape[1] / groups, psi.numBasis()}),
      Tensor::zeros({gy.shape[1]})};
  withEngine(psi, precision, [&](const auto &engine, const auto &round) {
    const Tensor grad = round(gy);
    engine.weightGrad(round(x), grad, groups, result.weight);
    engine.biasGrad(grad, result.bias);
  });
  return result;
}

Result<Tensor> transposeWeight(const Tensor &weight, int64_t groups) {
  if (Status s = checkShape("weight", weight, {-1, -1, -1}); !s)
    return s.error();
  const int64_t groupIn = weight.shape[1], numBasis = weight.shape[2];
  if (Status s = checkGroups(groups, groupIn * groups, weight.shape[0]); !s)
    return s.error();
  const int64_t groupOut = weight.shape[0] / groups;
  Tensor result = Tensor::zeros({groupIn * groups, groupOut, numBasis});
  for (int64_t g = 0; g < groups; ++g)
    for (int64_t o = 0; o < groupOut; ++o)
      for (int64_t c = 0; c < groupIn; ++c)
        for (int64_t k = 0; k < numBasis; ++k)
          result.data[((g * groupIn + c) * groupOut + o) * numBasis + k] =
              weight.data[((g * groupOut + o) * groupIn + c) * numBasis + k];
  return result;
}

Result<Tensor> convInputGrad(const Operator &adjointPsi, const Tensor &gy,
                             const Tensor &weight, int64_t groups,
                             Precision precision) {
  Result<Tensor> transposed = transposeWeight(weight, groups);
  if (!transposed)
    return transposed;
  ConvOptions options;
  options.groups = groups;
  return conv(adjointPsi, gy, *transposed, nullptr, nullptr, options,
              precision);
}

} // namespace disco::reference
