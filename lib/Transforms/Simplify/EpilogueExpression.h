//===- EpilogueExpression.h - elementwise ops behind a conv --*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elementwise ops behind a conv, on tensors or inside linalg bodies, are read
// into one expression per element, so that it does not matter how they were
// cut into ops:
//
//   0.5 * x * (1 + erf(x / sqrt 2)) + r,  x = conv + b
//
// Products are compared as a coefficient and two multisets of factors.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_TRANSFORMS_SIMPLIFY_EPILOGUEEXPRESSION_H
#define DISCO_LIB_TRANSFORMS_SIMPLIFY_EPILOGUEEXPRESSION_H

#include "AxisFactors.h"
#include "disco/Dialect/Disco/Disco.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

#include <deque>

namespace mlir::disco {

/// A node: a leaf, or an operation on nodes.
struct Expression {
  enum class Kind {
    Conv,     ///< the conv's result
    Constant, ///< a number, with the relative rounding error it may have
    Channel,  ///< a value of the output channel
    Full,     ///< a tensor of the conv's result type
    Other,    ///< any other value
    Add,
    Mul,
    Div,
    Max,
    Erf,
    Erfc,
    Tanh,
    Exp
  };
  Kind kind;
  SmallVector<const Expression *, 2> operands = {};
  double constant = 0, tolerance = 0;
  /// Channel and Full.
  LaidOutValue value = {};
};

/// The epilogue that an expression of a conv's result is.
struct Epilogue {
  const Expression *bias = nullptr, *residual = nullptr;
  Activation activation = Activation::none;
};

/// Reads the ops between a conv and the elementwise op `root` behind it.
class ExpressionReader {
public:
  explicit ExpressionReader(ConvOp conv);

  /// Elementwise ops of the conv's block that depend on its result through
  /// elementwise ops only, in their order.
  ArrayRef<Operation *> getCandidates() const {
    return candidates.getArrayRef();
  }

  /// The expression of a candidate's result, or null and a reason.
  const Expression *read(Operation *root);
  /// The candidates that the last read went through, the root included.
  const llvm::SetVector<Operation *> &getAbsorbed() const { return absorbed; }
  StringRef getReason() const { return reason; }

private:
  const Expression *readTensor(Value value);
  const Expression *readScalar(Value value, linalg::LinalgOp op);
  const Expression *readOperation(Operation *op,
                                  ArrayRef<const Expression *> operands);
  const Expression *readLeaf(Value value, AxisLayout layout);
  bool checkType(Type type);
  const Expression *make(Expression expression);
  const Expression *fail(const Twine &why);

  ConvOp conv;
  RankedTensorType type;
  llvm::SetVector<Operation *> candidates, absorbed;
  std::deque<Expression> nodes;
  llvm::DenseMap<Value, const Expression *> known;
  std::string reason;
};

/// `expression` as activation(conv + bias) + residual.
std::optional<Epilogue> matchEpilogue(const Expression *expression);

} // namespace mlir::disco

#endif // DISCO_LIB_TRANSFORMS_SIMPLIFY_EPILOGUEEXPRESSION_H
