//===- InferenceTests.cpp - ops built without result types ----------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Dialect/Disco/Disco.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::disco;

namespace {

class InferenceTest : public ::testing::Test {
protected:
  InferenceTest() : builder(&context) {
    context.loadDialect<DiscoDialect>();
    module = ModuleOp::create(UnknownLoc::get(&context));
  }
  ~InferenceTest() override { module->erase(); }

  Type type(StringRef text) { return parseType(text, &context); }

  /// A value of the type, made by an op that is no test subject.
  Value value(StringRef text) {
    builder.setInsertionPointToEnd(module.getBody());
    return UnrealizedConversionCastOp::create(
               builder, module.getLoc(), TypeRange(type(text)), ValueRange())
        .getResult(0);
  }

  /// Inferred types of an op of these operands and attributes; empty when they
  /// cannot be inferred.
  template <typename OpT>
  SmallVector<Type> infer(ValueRange operands,
                          typename OpT::Properties properties) {
    SmallVector<Type> types;
    if (failed(OpT::inferReturnTypes(&context, std::nullopt, operands,
                                     DictionaryAttr(), &properties, {}, types)))
      types.clear();
    return types;
  }

  MLIRContext context;
  OpBuilder builder;
  ModuleOp module;
};

TEST_F(InferenceTest, FilterHasTheTypeOfItsAttribute) {
  auto filter = cast<SphereFilterAttr>(parseAttribute(
      "#disco.sphere_filter<fourier_bessel, [3, 3], in = #disco.grid<lobatto, "
      "16x32>, out = #disco.grid<lobatto, 8x16>>",
      &context));
  builder.setInsertionPointToEnd(module.getBody());
  auto op = FilterOp::create(builder, module.getLoc(), filter);
  EXPECT_EQ(op.getType(), type("!disco.psi<sphere, 13, 16x32 -> 8x16>"));
}

TEST_F(InferenceTest, AdjointSwapsInputAndOutput) {
  auto op = AdjointOp::create(builder, module.getLoc(),
                              value("!disco.psi<table<5>, 3, 128 -> 40>"));
  EXPECT_EQ(op.getType(), type("!disco.psi<table<5>, 3, 40 -> 128>"));
}

TEST_F(InferenceTest, ContractionsTakeBatchAndElementTypeFromTheActivations) {
  Value psi = value("!disco.psi<sphere, 9, 16x32 -> 8x16>");
  Value x = value("tensor<?x4x16x32xbf16>");
  Value z = value("tensor<3x4x9x16x32xf64>");
  Value w = value("tensor<6x2x9xf32>");
  auto contract = ContractOp::create(builder, module.getLoc(), x, psi,
                                     StorageAttr(), PlanAttr());
  EXPECT_EQ(contract.getType(), type("tensor<?x4x9x8x16xbf16>"));
  auto sum = ContractSumOp::create(builder, module.getLoc(), z, psi,
                                   StorageAttr(), PlanAttr());
  EXPECT_EQ(sum.getType(), type("tensor<3x4x8x16xf64>"));
  auto conv =
      ConvOp::create(builder, module.getLoc(), x, psi, w, Value(), Value(),
                     /*groups=*/2, Activation::silu, Precision::ieee,
                     StorageAttr(), PlanAttr());
  EXPECT_EQ(conv.getType(), type("tensor<?x6x8x16xbf16>"));
  EXPECT_TRUE(succeeded(verify(contract)) && succeeded(verify(sum)) &&
              succeeded(verify(conv)));
}

TEST_F(InferenceTest, PackedContractionsTakeTheLayoutFromThePlan) {
  auto plan = [&](StringRef layout) {
    return cast<PlanAttr>(parseAttribute(
        ("#disco.plan<toeplitz_wgmma, layout = " + layout + ">").str(),
        &context));
  };
  Value psi = value("!disco.psi<sphere, 9, 16x32 -> 8x16>");
  auto infer = [&](StringRef x, StringRef layout) -> Type {
    return ContractOp::create(builder, module.getLoc(), value(x.str()), psi,
                              StorageAttr(), plan(layout))
        .getType();
  };
  EXPECT_EQ(infer("tensor<?x16x32x12xbf16>", "nhwc -> nchw"),
            type("tensor<?x12x9x8x16xbf16>"));
  // Of two blocks all sixteen channels count.
  EXPECT_EQ(infer("tensor<?x2x16x32x8xbf16>", "c8 -> nchw"),
            type("tensor<?x16x9x8x16xbf16>"));
  Value z = value("tensor<3x12x9x16x32xbf16>");
  auto sum = ContractSumOp::create(builder, module.getLoc(), z, psi,
                                   StorageAttr(), plan("nchw -> c8"));
  EXPECT_EQ(sum.getType(), type("tensor<3x2x8x16x8xbf16>"));
  EXPECT_TRUE(succeeded(verify(sum)));
}

TEST_F(InferenceTest, MaterialisedContractionsTakeThePointsFromTheStorage) {
  auto storage = StorageAttr::get(
      &context, StorageForm::table,
      cast<PsiType>(type("!disco.psi<table<5>, 3, 128 -> 40>")), false);
  Value x = value("tensor<?x4x128xf16>");
  Value index = value("tensor<40x5xi32>"), values = value("tensor<40x5x3xf16>");
  auto op = ContractOp::create(builder, module.getLoc(), x,
                               ValueRange{index, values}, storage, PlanAttr());
  EXPECT_EQ(op.getType(), type("tensor<?x4x3x40xf16>"));
  EXPECT_TRUE(succeeded(verify(op)));
}

TEST_F(InferenceTest, OperandsThatAreNotValidInferNothing) {
  Value psi = value("!disco.psi<csr, 3, 300 -> 33>");
  Value scalar = value("tensor<f32>"), unranked = value("tensor<*xf32>");
  Value x = value("tensor<2x4x300xf32>"), w = value("tensor<6x4x3xf32>");
  EXPECT_TRUE(infer<ContractOp>({x}, {}).empty());
  EXPECT_TRUE(infer<ContractOp>({x, psi, psi}, {}).empty());
  EXPECT_TRUE(infer<ContractOp>({scalar, psi}, {}).empty());
  EXPECT_TRUE(infer<ContractOp>({unranked, psi}, {}).empty());
  EXPECT_TRUE(infer<ContractOp>({x, scalar}, {}).empty());
  EXPECT_TRUE(infer<ContractSumOp>({scalar, psi}, {}).empty());
  EXPECT_TRUE(infer<AdjointOp>({x}, {}).empty());
  EXPECT_TRUE(infer<AdjointOp>({}, {}).empty());
  EXPECT_TRUE(infer<FilterOp>({}, {}).empty());
  ConvOp::Properties properties;
  properties.operandSegmentSizes = {1, 1, 1, 0, 0};
  EXPECT_EQ(infer<ConvOp>({x, psi, w}, properties).size(), 1u);
  EXPECT_TRUE(infer<ConvOp>({x, psi, scalar}, properties).empty());
  properties.operandSegmentSizes = {1, 2, 0, 0, 0};
  EXPECT_TRUE(infer<ConvOp>({x, psi, psi}, properties).empty());
  properties.operandSegmentSizes = {0, 1, 1, 0, 0};
  EXPECT_TRUE(infer<ConvOp>({psi, w}, properties).empty());
}

TEST_F(InferenceTest, StorageKnowsItsRowsAndPhases) {
  auto storage = [&](StorageForm form, StringRef psi, bool adjoint = false) {
    return StorageAttr::get(&context, form, cast<PsiType>(type(psi)), adjoint);
  };
  auto down =
      storage(StorageForm::arcs, "!disco.psi<sphere, 9, 16x32 -> 8x16>");
  EXPECT_EQ(down.getStride(), 2);
  EXPECT_EQ(down.getPhases(), 1);
  EXPECT_EQ(down.getNumRows(), 8);
  EXPECT_EQ(down.getNumTensors(), 3u);
  auto up = storage(StorageForm::arcs, "!disco.psi<sphere, 9, 8x16 -> 16x48>");
  EXPECT_EQ(up.getStride(), 1);
  EXPECT_EQ(up.getPhases(), 3);
  EXPECT_EQ(up.getNumRows(), 48);
  auto csr = storage(StorageForm::csr, "!disco.psi<csr, 3, 300 -> 33>",
                     /*adjoint=*/true);
  EXPECT_EQ(csr.getNumRows(), 300);
  EXPECT_EQ(csr.getNumColumns(), 33);
  auto table =
      storage(StorageForm::onehot, "!disco.psi<table<5>, 3, 128 -> 40>");
  EXPECT_EQ(table.getNumRows(), 40);
  EXPECT_EQ(table.getNumColumns(), 128);
  EXPECT_EQ(table.getNumTensors(), 2u);
}

} // namespace
