//===- Simd.h - vectors of the instruction set being compiled ---*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Included by KernelsImpl.h only. Everything is in a namespace of its own for
// each instruction set, and uses no inline function of a library: the linker
// would keep any one of their copies, perhaps that with the wrong
// instructions.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CPU_CPUGATHER_SIMD_H
#define DISCO_LIB_RUNTIME_CPU_CPUGATHER_SIMD_H

#include <cstdint>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
#define DISCO_ISA avx512
#define DISCO_VECTOR_BYTES 64
#elif defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#define DISCO_ISA avx2
#define DISCO_VECTOR_BYTES 32
#else
#define DISCO_ISA baseline
#define DISCO_VECTOR_BYTES 16
#endif

namespace disco::cpu_gather::DISCO_ISA {

template <typename T> struct Simd;
template <> struct Simd<float> {
  typedef float V __attribute__((vector_size(DISCO_VECTOR_BYTES)));
  typedef float U
      __attribute__((vector_size(DISCO_VECTOR_BYTES), aligned(4), may_alias));
};
template <> struct Simd<double> {
  typedef double V __attribute__((vector_size(DISCO_VECTOR_BYTES)));
  typedef double U
      __attribute__((vector_size(DISCO_VECTOR_BYTES), aligned(8), may_alias));
};

template <typename T> using Vec = typename Simd<T>::V;
template <typename T>
constexpr int64_t lanesOf = DISCO_VECTOR_BYTES / int64_t(sizeof(T));

template <typename T> static inline Vec<T> load(const T *p) {
  return *reinterpret_cast<const typename Simd<T>::U *>(p);
}
template <typename T> static inline void store(T *p, Vec<T> v) {
  *reinterpret_cast<typename Simd<T>::U *>(p) = v;
}
template <typename T> static inline Vec<T> splat(T s) { return s - Vec<T>{}; }

/// A load that is used several times: without this the compiler may make it the
/// memory operand of each use, and the load ports are what is scarce.
template <typename T> static inline Vec<T> loadOnce(const T *p) {
  Vec<T> v = load(p);
#if defined(__x86_64__)
  __asm__("" : "+v"(v));
#endif
  return v;
}

// a * b + c, rounded once where the instruction set can. Which one is fixed for
// an instruction set, so that results do not depend on a lane's position.
static inline Vec<float> fma(Vec<float> a, Vec<float> b, Vec<float> c) {
#if defined(__AVX512F__)
  return _mm512_fmadd_ps(a, b, c);
#elif DISCO_VECTOR_BYTES == 32
  return _mm256_fmadd_ps(a, b, c);
#else
  return a * b + c;
#endif
}
static inline Vec<double> fma(Vec<double> a, Vec<double> b, Vec<double> c) {
#if defined(__AVX512F__)
  return _mm512_fmadd_pd(a, b, c);
#elif DISCO_VECTOR_BYTES == 32
  return _mm256_fmadd_pd(a, b, c);
#else
  return a * b + c;
#endif
}

} // namespace disco::cpu_gather::DISCO_ISA

#endif // DISCO_LIB_RUNTIME_CPU_CPUGATHER_SIMD_H
