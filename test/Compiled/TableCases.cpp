//===- TableCases.cpp - neighbour tables and csr --------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include <cstdio>
#include <cstdlib>

using namespace disco;
using namespace disco::compiled;
using reference::OperatorShape;
using reference::Precision;

namespace {

/// Sizes of a layer on points: K basis functions (bins), V neighbours, and how
/// many of all neighbours are none.
struct Sizes {
  int64_t inChannels, outChannels, numIn, numOut, degree, numBasis, pads;
};
constexpr Sizes sizes[] = {{48, 96, 128, 40, 25, 100, 37},
                           {17, 7, 300, 33, 11, 25, 13}};

enum class Form { knn, onehot, csr };

/// One psi: the tables as inputs of the entries, and the reference operator.
struct Tables {
  std::vector<Array> arrays;
  Operator psi;
};

class TableCase {
public:
  TableCase(Checker &checker, DType dtype, const Sizes &size, Form form)
      : checker(checker), dtype(dtype), size(size), form(form),
        tables(makeTables()) {}
  void run();

private:
  Tables makeTables();
  Tables makeNeighbours();
  Tables makeCsr();
  std::string psiType(bool adjoint) const;
  std::string entry(const char *name, const std::string &arguments,
                    const std::string &result, bool adjoint,
                    const std::string &op) const;
  std::string mlir() const;
  std::string name() const;
  void compareOne(const std::string &entry, std::vector<Array> inputs,
                  const std::function<Result<Tensor>(Precision)> &expected);

  Checker &checker;
  DType dtype;
  Sizes size;
  Form form;
  Random random{11};
  Tables tables;
  std::unique_ptr<Program> program;
};

} // namespace

std::string TableCase::name() const {
  const char *forms[] = {"knn", "onehot", "csr"};
  return std::string(forms[static_cast<int>(form)]) + "_" +
         std::to_string(size.numIn) + "_" + std::string(nameOf(dtype));
}

template <typename T> static T unwrap(Result<T> result) {
  if (!result) {
    std::printf("%s\n", result.message().c_str());
    std::exit(1);
  }
  return std::move(*result);
}

/// Node 0 has no neighbour at all, node 1 one bin again and again.
Tables TableCase::makeNeighbours() {
  std::vector<int64_t> shape{size.numOut, size.degree};
  Array index = makeArray(DType::i32, shape, [&](int64_t i) {
    return i < size.degree ? size.numIn : random.below(size.numIn);
  });
  for (int64_t pad = 0; pad < size.pads; ++pad)
    index.set(size.degree + random.below((size.numOut - 1) * size.degree),
              size.numIn);
  OperatorShape dims{size.numBasis, {size.numIn}, {size.numOut}};
  if (form == Form::onehot) {
    Array bins = makeArray(DType::i32, shape, [&](int64_t i) {
      return i / size.degree == 1 ? 3 : random.below(size.numBasis);
    });
    Operator psi = unwrap(Operator::fromOneHot(dims, index, bins));
    return {{index, bins}, psi};
  }
  shape.push_back(size.numBasis);
  Array values = random.array(dtype, shape);
  Operator psi = unwrap(Operator::fromTable(dims, index, values));
  return {{index, values}, psi};
}

/// Rows of 0 to 2 degree taps; the indices are i64.
Tables TableCase::makeCsr() {
  std::vector<int64_t> offsets{0};
  for (int64_t row = 0; row < size.numOut; ++row)
    offsets.push_back(offsets.back() +
                      (row == 0 ? 0 : random.below(2 * size.degree)));
  int64_t taps = offsets.back();
  Array offsetArray = makeArray(DType::i64, {size.numOut + 1}, [&](int64_t i) {
    return static_cast<double>(offsets[i]);
  });
  Array columns = makeArray(DType::i64, {taps}, [&](int64_t) {
    return static_cast<double>(random.below(size.numIn));
  });
  Array values = random.array(dtype, {taps, size.numBasis});
  OperatorShape dims{size.numBasis, {size.numIn}, {size.numOut}};
  Operator psi = unwrap(Operator::fromCsr(dims, offsetArray, columns, values));
  return {{offsetArray, columns, values}, psi};
}

Tables TableCase::makeTables() {
  return form == Form::csr ? makeCsr() : makeNeighbours();
}

std::string TableCase::psiType(bool adjoint) const {
  std::string in = std::to_string(size.numIn),
              out = std::to_string(size.numOut);
  if (adjoint)
    std::swap(in, out);
  return "!disco.psi<" +
         (form == Form::csr ? "csr"
                            : "table<" + std::to_string(size.degree) + ">") +
         ", " + std::to_string(size.numBasis) + ", " + in + " -> " + out + ">";
}

/// A function of `arguments` and the tables around one op on psi, or on its
/// adjoint.
std::string TableCase::entry(const char *name, const std::string &arguments,
                             const std::string &result, bool adjoint,
                             const std::string &op) const {
  const char *formats[] = {"knn", "knn_onehot", "csr"};
  std::string parameters, names, types;
  for (size_t i = 0; i < tables.arrays.size(); ++i) {
    const Array &array = tables.arrays[i];
    std::vector<int64_t> shape = array.shape;
    if (form == Form::csr && i > 0)
      shape[0] = -1;
    std::string type = tensorType(array.dtype, shape);
    std::string value = "%t" + std::to_string(i);
    parameters += ", " + value + ": " + type;
    names += (i ? ", " : "") + value;
    types += (i ? ", " : "") + type;
  }
  std::string text = "func.func @" + std::string(name) + "(" + arguments +
                     parameters + ") -> " + result +
                     " {\n  %stored = " + "disco.assemble " +
                     formats[static_cast<int>(form)] + "(" + names + ") : (" +
                     types + ") -> " + psiType(false) + "\n";
  if (adjoint)
    text += "  %adjoint = disco.adjoint %stored : " + psiType(false) + "\n";
  return text + "  %y = " + op + "\n  return %y : " + result + "\n}\n";
}

std::string TableCase::mlir() const {
  int64_t c = size.inChannels, o = size.outChannels, k = size.numBasis;
  std::string x = tensorType(dtype, {-1, c, size.numIn});
  std::string z = tensorType(dtype, {-1, c, k, size.numOut});
  std::string y = tensorType(dtype, {-1, o, size.numOut});
  std::string w = tensorType(dtype, {o, c, k});
  std::string xa = tensorType(dtype, {-1, c, size.numOut});
  std::string ya = tensorType(dtype, {-1, o, size.numIn});
  std::string za = tensorType(dtype, {-1, c, k, size.numIn});
  std::string psi = psiType(false), adjoint = psiType(true);
  return entry("contract", "%x: " + x, z, false,
               "disco.contract %x, %stored : (" + x + ", " + psi + ") -> " +
                   z) +
         entry("contract_adjoint", "%x: " + xa, za, true,
               "disco.contract %x, %adjoint : (" + xa + ", " + adjoint +
                   ") -> " + za) +
         entry("contract_sum", "%z: " + za, xa, false,
               "disco.contract_sum %z, %stored : (" + za + ", " + psi +
                   ") -> " + xa) +
         entry("contract_sum_adjoint", "%z: " + z, x, true,
               "disco.contract_sum %z, %adjoint : (" + z + ", " + adjoint +
                   ") -> " + x) +
         entry("conv", "%x: " + x + ", %w: " + w, y, false,
               "disco.conv %x, %stored, %w : (" + x + ", " + psi + ", " + w +
                   ") -> " + y) +
         entry("conv_wf", "%x: " + x + ", %w: " + w, y, false,
               "disco.conv %x, %stored, %w plan <" + checker.family() +
                   ", order = weight_first> : (" + x + ", " + psi + ", " + w +
                   ") -> " + y) +
         entry("conv_adjoint", "%x: " + xa + ", %w: " + w, ya, true,
               "disco.conv %x, %adjoint, %w : (" + xa + ", " + adjoint + ", " +
                   w + ") -> " + ya) +
         entry("grad", "%x: " + x + ", %gy: " + y, w, false,
               "disco.conv_weight_grad %x, %gy, %stored plan <" +
                   checker.family() + "> : (" + x + ", " + y + ", " + psi +
                   ") -> " + w) +
         (checker.filtersGradients()
              ? entry("grad_wf", "%x: " + x + ", %gy: " + y, w, false,
                      "disco.conv_weight_grad %x, %gy, %stored plan <" +
                          checker.family() + ", order = weight_first> : (" + x +
                          ", " + y + ", " + psi + ") -> " + w)
              : "");
}

void TableCase::compareOne(
    const std::string &entry, std::vector<Array> inputs,
    const std::function<Result<Tensor>(Precision)> &expected) {
  std::string label = name() + " " + entry + " batch " +
                      std::to_string(inputs.front().shape.front());
  inputs.insert(inputs.end(), tables.arrays.begin(), tables.arrays.end());
  Result<std::vector<Array>> actual = program->run(entry, inputs);
  if (!actual)
    return checker.check(label, false, actual.message());
  Tensor exact = unwrap(expected({}));
  if (!reference::needsNaive(dtype))
    return checker.compare(label, dtype, exact, actual->front(), nullptr);
  Tensor naive = unwrap(expected({dtype}));
  checker.compare(label, dtype, exact, actual->front(), &naive);
}

void TableCase::run() {
  program = checker.compile(name(), mlir());
  if (!program)
    return;
  int64_t c = size.inChannels, o = size.outChannels, k = size.numBasis;
  Operator transposed = tables.psi.transposed();
  Array w = random.array(dtype, {o, c, k});
  Tensor weight = Tensor::from(w);
  for (int64_t batch : {0, 1, 2}) {
    Array x = random.array(dtype, {batch, c, size.numIn});
    Array xa = random.array(dtype, {batch, c, size.numOut});
    Array z = random.array(dtype, {batch, c, k, size.numOut});
    Array za = random.array(dtype, {batch, c, k, size.numIn});
    Array gy = random.array(dtype, {batch, o, size.numOut});
    Tensor tx = Tensor::from(x), txa = Tensor::from(xa), tz = Tensor::from(z),
           tza = Tensor::from(za), tgy = Tensor::from(gy);
    auto conv = [&](const Operator &psi, const Tensor &input,
                    reference::Order order) {
      return [&psi, &input, &weight, order](Precision precision) {
        reference::ConvOptions options;
        options.order = order;
        return reference::conv(psi, input, weight, nullptr, nullptr, options,
                               precision);
      };
    };
    compareOne("contract", {x}, [&](Precision p) {
      return reference::contract(tables.psi, tx, p);
    });
    compareOne("contract_adjoint", {xa}, [&](Precision p) {
      return reference::contract(transposed, txa, p);
    });
    compareOne("contract_sum", {za}, [&](Precision p) {
      return reference::contractSum(tables.psi, tza, p);
    });
    compareOne("contract_sum_adjoint", {z}, [&](Precision p) {
      return reference::contractSum(transposed, tz, p);
    });
    compareOne("conv", {x, w},
               conv(tables.psi, tx, reference::Order::filterFirst));
    compareOne("conv_wf", {x, w},
               conv(tables.psi, tx, reference::Order::weightFirst));
    compareOne("conv_adjoint", {xa, w},
               conv(transposed, txa, reference::Order::filterFirst));
    const auto gradient = [&](Precision p) -> Result<Tensor> {
      auto grads = reference::convWeightGrad(tables.psi, tx, tgy, 1, p);
      if (!grads)
        return grads.error();
      return grads->weight;
    };
    compareOne("grad", {x, gy}, gradient);
    if (checker.filtersGradients())
      compareOne("grad_wf", {x, gy}, gradient);
  }
}

void compiled::checkTables(Checker &checker, DType dtype) {
  for (const Sizes &size : sizes)
    for (Form form : {Form::knn, Form::onehot, Form::csr})
      TableCase(checker, dtype, size, form).run();
}
