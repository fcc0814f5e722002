//===- ProbeOpTest.cpp - recomputing an operation -------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReferenceTestUtil.h"

#include "disco/Runtime/ProbeOp.h"

using namespace disco;
using namespace disco::reference;

namespace {

std::string messageOf(const std::string &attributes) {
  Result<ProbeOp> op = parseProbeOp(attributes);
  return op ? "no error" : op.message();
}

TEST(ProbeOp, ParsesEveryKey) {
  Result<ProbeOp> op = parseProbeOp(
      "kind=conv groups=3 activation=gelu_tanh order=weight_first bias=1 "
      "residual=1 form=onehot k=5 in=16x32 out=7 degree=11 adjoint=1 "
      "transpose_weight=1 x=c8 y=nhwc channels=12 family=csr_gather");
  ASSERT_TRUE(op.ok()) << op.message();
  EXPECT_EQ(op->kind, ProbeOp::Kind::conv);
  EXPECT_EQ(op->form, ProbeOp::Form::oneHot);
  EXPECT_EQ(op->options.groups, 3);
  EXPECT_EQ(op->options.activation, Activation::geluTanh);
  EXPECT_EQ(op->options.order, Order::weightFirst);
  EXPECT_TRUE(op->bias && op->residual && op->adjoint);
  EXPECT_EQ(op->shape.numBasis, 5);
  EXPECT_EQ(op->shape.in, (std::vector<int64_t>{16, 32}));
  EXPECT_EQ(op->shape.out, (std::vector<int64_t>{7}));
  EXPECT_EQ(op->degree, 11);
  EXPECT_TRUE(op->transposeWeight);
  EXPECT_EQ(op->xLayout, ProbeOp::Layout::c8);
  EXPECT_EQ(op->yLayout, ProbeOp::Layout::nhwc);
  EXPECT_EQ(op->channels, 12);
  EXPECT_EQ(op->family, "csr_gather");
  EXPECT_EQ(op->numOperands(), 6);
  EXPECT_EQ(op->numResults(), 1);
}

TEST(ProbeOp, CountsOperandsAndResults) {
  const struct {
    const char *kind;
    int64_t operands, results;
  } cases[] = {{"kind=contract", 4, 1},
               {"kind=contract_sum", 4, 1},
               {"kind=conv", 5, 1},
               {"kind=conv bias=1", 6, 1},
               {"kind=conv_weight_grad", 5, 1},
               {"kind=conv_weight_grad bias=1", 5, 2}};
  for (const auto &c : cases) {
    Result<ProbeOp> op =
        parseProbeOp(std::string(c.kind) + " form=csr k=1 in=2 out=3");
    ASSERT_TRUE(op.ok()) << op.message();
    EXPECT_EQ(op->numOperands(), c.operands) << c.kind;
    EXPECT_EQ(op->numResults(), c.results) << c.kind;
  }
}

TEST(ProbeOp, LayoutsAreThoseOfTheSameField) {
  // [2, 9, 3], whose element is 100 b + 10 c + p.
  Tensor nchw = Tensor::zeros({2, 9, 3}), nhwc = Tensor::zeros({2, 3, 9}),
         c8 = Tensor::zeros({2, 2, 3, 8});
  std::fill(c8.data.begin(), c8.data.end(),
            -1.0); // channels that are not there
  for (int b = 0; b < 2; ++b)
    for (int c = 0; c < 9; ++c)
      for (int p = 0; p < 3; ++p) {
        const double value = 100 * b + 10 * c + p;
        nchw.data[(b * 9 + c) * 3 + p] = value;
        nhwc.data[(b * 3 + p) * 9 + c] = value;
        c8.data[((b * 2 + c / 8) * 3 + p) * 8 + c % 8] = value;
      }
  for (const auto &[tensor, layout] : {std::pair(nchw, ProbeOp::Layout::nchw),
                                       std::pair(nhwc, ProbeOp::Layout::nhwc),
                                       std::pair(c8, ProbeOp::Layout::c8)}) {
    const Result<Tensor> got = toNchw(tensor, layout, 9);
    ASSERT_TRUE(got.ok()) << got.message();
    EXPECT_EQ(got->shape, nchw.shape);
    EXPECT_EQ(got->data, nchw.data);
  }
  EXPECT_EQ(toNchw(c8, ProbeOp::Layout::c8, 17).message(),
            "expected a tensor of 17 channels in c8, but got 2x2x3x8xf64");
  EXPECT_EQ(toNchw(nhwc, ProbeOp::Layout::nhwc, 8).message(),
            "expected a tensor of 8 channels in nhwc, but got 2x3x9xf64");
}

TEST(ProbeOp, RefusesWhatItDoesNotKnow) {
  const std::string rest = " form=csr k=1 in=2 out=3";
  EXPECT_EQ(messageOf(""), "probe attribute 'kind' is missing");
  EXPECT_EQ(messageOf("kind=conv form=csr k=1 in=2"),
            "probe attribute 'out' is missing");
  EXPECT_EQ(messageOf("kind=conv form=table k=1 in=2 out=3"),
            "probe attribute 'degree' is missing");
  EXPECT_EQ(messageOf("kind=pool" + rest),
            "expected probe attribute 'kind' to be "
            "contract|contract_sum|conv|conv_weight_grad|repack, but got "
            "'pool'");
  EXPECT_EQ(messageOf("kind=conv x=c4" + rest),
            "expected probe attribute 'x' to be nchw|nhwc|c8, but got 'c4'");
  EXPECT_EQ(messageOf("kind=repack x=nchw y=c8"),
            "probe attribute 'channels' is missing");
  EXPECT_EQ(messageOf("kind=repack channels=3"),
            "probe attribute 'x' is missing");
  EXPECT_EQ(messageOf("kind=conv form=dense k=1 in=2 out=3"),
            "expected probe attribute 'form' to be arcs|csr|table|onehot, but "
            "got 'dense'");
  EXPECT_EQ(messageOf("kind=conv kind=conv" + rest),
            "probe attribute 'kind' is repeated");
  EXPECT_EQ(messageOf("kind=conv colour=red" + rest),
            "unknown probe attribute 'colour'");
  EXPECT_EQ(messageOf("kind=conv bias" + rest),
            "expected probe attribute to be key=value, but got 'bias'");
  EXPECT_EQ(messageOf("kind=conv bias=yes" + rest),
            "expected probe attribute 'bias' to be 0 or 1, but got 'yes'");
  EXPECT_EQ(messageOf("kind=conv groups=-1" + rest),
            "expected probe attribute 'groups' to be a non-negative integer, "
            "but got '-1'");
  EXPECT_EQ(messageOf("kind=conv activation=tanh" + rest),
            "expected probe attribute 'activation' to be a known name, but got "
            "'tanh'");
  EXPECT_EQ(messageOf("kind=conv form=csr k=1 in=2x out=3"),
            "expected probe attribute 'in' to be sizes as in 16x32, but got "
            "'2x'");
}

TEST(ProbeOp, RecomputesEveryKind) {
  Random random{4};
  const Table table(12, 7, 3, 2, 5, random);
  const Array index = table.indexArray(), values = table.valueArray();
  const std::string form = " form=table k=2 in=12 out=7 degree=3";
  const auto array = [&](std::vector<int64_t> shape) {
    return *randomTensor(std::move(shape), random).to(DType::f64);
  };
  const auto run = [&](const std::string &attributes,
                       const std::vector<Array> &operands) {
    Result<ProbeOp> op = parseProbeOp(attributes + form);
    EXPECT_TRUE(op.ok()) << op.message();
    Result<std::vector<Tensor>> results = recompute(*op, operands);
    EXPECT_TRUE(results.ok()) << results.message();
    return *results;
  };
  const Operator psi = table.dense();
  const Array x = array({2, 4, 12}), gy = array({2, 6, 7}),
              w = array({6, 2, 2}), b = array({6}), r = array({2, 6, 7}),
              z = array({1, 1, 2, 7});
  EXPECT_EQ(run("kind=contract", {x, index, values})[0].data,
            contract(psi, Tensor::from(x))->data);
  EXPECT_EQ(run("kind=contract_sum adjoint=1", {z, index, values})[0].data,
            contractSum(psi.transposed(), Tensor::from(z))->data);
  const Tensor bias = Tensor::from(b), residual = Tensor::from(r);
  ConvOptions options;
  options.groups = 2;
  options.activation = Activation::silu;
  EXPECT_EQ(
      run("kind=conv groups=2 activation=silu bias=1 residual=1",
          {x, index, values, w, b, r})[0]
          .data,
      conv(psi, Tensor::from(x), Tensor::from(w), &bias, &residual, options)
          ->data);
  const auto gradients =
      run("kind=conv_weight_grad groups=2 bias=1", {x, gy, index, values});
  const ParameterGradients expected =
      *convWeightGrad(psi, Tensor::from(x), Tensor::from(gy), 2);
  ASSERT_EQ(gradients.size(), 2u);
  EXPECT_EQ(gradients[0].data, expected.weight.data);
  EXPECT_EQ(gradients[1].data, expected.bias.data);
}

TEST(ProbeOp, RefusesOperandsThatDoNotFit) {
  const ProbeOp op =
      *parseProbeOp("kind=contract form=table k=2 in=12 out=7 degree=3");
  Random random{5};
  const Table table(12, 7, 3, 2, 5, random);
  const Array x = *Array::create(DType::f32, {1, 1, 12});
  EXPECT_EQ(recompute(op, {x}).message(),
            "expected the operation to have 3 operands, but got 1");
  const Array narrow = *Array::create(DType::i32, {7, 2});
  EXPECT_EQ(recompute(op, {x, narrow, table.valueArray()}).message(),
            "expected psi's index to have degree 3, but got 7x2xi32");
  const Array wide = *Array::create(DType::f32, {1, 1, 13});
  EXPECT_EQ(
      recompute(op, {wide, table.indexArray(), table.valueArray()}).message(),
      "expected x to have dimension 2 equal to 12, but got 13");
}

} // namespace
