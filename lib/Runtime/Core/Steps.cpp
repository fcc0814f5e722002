//===- Steps.cpp - entries that are steps on a device ---------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Steps.h"

#include "disco/ABI/Probe.h"

#include <algorithm>
#include <string>
#include <utility>

namespace disco::runtime {

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Rows of the tables: points of a side, or latitudes and phases of arcs.
static int64_t rowsOf(const disco_kernel_psi &psi) {
  if (psi.form == DISCO_FORM_ARCS) {
    const int64_t phases =
        psi.nlon_out > psi.nlon_in ? psi.nlon_out / psi.nlon_in : 1;
    return psi.nlat_out * phases;
  }
  return psi.adjoint ? psi.nlat_in * psi.nlon_in : psi.nlat_out * psi.nlon_out;
}

static void addTables(const disco_kernel_psi &psi, Operands &operands) {
  const int64_t rows = rowsOf(psi), K = psi.num_basis;
  const bool hasOffsets =
      psi.form == DISCO_FORM_ARCS || psi.form == DISCO_FORM_CSR;
  Operand &offsets = operands[DISCO_OPERAND_OFFSETS];
  offsets.isUsed = hasOffsets;
  offsets.count = rows + 1;
  Operand &indices = operands[DISCO_OPERAND_INDICES];
  indices.isUsed = true;
  indices.count = psi.form == DISCO_FORM_ARCS  ? 4 * psi.num_arcs
                  : psi.form == DISCO_FORM_CSR ? psi.num_taps
                                               : rows * psi.degree;
  Operand &values = operands[DISCO_OPERAND_VALUES];
  values.isUsed = true;
  values.count = hasOffsets                     ? psi.num_taps * K
                 : psi.form == DISCO_FORM_TABLE ? rows * psi.degree * K
                                                : rows * psi.degree;
  offsets.dtype = indices.dtype = psi.index_dtype;
  values.dtype =
      psi.form == DISCO_FORM_ONEHOT ? psi.index_dtype : psi.value_dtype;
  offsets.isTable = indices.isTable = values.isTable = true;
}

/// None of which is used.
static Operands noOperands() {
  Operands operands = {{{"x"},
                        {"gy"},
                        {"psi's offsets"},
                        {"psi's indices"},
                        {"psi's values"},
                        {"weight"},
                        {"bias"},
                        {"residual"},
                        {"y"},
                        {"grad_bias"}}};
  operands[DISCO_OPERAND_Y].isWritten = true;
  operands[DISCO_OPERAND_GRAD_BIAS].isWritten = true;
  return operands;
}

/// Channels with those that fill up the last block of c8.
static int64_t storedChannels(int64_t channels, int32_t layout) {
  return layout == DISCO_C8 ? (channels + 7) / 8 * 8 : channels;
}

Operands operandsOf(const disco_repack &repack) {
  Operands operands = noOperands();
  const auto use = [&](int32_t index, int32_t layout, disco_dtype dtype) {
    Operand &operand = operands[index];
    operand.isUsed = operand.isBatched = true;
    operand.dtype = dtype;
    operand.count = storedChannels(repack.channels, layout) * repack.points;
  };
  use(DISCO_OPERAND_X, repack.from_layout, repack.from_dtype);
  use(DISCO_OPERAND_Y, repack.to_layout, repack.to_dtype);
  return operands;
}

Operands operandsOf(const disco_kernel_call &call) {
  Operands operands = noOperands();
  const disco_kernel_psi &psi = call.psi;
  const int64_t in = psi.nlat_in * psi.nlon_in;
  const int64_t out = psi.nlat_out * psi.nlon_out;
  const int64_t K = psi.num_basis, C = call.channels, O = call.out_channels;
  const bool isConv = call.op == DISCO_OP_CONV;
  const bool isGradient = call.op == DISCO_OP_CONV_WEIGHT_GRAD;
  // With the weight first, a weight gradient's psi goes from gy to x.
  const bool reversed = isGradient && call.schedule.order == DISCO_WEIGHT_FIRST;
  const auto use = [&](int32_t index, bool isUsed, bool isBatched,
                       disco_dtype dtype, int64_t count) {
    Operand &operand = operands[index];
    operand.isUsed = isUsed;
    operand.isBatched = isBatched;
    operand.dtype = dtype;
    operand.count = count;
  };
  const int64_t weights = isConv || isGradient ? O * (C / call.groups) * K : 0;
  use(DISCO_OPERAND_X, true, true, call.dtype,
      (reversed ? out : in) * storedChannels(C, call.schedule.in_layout) *
          (call.op == DISCO_OP_CONTRACT_SUM ? K : 1));
  use(DISCO_OPERAND_GY, isGradient, true, call.dtype,
      (reversed ? in : out) * O);
  use(DISCO_OPERAND_WEIGHT, isConv, false, call.weight_dtype, weights);
  use(DISCO_OPERAND_BIAS, isConv && call.has_bias, false, call.weight_dtype, O);
  use(DISCO_OPERAND_RESIDUAL, call.has_residual != 0, true, call.dtype,
      out * O);
  use(DISCO_OPERAND_Y, true, !isGradient,
      isGradient ? call.weight_dtype : call.dtype,
      isGradient ? weights
      : isConv   ? out * O
                 : out * storedChannels(C, call.schedule.out_layout) *
                       (call.op == DISCO_OP_CONTRACT ? K : 1));
  use(DISCO_OPERAND_GRAD_BIAS, isGradient && call.has_bias, false,
      call.weight_dtype, O);
  addTables(psi, operands);
  return operands;
}

namespace {

/// The dimensions of a tensor.
struct Shape {
  int64_t dims[DISCO_MAX_RANK] = {};
  int32_t rank = 0;

  Shape &add(int64_t dim) {
    dims[rank++] = dim;
    return *this;
  }
};

/// Shapes of a step's operands as the operation has them: buffers have the same
/// elements, but may be reshapes.
class StepShapes {
public:
  StepShapes(const disco_abi_step &step, int64_t batch)
      : step(step), batch(batch) {}

  Shape of(int32_t operand, const disco_abi_buffer &buffer) const {
    return step.kind == DISCO_STEP_REPACK ? ofRepack(*step.repack, operand)
                                          : ofCall(*step.call, operand, buffer);
  }

private:
  Shape field(int64_t channels, int32_t layout, const Shape &points) const {
    Shape shape;
    shape.add(batch);
    if (layout != DISCO_NHWC)
      shape.add(storedChannels(channels, layout) /
                (layout == DISCO_C8 ? 8 : 1));
    for (int32_t d = 0; d < points.rank; ++d)
      shape.add(points.dims[d]);
    if (layout != DISCO_NCHW)
      shape.add(layout == DISCO_C8 ? 8 : channels);
    return shape;
  }

  Shape ofRepack(const disco_repack &repack, int32_t operand) const {
    return field(repack.channels,
                 operand == DISCO_OPERAND_X ? repack.from_layout
                                            : repack.to_layout,
                 Shape().add(repack.points));
  }

  /// The points of a side, behind features.
  static Shape pointsOf(const disco_kernel_psi &psi, bool isOut,
                        bool hasFeatures) {
    Shape shape;
    if (hasFeatures)
      shape.add(psi.num_basis);
    if (psi.form == DISCO_FORM_ARCS)
      shape.add(isOut ? psi.nlat_out : psi.nlat_in);
    return shape.add(isOut ? psi.nlon_out : psi.nlon_in);
  }

  static Shape whole(const disco_abi_buffer &buffer) {
    Shape shape;
    for (int32_t d = 0; d < buffer.rank; ++d)
      shape.add(buffer.dims[d]);
    return shape;
  }

  Shape ofCall(const disco_kernel_call &call, int32_t operand,
               const disco_abi_buffer &buffer) const {
    const disco_kernel_psi &psi = call.psi;
    const int64_t C = call.channels, O = call.out_channels, K = psi.num_basis;
    const bool isContract = call.op == DISCO_OP_CONTRACT;
    const bool isSum = call.op == DISCO_OP_CONTRACT_SUM;
    const bool isGradient = call.op == DISCO_OP_CONV_WEIGHT_GRAD;
    // With the weight first, a weight gradient's psi goes from gy to x.
    const bool reversed =
        isGradient && call.schedule.order == DISCO_WEIGHT_FIRST;
    switch (operand) {
    case DISCO_OPERAND_X:
      return field(C, call.schedule.in_layout, pointsOf(psi, reversed, isSum));
    case DISCO_OPERAND_GY:
      return field(O, DISCO_NCHW, pointsOf(psi, !reversed, false));
    case DISCO_OPERAND_RESIDUAL:
      return field(O, DISCO_NCHW, pointsOf(psi, true, false));
    case DISCO_OPERAND_WEIGHT:
      return call.transpose_weight ? Shape().add(C).add(O / call.groups).add(K)
                                   : Shape().add(O).add(C / call.groups).add(K);
    case DISCO_OPERAND_BIAS:
    case DISCO_OPERAND_GRAD_BIAS:
      return Shape().add(O);
    case DISCO_OPERAND_Y:
      if (isGradient)
        return Shape().add(O).add(C / call.groups).add(K);
      return isContract || isSum
                 ? field(C, call.schedule.out_layout,
                         pointsOf(psi, true, isContract))
                 : field(O, DISCO_NCHW, pointsOf(psi, true, false));
    default:
      return whole(buffer); // tables are what they are
    }
  }

  const disco_abi_step &step;
  int64_t batch;
};

} // namespace

//===----------------------------------------------------------------------===//
// Preparing
//===----------------------------------------------------------------------===//

/// The error of a step, behind where it is.
static disco_status failStep(disco_status status, const disco_abi_entry &entry,
                             int32_t index) {
  const std::string reason = disco_last_error();
  const disco_abi_step &step = entry.steps[index];
  return fail(status, "entry '%s', step %d (%s): %s", entry.name, index,
              step.kind == DISCO_STEP_REPACK ? "repack" : step.family,
              reason.c_str());
}

static bool isConstant(const disco_abi_buffer &buffer) {
  return buffer.kind == DISCO_BUFFER_CONSTANT;
}

/// The buffer of an operand, or null.
static const disco_abi_buffer *bufferOf(const disco_abi_entry &entry,
                                        const disco_abi_step &step,
                                        int32_t operand) {
  const int32_t index = step.operands[operand];
  return index < 0 ? nullptr : &entry.buffers[index];
}

/// A constant operand on the host, or null.
static const void *hostOf(const disco_abi_entry &entry,
                          const disco_abi_step &step, int32_t operand) {
  const disco_abi_buffer *buffer = bufferOf(entry, step, operand);
  return buffer && isConstant(*buffer) ? buffer->data : nullptr;
}

/// Whether `prepare` of a kernel takes the operand from the host.
static bool isPacked(int32_t operand) {
  return operand == DISCO_OPERAND_OFFSETS || operand == DISCO_OPERAND_INDICES ||
         operand == DISCO_OPERAND_VALUES || operand == DISCO_OPERAND_WEIGHT ||
         operand == DISCO_OPERAND_BIAS;
}

disco_status PreparedEntry::prepareStep(const disco_abi_entry &entry,
                                        int32_t index, CallPreparer &preparer) {
  const disco_abi_step &step = entry.steps[index];
  if (step.kind == DISCO_STEP_REPACK) {
    const disco_status s = disco_device_prepare_repack(&device, step.repack,
                                                       &kernels[index].repack);
    return s == DISCO_OK ? DISCO_OK : failStep(s, entry, index);
  }
  disco_kernel_call call = *step.call;
  call.psi.offsets = hostOf(entry, step, DISCO_OPERAND_OFFSETS);
  call.psi.indices = hostOf(entry, step, DISCO_OPERAND_INDICES);
  call.psi.values = hostOf(entry, step, DISCO_OPERAND_VALUES);
  call.weight = hostOf(entry, step, DISCO_OPERAND_WEIGHT);
  call.bias = hostOf(entry, step, DISCO_OPERAND_BIAS);
  disco_prepared *prepared = nullptr;
  if (disco_status s = preparer.prepare(step.family, call, &prepared))
    return failStep(s, entry, index);
  kernels[index].call = prepared;
  return DISCO_OK;
}

static uint64_t bytesOfConstant(const disco_abi_buffer &buffer) {
  int64_t elements = 1;
  for (int32_t d = 0; d < buffer.rank; ++d)
    elements *= buffer.dims[d];
  return static_cast<uint64_t>(elements * sizeOfDType(buffer.dtype));
}

/// Those that kernels read as they are.
disco_status PreparedEntry::uploadConstants(const disco_abi_entry &entry) {
  for (int32_t i = 0; i < entry.num_steps; ++i)
    for (int32_t operand = 0; operand < DISCO_NUM_OPERANDS; ++operand) {
      const int32_t index = entry.steps[i].operands[operand];
      if (index < 0 || isPacked(operand) || !isConstant(entry.buffers[index]) ||
          constants[index].memory)
        continue;
      Constant &constant = constants[index];
      constant.bytes = bytesOfConstant(entry.buffers[index]);
      if (disco_status s =
              disco_device_allocate(&device, constant.bytes, &constant.memory))
        return failStep(s, entry, i);
      if (disco_status s =
              disco_device_copy(&device, constant.memory,
                                entry.buffers[index].data, constant.bytes))
        return failStep(s, entry, i);
    }
  return DISCO_OK;
}

disco_status PreparedEntry::prepare(const disco_abi_entry &entry) {
  kernels.resize(entry.num_steps);
  constants.resize(entry.num_buffers);
  CallPreparer preparer(device);
  // Kernels first: they refuse a stream that is captured.
  for (int32_t i = 0; i < entry.num_steps; ++i)
    if (disco_status s = prepareStep(entry, i, preparer))
      return s;
  return uploadConstants(entry);
}

void PreparedEntry::release() {
  const std::lock_guard<std::mutex> lock(mutex);
  for (const Kernel &kernel : kernels) {
    disco_device_destroy(kernel.call);
    disco_device_destroy_repack(kernel.repack);
  }
  kernels.clear();
  for (const Constant &constant : constants)
    disco_device_release(&device, constant.memory, constant.bytes);
  constants.clear();
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// Where the slots are in the workspace, and what comes behind them.
struct PreparedEntry::Layout {
  uint64_t slots[DISCO_MAX_SLOTS] = {}; // offsets
  uint64_t kernels = 0;                 // offset of the kernels' workspace
  uint64_t bytes = 0;
};

static int64_t resolve(const StepTensors &tensors, int64_t dim) {
  if (dim >= 0)
    return dim;
  // An input has every name: the tables were checked.
  return std::find_if(tensors.names, tensors.names + tensors.numNames,
                      [&](const NamedSize &n) { return n.name == dim; })
      ->size;
}

static bool roundUp(uint64_t &bytes) {
  if (__builtin_add_overflow(bytes, deviceAlignment - 1, &bytes))
    return false;
  bytes -= bytes % deviceAlignment;
  return true;
}

/// False when the bytes overflow.
static bool bytesOfBuffer(const disco_abi_buffer &buffer,
                          const StepTensors &tensors, uint64_t &bytes) {
  bytes = static_cast<uint64_t>(sizeOfDType(buffer.dtype));
  bool isEmpty = false, overflows = false;
  for (int32_t d = 0; d < buffer.rank; ++d) {
    const int64_t size = resolve(tensors, buffer.dims[d]);
    isEmpty |= size == 0;
    overflows |=
        __builtin_mul_overflow(bytes, static_cast<uint64_t>(size), &bytes);
  }
  if (isEmpty)
    bytes = 0;
  return isEmpty || !overflows;
}

static disco_status failTooLarge(const disco_abi_entry &entry) {
  return fail(DISCO_INVALID_ARGUMENT,
              "entry '%s': expected the workspace for these input shapes to be "
              "smaller than 2^63 bytes, but it is not",
              entry.name);
}

static int64_t batchOf(const disco_abi_entry &entry, int32_t index,
                       const StepTensors &tensors) {
  return resolve(tensors,
                 bufferOf(entry, entry.steps[index], DISCO_OPERAND_X)->dims[0]);
}

/// The call of a step with its batch.
static disco_kernel_call callOf(const disco_abi_entry &entry, int32_t index,
                                const StepTensors &tensors) {
  disco_kernel_call call = *entry.steps[index].call;
  call.batch = batchOf(entry, index, tensors);
  return call;
}

disco_status PreparedEntry::layOut(const disco_abi_entry &entry,
                                   const StepTensors &tensors,
                                   Layout &layout) const {
  uint64_t sizes[DISCO_MAX_SLOTS] = {};
  bool fits = true;
  for (int32_t i = 0; i < entry.num_buffers; ++i) {
    const disco_abi_buffer &buffer = entry.buffers[i];
    if (buffer.kind != DISCO_BUFFER_TEMPORARY)
      continue;
    uint64_t bytes = 0;
    fits &= bytesOfBuffer(buffer, tensors, bytes) && roundUp(bytes);
    sizes[buffer.index] = std::max(sizes[buffer.index], bytes);
  }
  uint64_t end = 0;
  for (int32_t slot = 0; slot < DISCO_MAX_SLOTS; ++slot) {
    layout.slots[slot] = end;
    fits &= !__builtin_add_overflow(end, sizes[slot], &end);
  }
  if (!fits)
    return failTooLarge(entry);
  layout.kernels = end;
  uint64_t largest = 0;
  for (int32_t i = 0; i < entry.num_steps; ++i) {
    if (!kernels[i].call) // a repack needs none
      continue;
    const disco_kernel_call call = callOf(entry, i, tensors);
    uint64_t bytes = 0;
    if (disco_status s =
            disco_device_workspace_bytes(kernels[i].call, &call, &bytes))
      return failStep(s, entry, i);
    largest = std::max(largest, bytes);
  }
  if (__builtin_add_overflow(end, largest, &layout.bytes) ||
      layout.bytes > static_cast<uint64_t>(INT64_MAX))
    return failTooLarge(entry);
  return DISCO_OK;
}

disco_status PreparedEntry::workspaceBytes(const disco_abi_entry &entry,
                                           const StepTensors &tensors,
                                           uint64_t &bytes) const {
  Layout layout;
  if (disco_status s = layOut(entry, tensors, layout))
    return s;
  bytes = layout.bytes;
  return DISCO_OK;
}

disco_status PreparedEntry::launch(const disco_abi_entry &entry, int32_t index,
                                   const StepTensors &tensors,
                                   void *const (&operands)[DISCO_NUM_OPERANDS],
                                   void *workspace, uint64_t bytes) const {
  if (kernels[index].repack)
    return disco_device_run_repack(
        kernels[index].repack, batchOf(entry, index, tensors),
        operands[DISCO_OPERAND_X], operands[DISCO_OPERAND_Y], device.stream);
  disco_kernel_call call = callOf(entry, index, tensors);
  call.x = operands[DISCO_OPERAND_X];
  call.gy = operands[DISCO_OPERAND_GY];
  call.weight = operands[DISCO_OPERAND_WEIGHT];
  call.bias = operands[DISCO_OPERAND_BIAS];
  call.residual = operands[DISCO_OPERAND_RESIDUAL];
  call.y = operands[DISCO_OPERAND_Y];
  call.grad_bias = operands[DISCO_OPERAND_GRAD_BIAS];
  return disco_device_run(kernels[index].call, &call, device.stream, workspace,
                          bytes);
}

void PreparedEntry::report(const disco_abi_entry &entry, int32_t index,
                           const StepTensors &tensors,
                           void *const (&operands)[DISCO_NUM_OPERANDS],
                           bool written) const {
  const disco_abi_step &step = entry.steps[index];
  const StepShapes shapes(step, batchOf(entry, index, tensors));
  int32_t number = 0; // as Probe.h counts: operands, then results
  for (int32_t operand = 0; operand < DISCO_NUM_OPERANDS; ++operand) {
    const disco_abi_buffer *buffer = bufferOf(entry, step, operand);
    if (!buffer)
      continue;
    const bool isWritten =
        operand == DISCO_OPERAND_Y || operand == DISCO_OPERAND_GRAD_BIAS;
    if (isWritten == written) {
      const Shape shape = shapes.of(operand, *buffer);
      int64_t strides[DISCO_MAX_RANK] = {};
      int64_t stride = 1;
      for (int32_t d = shape.rank - 1; d >= 0; --d) {
        strides[d] = stride;
        stride *= shape.dims[d];
      }
      disco_tensor tensor = {};
      const void *host = hostOf(entry, step, operand);
      const bool isOnHost = isPacked(operand) && host;
      tensor.data = isOnHost ? const_cast<void *>(host) : operands[operand];
      tensor.device = isOnHost ? disco_device{DISCO_CPU, 0}
                               : disco_device{DISCO_CUDA, device.device};
      tensor.rank = shape.rank;
      tensor.dtype = buffer->dtype;
      tensor.shape = shape.dims;
      tensor.strides = strides;
      reportOperand(step.probe, number, tensor);
    }
    ++number;
  }
}

disco_status PreparedEntry::run(const disco_abi_entry &entry,
                                const StepTensors &tensors, void *workspace,
                                uint64_t bytes) const {
  Layout layout;
  if (disco_status s = layOut(entry, tensors, layout))
    return s;
  char *const base = static_cast<char *>(workspace);
  const auto at = [&](const disco_abi_step &step, int32_t operand) -> void * {
    const int32_t index = step.operands[operand];
    if (index < 0)
      return nullptr;
    const disco_abi_buffer &buffer = entry.buffers[index];
    switch (buffer.kind) {
    case DISCO_BUFFER_INPUT:
      return tensors.inputs[buffer.index];
    case DISCO_BUFFER_OUTPUT:
      return tensors.outputs[buffer.index];
    case DISCO_BUFFER_CONSTANT:
      return constants[index].memory; // null for what prepare packed
    default:
      return base ? base + layout.slots[buffer.index] : nullptr;
    }
  };
  for (int32_t i = 0; i < entry.num_steps; ++i) {
    void *operands[DISCO_NUM_OPERANDS];
    for (int32_t operand = 0; operand < DISCO_NUM_OPERANDS; ++operand)
      operands[operand] = at(entry.steps[i], operand);
    const int32_t probe = hasProbeHooks() ? entry.steps[i].probe : -1;
    if (probe >= 0) {
      disco_probe_begin(probe);
      report(entry, i, tensors, operands, /*written=*/false);
    }
    if (disco_status s = launch(entry, i, tensors, operands,
                                base ? base + layout.kernels : nullptr,
                                bytes - layout.kernels))
      return failStep(s, entry, i);
    if (probe >= 0) {
      report(entry, i, tensors, operands, /*written=*/true);
      disco_probe_end(probe);
    }
  }
  return DISCO_OK;
}

} // namespace disco::runtime
