//===- PsiTaps.cpp - loops over the taps of a stored psi ------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PsiTaps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::disco;

Value mlir::disco::convertFloat(OpBuilder &builder, Location loc, Value value,
                                Type type) {
  unsigned from = value.getType().getIntOrFloatBitWidth();
  unsigned to = type.getIntOrFloatBitWidth();
  if (value.getType() == type)
    return value;
  if (from < to)
    return arith::ExtFOp::create(builder, loc, type, value);
  if (from > to)
    return arith::TruncFOp::create(builder, loc, type, value);
  // f16 and bf16: through f32, which holds both.
  Value wide = arith::ExtFOp::create(builder, loc, builder.getF32Type(), value);
  return arith::TruncFOp::create(builder, loc, type, wide);
}

Value mlir::disco::extractFloat(OpBuilder &builder, Location loc, Value tensor,
                                ValueRange indices, Type accumulator) {
  Value element = tensor::ExtractOp::create(builder, loc, tensor, indices);
  return convertFloat(builder, loc, element, accumulator);
}

static Value constant(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

/// An element of an index table.
static Value loadIndex(OpBuilder &builder, Location loc, Value table,
                       ValueRange indices) {
  Value element = tensor::ExtractOp::create(builder, loc, table, indices);
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                    element);
}

/// for (i = lower; i < upper; ++i) state = body(i, state)
static Value
loop(OpBuilder &builder, Location loc, Value lower, Value upper, Value state,
     function_ref<Value(OpBuilder &, Location, Value, Value)> body) {
  auto forOp = scf::ForOp::create(
      builder, loc, lower, upper, constant(builder, loc, 1), ValueRange{state},
      [&](OpBuilder &inner, Location loc, Value i, ValueRange args) {
        scf::YieldOp::create(inner, loc, body(inner, loc, i, args.front()));
      });
  return forOp.getResult(0);
}

/// value - modulus if value >= modulus, else value: value % modulus for values
/// below 2 modulus, without a division.
static Value wrapOnce(OpBuilder &builder, Location loc, Value value,
                      Value modulus) {
  Value wraps = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge,
                                      value, modulus);
  Value wrapped = arith::SubIOp::create(builder, loc, value, modulus);
  return arith::SelectOp::create(builder, loc, wraps, wrapped, value);
}

Value PsiTaps::forEachArcTap(OpBuilder &builder, Location loc, ValueRange point,
                             Value state, Body body) const {
  int64_t phases = storage.getPhases(), stride = storage.getStride();
  Value offsets = tensors[0], arcs = tensors[1];
  Value row = point[0], column = point[1];
  Value shift = column;
  if (phases > 1) {
    Value count = constant(builder, loc, phases);
    Value phase = arith::RemUIOp::create(builder, loc, column, count);
    row = arith::MulIOp::create(builder, loc, row, count);
    row = arith::AddIOp::create(builder, loc, row, phase);
    shift = arith::DivUIOp::create(builder, loc, column, count);
  }
  if (stride > 1)
    shift = arith::MulIOp::create(builder, loc, shift,
                                  constant(builder, loc, stride));
  Value nlon = constant(builder, loc, storage.getPsi().getInShape().back());
  Value zero = constant(builder, loc, 0);
  Value next =
      arith::AddIOp::create(builder, loc, row, constant(builder, loc, 1));
  Value first = loadIndex(builder, loc, offsets, row);
  Value last = loadIndex(builder, loc, offsets, next);
  SmallVector<Value> fields;
  for (int64_t field = 0; field < 4; ++field)
    fields.push_back(constant(builder, loc, field));
  auto arcBody = [&](OpBuilder &builder, Location loc, Value arc, Value state) {
    auto load = [&](unsigned field) {
      return loadIndex(builder, loc, arcs, {arc, fields[field]});
    };
    Value lat = load(0), start = load(1), length = load(2), value = load(3);
    start = arith::AddIOp::create(builder, loc, start, shift);
    start = wrapOnce(builder, loc, start, nlon);
    return loop(builder, loc, zero, length, state,
                [&](OpBuilder &builder, Location loc, Value u, Value state) {
                  Tap tap;
                  Value lon = arith::AddIOp::create(builder, loc, start, u);
                  tap.column = {lat, wrapOnce(builder, loc, lon, nlon)};
                  tap.valuePrefix = {
                      arith::AddIOp::create(builder, loc, value, u)};
                  return body(builder, loc, tap, state);
                });
  };
  return loop(builder, loc, first, last, state, arcBody);
}

Value PsiTaps::forEachCsrTap(OpBuilder &builder, Location loc, Value point,
                             Value state, Body body) const {
  Value next =
      arith::AddIOp::create(builder, loc, point, constant(builder, loc, 1));
  Value first = loadIndex(builder, loc, tensors[0], point);
  Value last = loadIndex(builder, loc, tensors[0], next);
  return loop(builder, loc, first, last, state,
              [&](OpBuilder &builder, Location loc, Value i, Value state) {
                Tap tap;
                tap.column = {loadIndex(builder, loc, tensors[1], i)};
                tap.valuePrefix = {i};
                return body(builder, loc, tap, state);
              });
}

Value PsiTaps::forEachTableTap(OpBuilder &builder, Location loc, Value point,
                               Value state, Body body) const {
  Value zero = constant(builder, loc, 0);
  Value degree = constant(builder, loc, storage.getPsi().getDegree());
  Value none = constant(builder, loc, storage.getNumColumns());
  auto tapBody = [&](OpBuilder &builder, Location loc, Value i, Value state) {
    Tap tap;
    tap.column = {loadIndex(builder, loc, tensors[0], {point, i})};
    if (storage.getForm() == StorageForm::table)
      tap.valuePrefix = {point, i};
    Value isTap = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                        tap.column.front(), none);
    auto ifOp = scf::IfOp::create(
        builder, loc, isTap,
        [&](OpBuilder &inner, Location loc) {
          if (storage.getForm() == StorageForm::onehot)
            tap.bin = loadIndex(inner, loc, tensors[1], {point, i});
          scf::YieldOp::create(inner, loc, body(inner, loc, tap, state));
        },
        [&](OpBuilder &inner, Location loc) {
          scf::YieldOp::create(inner, loc, state);
        });
    return Value(ifOp.getResult(0));
  };
  return loop(builder, loc, zero, degree, state, tapBody);
}

Value PsiTaps::forEachTap(OpBuilder &builder, Location loc, ValueRange point,
                          Value state, Body body) const {
  switch (storage.getForm()) {
  case StorageForm::arcs:
    return forEachArcTap(builder, loc, point, state, body);
  case StorageForm::csr:
    return forEachCsrTap(builder, loc, point.front(), state, body);
  case StorageForm::table:
  case StorageForm::onehot:
    return forEachTableTap(builder, loc, point.front(), state, body);
  }
  llvm_unreachable("unknown storage form");
}

Value PsiTaps::loadValue(OpBuilder &builder, Location loc, const Tap &tap,
                         Value k, Type accumulator) const {
  SmallVector<Value> indices(tap.valuePrefix);
  indices.push_back(k);
  return extractFloat(builder, loc, tensors.back(), indices, accumulator);
}
