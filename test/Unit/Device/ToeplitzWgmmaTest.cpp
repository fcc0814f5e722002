//===- ToeplitzWgmmaTest.cpp - toeplitz_wgmma against float64 -------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Runtime/CpuGatherTestUtil.h"
#include "DeviceTestUtil.h"

#include "disco/ABI/Families/ToeplitzWgmma.h"
#include "disco/Filter/SphereFilter.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>

using namespace disco;
using namespace disco::test;
using reference::Tensor;

namespace {

disco_status runToeplitz(const disco_kernel_call *call, void *, uint64_t) {
  disco_kernel_call copy = *call;
  copy.schedule.num_fields = 0;
  return runKernelOnDevice("toeplitz_wgmma", 0, copy) ? DISCO_OK
                                                      : DISCO_EXECUTION_FAILED;
}
constexpr KernelFamily toeplitzWgmma = {"toeplitz_wgmma", noWorkspace,
                                        runToeplitz};

class ToeplitzWgmma : public DeviceTest {
protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped())
      return;
    disco_device_properties properties = {};
    properties.struct_size = sizeof properties;
    ASSERT_EQ(disco_device_query(0, &properties), DISCO_OK);
    if (properties.major != 9 || properties.minor != 0)
      GTEST_SKIP() << "the kernels are for sm_90a";
    setTestedFamily(toeplitzWgmma);
  }
};

/// A call of contract or contract_sum with operands in any layout.
struct LayoutCase {
  bool sum = false;
  DType dtype = DType::bf16;
  int64_t batch = 1, channels = 1;
  int32_t in = DISCO_NCHW, out = DISCO_NCHW;
  disco_schedule schedule = {};
};

int64_t padded(int64_t channels) { return (channels + 7) / 8 * 8; }

/// Where element (b, c, point) is in c8.
int64_t placeInC8(int64_t field, int64_t channels, int64_t point,
                  int64_t points) {
  const int64_t b = field / channels, c = field % channels;
  return ((b * padded(channels) + c) / 8 * points + point) * 8 + c % 8;
}

/// nchw to c8, with NaN in the channels that do not exist.
Array toC8(const Array &nchw, int64_t batch, int64_t channels) {
  const int64_t points = nchw.numElements() / (batch * channels);
  Array c8 = nanArray(nchw.dtype, {batch * padded(channels) * points});
  for (int64_t field = 0; field < batch * channels; ++field)
    for (int64_t i = 0; i < points; ++i)
      c8.set(placeInC8(field, channels, i, points),
             nchw.at(field * points + i));
  return c8;
}

/// c8 to nchw; the channels that do not exist must be zero.
Array fromC8(const Array &c8, std::vector<int64_t> shape) {
  Array nchw = nanArray(c8.dtype, std::move(shape));
  const int64_t batch = nchw.shape[0], channels = nchw.shape[1];
  const int64_t points = nchw.numElements() / (batch * channels);
  double sum = 0;
  for (int64_t i = 0; i < c8.numElements(); ++i)
    sum += std::abs(c8.at(i));
  for (int64_t field = 0; field < batch * channels; ++field)
    for (int64_t i = 0; i < points; ++i) {
      const double value = c8.at(placeInC8(field, channels, i, points));
      nchw.set(field * points + i, value);
      sum -= std::abs(value);
    }
  // Exact: a sum of 16-bit numbers of similar size.
  EXPECT_LT(std::abs(sum), 1e-6) << "padding channels that are not zero";
  return nchw;
}

/// Runs on operands in the layouts of the case; the result in nchw.
Result<Array> compute(const TestPsi &psi, const LayoutCase &c, const Array &x) {
  disco_kernel_call call = makeKernelCall(
      c.sum ? DISCO_OP_CONTRACT_SUM : DISCO_OP_CONTRACT, psi.tables, c.dtype);
  call.batch = c.batch;
  call.channels = c.channels;
  call.schedule.num_fields = c.schedule.num_fields;
  std::copy_n(c.schedule.fields, c.schedule.num_fields, call.schedule.fields);
  call.schedule.in_layout = c.in;
  call.schedule.out_layout = c.out;
  std::vector<int64_t> shape = {c.batch, c.channels};
  if (!c.sum)
    shape.push_back(psi.op.numBasis());
  for (int64_t size : psi.op.shape().out)
    shape.push_back(size);
  int64_t elements = 1;
  for (int64_t size : shape)
    elements *= size;
  const bool blocked = c.out == DISCO_C8;
  Array y =
      nanArray(c.dtype, {blocked ? elements / c.channels * padded(c.channels)
                                 : elements});
  const Array given = c.in == DISCO_C8 ? toC8(x, c.batch, c.channels) : x;
  call.x = given.bytes.data();
  call.y = y.bytes.data();
  if (Status s = runKernelOnDevice("toeplitz_wgmma", 0, call); !s)
    return s.error();
  if (blocked)
    return fromC8(y, shape);
  y.shape = shape;
  return y;
}

Array randomInput(std::mt19937 &random, const TestPsi &psi,
                  const LayoutCase &c) {
  std::vector<int64_t> shape = {c.batch, c.channels};
  if (c.sum)
    shape.push_back(psi.op.numBasis());
  for (int64_t size : psi.op.shape().in)
    shape.push_back(size);
  return randomArray(random, c.dtype, shape);
}

/// "" or what is wrong.
std::string check(std::mt19937 &random, const TestPsi &psi,
                  const LayoutCase &c) {
  const Array x = randomInput(random, psi, c);
  const auto expected = [&](reference::Precision precision) {
    return c.sum ? reference::contractSum(psi.op, Tensor::from(x), precision)
                 : reference::contract(psi.op, Tensor::from(x), precision);
  };
  const Result<Array> y = compute(psi, c, x);
  if (!y)
    return y.message();
  const Tensor naive = *expected({c.dtype});
  return judge(*expected({}), &naive, *y);
}

TEST_F(ToeplitzWgmma, RandomProblems) {
  constexpr int64_t grids[][4] = {
      {5, 12, 4, 12},  {4, 34, 3, 17},   {5, 39, 3, 13},   {3, 20, 3, 5},
      {4, 7, 5, 14},   {3, 11, 4, 33},   {2, 5, 3, 20},    {3, 300, 2, 300},
      {1, 1, 1, 1},    {3, 260, 4, 130}, {2, 96, 2, 96},   {2, 130, 2, 65},
      {3, 90, 17, 90}, {2, 129, 3, 258}, {1, 3200, 1, 800}};
  int compared = 0;
  for (int seed = 0; seed < 150; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](auto... values) {
      const int64_t all[] = {values...};
      return all[random() % (sizeof all / sizeof all[0])];
    };
    const auto &g = grids[seed % 15];
    const int64_t phases = std::max<int64_t>(1, g[3] / g[1]);
    const int64_t K = std::min<int64_t>(1 + seed % 25, 64 / phases);
    ConvCase c;
    c.batch = pick(1, 1, 2, 3);
    c.channels = pick(1, 3, 4, 5, 7, 8, 9, 16, 25);
    c.dtype = c.weightType = seed % 2 ? DType::bf16 : DType::f16;
    SCOPED_TRACE("seed " + std::to_string(seed) + ", K " + std::to_string(K) +
                 ", " + describe(c));
    const TestPsi psi =
        sphereCase(randomSphere(random, K, g[0], g[1], g[2], g[3]),
                   random() % 2 ? c.dtype : DType::f64);
    EXPECT_EQ(checkContract(random, psi, c), "");
    EXPECT_EQ(checkContractSum(random, psi, c), "");
    ++compared;
  }
  EXPECT_EQ(compared, 150);
}

TEST_F(ToeplitzWgmma, TailsOfFieldsFeaturesAndRings) {
  std::mt19937 random(7);
  int compared = 0;
  for (const int64_t nlon : {90, 361})
    for (const int64_t K : {20, 25, 64}) {
      const filter::SphereOperator op =
          randomSphere(random, K, 3, nlon, 3, nlon, 12);
      for (const int64_t channels : {1, 3, 4, 5, 7, 8, 9, 16})
        for (const DType dtype : {DType::f16, DType::bf16}) {
          ConvCase c;
          c.dtype = c.weightType = dtype;
          c.channels = channels;
          SCOPED_TRACE("nlon " + std::to_string(nlon) + ", K " +
                       std::to_string(K) + ", " + describe(c));
          const TestPsi psi = sphereCase(op, dtype);
          EXPECT_EQ(checkContract(random, psi, c), "");
          EXPECT_EQ(checkContractSum(random, psi, c), "");
          ++compared;
        }
    }
  EXPECT_EQ(compared, 2 * 3 * 8 * 2);
}

/// x in c8 has NaN in the channels that do not exist.
TEST_F(ToeplitzWgmma, EveryLayoutOfBothOperands) {
  std::mt19937 random(3);
  int compared = 0;
  for (const auto &[in, out] : {std::pair(96, 96), std::pair(90, 45),
                                std::pair(30, 60), std::pair(361, 361)}) {
    const TestPsi psi =
        sphereCase(randomSphere(random, 9, 4, in, 3, out, 20), DType::f64);
    for (const int32_t inLayout : {DISCO_NCHW, DISCO_C8})
      for (const int32_t outLayout : {DISCO_NCHW, DISCO_C8})
        for (const bool sum : {false, true}) {
          LayoutCase c;
          c.sum = sum;
          c.dtype = compared % 2 ? DType::f16 : DType::bf16;
          c.batch = 2;
          c.channels = compared % 3 ? 11 : 8;
          c.in = inLayout;
          c.out = outLayout;
          SCOPED_TRACE(::testing::Message()
                       << in << " -> " << out << ", layouts " << inLayout
                       << " and " << outLayout << (sum ? ", sum" : ""));
          EXPECT_EQ(check(random, psi, c), "");
          ++compared;
        }
  }
  EXPECT_EQ(compared, 4 * 2 * 2 * 2);
}

disco_schedule scheduleOf(int64_t rows, int64_t groups, int64_t stages) {
  disco_schedule schedule = {};
  schedule.num_fields = 3;
  schedule.fields[0] = {DISCO_TOEPLITZ_WGMMA_ROWS, rows};
  schedule.fields[1] = {DISCO_TOEPLITZ_WGMMA_LON_GROUPS, groups};
  schedule.fields[2] = {DISCO_TOEPLITZ_WGMMA_STAGES, stages};
  return schedule;
}

/// Whether slabs fit, for planes of one phase and a stride of 1.
bool fits(int64_t planes, int64_t groups, int64_t stages) {
  const auto longitudes = static_cast<int32_t>(64 / planes);
  const auto count = static_cast<int32_t>(groups);
  return disco_toeplitz_wgmma_slab_bytes(count, longitudes,
                                         static_cast<int32_t>(stages)) /
             16 >=
         disco_toeplitz_wgmma_least_points(count, longitudes, 1);
}

TEST_F(ToeplitzWgmma, EverySchedule) {
  std::mt19937 random(5);
  const TestPsi psi =
      sphereCase(randomSphere(random, 3, 19, 100, 19, 100, 9), DType::f64);
  int compared = 0;
  for (const bool sum : {false, true})
    for (const int64_t rows : {1, 2, 4, 8, 16})
      for (const int64_t groups : {1, 2, 4, 9, 18})
        for (const int64_t stages : {2, 3, 4, 8}) {
          if ((!sum && rows > 1) || !fits(sum ? rows : 3, groups, stages))
            continue;
          LayoutCase c;
          c.sum = sum;
          c.channels = 9;
          c.in = c.out = DISCO_C8;
          c.schedule = scheduleOf(rows, groups, stages);
          SCOPED_TRACE(::testing::Message()
                       << (sum ? "sum, " : "") << "rows " << rows << ", groups "
                       << groups << ", stages " << stages);
          EXPECT_EQ(check(random, psi, c), "");
          ++compared;
        }
  EXPECT_EQ(compared, 110);
}

TEST_F(ToeplitzWgmma, SchedulesThatThereAreNotAreRefused) {
  std::mt19937 random(5);
  const TestPsi psi =
      sphereCase(randomSphere(random, 3, 4, 100, 4, 100, 9), DType::f64);
  const auto error = [&](bool sum, int64_t rows, int64_t groups,
                         int64_t stages) -> std::string {
    LayoutCase c;
    c.sum = sum;
    c.schedule = scheduleOf(rows, groups, stages);
    const Result<Array> y = compute(psi, c, randomInput(random, psi, c));
    return y ? "no error" : y.message();
  };
  EXPECT_EQ(error(true, 3, 0, 0),
            "expected rows of toeplitz_wgmma to be one of 1, 2, 4, 8, 16, but "
            "got 3");
  EXPECT_EQ(error(false, 0, 32, 0),
            "expected lon_groups of toeplitz_wgmma to be one of 18, 9, 4, 2, "
            "1, but got 32");
  EXPECT_EQ(error(false, 2, 18, 3),
            "expected rows 2, lon_groups 18 and stages 3 (0: free) to fit 64 "
            "rows of a tensor tile and the shared memory of a CTA, but they do "
            "not for 1 phases and stride 1");
  EXPECT_EQ(error(true, 1, 18, 3),
            "expected rows 1, lon_groups 18 and stages 3 (0: free) to fit 64 "
            "rows of a tensor tile and the shared memory of a CTA, but they do "
            "not for 1 phases and stride 1");
  EXPECT_EQ(error(false, 0, 0, 9),
            "expected rows 0, lon_groups 0 and stages 9 (0: free) to fit 64 "
            "rows of a tensor tile and the shared memory of a CTA, but they do "
            "not for 1 phases and stride 1");
}

/// The filters of psi.tsv and their adjoints: every basis, norm and grid, hats
/// whose supports differ among them.
TEST_F(ToeplitzWgmma, GoldenFilters) {
  const char *given = std::getenv("DISCO_GOLDEN_FOLDER");
  std::ifstream file(std::string(given ? given : GOLDEN_FOLDER) + "psi.tsv");
  std::string line;
  std::getline(file, line); // the header
  std::mt19937 random(9);
  int compared[2] = {}, ineligible = 0, large = 0;
  while (std::getline(file, line)) {
    SCOPED_TRACE(line);
    const auto filter =
        filter::parseSphereFilter(line.substr(line.rfind('\t') + 1));
    ASSERT_TRUE(filter.ok()) << filter.message();
    const auto op = filter::buildOperator(*filter);
    ASSERT_TRUE(op.ok()) << op.message();
    if (op->nlatIn * op->nlonIn > 5000 || op->nlatOut * op->nlonOut > 5000) {
      ++large; // the reference would take minutes
      continue;
    }
    for (const filter::SphereOperator &psi : {*op, filter::adjoint(*op)}) {
      if (psi.numBasis * psi.phases > 64) {
        ++ineligible;
        continue;
      }
      for (const DType dtype : {DType::f16, DType::bf16}) {
        ConvCase c;
        c.dtype = c.weightType = dtype;
        c.channels = 3;
        const TestPsi tested = sphereCase(psi, DType::f64);
        EXPECT_EQ(checkContract(random, tested, c), "");
        EXPECT_EQ(checkContractSum(random, tested, c), "");
        ++compared[dtype == DType::bf16];
      }
    }
  }
  // Of the table's filters and their adjoints.
  std::printf("golden: toeplitz_wgmma f16 %d bf16 %d operators\n", compared[0],
              compared[1]);
  EXPECT_EQ(compared[0], 170);
  EXPECT_EQ(compared[1], 170);
  EXPECT_EQ(ineligible, 2);
  EXPECT_EQ(large, 0);
}

TEST_F(ToeplitzWgmma, EmptyTensorsAndRowsWithoutTaps) {
  filter::SphereOperator op;
  op.numBasis = 3;
  op.nlatIn = op.nlatOut = 2;
  op.nlonIn = op.nlonOut = 50;
  op.rowOffsets = {0, 0, 0};
  const TestPsi psi = sphereCase(op, DType::f64);
  for (const bool sum : {false, true}) {
    LayoutCase c;
    c.sum = sum;
    c.channels = 5;
    // Nothing of x has a part in rows without taps, whatever it is.
    const Array x = nanArray(c.dtype, {5 * 3 * 100});
    const Result<Array> y = compute(psi, c, x);
    ASSERT_TRUE(y.ok()) << y.message();
    for (int64_t i = 0; i < y->numElements(); ++i)
      ASSERT_EQ(y->at(i), 0);
    disco_kernel_call call = makeKernelCall(
        sum ? DISCO_OP_CONTRACT_SUM : DISCO_OP_CONTRACT, psi.tables, c.dtype);
    call.channels = 5;
    const Status s = runKernelOnDevice("toeplitz_wgmma", 0, call);
    EXPECT_TRUE(s) << s.message();
  }
}

TEST_F(ToeplitzWgmma, TwoRunsGiveTheSameBits) {
  std::mt19937 random(13);
  const TestPsi psi =
      sphereCase(randomSphere(random, 9, 5, 720, 40, 720, 100), DType::f64);
  for (const bool sum : {false, true}) {
    LayoutCase c;
    c.sum = sum;
    c.batch = 2;
    c.channels = 24;
    const Array x = randomInput(random, psi, c);
    const Result<Array> first = compute(psi, c, x), second = compute(psi, c, x);
    ASSERT_TRUE(first.ok() && second.ok());
    EXPECT_EQ(std::memcmp(first->bytes.data(), second->bytes.data(),
                          first->bytes.size()),
              0);
  }
}

/// Memory of device 0.
class Block {
public:
  explicit Block(uint64_t bytes) : bytes(bytes) {
    context.struct_size = sizeof context;
    EXPECT_EQ(disco_device_allocate(&context, bytes, &memory), DISCO_OK)
        << disco_last_error();
  }
  ~Block() { disco_device_release(&context, memory, bytes); }
  Block(const Block &) = delete;
  char *get() const { return static_cast<char *>(memory); }
  void write(uint64_t at, const std::vector<char> &from) const {
    EXPECT_EQ(disco_device_copy(&context, get() + at, from.data(), from.size()),
              DISCO_OK);
  }
  std::vector<char> read(uint64_t at, uint64_t size) const {
    std::vector<char> to(size);
    EXPECT_EQ(disco_device_copy(&context, to.data(), get() + at, size),
              DISCO_OK);
    return to;
  }

private:
  disco_device_context context = {};
  uint64_t bytes;
  void *memory = nullptr;
};

/// Four times the same sample, whose features have 2.4e9 elements together.
TEST_F(ToeplitzWgmma, SamplesPastTwoToThe31ElementsAreThoseOfTheFirst) {
  const Result<filter::SphereFilter> filter = filter::parseSphereFilter(
      "sphere_filter<harmonic, [3, 3], cutoff = 0.017, norm = mean, in = "
      "grid<legendre_gauss, 360x720>, out = grid<legendre_gauss, 360x720>>");
  ASSERT_TRUE(filter.ok()) << filter.message();
  const Result<filter::SphereOperator> psi = filter::buildOperator(*filter);
  ASSERT_TRUE(psi.ok()) << psi.message();
  const Result<PsiTables> tables = PsiTables::fromSphere(*psi, DType::f32);
  ASSERT_TRUE(tables.ok()) << tables.message();
  constexpr int64_t batch = 4, channels = 256, points = 360 * 720;
  constexpr int64_t xBytes = 2 * channels * points, zBytes = 9 * xBytes;
  static_assert(batch * zBytes / 2 > int64_t(1) << 31);
  std::mt19937 random(17);
  std::vector<char> sample(xBytes);
  for (int64_t i = 0; i < channels * points; ++i)
    storeFromDouble(sample.data(), DType::bf16, i,
                    static_cast<double>(random() % 2048) / 1024 - 1);
  const Block x(batch * xBytes), first(batch * zBytes), again(batch * zBytes);
  for (int64_t b = 0; b < batch; ++b)
    x.write(b * xBytes, sample);
  disco_device_context context = {};
  context.struct_size = sizeof context;
  int64_t compared = 0;
  for (const int32_t layout : {DISCO_C8, DISCO_NCHW}) {
    SCOPED_TRACE(testing::Message() << "layout " << layout);
    disco_kernel_call call =
        makeKernelCall(DISCO_OP_CONTRACT, *tables, DType::bf16);
    call.batch = batch;
    call.channels = channels;
    call.schedule.in_layout = DISCO_C8;
    call.schedule.out_layout = layout;
    disco_prepared *prepared = nullptr;
    ASSERT_EQ(
        disco_device_prepare("toeplitz_wgmma", &context, &call, &prepared),
        DISCO_OK)
        << disco_last_error();
    call.x = x.get();
    for (const Block *z : {&first, &again}) {
      call.y = z->get();
      EXPECT_EQ(disco_device_run(prepared, &call, nullptr, nullptr, 0),
                DISCO_OK)
          << disco_last_error();
    }
    EXPECT_EQ(disco_device_synchronize(&context), DISCO_OK);
    constexpr int64_t parts = 24;
    static_assert(zBytes % parts == 0);
    for (int64_t part = 0; part < parts; ++part) {
      const int64_t at = part * (zBytes / parts);
      const std::vector<char> want = first.read(at, zBytes / parts);
      ASSERT_NE(want, std::vector<char>(want.size(), 0));
      for (int64_t b = 0; b < batch; ++b)
        for (const Block *z : {&first, &again}) {
          ASSERT_EQ(z->read(b * zBytes + at, want.size()), want)
              << "sample " << b << ", part " << part;
          ++compared;
        }
    }
    disco_device_destroy(prepared);
  }
  EXPECT_EQ(compared, 2 * 24 * 4 * 2);
}

TEST_F(ToeplitzWgmma, WhatItDoesNotServeIsNamed) {
  std::mt19937 random(1);
  const auto prepare = [&](int32_t op, DType dtype, int64_t K, int64_t nlonOut,
                           int32_t layout) -> std::string {
    const TestPsi psi =
        sphereCase(randomSphere(random, K, 3, 20, 3, nlonOut), DType::f64);
    disco_kernel_call call = makeKernelCall(op, psi.tables, dtype);
    call.channels = call.out_channels = 8;
    if (op == DISCO_OP_CONTRACT)
      call.out_channels = 0;
    call.schedule.in_layout = layout;
    disco_device_context context = {};
    context.struct_size = sizeof context;
    disco_prepared *prepared = nullptr;
    EXPECT_NE(
        disco_device_prepare("toeplitz_wgmma", &context, &call, &prepared),
        DISCO_OK);
    EXPECT_EQ(prepared, nullptr);
    return disco_last_error();
  };
  EXPECT_EQ(prepare(DISCO_OP_CONV, DType::bf16, 9, 20, DISCO_NCHW),
            "expected the operation of toeplitz_wgmma to be contract (0) or "
            "contract_sum (1), but got 2");
  EXPECT_EQ(prepare(DISCO_OP_CONTRACT, DType::f32, 9, 20, DISCO_NCHW),
            "expected the type of toeplitz_wgmma to be f16 (2) or bf16 (3), "
            "but got 1");
  EXPECT_EQ(prepare(DISCO_OP_CONTRACT, DType::bf16, 9, 20, DISCO_NHWC),
            "expected the layouts of toeplitz_wgmma to be nchw (0) or c8 (2), "
            "but got 1");
  EXPECT_EQ(prepare(DISCO_OP_CONTRACT, DType::bf16, 40, 40, DISCO_NCHW),
            "expected K times the phases to be at most 64, the rows of a "
            "tensor tile, but got 40 times 2");
}

} // namespace
