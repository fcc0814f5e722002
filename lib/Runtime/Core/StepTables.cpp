//===- StepTables.cpp - are an entry's steps well formed ------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../CPU/CpuGather/Problem.h"
#include "Steps.h"
#include "TableChecks.h"

#include <algorithm>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <string>

namespace disco::runtime {

namespace {

constexpr int32_t maxSteps = 1 << 16;
constexpr int32_t maxBuffers = 1 << 18;

bool isSame(const disco_abi_buffer &buffer, const disco_tensor_type &type) {
  return buffer.dtype == type.dtype && buffer.rank == type.rank &&
         std::equal(buffer.dims, buffer.dims + buffer.rank, type.dims);
}

/// Text of fixed size for messages.
struct Text {
  char text[256];
  [[gnu::format(printf, 2, 3)]] explicit Text(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
  }
};

/// Checks one entry, following what its steps write.
class StepChecker {
public:
  StepChecker(const TableChecker &check, const disco_abi_entry &entry)
      : check(check), entry(entry) {}

  disco_status run();

private:
  disco_status buffer(int32_t index);
  disco_status dims(int32_t index);
  disco_status place(int32_t index);
  disco_status step(int32_t index);
  disco_status readCall(int32_t index, Operands &operands);
  disco_status readRepack(int32_t index, Operands &operands);
  disco_status operand(int32_t step, int32_t position, const Operand &expected);
  disco_status sizes(int32_t step, const Operand &expected,
                     const disco_abi_buffer &buffer);
  disco_status follow(int32_t step, const Operands &operands);
  disco_status write(int32_t step, int32_t position, const Operands &operands);
  disco_status fail(int32_t step, const std::string &what) const;

  /// -1 is no name: an input's dimension of -1 may have any size.
  bool isNamedByInput(int64_t name) const {
    if (name >= -1)
      return false;
    for (int32_t i = 0; i < entry.num_inputs; ++i)
      for (int32_t d = 0; d < entry.inputs[i].rank; ++d)
        if (entry.inputs[i].dims[d] == name)
          return true;
    return false;
  }

  const TableChecker &check;
  const disco_abi_entry &entry;
  /// The temporary that each slot holds, or -1, and the step that wrote each
  /// output, or -1.
  std::vector<int32_t> slots, outputs;
};

disco_status StepChecker::fail(int32_t step, const std::string &what) const {
  return runtime::fail(DISCO_ABI_MISMATCH,
                       "expected step %d of entry '%s' of artifact '%s' %s",
                       step, entry.name, check.path, what.c_str());
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

disco_status StepChecker::dims(int32_t index) {
  const disco_abi_buffer &b = entry.buffers[index];
  const Text where("buffer %d of entry '%s'", index, entry.name);
  if (disco_status s = check.range(Text("a rank of %s", where.text).text, 0,
                                   DISCO_MAX_RANK, b.rank))
    return s;
  if (disco_status s =
          check.range(Text("an element type of %s", where.text).text, DISCO_F64,
                      DISCO_I64, b.dtype))
    return s;
  if (b.rank > 0)
    if (disco_status s =
            check.present(Text("dimensions of %s", where.text).text, b.dims))
      return s;
  int64_t bytes = sizeOfDType(b.dtype);
  for (int32_t d = 0; d < b.rank; ++d) {
    const int64_t dim = b.dims[d];
    if (dim < 0 && (b.kind == DISCO_BUFFER_CONSTANT || !isNamedByInput(dim)))
      return runtime::fail(DISCO_ABI_MISMATCH,
                           "expected dimension %d of %s of artifact '%s' to be "
                           "a number%s, but got %" PRId64,
                           d, where.text, check.path,
                           b.kind == DISCO_BUFFER_CONSTANT
                               ? ""
                               : " or the name of a dimension of an input",
                           dim);
    if (dim > 0 && __builtin_mul_overflow(bytes, dim, &bytes))
      return runtime::fail(DISCO_ABI_MISMATCH,
                           "expected %s of artifact '%s' to be smaller than "
                           "2^63 bytes, but it is not",
                           where.text, check.path);
  }
  return DISCO_OK;
}

disco_status StepChecker::place(int32_t index) {
  const disco_abi_buffer &b = entry.buffers[index];
  const Text where("of buffer %d of entry '%s'", index, entry.name);
  const bool isConstant = b.kind == DISCO_BUFFER_CONSTANT;
  const int32_t last = b.kind == DISCO_BUFFER_INPUT    ? entry.num_inputs - 1
                       : b.kind == DISCO_BUFFER_OUTPUT ? entry.num_outputs - 1
                       : isConstant                    ? 0
                                                       : DISCO_MAX_SLOTS - 1;
  if (disco_status s =
          check.range(Text("an index %s", where.text).text, 0, last, b.index))
    return s;
  if (isConstant) {
    const Text what("data %s", where.text);
    int64_t bytes = sizeOfDType(b.dtype);
    for (int32_t d = 0; d < b.rank; ++d)
      bytes *= b.dims[d]; // fits, as dims() has checked, or is 0
    if (disco_status s =
            check.table(what.text, b.data, static_cast<uint64_t>(bytes)))
      return s;
    if (reinterpret_cast<uintptr_t>(b.data) %
        static_cast<uint64_t>(sizeOfDType(b.dtype)))
      return runtime::fail(DISCO_ABI_MISMATCH,
                           "expected artifact '%s' to have %s aligned to its "
                           "elements, but got address %p",
                           check.path, what.text, b.data);
    return DISCO_OK;
  }
  if (disco_status s = check.absent(Text("data %s", where.text).text, b.data))
    return s;
  if (b.kind == DISCO_BUFFER_TEMPORARY)
    return DISCO_OK;
  const bool isInput = b.kind == DISCO_BUFFER_INPUT;
  if (!isSame(b, isInput ? entry.inputs[b.index] : entry.outputs[b.index]))
    return runtime::fail(DISCO_ABI_MISMATCH,
                         "expected artifact '%s' to have the type of %s %d as "
                         "that %s, but it differs",
                         check.path, isInput ? "input" : "output", b.index,
                         where.text);
  return DISCO_OK;
}

disco_status StepChecker::buffer(int32_t index) {
  const disco_abi_buffer &b = entry.buffers[index];
  if (disco_status s = check.range(
          Text("a kind of buffer %d of entry '%s'", index, entry.name).text,
          DISCO_BUFFER_INPUT, DISCO_BUFFER_TEMPORARY, b.kind))
    return s;
  if (disco_status s = dims(index))
    return s;
  return place(index);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// The elements behind dimension 0 of a batched operand, or all.
disco_status StepChecker::sizes(int32_t step, const Operand &expected,
                                const disco_abi_buffer &buffer) {
  const std::string name = expected.name;
  if (buffer.dtype != expected.dtype)
    return fail(step, "to have " + name + " of " +
                          DTypeName(expected.dtype).text + ", but got " +
                          DTypeName(buffer.dtype).text);
  if (expected.isBatched && buffer.rank == 0)
    return fail(step, "to have " + name + " with a batch, but got a scalar");
  const disco_abi_buffer &x =
      entry.buffers[entry.steps[step].operands[DISCO_OPERAND_X]];
  if (expected.isBatched && buffer.dims[0] != x.dims[0])
    return fail(step, "to have " + name + " of the batch of x (" +
                          std::to_string(x.dims[0]) + "), but got " +
                          std::to_string(buffer.dims[0]));
  int64_t count = 1;
  for (int32_t d = expected.isBatched; d < buffer.rank; ++d) {
    if (buffer.dims[d] < 0)
      return fail(step, "to have dimension " + std::to_string(d) + " of " +
                            name + " static, but got " +
                            std::to_string(buffer.dims[d]));
    count *= buffer.dims[d]; // fits, as dims() has checked, or is 0
  }
  if (expected.isTable ? count >= expected.count : count == expected.count)
    return DISCO_OK;
  return fail(step, "to have " + name + " of " +
                        (expected.isTable ? "at least " : "") +
                        std::to_string(expected.count) + " elements" +
                        (expected.isBatched ? " a sample" : "") + ", but got " +
                        std::to_string(count));
}

disco_status StepChecker::operand(int32_t step, int32_t position,
                                  const Operand &expected) {
  const int32_t index = entry.steps[step].operands[position];
  const std::string name = expected.name;
  if ((index != -1) != expected.isUsed)
    return fail(step, "to have " + std::string(expected.isUsed ? "" : "no ") +
                          name + ", but got " + std::to_string(index));
  if (!expected.isUsed)
    return DISCO_OK;
  if (index < 0 || index >= entry.num_buffers)
    return fail(step, "to have a buffer of " + name + " in [0, " +
                          std::to_string(entry.num_buffers) + "), but got " +
                          std::to_string(index));
  const disco_abi_buffer &buffer = entry.buffers[index];
  if (expected.isTable && buffer.kind != DISCO_BUFFER_CONSTANT)
    return fail(step, "to have " + name + " in a constant, but got buffer " +
                          std::to_string(index));
  if (expected.isWritten && buffer.kind != DISCO_BUFFER_OUTPUT &&
      buffer.kind != DISCO_BUFFER_TEMPORARY)
    return fail(step, "to have " + name +
                          " in an output or a temporary, but got buffer " +
                          std::to_string(index));
  return sizes(step, expected, buffer);
}

disco_status StepChecker::write(int32_t step, int32_t position,
                                const Operands &operands) {
  const int32_t index = entry.steps[step].operands[position];
  const disco_abi_buffer &buffer = entry.buffers[index];
  const std::string name = operands[position].name;
  if (buffer.kind == DISCO_BUFFER_OUTPUT) {
    int32_t &writer = outputs[buffer.index];
    if (writer >= 0)
      return fail(step, "not to write output " + std::to_string(buffer.index) +
                            ", which step " + std::to_string(writer) +
                            " writes, but it does");
    writer = step;
    return DISCO_OK;
  }
  for (int32_t other = 0; other < DISCO_NUM_OPERANDS; ++other) {
    const int32_t read = entry.steps[step].operands[other];
    if (other == position || read < 0 ||
        entry.buffers[read].kind != DISCO_BUFFER_TEMPORARY ||
        entry.buffers[read].index != buffer.index)
      continue;
    return fail(step, "to have " + name + " in another slot than " +
                          operands[other].name + ", but both are in slot " +
                          std::to_string(buffer.index));
  }
  slots[buffer.index] = index;
  return DISCO_OK;
}

/// What is read has been written, and not been overwritten since.
disco_status StepChecker::follow(int32_t step, const Operands &operands) {
  for (int32_t i = 0; i < DISCO_NUM_OPERANDS; ++i) {
    const int32_t index = entry.steps[step].operands[i];
    if (index < 0 || operands[i].isWritten)
      continue;
    const disco_abi_buffer &buffer = entry.buffers[index];
    const bool isThere =
        buffer.kind == DISCO_BUFFER_TEMPORARY ? slots[buffer.index] == index
        : buffer.kind == DISCO_BUFFER_OUTPUT  ? outputs[buffer.index] >= 0
                                              : true;
    if (!isThere)
      return fail(step, "to have " + std::string(operands[i].name) +
                            " in a buffer that an earlier step wrote, but "
                            "buffer " +
                            std::to_string(index) + " holds nothing");
  }
  for (int32_t i : {DISCO_OPERAND_Y, DISCO_OPERAND_GRAD_BIAS})
    if (operands[i].isUsed)
      if (disco_status s = write(step, i, operands))
        return s;
  return DISCO_OK;
}

/// What a kernel's call says of its operands.
disco_status StepChecker::readCall(int32_t index, Operands &operands) {
  const disco_abi_step &step = entry.steps[index];
  const Text where("step %d of entry '%s'", index, entry.name);
  if (disco_status s =
          check.present(Text("a family of %s", where.text).text, step.family))
    return s;
  if (disco_status s =
          check.present(Text("a call of %s", where.text).text, step.call))
    return s;
  if (disco_status s =
          check.absent(Text("repack of %s", where.text).text, step.repack))
    return s;
  const disco_kernel_call &call = *step.call;
  cpu_gather::Problem problem;
  if (cpu_gather::readNumbers(&call, problem) != DISCO_OK) {
    const std::string reason = disco_last_error();
    return fail(index, "to have a well-formed call: " + reason);
  }
  // Those are the tensors' when it runs.
  if (disco_status s = check.range(
          Text("a batch in the call of %s", where.text).text, 0, 0, call.batch))
    return s;
  for (const void *pointer :
       {call.x, call.gy, call.weight, call.bias, call.residual,
        static_cast<const void *>(call.y),
        static_cast<const void *>(call.grad_bias), call.psi.offsets,
        call.psi.indices, call.psi.values})
    if (disco_status s = check.absent(
            Text("pointer in the call of %s", where.text).text, pointer))
      return s;
  if (disco_status s = check.range(
          Text("a number of schedule fields of %s", where.text).text, 0,
          DISCO_MAX_SCHEDULE_FIELDS, call.schedule.num_fields))
    return s;
  for (int32_t layout : {call.schedule.in_layout, call.schedule.out_layout})
    if (disco_status s = check.range(Text("a layout of %s", where.text).text, 0,
                                     DISCO_NUM_LAYOUTS - 1, layout))
      return s;
  operands = operandsOf(call);
  return DISCO_OK;
}

/// The same of a repack.
disco_status StepChecker::readRepack(int32_t index, Operands &operands) {
  const disco_abi_step &step = entry.steps[index];
  const Text where("a repack of step %d of entry '%s'", index, entry.name);
  if (disco_status s = check.present(where.text, step.repack))
    return s;
  const Text kind("step %d of entry '%s', which is a repack", index,
                  entry.name);
  if (disco_status s =
          check.absent(Text("family of %s", kind.text).text, step.family))
    return s;
  if (disco_status s =
          check.absent(Text("call of %s", kind.text).text, step.call))
    return s;
  if (checkRepack(step.repack) != DISCO_OK) {
    const std::string reason = disco_last_error();
    return fail(index, "to have a well-formed repack: " + reason);
  }
  operands = operandsOf(*step.repack);
  return DISCO_OK;
}

disco_status StepChecker::step(int32_t index) {
  const disco_abi_step &step = entry.steps[index];
  if (disco_status s = check.range(
          Text("a kind of step %d of entry '%s'", index, entry.name).text,
          DISCO_STEP_KERNEL, DISCO_STEP_REPACK, step.kind))
    return s;
  if (disco_status s = check.range(
          Text("a probe of step %d of entry '%s'", index, entry.name).text, -1,
          check.numProbes - 1, step.probe))
    return s;
  Operands operands;
  if (disco_status s = step.kind == DISCO_STEP_REPACK
                           ? readRepack(index, operands)
                           : readCall(index, operands))
    return s;
  for (int32_t i = 0; i < DISCO_NUM_OPERANDS; ++i)
    if (disco_status s = operand(index, i, operands[i]))
      return s;
  return follow(index, operands);
}

disco_status StepChecker::run() {
  const auto count = [&](const char *what, int32_t most, int32_t got,
                         const void *table, uint64_t size) -> disco_status {
    const Text number("a number of %s of entry '%s'", what, entry.name);
    if (disco_status s = check.range(number.text, 0, most, got))
      return s;
    const Text name("%s of entry '%s'", what, entry.name);
    return got > 0 ? check.table(name.text, table, got * size) : DISCO_OK;
  };
  if (disco_status s = count("steps", maxSteps, entry.num_steps, entry.steps,
                             sizeof *entry.steps))
    return s;
  if (disco_status s = count("buffers", maxBuffers, entry.num_buffers,
                             entry.buffers, sizeof *entry.buffers))
    return s;
  for (int32_t i = 0; i < entry.num_buffers; ++i)
    if (disco_status s = buffer(i))
      return s;
  slots.assign(DISCO_MAX_SLOTS, -1);
  outputs.assign(entry.num_outputs, -1);
  for (int32_t i = 0; i < entry.num_steps; ++i)
    if (disco_status s = step(i))
      return s;
  for (int32_t i = 0; i < entry.num_outputs; ++i)
    if (outputs[i] < 0)
      return runtime::fail(DISCO_ABI_MISMATCH,
                           "expected output %d of entry '%s' of artifact '%s' "
                           "to be written by a step, but it is by none",
                           i, entry.name, check.path);
  return DISCO_OK;
}

} // namespace

disco_status checkSteps(const TableChecker &check,
                        const disco_abi_entry &entry) {
  return StepChecker(check, entry).run();
}

} // namespace disco::runtime
