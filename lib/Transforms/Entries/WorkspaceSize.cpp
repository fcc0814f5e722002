//===- WorkspaceSize.cpp - sizes of buffers as arithmetic -----------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WorkspaceSize.h"

#include "disco/ABI/disco.h"
#include "disco/Dialect/Disco/Disco.h"
#include "disco/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::disco;

/// Whether `value` can be computed from the dimensions of the first `numInputs`
/// arguments of `entry`; else `culprit` is what cannot be.
static bool isShapeFunction(Value value, func::FuncOp entry, unsigned numInputs,
                            Value &culprit) {
  Operation *op = value.getDefiningOp();
  culprit = value;
  if (!op)
    return false;
  if (auto dim = dyn_cast<memref::DimOp>(op)) {
    auto argument = dyn_cast<BlockArgument>(dim.getSource());
    return argument && argument.getOwner() == &entry.front() &&
           argument.getArgNumber() < numInputs &&
           isShapeFunction(dim.getIndex(), entry, numInputs, culprit);
  }
  if (op->getNumRegions() != 0 || !isPure(op) ||
      !llvm::all_of(op->getOperandTypes(),
                    [](Type type) { return type.isIntOrIndex(); }))
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    return isShapeFunction(operand, entry, numInputs, culprit);
  });
}

FailureOr<BufferSize> BufferSize::compute(memref::AllocOp alloc,
                                          func::FuncOp entry) {
  MemRefType type = alloc.getType();
  Type element = type.getElementType();
  if (!type.getLayout().isIdentity() || !element.isIntOrIndexOrFloat())
    return alloc.emitOpError() << "expected a buffer of the workspace to be "
                                  "dense numbers, but got "
                               << type;
  unsigned bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  BufferSize size;
  size.staticBytes = llvm::divideCeil(bits, 8);
  for (int64_t dim : type.getShape())
    if (!ShapedType::isDynamic(dim) &&
        llvm::MulOverflow(size.staticBytes, dim, size.staticBytes))
      return alloc.emitOpError() << "expected the size of a buffer to fit into "
                                    "64 bits, but got "
                                 << type;
  auto info = entry->getAttrOfType<DictionaryAttr>(kEntryAttr);
  unsigned numInputs = info.getAs<ArrayAttr>("inputs").size();
  for (Value dim : alloc.getDynamicSizes()) {
    Value culprit;
    if (!isShapeFunction(dim, entry, numInputs, culprit)) {
      InFlightDiagnostic diag =
          alloc.emitOpError()
          << "expected the size of a buffer to be a function of the inputs' "
             "dimensions, but got a size that depends on something else";
      diag.attachNote(culprit.getLoc()) << "which is here";
      return failure();
    }
    size.dims.push_back(dim);
  }
  return size;
}

bool BufferSize::isKernelWorkspace() const {
  return dims.size() == 1 && dims.front().getDefiningOp<KernelWorkspaceOp>();
}

SizeEmitter::SizeEmitter(OpBuilder &builder, Location loc, func::FuncOp entry,
                         Block &target)
    : builder(builder), loc(loc) {
  for (auto [from, to] : llvm::zip(entry.getArguments(), target.getArguments()))
    mapping.map(from, to);
  overflow = refusal = arith::ConstantIntOp::create(builder, loc, 0, 1);
}

Value SizeEmitter::constant(int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, value, 64);
}

Value SizeEmitter::cloneIndex(Value value) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    cloneIndex(operand);
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}

SmallVector<Value> SizeEmitter::emitDims(const BufferSize &size) {
  return llvm::map_to_vector(size.dims,
                             [&](Value dim) { return cloneIndex(dim); });
}

void SizeEmitter::noteOverflow(Value flag) {
  overflow = arith::OrIOp::create(builder, loc, overflow, flag);
}

/// Both factors are not negative: so is the lower half of the product, and the
/// upper half is zero, unless it overflows.
Value SizeEmitter::multiply(Value a, Value b) {
  auto product = arith::MulSIExtendedOp::create(builder, loc, a, b);
  Value zero = constant(0);
  noteOverflow(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                     product.getHigh(), zero));
  noteOverflow(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                     product.getLow(), zero));
  return product.getLow();
}

Value SizeEmitter::add(Value a, Value b) {
  Value sum = arith::AddIOp::create(builder, loc, a, b);
  noteOverflow(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                     sum, constant(0)));
  return sum;
}

Value SizeEmitter::emitSize(const BufferSize &size) {
  Value bytes = constant(size.staticBytes);
  for (Value dim : emitDims(size)) {
    Value factor =
        arith::IndexCastOp::create(builder, loc, builder.getI64Type(), dim);
    if (size.isKernelWorkspace())
      refusal = arith::OrIOp::create(
          builder, loc, refusal,
          arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, factor,
                                constant(0)));
    bytes = multiply(bytes, factor);
  }
  Value padded = add(bytes, constant(DISCO_ALIGNMENT - 1));
  return arith::AndIOp::create(builder, loc, padded,
                               constant(-DISCO_ALIGNMENT));
}

Value SizeEmitter::max(Value a, Value b) {
  return arith::MaxSIOp::create(builder, loc, a, b);
}

Value SizeEmitter::orFailure(Value value) {
  value = arith::SelectOp::create(builder, loc, overflow, constant(-1), value);
  return arith::SelectOp::create(builder, loc, refusal, constant(-2), value);
}
