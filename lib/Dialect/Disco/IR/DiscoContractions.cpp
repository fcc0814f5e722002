//===- DiscoContractions.cpp - the four contractions ----------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BytecodeVersion.h"
#include "disco/Dialect/Disco/Disco.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::disco;

//===----------------------------------------------------------------------===//
// Psi operands: `%psi`, or `(%offsets, %arcs, %values)` after materialisation
//===----------------------------------------------------------------------===//

static ParseResult
parsePsiOperands(OpAsmParser &parser,
                 SmallVectorImpl<OpAsmParser::UnresolvedOperand> &psi) {
  if (succeeded(parser.parseOptionalLParen()))
    return failure(parser.parseOperandList(psi) || parser.parseRParen());
  return parser.parseOperand(psi.emplace_back());
}

static void printPsiOperands(OpAsmPrinter &printer, Operation *,
                             OperandRange psi) {
  if (psi.size() == 1)
    printer << psi.front();
  else
    printer << '(' << psi << ')';
}

PsiType mlir::disco::detail::getPsiType(StorageAttr storage, OperandRange psi) {
  if (storage)
    return storage.getPsi();
  return psi.size() == 1 ? dyn_cast<PsiType>(psi.front().getType()) : PsiType();
}

//===----------------------------------------------------------------------===//
// Rules that the contractions share
//===----------------------------------------------------------------------===//

static std::string formatTensorShape(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(
      shape, os,
      [&](int64_t size) {
        if (ShapedType::isDynamic(size))
          os << '?';
        else
          os << size;
      },
      "x");
  return text;
}

/// Whether all but the first dimension is static.
static bool hasStaticTail(RankedTensorType type) {
  return llvm::none_of(type.getShape().drop_front(), ShapedType::isDynamic);
}

/// `prefix` and the points behind it.
static SmallVector<int64_t> joinShape(ArrayRef<int64_t> prefix,
                                      ArrayRef<int64_t> points) {
  SmallVector<int64_t> shape(prefix);
  llvm::append_range(shape, points);
  return shape;
}

/// Shape of tensor `index` of a storage; -1 is any size.
static SmallVector<int64_t> getStorageShape(StorageAttr storage,
                                            unsigned index) {
  int64_t rows = storage.getNumRows(),
          numBasis = storage.getPsi().getNumBasis();
  int64_t degree = storage.getPsi().getDegree(), any = -1;
  switch (storage.getForm()) {
  case StorageForm::arcs:
    return index == 0   ? SmallVector<int64_t>{rows + 1}
           : index == 1 ? SmallVector<int64_t>{any, 4}
                        : SmallVector<int64_t>{any, numBasis};
  case StorageForm::csr:
    return index == 0   ? SmallVector<int64_t>{rows + 1}
           : index == 1 ? SmallVector<int64_t>{any}
                        : SmallVector<int64_t>{any, numBasis};
  case StorageForm::table:
    return index == 0 ? SmallVector<int64_t>{rows, degree}
                      : SmallVector<int64_t>{rows, degree, numBasis};
  case StorageForm::onehot:
    return {rows, degree};
  }
  llvm_unreachable("unknown storage form");
}

/// C3: one psi value without storage, or the tensors of the storage.
static LogicalResult verifyPsi(ContractionOpInterface op) {
  OperandRange psi = op.getPsiMutable();
  StorageAttr storage = op.getStorageAttr();
  if (!storage) {
    if (psi.size() != 1)
      return op->emitOpError()
             << "expected psi without storage to be 1 value, but got "
             << psi.size();
    if (!isa<PsiType>(psi.front().getType()))
      return op->emitOpError()
             << "expected psi without storage to be a psi value, but got "
             << psi.front().getType();
    return success();
  }
  unsigned numTensors = storage.getNumTensors();
  if (psi.size() != numTensors)
    return op->emitOpError()
           << "expected storage " << stringifyStorageForm(storage.getForm())
           << " to have " << numTensors << " tensors, but got " << psi.size();
  for (unsigned i = 0; i < numTensors; ++i) {
    auto type = dyn_cast<RankedTensorType>(psi[i].getType());
    SmallVector<int64_t> shape = getStorageShape(storage, i);
    bool matches =
        type && type.getRank() == static_cast<int64_t>(shape.size()) &&
        llvm::all_of(llvm::zip_equal(type.getShape(), shape), [](auto pair) {
          auto [size, expected] = pair;
          return expected < 0 || size == expected;
        });
    if (!matches) {
      for (int64_t &size : shape)
        size = size < 0 ? ShapedType::kDynamic : size;
      return op->emitOpError()
             << "expected the shape of storage tensor " << i << " to be "
             << formatTensorShape(shape) << ", but got " << psi[i].getType();
    }
    bool isValues =
        i == numTensors - 1 && storage.getForm() != StorageForm::onehot;
    if (isa<FloatType>(type.getElementType()) != isValues)
      return op->emitOpError()
             << "expected the elements of storage tensor " << i << " to be "
             << (isValues ? "floats" : "i32 or i64") << ", but got "
             << type.getElementType();
    if (storage.getForm() == StorageForm::arcs && !isValues &&
        !type.getElementType().isInteger(32))
      return op->emitOpError()
             << "expected the elements of storage tensor " << i
             << " to be i32, but got " << type.getElementType();
  }
  return success();
}

/// C1 and C2 of every contraction: `name` is [batch, `prefix`..., points].
static LogicalResult verifyActivations(ContractionOpInterface op,
                                       StringRef name, StringRef layout,
                                       int64_t prefixRank) {
  auto type = op.getActivations().getType();
  PsiType psi = op.getPsiType();
  int64_t rank = prefixRank + psi.getInShape().size();
  // C1
  if (type.getRank() != rank)
    return op->emitOpError() << "expected " << name << " to be " << layout
                             << " of rank " << rank << ", but got " << type;
  if (!hasStaticTail(type))
    return op->emitOpError()
           << "expected " << name
           << " to be static in all dimensions but the batch, but got " << type;
  // C2
  if (type.getShape().drop_front(prefixRank) != psi.getInShape())
    return op->emitOpError()
           << "expected the points of " << name << " to be the input "
           << PsiType::formatShape(psi.getInShape()) << " of psi, but got "
           << formatTensorShape(type.getShape().drop_front(prefixRank));
  return success();
}

/// The layouts of a contraction's plan, nchw without one.
static std::pair<Layout, Layout> getLayouts(PlanAttr plan) {
  return plan ? std::pair(plan.getInLayout(), plan.getOutLayout())
              : std::pair(Layout::nchw, Layout::nchw);
}

/// C1 and C2 of packed activations, whose number of channels is known from the
/// weight: `type` is the physical shape of `channels` channels.
static LogicalResult verifyPacked(ContractionOpInterface op, StringRef name,
                                  Layout layout, int64_t channels) {
  auto type = op.getActivations().getType();
  SmallVector<int64_t> shape = getPhysicalShape(
      layout, ShapedType::kDynamic, channels, op.getPsiType().getInShape());
  if (type.getRank() == static_cast<int64_t>(shape.size()) &&
      type.getShape().drop_front() == ArrayRef(shape).drop_front())
    return success();
  return op->emitOpError() << "expected " << name << " in layout "
                           << stringifyLayout(layout) << " to be "
                           << RankedTensorType::get(shape,
                                                    type.getElementType())
                           << ", but got " << type;
}

/// The number of channels of x after C1 and C2 hold. `weight` is [O, C/groups,
/// K]; of packed activations it says how many channels there are.
static FailureOr<int64_t> verifyInput(ContractionOpInterface op,
                                      RankedTensorType weight, StringRef name,
                                      Layout layout, int64_t groups) {
  if (layout == Layout::nchw) {
    if (failed(verifyActivations(op, "x", "[batch, channels, points...]", 2)))
      return failure();
    return op.getActivations().getType().getDimSize(1);
  }
  if (groups < 1)
    return op->emitOpError()
           << "expected groups to be positive, but got " << groups;
  if (weight.getRank() != 3 || !weight.hasStaticShape())
    return op->emitOpError()
           << "expected " << name << " to be a static [O, C/groups, "
           << op.getPsiType().getNumBasis() << "], but got " << weight;
  int64_t channels = weight.getDimSize(1) * groups;
  if (failed(verifyPacked(op, "x", layout, channels)))
    return failure();
  return channels;
}

/// C5 of contract, C6 of contract_sum: features are in nchw, and tell packed
/// channels from padding.
static LogicalResult verifyFeatures(Operation *op, Layout layout) {
  if (layout == Layout::nchw)
    return success();
  return op->emitOpError() << "expected the layout of z to be nchw, but got "
                           << stringifyLayout(layout);
}

/// The result has `shape` and `elementType`; a dynamic batch matches any.
static LogicalResult verifyTensor(Operation *op, StringRef name,
                                  RankedTensorType type,
                                  ArrayRef<int64_t> shape, Type elementType) {
  bool matches =
      type.getElementType() == elementType &&
      type.getRank() == static_cast<int64_t>(shape.size()) &&
      llvm::all_of(llvm::enumerate(llvm::zip_equal(type.getShape(), shape)),
                   [](auto item) {
                     auto [size, expected] = item.value();
                     return size == expected ||
                            (item.index() == 0 &&
                             (ShapedType::isDynamic(size) ||
                              ShapedType::isDynamic(expected)));
                   });
  if (matches)
    return success();
  return op->emitOpError() << "expected " << name << " to be "
                           << RankedTensorType::get(shape, elementType)
                           << ", but got " << type;
}

/// C4 of conv and its weight gradient.
static LogicalResult verifyGroups(Operation *op, int64_t groups,
                                  int64_t channels) {
  if (groups < 1)
    return op->emitOpError()
           << "expected groups to be positive, but got " << groups;
  if (channels % groups != 0)
    return op->emitOpError() << "expected groups to divide the " << channels
                             << " input channels, but got " << groups;
  return success();
}

static LogicalResult verifyOutputGroups(Operation *op, int64_t groups,
                                        int64_t channels) {
  if (channels % groups != 0)
    return op->emitOpError() << "expected groups to divide the " << channels
                             << " output channels, but got " << groups;
  return success();
}

static LogicalResult verifyParameterType(Operation *op, StringRef name,
                                         Type type, Type elementType) {
  if (type == elementType || type.isF32())
    return success();
  auto diag = op->emitOpError() << "expected the elements of " << name
                                << " to be " << elementType;
  if (!elementType.isF32())
    diag << " or f32";
  return diag << ", but got " << type;
}

/// C10 of conv, C8 of its weight gradient.
static LogicalResult verifyPrecision(Operation *op, Precision precision,
                                     Type elementType) {
  if (precision == Precision::ieee || elementType.isF32())
    return success();
  return op->emitOpError() << "expected the precision of " << elementType
                           << " to be ieee, but got "
                           << stringifyPrecision(precision);
}

//===----------------------------------------------------------------------===//
// Shape inference
//===----------------------------------------------------------------------===//

/// The psi type and the activations of a contraction that is being built, or
/// null types when its operands are not valid.
template <typename Adaptor>
static std::pair<PsiType, RankedTensorType> getBuildTypes(Adaptor adaptor,
                                                          Value activations) {
  PsiType psi;
  if (StorageAttr storage = adaptor.getStorageAttr())
    psi = storage.getPsi();
  else if (adaptor.getPsi().size() == 1)
    psi = dyn_cast<PsiType>(adaptor.getPsi().front().getType());
  auto type = dyn_cast<RankedTensorType>(activations.getType());
  if (!psi || !type ||
      type.getRank() < 2 + static_cast<int64_t>(psi.getInShape().size()))
    return {};
  return {psi, type};
}

LogicalResult
ContractOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                             ValueRange operands, DictionaryAttr attributes,
                             OpaqueProperties properties, RegionRange regions,
                             SmallVectorImpl<Type> &types) {
  Adaptor adaptor(operands, attributes, properties, regions);
  auto [psi, x] = getBuildTypes(adaptor, adaptor.getX());
  if (!psi)
    return failure();
  // Of c8 it is not known which of the last channels are padding: all count.
  Layout layout = getLayouts(adaptor.getPlanAttr()).first;
  int64_t channels = layout == Layout::nhwc ? x.getShape().back()
                     : layout == Layout::c8 ? x.getDimSize(1) * 8
                                            : x.getDimSize(1);
  types.push_back(x.clone(joinShape(
      {x.getDimSize(0), channels, psi.getNumBasis()}, psi.getOutShape())));
  return success();
}

LogicalResult ContractSumOp::inferReturnTypes(
    MLIRContext *, std::optional<Location>, ValueRange operands,
    DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
    SmallVectorImpl<Type> &types) {
  Adaptor adaptor(operands, attributes, properties, regions);
  auto [psi, z] = getBuildTypes(adaptor, adaptor.getZ());
  if (!psi)
    return failure();
  types.push_back(z.clone(
      getPhysicalShape(getLayouts(adaptor.getPlanAttr()).second,
                       z.getDimSize(0), z.getDimSize(1), psi.getOutShape())));
  return success();
}

/// Whether x and the weight are one operand each, which the generic form can
/// get wrong.
static bool hasInputAndWeight(const ConvOp::Properties &properties) {
  return properties.operandSegmentSizes[0] == 1 &&
         properties.operandSegmentSizes[2] == 1;
}

LogicalResult ConvOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                       ValueRange operands,
                                       DictionaryAttr attributes,
                                       OpaqueProperties properties,
                                       RegionRange regions,
                                       SmallVectorImpl<Type> &types) {
  if (!hasInputAndWeight(*properties.as<Properties *>()))
    return failure();
  Adaptor adaptor(operands, attributes, properties, regions);
  auto [psi, x] = getBuildTypes(adaptor, adaptor.getX());
  auto weight = dyn_cast<RankedTensorType>(adaptor.getWeight().getType());
  if (!psi || !weight || weight.getRank() != 3)
    return failure();
  types.push_back(x.clone(getPhysicalShape(
      getLayouts(adaptor.getPlanAttr()).second, x.getDimSize(0),
      weight.getDimSize(0), psi.getOutShape())));
  return success();
}

/// Only the batch can be dynamic, and it is that of the activations.
static LogicalResult reifyBatch(OpBuilder &builder, ContractionOpInterface op,
                                ReifiedRankedShapedTypeDims &dims) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<OpFoldResult> &sizes = dims.emplace_back();
  for (int64_t size : type.getShape())
    sizes.push_back(builder.getIndexAttr(size));
  if (type.isDynamicDim(0))
    sizes.front() =
        tensor::getMixedSize(builder, op.getLoc(), op.getActivations(), 0);
  return success();
}

LogicalResult ContractOp::reifyResultShapes(OpBuilder &builder,
                                            ReifiedRankedShapedTypeDims &dims) {
  return reifyBatch(builder, *this, dims);
}
LogicalResult
ContractSumOp::reifyResultShapes(OpBuilder &builder,
                                 ReifiedRankedShapedTypeDims &dims) {
  return reifyBatch(builder, *this, dims);
}
LogicalResult ConvOp::reifyResultShapes(OpBuilder &builder,
                                        ReifiedRankedShapedTypeDims &dims) {
  return reifyBatch(builder, *this, dims);
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

LogicalResult ContractOp::verify() {
  auto [inLayout, outLayout] = getLayouts(getPlanAttr());
  // C3, first: the other rules need the type of psi. C5
  if (failed(verifyPsi(*this)) || failed(verifyFeatures(*this, outLayout)))
    return failure();
  auto x = getX().getType();
  auto z = getZ().getType();
  PsiType psi = getPsiType();
  // C1, C2
  bool isPacked =
      inLayout != Layout::nchw && z.getRank() > 1 && !z.isDynamicDim(1);
  if (isPacked ? failed(verifyPacked(*this, "x", inLayout, z.getDimSize(1)))
               : failed(verifyActivations(*this, "x",
                                          "[batch, channels, points...]", 2)))
    return failure();
  // C4
  int64_t channels = isPacked ? z.getDimSize(1) : x.getDimSize(1);
  return verifyTensor(*this, "the result", z,
                      joinShape({x.getDimSize(0), channels, psi.getNumBasis()},
                                psi.getOutShape()),
                      x.getElementType());
}

LogicalResult ContractSumOp::verify() {
  // C3, C1, C2
  if (failed(verifyPsi(*this)) ||
      failed(
          verifyActivations(*this, "z", "[batch, channels, K, points...]", 3)))
    return failure();
  // C4
  auto z = getZ().getType();
  PsiType psi = getPsiType();
  if (z.getDimSize(2) != psi.getNumBasis())
    return emitOpError() << "expected z to have the " << psi.getNumBasis()
                         << " features of psi, but got " << z.getDimSize(2);
  // C6
  auto [inLayout, outLayout] = getLayouts(getPlanAttr());
  if (failed(verifyFeatures(*this, inLayout)))
    return failure();
  // C5
  return verifyTensor(*this, "the result", getY().getType(),
                      getPhysicalShape(outLayout, z.getDimSize(0),
                                       z.getDimSize(1), psi.getOutShape()),
                      z.getElementType());
}

LogicalResult ConvOp::verify() {
  if (!hasInputAndWeight(getProperties()))
    return emitOpError() << "expected 1 x and 1 weight, but got "
                         << getProperties().operandSegmentSizes[0] << " and "
                         << getProperties().operandSegmentSizes[2];
  auto x = getX().getType();
  auto weight = getWeight().getType();
  auto [inLayout, outLayout] = getLayouts(getPlanAttr());
  int64_t groups = getGroups();
  // C3, C1, C2
  if (failed(verifyPsi(*this)))
    return failure();
  FailureOr<int64_t> inChannels =
      verifyInput(*this, weight, "the weight", inLayout, groups);
  if (failed(inChannels))
    return failure();
  PsiType psi = getPsiType();
  // C4
  if (failed(verifyGroups(*this, groups, *inChannels)))
    return failure();
  // C5
  if (weight.getRank() != 3 || !weight.hasStaticShape() ||
      weight.getDimSize(1) != *inChannels / groups ||
      weight.getDimSize(2) != psi.getNumBasis())
    return emitOpError() << "expected the weight to be a static [O, "
                         << *inChannels / groups << ", " << psi.getNumBasis()
                         << "], but got " << weight;
  int64_t channels = weight.getDimSize(0);
  if (failed(verifyOutputGroups(*this, groups, channels)))
    return failure();
  // C7
  if (failed(verifyParameterType(*this, "the weight", weight.getElementType(),
                                 x.getElementType())))
    return failure();
  if (getBias()) {
    auto bias = cast<RankedTensorType>(getBias().getType());
    if (failed(verifyParameterType(*this, "the bias", bias.getElementType(),
                                   x.getElementType())))
      return failure();
    // C6
    if (bias.getShape() != ArrayRef<int64_t>{channels})
      return emitOpError() << "expected the bias to have shape " << channels
                           << ", but got " << bias;
  }
  // C9
  if (failed(verifyTensor(*this, "the result", getY().getType(),
                          getPhysicalShape(outLayout, x.getDimSize(0), channels,
                                           psi.getOutShape()),
                          x.getElementType())))
    return failure();
  // C8
  if (getResidual() && getResidual().getType() != getY().getType())
    return emitOpError() << "expected the residual to have the result's type "
                         << getY().getType() << ", but got "
                         << getResidual().getType();
  // C10
  return verifyPrecision(*this, getPrecision(), x.getElementType());
}

LogicalResult ConvWeightGradOp::verify() {
  auto x = getX().getType();
  auto gy = getGy().getType();
  auto weightGrad = getWeightGrad().getType();
  auto [inLayout, outLayout] = getLayouts(getPlanAttr());
  int64_t groups = getGroups();
  // C3, C1, C2
  if (failed(verifyPsi(*this)))
    return failure();
  FailureOr<int64_t> inChannels =
      verifyInput(*this, weightGrad, "the weight gradient", inLayout, groups);
  if (failed(inChannels))
    return failure();
  PsiType psi = getPsiType();
  // C4
  if (failed(verifyGroups(*this, groups, *inChannels)))
    return failure();
  // C5
  if (outLayout == Layout::nchw) {
    int64_t rank = 2 + psi.getOutShape().size();
    if (gy.getRank() != rank)
      return emitOpError()
             << "expected gy to be [batch, channels, points...] of rank "
             << rank << ", but got " << gy;
    if (!hasStaticTail(gy))
      return emitOpError() << "expected gy to be static in all dimensions but "
                              "the batch, but got "
                           << gy;
  }
  int64_t channels =
      outLayout == Layout::nchw ? gy.getDimSize(1) : weightGrad.getDimSize(0);
  if (failed(verifyTensor(*this, "gy", gy,
                          getPhysicalShape(outLayout, x.getDimSize(0), channels,
                                           psi.getOutShape()),
                          x.getElementType())) ||
      failed(verifyOutputGroups(*this, groups, channels)))
    return failure();
  // C7
  if (failed(verifyParameterType(*this, "the weight gradient",
                                 weightGrad.getElementType(),
                                 x.getElementType())))
    return failure();
  // C6
  SmallVector<int64_t> weightShape{channels, *inChannels / groups,
                                   psi.getNumBasis()};
  if (weightGrad.getShape() != ArrayRef<int64_t>(weightShape))
    return emitOpError() << "expected the weight gradient to have shape "
                         << formatTensorShape(weightShape) << ", but got "
                         << weightGrad;
  // C8
  if (failed(verifyPrecision(*this, getPrecision(), x.getElementType())))
    return failure();
  if (!getBiasGrad())
    return success();
  auto biasGrad = cast<RankedTensorType>(getBiasGrad().getType());
  if (failed(verifyParameterType(*this, "the bias gradient",
                                 biasGrad.getElementType(),
                                 x.getElementType())))
    return failure();
  if (biasGrad.getShape() != ArrayRef<int64_t>{channels})
    return emitOpError() << "expected the bias gradient to have shape "
                         << channels << ", but got " << biasGrad;
  return success();
}

//===----------------------------------------------------------------------===//
// Bytecode: the attributes in the order of their names, version 2's last
//===----------------------------------------------------------------------===//

// Segment sizes became native in version 6 of MLIR's encoding.
static constexpr uint64_t nativeSegmentSizes = 6;

LogicalResult ConvOp::readProperties(DialectBytecodeReader &reader,
                                     OperationState &state) {
  auto &prop = state.getOrAddProperties<Properties>();
  if (failed(reader.readOptionalAttribute(prop.activation)) ||
      failed(reader.readOptionalAttribute(prop.groups)))
    return failure();
  MutableArrayRef<int32_t> sizes(prop.operandSegmentSizes);
  bool isNative = reader.getBytecodeVersion() >= nativeSegmentSizes;
  if (!isNative) {
    DenseI32ArrayAttr attr;
    if (failed(reader.readAttribute(attr)))
      return failure();
    if (attr.size() > static_cast<int64_t>(sizes.size()))
      return reader.emitError("size mismatch for operand/result_segment_size");
    llvm::copy(attr.asArrayRef(), sizes.begin());
  }
  if (failed(reader.readOptionalAttribute(prop.plan)) ||
      failed(reader.readOptionalAttribute(prop.storage)) ||
      (isNative && failed(reader.readSparseArray(sizes))))
    return failure();
  return getVersion(reader) < 2 ? success()
                                : reader.readOptionalAttribute(prop.precision);
}

void ConvOp::writeProperties(DialectBytecodeWriter &writer) {
  const Properties &prop = getProperties();
  writer.writeOptionalAttribute(prop.activation);
  writer.writeOptionalAttribute(prop.groups);
  ArrayRef<int32_t> sizes(prop.operandSegmentSizes);
  bool isNative =
      writer.getBytecodeVersion() >= static_cast<int64_t>(nativeSegmentSizes);
  if (!isNative)
    writer.writeAttribute(DenseI32ArrayAttr::get(getContext(), sizes));
  writer.writeOptionalAttribute(prop.plan);
  writer.writeOptionalAttribute(prop.storage);
  if (isNative)
    writer.writeSparseArray(sizes);
  writer.writeOptionalAttribute(prop.precision);
}

LogicalResult ConvWeightGradOp::readProperties(DialectBytecodeReader &reader,
                                               OperationState &state) {
  auto &prop = state.getOrAddProperties<Properties>();
  if (failed(reader.readOptionalAttribute(prop.groups)) ||
      failed(reader.readOptionalAttribute(prop.plan)) ||
      failed(reader.readOptionalAttribute(prop.storage)))
    return failure();
  if (getVersion(reader) < 2)
    return success();
  return failure(failed(reader.readOptionalAttribute(prop.deterministic)) ||
                 failed(reader.readOptionalAttribute(prop.precision)));
}

void ConvWeightGradOp::writeProperties(DialectBytecodeWriter &writer) {
  const Properties &prop = getProperties();
  writer.writeOptionalAttribute(prop.groups);
  writer.writeOptionalAttribute(prop.plan);
  writer.writeOptionalAttribute(prop.storage);
  writer.writeOptionalAttribute(prop.deterministic);
  writer.writeOptionalAttribute(prop.precision);
}

#define GET_OP_CLASSES
#include "disco/Dialect/Disco/DiscoOps.cpp.inc"
