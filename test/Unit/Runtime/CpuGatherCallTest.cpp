//===- CpuGatherCallTest.cpp - promises of the kernels' interface ---------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuGatherTestConv.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <sched.h>
#include <thread>

using namespace disco;
using namespace disco::test;

namespace {

//===----------------------------------------------------------------------===//
// Determinism
//===----------------------------------------------------------------------===//

TEST(CpuGatherDeterminism, ThreadsTilesAndBlocksDoNotChangeABit) {
  for (DType dtype : {DType::f64, DType::f32, DType::bf16})
    for (int32_t order : {DISCO_FILTER_FIRST, DISCO_WEIGHT_FIRST}) {
      Conv conv(dtype);
      conv.call.schedule.order = order;
      conv.call.num_threads = 1;
      const std::vector<uint8_t> expected = conv.run();
      for (int threads : {1, 2, 3, 8})
        for (int64_t size : {0, 1, 2, 16, 100}) {
          conv.call.num_threads = threads;
          setFields(conv.call, {size, size});
          EXPECT_EQ(conv.run(), expected) << threads << " threads, " << size;
        }
    }
}

TEST(CpuGatherDeterminism, ThreadsDoNotChangeABitOfTheWeightGradient) {
  Conv conv;
  const Array gy = randomArray(conv.random, DType::f32, {2, 7, 5, 30});
  conv.y = nanArray(DType::f32, {7, 5, 9});
  conv.call.op = DISCO_OP_CONV_WEIGHT_GRAD;
  conv.call.activation = conv.call.has_bias = 0;
  conv.call.gy = gy.bytes.data();
  conv.call.num_threads = 1;
  const std::vector<uint8_t> expected = conv.run();
  for (int threads : {2, 3, 8}) {
    conv.call.num_threads = threads;
    EXPECT_EQ(conv.run(), expected) << threads << " threads";
  }
}

TEST(CpuGatherWorkspace, IsNotThatOfTheProcessorsOfTheCallingThread) {
  Conv conv;
  const KernelFamily &family = *findKernelFamily("cpu_gather");
  uint64_t bytes = 0, pinnedBytes = 0;
  ASSERT_EQ(family.workspaceBytes(&conv.call, &bytes), DISCO_OK);
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    ASSERT_EQ(family.workspaceBytes(&conv.call, &pinnedBytes), DISCO_OK);
  }).join();
  EXPECT_GT(bytes, 0u);
  EXPECT_EQ(pinnedBytes, bytes);
}

/// Runs contract or contract_sum; a value that is not finite is in x.
std::vector<uint8_t> runSparse(int32_t op, const TestPsi &psi, const Array &x,
                               Array y, int32_t threads, int64_t block) {
  disco_kernel_call call = makeKernelCall(op, psi.tables, x.dtype);
  call.batch = x.shape[0];
  call.channels = x.shape[1];
  call.num_threads = threads;
  setFields(call, {0, block});
  call.x = x.bytes.data();
  call.y = y.bytes.data();
  const Status s = runKernel(*findKernelFamily("cpu_gather"), call);
  EXPECT_TRUE(s) << s.message();
  return y.bytes;
}

TEST(CpuGatherDeterminism, WhereNanGoesInSumsDoesNotDependOnThreadsOrBlocks) {
  std::mt19937 random(11);
  // Rows next to each other read the same rings, so that they are groups.
  const TestPsi psi =
      sphereCase(randomSphere(random, 5, 24, 32, 40, 32, 9), DType::f32);
  Array x = randomArray(random, DType::f32, {1, 6, 5, 24, 32});
  for (int64_t i = 0; i < x.numElements(); i += 611)
    x.set(i, i % 2 == 0 ? NAN : INFINITY);
  const Array y = nanArray(DType::f32, {1, 6, 40, 32});
  const auto expected = runSparse(DISCO_OP_CONTRACT_SUM, psi, x, y, 1, 0);
  for (int threads : {1, 2, 5, 8})
    for (int64_t block : {0, 1, 4, 6})
      EXPECT_EQ(runSparse(DISCO_OP_CONTRACT_SUM, psi, x, y, threads, block),
                expected)
          << threads << " threads, " << block;
}

TEST(CpuGatherDeterminism, ThreadsAndBlocksDoNotChangeABitOfMirroredTaps) {
  std::mt19937 random(12);
  // More elements than a thread has room for, so that groups are split.
  for (int64_t numBasis : {4, 25})
    for (int64_t nlonOut : {64, 128}) {
      const TestPsi psi = sphereCase(
          mirroredSphere(random, numBasis, 24, 128, 20, nlonOut), DType::f32);
      const Array x =
          randomArray(random, DType::f32, {1, 3, numBasis, 24, 128});
      const Array y = nanArray(DType::f32, {1, 3, numBasis, 20, nlonOut});
      Array fields = x;
      fields.shape = {1, 3 * numBasis, 24, 128};
      const Array wide =
          nanArray(DType::f32, {1, 3 * numBasis, numBasis, 20, nlonOut});
      const auto sums = runSparse(DISCO_OP_CONTRACT_SUM, psi, x, y, 1, 0);
      const auto features =
          runSparse(DISCO_OP_CONTRACT, psi, fields, wide, 1, 0);
      for (int threads : {2, 5, 8})
        for (int64_t block : {0, 1, 2}) {
          EXPECT_EQ(runSparse(DISCO_OP_CONTRACT_SUM, psi, x, y, threads, block),
                    sums)
              << threads << " threads, " << block;
          EXPECT_EQ(
              runSparse(DISCO_OP_CONTRACT, psi, fields, wide, threads, block),
              features)
              << threads << " threads, " << block;
        }
    }
}

/// One row of one arc of 7 taps about longitude 10, of a map that is even and
/// one that is odd.
filter::SphereOperator evenAndOdd() {
  filter::SphereOperator op;
  op.numBasis = 2;
  op.nlatIn = op.nlatOut = 1;
  op.nlonIn = op.nlonOut = 24;
  op.rowOffsets = {0, 1};
  op.arcs = {{0, 7, 7, 0}};
  const double half[] = {0.1, -0.7, 0.3};
  for (int u = -3; u <= 3; ++u) {
    const double value = u == 0 ? 0.9 : half[std::abs(u) - 1];
    op.values.push_back(value);
    op.values.push_back(u == 0 ? 0 : u < 0 ? -value : value);
  }
  return op;
}

/// x [1,C,24], even or odd about longitude 10.
Array aboutTen(int64_t channels, double sign) {
  std::mt19937 random(4);
  Array x = randomArray(random, DType::f32, {1, channels, 1, 24});
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t u = 1; u < 12; ++u)
      x.set(c * 24 + (34 - u) % 24, sign * x.at(c * 24 + (10 + u) % 24));
    if (sign < 0)
      x.set(c * 24 + 10, 0);
  }
  return x;
}

TEST(CpuGather, MirroredTapsCancelWhatIsOddForAnEvenMapAndTheReverse) {
  const TestPsi psi = sphereCase(evenAndOdd(), DType::f32);
  for (const double sign : {-1.0, 1.0}) {
    Array y = nanArray(DType::f32, {1, 3, 2, 1, 24});
    y.bytes = runSparse(DISCO_OP_CONTRACT, psi, aboutTen(3, sign), y, 1, 0);
    for (int64_t c = 0; c < 3; ++c)
      for (int64_t k = 0; k < 2; ++k) {
        const double value = y.at((c * 2 + k) * 24);
        // Not only nearly: products do not differ in their rounding.
        if ((k == 0) == (sign < 0))
          EXPECT_EQ(value, 0) << "map " << k;
        else
          EXPECT_NE(value, 0) << "map " << k;
      }
  }
}

TEST(CpuGather, NonFiniteValuesReachThePointsThatHaveThemAmongTheirTaps) {
  const TestPsi psi = sphereCase(evenAndOdd(), DType::f32);
  for (const double bad : {double(NAN), double(INFINITY)}) {
    std::mt19937 random(5);
    Array x = randomArray(random, DType::f32, {1, 2, 1, 24});
    x.set(5, bad);
    Array y = nanArray(DType::f32, {1, 2, 2, 1, 24});
    y.bytes = runSparse(DISCO_OP_CONTRACT, psi, x, y, 2, 0);
    for (int64_t i = 0; i < y.numElements(); ++i) {
      // Point w reads longitudes w + 7 to w + 13 of its channel.
      const int64_t tap = (5 - i % 24 - 7 + 48) % 24;
      EXPECT_EQ(std::isfinite(y.at(i)), i >= 48 || tap >= 7) << i;
    }
    Array z = randomArray(random, DType::f32, {1, 2, 2, 1, 24});
    z.set(24 + 5, bad); // map 1 of channel 0
    Array sums = nanArray(DType::f32, {1, 2, 1, 24});
    sums.bytes = runSparse(DISCO_OP_CONTRACT_SUM, psi, z, sums, 2, 0);
    for (int64_t i = 0; i < sums.numElements(); ++i) {
      const int64_t tap = (5 - i % 24 - 7 + 48) % 24;
      EXPECT_EQ(std::isfinite(sums.at(i)), i >= 24 || tap >= 7) << i;
    }
  }
}

/// Results beyond some size are written around the caches; half of the channels
/// at a time are not.
template <typename T> void expectStreamedRowsAreTheOthers(DType dtype) {
  constexpr int64_t numBasis = 9, nlat = 5, nlon = 359;
  const int64_t half = sizeof(T) == 8 ? 70 : 140;
  std::mt19937 random(3);
  const TestPsi psi = sphereCase(
      randomSphere(random, numBasis, nlat, 2 * nlon, nlat, nlon, 7), dtype);
  const Array x = randomArray(random, dtype, {1, 2 * half, nlat, 2 * nlon});
  const int64_t count = 2 * half * numBasis * nlat * nlon;
  ASSERT_GT(count * int64_t(sizeof(T)), 16 << 20);
  ASSERT_LT(count * int64_t(sizeof(T)) / 2, 16 << 20);
  std::vector<T> whole(count + 3, T(7)), halves(count + 3, T(7));
  disco_kernel_call call = makeKernelCall(DISCO_OP_CONTRACT, psi.tables, dtype);
  call.batch = 1;
  call.num_threads = 2;
  const KernelFamily &family = *findKernelFamily("cpu_gather");
  call.x = x.bytes.data();
  call.channels = 2 * half;
  call.y = whole.data() + 1; // not the start of a line
  ASSERT_TRUE(runKernel(family, call));
  call.channels = half;
  for (int64_t i = 0; i < 2; ++i) {
    call.x = x.bytes.data() + i * x.bytes.size() / 2;
    call.y = halves.data() + 1 + i * count / 2;
    ASSERT_TRUE(runKernel(family, call));
  }
  EXPECT_EQ(std::memcmp(whole.data(), halves.data(), whole.size() * sizeof(T)),
            0);
  EXPECT_EQ(whole.front(), T(7));
  EXPECT_EQ(whole[count + 1], T(7));
}

TEST(CpuGatherDeterminism, StreamedResultsAreTheSameAndStayInTheirBounds) {
  expectStreamedRowsAreTheOthers<float>(DType::f32);
  expectStreamedRowsAreTheOthers<double>(DType::f64);
}

/// Rotates the last dimension of `array` to the east.
Array rotate(const Array &array, int64_t shift) {
  Array result = array;
  const int64_t n = array.shape.back();
  for (int64_t i = 0; i < array.numElements(); ++i)
    result.set(i / n * n + (i % n + shift) % n, array.at(i));
  return result;
}

TEST(CpuGatherDeterminism, ShiftedInputShiftsTheOutputBitForBit) {
  const int64_t grids[][2] = {{60, 30}, {30, 60}, {34, 34}, {39, 13}, {7, 21}};
  for (DType dtype : {DType::f32, DType::f16})
    for (const auto &[nlonIn, nlonOut] : grids)
      for (int32_t order : {DISCO_FILTER_FIRST, DISCO_WEIGHT_FIRST}) {
        Conv conv(dtype, 5, 7, nlonIn, nlonOut);
        conv.call.schedule.order = order;
        conv.run();
        const Array before = conv.y, x = conv.x;
        const int64_t lattice = std::min(nlonIn, nlonOut);
        for (int64_t shift : {int64_t(1), int64_t(5), lattice - 1}) {
          conv.x = rotate(x, shift * (nlonIn / lattice));
          conv.call.x = conv.x.bytes.data();
          conv.run();
          EXPECT_EQ(conv.y.bytes,
                    rotate(before, shift * (nlonOut / lattice)).bytes)
              << nlonIn << " -> " << nlonOut << ", shift " << shift;
        }
      }
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

TEST(CpuGather, RowsWithoutTapsAreTheBias) {
  Conv conv(DType::f32);
  filter::SphereOperator empty;
  empty.numBasis = 9;
  empty.nlatIn = 6;
  empty.nlonIn = 60;
  empty.nlatOut = 5;
  empty.nlonOut = 30;
  empty.stride = 2;
  empty.rowOffsets.assign(6, 0);
  conv.psi = sphereCase(empty, DType::f32);
  conv.call.psi = conv.psi.tables.view();
  conv.call.activation = DISCO_ACTIVATION_NONE;
  for (int32_t order : {DISCO_FILTER_FIRST, DISCO_WEIGHT_FIRST}) {
    conv.call.schedule.order = order;
    conv.run();
    for (int64_t i = 0; i < conv.y.numElements(); ++i)
      ASSERT_EQ(conv.y.at(i), conv.bias.at(i / 150 % 7));
  }
}

TEST(CpuGather, EmptyBatchWritesNothing) {
  Conv conv;
  conv.call.batch = 0;
  for (uint8_t byte : conv.run())
    ASSERT_EQ(byte, 0xff);
}

TEST(CpuGather, HalvesRoundToNearestEvenAndKeepSpecialValues) {
  // One tap of value 1: y is x.
  filter::SphereOperator op;
  op.numBasis = 1;
  op.nlatIn = op.nlatOut = 1;
  op.nlonIn = op.nlonOut = 1 << 16;
  op.rowOffsets = {0, 1};
  op.arcs.push_back({0, 0, 1, 0});
  op.values.push_back(1);
  const TestPsi psi = sphereCase(op, DType::f32);
  for (DType dtype : {DType::f16, DType::bf16}) {
    Array x = *Array::create(dtype, {1, 1, 1, 1 << 16});
    for (uint32_t bits = 0; bits < 1 << 16; ++bits) {
      const auto half = static_cast<uint16_t>(bits);
      std::memcpy(x.bytes.data() + 2 * bits, &half, 2);
    }
    Array y = nanArray(dtype, x.shape);
    disco_kernel_call call =
        makeKernelCall(DISCO_OP_CONTRACT, psi.tables, dtype);
    call.batch = call.channels = 1;
    call.x = x.bytes.data();
    call.y = y.bytes.data();
    ASSERT_TRUE(runKernel(*findKernelFamily("cpu_gather"), call));
    for (int64_t i = 0; i < 1 << 16; ++i) {
      const double expected = x.at(i), actual = y.at(i);
      if (std::isnan(expected))
        ASSERT_TRUE(std::isnan(actual)) << i;
      else
        ASSERT_EQ(actual, expected) << i;
    }
  }
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

struct Mistake {
  const char *message;
  std::function<void(disco_kernel_call &)> make;
};

TEST(CpuGatherErrors, NumbersThatDoNotFitAreNamed) {
  const Mistake mistakes[] = {
      {"expected the call to have 512 bytes, but got 8",
       [](auto &c) { c.struct_size = 8; }},
      {"expected the operation to be in [0, 3], but got 4",
       [](auto &c) { c.op = 4; }},
      {"expected activation to be in [0, 4], but got 5",
       [](auto &c) { c.activation = 5; }},
      {"expected the element type to be a floating-point type, but got i32",
       [](auto &c) { c.dtype = DISCO_I32; }},
      {"expected the weight's type to be that of the fields (f32), but "
       "got f64",
       [](auto &c) { c.weight_dtype = DISCO_F64; }},
      {"expected the weight's type to be that of the fields (f64), but got f32",
       [](auto &c) { c.dtype = DISCO_F64; }},
      {"expected the weight's type to be that of the fields (f16) or f32, but "
       "got bf16",
       [](auto &c) {
         c.dtype = DISCO_F16;
         c.weight_dtype = DISCO_BF16;
       }},
      {"expected groups to divide the 5 input and 7 output channels, but got 2",
       [](auto &c) { c.groups = 2; }},
      {"expected groups to divide the 5 input and 7 output channels, but got 0",
       [](auto &c) { c.groups = 0; }},
      {"expected the provider to be in [1, 1], but got 0",
       [](auto &c) { c.schedule.provider = DISCO_CODEGEN; }},
      {"expected the order to be in [0, 0], but got 1",
       [](auto &c) {
         c.op = DISCO_OP_CONTRACT;
         c.activation = c.has_bias = c.out_channels = 0;
         c.schedule.order = DISCO_WEIGHT_FIRST;
       }},
      {"expected the order to be in [1, 1], but got 0",
       [](auto &c) {
         c.op = DISCO_OP_CONTRACT_SUM;
         c.activation = c.has_bias = c.out_channels = 0;
       }},
      {"expected the schedule's reserved field to be in [0, 0], but got 1",
       [](auto &c) { c.schedule.reserved = 1; }},
      {"expected the layout of x to be in [0, 0], but got 2",
       [](auto &c) { c.schedule.in_layout = DISCO_C8; }},
      {"expected the schedule to have 0 or 2 fields, but got 1",
       [](auto &c) { setFields(c, {16}); }},
      {"expected field 1 of the schedule to have id 1, but got 0",
       [](auto &c) {
         setFields(c, {16, 16});
         c.schedule.fields[1].id = 0;
       }},
      {"expected the schedule's channel block to be in [0, 2147483647], but "
       "got -1",
       [](auto &c) { setFields(c, {16, -1}); }},
      {"expected the number of threads to be in [0, 256], but got 257",
       [](auto &c) { c.num_threads = 257; }},
      {"expected the number of threads to be in [0, 256], but got -1",
       [](auto &c) { c.num_threads = -1; }},
      {"expected batch to be in [0, 2147483647], but got -1",
       [](auto &c) { c.batch = -1; }},
      {"expected psi's form to be in [0, 3], but got 9",
       [](auto &c) { c.psi.form = 9; }},
      {"expected psi's adjoint flag to be in [0, 0], but got 1",
       [](auto &c) { c.psi.adjoint = 1; }},
      {"expected psi's number of basis functions to be in [1, 4096], but got 0",
       [](auto &c) { c.psi.num_basis = 0; }},
      {"expected one nlon of psi to divide the other, but got 60 and 31",
       [](auto &c) { c.psi.nlon_out = 31; }},
      {"expected psi's index type to be i32 or i64, but got f32",
       [](auto &c) { c.psi.index_dtype = DISCO_F32; }},
      {"expected a tensor to have at most 2^40 elements, but got "
       "96636764115 x 360 x 1",
       [](auto &c) {
         c.batch = INT32_MAX;
         c.channels = 5;
       }}};
  for (const Mistake &mistake : mistakes) {
    Conv conv;
    mistake.make(conv.call);
    uint64_t bytes = 77;
    EXPECT_EQ(disco_cpu_gather_workspace_bytes(&conv.call, &bytes),
              DISCO_INVALID_ARGUMENT);
    EXPECT_STREQ(disco_last_error(), mistake.message);
    EXPECT_EQ(bytes, 77u);
    EXPECT_EQ(disco_cpu_gather_run(&conv.call, nullptr, 0),
              DISCO_INVALID_ARGUMENT);
    EXPECT_STREQ(disco_last_error(), mistake.message);
    for (uint8_t byte : conv.y.bytes)
      ASSERT_EQ(byte, 0xff);
  }
}

TEST(CpuGatherErrors, TablesAndPointersAreCheckedBeforeAnythingIsWritten) {
  static int32_t offsets[6], arcs[40];
  const auto tables = [](auto &c) {
    std::memset(offsets, 0, sizeof offsets);
    std::memset(arcs, 0, sizeof arcs);
    for (int i = 1; i < 6; ++i)
      offsets[i] = 2;
    arcs[2] = arcs[6] = 3;
    c.psi.num_arcs = 2;
    c.psi.num_taps = 3;
    c.psi.offsets = offsets;
    c.psi.indices = arcs;
  };
  const Mistake mistakes[] = {
      {"expected x to be a pointer, but got null",
       [](auto &c) { c.x = nullptr; }},
      {"expected weight to be a pointer, but got null",
       [](auto &c) { c.weight = nullptr; }},
      {"expected bias to be a pointer, but got null",
       [](auto &c) { c.bias = nullptr; }},
      {"expected y to be a pointer, but got null",
       [](auto &c) { c.y = nullptr; }},
      {"expected psi's offsets to be a pointer, but got null",
       [](auto &c) { c.psi.offsets = nullptr; }},
      {"expected psi's offset 1 to be in [0, 2], but got 3",
       [](auto &) { offsets[1] = 3; }},
      {"expected psi's last offset to be 2, but got 1",
       [](auto &) { std::fill_n(offsets + 1, 5, 1); }},
      {"expected the latitude of psi's arc 1 to be in [0, 5], but got 6",
       [](auto &) { arcs[4] = 6; }},
      {"expected the latitude of psi's arc 1 to be in [2, 5], but got 1",
       [](auto &) {
         arcs[0] = 2;
         arcs[4] = 1;
       }},
      {"expected the start of psi's arc 0 to be in [0, 59], but got -1",
       [](auto &) { arcs[1] = -1; }},
      {"expected the length of psi's arc 0 to be in [0, 60], but got 61",
       [](auto &) { arcs[2] = 61; }},
      {"expected the value offset of psi's arc 0 to be in [0, 0], but got 1",
       [](auto &) { arcs[3] = 1; }}};
  for (const Mistake &mistake : mistakes) {
    Conv conv;
    tables(conv.call);
    mistake.make(conv.call);
    EXPECT_EQ(runKernel(*findKernelFamily("cpu_gather"), conv.call).message(),
              mistake.message);
    for (uint8_t byte : conv.y.bytes)
      ASSERT_EQ(byte, 0xff);
  }
}

/// psi of one arc with two taps of a quarter each, at the point and its eastern
/// neighbour.
filter::SphereOperator twoQuarters(double east) {
  filter::SphereOperator op;
  op.numBasis = 1;
  op.nlatIn = op.nlatOut = 1;
  op.nlonIn = op.nlonOut = 24;
  op.rowOffsets = {0, 1};
  op.arcs = {{0, 0, 2, 0}};
  op.values = {0.25, east};
  return op;
}

TEST(CpuGather, MirroredTapsAreAddedBeforeTheyAreMultiplied) {
  // A limit that the interface states: finite up to half of the largest number
  // of the sums' type, infinite beyond, though the result would be finite.
  constexpr double f32 = std::numeric_limits<float>::max();
  const struct {
    DType dtype;
    double largest; ///< that adds up to a finite sum
    double beyond;  ///< 0: all sums are finite
  } cases[] = {{DType::f64, std::numeric_limits<double>::max() / 2,
                std::numeric_limits<double>::max() / 2 * (1 + 0x1p-50)},
               {DType::f32, f32 / 2, f32 / 2 * (1 + 0x1p-20)},
               {DType::bf16, 0x1.fep126, 0x1p127},
               {DType::f16, 65504, 0}};
  for (const auto &c : cases)
    for (const double sign : {1.0, -1.0})
      for (int32_t op : {DISCO_OP_CONTRACT, DISCO_OP_CONTRACT_SUM}) {
        const TestPsi psi =
            sphereCase(twoQuarters(0.25 * sign),
                       c.dtype == DType::f64 ? DType::f64 : DType::f32);
        const bool isSum = op == DISCO_OP_CONTRACT_SUM;
        const auto run = [&](double value) {
          Array x = *Array::create(c.dtype,
                                   isSum ? std::vector<int64_t>{1, 1, 1, 1, 24}
                                         : std::vector<int64_t>{1, 1, 1, 24});
          x.set(10, value);
          x.set(11, sign * value);
          Array y =
              nanArray(c.dtype, isSum ? std::vector<int64_t>{1, 1, 1, 24}
                                      : std::vector<int64_t>{1, 1, 1, 1, 24});
          y.bytes = runSparse(op, psi, x, y, 1, 0);
          return y.at(10);
        };
        const std::string where = std::string(nameOf(c.dtype)) + ", sign " +
                                  std::to_string(sign) + ", operation " +
                                  std::to_string(op);
        EXPECT_EQ(run(c.largest), c.largest / 2) << where;
        if (c.beyond > 0) {
          EXPECT_EQ(run(c.beyond), INFINITY) << where;
        }
      }
}

static std::string address(const void *pointer) {
  char text[32];
  std::snprintf(text, sizeof text, "%p", pointer);
  return text;
}

static std::string refusal(const Conv &conv) {
  const Status s = runKernel(*findKernelFamily("cpu_gather"), conv.call);
  for (uint8_t byte : conv.y.bytes)
    EXPECT_EQ(byte, 0xff);
  return s ? "" : s.message();
}

TEST(CpuGatherErrors, OperandsThatOverlapTheResultAreRefused) {
  Conv conv;
  const uint8_t *y = conv.y.bytes.data();
  conv.call.x = y;
  EXPECT_EQ(refusal(conv), "expected y not to overlap x, but got addresses " +
                               address(y) + " and " + address(y));
  conv.call.x = y + conv.y.bytes.size() - 4;
  EXPECT_EQ(refusal(conv), "expected y not to overlap x, but got addresses " +
                               address(y) + " and " + address(conv.call.x));
  conv.call.x = conv.x.bytes.data();
  conv.call.has_residual = 1;
  conv.call.residual = y + 4;
  EXPECT_EQ(refusal(conv),
            "expected y not to overlap residual, but got addresses " +
                address(y) + " and " + address(y + 4));
}

TEST(CpuGatherErrors, TablesThatOverlapTheResultAreRefused) {
  Conv conv;
  const disco_kernel_psi psi = conv.call.psi;
  const size_t indexSize = psi.index_dtype == DISCO_I64 ? 8 : 4;
  const struct {
    const char *what;
    const void *disco_kernel_psi::*table;
    size_t bytes;
  } tables[] = {
      {"psi's offsets", &disco_kernel_psi::offsets, (5 + 1) * indexSize},
      {"psi's indices", &disco_kernel_psi::indices,
       psi.num_arcs * 4 * indexSize},
      {"psi's values", &disco_kernel_psi::values,
       psi.num_taps * 9 * sizeof(float)}};
  const size_t room = conv.y.bytes.size();
  for (const auto &t : tables) {
    // A copy with room for results on both sides.
    std::vector<uint8_t> memory(t.bytes + 2 * room, 0xff);
    uint8_t *table = memory.data() + room;
    std::memcpy(table, psi.*t.table, t.bytes);
    const std::vector<uint8_t> before = memory;
    conv.call.psi = psi;
    conv.call.psi.*t.table = table;
    // An element of the result is the first or the last of the table.
    for (uint8_t *y : {table + 4 - room, table + t.bytes - 4}) {
      conv.call.y = y;
      EXPECT_EQ(refusal(conv), "expected y not to overlap " +
                                   std::string(t.what) +
                                   ", but got addresses " + address(y) +
                                   " and " + address(table));
      EXPECT_EQ(memory, before);
    }
    // Beside it there is nothing wrong.
    for (uint8_t *y : {table - room, table + t.bytes}) {
      conv.call.y = y;
      EXPECT_EQ(refusal(conv), "");
    }
  }
}

TEST(CpuGatherErrors, WorkspaceThatOverlapsAnOperandIsRefused) {
  Conv conv;
  uint64_t bytes;
  ASSERT_EQ(disco_cpu_gather_workspace_bytes(&conv.call, &bytes), DISCO_OK);
  AlignedMemory memory(bytes + 64);
  auto *workspace = static_cast<uint8_t *>(memory.get());
  std::fill_n(workspace, bytes + 64, uint8_t(0));
  const auto run = [&](const disco_kernel_call &call) -> std::string {
    return disco_cpu_gather_run(&call, workspace, bytes) == DISCO_OK
               ? ""
               : disco_last_error();
  };
  const auto message = [&](const char *what, const void *pointer) {
    return "expected workspace not to overlap " + std::string(what) +
           ", but got addresses " + address(workspace) + " and " +
           address(pointer);
  };
  // Its last element; nothing of the operand is read.
  uint8_t *inside = workspace + bytes - 4;
  disco_kernel_call call = conv.call;
  call.y = inside;
  EXPECT_EQ(run(call), message("y", inside));
  call = conv.call;
  call.x = inside;
  EXPECT_EQ(run(call), message("x", inside));
  call = conv.call;
  call.weight = inside;
  EXPECT_EQ(run(call), message("weight", inside));
  call = conv.call;
  call.bias = inside;
  EXPECT_EQ(run(call), message("bias", inside));
  call = conv.call;
  call.has_residual = 1;
  call.residual = inside;
  EXPECT_EQ(run(call), message("residual", inside));
  // Tables are read before: a copy of the real one.
  std::memcpy(workspace, conv.call.psi.values,
              std::min<size_t>(bytes, conv.call.psi.num_taps * 9 * 4));
  call = conv.call;
  call.psi.values = workspace;
  EXPECT_EQ(run(call), message("psi's values", workspace));
  for (uint8_t byte : conv.y.bytes)
    ASSERT_EQ(byte, 0xff);
}

TEST(CpuGather, TheResidualMayBeTheResultItself) {
  for (int32_t order : {DISCO_FILTER_FIRST, DISCO_WEIGHT_FIRST}) {
    Conv conv;
    conv.call.schedule.order = order;
    conv.call.has_residual = 1;
    std::mt19937 random(2);
    Array residual = randomArray(random, DType::f32, conv.y.shape);
    conv.call.residual = residual.bytes.data();
    const std::vector<uint8_t> expected = conv.run();
    conv.call.y = residual.bytes.data();
    const Status s = runKernel(*findKernelFamily("cpu_gather"), conv.call);
    EXPECT_TRUE(s) << s.message();
    EXPECT_EQ(residual.bytes, expected);
  }
}

TEST(CpuGatherErrors, OperandsThatAreNotAlignedAreRefused) {
  Conv conv;
  conv.call.x = conv.x.bytes.data() + 2;
  EXPECT_EQ(refusal(conv), "expected x to be aligned to its elements of 4 "
                           "bytes, but got address " +
                               address(conv.call.x));
  conv.call.x = conv.x.bytes.data();
  const auto *indices = static_cast<const uint8_t *>(conv.call.psi.indices);
  conv.call.psi.indices = indices + 1;
  const int64_t size = conv.call.psi.index_dtype == DISCO_I64 ? 8 : 4;
  EXPECT_EQ(refusal(conv), "expected psi's indices to be aligned to its "
                           "elements of " +
                               std::to_string(size) +
                               " bytes, but got address " +
                               address(indices + 1));
}

TEST(CpuGatherErrors, PointIndicesOutOfRangeAreNamed) {
  std::mt19937 random(3);
  Array index = *Array::create(DType::i32, {4, 2});
  Array bins = *Array::create(DType::i32, {4, 2});
  const Array x = randomArray(random, DType::f32, {1, 3, 9});
  Array y = nanArray(DType::f32, {1, 3, 2, 4});
  const auto run = [&] {
    const PsiTables psi = PsiTables::fromOneHot(9, 4, index, bins, 2, false);
    disco_kernel_call call = makeKernelCall(DISCO_OP_CONTRACT, psi, DType::f32);
    call.batch = 1;
    call.channels = 3;
    call.x = x.bytes.data();
    call.y = y.bytes.data();
    return runKernel(*findKernelFamily("cpu_gather"), call).message();
  };
  index.set(5, 9); // padding
  EXPECT_EQ(run(), "");
  index.set(5, 10);
  EXPECT_EQ(run(), "expected psi's index 5 to be in [0, 9], but got 10");
  index.set(5, -1);
  EXPECT_EQ(run(), "expected psi's index 5 to be in [0, 9], but got -1");
  index.set(5, 0);
  bins.set(3, 2);
  EXPECT_EQ(run(), "expected psi's bin 3 to be in [0, 1], but got 2");
}

TEST(CpuGatherErrors, WorkspaceThatDoesNotFitIsRefused) {
  Conv conv;
  uint64_t bytes;
  ASSERT_EQ(disco_cpu_gather_workspace_bytes(&conv.call, &bytes), DISCO_OK);
  AlignedMemory memory(bytes + 64);
  EXPECT_EQ(disco_cpu_gather_run(&conv.call, memory.get(), bytes - 1),
            DISCO_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(disco_last_error()),
            "expected workspace to have at least " + std::to_string(bytes) +
                " bytes, but got " + std::to_string(bytes - 1));
  EXPECT_EQ(disco_cpu_gather_run(&conv.call, nullptr, bytes),
            DISCO_INVALID_ARGUMENT);
  EXPECT_EQ(disco_cpu_gather_run(&conv.call,
                                 static_cast<char *>(memory.get()) + 8, bytes),
            DISCO_INVALID_ARGUMENT);
  for (uint8_t byte : conv.y.bytes)
    ASSERT_EQ(byte, 0xff);
}

TEST(CpuGatherErrors, HugeProblemsOverflowNothing) {
  Conv conv;
  conv.call.channels = conv.call.out_channels = 1 << 17;
  conv.call.batch = 1;
  conv.call.num_threads = 256;
  setFields(conv.call, {INT32_MAX, INT32_MAX});
  uint64_t bytes = 0;
  if (disco_cpu_gather_workspace_bytes(&conv.call, &bytes) == DISCO_OK) {
    EXPECT_GT(bytes, uint64_t(1) << 37);
  }
}

} // namespace
