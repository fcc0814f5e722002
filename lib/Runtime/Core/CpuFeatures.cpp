//===- CpuFeatures.cpp - what the processor can do ------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Internal.h"

#include <cstring>
#include <string_view>

namespace disco::runtime {

#if defined(__x86_64__)
// LLVM's spelling and the one that the builtin wants (it needs a literal).
#define DISCO_CPU_FEATURES(X)                                                  \
  X("cmov", "cmov")                                                            \
  X("mmx", "mmx")                                                              \
  X("popcnt", "popcnt")                                                        \
  X("sse", "sse")                                                              \
  X("sse2", "sse2")                                                            \
  X("sse3", "sse3")                                                            \
  X("ssse3", "ssse3")                                                          \
  X("sse4.1", "sse4.1")                                                        \
  X("sse4.2", "sse4.2")                                                        \
  X("sse4a", "sse4a")                                                          \
  X("avx", "avx")                                                              \
  X("avx2", "avx2")                                                            \
  X("fma", "fma")                                                              \
  X("f16c", "f16c")                                                            \
  X("bmi", "bmi")                                                              \
  X("bmi2", "bmi2")                                                            \
  X("lzcnt", "lzcnt")                                                          \
  X("movbe", "movbe")                                                          \
  X("aes", "aes")                                                              \
  X("pclmul", "pclmul")                                                        \
  X("avx512f", "avx512f")                                                      \
  X("avx512vl", "avx512vl")                                                    \
  X("avx512bw", "avx512bw")                                                    \
  X("avx512dq", "avx512dq")                                                    \
  X("avx512cd", "avx512cd")                                                    \
  X("avx512vnni", "avx512vnni")                                                \
  X("avx512bf16", "avx512bf16")

static bool hasFeature(std::string_view name) {
  __builtin_cpu_init();
#define X(LLVM, BUILTIN)                                                       \
  if (name == (LLVM))                                                          \
    return __builtin_cpu_supports(BUILTIN) != 0;
  DISCO_CPU_FEATURES(X)
#undef X
  return false;
}
#else
static bool hasFeature(std::string_view) { return false; }
#endif

disco_status checkCpuFeatures(const disco_artifact &artifact) {
  const std::string_view features = artifact.root->cpu_features;
  for (size_t start = 0; start < features.size();) {
    size_t end = features.find(',', start);
    if (end == std::string_view::npos)
      end = features.size();
    const std::string_view name = features.substr(start, end - start);
    if (!hasFeature(name))
      return fail(DISCO_UNSUPPORTED_TARGET,
                  "expected the processor to have the feature '%.*s', which "
                  "'%s' (built for %s) needs, but it has not",
                  static_cast<int>(name.size()), name.data(),
                  artifact.path.c_str(), artifact.root->cpu);
    start = end + 1;
  }
  return DISCO_OK;
}

} // namespace disco::runtime
