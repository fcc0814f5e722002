//===- KernelInterfaces.cpp - bufferization and conversion of calls -------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A call becomes
//
//     @disco_call = constant [n x i8]          the disco_kernel_call
//
//     slot = alloca (in the entry block)
//     memcpy slot, @disco_call
//     store batch, pointers
//     status = disco_F_run(slot, workspace, bytes)
//     status == 0 ? go on : disco_raise(disco_last_error()), return status
//
//===----------------------------------------------------------------------===//

#include "Interfaces.h"
#include "disco/Dialect/Disco/Disco.h"

#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::disco;

//===----------------------------------------------------------------------===//
// Bufferization
//===----------------------------------------------------------------------===//

static bool isDense(Value buffer) {
  return cast<MemRefType>(buffer.getType()).getLayout().isIdentity();
}

/// A dense buffer of the shape of `buffer`, which may have any strides.
static Value allocateLike(OpBuilder &builder, Location loc, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      sizes.push_back(memref::DimOp::create(builder, loc, buffer, dim));
  auto dense =
      MemRefType::get(type.getShape(), type.getElementType(),
                      MemRefLayoutAttrInterface(), type.getMemorySpace());
  return memref::AllocOp::create(builder, loc, dense, sizes);
}

namespace {

/// Kernels read and write dense memory: other buffers are copied.
struct KernelBufferization
    : public bufferization::DstBufferizableOpInterfaceExternalModel<
          KernelBufferization, KernelCallOp> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const bufferization::AnalysisState &) const {
    return !cast<KernelCallOp>(op).isDpsInit(&operand);
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const bufferization::BufferizationOptions &options,
                          bufferization::BufferizationState &state) const {
    auto call = cast<KernelCallOp>(op);
    Location loc = op->getLoc();
    rewriter.setInsertionPoint(op);
    SmallVector<Value> operands, outs;
    SmallVector<std::pair<Value, Value>> copies; // from, to: behind the call
    for (OpOperand &operand : op->getOpOperands()) {
      FailureOr<Value> buffer =
          bufferization::getBuffer(rewriter, operand.get(), options, state);
      if (failed(buffer))
        return failure();
      bool isOut = call.isDpsInit(&operand);
      if (isOut)
        outs.push_back(*buffer);
      if (!isDense(*buffer)) {
        Value dense = allocateLike(rewriter, loc, *buffer);
        if (isOut)
          copies.emplace_back(dense, *buffer);
        else
          memref::CopyOp::create(rewriter, loc, *buffer, dense);
        buffer = dense;
      }
      operands.push_back(*buffer);
    }
    OperationState created(loc, op->getName());
    created.addOperands(operands);
    created.addAttributes(op->getDiscardableAttrDictionary().getValue());
    created.propertiesAttr = op->getPropertiesAsAttribute();
    rewriter.create(created);
    for (auto [from, to] : copies)
      memref::CopyOp::create(rewriter, loc, from, to);
    bufferization::replaceOpWithBufferizedValues(rewriter, op, outs);
    return success();
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Conversion to the LLVM dialect
//===----------------------------------------------------------------------===//

namespace {

/// Emits what both ops have in common.
class CallEmitter {
public:
  CallEmitter(Operation *op, KernelCallAttr call,
              ConversionPatternRewriter &rewriter)
      : rewriter(rewriter), loc(op->getLoc()), call(call),
        module(op->getParentOfType<ModuleOp>()),
        function(op->getParentOfType<FunctionOpInterface>()),
        pointer(LLVM::LLVMPointerType::get(op->getContext())) {}

  Value constant(Type type, int64_t value) {
    return LLVM::ConstantOp::create(rewriter, loc, type,
                                    rewriter.getIntegerAttr(type, value));
  }

  /// In the entry block, so that a loop does not grow the stack.
  Value allocate(Type type) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(&function.getFunctionBody().front());
    return LLVM::AllocaOp::create(rewriter, loc, pointer, type,
                                  constant(rewriter.getI64Type(), 1),
                                  /*alignment=*/alignof(disco_kernel_call));
  }

  /// A copy of the constant call on the stack.
  Value copyCall() {
    disco_kernel_call bytes = call.getCall();
    StringRef content(reinterpret_cast<const char *>(&bytes), sizeof bytes);
    auto type = LLVM::LLVMArrayType::get(rewriter.getI8Type(), sizeof bytes);
    LLVM::GlobalOp global;
    {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(module.getBody());
      unsigned number = 0;
      SmallString<32> name = SymbolTable::generateSymbolName<32>(
          "disco_call",
          [&](StringRef candidate) {
            return SymbolTable::lookupSymbolIn(module, candidate) != nullptr;
          },
          number);
      global = LLVM::GlobalOp::create(rewriter, loc, type, /*isConstant=*/true,
                                      LLVM::Linkage::Private, name,
                                      rewriter.getStringAttr(content),
                                      /*alignment=*/alignof(disco_kernel_call));
    }
    slot = allocate(type);
    LLVM::MemcpyOp::create(rewriter, loc, slot,
                           LLVM::AddressOfOp::create(rewriter, loc, global),
                           constant(rewriter.getI64Type(), sizeof bytes),
                           /*isVolatile=*/false);
    return slot;
  }

  /// Stores into the copy, at the offset of a field.
  void store(size_t offset, Value value) {
    Value at = LLVM::GEPOp::create(
        rewriter, loc, pointer, rewriter.getI8Type(), slot,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
    LLVM::StoreOp::create(rewriter, loc, value, at);
  }

  FailureOr<Value> invoke(StringRef name, Type result,
                          ArrayRef<Value> arguments) {
    FailureOr<LLVM::LLVMFuncOp> callee = LLVM::lookupOrCreateFn(
        rewriter, module, name,
        llvm::map_to_vector(arguments, [](Value v) { return v.getType(); }),
        result);
    if (failed(callee))
      return failure();
    auto op = LLVM::CallOp::create(rewriter, loc, *callee, arguments);
    return op.getNumResults() ? op.getResult() : Value();
  }

  /// Hands the reason of a failure to the artifact's caller.
  LogicalResult raise() {
    FailureOr<Value> message = invoke("disco_last_error", pointer, {});
    return failure(failed(message) ||
                   failed(invoke("disco_raise",
                                 LLVM::LLVMVoidType::get(rewriter.getContext()),
                                 {*message})));
  }

  Value isOk(Value status) {
    return LLVM::ICmpOp::create(rewriter, loc, LLVM::ICmpPredicate::eq, status,
                                constant(rewriter.getI32Type(), DISCO_OK));
  }

  ConversionPatternRewriter &rewriter;
  Location loc;
  KernelCallAttr call;
  ModuleOp module;
  FunctionOpInterface function;
  Type pointer;
  Value slot;
};

struct KernelWorkspaceLowering
    : public ConvertOpToLLVMPattern<KernelWorkspaceOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(KernelWorkspaceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    CallEmitter emit(op, op.getCall(), rewriter);
    Type i64 = rewriter.getI64Type();
    Value slot = emit.copyCall();
    emit.store(offsetof(disco_kernel_call, batch), adaptor.getBatch());
    if (adaptor.getTaps())
      emit.store(offsetof(disco_kernel_call, psi) +
                     offsetof(disco_kernel_psi, num_taps),
                 adaptor.getTaps());
    Value bytes = emit.allocate(i64);
    FailureOr<Value> status =
        emit.invoke(op.getCall().getSymbol("workspace_bytes"),
                    rewriter.getI32Type(), {slot, bytes});
    if (failed(status))
      return failure();
    // if (status != 0) raise; a phi of the bytes and -1
    Block *before = rewriter.getInsertionBlock();
    Block *after = rewriter.splitBlock(before, Block::iterator(op));
    after->addArgument(i64, op.getLoc());
    auto addBlock = [&] {
      return rewriter.createBlock(after->getParent(), Region::iterator(after));
    };
    Block *failed = addBlock();
    if (mlir::failed(emit.raise()))
      return failure();
    LLVM::BrOp::create(rewriter, op.getLoc(),
                       ValueRange{emit.constant(i64, -1)}, after);
    Block *fine = addBlock();
    Value loaded = LLVM::LoadOp::create(rewriter, op.getLoc(), i64, bytes);
    LLVM::BrOp::create(rewriter, op.getLoc(), ValueRange{loaded}, after);
    rewriter.setInsertionPointToEnd(before);
    LLVM::CondBrOp::create(rewriter, op.getLoc(), emit.isOk(*status), fine,
                           failed);
    rewriter.replaceOp(op, after->getArgument(0));
    return success();
  }
};

struct KernelCallLowering : public ConvertOpToLLVMPattern<KernelCallOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(KernelCallOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    CallEmitter emit(op, op.getCall(), rewriter);
    auto results = emit.function.getResultTypes();
    if (results.size() != 1 || !results.front().isInteger(32))
      return op.emitOpError() << "expected the function around a call of a "
                                 "kernel to return a status (i32), but got "
                              << results.size() << " results";
    Location loc = op.getLoc();
    Value slot = emit.copyCall();
    storeOperands(op, adaptor, emit);
    MemRefDescriptor workspace(adaptor.getOuts().back());
    FailureOr<Value> status =
        emit.invoke(op.getCall().getSymbol("run"), rewriter.getI32Type(),
                    {slot, workspace.alignedPtr(rewriter, loc),
                     workspace.size(rewriter, loc, 0)});
    if (failed(status))
      return failure();
    Block *before = rewriter.getInsertionBlock();
    Block *after = rewriter.splitBlock(before, Block::iterator(op));
    Block *failed =
        rewriter.createBlock(after->getParent(), after->getParent()->end());
    if (mlir::failed(emit.raise()))
      return failure();
    LLVM::ReturnOp::create(rewriter, loc, ValueRange{*status});
    rewriter.setInsertionPointToEnd(before);
    LLVM::CondBrOp::create(rewriter, loc, emit.isOk(*status), after, failed);
    rewriter.eraseOp(op);
    return success();
  }

private:
  static void storeOperands(KernelCallOp op, OpAdaptor adaptor,
                            CallEmitter &emit) {
    ConversionPatternRewriter &rewriter = emit.rewriter;
    auto storePointer = [&](size_t offset, Value descriptor) {
      if (descriptor)
        emit.store(
            offset,
            MemRefDescriptor(descriptor).alignedPtr(rewriter, op.getLoc()));
    };
    auto size = [&](Value memref, Value descriptor) -> Value {
      auto type = cast<MemRefType>(memref.getType());
      if (!type.isDynamicDim(0))
        return emit.constant(rewriter.getI64Type(), type.getDimSize(0));
      return MemRefDescriptor(descriptor).size(rewriter, op.getLoc(), 0);
    };
    emit.store(offsetof(disco_kernel_call, batch),
               size(op.getX(), adaptor.getX()));
    storePointer(offsetof(disco_kernel_call, x), adaptor.getX());
    storePointer(offsetof(disco_kernel_call, gy), adaptor.getGy());
    storePointer(offsetof(disco_kernel_call, weight), adaptor.getWeight());
    storePointer(offsetof(disco_kernel_call, bias), adaptor.getBias());
    storePointer(offsetof(disco_kernel_call, residual), adaptor.getResidual());
    storePointer(offsetof(disco_kernel_call, y), adaptor.getOuts().front());
    if (adaptor.getOuts().size() == 3)
      storePointer(offsetof(disco_kernel_call, grad_bias),
                   adaptor.getOuts()[1]);
    constexpr size_t psi = offsetof(disco_kernel_call, psi);
    ValueRange tensors = adaptor.getPsi();
    bool hasOffsets = tensors.size() == 3;
    if (hasOffsets)
      storePointer(psi + offsetof(disco_kernel_psi, offsets), tensors.front());
    Value indices = tensors[hasOffsets ? 1 : 0];
    storePointer(psi + offsetof(disco_kernel_psi, indices), indices);
    storePointer(psi + offsetof(disco_kernel_psi, values), tensors.back());
    if (op.getCall().hasDynamicTaps())
      emit.store(psi + offsetof(disco_kernel_psi, num_taps),
                 size(op.getPsi()[1], indices));
  }
};

} // namespace

void mlir::disco::attachKernelInterfaces(MLIRContext &context) {
  KernelCallOp::attachInterface<KernelBufferization>(context);
}

void mlir::disco::populateKernelToLLVM(const LLVMTypeConverter &converter,
                                       RewritePatternSet &patterns) {
  patterns.add<KernelWorkspaceLowering, KernelCallLowering>(converter);
}
