//===- ContextTest.cpp - contexts and their memory ------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeTest.h"

#include <cstdlib>

using namespace disco;

namespace {

/// An allocator that counts, and can be told to fail or to align badly.
struct Counter {
  int64_t allocations = 0, releases = 0;
  uint64_t liveBytes = 0;
  size_t alignment = 0, misalignment = 0;
  bool fail = false;

  disco_context_options options() {
    disco_context_options options{};
    options.struct_size = sizeof options;
    options.device = {DISCO_CPU, 0};
    options.user = this;
    options.allocate = [](void *user, size_t bytes,
                          size_t alignment) -> void * {
      auto &self = *static_cast<Counter *>(user);
      if (self.fail)
        return nullptr;
      ++self.allocations;
      self.liveBytes += bytes;
      self.alignment = alignment;
      auto *memory = static_cast<char *>(
          std::aligned_alloc(alignment, (bytes / alignment + 2) * alignment));
      return memory + self.misalignment;
    };
    options.release = [](void *user, void *memory, size_t bytes) {
      auto &self = *static_cast<Counter *>(user);
      ++self.releases;
      self.liveBytes -= bytes;
      std::free(static_cast<char *>(memory) - self.misalignment);
    };
    return options;
  }
};

TEST(Context, UsesTheGivenAllocator) {
  Counter counter;
  const disco_context_options options = counter.options();
  disco_context *context = nullptr;
  ASSERT_EQ(disco_context_create(&options, &context), DISCO_OK);
  void *memory = nullptr;
  ASSERT_EQ(disco_allocate(context, 1000, &memory), DISCO_OK);
  EXPECT_EQ(counter.liveBytes, 1000u);
  EXPECT_EQ(counter.alignment, size_t(DISCO_ALIGNMENT));
  disco_release(context, memory, 1000);
  EXPECT_EQ(counter.liveBytes, 0u);
  EXPECT_EQ(counter.releases, 1);
  ASSERT_EQ(disco_allocate(context, 0, &memory), DISCO_OK);
  EXPECT_EQ(memory, nullptr);
  disco_release(context, nullptr, 0);
  EXPECT_EQ(counter.allocations, 1);
  EXPECT_EQ(counter.releases, 1);
  disco_context_destroy(context);
}

TEST(Context, SaysHowManyBytesThereWereNot) {
  Counter counter;
  counter.fail = true;
  const disco_context_options options = counter.options();
  disco_context *context = nullptr;
  ASSERT_EQ(disco_context_create(&options, &context), DISCO_OK);
  void *memory = nullptr;
  EXPECT_FAILURE(disco_allocate(context, 123456789, &memory),
                 DISCO_OUT_OF_MEMORY,
                 "out of memory: cannot allocate 123456789 bytes on cpu");
  EXPECT_EQ(memory, nullptr);
  disco_context_destroy(context);
}

TEST(Context, TheDefaultAllocatorAlignsAndFails) {
  disco_context *context = nullptr;
  ASSERT_EQ(disco_context_create(nullptr, &context), DISCO_OK);
  void *memory = nullptr;
  ASSERT_EQ(disco_allocate(context, 1, &memory), DISCO_OK);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % DISCO_ALIGNMENT, 0u);
  disco_release(context, memory, 1);
  EXPECT_FAILURE(disco_allocate(context, UINT64_MAX, &memory),
                 DISCO_OUT_OF_MEMORY,
                 "out of memory: cannot allocate 18446744073709551615 bytes on "
                 "cpu");
  disco_context_destroy(context);
}

TEST(Context, RefusesMemoryThatIsNotAligned) {
  Counter counter;
  counter.misalignment = 16;
  const disco_context_options options = counter.options();
  disco_context *context = nullptr;
  ASSERT_EQ(disco_context_create(&options, &context), DISCO_OK);
  void *memory = nullptr;
  EXPECT_EQ(disco_allocate(context, 100, &memory), DISCO_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(disco_last_error())
                .find("expected the context's allocator to align memory to 64 "
                      "bytes, but got address 0x"),
            0u)
      << disco_last_error();
  EXPECT_EQ(counter.liveBytes, 0u) << "the memory was not given back";
  disco_context_destroy(context);
}

TEST(Context, ChecksItsOptions) {
  disco_context *context = nullptr;
  EXPECT_FAILURE(disco_context_create(nullptr, nullptr), DISCO_INVALID_ARGUMENT,
                 "expected context to be a pointer, but got null");
  Counter counter;
  const auto refuse = [&](void (*change)(disco_context_options &),
                          disco_status status, const char *message) {
    disco_context_options options = counter.options();
    change(options);
    EXPECT_FAILURE(disco_context_create(&options, &context), status, message);
    EXPECT_EQ(context, nullptr);
  };
  refuse([](disco_context_options &o) { o.struct_size = 8; },
         DISCO_INVALID_ARGUMENT,
         "expected struct_size of the context options to be at least 48, but "
         "got 8");
  refuse([](disco_context_options &o) { o.device = {DISCO_CPU, 2}; },
         DISCO_INVALID_ARGUMENT,
         "expected device to be cpu or cuda, but got cpu:2");
  refuse([](disco_context_options &o) { o.device = {77, 0}; },
         DISCO_INVALID_ARGUMENT,
         "expected device to be cpu or cuda, but got device 77:0");
  refuse(
      [](disco_context_options &o) {
        o.stream = reinterpret_cast<void *>(0x10);
      },
      DISCO_INVALID_ARGUMENT,
      "expected stream to be null on the cpu, but got 0x10");
  refuse([](disco_context_options &o) { o.release = nullptr; },
         DISCO_INVALID_ARGUMENT,
         "expected both or neither of allocate and release to be given, but "
         "got only allocate");
  refuse([](disco_context_options &o) { o.allocate = nullptr; },
         DISCO_INVALID_ARGUMENT,
         "expected both or neither of allocate and release to be given, but "
         "got only release");
  disco_context_destroy(nullptr);
}

TEST(Context, StatusesHaveNames) {
  EXPECT_STREQ(disco_status_name(DISCO_OK), "ok");
  EXPECT_STREQ(disco_status_name(DISCO_NOT_PREPARED), "not_prepared");
  EXPECT_STREQ(disco_status_name(DISCO_INTERNAL), "internal");
  EXPECT_STREQ(disco_status_name(-1), "unknown");
  EXPECT_STREQ(disco_status_name(10), "unknown");
  EXPECT_EQ(disco_abi_version(), uint32_t(DISCO_ABI_VERSION));
}

} // namespace
