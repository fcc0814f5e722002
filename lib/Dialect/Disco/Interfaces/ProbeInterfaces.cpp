//===- ProbeInterfaces.cpp - bufferization and conversion of probes -------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Interfaces.h"
#include "disco/Dialect/Disco/Disco.h"

#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::disco;

namespace {

/// A probe reads its tensor and writes none.
struct ProbeBufferization
    : public bufferization::BufferizableOpInterface::ExternalModel<
          ProbeBufferization, ProbeOperandOp> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const bufferization::AnalysisState &) const {
    return true;
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &,
                               const bufferization::AnalysisState &) const {
    return false;
  }
  bufferization::AliasingValueList
  getAliasingValues(Operation *, OpOperand &,
                    const bufferization::AnalysisState &) const {
    return {};
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const bufferization::BufferizationOptions &options,
                          bufferization::BufferizationState &state) const {
    auto probe = cast<ProbeOperandOp>(op);
    FailureOr<Value> buffer =
        bufferization::getBuffer(rewriter, probe.getValue(), options, state);
    if (failed(buffer))
      return failure();
    bufferization::replaceOpWithNewBufferizedOp<ProbeOperandOp>(
        rewriter, op, probe.getIdAttr(), probe.getIndexAttr(), *buffer);
    return success();
  }
};

/// A call of a function of the runtime with the arguments `make` gives.
template <typename OpT>
struct ProbeLowering : public ConvertOpToLLVMPattern<OpT> {
  using ConvertOpToLLVMPattern<OpT>::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(OpT op, typename OpT::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    SmallVector<Value> arguments{LLVM::ConstantOp::create(
        rewriter, loc, rewriter.getI64Type(), op.getIdAttr())};
    StringRef name = "disco_probe_begin";
    if constexpr (std::is_same_v<OpT, ProbeEndOp>)
      name = "disco_probe_end";
    if constexpr (std::is_same_v<OpT, ProbeOperandOp>) {
      name = "disco_probe_operand";
      if (failed(addOperand(op, adaptor, rewriter, arguments)))
        return failure();
    }
    auto module = op->template getParentOfType<ModuleOp>();
    FailureOr<LLVM::LLVMFuncOp> function = LLVM::lookupOrCreateFn(
        rewriter, module, name,
        llvm::map_to_vector(arguments, [](Value v) { return v.getType(); }),
        LLVM::LLVMVoidType::get(op.getContext()));
    if (failed(function))
      return failure();
    LLVM::CallOp::create(rewriter, loc, *function, arguments);
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// Index, element type, rank and a pointer to the descriptor.
  LogicalResult addOperand(ProbeOperandOp op, ProbeOperandOp::Adaptor adaptor,
                           ConversionPatternRewriter &rewriter,
                           SmallVectorImpl<Value> &arguments) const {
    auto type = dyn_cast<MemRefType>(op.getValue().getType());
    std::optional<disco_dtype> dtype =
        type ? getRuntimeDType(type.getElementType()) : std::nullopt;
    if (!dtype)
      return rewriter.notifyMatchFailure(op, "not a memref of a known type");
    Location loc = op.getLoc();
    Value descriptor = adaptor.getValue();
    Value slot;
    {
      // In the entry block, so that a loop does not grow the stack.
      OpBuilder::InsertionGuard guard(rewriter);
      auto function = op->template getParentOfType<FunctionOpInterface>();
      rewriter.setInsertionPointToStart(&function.getFunctionBody().front());
      Value one =
          LLVM::ConstantOp::create(rewriter, loc, rewriter.getI64Type(), 1);
      slot = LLVM::AllocaOp::create(rewriter, loc,
                                    LLVM::LLVMPointerType::get(op.getContext()),
                                    descriptor.getType(), one);
    }
    LLVM::StoreOp::create(rewriter, loc, descriptor, slot);
    auto i32 = rewriter.getI32Type();
    arguments.push_back(
        LLVM::ConstantOp::create(rewriter, loc, i32, op.getIndexAttr()));
    arguments.push_back(LLVM::ConstantOp::create(
        rewriter, loc, i32, rewriter.getI32IntegerAttr(*dtype)));
    arguments.push_back(
        LLVM::ConstantOp::create(rewriter, loc, rewriter.getI64Type(),
                                 rewriter.getI64IntegerAttr(type.getRank())));
    arguments.push_back(slot);
    return success();
  }
};

} // namespace

void mlir::disco::attachProbeInterfaces(MLIRContext &context) {
  ProbeOperandOp::attachInterface<ProbeBufferization>(context);
}

void mlir::disco::populateProbeToLLVM(const LLVMTypeConverter &converter,
                                      RewritePatternSet &patterns) {
  patterns.add<ProbeLowering<ProbeBeginOp>, ProbeLowering<ProbeOperandOp>,
               ProbeLowering<ProbeEndOp>>(converter);
}
