//===- LoopEmitter.cpp - contractions as loops on tensors -----------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::disco;

static RankedTensorType typeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType());
}

static Value constant(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

/// sum + a * b. Two roundings: the code generator may not contract them.
static Value multiplyAdd(OpBuilder &builder, Location loc, Value a, Value b,
                         Value sum) {
  Value product = arith::MulFOp::create(builder, loc, a, b);
  return arith::AddFOp::create(builder, loc, sum, product);
}

static Value
loop(OpBuilder &builder, Location loc, Value upper, Value state,
     function_ref<Value(OpBuilder &, Location, Value, Value)> body) {
  auto forOp = scf::ForOp::create(
      builder, loc, constant(builder, loc, 0), upper, constant(builder, loc, 1),
      ValueRange{state},
      [&](OpBuilder &inner, Location loc, Value i, ValueRange args) {
        scf::YieldOp::create(inner, loc, body(inner, loc, i, args.front()));
      });
  return forOp.getResult(0);
}

/// `prefix`, and `points` behind it.
static SmallVector<Value> join(ValueRange prefix, ValueRange points) {
  SmallVector<Value> indices(prefix);
  llvm::append_range(indices, points);
  return indices;
}

static SmallVector<OpFoldResult> toSizes(OpBuilder &builder,
                                         ArrayRef<int64_t> shape) {
  return llvm::map_to_vector(shape, [&](int64_t size) {
    return OpFoldResult(builder.getIndexAttr(size));
  });
}

Value LoopEmitter::zero(OpBuilder &builder, Location loc) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getFloatAttr(accumulator, 0.0));
}

Value LoopEmitter::generate(ArrayRef<OpFoldResult> sizes, Type element,
                            PointBody body) {
  Value empty = tensor::EmptyOp::create(builder, loc, sizes, element);
  int64_t rank = sizes.size();
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      builder, loc, TypeRange{empty.getType()}, ValueRange{}, ValueRange{empty},
      builder.getMultiDimIdentityMap(rank), iterators,
      [&](OpBuilder &inner, Location loc, ValueRange) {
        SmallVector<Value> indices;
        for (int64_t i = 0; i < rank; ++i)
          indices.push_back(linalg::IndexOp::create(inner, loc, i));
        Value value = body(inner, loc, indices);
        linalg::YieldOp::create(inner, loc,
                                convertFloat(inner, loc, value, element));
      });
  return generic.getResult(0);
}

Value LoopEmitter::zeros(ArrayRef<OpFoldResult> sizes) {
  Value empty = tensor::EmptyOp::create(builder, loc, sizes, accumulator);
  return linalg::FillOp::create(builder, loc, zero(builder, loc), empty)
      .getResult(0);
}

Value LoopEmitter::round(Value tensor, Type element) {
  if (typeOf(tensor).getElementType() == element)
    return tensor;
  return epilogue(tensor, Value(), Value(), Activation::none, element);
}

//===----------------------------------------------------------------------===//
// The filter
//===----------------------------------------------------------------------===//

Value LoopEmitter::contract(Value x, const PsiTaps &psi, Type element) {
  if (psi.isAdjoint())
    return scatter(x, psi, element, /*sum=*/false);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, x);
  sizes.truncate(2);
  sizes.push_back(builder.getIndexAttr(psi.getPsi().getNumBasis()));
  llvm::append_range(sizes, toSizes(builder, psi.getPsi().getOutShape()));
  return generate(
      sizes, element,
      [&](OpBuilder &builder, Location loc, ValueRange indices) {
        Value k = indices[2];
        return psi.forEachTap(
            builder, loc, indices.drop_front(3), zero(builder, loc),
            [&](OpBuilder &builder, Location loc, const Tap &tap, Value sum) {
              auto load = [&](OpBuilder &builder) {
                return extractFloat(builder, loc, x,
                                    join(indices.take_front(2), tap.column),
                                    accumulator);
              };
              if (!tap.bin)
                return multiplyAdd(
                    builder, loc,
                    psi.loadValue(builder, loc, tap, k, accumulator),
                    load(builder), sum);
              Value isBin = arith::CmpIOp::create(
                  builder, loc, arith::CmpIPredicate::eq, tap.bin, k);
              auto ifOp = scf::IfOp::create(
                  builder, loc, isBin,
                  [&](OpBuilder &inner, Location loc) {
                    Value added =
                        arith::AddFOp::create(inner, loc, sum, load(inner));
                    scf::YieldOp::create(inner, loc, added);
                  },
                  [&](OpBuilder &inner, Location loc) {
                    scf::YieldOp::create(inner, loc, sum);
                  });
              return Value(ifOp.getResult(0));
            });
      });
}

Value LoopEmitter::contractSum(Value z, const PsiTaps &psi, Type element) {
  if (psi.isAdjoint())
    return scatter(z, psi, element, /*sum=*/true);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, z);
  sizes.truncate(2);
  llvm::append_range(sizes, toSizes(builder, psi.getPsi().getOutShape()));
  return generate(
      sizes, element,
      [&](OpBuilder &builder, Location loc, ValueRange indices) {
        return psi.forEachTap(
            builder, loc, indices.drop_front(2), zero(builder, loc),
            [&](OpBuilder &builder, Location loc, const Tap &tap, Value sum) {
              auto load = [&](OpBuilder &builder, Location loc, Value k) {
                SmallVector<Value> at = join(indices.take_front(2), k);
                return extractFloat(builder, loc, z, join(at, tap.column),
                                    accumulator);
              };
              if (tap.bin) {
                Value added = load(builder, loc, tap.bin);
                return Value(arith::AddFOp::create(builder, loc, sum, added));
              }
              Value count = constant(builder, loc, psi.getPsi().getNumBasis());
              return loop(
                  builder, loc, count, sum,
                  [&](OpBuilder &builder, Location loc, Value k, Value sum) {
                    return multiplyAdd(
                        builder, loc,
                        psi.loadValue(builder, loc, tap, k, accumulator),
                        load(builder, loc, k), sum);
                  });
            });
      });
}

/// The transposed operator: walks the points n of the tables and adds to the
/// points that their taps select, in the order (n, tap).
///   contract      [B,C,k,m] += v[n,tap,k] * input[B,C,n]
///   contract_sum  [B,C,m]   += sum over k of v[n,tap,k] * input[B,C,k,n]
Value LoopEmitter::scatter(Value input, const PsiTaps &psi, Type element,
                           bool sum) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, input);
  Value batch = getValueOrCreateConstantIndexOp(builder, loc, sizes[0]);
  Value channels = getValueOrCreateConstantIndexOp(builder, loc, sizes[1]);
  Value rows = constant(builder, loc, psi.getStorage().getNumRows());
  Value numBasis = constant(builder, loc, psi.getPsi().getNumBasis());
  sizes.truncate(2);
  if (!sum)
    sizes.push_back(builder.getIndexAttr(psi.getPsi().getNumBasis()));
  llvm::append_range(sizes, toSizes(builder, psi.getPsi().getOutShape()));

  auto addTo = [&](OpBuilder &builder, Location loc, Value target,
                   ValueRange at, Value term) {
    Value old = tensor::ExtractOp::create(builder, loc, target, at);
    Value added = arith::AddFOp::create(builder, loc, old, term);
    return Value(tensor::InsertOp::create(builder, loc, added, target, at));
  };
  auto tapBody = [&](OpBuilder &builder, Location loc, Value b, Value c,
                     Value n, const Tap &tap, Value target) -> Value {
    auto load = [&](OpBuilder &builder, Location loc, Value k) {
      SmallVector<Value> at{b, c};
      if (sum)
        at.push_back(k);
      at.push_back(n);
      return extractFloat(builder, loc, input, at, accumulator);
    };
    auto place = [&](Value k) {
      SmallVector<Value> at{b, c};
      if (!sum)
        at.push_back(k);
      return join(at, tap.column);
    };
    if (tap.bin)
      return addTo(builder, loc, target, place(tap.bin),
                   load(builder, loc, tap.bin));
    auto weighted = [&](OpBuilder &builder, Location loc, Value k) {
      Value value = psi.loadValue(builder, loc, tap, k, accumulator);
      return std::pair(value, load(builder, loc, k));
    };
    if (!sum)
      return loop(builder, loc, numBasis, target,
                  [&](OpBuilder &builder, Location loc, Value k, Value target) {
                    auto [value, x] = weighted(builder, loc, k);
                    Value term = arith::MulFOp::create(builder, loc, value, x);
                    return addTo(builder, loc, target, place(k), term);
                  });
    Value term =
        loop(builder, loc, numBasis, zero(builder, loc),
             [&](OpBuilder &builder, Location loc, Value k, Value sum) {
               auto [value, x] = weighted(builder, loc, k);
               return multiplyAdd(builder, loc, value, x, sum);
             });
    return addTo(builder, loc, target, place(Value()), term);
  };
  Value result = loop(
      builder, loc, batch, zeros(sizes),
      [&](OpBuilder &builder, Location loc, Value b, Value target) {
        return loop(
            builder, loc, channels, target,
            [&](OpBuilder &builder, Location loc, Value c, Value target) {
              return loop(
                  builder, loc, rows, target,
                  [&](OpBuilder &builder, Location loc, Value n, Value target) {
                    return psi.forEachTap(builder, loc, n, target,
                                          [&](OpBuilder &builder, Location loc,
                                              const Tap &tap, Value target) {
                                            return tapBody(builder, loc, b, c,
                                                           n, tap, target);
                                          });
                  });
            });
      });
  return round(result, element);
}

//===----------------------------------------------------------------------===//
// The channel einsum
//===----------------------------------------------------------------------===//

Value LoopEmitter::splitGroups(Value tensor, int64_t dim, int64_t groups) {
  RankedTensorType type = typeOf(tensor);
  SmallVector<int64_t> shape(type.getShape());
  int64_t size = shape[dim];
  shape[dim] = groups;
  shape.insert(shape.begin() + dim + 1, size / groups);
  SmallVector<ReassociationIndices> reassociation;
  for (int64_t i = 0, at = 0; i < type.getRank(); ++i) {
    ReassociationIndices &indices = reassociation.emplace_back();
    for (int64_t n = i == dim ? 2 : 1; n > 0; --n)
      indices.push_back(at++);
  }
  return tensor::ExpandShapeOp::create(builder, loc, type.clone(shape), tensor,
                                       reassociation);
}

/// Both einsums as one linalg.generic, the points innermost, so that the inner
/// loop runs along memory and the sum over channels and features has one order.
///
///   features: dims b g o c k p...   in (b g c k p...)  out (b g o p...)
///   channels: dims b g o k c p...   in (b g c p...)    out (b g o k p...)
///   weight (g o c k)
Value LoopEmitter::mix(Value input, Value weight, int64_t groups,
                       bool features) {
  Value split = splitGroups(input, 1, groups);
  Value splitWeight = splitGroups(weight, 0, groups);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, split);
  int64_t rank = sizes.size(), pointRank = rank - (features ? 4 : 3);
  sizes[2] = builder.getIndexAttr(typeOf(splitWeight).getDimSize(1));
  if (features)
    sizes.erase(sizes.begin() + 3);
  else
    sizes.insert(sizes.begin() + 3,
                 builder.getIndexAttr(typeOf(splitWeight).getDimSize(3)));

  AffineExpr b, g, o, c, k;
  bindDims(builder.getContext(), b, g, o, c, k);
  if (!features)
    std::swap(c, k);
  SmallVector<AffineExpr> in{b, g, c}, out{b, g, o};
  (features ? in : out).push_back(k);
  for (int64_t i = 0; i < pointRank; ++i) {
    in.push_back(builder.getAffineDimExpr(5 + i));
    out.push_back(builder.getAffineDimExpr(5 + i));
  }
  auto map = [&](ArrayRef<AffineExpr> results) {
    return AffineMap::get(5 + pointRank, 0, results, builder.getContext());
  };
  using utils::IteratorType;
  SmallVector<IteratorType> iterators(5 + pointRank, IteratorType::parallel);
  iterators[4] = IteratorType::reduction;
  if (features)
    iterators[3] = IteratorType::reduction;
  Value init = zeros(sizes);
  auto generic = linalg::GenericOp::create(
      builder, loc, TypeRange{init.getType()}, ValueRange{split, splitWeight},
      ValueRange{init},
      ArrayRef<AffineMap>{map(in), map({g, o, c, k}), map(out)}, iterators,
      [&](OpBuilder &inner, Location loc, ValueRange args) {
        Value x = convertFloat(inner, loc, args[0], accumulator);
        Value w = convertFloat(inner, loc, args[1], accumulator);
        linalg::YieldOp::create(inner, loc,
                                multiplyAdd(inner, loc, w, x, args[2]));
      });
  SmallVector<ReassociationIndices> reassociation{{0}, {1, 2}};
  for (int64_t i = 3; i < static_cast<int64_t>(sizes.size()); ++i)
    reassociation.push_back({i});
  return tensor::CollapseShapeOp::create(builder, loc, generic.getResult(0),
                                         reassociation);
}

Value LoopEmitter::mixFeatures(Value z, Value weight, int64_t groups) {
  return mix(z, weight, groups, /*features=*/true);
}

Value LoopEmitter::mixChannels(Value x, Value weight, int64_t groups) {
  return mix(x, weight, groups, /*features=*/false);
}

Value LoopEmitter::epilogue(Value y, Value bias, Value residual,
                            Activation activation, Type element) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, y);
  int64_t rank = sizes.size();
  Value empty = tensor::EmptyOp::create(builder, loc, sizes, element);
  AffineMap identity = builder.getMultiDimIdentityMap(rank);
  SmallVector<Value> inputs{y};
  SmallVector<AffineMap> maps{identity};
  if (bias) {
    inputs.push_back(bias);
    maps.push_back(AffineMap::get(rank, 0, builder.getAffineDimExpr(1)));
  }
  if (residual) {
    inputs.push_back(residual);
    maps.push_back(identity);
  }
  maps.push_back(identity);
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      builder, loc, TypeRange{empty.getType()}, inputs, ValueRange{empty}, maps,
      iterators, [&](OpBuilder &inner, Location loc, ValueRange args) {
        Value value = convertFloat(inner, loc, args[0], accumulator);
        unsigned next = 1;
        auto add = [&](bool present) {
          if (!present)
            return;
          Value term = convertFloat(inner, loc, args[next++], accumulator);
          value = arith::AddFOp::create(inner, loc, value, term);
        };
        add(static_cast<bool>(bias));
        value = emitActivation(inner, loc, activation, value);
        add(static_cast<bool>(residual));
        linalg::YieldOp::create(inner, loc,
                                convertFloat(inner, loc, value, element));
      });
  return generic.getResult(0);
}

//===----------------------------------------------------------------------===//
// Gradients of the parameters
//===----------------------------------------------------------------------===//

/// sum over b of (sum over rows of (sum over the row of `term`)): partial sums
/// keep the rounding error small on fields of many points.
Value LoopEmitter::sumOverPoints(OpBuilder &builder, Location loc, Value batch,
                                 ArrayRef<int64_t> points, PointBody term) {
  std::function<Value(OpBuilder &, Location, SmallVector<Value>)> sum =
      [&](OpBuilder &builder, Location loc, SmallVector<Value> indices) {
        size_t depth = indices.size();
        if (depth == points.size() + 1)
          return term(builder, loc, indices);
        Value upper =
            depth == 0 ? batch : constant(builder, loc, points[depth - 1]);
        return loop(builder, loc, upper, zero(builder, loc),
                    [&](OpBuilder &builder, Location loc, Value i,
                        Value state) -> Value {
                      SmallVector<Value> inner = indices;
                      inner.push_back(i);
                      return arith::AddFOp::create(builder, loc, state,
                                                   sum(builder, loc, inner));
                    });
      };
  return sum(builder, loc, {});
}

Value LoopEmitter::weightGrad(Value gy, Value z, int64_t groups, Type element) {
  RankedTensorType gyType = typeOf(gy), zType = typeOf(z);
  Value batch = tensor::DimOp::create(builder, loc, gy, 0);
  int64_t outputs = gyType.getDimSize(1),
          groupInputs = zType.getDimSize(1) / groups;
  return generate(
      toSizes(builder, {outputs, groupInputs, zType.getDimSize(2)}), element,
      [&](OpBuilder &builder, Location loc, ValueRange indices) {
        Value o = indices[0], c = indices[1], k = indices[2];
        Value group = arith::DivUIOp::create(
            builder, loc, o, constant(builder, loc, outputs / groups));
        Value first = arith::MulIOp::create(
            builder, loc, group, constant(builder, loc, groupInputs));
        Value channel = arith::AddIOp::create(builder, loc, first, c);
        return sumOverPoints(
            builder, loc, batch, gyType.getShape().drop_front(2),
            [&](OpBuilder &builder, Location loc, ValueRange at) -> Value {
              ValueRange point = at.drop_front(1);
              SmallVector<Value> gyAt{at[0], o}, zAt{at[0], channel, k};
              Value grad = extractFloat(builder, loc, gy, join(gyAt, point),
                                        accumulator);
              Value feature =
                  extractFloat(builder, loc, z, join(zAt, point), accumulator);
              return arith::MulFOp::create(builder, loc, grad, feature);
            });
      });
}

Value LoopEmitter::biasGrad(Value gy, Type element) {
  RankedTensorType type = typeOf(gy);
  Value batch = tensor::DimOp::create(builder, loc, gy, 0);
  return generate(toSizes(builder, {type.getDimSize(1)}), element,
                  [&](OpBuilder &builder, Location loc, ValueRange indices) {
                    return sumOverPoints(
                        builder, loc, batch, type.getShape().drop_front(2),
                        [&](OpBuilder &builder, Location loc, ValueRange at) {
                          SmallVector<Value> prefix{at[0], indices[0]};
                          return extractFloat(builder, loc, gy,
                                              join(prefix, at.drop_front(1)),
                                              accumulator);
                        });
                  });
}
