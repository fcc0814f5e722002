/*===- disco.h - running compiled artifacts, C interface ------------*- C -*-===
 *
 * Part of the Disco project, under the Apache License v2.0 with LLVM
 * Exceptions. See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 * The interface of libdisco_runtime. C11 and C++ accept this header. Version 1
 * is frozen: what is below keeps its meaning and layout; additions get new
 * functions, or new fields at the end of structs that carry `struct_size`.
 *
 * A program opens an artifact (a shared library made by disco-compile), finds
 * an entry, prepares it in a context and runs it as often as it likes:
 *
 *   disco_context_create ----> context ---.
 *                                         +--> disco_prepare (once)
 *   disco_artifact_open --> artifact      |        |
 *     disco_artifact_find_entry -> entry -'        v
 *                            disco_entry_output_shapes, disco_workspace_bytes
 *                                                  |   (per input shape)
 *                                                  v
 *                                              disco_run
 *
 * Errors. A function that can fail returns a disco_status; when that is not
 * DISCO_OK, disco_last_error() gives the reason for the calling thread. Results
 * behind pointers are then unchanged. No function exits the process, throws, or
 * prints; only the system's loader may end it, over a library damaged inside.
 *
 * Threads. Every function may be called from any thread at any time, and
 * several threads may run the same entry at once, each with its own outputs and
 * workspace. Only destroying a context or closing an artifact must not overlap
 * with other uses of it.
 *
 * Memory. The caller owns tensors and workspace. disco_run allocates nothing.
 *
 * GPUs. A context for {DISCO_CUDA, n} runs artifacts that were built for a GPU:
 * disco_prepare brings kernels and constants to the device; disco_run puts
 * kernels on the context's stream, waits for nothing, and may be captured in a
 * CUDA graph. libdisco_runtime_cuda, beside this library, and a driver are
 * looked for when such a context is created.
 *
 *===------------------------------------------------------------------------===*/

#ifndef DISCO_ABI_DISCO_H
#define DISCO_ABI_DISCO_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DISCO_ABI_VERSION 1

/** Largest rank of a tensor. */
#define DISCO_MAX_RANK 8
/** Largest number of inputs, and of outputs, of an entry. */
#define DISCO_MAX_TENSORS 64
/** Bytes to which a workspace, and what disco_allocate returns, is aligned; on
 * a GPU 256. */
#define DISCO_ALIGNMENT 64

#if defined(_WIN32)
#define DISCO_API
#else
#define DISCO_API __attribute__((visibility("default")))
#endif

/*===- Status
 * ---------------------------------------------------------------===*/

/** One of the DISCO_* codes below (a plain integer, so that its size is fixed).
 */
typedef int32_t disco_status;
enum {
  DISCO_OK = 0,
  /** A null pointer, or a tensor or number that does not fit. */
  DISCO_INVALID_ARGUMENT = 1,
  /** The allocator had no memory; the message says how many bytes. */
  DISCO_OUT_OF_MEMORY = 2,
  /** No file, or no entry, of that name. */
  DISCO_NOT_FOUND = 3,
  /** A file exists but cannot be read or loaded. */
  DISCO_IO_ERROR = 4,
  /** The file is no artifact, or one of another version, or malformed. */
  DISCO_ABI_MISMATCH = 5,
  /** The artifact, or the device, is not for this machine or runtime. */
  DISCO_UNSUPPORTED_TARGET = 6,
  /** disco_run without disco_prepare in this context. */
  DISCO_NOT_PREPARED = 7,
  /** The artifact's code reported a failure. */
  DISCO_EXECUTION_FAILED = 8,
  /** A fault of the runtime or the compiler. */
  DISCO_INTERNAL = 9
};

/** The name of a code, "out_of_memory" for example; "unknown" for others. */
DISCO_API const char *disco_status_name(disco_status status);

/** Why the last failing call of this thread failed; "" before any failure.
 * Valid until the next failing call of this thread. */
DISCO_API const char *disco_last_error(void);

/** The version that the loaded library implements: compare it with
 * DISCO_ABI_VERSION. */
DISCO_API uint32_t disco_abi_version(void);

/*===- Tensors
 * --------------------------------------------------------------===*/

/** An element type. bfloat16 is the upper half of a float32. */
typedef int32_t disco_dtype;
enum {
  DISCO_F64 = 0,
  DISCO_F32 = 1,
  DISCO_F16 = 2,
  DISCO_BF16 = 3,
  DISCO_I32 = 4,
  DISCO_I64 = 5
};

/** Where memory is. The kinds are numbered as in DLPack. */
enum { DISCO_CPU = 1, DISCO_CUDA = 2 };
typedef struct disco_device {
  int32_t kind;
  int32_t id; /**< 0 for the CPU */
} disco_device;

/** A strided view of memory that the caller owns.
 *
 *   element [i0, i1, ...] is at  data + byte_offset
 *                                + (i0 strides[0] + i1 strides[1] + ...) size
 *
 * Strides are non-negative. Those of an input may be 0 (a broadcast); elements
 * of an output must not overlap one another. The first element is aligned to
 * the element's size. `data` may be NULL when a dimension is 0. */
typedef struct disco_tensor {
  void *data;
  disco_device device;
  int32_t rank; /**< 0 to DISCO_MAX_RANK */
  disco_dtype dtype;
  const int64_t *shape;   /**< [rank], in elements */
  const int64_t *strides; /**< [rank], in elements; NULL: dense and row-major */
  uint64_t byte_offset;
} disco_tensor;

/** What an entry expects of a tensor. */
typedef struct disco_tensor_type {
  const char *name; /**< NULL when the argument has none */
  disco_dtype dtype;
  int32_t rank;
  /** [rank]. Negative: known only when run. -1 stands for any size; equal
   * values below -1 stand for equal sizes, across all inputs and outputs of an
   * entry. */
  const int64_t *dims;
} disco_tensor_type;

/*===- Context
 * --------------------------------------------------------------===*/

typedef struct disco_context disco_context;

typedef struct disco_context_options {
  /** sizeof(disco_context_options). */
  uint64_t struct_size;
  /** Default: the CPU. */
  disco_device device;
  /** The stream that work is put on (a cudaStream_t; NULL: the default stream);
   * NULL on the CPU. */
  void *stream;
  /** Both or neither. `allocate` returns `bytes` bytes aligned to `alignment`
   * (a power of two), or NULL; `release` gets what it returned, and its size.
   * They may be called from any thread. On a GPU they are about its memory.
   * NULL: the C library's, or CUDA's. */
  void *(*allocate)(void *user, size_t bytes, size_t alignment);
  void (*release)(void *user, void *memory, size_t bytes);
  /** Passed to both. */
  void *user;
} disco_context_options;

/** A context for `options`, or for the CPU when that is NULL.
 * unsupported_target: a device that this runtime cannot use. */
DISCO_API disco_status disco_context_create(
    const disco_context_options *options, disco_context **context);
/** NULL is ignored. Memory from disco_allocate must have been released, and
 * work on a GPU have ended. */
DISCO_API void disco_context_destroy(disco_context *context);

/** Memory of the context's device from the context's allocator, for workspaces
 * and tensors; NULL for 0 bytes. out_of_memory: says how many bytes. */
DISCO_API disco_status disco_allocate(disco_context *context, uint64_t bytes,
                                      void **memory);
/** Gives it back; `bytes` as for disco_allocate. NULL is ignored. */
DISCO_API void disco_release(disco_context *context, void *memory,
                             uint64_t bytes);

/*===- Artifact
 * -------------------------------------------------------------===*/

typedef struct disco_artifact disco_artifact;
typedef struct disco_entry disco_entry;

/** Loads the shared library at `path` and checks its tables. not_found,
 * io_error (with the loader's message), abi_mismatch, unsupported_target. */
DISCO_API disco_status disco_artifact_open(const char *path,
                                           disco_artifact **artifact);
/** NULL is ignored. Entries and strings of the artifact become invalid, and
 * what contexts have prepared of it is given back: work of it on a GPU must
 * have ended. */
DISCO_API void disco_artifact_close(disco_artifact *artifact);

/** What it was built for: "cpu", or "cuda:sm_90a" for example. */
DISCO_API const char *disco_artifact_target(const disco_artifact *artifact);
/** The processor, "x86-64-v3" for example, or the GPU, "h200". */
DISCO_API const char *disco_artifact_cpu(const disco_artifact *artifact);
/** The features that the processor must have: "avx2,fma", or "". */
DISCO_API const char *
disco_artifact_cpu_features(const disco_artifact *artifact);
/** The compiler that made it, for people. */
DISCO_API const char *disco_artifact_producer(const disco_artifact *artifact);

DISCO_API int32_t disco_artifact_num_entries(const disco_artifact *artifact);
/** Entry `index`, 0 <= index < number of entries. The artifact owns it. */
DISCO_API disco_status disco_artifact_entry(const disco_artifact *artifact,
                                            int32_t index,
                                            const disco_entry **entry);
/** The entry named `name`. not_found: lists those there are. */
DISCO_API disco_status disco_artifact_find_entry(const disco_artifact *artifact,
                                                 const char *name,
                                                 const disco_entry **entry);

/*===- Entry
 * ----------------------------------------------------------------===*/

DISCO_API const char *disco_entry_name(const disco_entry *entry);
/** How its operations are run, as text for people; "" when not recorded. */
DISCO_API const char *disco_entry_plan(const disco_entry *entry);
/** 1 when it takes tensors with any strides, 0 when all must be dense and
 * row-major. */
DISCO_API int32_t disco_entry_is_strided(const disco_entry *entry);
DISCO_API int32_t disco_entry_num_inputs(const disco_entry *entry);
DISCO_API int32_t disco_entry_num_outputs(const disco_entry *entry);
/** What input, or output, `index` is. The artifact owns what `type` points to.
 */
DISCO_API disco_status disco_entry_input(const disco_entry *entry,
                                         int32_t index,
                                         disco_tensor_type *type);
DISCO_API disco_status disco_entry_output(const disco_entry *entry,
                                          int32_t index,
                                          disco_tensor_type *type);

/** The outputs' dimensions for inputs of these shapes: those of output 0, then
 * of output 1, and so on, written to `dims`, which has room for `capacity`
 * numbers. `count`, unless NULL, gets how many there are. Only dtypes and
 * shapes of the inputs are read. */
DISCO_API disco_status disco_entry_output_shapes(
    const disco_entry *entry, const disco_tensor *inputs, int32_t num_inputs,
    int64_t *dims, int32_t capacity, int32_t *count);

/*===- Running
 * --------------------------------------------------------------===*/

/** The bytes of workspace that inputs of these shapes need. Only dtypes and
 * shapes are read. On a GPU the entry must have been prepared. On the CPU it
 * grows with the number of threads: the environment variable DISCO_NUM_THREADS
 * (1 to 256), else the processors that the process may use. Neither may change
 * between this call and disco_run. */
DISCO_API disco_status disco_workspace_bytes(disco_context *context,
                                             const disco_entry *entry,
                                             const disco_tensor *inputs,
                                             int32_t num_inputs,
                                             uint64_t *bytes);

/** Checks that the entry can run on the context's device and does what need be
 * done once. Doing it again is harmless. unsupported_target: names the device
 * or the processor's features that are missing; on a GPU both architectures. An
 * artifact for sm_80 runs on that and later ones, one for sm_90a on exactly
 * that. On a GPU it allocates, copies and waits, and must not be called for the
 * first time while the context's stream is captured (not_prepared). */
DISCO_API disco_status disco_prepare(disco_context *context,
                                     const disco_entry *entry);

/** Runs the entry. Outputs are written and may not overlap each other, an input
 * or the workspace; their old content is not read. The workspace is aligned to
 * DISCO_ALIGNMENT (256 bytes on a GPU), has at least disco_workspace_bytes
 * bytes, and may be NULL when that is 0. After an error in the arguments no
 * output was touched. */
DISCO_API disco_status disco_run(disco_context *context,
                                 const disco_entry *entry,
                                 const disco_tensor *inputs, int32_t num_inputs,
                                 const disco_tensor *outputs,
                                 int32_t num_outputs, void *workspace,
                                 uint64_t workspace_bytes);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DISCO_ABI_DISCO_H */
