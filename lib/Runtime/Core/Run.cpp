//===- Run.cpp - checking and running an entry ----------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Internal.h"
#include "Steps.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <mutex>

using namespace disco::runtime;

namespace {

// A memref descriptor of the largest rank, as words; see Artifact.h.
struct Descriptor {
  int64_t words[3 + 2 * DISCO_MAX_RANK];

  void set(void *data, int32_t rank, const int64_t *sizes,
           const int64_t *strides) {
    words[0] = words[1] =
        static_cast<int64_t>(reinterpret_cast<uintptr_t>(data));
    words[2] = 0;
    for (int32_t i = 0; i < rank; ++i) {
      words[3 + i] = sizes[i];
      words[3 + rank + i] = strides[i];
    }
  }
};

/// "input 0 (x)", made only when a message needs it.
class Label {
public:
  Label(const char *kind, int32_t index, const disco_tensor_type &type)
      : kind(kind), index(index), name(type.name) {}

  const char *text() const {
    if (name)
      std::snprintf(buffer, sizeof buffer, "%s %d (%.80s)", kind, index, name);
    else
      std::snprintf(buffer, sizeof buffer, "%s %d", kind, index);
    return buffer;
  }

private:
  const char *kind;
  int32_t index;
  const char *name;
  mutable char buffer[128];
};

/// Addresses that a tensor or the workspace touches: [begin, end).
struct Range {
  uintptr_t begin = 0, end = 0;
  bool overlaps(const Range &other) const {
    return begin < other.end && other.begin < end;
  }
};

/// One call's tensors while they are checked, and their descriptors. Everything
/// has a fixed size, so that a run allocates nothing.
class Call {
public:
  explicit Call(const disco_entry &entry)
      : abi(*entry.abi), strided((abi.flags & DISCO_ENTRY_STRIDED) != 0) {}

  /// Types, shapes and strides of the inputs.
  disco_status shapeInputs(const disco_tensor *inputs, int32_t count);
  /// Computes the outputs' dimensions.
  disco_status inferOutputs();
  disco_status shapeOutputs(const disco_tensor *outputs, int32_t count);
  /// Where the data is.
  disco_status placeAll(const disco_context &context,
                        const disco_tensor *inputs,
                        const disco_tensor *outputs);
  /// `prepared` is null on the CPU.
  disco_status workspaceBytes(const PreparedEntry *prepared, uint64_t &bytes);
  disco_status placeWorkspace(const PreparedEntry *prepared, void *workspace,
                              uint64_t given);
  disco_status checkMemory(const disco_context &context);
  disco_status execute(const PreparedEntry *prepared);

  /// All outputs' dimensions, one output after the other.
  int64_t outputDims[DISCO_MAX_TENSORS * DISCO_MAX_RANK];
  int32_t numOutputDims = 0;

private:
  struct Checked {
    int64_t strides[DISCO_MAX_RANK];
    /// Bytes from the first to behind the last element; 0 when empty.
    int64_t extent;
  };

  disco_status shape(const char *kind, int32_t index,
                     const disco_tensor_type &type, const int64_t *expectedDims,
                     const disco_tensor &tensor, Checked &checked);
  disco_status strides(const Label &label, const disco_tensor &tensor,
                       Checked &checked) const;
  disco_status extent(const Label &label, const disco_tensor &tensor,
                      Checked &checked) const;
  disco_status matchNames(const Label &label, const disco_tensor_type &type,
                          const disco_tensor &tensor);
  disco_status place(const disco_context &context, const char *kind,
                     int32_t index, const disco_tensor_type &type,
                     const disco_tensor &tensor, const Checked &checked,
                     Descriptor &descriptor, Range &range);
  disco_status checkOverlap();
  void label(int32_t at, char (&text)[128]) const;
  StepTensors tensors(void *const *data) const;
  void *dataOf(int32_t at) const {
    void *data;
    static_assert(sizeof data == sizeof descriptors[at].words[1]);
    std::memcpy(&data, &descriptors[at].words[1], sizeof data);
    return data;
  }
  disco_status report(const char *what, int32_t code) const;

  const disco_abi_entry &abi;
  const bool strided;
  NamedSize names[DISCO_MAX_TENSORS * DISCO_MAX_RANK];
  int32_t numNames = 0;
  Checked inputs[DISCO_MAX_TENSORS], outputs[DISCO_MAX_TENSORS];
  Range ranges[2 * DISCO_MAX_TENSORS + 1];
  Descriptor descriptors[2 * DISCO_MAX_TENSORS + 1];
  void *arguments[2 * DISCO_MAX_TENSORS + 1];
};

disco_status Call::shape(const char *kind, int32_t index,
                         const disco_tensor_type &type,
                         const int64_t *expectedDims,
                         const disco_tensor &tensor, Checked &checked) {
  const Label label(kind, index, type);
  if (tensor.dtype != type.dtype)
    return fail(DISCO_INVALID_ARGUMENT,
                "expected %s to have element type %s, but got %s", label.text(),
                DTypeName(type.dtype).text, DTypeName(tensor.dtype).text);
  if (tensor.rank != type.rank)
    return fail(DISCO_INVALID_ARGUMENT,
                "expected %s to have rank %d, but got %d", label.text(),
                type.rank, tensor.rank);
  if (type.rank > 0 && !tensor.shape)
    return fail(DISCO_INVALID_ARGUMENT,
                "expected %s to have a shape, but got null", label.text());
  for (int32_t d = 0; d < type.rank; ++d) {
    if (tensor.shape[d] < 0)
      return fail(DISCO_INVALID_ARGUMENT,
                  "expected %s to have dimension %d non-negative, but got "
                  "%" PRId64,
                  label.text(), d, tensor.shape[d]);
    if (expectedDims[d] >= 0 && tensor.shape[d] != expectedDims[d])
      return fail(DISCO_INVALID_ARGUMENT,
                  "expected %s to have dimension %d equal to %" PRId64
                  ", but got %" PRId64,
                  label.text(), d, expectedDims[d], tensor.shape[d]);
  }
  return strides(label, tensor, checked);
}

bool isEmpty(const disco_tensor &tensor) {
  return std::find(tensor.shape, tensor.shape + tensor.rank, 0) !=
         tensor.shape + tensor.rank;
}

/// Fills in the strides: those given, or the dense ones.
disco_status Call::strides(const Label &label, const disco_tensor &tensor,
                           Checked &checked) const {
  const bool empty = isEmpty(tensor);
  int64_t dense = 1;
  for (int32_t d = tensor.rank - 1; d >= 0; --d) {
    const int64_t given = tensor.strides ? tensor.strides[d] : dense;
    if (given < 0)
      return fail(DISCO_INVALID_ARGUMENT,
                  "expected %s to have stride %d non-negative, but got "
                  "%" PRId64,
                  label.text(), d, given);
    // The stride of a dimension of one element, or of an empty array, is never
    // used; the dense one keeps such arrays dense.
    const bool used = !empty && tensor.shape[d] > 1;
    if (used && !strided && given != dense)
      return fail(DISCO_INVALID_ARGUMENT,
                  "expected %s to have stride %d equal to %" PRId64
                  " (entry '%s' takes dense row-major arrays), but got "
                  "%" PRId64,
                  label.text(), d, dense, abi.name, given);
    checked.strides[d] = used ? given : dense;
    if (!empty && __builtin_mul_overflow(dense, tensor.shape[d], &dense))
      return fail(DISCO_INVALID_ARGUMENT,
                  "expected the elements of %s to be fewer than 2^63, but "
                  "they are more",
                  label.text());
  }
  return extent(label, tensor, checked);
}

disco_status Call::extent(const Label &label, const disco_tensor &tensor,
                          Checked &checked) const {
  checked.extent = 0;
  if (isEmpty(tensor))
    return DISCO_OK;
  int64_t elements = 1; // from the first to behind the last
  bool overflow = false;
  for (int32_t d = 0; d < tensor.rank; ++d) {
    int64_t reach;
    overflow |= __builtin_mul_overflow(tensor.shape[d] - 1, checked.strides[d],
                                       &reach) ||
                __builtin_add_overflow(elements, reach, &elements);
  }
  if (overflow || __builtin_mul_overflow(elements, sizeOfDType(tensor.dtype),
                                         &checked.extent))
    return fail(DISCO_INVALID_ARGUMENT,
                "expected the extent of %s to be less than 2^63 bytes, but it "
                "is more",
                label.text());
  return DISCO_OK;
}

/// Fails when two elements may share memory: in the order of their strides,
/// each dimension must step over all elements of those before it.
disco_status checkDisjoint(const Label &label, const disco_tensor &tensor,
                           const int64_t *strides) {
  if (isEmpty(tensor))
    return DISCO_OK;
  bool done[DISCO_MAX_RANK] = {};
  int64_t inner = 1;
  for (;;) {
    int32_t next = -1;
    for (int32_t d = 0; d < tensor.rank; ++d)
      if (!done[d] && tensor.shape[d] > 1 &&
          (next < 0 || strides[d] < strides[next]))
        next = d;
    if (next < 0)
      return DISCO_OK;
    if (strides[next] < inner)
      return fail(DISCO_INVALID_ARGUMENT,
                  "expected %s to have stride %d at least %" PRId64
                  ", so that its elements do not overlap, but got %" PRId64,
                  label.text(), next, inner, strides[next]);
    done[next] = true;
    inner += (tensor.shape[next] - 1) * strides[next];
  }
}

/// Equal names in the types must be equal sizes in the call.
disco_status Call::matchNames(const Label &label, const disco_tensor_type &type,
                              const disco_tensor &tensor) {
  for (int32_t d = 0; d < type.rank; ++d) {
    if (type.dims[d] >= -1)
      continue;
    const NamedSize *known =
        std::find_if(names, names + numNames, [&](const NamedSize &n) {
          return n.name == type.dims[d];
        });
    if (known == names + numNames)
      names[numNames++] = {type.dims[d], tensor.shape[d],
                           static_cast<int32_t>(&type - abi.inputs), d};
    else if (known->size != tensor.shape[d])
      return fail(DISCO_INVALID_ARGUMENT,
                  "expected %s to have dimension %d equal to %" PRId64
                  " (dimension %d of %s), but got %" PRId64,
                  label.text(), d, known->size, known->dim,
                  Label("input", known->input, abi.inputs[known->input]).text(),
                  tensor.shape[d]);
  }
  return DISCO_OK;
}

disco_status checkCount(const disco_abi_entry &abi, const char *what,
                        int32_t expected, const void *tensors, int32_t got) {
  if (got != expected)
    return fail(DISCO_INVALID_ARGUMENT,
                "expected entry '%s' to get %d %s%s, but got %d", abi.name,
                expected, what, expected == 1 ? "" : "s", got);
  if (expected > 0 && !tensors)
    return fail(DISCO_INVALID_ARGUMENT,
                "expected %ss to be a pointer, but got null", what);
  return DISCO_OK;
}

disco_status Call::shapeInputs(const disco_tensor *tensors, int32_t count) {
  if (disco_status s = checkCount(abi, "input", abi.num_inputs, tensors, count))
    return s;
  for (int32_t i = 0; i < count; ++i) {
    const disco_tensor_type &type = abi.inputs[i];
    if (disco_status s =
            shape("input", i, type, type.dims, tensors[i], inputs[i]))
      return s;
    if (disco_status s = matchNames(Label("input", i, type), type, tensors[i]))
      return s;
    descriptors[i].set(nullptr, type.rank, tensors[i].shape, inputs[i].strides);
    arguments[i] = &descriptors[i];
  }
  return DISCO_OK;
}

/// What the artifact said when it returned `code`.
disco_status Call::report(const char *what, int32_t code) const {
  const bool known = code > DISCO_OK && code <= DISCO_INTERNAL;
  const char *reason = takeRaised();
  if (*reason)
    return fail(known ? code : DISCO_EXECUTION_FAILED, "entry '%s'%s: %s",
                abi.name, what, reason);
  return fail(known ? code : DISCO_EXECUTION_FAILED,
              "entry '%s'%s failed with status %d (%s)", abi.name, what, code,
              disco_status_name(code));
}

disco_status Call::inferOutputs() {
  if (abi.output_shapes) {
    clearRaised();
    if (int32_t code = abi.output_shapes(arguments, outputDims))
      return report(" (output shapes)", code);
  }
  for (int32_t i = 0; i < abi.num_outputs; ++i)
    for (int32_t d = 0; d < abi.outputs[i].rank; ++d) {
      const int64_t declared = abi.outputs[i].dims[d];
      int64_t &dim = outputDims[numOutputDims++];
      const NamedSize *named =
          std::find_if(names, names + numNames,
                       [&](const NamedSize &n) { return n.name == declared; });
      const bool isNamed = declared < -1 && named != names + numNames;
      const int64_t expected = isNamed ? named->size : declared;
      if (!abi.output_shapes)
        dim = expected;
      if (dim < 0 || (expected >= 0 && dim != expected))
        return fail(DISCO_INTERNAL,
                    "expected entry '%s' to compute dimension %d of output %d "
                    "as %" PRId64 ", but got %" PRId64,
                    abi.name, d, i, expected, dim);
    }
  return DISCO_OK;
}

disco_status Call::shapeOutputs(const disco_tensor *tensors, int32_t count) {
  if (disco_status s =
          checkCount(abi, "output", abi.num_outputs, tensors, count))
    return s;
  const int64_t *dims = outputDims;
  for (int32_t i = 0; i < count; ++i) {
    const disco_tensor_type &type = abi.outputs[i];
    if (disco_status s = shape("output", i, type, dims, tensors[i], outputs[i]))
      return s;
    if (disco_status s = checkDisjoint(Label("output", i, type), tensors[i],
                                       outputs[i].strides))
      return s;
    dims += type.rank;
  }
  return DISCO_OK;
}

disco_status Call::place(const disco_context &context, const char *kind,
                         int32_t index, const disco_tensor_type &type,
                         const disco_tensor &tensor, const Checked &checked,
                         Descriptor &descriptor, Range &range) {
  const Label label(kind, index, type);
  const disco_device wanted = context.options.device;
  if (tensor.device.kind != wanted.kind || tensor.device.id != wanted.id)
    return fail(DISCO_INVALID_ARGUMENT, "expected %s to be on %s, but got %s",
                label.text(), DeviceName(wanted).text,
                DeviceName(tensor.device).text);
  void *data = nullptr;
  if (checked.extent > 0) {
    if (!tensor.data)
      return fail(DISCO_INVALID_ARGUMENT,
                  "expected %s to have data, but got null", label.text());
    const auto base = reinterpret_cast<uintptr_t>(tensor.data);
    if (__builtin_add_overflow(base, tensor.byte_offset, &range.begin) ||
        __builtin_add_overflow(
            range.begin, static_cast<uint64_t>(checked.extent), &range.end))
      return fail(DISCO_INVALID_ARGUMENT,
                  "expected %s to end inside the address space, but got byte "
                  "offset %" PRIu64 " and %" PRId64 " bytes at %p",
                  label.text(), tensor.byte_offset, checked.extent,
                  tensor.data);
    const auto size = static_cast<uint64_t>(sizeOfDType(type.dtype));
    data = static_cast<char *>(tensor.data) + tensor.byte_offset;
    if (range.begin % size != 0)
      return fail(DISCO_INVALID_ARGUMENT,
                  "expected %s to be aligned to %" PRIu64
                  " bytes, but got address %p",
                  label.text(), size, data);
  }
  descriptor.set(data, type.rank, tensor.shape, checked.strides);
  return DISCO_OK;
}

disco_status Call::placeAll(const disco_context &context,
                            const disco_tensor *inputTensors,
                            const disco_tensor *outputTensors) {
  for (int32_t i = 0; i < abi.num_inputs; ++i)
    if (disco_status s =
            place(context, "input", i, abi.inputs[i], inputTensors[i],
                  inputs[i], descriptors[i], ranges[i]))
      return s;
  for (int32_t i = 0; i < abi.num_outputs; ++i) {
    const int32_t at = abi.num_inputs + i;
    arguments[at] = &descriptors[at];
    if (disco_status s =
            place(context, "output", i, abi.outputs[i], outputTensors[i],
                  outputs[i], descriptors[at], ranges[at]))
      return s;
  }
  return DISCO_OK;
}

/// `data`: of the inputs, then of the outputs; null for the sizes alone.
StepTensors Call::tensors(void *const *data) const {
  return {names, numNames, data, data ? data + abi.num_inputs : nullptr};
}

disco_status Call::workspaceBytes(const PreparedEntry *prepared,
                                  uint64_t &bytes) {
  bytes = 0;
  if (prepared)
    return prepared->workspaceBytes(abi, tensors(nullptr), bytes);
  if (!abi.workspace_bytes)
    return DISCO_OK;
  clearRaised();
  const int64_t needed = abi.workspace_bytes(arguments);
  if (needed < 0)
    return report(" (workspace size)", DISCO_EXECUTION_FAILED);
  bytes = static_cast<uint64_t>(needed);
  return DISCO_OK;
}

disco_status Call::placeWorkspace(const PreparedEntry *prepared,
                                  void *workspace, uint64_t given) {
  uint64_t needed;
  if (disco_status s = workspaceBytes(prepared, needed))
    return s;
  if (given < needed)
    return fail(DISCO_INVALID_ARGUMENT,
                "expected workspace to have at least %" PRIu64
                " bytes, but got %" PRIu64,
                needed, given);
  if (needed > 0 && !workspace)
    return fail(DISCO_INVALID_ARGUMENT,
                "expected workspace to have %" PRIu64 " bytes, but got null",
                needed);
  const uint64_t alignment = prepared ? deviceAlignment : DISCO_ALIGNMENT;
  if (reinterpret_cast<uintptr_t>(workspace) % alignment != 0)
    return fail(DISCO_INVALID_ARGUMENT,
                "expected workspace to be aligned to %" PRIu64
                " bytes, but got address %p",
                alignment, workspace);
  const int32_t at = abi.num_inputs + abi.num_outputs;
  const auto size = static_cast<int64_t>(needed);
  const int64_t stride = 1;
  descriptors[at].set(workspace, 1, &size, &stride);
  arguments[at] = &descriptors[at];
  ranges[at].begin = reinterpret_cast<uintptr_t>(workspace);
  ranges[at].end = ranges[at].begin + needed;
  return checkOverlap();
}

/// "input 0 (x)" for 0, and so on: inputs, outputs, the workspace.
void Call::label(int32_t at, char (&text)[128]) const {
  const int32_t output = at - abi.num_inputs;
  if (output == abi.num_outputs)
    std::snprintf(text, sizeof text, "workspace");
  else
    std::snprintf(text, sizeof text, "%s",
                  output < 0
                      ? Label("input", at, abi.inputs[at]).text()
                      : Label("output", output, abi.outputs[output]).text());
}

/// What is written must share no memory with anything else.
disco_status Call::checkOverlap() {
  const int32_t firstOutput = abi.num_inputs;
  const int32_t workspace = firstOutput + abi.num_outputs;
  for (int32_t written = firstOutput; written <= workspace; ++written)
    for (int32_t other = 0; other < written; ++other) {
      if (!ranges[written].overlaps(ranges[other]))
        continue;
      char a[128], b[128];
      label(written, a);
      label(other, b);
      return fail(DISCO_INVALID_ARGUMENT,
                  "expected %s not to overlap %s, but got addresses "
                  "[0x%" PRIxPTR ", 0x%" PRIxPTR ") and [0x%" PRIxPTR
                  ", 0x%" PRIxPTR ")",
                  a, b, ranges[written].begin, ranges[written].end,
                  ranges[other].begin, ranges[other].end);
    }
  return DISCO_OK;
}

/// That everything is memory of the context's GPU.
disco_status Call::checkMemory(const disco_context &context) {
  const int32_t numTensors = abi.num_inputs + abi.num_outputs;
  for (int32_t at = 0; at <= numTensors; ++at) {
    const uint64_t bytes = ranges[at].end - ranges[at].begin;
    char text[128];
    label(at, text);
    if (disco_status s = checkDeviceMemory(context.device, text, dataOf(at),
                                           bytes, /*alignment=*/1))
      return s;
  }
  return DISCO_OK;
}

disco_status Call::execute(const PreparedEntry *prepared) {
  if (prepared) {
    void *data[2 * DISCO_MAX_TENSORS];
    const int32_t workspace = abi.num_inputs + abi.num_outputs;
    for (int32_t at = 0; at < workspace; ++at)
      data[at] = dataOf(at);
    return prepared->run(abi, tensors(data), dataOf(workspace),
                         ranges[workspace].end - ranges[workspace].begin);
  }
  clearRaised();
  const int32_t code = abi.run(arguments);
  return code == DISCO_OK ? DISCO_OK : report("", code);
}

/// What is prepared of `entry`, null on the CPU; an error when nothing is.
disco_status findPrepared(disco_context &context, const disco_entry &entry,
                          const char *what,
                          std::shared_ptr<PreparedEntry> &prepared) {
  const std::shared_lock<std::shared_mutex> lock(context.mutex);
  const auto found = context.prepared.find(entry.serial);
  if (found == context.prepared.end())
    return fail(DISCO_NOT_PREPARED,
                "expected entry '%s' to be prepared in this context before "
                "%s, but it is not",
                entry.abi->name, what);
  prepared = found->second;
  return DISCO_OK;
}

disco_status checkPointer(const char *what, const void *pointer) {
  if (pointer)
    return DISCO_OK;
  return fail(DISCO_INVALID_ARGUMENT,
              "expected %s to be a pointer, but got null", what);
}

} // namespace

disco_status disco_entry_output_shapes(const disco_entry *entry,
                                       const disco_tensor *inputs,
                                       int32_t num_inputs, int64_t *dims,
                                       int32_t capacity, int32_t *count) {
  return guarded([&]() -> disco_status {
    if (disco_status s = checkPointer("entry", entry))
      return s;
    Call call(*entry);
    if (disco_status s = call.shapeInputs(inputs, num_inputs))
      return s;
    if (disco_status s = call.inferOutputs())
      return s;
    if (capacity < call.numOutputDims)
      return fail(DISCO_INVALID_ARGUMENT,
                  "expected room for %d dimensions, but got %d",
                  call.numOutputDims, capacity);
    if (call.numOutputDims > 0)
      if (disco_status s = checkPointer("dims", dims))
        return s;
    std::copy(call.outputDims, call.outputDims + call.numOutputDims, dims);
    if (count)
      *count = call.numOutputDims;
    return DISCO_OK;
  });
}

disco_status disco_workspace_bytes(disco_context *context,
                                   const disco_entry *entry,
                                   const disco_tensor *inputs,
                                   int32_t num_inputs, uint64_t *bytes) {
  return guarded([&]() -> disco_status {
    if (disco_status s = checkPointer("context", context))
      return s;
    if (disco_status s = checkPointer("entry", entry))
      return s;
    if (disco_status s = checkPointer("bytes", bytes))
      return s;
    std::shared_ptr<PreparedEntry> prepared;
    if (!context->isOnCpu())
      if (disco_status s = findPrepared(*context, *entry,
                                        "its workspace is known", prepared))
        return s;
    if (context->isOnCpu() && isDeviceTarget(entry->artifact->root->target))
      return checkTarget(*context, *entry->artifact);
    Call call(*entry);
    if (disco_status s = call.shapeInputs(inputs, num_inputs))
      return s;
    uint64_t needed;
    const disco_status status = call.workspaceBytes(prepared.get(), needed);
    if (status == DISCO_OK)
      *bytes = needed;
    return status;
  });
}

disco_status disco_run(disco_context *context, const disco_entry *entry,
                       const disco_tensor *inputs, int32_t num_inputs,
                       const disco_tensor *outputs, int32_t num_outputs,
                       void *workspace, uint64_t workspace_bytes) {
  return guarded([&]() -> disco_status {
    if (disco_status s = checkPointer("context", context))
      return s;
    if (disco_status s = checkPointer("entry", entry))
      return s;
    std::shared_ptr<PreparedEntry> prepared;
    if (disco_status s = findPrepared(*context, *entry, "it runs", prepared))
      return s;
    Call call(*entry);
    if (disco_status s = call.shapeInputs(inputs, num_inputs))
      return s;
    if (disco_status s = call.inferOutputs())
      return s;
    if (disco_status s = call.shapeOutputs(outputs, num_outputs))
      return s;
    if (disco_status s = call.placeAll(*context, inputs, outputs))
      return s;
    if (disco_status s =
            call.placeWorkspace(prepared.get(), workspace, workspace_bytes))
      return s;
    if (prepared)
      if (disco_status s = call.checkMemory(*context))
        return s;
    return call.execute(prepared.get());
  });
}
