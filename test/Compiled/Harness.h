//===- Harness.h - compile, run, compare ------------------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_TEST_COMPILED_HARNESS_H
#define DISCO_TEST_COMPILED_HARNESS_H

#include "disco/ABI/disco.h"
#include "disco/Runtime/Accuracy.h"

#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace disco::compiled {

using reference::Operator;
using reference::Tensor;

/// A compiled module.
class Program {
public:
  static Result<Program> open(const std::string &path, disco_device device);

  /// Runs an entry twice, on outputs and workspaces with different rubbish in
  /// them; the results have to be equal bit for bit, and are returned.
  Result<std::vector<Array>> run(const std::string &entry,
                                 const std::vector<Array> &inputs) const;

  /// The same once, with the given layouts: each tensor gets the strides of a
  /// dense one times `spread`, which also leaves a gap at its beginning. What
  /// lies between the outputs' elements has to stay as it was.
  Result<std::vector<Array>> runSpread(const std::string &entry,
                                       const std::vector<Array> &inputs,
                                       int64_t spread) const;

  /// The workspace for dense inputs of these shapes, without any data.
  Result<uint64_t>
  workspaceBytes(const std::string &entry,
                 const std::vector<std::vector<int64_t>> &shapes) const;

private:
  struct Closer {
    void operator()(disco_artifact *artifact) const {
      disco_artifact_close(artifact);
    }
    void operator()(disco_context *context) const {
      disco_context_destroy(context);
    }
  };
  Result<std::vector<Array>> runOnce(const std::string &entry,
                                     const std::vector<Array> &inputs,
                                     int64_t spread, uint8_t rubbish) const;

  disco_device device = {DISCO_CPU, 0};
  std::unique_ptr<disco_artifact, Closer> artifact;
  std::unique_ptr<disco_context, Closer> context;
};

/// Where programs run. Those for a GPU may be compiled on one machine and run
/// on another.
struct Place {
  disco_device device = {DISCO_CPU, 0};
  std::string target = "cpu";
  bool compiles = true, runs = true;
};

/// Counts what was compared, and prints what failed.
class Checker {
public:
  /// Everything is run by `family`.
  Checker(std::string family, std::string tools, std::string work,
          Place place = {})
      : kernels(std::move(family)), tools(std::move(tools)),
        work(std::move(work)), place(std::move(place)) {}

  const std::string &family() const { return kernels; }
  /// Whether weight gradients have the order weight_first.
  bool filtersGradients() const { return kernels != "loops"; }

  /// Compiles `mlir`; prints what failed and returns null on an error. Null,
  /// too, where programs are only compiled.
  std::unique_ptr<Program> compile(const std::string &name,
                                   const std::string &mlir,
                                   const std::string &options = "");

  void check(const std::string &name, bool passed, const std::string &detail);
  void check(const std::string &name, const Status &status) {
    check(name, status.ok(), status.message());
  }
  /// An error with this message is what should come.
  template <typename T>
  void checkError(const std::string &name, const Result<T> &result,
                  const std::string &message) {
    check(name, !result && result.message() == message,
          "expected the error '" + message + "', but got " +
              (result ? "none" : "'" + result.message() + "'"));
  }
  /// Compares by the accuracy rule of `dtype`, that of the activations. `naive`
  /// is what 16-bit types are measured against, not yet rounded; null where the
  /// dtype does not need it.
  void compare(const std::string &name, DType dtype, const Tensor &expected,
               const Array &actual, const Tensor *naive);
  bool finish() const;

private:
  std::string kernels, tools, work;
  Place place;
  int passed = 0, failed = 0;
};

/// Numbers in [-1, 1) that are the same everywhere.
class Random {
public:
  explicit Random(uint32_t seed) : engine(seed) {}
  double next() { return engine() / 2147483648.0 - 1.0; }
  int64_t below(int64_t bound) { return engine() % bound; }
  Array array(DType dtype, const std::vector<int64_t> &shape);

private:
  std::mt19937 engine;
};

/// "tensor<?x4xf32>", negative dimensions as "?".
std::string tensorType(DType dtype, const std::vector<int64_t> &shape);
Array makeArray(DType dtype, const std::vector<int64_t> &shape,
                const std::function<double(int64_t)> &value);
/// Bytes equal.
bool same(const Array &a, const Array &b);

void checkSpheres(Checker &checker, DType dtype);
void checkTables(Checker &checker, DType dtype);
void checkProperties(Checker &checker);

} // namespace disco::compiled

#endif // DISCO_TEST_COMPILED_HARNESS_H
