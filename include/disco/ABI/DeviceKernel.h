/*===- DeviceKernel.h - how code calls a kernel on a GPU ------------*- C -*-===
 *
 * Part of the Disco project, under the Apache License v2.0 with LLVM
 * Exceptions. See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 * The operations of Kernel.h on a CUDA device. A call is first prepared, which
 * may allocate, copy and synchronise, and then run as often as wanted, which
 * only puts kernels on a stream and so may be captured in a CUDA graph:
 *
 *   disco_device_prepare(family, context, call) --> prepared
 *     call: psi's tables and, where they are constant, weight and bias on the
 *     host; other pointers and the batch are not looked at
 *   disco_device_workspace_bytes(prepared, call)             per batch
 *   disco_device_run(prepared, call, stream, workspace)      again and again
 *     call: the same numbers but for the batch; pointers to device memory;
 * psi's are not looked at; weight and bias may be null where prepare got them
 *   disco_device_destroy(prepared)
 *
 * The kernels are in libdisco_runtime_cuda.so, beside libdisco_runtime.so,
 * which loads it at the first of these calls. Without that library, a driver or
 * a device they return unsupported_target, and disco_last_error() says what is
 * missing. Errors and threads: as disco.h says; several threads may run one
 * prepared call at once, each with a workspace of its own.
 *
 *===------------------------------------------------------------------------===*/

#ifndef DISCO_ABI_DEVICEKERNEL_H
#define DISCO_ABI_DEVICEKERNEL_H

#include "disco/ABI/Kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/*===- Devices
 * --------------------------------------------------------------===*/

typedef struct disco_device_properties {
  uint64_t
      struct_size; /**< sizeof(disco_device_properties), set by the caller */
  char name[128];  /**< "NVIDIA H200" for example */
  int32_t major, minor; /**< compute capability: 9 and 0 are sm_90 */
  int32_t multiprocessors;
  int32_t driver_version; /**< 13000: the driver serves CUDA 13.0 */
  int32_t clock_khz, memory_clock_khz; /**< the highest */
  int64_t memory_bytes, l2_bytes;
  int64_t smem_cta_bytes; /**< shared memory that a block may opt in to */
} disco_device_properties;

/** The number of CUDA devices; 0 is an error that says why. */
DISCO_API disco_status disco_device_count(int32_t *count);
DISCO_API disco_status disco_device_query(int32_t device,
                                          disco_device_properties *properties);

/** What device work needs to know of its surroundings. */
typedef struct disco_device_context {
  uint64_t struct_size; /**< sizeof(disco_device_context) */
  int32_t device;       /**< CUDA's number of the device */
  int32_t reserved;     /**< 0 */
  void *stream;         /**< a cudaStream_t; NULL: the default stream */
  /** As in disco_context_options, but for memory of the device; NULL: CUDA's
   * allocator. They may be called from any thread. */
  void *(*allocate)(void *user, size_t bytes, size_t alignment);
  void (*release)(void *user, void *memory, size_t bytes);
  void *user; /**< passed to both; must outlive what is prepared */
} disco_device_context;

/** Memory of the device from the context's allocator, aligned to 256 bytes;
 * NULL for 0 bytes. out_of_memory: says how many bytes. */
DISCO_API disco_status disco_device_allocate(
    const disco_device_context *context, uint64_t bytes, void **memory);
DISCO_API void disco_device_release(const disco_device_context *context,
                                    void *memory, uint64_t bytes);

/** Copies between host and device, either way, in the order of the context's
 * stream, and waits until it is done. */
DISCO_API disco_status disco_device_copy(const disco_device_context *context,
                                         void *to, const void *from,
                                         uint64_t bytes);
/** Waits for the work of the context's stream. execution_failed: with what the
 * device says of it. */
DISCO_API disco_status
disco_device_synchronize(const disco_device_context *context);

/*===- Kernels
 * --------------------------------------------------------------===*/

/** Families with kernels in the runtime, by index: "csr_gather" for example.
 * NULL beyond the last, and where there are no CUDA kernels. */
DISCO_API const char *disco_device_family(int32_t index);

typedef struct disco_prepared disco_prepared;

/** Uploads and packs what is constant, and checks that the device can run the
 * kernels: that they were built for its architecture, and, the first time for
 * each device and kernel, that one launch writes all that it should. Must not
 * be called while the stream is captured. */
DISCO_API disco_status disco_device_prepare(const char *family,
                                            const disco_device_context *context,
                                            const disco_kernel_call *call,
                                            disco_prepared **prepared);
/** NULL is ignored. Work that uses it must have finished. */
DISCO_API void disco_device_destroy(disco_prepared *prepared);

/** Bytes of device memory, aligned to 256 bytes, that a run of `call` needs. */
DISCO_API disco_status
disco_device_workspace_bytes(const disco_prepared *prepared,
                             const disco_kernel_call *call, uint64_t *bytes);

/** Puts the work on `stream` (a cudaStream_t). Allocates nothing and waits for
 * nothing. */
DISCO_API disco_status disco_device_run(const disco_prepared *prepared,
                                        const disco_kernel_call *call,
                                        void *stream, void *workspace,
                                        uint64_t workspace_bytes);

/*===- Repacks
 * --------------------------------------------------------------===*/

/** A change of layout. `points` are all elements of a channel of a sample, in
 * the order that they have in each of the layouts (nlat x nlon; K x nlat x nlon
 * of what contract writes):
 *
 *   DISCO_NCHW   [B, C, points]
 *   DISCO_NHWC   [B, points, C]
 *   DISCO_C8     [B, C / 8 rounded up, points, 8]
 *
 * Channels that only c8 has are written as zeros and never read. With one and
 * the same layout it is the type of the elements that changes, from f32 or to
 * f32: exactly, or rounded once. */
typedef struct disco_repack {
  uint64_t struct_size;           /**< sizeof(disco_repack) */
  int32_t from_layout, to_layout; /**< of DISCO_NCHW, _NHWC and _C8 */
  disco_dtype from_dtype, to_dtype;
  int64_t channels, points;
} disco_repack;

typedef struct disco_prepared_repack disco_prepared_repack;

/** As disco_device_prepare; allocates only what the check needs meanwhile. */
DISCO_API disco_status disco_device_prepare_repack(
    const disco_device_context *context, const disco_repack *repack,
    disco_prepared_repack **prepared);
/** NULL is ignored. Work that uses it must have finished. */
DISCO_API void disco_device_destroy_repack(disco_prepared_repack *prepared);

/** Puts the repack of `batch` samples on `stream`. `from` and `to` are device
 * memory and do not overlap; c8 is aligned to 16 bytes, others to their
 * elements. Allocates nothing, waits for nothing, needs no workspace. */
DISCO_API disco_status
disco_device_run_repack(const disco_prepared_repack *prepared, int64_t batch,
                        const void *from, void *to, void *stream);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DISCO_ABI_DEVICEKERNEL_H */
