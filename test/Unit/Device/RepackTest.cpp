//===- RepackTest.cpp - changes of layout against a loop ------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceTestUtil.h"

#include "disco/Support/DType.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <cuda_runtime_api.h>
#include <random>
#include <string>
#include <vector>

using namespace disco;
using namespace disco::test;

namespace {

struct Field {
  int64_t batch, channels, points;
  int64_t size; ///< bytes of an element

  int64_t stored(int32_t layout) const {
    return layout == DISCO_C8 ? (channels + 7) / 8 * 8 : channels;
  }
  int64_t elements(int32_t layout) const {
    return batch * stored(layout) * points;
  }
  int64_t bytes(int32_t layout) const { return elements(layout) * size; }
  /// Where element (sample, c, point) is.
  int64_t place(int32_t layout, int64_t sample, int64_t c,
                int64_t point) const {
    if (layout == DISCO_NCHW)
      return (sample * channels + c) * points + point;
    if (layout == DISCO_NHWC)
      return (sample * points + point) * channels + c;
    const int64_t block = sample * stored(layout) / 8 + c / 8;
    return (block * points + point) * 8 + c % 8;
  }
};

/// Exactly as large as it must be; `offset` bytes away from alignment.
class Memory {
public:
  explicit Memory(int64_t bytes, int64_t offset = 0) : offset(offset) {
    if (bytes + offset > 0) {
      EXPECT_EQ(cudaMalloc(&base, bytes + offset), cudaSuccess);
    }
  }
  ~Memory() { cudaFree(base); }
  Memory(const Memory &) = delete;
  char *get() const { return static_cast<char *>(base) + offset; }

private:
  void *base = nullptr;
  int64_t offset;
};

class Repack : public DeviceTest {
protected:
  void SetUp() override {
    context.struct_size = sizeof context;
    DeviceTest::SetUp();
  }
  void TearDown() override { disco_device_destroy_repack(prepared); }

  disco_status prepare(int32_t from, int32_t to, const Field &f) {
    disco_device_destroy_repack(prepared);
    prepared = nullptr;
    disco_repack repack = {};
    repack.struct_size = sizeof repack;
    repack.from_layout = from;
    repack.to_layout = to;
    repack.from_dtype = repack.to_dtype = f.size == 8   ? DISCO_I64
                                          : f.size == 4 ? DISCO_F32
                                                        : DISCO_BF16;
    repack.channels = f.channels;
    repack.points = f.points;
    return disco_device_prepare_repack(&context, &repack, &prepared);
  }

  disco_device_context context = {};
  disco_prepared_repack *prepared = nullptr;
};

constexpr int32_t layouts[] = {DISCO_NCHW, DISCO_NHWC, DISCO_C8};

/// The layouts that differ.
std::vector<std::pair<int32_t, int32_t>> allPairs() {
  std::vector<std::pair<int32_t, int32_t>> pairs;
  for (const int32_t from : layouts)
    for (const int32_t to : layouts)
      if (from != to)
        pairs.emplace_back(from, to);
  return pairs;
}

/// Random bytes, also in channels that do not exist.
std::vector<char> randomBytes(std::mt19937_64 &random, int64_t bytes) {
  std::vector<char> all(bytes);
  for (char &byte : all)
    byte = static_cast<char>(random());
  return all;
}

std::vector<char> expectedOf(const std::vector<char> &given, const Field &f,
                             int32_t from, int32_t to) {
  std::vector<char> all(f.bytes(to), 0);
  for (int64_t b = 0; b < f.batch; ++b)
    for (int64_t c = 0; c < f.channels; ++c)
      for (int64_t i = 0; i < f.points; ++i)
        std::memcpy(&all[f.place(to, b, c, i) * f.size],
                    &given[f.place(from, b, c, i) * f.size], f.size);
  return all;
}

TEST_F(Repack, EveryPairOfLayoutsAndSizeOfElement) {
  std::mt19937_64 random(1);
  int compared = 0;
  for (const auto &[from, to] : allPairs())
    for (const int64_t size : {2, 4, 8})
      for (const int64_t channels : {1, 3, 7, 8, 9, 16, 33, 70})
        for (const int64_t points : {1, 5, 64, 77, 1032, 1100}) {
          const Field f = {compared % 3 + 1, channels, points, size};
          // c8 must be aligned; the others need not be.
          const int64_t fromOffset =
              from != DISCO_C8 && compared % 2 ? size : 0;
          const int64_t toOffset = to != DISCO_C8 && compared % 5 ? size : 0;
          SCOPED_TRACE(testing::Message()
                       << "layouts " << from << " to " << to << ", " << size
                       << " bytes, batch " << f.batch << ", channels "
                       << channels << ", points " << points);
          const std::vector<char> given = randomBytes(random, f.bytes(from));
          const Memory x(f.bytes(from), fromOffset), y(f.bytes(to), toOffset);
          ASSERT_EQ(cudaMemcpy(x.get(), given.data(), given.size(),
                               cudaMemcpyDefault),
                    cudaSuccess);
          ASSERT_EQ(cudaMemset(y.get(), 0xff, f.bytes(to)), cudaSuccess);
          ASSERT_EQ(prepare(from, to, f), DISCO_OK) << disco_last_error();
          ASSERT_EQ(disco_device_run_repack(prepared, f.batch, x.get(), y.get(),
                                            nullptr),
                    DISCO_OK)
              << disco_last_error();
          std::vector<char> got(f.bytes(to));
          ASSERT_EQ(
              cudaMemcpy(got.data(), y.get(), got.size(), cudaMemcpyDefault),
              cudaSuccess);
          ASSERT_TRUE(got == expectedOf(given, f, from, to));
          ++compared;
        }
  EXPECT_EQ(compared, 6 * 3 * 8 * 6);
}

/// Every bit pattern of 16 bits, and numbers that f32 cannot hold: as the host
/// rounds them.
TEST_F(Repack, EveryConversionOfTypes) {
  const DType types[] = {DType::f64, DType::f16, DType::bf16};
  // Neighbours of what a half can hold, beyond its range, and what is no
  // number.
  std::vector<double> values;
  for (int bits = 0; bits < 1 << 16; ++bits)
    for (const DType type : {DType::f16, DType::bf16}) {
      const auto half = static_cast<uint16_t>(bits);
      const double value = loadAsDouble(&half, type, 0);
      values.insert(values.end(), {value, value * 1.0004882, value * 0.99951});
    }
  const auto count = static_cast<int64_t>(values.size());
  int compared = 0;
  for (const DType type : types)
    for (const bool widens : {true, false}) {
      const DType from = widens ? type : DType::f32;
      const DType to = widens ? DType::f32 : type;
      SCOPED_TRACE(testing::Message() << nameOf(from) << " to " << nameOf(to));
      std::vector<char> given(count * sizeOf(from)), want(count * sizeOf(to));
      for (int64_t i = 0; i < count; ++i) {
        storeFromDouble(given.data(), from, i, values[i]);
        storeFromDouble(want.data(), to, i,
                        loadAsDouble(given.data(), from, i));
      }
      disco_device_destroy_repack(prepared);
      prepared = nullptr;
      const disco_repack repack = {sizeof(disco_repack),
                                   DISCO_NCHW,
                                   DISCO_NCHW,
                                   static_cast<disco_dtype>(from),
                                   static_cast<disco_dtype>(to),
                                   1,
                                   count / 3};
      ASSERT_EQ(disco_device_prepare_repack(&context, &repack, &prepared),
                DISCO_OK)
          << disco_last_error();
      const Memory x(given.size()), y(want.size());
      ASSERT_EQ(
          cudaMemcpy(x.get(), given.data(), given.size(), cudaMemcpyDefault),
          cudaSuccess);
      ASSERT_EQ(cudaMemset(y.get(), 0xff, want.size()), cudaSuccess);
      ASSERT_EQ(disco_device_run_repack(prepared, 3, x.get(), y.get(), nullptr),
                DISCO_OK)
          << disco_last_error();
      std::vector<char> got(want.size());
      ASSERT_EQ(cudaMemcpy(got.data(), y.get(), got.size(), cudaMemcpyDefault),
                cudaSuccess);
      for (int64_t i = 0; i < count; ++i) {
        const double expected = loadAsDouble(want.data(), to, i);
        const double value = loadAsDouble(got.data(), to, i);
        ASSERT_TRUE(value == expected ||
                    (std::isnan(value) && std::isnan(expected)))
            << values[i] << ": expected " << expected << ", but got " << value;
        ++compared;
      }
    }
  EXPECT_EQ(compared, 3 * 2 * count);
}

/// x[i] = i mod a prime, so that elements 2^31 or 2^32 apart differ.
TEST_F(Repack, TensorsPastTwoToThe31Elements) {
  constexpr int64_t period = 65521;
  const Field f = {1, 17, (1 << 27) + 8, 2};
  ASSERT_GT(f.elements(DISCO_NCHW), int64_t(1) << 31);
  const Memory memory[] = {Memory(f.bytes(DISCO_NCHW)),
                           Memory(f.bytes(DISCO_NHWC)),
                           Memory(f.bytes(DISCO_C8))};
  std::vector<uint16_t> pattern(period);
  for (int64_t i = 0; i < period; ++i)
    pattern[i] = static_cast<uint16_t>(i);
  char *nchw = memory[DISCO_NCHW].get();
  ASSERT_EQ(cudaMemcpy(nchw, pattern.data(), 2 * period, cudaMemcpyDefault),
            cudaSuccess);
  for (int64_t done = 2 * period; done < f.bytes(DISCO_NCHW); done *= 2)
    ASSERT_EQ(cudaMemcpy(nchw + done, nchw,
                         std::min(done, f.bytes(DISCO_NCHW) - done),
                         cudaMemcpyDefault),
              cudaSuccess);
  int64_t compared = 0;
  // Around: to c8, from there to nhwc, and back to nchw.
  for (const auto &[from, to] :
       {std::pair(DISCO_NCHW, DISCO_C8), std::pair(DISCO_C8, DISCO_NHWC),
        std::pair(DISCO_NHWC, DISCO_NCHW)}) {
    SCOPED_TRACE(testing::Message() << "layouts " << from << " to " << to);
    ASSERT_EQ(cudaMemset(memory[to].get(), 0xff, f.bytes(to)), cudaSuccess);
    ASSERT_EQ(prepare(from, to, f), DISCO_OK) << disco_last_error();
    ASSERT_EQ(disco_device_run_repack(prepared, 1, memory[from].get(),
                                      memory[to].get(), nullptr),
              DISCO_OK)
        << disco_last_error();
    // A million elements at the ends, in the middle, and about 2^31.
    const int64_t n = 1 << 20, all = f.elements(to);
    std::vector<uint16_t> got(n);
    for (const int64_t first :
         {int64_t(0), all / 2, (int64_t(1) << 31) - n / 2, all - n}) {
      ASSERT_EQ(cudaMemcpy(got.data(), memory[to].get() + 2 * first, 2 * n,
                           cudaMemcpyDefault),
                cudaSuccess);
      for (int64_t e = first; e < first + n; ++e) {
        int64_t c = 0, i = 0;
        if (to == DISCO_NCHW)
          c = e / f.points, i = e % f.points;
        else if (to == DISCO_NHWC)
          c = e % f.channels, i = e / f.channels;
        else
          c = e / 8 / f.points * 8 + e % 8, i = e / 8 % f.points;
        const int64_t expected =
            c < f.channels ? f.place(DISCO_NCHW, 0, c, i) % period : 0;
        ASSERT_EQ(got[e - first], expected) << "element " << e;
        ++compared;
      }
    }
  }
  EXPECT_EQ(compared, 3 * 4 * (1 << 20));
}

TEST_F(Repack, RunsInACapturedGraph) {
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  context.stream = stream;
  const Field f = {2, 9, 100, 2};
  const Memory x(f.bytes(DISCO_NCHW)), y(f.bytes(DISCO_C8));
  std::mt19937_64 random(2);
  const std::vector<char> given = randomBytes(random, f.bytes(DISCO_NCHW));
  ASSERT_EQ(cudaMemcpy(x.get(), given.data(), given.size(), cudaMemcpyDefault),
            cudaSuccess);
  ASSERT_EQ(prepare(DISCO_NCHW, DISCO_C8, f), DISCO_OK) << disco_last_error();
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal),
            cudaSuccess);
  EXPECT_EQ(
      disco_device_run_repack(prepared, f.batch, x.get(), y.get(), stream),
      DISCO_OK)
      << disco_last_error();
  disco_prepared_repack *const kept = prepared;
  prepared = nullptr;
  EXPECT_EQ(prepare(DISCO_C8, DISCO_NHWC, f), DISCO_NOT_PREPARED);
  EXPECT_STREQ(disco_last_error(),
               "expected a repack to be prepared before its stream is "
               "captured, but a capture is under way");
  EXPECT_EQ(prepared, nullptr);
  prepared = kept;
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  std::vector<char> got(f.bytes(DISCO_C8));
  ASSERT_EQ(cudaMemcpy(got.data(), y.get(), got.size(), cudaMemcpyDefault),
            cudaSuccess);
  EXPECT_TRUE(got == expectedOf(given, f, DISCO_NCHW, DISCO_C8));
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
}

TEST_F(Repack, MisuseIsAnError) {
  const Field f = {1, 8, 8, 2};
  const Memory x(f.bytes(DISCO_NCHW)), y(f.bytes(DISCO_C8), 8);
  ASSERT_EQ(prepare(DISCO_NCHW, DISCO_C8, f), DISCO_OK) << disco_last_error();
  const auto run = [&](int64_t batch, const void *from,
                       void *to) -> std::string {
    return disco_device_run_repack(prepared, batch, from, to, nullptr) ==
                   DISCO_INVALID_ARGUMENT
               ? disco_last_error()
               : "no error";
  };
  const auto address = [](const void *pointer) {
    return (testing::Message() << pointer).GetString();
  };
  EXPECT_EQ(run(1, x.get(), y.get()),
            "expected to to be aligned to 16 bytes, but got address " +
                address(y.get()));
  EXPECT_EQ(run(1, nullptr, y.get()),
            "expected from to be a pointer, but got null");
  std::vector<char> host(f.bytes(DISCO_NCHW));
  EXPECT_EQ(run(1, host.data(), y.get() - 8),
            "expected from to be memory of cuda:0, but got host memory at " +
                address(host.data()));
  EXPECT_EQ(run(1, x.get(), x.get()),
            "expected the operands of a repack to be apart, but got from at " +
                address(x.get()) + " and to at " + address(x.get()));
  EXPECT_EQ(run(-1, x.get(), y.get()),
            "expected the batch of a repack to be in [0, 72057594037927935], "
            "but got -1");
  // Nothing to do.
  EXPECT_EQ(disco_device_run_repack(prepared, 0, nullptr, nullptr, nullptr),
            DISCO_OK);
  const Field many = {int64_t(1) << 31, 1, 1, 2};
  const Memory large(many.bytes(DISCO_NHWC)), other(many.bytes(DISCO_NCHW));
  ASSERT_EQ(prepare(DISCO_NHWC, DISCO_NCHW, many), DISCO_OK);
  EXPECT_EQ(run(many.batch, large.get(), other.get()),
            "expected a tensor to repack to have at most 2147483647 tiles of "
            "64 channels and 64 points, but got batch 2147483648, 1 channels "
            "and 1 points");
}

} // namespace
