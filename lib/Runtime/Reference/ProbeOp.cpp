//===- ProbeOp.cpp - recomputing an operation -----------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Runtime/ProbeOp.h"

#include <algorithm>
#include <charconv>
#include <functional>

namespace disco::reference {

namespace {

using Kind = ProbeOp::Kind;
using Form = ProbeOp::Form;

struct KindName {
  std::string_view name;
  Kind kind;
};
constexpr KindName kinds[] = {{"contract", Kind::contract},
                              {"contract_sum", Kind::contractSum},
                              {"conv", Kind::conv},
                              {"conv_weight_grad", Kind::convWeightGrad},
                              {"repack", Kind::repack}};
struct LayoutName {
  std::string_view name;
  ProbeOp::Layout layout;
};
constexpr LayoutName layouts[] = {{"nchw", ProbeOp::Layout::nchw},
                                  {"nhwc", ProbeOp::Layout::nhwc},
                                  {"c8", ProbeOp::Layout::c8}};
struct FormName {
  std::string_view name;
  Form form;
  int64_t numOperands;
};
constexpr FormName forms[] = {{"arcs", Form::arcs, 3},
                              {"csr", Form::csr, 3},
                              {"table", Form::table, 2},
                              {"onehot", Form::oneHot, 2}};

int64_t storageOperands(Form form) {
  return forms[static_cast<int>(form)].numOperands;
}

Error badValue(std::string_view key, const char *expected,
               std::string_view got) {
  return Error{"expected probe attribute '" + std::string(key) + "' to be " +
               expected + ", but got '" + std::string(got) + "'"};
}

bool parseInteger(std::string_view text, int64_t &value) {
  const auto [end, code] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc() && end == text.data() + text.size() && value >= 0;
}

/// "16x32".
bool parseDims(std::string_view text, std::vector<int64_t> &dims) {
  for (;;) {
    const size_t end = std::min(text.find('x'), text.size());
    int64_t dim;
    if (!parseInteger(text.substr(0, end), dim))
      return false;
    dims.push_back(dim);
    if (end == text.size())
      return true;
    text.remove_prefix(end + 1);
  }
}

/// Parses the value of one key into an operation.
class ValueParser {
public:
  explicit ValueParser(ProbeOp &op) : op(op) {}

  Status parse(std::string_view key, std::string_view value) {
    if (key == "kind")
      return named(key, value, kinds,
                   [&](const KindName &row) { op.kind = row.kind; });
    if (key == "form")
      return named(key, value, forms,
                   [&](const FormName &row) { op.form = row.form; });
    if (key == "activation")
      return optional(key, value, parseActivation(value),
                      op.options.activation);
    if (key == "order")
      return optional(key, value, parseOrder(value), op.options.order);
    if (key == "bias")
      return flag(key, value, op.bias);
    if (key == "residual")
      return flag(key, value, op.residual);
    if (key == "adjoint")
      return flag(key, value, op.adjoint);
    if (key == "transpose_weight")
      return flag(key, value, op.transposeWeight);
    if (key == "x" || key == "y")
      return named(key, value, layouts, [&](const LayoutName &row) {
        (key == "x" ? op.xLayout : op.yLayout) = row.layout;
      });
    if (key == "channels")
      return integer(key, value, op.channels);
    if (key == "family") {
      op.family = value;
      return {};
    }
    if (key == "groups")
      return integer(key, value, op.options.groups);
    if (key == "k")
      return integer(key, value, op.shape.numBasis);
    if (key == "degree")
      return integer(key, value, op.degree);
    if (key == "in" || key == "out")
      return parseDims(value, key == "in" ? op.shape.in : op.shape.out)
                 ? Status()
                 : badValue(key, "sizes as in 16x32", value);
    return Error{"unknown probe attribute '" + std::string(key) + "'"};
  }

private:
  template <typename Table, typename Set>
  Status named(std::string_view key, std::string_view value, const Table &table,
               Set &&set) {
    std::string known;
    for (const auto &row : table) {
      if (row.name == value) {
        set(row);
        return {};
      }
      known += (known.empty() ? "" : "|") + std::string(row.name);
    }
    return badValue(key, known.c_str(), value);
  }
  template <typename T>
  Status optional(std::string_view key, std::string_view value,
                  std::optional<T> parsed, T &result) {
    if (!parsed)
      return badValue(key, "a known name", value);
    result = *parsed;
    return {};
  }
  Status flag(std::string_view key, std::string_view value, bool &result) {
    if (value != "0" && value != "1")
      return badValue(key, "0 or 1", value);
    result = value == "1";
    return {};
  }
  Status integer(std::string_view key, std::string_view value,
                 int64_t &result) {
    return parseInteger(value, result)
               ? Status()
               : badValue(key, "a non-negative integer", value);
  }

  ProbeOp &op;
};

Result<Operator> readOperator(const ProbeOp &op, const Array *storage) {
  switch (op.form) {
  case Form::arcs:
    return Operator::fromArcs(op.shape, storage[0], storage[1], storage[2]);
  case Form::csr:
    return Operator::fromCsr(op.shape, storage[0], storage[1], storage[2]);
  case Form::table:
    return Operator::fromTable(op.shape, storage[0], storage[1]);
  case Form::oneHot:
    return Operator::fromOneHot(op.shape, storage[0], storage[1]);
  }
  return Error{"unknown form of psi"};
}

/// One tensor as the results of an operation.
Result<std::vector<Tensor>> single(Result<Tensor> tensor) {
  if (!tensor)
    return tensor.error();
  std::vector<Tensor> results;
  results.push_back(std::move(*tensor));
  return results;
}

} // namespace

int64_t ProbeOp::numOperands() const {
  const int64_t storage = storageOperands(form);
  switch (kind) {
  case Kind::contract:
  case Kind::contractSum:
    return 1 + storage;
  case Kind::conv:
    return 2 + storage + (bias ? 1 : 0) + (residual ? 1 : 0);
  case Kind::convWeightGrad:
    return 2 + storage;
  case Kind::repack:
    return 1;
  }
  return 0;
}

int64_t ProbeOp::numResults() const {
  return kind == Kind::convWeightGrad && bias ? 2 : 1;
}

Result<ProbeOp> parseProbeOp(std::string_view attributes) {
  ProbeOp op;
  ValueParser parser(op);
  std::vector<std::string_view> seen;
  while (!attributes.empty()) {
    const size_t end = std::min(attributes.find(' '), attributes.size());
    const std::string_view item = attributes.substr(0, end);
    attributes.remove_prefix(std::min(end + 1, attributes.size()));
    const size_t equals = item.find('=');
    if (equals == std::string_view::npos)
      return Error{"expected probe attribute to be key=value, but got '" +
                   std::string(item) + "'"};
    const std::string_view key = item.substr(0, equals);
    if (std::find(seen.begin(), seen.end(), key) != seen.end())
      return Error{"probe attribute '" + std::string(key) + "' is repeated"};
    seen.push_back(key);
    if (Status s = parser.parse(key, item.substr(equals + 1)); !s)
      return s.error();
  }
  std::vector<std::string_view> required = {"kind", "form", "k", "in", "out"};
  if (op.kind == Kind::repack)
    required = {"kind", "x", "y"};
  if (op.xLayout == ProbeOp::Layout::c8 || op.yLayout == ProbeOp::Layout::c8)
    required.push_back("channels");
  if (op.form == Form::table || op.form == Form::oneHot)
    required.push_back("degree");
  for (std::string_view key : required)
    if (std::find(seen.begin(), seen.end(), key) == seen.end())
      return Error{"probe attribute '" + std::string(key) + "' is missing"};
  return op;
}

Result<Tensor> toNchw(const Tensor &tensor, ProbeOp::Layout layout,
                      int64_t channels) {
  if (layout == ProbeOp::Layout::nchw)
    return tensor;
  const bool blocked = layout == ProbeOp::Layout::c8;
  const std::vector<int64_t> &shape = tensor.shape;
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t blocks = (channels + 7) / 8;
  if (rank < (blocked ? 3 : 2) || shape[rank - 1] != (blocked ? 8 : channels) ||
      (blocked && shape[1] != blocks))
    return Error{"expected a tensor of " + std::to_string(channels) +
                 " channels in " + (blocked ? "c8" : "nhwc") + ", but got " +
                 describe(DType::f64, shape)};
  std::vector<int64_t> dims = {shape[0], channels};
  dims.insert(dims.end(), shape.begin() + (blocked ? 2 : 1), shape.end() - 1);
  Tensor result = Tensor::zeros(dims);
  int64_t points = 1;
  for (size_t d = 2; d < dims.size(); ++d)
    points *= dims[d];
  const int64_t width = blocked ? 8 : channels;
  for (int64_t b = 0; b < shape[0]; ++b)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t p = 0; p < points; ++p) {
        const int64_t block = blocked ? b * blocks + c / 8 : b;
        result.data[(b * channels + c) * points + p] =
            tensor.data[(block * points + p) * width + c % width];
      }
  return result;
}

/// [C,O/G,K] to [O,C/G,K], transposed within each group.
static Tensor transposeInGroups(const Tensor &weight, int64_t groups) {
  const int64_t C = weight.shape[0] / groups, O = weight.shape[1],
                K = weight.shape[2];
  Tensor result = Tensor::zeros({O * groups, C, K});
  for (int64_t g = 0; g < groups; ++g)
    for (int64_t o = 0; o < O; ++o)
      for (int64_t c = 0; c < C; ++c)
        for (int64_t k = 0; k < K; ++k)
          result.data[((g * O + o) * C + c) * K + k] =
              weight.data[((g * C + c) * O + o) * K + k];
  return result;
}

Result<std::vector<Tensor>> recompute(const ProbeOp &op,
                                      const std::vector<Array> &operands,
                                      Precision precision) {
  if (static_cast<int64_t>(operands.size()) != op.numOperands())
    return Error{"expected the operation to have " +
                 std::to_string(op.numOperands()) + " operands, but got " +
                 std::to_string(operands.size())};
  Result<Tensor> first =
      toNchw(Tensor::from(operands[0]), op.xLayout, op.channels);
  if (!first)
    return first.error();
  if (op.kind == Kind::repack)
    return single(std::move(first));
  const size_t firstStorage = op.kind == Kind::convWeightGrad ? 2 : 1;
  if (op.form == Form::table || op.form == Form::oneHot) {
    const auto &index = operands[firstStorage].shape;
    if (index.size() != 2 || index[1] != op.degree)
      return Error{"expected psi's index to have degree " +
                   std::to_string(op.degree) + ", but got " +
                   describe(operands[firstStorage].dtype, index)};
  }
  Result<Operator> stored = readOperator(op, &operands[firstStorage]);
  if (!stored)
    return stored.error();
  const Operator psi = op.adjoint ? stored->transposed() : std::move(*stored);
  const Tensor &x = *first;
  switch (op.kind) {
  case Kind::contract:
    return single(contract(psi, x, precision));
  case Kind::contractSum:
    return single(contractSum(psi, x, precision));
  case Kind::conv: {
    size_t next = 1 + storageOperands(op.form);
    Tensor weight = Tensor::from(operands[next++]);
    if (op.transposeWeight && weight.shape.size() == 3 &&
        op.options.groups > 0 && weight.shape[0] % op.options.groups == 0)
      weight = transposeInGroups(weight, op.options.groups);
    const Tensor bias = op.bias ? Tensor::from(operands[next++]) : Tensor();
    const Tensor residual =
        op.residual ? Tensor::from(operands[next++]) : Tensor();
    return single(conv(psi, x, weight, op.bias ? &bias : nullptr,
                       op.residual ? &residual : nullptr, op.options,
                       precision));
  }
  case Kind::convWeightGrad: {
    Result<ParameterGradients> gradients = convWeightGrad(
        psi, x, Tensor::from(operands[1]), op.options.groups, precision);
    if (!gradients)
      return gradients.error();
    std::vector<Tensor> results;
    results.push_back(std::move(gradients->weight));
    if (op.bias)
      results.push_back(std::move(gradients->bias));
    return results;
  }
  case Kind::repack:
    break;
  }
  return Error{"unknown kind of operation"};
}

} // namespace disco::reference
