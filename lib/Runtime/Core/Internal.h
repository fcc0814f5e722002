//===- Internal.h - the runtime's objects -----------------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is behind the handles of disco.h. This code makes no exception leave a
// function of the C interface, and formats errors without allocating.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CORE_INTERNAL_H
#define DISCO_LIB_RUNTIME_CORE_INTERNAL_H

#include "CudaLibrary.h"

#include "disco/ABI/Artifact.h"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <string>
#include <vector>

namespace disco::runtime {
class PreparedEntry;
} // namespace disco::runtime

struct disco_context {
  disco_context_options options;
  /// Of a context for a GPU.
  disco_device_context device = {};
  disco_device_properties properties = {};
  std::shared_mutex mutex;
  /// By serial number of the entry; what is on the GPU, or null.
  std::map<uint64_t, std::shared_ptr<disco::runtime::PreparedEntry>> prepared;

  bool isOnCpu() const { return options.device.kind == DISCO_CPU; }
};

struct disco_entry {
  const disco_abi_entry *abi;
  const disco_artifact *artifact;
  /// Never used twice in a process, so that a context does not take the entry
  /// of a later artifact at the same address for one that it prepared.
  uint64_t serial;
};

struct disco_artifact {
  std::string path;
  void *library = nullptr;
  const disco_abi_artifact *root = nullptr;
  /// The entries' tables, with all fields.
  std::vector<disco_abi_entry> tables;
  std::vector<disco_entry> entries;
  mutable std::mutex mutex;
  /// What contexts have prepared of it.
  mutable std::vector<std::weak_ptr<disco::runtime::PreparedEntry>> prepared;

  ~disco_artifact();
};

namespace disco::runtime {

/// Sets the thread's error text and returns `status`.
[[gnu::format(printf, 2, 3)]] disco_status fail(disco_status status,
                                                const char *format, ...);

/// What disco_raise left behind for this thread ("" when nothing); clears it.
const char *takeRaised();
void clearRaised();

/// Runs `body`, turning exceptions into a status.
template <typename Body> disco_status guarded(Body &&body) {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return fail(DISCO_OUT_OF_MEMORY, "out of memory in the runtime");
  } catch (...) {
    return fail(DISCO_INTERNAL, "unexpected exception in the runtime");
  }
}

/// 0 for an unknown type.
int64_t sizeOfDType(disco_dtype dtype);

/// "f32", or "element type 99" for an unknown one.
struct DTypeName {
  explicit DTypeName(disco_dtype dtype);
  char text[32];
};

/// "cpu", "cuda:1", or "device 7:0" for an unknown kind.
struct DeviceName {
  explicit DeviceName(disco_device device);
  char text[48];
};

/// Fails unless `path` is a shared library of this machine with all its
/// segments in the file: the loader itself would crash on a truncated one.
disco_status checkSharedLibrary(const char *path);

/// The readable segments of a library that the loader has loaded.
class LoadedSegments {
public:
  LoadedSegments() = default;
  /// Of the library that `address` is in.
  explicit LoadedSegments(const void *address);
  bool hold(const void *data, uint64_t bytes) const;

private:
  struct Segment {
    uintptr_t begin, end;
  };
  std::vector<Segment> segments;
};

/// Fails unless the processor has all of the comma separated features.
disco_status checkCpuFeatures(const disco_artifact &artifact);

/// Fails unless the tables are well formed. `entries` gets those of the
/// artifact with all fields.
disco_status checkArtifactTables(const char *path,
                                 const disco_abi_artifact *root,
                                 std::vector<disco_abi_entry> &entries);

/// Whether entries are steps on a GPU: "cuda:sm_90a".
bool isDeviceTarget(const char *target);

/// The architecture of a target for GPUs.
struct DeviceArch {
  int number = 0; ///< 90 for "sm_90a"; 0: this is no architecture
  /// Code for it runs there only, not on later ones too.
  bool isExact = false;

  /// Of "cuda:sm_90a".
  explicit DeviceArch(const char *target);
};
/// The first architecture that the kernels are for.
constexpr int firstDeviceArch = 80;

/// Fails unless the artifact is built for the context's device.
disco_status checkTarget(const disco_context &context,
                         const disco_artifact &artifact);

/// Prepares calls of one device whose tables of psi stay as they are while it
/// lives: those that need the same of them share it, in memory too.
class CallPreparer {
public:
  explicit CallPreparer(const disco_device_context &device) : device(device) {}
  ~CallPreparer();
  CallPreparer(const CallPreparer &) = delete;

  /// As disco_device_prepare.
  disco_status prepare(const char *family, const disco_kernel_call &call,
                       disco_prepared **prepared);

private:
  const disco_device_context &device;
  disco_prepare_pool *pool = nullptr;
  std::vector<disco_kernel_psi> checked;
};

/// Hands an operand to the thread's hooks; see Probe.h.
void reportOperand(int64_t id, int32_t index, const disco_tensor &tensor);
/// Whether the thread has hooks.
bool hasProbeHooks();

/// Fails unless the numbers of a repack are right.
disco_status checkRepack(const disco_repack *repack);

/// Fails unless `bytes` bytes at `pointer` are memory of the context's GPU, as
/// far as that is known. `what` is for the message.
disco_status checkDeviceMemory(const disco_device_context &context,
                               const char *what, const void *pointer,
                               uint64_t bytes, uint64_t alignment);

} // namespace disco::runtime

#endif // DISCO_LIB_RUNTIME_CORE_INTERNAL_H
