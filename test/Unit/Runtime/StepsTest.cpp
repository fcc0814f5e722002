//===- StepsTest.cpp - tables of entries for GPUs -------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These need no GPU: artifacts are opened, and refused.
//
//===----------------------------------------------------------------------===//

#include "RuntimeTest.h"
#include "StepsArtifact.h"

#include "disco/ABI/DeviceKernel.h"

#include <cstdlib>

using namespace disco;
using namespace disco::test;

namespace {

class StepsTest : public testing::Test {
protected:
  /// Opens the artifact as it is, which is malformed.
  void expectRefusal(const std::string &message,
                     disco_status status = DISCO_ABI_MISMATCH) {
    disco_artifact *opened = nullptr;
    EXPECT_FAILURE(disco_artifact_open(tables.path.c_str(), &opened), status,
                   message);
    EXPECT_EQ(opened, nullptr);
  }
  /// Changes a field, is refused, and changes it back.
  template <typename Field, typename Value>
  void refuse(Field &field, Value wrong, const std::string &message) {
    const Field right = field;
    field = static_cast<Field>(wrong);
    expectRefusal(message);
    field = right;
  }
  /// "expected artifact '...' to have <what>"
  template <typename Field, typename Value>
  void refuseTable(Field &field, Value wrong, const std::string &what) {
    refuse(field, wrong,
           "expected artifact '" + tables.path + "' to have " + what);
  }
  /// "expected step <index> of entry 'chain' of artifact '...' <what>"
  template <typename Field, typename Value>
  void refuseStep(int index, Field &field, Value wrong,
                  const std::string &what) {
    refuse(field, wrong,
           "expected step " + std::to_string(index) +
               " of entry 'chain' of artifact '" + tables.path + "' " + what);
  }

  StepsArtifact tables{artifactPath("steps")};
  disco_abi_entry &chain = tables.entry(0);
  disco_abi_entry &mix = tables.entry(1);
};

TEST_F(StepsTest, WellFormedTablesOpen) {
  disco_artifact *opened = nullptr;
  ASSERT_EQ(disco_artifact_open(tables.path.c_str(), &opened), DISCO_OK)
      << disco_last_error();
  EXPECT_STREQ(disco_artifact_target(opened), "cuda:sm_80");
  EXPECT_STREQ(disco_artifact_cpu(opened), "a100");
  const disco_entry *entry = nullptr;
  ASSERT_EQ(disco_artifact_find_entry(opened, "chain", &entry), DISCO_OK);
  // Shapes follow from the names in the types.
  std::vector<float> data(12);
  const std::vector<int64_t> shape = {3, 1, 4};
  const disco_tensor x = tensorOf(data, shape, DISCO_F32);
  int64_t dims[4] = {};
  ASSERT_EQ(disco_entry_output_shapes(entry, &x, 1, dims, 4, nullptr), DISCO_OK)
      << disco_last_error();
  EXPECT_EQ(dims[0], 3);
  EXPECT_EQ(dims[2], 2);
  disco_artifact_close(opened);
}

TEST_F(StepsTest, AreNotForTheCpu) {
  disco_artifact *opened = nullptr;
  ASSERT_EQ(disco_artifact_open(tables.path.c_str(), &opened), DISCO_OK)
      << disco_last_error();
  const disco_entry *entry = nullptr;
  ASSERT_EQ(disco_artifact_find_entry(opened, "chain", &entry), DISCO_OK);
  disco_context *context = nullptr;
  ASSERT_EQ(disco_context_create(nullptr, &context), DISCO_OK);
  const std::string message = "expected '" + tables.path +
                              "' to be built for cpu, the context's device, "
                              "but got target cuda:sm_80";
  EXPECT_FAILURE(disco_prepare(context, entry), DISCO_UNSUPPORTED_TARGET,
                 message);
  std::vector<float> data(12);
  const std::vector<int64_t> shape = {3, 1, 4}, yShape = {3, 1, 2, 3};
  std::vector<float> result(18);
  const disco_tensor x = tensorOf(data, shape, DISCO_F32);
  const disco_tensor y = tensorOf(result, yShape, DISCO_F32);
  uint64_t bytes = 0;
  EXPECT_FAILURE(disco_workspace_bytes(context, entry, &x, 1, &bytes),
                 DISCO_UNSUPPORTED_TARGET, message);
  EXPECT_FAILURE(
      disco_run(context, entry, &x, 1, &y, 1, nullptr, 0), DISCO_NOT_PREPARED,
      "expected entry 'chain' to be prepared in this context before it runs, "
      "but it is not");
  disco_context_destroy(context);
  disco_artifact_close(opened);
}

TEST_F(StepsTest, AContextForAGpuSaysWhatIsMissing) {
  disco_context_options options{};
  options.struct_size = sizeof options;
  options.device = {DISCO_CUDA, 12345};
  disco_context *context = nullptr;
  const disco_status status = disco_context_create(&options, &context);
  EXPECT_EQ(context, nullptr);
  const std::string message = disco_last_error();
  int32_t count = 0;
  if (disco_device_count(&count) == DISCO_OK) {
    EXPECT_EQ(status, DISCO_INVALID_ARGUMENT);
    EXPECT_EQ(message, "cannot use cuda:12345: expected the device to be in "
                       "[0, " +
                           std::to_string(count - 1) + "], but got 12345");
  } else {
    EXPECT_EQ(status, DISCO_UNSUPPORTED_TARGET);
    EXPECT_EQ(message,
              "cannot use cuda:12345: " + std::string(disco_last_error()));
  }
}

TEST_F(StepsTest, MalformedEntriesAreRefused) {
  const auto code = [](void *const *) -> int32_t { return 0; };
  refuseTable(chain.run, code, "no code of entry 'chain', but got one");
  const auto bytes = [](void *const *) -> int64_t { return 0; };
  refuseTable(chain.workspace_bytes, bytes,
              "no workspace_bytes function of entry 'chain', but got one");
  const auto shapes = [](void *const *, int64_t *) -> int32_t { return 0; };
  refuseTable(chain.output_shapes, shapes,
              "no output_shapes function of entry 'chain', but got one");
  refuseTable(chain.flags, 1, "flags of entry 'chain' in [0, 0], but got 1");
  refuseTable(chain.num_steps, -1,
              "a number of steps of entry 'chain' in [0, 65536], but got -1");
  refuseTable(chain.num_buffers, 1 << 30,
              "a number of buffers of entry 'chain' in [0, 262144], but got "
              "1073741824");
  refuseTable(chain.steps, nullptr, "steps of entry 'chain', but got null");
  refuseTable(chain.buffers, nullptr, "buffers of entry 'chain', but got null");
  // Without the fields behind, there are no steps.
  refuseTable(tables.root().entry_size, DISCO_ENTRY_SIZE_CPU,
              "entry_size 96, as target cuda:sm_80 needs, but got 72");
  refuseTable(tables.root().entry_size, 104, "entry_size 96, but got 104");
  refuse(chain.num_steps, 2,
         "expected output 0 of entry 'chain' of artifact '" + tables.path +
             "' to be written by a step, but it is by none");
  refuse(tables.dims(tables.outputOf(chain).dims)[0], -1,
         "expected every dimension of the outputs of entry 'chain' of artifact "
         "'" +
             tables.path +
             "' to be a number or the name of one of an input, but got "
             "another");
}

TEST_F(StepsTest, CodeIsNotForGpusAndStepsNotForTheCpu) {
  refuseTable(tables.root().target, "cpu",
              "code of entry 'chain', but got null");
}

TEST_F(StepsTest, UnknownTargetsAreNamedWhenOpened) {
  for (const char *target :
       {"", "cuda", "cuda:", "cuda:h200", "cuda:sm_", "cuda:sm_9x",
        "cuda:sm_70", "cuda:sm_90b", "cuda:sm_90aa", "cuda:sm_100000",
        "cuda:sm_-90", "CUDA:sm_90", "rocm:gfx90", "cpu "}) {
    const char *const right = tables.root().target;
    tables.root().target = target;
    expectRefusal("expected artifact '" + tables.path +
                      "' to have target cpu or cuda:sm_N, N at least 80 "
                      "(cuda:sm_90a), but got '" +
                      target + "'",
                  DISCO_UNSUPPORTED_TARGET);
    tables.root().target = right;
  }
  for (const char *target : {"cuda:sm_80", "cuda:sm_90a", "cuda:sm_120"}) {
    tables.root().target = target;
    disco_artifact *opened = nullptr;
    EXPECT_EQ(disco_artifact_open(tables.path.c_str(), &opened), DISCO_OK)
        << disco_last_error();
    disco_artifact_close(opened);
  }
  tables.root().target = "cuda:sm_80";
}

TEST_F(StepsTest, TheEnvironmentsThreadsAreNotReadForAGpu) {
  ASSERT_EQ(::setenv("DISCO_NUM_THREADS", "abc", 1), 0);
  disco_artifact *opened = nullptr;
  EXPECT_EQ(disco_artifact_open(tables.path.c_str(), &opened), DISCO_OK)
      << disco_last_error();
  disco_artifact_close(opened);
  // Nor by calls for devices; whether there is one is another matter.
  disco_device_context context = {};
  context.struct_size = sizeof context;
  context.device = 12345;
  disco_kernel_call call = *chain.steps[0].call;
  call.psi.offsets = chain.buffers[1].data;
  call.psi.indices = chain.buffers[2].data;
  call.psi.values = chain.buffers[3].data;
  disco_prepared *prepared = nullptr;
  EXPECT_NE(disco_device_prepare("csr_gather", &context, &call, &prepared),
            DISCO_OK);
  EXPECT_EQ(std::string(disco_last_error()).find("DISCO_NUM_THREADS"),
            std::string::npos)
      << disco_last_error();
  ::unsetenv("DISCO_NUM_THREADS");
}

TEST_F(StepsTest, TablesThatAreLongerThanTheFileAreRefused) {
  const auto longer = [&](const char *what, uint64_t bytes,
                          const void *pointer) {
    char address[32];
    std::snprintf(address, sizeof address, "%p", pointer);
    return "expected artifact '" + tables.path + "' to hold all of " + what +
           ", but got " + std::to_string(bytes) + " bytes at " + address +
           ", which are not all in it";
  };
  disco_abi_buffer &values = tables.buffer(chain, 3);
  static const int64_t dims[] = {int64_t(1) << 28, 2};
  const char *what = "data of buffer 3 of entry 'chain'";
  refuse(values.dims, dims, longer(what, uint64_t(1) << 31, values.data));
  // All of them, where 2^63 bytes are refused before.
  static const int64_t most[] = {int64_t(1) << 59, 2};
  refuse(values.dims, most, longer(what, uint64_t(1) << 62, values.data));
  // What is elsewhere: on the stack, and in this program.
  const float elsewhere[10] = {};
  refuse(values.data, elsewhere, longer(what, 40, elsewhere));
  static const float own[10] = {1};
  refuse(values.data, own, longer(what, 40, own));
  refuse(chain.num_steps, 65536,
         longer("steps of entry 'chain'", 65536 * sizeof(disco_abi_step),
                chain.steps));
  refuse(chain.num_buffers, 262144,
         longer("buffers of entry 'chain'", 262144 * sizeof(disco_abi_buffer),
                chain.buffers));
  refuse(
      tables.root().num_entries, 4096,
      longer("entries", 4096 * sizeof(disco_abi_entry), tables.root().entries));
  // None of an empty one is read.
  static const int64_t none[] = {0, 2};
  disco_abi_buffer &unused = tables.buffer(tables.entry(3), 3);
  refuse(unused.dims, none,
         "expected step 0 of entry 'longer' of artifact '" + tables.path +
             "' to have psi's values of at least 10 elements, but got 0");
}

TEST_F(StepsTest, MalformedBuffersAreRefused) {
  disco_abi_buffer &x = tables.buffer(chain, 0);
  disco_abi_buffer &offsets = tables.buffer(chain, 1);
  disco_abi_buffer &temporary = tables.buffer(chain, 4);
  disco_abi_buffer &y = tables.buffer(chain, 6);
  refuseTable(x.kind, 4,
              "a kind of buffer 0 of entry 'chain' in [0, 3], but got 4");
  refuseTable(x.rank, 9,
              "a rank of buffer 0 of entry 'chain' in [0, 8], but got 9");
  refuseTable(x.dtype, 6,
              "an element type of buffer 0 of entry 'chain' in [0, 5], but got "
              "6");
  refuseTable(x.dims, nullptr,
              "dimensions of buffer 0 of entry 'chain', but got null");
  refuseTable(x.index, 1,
              "an index of buffer 0 of entry 'chain' in [0, 0], but got 1");
  refuseTable(y.index, -1,
              "an index of buffer 6 of entry 'chain' in [0, 0], but got -1");
  refuseTable(temporary.index, 256,
              "an index of buffer 4 of entry 'chain' in [0, 255], but got 256");
  refuseTable(x.dtype, DISCO_F64,
              "the type of input 0 as that of buffer 0 of entry 'chain', but "
              "it differs");
  refuseTable(x.rank, 2,
              "the type of input 0 as that of buffer 0 of entry 'chain', but "
              "it differs");
  refuseTable(offsets.data, nullptr,
              "data of buffer 1 of entry 'chain', but got null");
  refuseTable(temporary.data, &offsets,
              "no data of buffer 4 of entry 'chain', but got one");
  const std::string odd = "data of buffer 1 of entry 'chain' aligned to its "
                          "elements, but got address ";
  char address[32];
  const auto *misaligned = static_cast<const char *>(offsets.data) + 1;
  std::snprintf(address, sizeof address, "%p",
                static_cast<const void *>(misaligned));
  refuseTable(offsets.data, misaligned, odd + address);
  static const int64_t unknown[] = {-3, 1, 2, 3};
  refuse(temporary.dims, unknown,
         "expected dimension 0 of buffer 4 of entry 'chain' of artifact '" +
             tables.path +
             "' to be a number or the name of a dimension of an input, but got "
             "-3");
  // -1 of an input is any size, which gives none to a buffer.
  static const int64_t any[] = {-2, -1, 2, 3};
  const int64_t *const named = tables.inputOf(chain).dims;
  tables.inputOf(chain).dims = any;
  refuse(x.dims, any,
         "expected dimension 1 of buffer 0 of entry 'chain' of artifact '" +
             tables.path +
             "' to be a number or the name of a dimension of an input, but got "
             "-1");
  tables.inputOf(chain).dims = named;
  static const int64_t negative[] = {-2};
  refuse(offsets.dims, negative,
         "expected dimension 0 of buffer 1 of entry 'chain' of artifact '" +
             tables.path + "' to be a number, but got -2");
  static const int64_t huge[] = {-2, int64_t(1) << 40, int64_t(1) << 40, 3};
  refuse(temporary.dims, huge,
         "expected buffer 4 of entry 'chain' of artifact '" + tables.path +
             "' to be smaller than 2^63 bytes, but it is not");
}

TEST_F(StepsTest, MalformedStepsAreRefused) {
  disco_abi_step &first = tables.step(chain, 0);
  refuseTable(first.kind, 7,
              "a kind of step 0 of entry 'chain' in [0, 1], but got 7");
  refuseTable(first.family, nullptr,
              "a family of step 0 of entry 'chain', but got null");
  refuseTable(first.call, nullptr,
              "a call of step 0 of entry 'chain', but got null");
  disco_kernel_call &call = tables.call(first);
  refuseStep(0, call.struct_size, 8,
             "to have a well-formed call: expected the call to have " +
                 std::to_string(sizeof call) + " bytes, but got 8");
  refuseStep(0, call.psi.form, 9,
             "to have a well-formed call: expected psi's form to be in [0, 3], "
             "but got 9");
  refuseTable(call.schedule.out_layout, 3,
              "a layout of step 0 of entry 'chain' in [0, 2], but got 3");
  refuseTable(call.schedule.num_fields, 17,
              "a number of schedule fields of step 0 of entry 'chain' in [0, "
              "16], but got 17");
  refuseTable(call.schedule.num_fields, -1,
              "a number of schedule fields of step 0 of entry 'chain' in [0, "
              "16], but got -1");
}

TEST_F(StepsTest, WhatARunSaysIsNotInATable) {
  disco_kernel_call &call = tables.call(tables.step(chain, 0));
  refuseStep(0, call.batch, -7,
             "to have a well-formed call: expected batch to be in [0, "
             "2147483647], but got -7");
  refuseTable(call.batch, 2,
              "a batch in the call of step 0 of entry 'chain' in [0, 0], but "
              "got 2");
  const std::string message =
      "no pointer in the call of step 0 of entry 'chain', but got one";
  static float memory;
  for (const void **pointer :
       {&call.x, &call.gy, &call.weight, &call.bias, &call.residual,
        &call.psi.offsets, &call.psi.indices, &call.psi.values})
    refuseTable(*pointer, &memory, message);
  refuseTable(call.y, &memory, message);
  refuseTable(call.grad_bias, &memory, message);
}

TEST_F(StepsTest, AStepOfTwoKindsIsRefused) {
  disco_abi_step &kernel = tables.step(chain, 0);
  disco_abi_step &repack = tables.step(tables.entry(2), 0);
  refuseTable(kernel.repack, repack.repack,
              "no repack of step 0 of entry 'chain', but got one");
  refuseTable(repack.call, kernel.call,
              "no call of step 0 of entry 'repack', which is a repack, but got "
              "one");
  refuseTable(repack.family, "csr_gather",
              "no family of step 0 of entry 'repack', which is a repack, but "
              "got one");
}

TEST_F(StepsTest, OperandsThatDoNotFitTheCallAreRefused) {
  disco_abi_step &first = tables.step(chain, 0);
  int32_t *operands = first.operands;
  refuseStep(0, operands[DISCO_OPERAND_X], -1, "to have x, but got -1");
  refuseStep(0, operands[DISCO_OPERAND_GY], 0, "to have no gy, but got 0");
  refuseStep(0, operands[DISCO_OPERAND_WEIGHT], 2,
             "to have no weight, but got 2");
  refuseStep(0, operands[DISCO_OPERAND_X], 7,
             "to have a buffer of x in [0, 7), but got 7");
  refuseStep(0, operands[DISCO_OPERAND_Y], INT32_MIN,
             "to have a buffer of y in [0, 7), but got -2147483648");
  refuseStep(0, operands[DISCO_OPERAND_VALUES], 0,
             "to have psi's values in a constant, but got buffer 0");
  refuseStep(0, operands[DISCO_OPERAND_Y], 3,
             "to have y in an output or a temporary, but got buffer 3");
  refuseStep(0, operands[DISCO_OPERAND_X], 3,
             "to have x of 4 elements a sample, but got 2");
  refuseStep(0, operands[DISCO_OPERAND_Y], 5,
             "to have y of 6 elements a sample, but got 4");
  refuseStep(0, operands[DISCO_OPERAND_INDICES], 3,
             "to have psi's indices of i32, but got f32");
  disco_kernel_call &call = tables.call(first);
  refuseStep(0, call.psi.num_taps, 6,
             "to have psi's indices of at least 6 elements, but got 5");
  refuseStep(0, call.psi.nlon_out, 4,
             "to have psi's offsets of at least 5 elements, but got 4");
  static const int64_t fixed[] = {5, 1, 2, 3}, inner[] = {-2, 1, -2, 3};
  disco_abi_buffer &temporary = tables.buffer(chain, 4);
  refuseStep(0, temporary.dims, fixed,
             "to have y of the batch of x (-2), but got 5");
  refuseStep(0, temporary.dims, inner,
             "to have dimension 2 of y static, but got -2");
  refuseStep(0, temporary.rank, 0, "to have y with a batch, but got a scalar");
}

TEST_F(StepsTest, ReadingWhatNothingWroteIsRefused) {
  disco_abi_step &first = tables.step(chain, 0);
  disco_abi_step &second = tables.step(chain, 1);
  refuseStep(0, first.operands[DISCO_OPERAND_X], 5,
             "to have x in a buffer that an earlier step wrote, but buffer 5 "
             "holds nothing");
  // The third step reads slot 1 after another buffer has come there.
  disco_abi_buffer &features = tables.buffer(chain, 4);
  disco_abi_step &third = tables.step(chain, 2);
  refuseStep(1, features.index, 1,
             "to have y in another slot than x, but both are in slot 1");
  const disco_abi_step right = second;
  second = first;
  refuseStep(2, third.operands[DISCO_OPERAND_X], 5,
             "to have x in a buffer that an earlier step wrote, but buffer 5 "
             "holds nothing");
  // An output is written twice.
  second.operands[DISCO_OPERAND_Y] = 6;
  third.operands[DISCO_OPERAND_X] = 0;
  expectRefusal("expected step 2 of entry 'chain' of artifact '" + tables.path +
                "' not to write output 0, which step 1 writes, but it does");
  second = right;
  third.operands[DISCO_OPERAND_X] = 5;
}

TEST_F(StepsTest, ProbesThatTheArtifactDoesNotHaveAreRefused) {
  disco_abi_step &first = tables.step(chain, 0);
  refuseTable(first.probe, 0,
              "a probe of step 0 of entry 'chain' in [-1, -1], but got 0");
  refuseTable(first.probe, -2,
              "a probe of step 0 of entry 'chain' in [-1, -1], but got -2");
}

TEST_F(StepsTest, MalformedRepacksAreRefused) {
  // x [n,1,4] of entry 'repack' to c8 and back.
  disco_abi_entry &entry = tables.entry(2);
  disco_abi_step &first = tables.step(entry, 0);
  auto &repack = const_cast<disco_repack &>(*first.repack);
  const std::string step =
      "expected step 0 of entry 'repack' of artifact '" + tables.path + "' ";
  refuseTable(first.repack, nullptr,
              "a repack of step 0 of entry 'repack', but got null");
  refuse(repack.to_layout, DISCO_NCHW,
         step + "to have a well-formed repack: expected a repack to change the "
                "layout or the element type, but got neither");
  refuse(repack.to_dtype, DISCO_F64,
         step + "to have a well-formed repack: expected a repack to change the "
                "layout or the element type, but got both");
  const int32_t dtype = repack.to_dtype;
  repack.to_dtype = DISCO_F64;
  refuse(repack.from_dtype, DISCO_F64, step + "to have x of f64, but got f32");
  repack.to_dtype = dtype;
  refuse(repack.channels, 2,
         step + "to have x of 8 elements a sample, but got 4");
  refuse(repack.points, 5,
         step + "to have x of 5 elements a sample, but got 4");
  refuse(first.operands[DISCO_OPERAND_Y], 2,
         step + "to have y of 32 elements a sample, but got 4");
  refuse(first.operands[DISCO_OPERAND_BIAS], 0,
         step + "to have no bias, but got 0");
}

} // namespace
