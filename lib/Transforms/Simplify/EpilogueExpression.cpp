//===- EpilogueExpression.cpp - what is computed from a conv's result -----===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EpilogueExpression.h"
#include "disco/Dialect/Disco/Matchers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace mlir::disco;
using Kind = Expression::Kind;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Whether `op` computes each element of one tensor from the same element of
/// its operands (or from less).
static bool isElementwise(Operation *op) {
  if (op->getNumResults() != 1 ||
      !isa<RankedTensorType>(op->getResult(0).getType()))
    return false;
  // Moved elements are not the same elements.
  ViewKind kind = getViewKind(op);
  if (kind == ViewKind::Transpose || kind == ViewKind::Broadcast)
    return false;
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return linalgOp.hasPureTensorSemantics() &&
           linalgOp.getNumParallelLoops() == linalgOp.getNumLoops() &&
           linalgOp.getNumDpsInits() == 1 &&
           linalgOp.getIndexingMapsArray().back().isPermutation();
  StringRef dialect = op->getName().getDialectNamespace();
  return (dialect == "arith" || dialect == "math") && op->getNumOperands() > 0;
}

ExpressionReader::ExpressionReader(ConvOp conv)
    : conv(conv), type(conv.getY().getType()) {
  SmallVector<Value> worklist{conv.getY()};
  while (!worklist.empty())
    for (Operation *user : worklist.pop_back_val().getUsers())
      if (user->getBlock() == conv->getBlock() && isElementwise(user) &&
          candidates.insert(user))
        worklist.push_back(user->getResult(0));
  SmallVector<Operation *> sorted = candidates.takeVector();
  llvm::sort(sorted,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  candidates.insert(sorted.begin(), sorted.end());
}

const Expression *ExpressionReader::make(Expression expression) {
  return &nodes.emplace_back(std::move(expression));
}

const Expression *ExpressionReader::fail(const Twine &why) {
  if (reason.empty())
    reason = why.str();
  return nullptr;
}

const Expression *ExpressionReader::read(Operation *root) {
  absorbed.clear();
  known.clear();
  reason.clear();
  return readTensor(root->getResult(0));
}

/// Arithmetic in the conv's type or in that of its sums: the fused op rounds
/// at most as often.
bool ExpressionReader::checkType(Type element) {
  Type own = type.getElementType();
  if (element == own || element == getAccumulatorType(own) ||
      element.isInteger(1))
    return true;
  std::string text;
  llvm::raw_string_ostream(text)
      << "the epilogue computes in " << element << ", but that of a conv of "
      << own << " in " << getAccumulatorType(own);
  (void)fail(text);
  return false;
}

const Expression *ExpressionReader::readTensor(Value value) {
  if (const Expression *node = known.lookup(value))
    return node;
  const Expression *node = nullptr;
  Operation *op = value.getDefiningOp();
  if (value == conv.getY()) {
    node = make({Kind::Conv});
  } else if (op && candidates.contains(op)) {
    absorbed.insert(op);
    if (!checkType(getElementTypeOrSelf(value)))
      return nullptr;
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
      node = readScalar(linalgOp.getBlock()->getTerminator()->getOperand(0),
                        linalgOp);
    } else {
      SmallVector<const Expression *> operands;
      for (Value operand : op->getOperands()) {
        operands.push_back(readTensor(operand));
        if (!operands.back())
          return nullptr;
      }
      node = readOperation(op, operands);
    }
  } else {
    auto leaf = dyn_cast<RankedTensorType>(value.getType());
    if (!leaf || leaf.getRank() != type.getRank())
      return fail("an operand of the epilogue is not a tensor of its shape");
    node = readLeaf(value, identityLayout(type));
  }
  if (node)
    known[value] = node;
  return node;
}

const Expression *ExpressionReader::readScalar(Value value,
                                               linalg::LinalgOp op) {
  if (const Expression *node = known.lookup(value))
    return node;
  const Expression *node = nullptr;
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && argument.getOwner() == op.getBlock()) {
    OpOperand *operand = op.getMatchingOpOperand(argument);
    AffineMap out = op.getIndexingMapsArray().back();
    AffineMap map = op.getMatchingIndexingMap(operand);
    if (op.isDpsInit(operand))
      return fail("the epilogue reads the tensor that it writes");
    Operation *producer = operand->get().getDefiningOp();
    if (operand->get() == conv.getY() ||
        (producer && candidates.contains(producer))) {
      if (map != out)
        return fail("the epilogue reads the conv's result at other points");
      node = readTensor(operand->get());
    } else if (!isa<RankedTensorType>(operand->get().getType())) {
      if (std::optional<APFloat> number = getConstantFloat(operand->get()))
        node = readLeaf(operand->get(), {});
      else
        return fail("the epilogue has a scalar that is not constant");
    } else {
      AxisLayout whole = identityLayout(type), layout;
      for (AffineExpr expr : map.getResults()) {
        std::optional<unsigned> axis = out.getResultPosition(expr);
        if (!axis && !isa<AffineConstantExpr>(expr))
          return fail("an operand of the epilogue is not indexed by loops");
        layout.push_back(axis ? whole[*axis] : FactorList{});
      }
      node = readLeaf(operand->get(), layout);
    }
  } else if (getConstant(value)) {
    node = readLeaf(value, {});
  } else if (Operation *inner = value.getDefiningOp();
             inner && inner->getBlock() == op.getBlock() &&
             inner->getNumOperands() > 0) {
    if (!checkType(value.getType()))
      return nullptr;
    SmallVector<const Expression *> operands;
    for (Value operand : inner->getOperands()) {
      operands.push_back(readScalar(operand, op));
      if (!operands.back())
        return nullptr;
    }
    node = readOperation(inner, operands);
  } else {
    return fail("the epilogue has a scalar that is not constant");
  }
  if (node)
    known[value] = node;
  return node;
}

/// Reads max(x, 0) out of select(x > 0, x, 0): true for the comparisons that
/// pick x where it is positive.
static bool isPositiveTest(arith::CmpFPredicate predicate) {
  using P = arith::CmpFPredicate;
  return predicate == P::OGT || predicate == P::OGE || predicate == P::UGT ||
         predicate == P::UGE;
}

const Expression *
ExpressionReader::readOperation(Operation *op,
                                ArrayRef<const Expression *> operands) {
  auto constant = [&](double value) {
    return make({Kind::Constant, {}, value});
  };
  auto node = [&](Kind kind) {
    return make({kind, SmallVector<const Expression *, 2>(operands)});
  };
  return llvm::TypeSwitch<Operation *, const Expression *>(op)
      .Case<arith::AddFOp>([&](auto) { return node(Kind::Add); })
      .Case<arith::SubFOp>([&](auto) {
        return make(
            {Kind::Add,
             {operands[0], make({Kind::Mul, {constant(-1), operands[1]}})}});
      })
      .Case<arith::NegFOp>(
          [&](auto) { return make({Kind::Mul, {constant(-1), operands[0]}}); })
      .Case<arith::MulFOp>([&](auto) { return node(Kind::Mul); })
      .Case<arith::DivFOp>([&](auto) { return node(Kind::Div); })
      .Case<arith::MaximumFOp, arith::MaxNumFOp>(
          [&](auto) { return node(Kind::Max); })
      .Case<arith::ExtFOp, arith::TruncFOp>([&](auto) { return operands[0]; })
      .Case<math::ErfOp>([&](auto) { return node(Kind::Erf); })
      .Case<math::ErfcOp>([&](auto) { return node(Kind::Erfc); })
      .Case<math::TanhOp>([&](auto) { return node(Kind::Tanh); })
      .Case<math::ExpOp>([&](auto) { return node(Kind::Exp); })
      .Case<math::PowFOp, math::FPowIOp>([&](auto) -> const Expression * {
        if (operands[1]->kind != Kind::Constant || operands[1]->constant != 3)
          return node(Kind::Other);
        return make(
            {Kind::Mul,
             {operands[0], make({Kind::Mul, {operands[0], operands[0]}})}});
      })
      .Case<arith::CmpFOp>([&](arith::CmpFOp compare) -> const Expression * {
        return isPositiveTest(compare.getPredicate()) &&
                       operands[1]->kind == Kind::Constant &&
                       operands[1]->constant == 0
                   ? node(Kind::Max)
                   : node(Kind::Other);
      })
      .Case<arith::SelectOp>([&](auto) -> const Expression * {
        // select(x > 0, x, 0), whose comparison reads as max(x, 0).
        bool isRelu = operands[0]->kind == Kind::Max &&
                      operands[0]->operands[0] == operands[1] &&
                      operands[2]->kind == Kind::Constant &&
                      operands[2]->constant == 0;
        return isRelu ? operands[0] : node(Kind::Other);
      })
      .Default([&](Operation *) { return node(Kind::Other); });
}

/// The largest relative error of a number that was rounded to a float of this
/// precision; 0 for powers of two, which every type holds.
static double getTolerance(const APFloat &number) {
  int exponent = 0;
  bool ignored;
  APFloat copy = number;
  copy.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &ignored);
  if (std::frexp(std::abs(copy.convertToDouble()), &exponent) == 0.5)
    return 0;
  return std::ldexp(1.0, -static_cast<int>(APFloat::semanticsPrecision(
                             number.getSemantics())));
}

const Expression *ExpressionReader::readLeaf(Value value, AxisLayout layout) {
  if (auto integer = dyn_cast_or_null<IntegerAttr>(getConstant(value)))
    return make({Kind::Constant,
                 {},
                 static_cast<double>(integer.getValue().getSExtValue())});
  LaidOutValue source{value, layout};
  if (isa<RankedTensorType>(value.getType()))
    source = followToSource(source, type.getElementType());
  auto sourceType = dyn_cast<RankedTensorType>(source.value.getType());
  // The channel alone; first, so that a splat may be a bias.
  auto dropUnits = [](AxisLayout layout) {
    llvm::erase_if(layout, [](const FactorList &list) { return list.empty(); });
    return layout;
  };
  if (sourceType && sourceType.getRank() > 0 &&
      isa<FloatType>(sourceType.getElementType()) &&
      dropUnits(source.layout) == dropUnits({wholeAxis(1, type.getDimSize(1))}))
    return make({Kind::Channel, {}, 0, 0, source});
  Value scalar = source.value;
  if (auto fill = scalar.getDefiningOp<linalg::FillOp>())
    scalar = fill.getInputs()[0];
  if (std::optional<APFloat> number = getConstantFloat(scalar)) {
    APFloat wide = *number;
    bool ignored;
    wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &ignored);
    return make(
        {Kind::Constant, {}, wide.convertToDouble(), getTolerance(*number)});
  }
  if (sourceType == type && source.layout == identityLayout(type))
    return make({Kind::Full, {}, 0, 0, source});
  if (value.getType() == type && layout == identityLayout(type))
    return make({Kind::Full, {}, 0, 0, {value, layout}});
  return make({Kind::Other});
}

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

static bool isEqual(const Expression *a, const Expression *b) {
  if (a == b)
    return true;
  if (a->kind != b->kind || a->operands.size() != b->operands.size() ||
      a->constant != b->constant || a->value.value != b->value.value ||
      a->value.layout != b->value.layout || a->kind == Kind::Other)
    return false;
  return llvm::all_of(llvm::zip_equal(a->operands, b->operands), [](auto pair) {
    return isEqual(std::get<0>(pair), std::get<1>(pair));
  });
}

namespace {

/// coefficient * product of `over` / product of `under`.
struct Product {
  double coefficient = 1, tolerance = 0x1p-50;
  SmallVector<const Expression *, 4> over, under;

  explicit Product(const Expression *expression) { read(expression, false); }

  /// Whether the coefficient is `wanted`, but for the rounding of constants.
  bool is(double wanted) const {
    return std::abs(coefficient - wanted) <= tolerance * std::abs(wanted);
  }
  /// coefficient * x^power.
  bool isPower(const Expression *x, size_t power) const {
    return under.empty() && over.size() == power &&
           llvm::all_of(over, [&](const Expression *factor) {
             return isEqual(factor, x);
           });
  }

private:
  void read(const Expression *node, bool divide) {
    if (node->kind == Kind::Constant) {
      coefficient =
          divide ? coefficient / node->constant : coefficient * node->constant;
      tolerance += node->tolerance;
    } else if (node->kind == Kind::Mul || node->kind == Kind::Div) {
      read(node->operands[0], divide);
      read(node->operands[1], divide != (node->kind == Kind::Div));
    } else {
      (divide ? under : over).push_back(node);
    }
  }
};

} // namespace

/// The operands of a sum in both orders.
static SmallVector<std::pair<const Expression *, const Expression *>, 2>
bothOrders(const Expression *node) {
  return {{node->operands[0], node->operands[1]},
          {node->operands[1], node->operands[0]}};
}

/// `node` as a sum of the constant `a` and a product; tries both orders.
template <typename Fn>
static bool matchConstantPlus(const Expression *node, Fn matches) {
  if (node->kind != Kind::Add)
    return false;
  return llvm::any_of(bothOrders(node), [&](auto pair) {
    return pair.first->kind == Kind::Constant &&
           matches(*pair.first, Product(pair.second));
  });
}

/// sqrt(2/pi) * (x + 0.044715 x^3), in the forms that people write.
static bool isTanhArgument(const Expression *node, const Expression *x) {
  const double scale = std::sqrt(2 / M_PI), cubic = 0.044715;
  // scale x + (scale cubic) x^3
  auto isSum = [&](const Expression *sum, double factor) {
    return sum->kind == Kind::Add &&
           llvm::any_of(bothOrders(sum), [&](auto pair) {
             Product linear(pair.first), third(pair.second);
             return linear.isPower(x, 1) && linear.is(factor) &&
                    third.isPower(x, 3) && third.is(factor * cubic);
           });
  };
  if (isSum(node, scale))
    return true;
  Product product(node);
  if (!product.is(scale) || !product.under.empty())
    return false;
  if (product.over.size() == 1)
    return isSum(product.over[0], 1);
  // scale x (1 + cubic x^2)
  return product.over.size() == 2 &&
         llvm::any_of(ArrayRef<int>{0, 1}, [&](int i) {
           return isEqual(product.over[i], x) &&
                  matchConstantPlus(
                      product.over[1 - i],
                      [&](const Expression &one, const Product &square) {
                        return one.constant == 1 && square.isPower(x, 2) &&
                               square.is(cubic);
                      });
         });
}

/// coefficient * x * s as a gelu of x.
static std::optional<Activation>
matchGelu(double coefficient, const Expression *x, const Expression *s) {
  if (s->kind == Kind::Erfc) {
    Product argument(s->operands[0]);
    if (coefficient == 0.5 && argument.isPower(x, 1) &&
        argument.is(-std::sqrt(0.5)))
      return Activation::gelu;
    return std::nullopt;
  }
  // a + a f(x), where coefficient a = 0.5
  std::optional<Activation> activation;
  matchConstantPlus(s, [&](const Expression &a, const Product &product) {
    if (product.over.size() != 1 || !product.under.empty() ||
        product.coefficient != a.constant || coefficient * a.constant != 0.5)
      return false;
    const Expression *f = product.over[0];
    if (f->kind == Kind::Tanh && isTanhArgument(f->operands[0], x))
      activation = Activation::gelu_tanh;
    if (f->kind == Kind::Erf) {
      Product argument(f->operands[0]);
      if (argument.isPower(x, 1) && argument.is(std::sqrt(0.5)))
        activation = Activation::gelu;
    }
    return activation.has_value();
  });
  return activation;
}

/// An activation and what it is applied to; none and the expression itself
/// when it is not one.
static std::pair<Activation, const Expression *>
matchActivation(const Expression *node) {
  if (node->kind == Kind::Max)
    for (auto [zero, x] : bothOrders(node))
      if (zero->kind == Kind::Constant && zero->constant == 0)
        return {Activation::relu, x};
  Product product(node);
  if (product.over.size() == 1 && product.under.size() == 1 &&
      product.coefficient == 1) {
    // x / (1 + exp(-x))
    const Expression *x = product.over[0];
    bool isSilu = matchConstantPlus(product.under[0], [&](const Expression &one,
                                                          const Product &exp) {
      if (one.constant != 1 || exp.coefficient != 1 || exp.over.size() != 1 ||
          !exp.under.empty() || exp.over[0]->kind != Kind::Exp)
        return false;
      Product argument(exp.over[0]->operands[0]);
      return argument.isPower(x, 1) && argument.coefficient == -1;
    });
    if (isSilu)
      return {Activation::silu, x};
  }
  if (product.over.size() == 2 && product.under.empty())
    for (int i : {0, 1})
      if (std::optional<Activation> gelu = matchGelu(
              product.coefficient, product.over[i], product.over[1 - i]))
        return {*gelu, product.over[i]};
  return {Activation::none, node};
}

std::optional<Epilogue>
mlir::disco::matchEpilogue(const Expression *expression) {
  Epilogue epilogue;
  if (expression->kind == Kind::Add)
    for (auto [residual, rest] : bothOrders(expression))
      if (residual->kind == Kind::Full && !epilogue.residual) {
        epilogue.residual = residual;
        expression = rest;
        break;
      }
  std::tie(epilogue.activation, expression) = matchActivation(expression);
  if (expression->kind == Kind::Add)
    for (auto [bias, rest] : bothOrders(expression))
      if (bias->kind == Kind::Channel) {
        epilogue.bias = bias;
        expression = rest;
        break;
      }
  if (expression->kind != Kind::Conv)
    return std::nullopt;
  return epilogue;
}
