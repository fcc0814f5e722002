//===- PlanWorkspace.cpp - disco-plan-workspace ---------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   buffers by first and last use        slots of the workspace
//     a  |====|                            0            64 k
//     b     |=======|              ->      |  a, c      |  b     |
//     c          |=====|
//
//===----------------------------------------------------------------------===//

#include "WorkspaceSize.h"
#include "disco/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace mlir::disco {
#define GEN_PASS_DEF_PLANWORKSPACEPASS
#include "disco/Transforms/Passes.h.inc"
} // namespace mlir::disco

using namespace mlir;
using namespace mlir::disco;

namespace {

/// A buffer and the operations of the entry's block between which it is alive.
struct Buffer {
  memref::AllocOp alloc;
  BufferSize size;
  int64_t first = 0, last = 0;
};

struct Slot {
  SmallVector<Buffer *> buffers;
  bool isFree(const Buffer &buffer) const {
    return llvm::all_of(buffers, [&](const Buffer *other) {
      return other->last < buffer.first || buffer.last < other->first;
    });
  }
};

class EntryPlanner {
public:
  explicit EntryPlanner(func::FuncOp entry) : entry(entry) {}
  LogicalResult run();
  size_t numBuffers() const { return buffers.size(); }
  size_t numSlots() const { return slots.size(); }

private:
  void readOutputDimsFromInputs();
  LogicalResult collect();
  LogicalResult findLiveness(Buffer &buffer,
                             const BufferViewFlowAnalysis &aliases);
  void assignSlots();
  void rewriteEntry();
  void createSizeFunction();

  func::FuncOp entry;
  std::vector<Buffer> buffers;
  std::vector<Slot> slots;
  DenseMap<Operation *, int64_t> positions;
};

} // namespace

/// The operation of the entry's block that `op` is in.
static Operation *getTopLevel(func::FuncOp entry, Operation *op) {
  return entry.front().findAncestorOpInBlock(*op);
}

LogicalResult
EntryPlanner::findLiveness(Buffer &buffer,
                           const BufferViewFlowAnalysis &aliases) {
  memref::AllocOp alloc = buffer.alloc;
  buffer.first = buffer.last = positions[getTopLevel(entry, alloc)];
  for (Value alias : aliases.resolve(alloc)) {
    // Outside of its slot's life a buffer from a loop would be overwritten by
    // the next iteration.
    Operation *owner = alias.getParentBlock()->getParentOp();
    if (isa<BlockArgument>(alias) && isa<LoopLikeOpInterface>(owner) &&
        owner->isProperAncestor(alloc))
      return alloc.emitOpError()
             << "expected a buffer to stay in one iteration of a loop, but got "
                "one that is handed to the next";
    for (Operation *user : alias.getUsers()) {
      if (isa<memref::DeallocOp>(user))
        continue;
      int64_t at = positions[getTopLevel(entry, user)];
      buffer.first = std::min(buffer.first, at);
      buffer.last = std::max(buffer.last, at);
    }
  }
  return success();
}

/// A buffer that takes the shape of an output is sized by the output's
/// descriptor, which the workspace's size may not depend on: only the inputs
/// are known then. Where the size has a name that an input has too, the runtime
/// has compared them, and the input says the same.
void EntryPlanner::readOutputDimsFromInputs() {
  auto info = entry->getAttrOfType<DictionaryAttr>(kEntryAttr);
  auto inputDims = info.getAs<ArrayAttr>("input_dims");
  auto outputDims = info.getAs<ArrayAttr>("output_dims");
  if (!inputDims || !outputDims)
    return; // written by hand: no size has a name
  DenseMap<int64_t, std::pair<unsigned, int64_t>> named;
  for (auto [input, dims] :
       llvm::enumerate(inputDims.getAsRange<DenseI64ArrayAttr>()))
    for (auto [dim, size] : llvm::enumerate(dims.asArrayRef()))
      if (size < -1)
        named.try_emplace(size, input, dim);
  entry.walk([&](memref::DimOp op) {
    auto argument = dyn_cast<BlockArgument>(op.getSource());
    std::optional<int64_t> dim = op.getConstantIndex();
    if (!argument || !dim || argument.getOwner() != &entry.front() ||
        argument.getArgNumber() < inputDims.size())
      return;
    unsigned output = argument.getArgNumber() - inputDims.size();
    if (output >= outputDims.size())
      return;
    auto dims = cast<DenseI64ArrayAttr>(outputDims[output]).asArrayRef();
    auto found = named.find(dims[*dim]);
    if (found == named.end())
      return;
    auto [input, inputDim] = found->second;
    OpBuilder builder(op);
    Value index =
        arith::ConstantIndexOp::create(builder, op.getLoc(), inputDim);
    op.getSourceMutable().assign(entry.getArgument(input));
    op.getIndexMutable().assign(index);
  });
}

LogicalResult EntryPlanner::collect() {
  int64_t position = 0;
  for (Operation &op : entry.front())
    positions[&op] = position++;
  BufferViewFlowAnalysis aliases(entry);
  WalkResult result = entry.walk([&](memref::AllocOp alloc) {
    FailureOr<BufferSize> size = BufferSize::compute(alloc, entry);
    if (failed(size))
      return WalkResult::interrupt();
    Buffer &buffer = buffers.emplace_back();
    buffer.alloc = alloc;
    buffer.size = std::move(*size);
    return failed(findLiveness(buffer, aliases)) ? WalkResult::interrupt()
                                                 : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Whether two buffers may be in one slot.
static bool canShare(const BufferSize &a, const BufferSize &b) {
  return a.hasSameDims(b) || (a.isKernelWorkspace() && b.isKernelWorkspace());
}

/// The largest buffers first; each goes to the first slot that is free while it
/// is alive and holds buffers of the same dynamic dimensions, so that the first
/// buffer of a slot is its largest whatever those are. Workspaces of kernels,
/// whose sizes only a run knows, share slots of their own.
void EntryPlanner::assignSlots() {
  SmallVector<Buffer *> order;
  for (Buffer &buffer : buffers)
    order.push_back(&buffer);
  llvm::stable_sort(order, [](const Buffer *a, const Buffer *b) {
    return a->size.staticBytes > b->size.staticBytes;
  });
  for (Buffer *buffer : order) {
    Slot *found = nullptr;
    for (Slot &slot : slots)
      if (slot.isFree(*buffer) &&
          canShare(slot.buffers.front()->size, buffer->size)) {
        found = &slot;
        break;
      }
    if (!found)
      found = &slots.emplace_back();
    found->buffers.push_back(buffer);
  }
}

/// The largest of a slot's buffers.
static Value emitSlot(const Slot &slot, SizeEmitter &emitter) {
  const BufferSize &first = slot.buffers.front()->size;
  Value size = emitter.emitSize(first);
  for (const Buffer *buffer : ArrayRef(slot.buffers).drop_front())
    if (!buffer->size.hasSameDims(first))
      size = emitter.max(size, emitter.emitSize(buffer->size));
  return size;
}

void EntryPlanner::rewriteEntry() {
  OpBuilder builder = OpBuilder::atBlockBegin(&entry.front());
  auto bytes = MemRefType::get({ShapedType::kDynamic}, builder.getI8Type());
  BlockArgument workspace = entry.front().addArgument(bytes, entry.getLoc());
  entry.setType(builder.getFunctionType(entry.front().getArgumentTypes(),
                                        entry.getResultTypes()));
  SizeEmitter emitter(builder, entry.getLoc(), entry, entry.front());
  Value offset = emitter.constant(0);
  for (const Slot &slot : slots) {
    for (Buffer *buffer : slot.buffers) {
      memref::AllocOp alloc = buffer->alloc;
      SmallVector<Value> dims = emitter.emitDims(buffer->size);
      Value position = arith::IndexCastOp::create(
          builder, alloc.getLoc(), builder.getIndexType(), offset);
      auto view = memref::ViewOp::create(
          builder, alloc.getLoc(), alloc.getType(), workspace, position, dims);
      alloc.replaceAllUsesWith(view.getResult());
    }
    offset = emitter.add(offset, emitSlot(slot, emitter));
  }
  for (Buffer &buffer : buffers)
    buffer.alloc.erase();
  SmallVector<memref::DeallocOp> deallocs;
  entry.walk([&](memref::DeallocOp op) { deallocs.push_back(op); });
  for (memref::DeallocOp op : deallocs)
    op.erase();
}

void EntryPlanner::createSizeFunction() {
  OpBuilder builder(entry.getContext());
  builder.setInsertionPointAfter(entry);
  auto info = entry->getAttrOfType<DictionaryAttr>(kEntryAttr);
  size_t numInputs = info.getAs<ArrayAttr>("inputs").size();
  auto function = func::FuncOp::create(
      builder, entry.getLoc(), (entry.getName() + kWorkspaceBytesSuffix).str(),
      builder.getFunctionType(entry.getArgumentTypes().take_front(numInputs),
                              builder.getI64Type()));
  Block *block = function.addEntryBlock();
  builder.setInsertionPointToStart(block);
  SizeEmitter emitter(builder, entry.getLoc(), entry, *block);
  Value total = emitter.constant(0);
  for (const Slot &slot : slots)
    total = emitter.add(total, emitSlot(slot, emitter));
  func::ReturnOp::create(builder, entry.getLoc(), emitter.orFailure(total));
}

LogicalResult EntryPlanner::run() {
  readOutputDimsFromInputs();
  if (failed(collect()))
    return failure();
  assignSlots();
  createSizeFunction();
  rewriteEntry();
  return success();
}

namespace {
struct PlanWorkspacePass
    : public mlir::disco::impl::PlanWorkspacePassBase<PlanWorkspacePass> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> entries;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function->hasAttr(kEntryAttr))
        entries.push_back(function);
    for (func::FuncOp entry : entries) {
      EntryPlanner planner(entry);
      if (failed(planner.run()))
        return signalPassFailure();
      numBuffers += planner.numBuffers();
      numSlots += planner.numSlots();
    }
  }
};
} // namespace
