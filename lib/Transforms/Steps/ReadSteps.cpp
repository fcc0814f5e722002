//===- ReadSteps.cpp - from a straight line of calls to steps -------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Transforms/Steps.h"

#include "../Instrument/Instrument.h"
#include "../Materialize/HostTensor.h"
#include "disco/Dialect/Disco/Matchers.h"
#include "disco/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::disco;

namespace {

class Reader {
public:
  explicit Reader(func::FuncOp entry)
      : entry(entry), info(entry->getAttrOfType<DictionaryAttr>(kEntryAttr)),
        numInputs(info.getAs<ArrayAttr>("inputs").size()) {}

  FailureOr<StepProgram> read();

private:
  LogicalResult readOp(Operation &op);
  LogicalResult readCall(KernelCallOp call);
  LogicalResult readRepack(Operation &op);
  LogicalResult readConversion(Operation &op);
  LogicalResult readPsi(KernelCallOp call, Step &step);
  LogicalResult readOutput(bufferization::MaterializeInDestinationOp op);
  LogicalResult checkBatch(KernelCallOp call, StringRef what, int32_t buffer,
                           Value value, bool isBatched);
  FailureOr<int32_t> getBuffer(KernelCallOp call, StringRef what, Value value);
  int32_t addBuffer(Type type, ArrayRef<int64_t> dims, int32_t kind,
                    int32_t index);
  void addResult(Step &step, int32_t operand, Value result,
                 std::optional<int64_t> batch);
  void assignSlots();

  SmallVector<int64_t> getDims(StringRef key, unsigned index) {
    ArrayRef<int64_t> dims =
        cast<DenseI64ArrayAttr>(info.getAs<ArrayAttr>(key)[index]).asArrayRef();
    return SmallVector<int64_t>(dims);
  }

  func::FuncOp entry;
  DictionaryAttr info;
  unsigned numInputs;
  StepProgram program;
  /// Tensors that are there, and constants by what they hold.
  DenseMap<Value, int32_t> buffers;
  DenseMap<Attribute, int32_t> constants;
};

} // namespace

/// The argument of the entry that a memref is, behind casts.
static BlockArgument getArgument(Value memref) {
  while (auto cast = memref.getDefiningOp<memref::CastOp>())
    memref = cast.getSource();
  return dyn_cast<BlockArgument>(memref);
}

int32_t Reader::addBuffer(Type type, ArrayRef<int64_t> dims, int32_t kind,
                          int32_t index) {
  program.buffers.push_back(
      {type, SmallVector<int64_t>(dims), kind, index, {}});
  return static_cast<int32_t>(program.buffers.size()) - 1;
}

/// The buffer of an operand of a call.
FailureOr<int32_t> Reader::getBuffer(KernelCallOp call, StringRef what,
                                     Value value) {
  if (auto found = buffers.find(value); found != buffers.end())
    return found->second;
  Attribute key = getConstant(value);
  if (key)
    if (auto found = constants.find(key); found != constants.end())
      return buffers[value] = found->second;
  std::optional<std::vector<char>> bytes = readConstantBytes(value);
  if (!bytes)
    return call.emitOpError()
           << "expected " << what
           << " to be an argument, a constant or the result of a kernel, but "
              "got a result of '"
           << value.getDefiningOp()->getName() << "'";
  auto type = cast<RankedTensorType>(value.getType());
  int32_t index = addBuffer(type.getElementType(), type.getShape(),
                            DISCO_BUFFER_CONSTANT, 0);
  program.buffers.back().data = std::move(*bytes);
  if (key)
    constants[key] = index;
  return buffers[value] = index;
}

LogicalResult Reader::readPsi(KernelCallOp call, Step &step) {
  SmallVector<int32_t> operands{DISCO_OPERAND_OFFSETS, DISCO_OPERAND_INDICES,
                                DISCO_OPERAND_VALUES};
  if (call.getPsi().size() == 2)
    operands.erase(operands.begin());
  for (auto [operand, value] : llvm::zip_equal(operands, call.getPsi())) {
    FailureOr<int32_t> buffer = getBuffer(call, "psi", value);
    if (failed(buffer))
      return failure();
    if (program.buffers[*buffer].kind != DISCO_BUFFER_CONSTANT)
      return call.emitOpError()
             << "expected psi to be constant, since its tables are packed "
                "before a GPU runs, but got tables that are known only when "
                "run";
    step.operands[operand] = *buffer;
  }
  return success();
}

/// A temporary for a result, until it turns out to be an output.
void Reader::addResult(Step &step, int32_t operand, Value result,
                       std::optional<int64_t> batch) {
  auto type = cast<RankedTensorType>(result.getType());
  SmallVector<int64_t> dims(type.getShape());
  if (batch)
    dims.front() = *batch;
  step.operands[operand] = buffers[result] =
      addBuffer(type.getElementType(), dims, DISCO_BUFFER_TEMPORARY, -1);
}

/// A reshape may not move elements between samples.
LogicalResult Reader::checkBatch(KernelCallOp call, StringRef what,
                                 int32_t buffer, Value value, bool isBatched) {
  if (!isBatched)
    return success();
  auto type = cast<RankedTensorType>(value.getType());
  ArrayRef<int64_t> dims = program.buffers[buffer].dims;
  auto countSample = [](ArrayRef<int64_t> sizes) {
    int64_t count = 1;
    for (int64_t size : sizes.drop_front())
      count = size < 0 ? -1 : count * size;
    return count;
  };
  if (!dims.empty() && countSample(dims) == countSample(type.getShape()))
    return success();
  return call.emitOpError() << "expected the samples of " << what
                            << " to be those of the tensor that it is a "
                               "reshape of, but got others";
}

LogicalResult Reader::readCall(KernelCallOp call) {
  Step step;
  step.location = getLocationText(call.getLoc());
  step.call = call.getCall();
  step.operands.fill(-1);
  struct Operand {
    int32_t operand;
    StringRef name;
    Value value;
    bool isBatched;
  };
  for (const Operand &o :
       {Operand{DISCO_OPERAND_X, "x", call.getX(), true},
        Operand{DISCO_OPERAND_GY, "gy", call.getGy(), true},
        Operand{DISCO_OPERAND_WEIGHT, "the weight", call.getWeight(), false},
        Operand{DISCO_OPERAND_BIAS, "the bias", call.getBias(), false},
        Operand{DISCO_OPERAND_RESIDUAL, "the residual", call.getResidual(),
                true}}) {
    if (!o.value)
      continue;
    FailureOr<int32_t> buffer = getBuffer(call, o.name, o.value);
    if (failed(buffer))
      return failure();
    if (failed(checkBatch(call, o.name, *buffer, o.value, o.isBatched)))
      return failure();
    step.operands[o.operand] = *buffer;
  }
  if (failed(readPsi(call, step)))
    return failure();
  bool isGradient = step.call.getKind() == KernelKind::conv_weight_grad;
  std::optional<int64_t> batch;
  if (!isGradient)
    batch = program.buffers[step.operands[DISCO_OPERAND_X]].dims.front();
  addResult(step, DISCO_OPERAND_Y, call.getResults().front(), batch);
  if (call.getResults().size() == 3)
    addResult(step, DISCO_OPERAND_GRAD_BIAS, call.getResults()[1],
              std::nullopt);
  program.steps.push_back(step);
  return success();
}

/// The layouts that an op of disco-assign-layout changes x from and to, and the
/// type in nchw; nothing for another op.
static std::optional<std::tuple<Layout, Layout, RankedTensorType>>
matchRepack(Operation &op) {
  int64_t rank = 0;
  // How c8 tiles nchw or nhwc; see LayoutOps.cpp.
  auto getOther = [&](ArrayRef<int64_t> positions, ArrayRef<int64_t> tiles,
                      ArrayRef<int64_t> order) -> std::optional<Layout> {
    if (tiles != ArrayRef<int64_t>{8})
      return std::nullopt;
    if (positions == ArrayRef<int64_t>{1} && order.empty())
      return Layout::nchw;
    SmallVector<int64_t> wanted{0, rank - 1};
    for (int64_t i = 1; i < rank - 1; ++i)
      wanted.push_back(i);
    return positions == ArrayRef<int64_t>{rank - 1} && order == ArrayRef(wanted)
               ? std::optional(Layout::nhwc)
               : std::nullopt;
  };
  auto toNchw = [](RankedTensorType type, Layout layout) {
    SmallVector<int64_t> shape(type.getShape());
    if (layout == Layout::nhwc)
      std::rotate(shape.begin() + 1, shape.end() - 1, shape.end());
    return RankedTensorType::get(shape, type.getElementType());
  };
  if (auto pack = dyn_cast<linalg::PackOp>(op)) {
    auto type = cast<RankedTensorType>(pack.getSource().getType());
    rank = type.getRank();
    std::optional<Layout> other =
        getOther(pack.getInnerDimsPos(), pack.getStaticInnerTiles(),
                 pack.getOuterDimsPerm());
    Attribute padding =
        pack.getPaddingValue() ? getConstant(pack.getPaddingValue()) : nullptr;
    auto value = dyn_cast_or_null<FloatAttr>(padding);
    bool isZero =
        !pack.getPaddingValue() || (value && value.getValue().isZero());
    if (!other || !isZero)
      return std::nullopt;
    return std::tuple(*other, Layout::c8, toNchw(type, *other));
  }
  if (auto unpack = dyn_cast<linalg::UnPackOp>(op)) {
    auto type = cast<RankedTensorType>(unpack.getDest().getType());
    rank = type.getRank();
    std::optional<Layout> other =
        getOther(unpack.getInnerDimsPos(), unpack.getStaticInnerTiles(),
                 unpack.getOuterDimsPerm());
    if (!other)
      return std::nullopt;
    return std::tuple(Layout::c8, *other, toNchw(type, *other));
  }
  auto transpose = dyn_cast<linalg::TransposeOp>(op);
  if (!transpose)
    return std::nullopt;
  auto type = cast<RankedTensorType>(transpose.getInput().getType());
  rank = type.getRank();
  SmallVector<int64_t> order{0};
  for (int64_t i = 2; i < rank; ++i)
    order.push_back(i);
  order.push_back(1);
  if (rank < 3)
    return std::nullopt;
  if (transpose.getPermutation() == ArrayRef(order))
    return std::tuple(Layout::nchw, Layout::nhwc, type);
  order.assign({0, rank - 1});
  for (int64_t i = 1; i < rank - 1; ++i)
    order.push_back(i);
  if (transpose.getPermutation() == ArrayRef(order))
    return std::tuple(Layout::nhwc, Layout::nchw, toNchw(type, Layout::nhwc));
  return std::nullopt;
}

LogicalResult Reader::readRepack(Operation &op) {
  auto [from, to, type] = *matchRepack(op);
  auto x = buffers.find(op.getOperand(0));
  if (x == buffers.end())
    return op.emitOpError()
           << "expected a tensor that changes its layout to be "
              "an argument or the result of a kernel, but got "
              "another";
  Step step;
  step.location = getLocationText(op.getLoc());
  step.operands.fill(-1);
  step.operands[DISCO_OPERAND_X] = x->second;
  int64_t points = 1;
  for (int64_t size : type.getShape().drop_front(2))
    points *= size;
  disco_dtype dtype = *getRuntimeDType(type.getElementType());
  step.repack = {sizeof(disco_repack),
                 static_cast<int32_t>(from),
                 static_cast<int32_t>(to),
                 dtype,
                 dtype,
                 type.getDimSize(1),
                 points};
  addResult(step, DISCO_OPERAND_Y, op.getResult(0),
            program.buffers[x->second].dims.front());
  program.steps.push_back(step);
  return success();
}

/// Whether an op converts the elements of a tensor to or from f32, and does
/// nothing else.
static bool isConversion(Operation &op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || generic.getNumDpsInputs() != 1 ||
      generic.getNumDpsInits() != 1 ||
      generic.getNumLoops() != generic.getNumParallelLoops() ||
      generic.getNumLoops() == 0 ||
      !llvm::all_of(generic.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isIdentity(); }))
    return false;
  Block &body = generic.getRegion().front();
  if (!llvm::hasNItems(body, 2) ||
      !isa<arith::ExtFOp, arith::TruncFOp>(body.front()))
    return false;
  Operation &convert = body.front();
  return convert.getOperand(0) == body.getArgument(0) &&
         body.getTerminator()->getOperand(0) == convert.getResult(0) &&
         (convert.getOperand(0).getType().isF32() ||
          convert.getResult(0).getType().isF32());
}

LogicalResult Reader::readConversion(Operation &op) {
  auto x = buffers.find(op.getOperand(0));
  if (x == buffers.end())
    return op.emitOpError() << "expected a tensor that changes its type to be "
                               "an argument or the result of a kernel, but "
                               "got another";
  Type element =
      cast<RankedTensorType>(op.getResult(0).getType()).getElementType();
  // The result has the sizes of the buffer, of which x may be a reshape.
  StepBuffer from = program.buffers[x->second];
  if (from.dims.empty())
    return op.emitOpError() << "expected a tensor that changes its type to "
                               "have a dimension, but got a reshape of one "
                               "that has none";
  int64_t points = 1;
  for (int64_t size : ArrayRef<int64_t>(from.dims).drop_front()) {
    if (size < 0)
      return op.emitOpError()
             << "expected a tensor that changes its type to have one dynamic "
                "size, the first, but got another";
    points *= size;
  }
  Step step;
  step.location = getLocationText(op.getLoc());
  step.operands.fill(-1);
  step.operands[DISCO_OPERAND_X] = x->second;
  step.repack = {sizeof(disco_repack),
                 DISCO_NCHW,
                 DISCO_NCHW,
                 *getRuntimeDType(from.element),
                 *getRuntimeDType(element),
                 1,
                 points};
  step.operands[DISCO_OPERAND_Y] = buffers[op.getResult(0)] =
      addBuffer(element, from.dims, DISCO_BUFFER_TEMPORARY, -1);
  program.steps.push_back(step);
  return success();
}

LogicalResult Reader::readOutput(bufferization::MaterializeInDestinationOp op) {
  unsigned output = getArgument(op.getDest()).getArgNumber() - numInputs;
  auto found = buffers.find(op.getSource());
  int32_t kind = found == buffers.end() ? DISCO_BUFFER_CONSTANT
                                        : program.buffers[found->second].kind;
  if (kind != DISCO_BUFFER_TEMPORARY)
    return entry.emitOpError()
           << "expected result " << output
           << " to be computed by a kernel, but got "
           << (kind == DISCO_BUFFER_INPUT    ? "an argument"
               : kind == DISCO_BUFFER_OUTPUT ? "another result"
                                             : "a constant");
  StepBuffer &buffer = program.buffers[found->second];
  SmallVector<int64_t> dims = getDims("output_dims", output);
  if (buffer.dims.size() != dims.size() ||
      (!dims.empty() && buffer.dims.front() != dims.front()))
    return entry.emitOpError()
           << "expected the batch of result " << output
           << " to be that of the kernel that computes it, but got another";
  buffer.kind = DISCO_BUFFER_OUTPUT;
  buffer.index = static_cast<int32_t>(output);
  buffer.dims = std::move(dims);
  return success();
}

LogicalResult Reader::readOp(Operation &op) {
  if (auto call = dyn_cast<KernelCallOp>(op))
    return readCall(call);
  if (auto output = dyn_cast<bufferization::MaterializeInDestinationOp>(op))
    return readOutput(output);
  if (auto input = dyn_cast<bufferization::ToTensorOp>(op))
    if (BlockArgument argument = getArgument(input.getBuffer())) {
      unsigned index = argument.getArgNumber();
      auto type = cast<RankedTensorType>(input.getType());
      buffers[input.getResult()] =
          addBuffer(type.getElementType(), getDims("input_dims", index),
                    DISCO_BUFFER_INPUT, static_cast<int32_t>(index));
      return success();
    }
  // The same memory in another shape: kernels count elements.
  if (isa<tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op)) {
    auto found = buffers.find(op.getOperand(0));
    if (found != buffers.end())
      buffers[op.getResult(0)] = found->second;
    return success();
  }
  if (matchRepack(op) && !readConstantBytes(op.getResult(0)))
    return readRepack(op);
  if (isConversion(op) && !readConstantBytes(op.getResult(0)))
    return readConversion(op);
  // Sizes, and what is looked at when a call reads it.
  bool isTensor = llvm::any_of(op.getResultTypes(), llvm::IsaPred<TensorType>);
  if (isa<func::ReturnOp, tensor::EmptyOp>(op) || (!isTensor && isPure(&op)) ||
      (op.getNumResults() == 1 &&
       (getConstant(op.getResult(0)) || readConstantBytes(op.getResult(0)))))
    return success();
  return op.emitOpError() << "expected operations of an entry for a GPU to be "
                             "filter contractions with their epilogues, until "
                             "code is generated for others, but got another";
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

/// Bytes of a sample, or of all where the batch is static.
static int64_t getWeight(const StepBuffer &buffer) {
  int64_t bytes = buffer.element.getIntOrFloatBitWidth() / 8;
  for (int64_t dim : buffer.dims)
    bytes *= dim < 0 ? 1 : dim;
  return bytes;
}

/// Temporaries that are not alive at once share slots: each gets the free one
/// whose largest buffer so far is closest in size.
void Reader::assignSlots() {
  SmallVector<int64_t> lastUse(program.buffers.size(), -1);
  for (auto [index, step] : llvm::enumerate(program.steps))
    for (int32_t buffer : step.operands)
      if (buffer >= 0)
        lastUse[buffer] = static_cast<int64_t>(index);
  struct Slot {
    int64_t size, busyUntil;
  };
  SmallVector<Slot> slots;
  for (auto [index, step] : llvm::enumerate(program.steps))
    for (int32_t operand : {DISCO_OPERAND_Y, DISCO_OPERAND_GRAD_BIAS}) {
      if (step.operands[operand] < 0)
        continue;
      StepBuffer &buffer = program.buffers[step.operands[operand]];
      if (buffer.kind != DISCO_BUFFER_TEMPORARY)
        continue;
      int64_t size = getWeight(buffer);
      Slot *best = nullptr;
      for (Slot &slot : slots)
        if (slot.busyUntil < static_cast<int64_t>(index) &&
            (!best || std::abs(slot.size - size) < std::abs(best->size - size)))
          best = &slot;
      if (!best)
        best = &slots.emplace_back(Slot{0, -1});
      best->size = std::max(best->size, size);
      best->busyUntil = lastUse[step.operands[operand]];
      buffer.index = static_cast<int32_t>(best - slots.begin());
    }
  program.numSlots = static_cast<int32_t>(slots.size());
}

FailureOr<StepProgram> Reader::read() {
  for (Operation &op : entry.front())
    if (failed(readOp(op)))
      return failure();
  assignSlots();
  if (program.numSlots > DISCO_MAX_SLOTS)
    return entry.emitOpError()
           << "expected at most " << DISCO_MAX_SLOTS
           << " intermediate tensors alive at once, but got "
           << program.numSlots;
  return std::move(program);
}

FailureOr<StepProgram> mlir::disco::readSteps(func::FuncOp entry) {
  return Reader(entry).read();
}
