//===- FourierImpl.h - transforms of rings ----------------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Discrete Fourier transforms of as many sequences as a vector has lanes, one
// in each: no lane meets another, so that a sequence's result depends on itself
// alone. Included by KernelsImpl.h only.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CPU_CPUGATHER_FOURIERIMPL_H
#define DISCO_LIB_RUNTIME_CPU_CPUGATHER_FOURIERIMPL_H

#include "Kernels.h"
#include "Simd.h"

namespace disco::cpu_gather::DISCO_ISA {

/// A complex number in each lane; in memory [re, im][lane].
template <typename T> struct Complex {
  Vec<T> re, im;
};

/// Elements from a point to the next.
template <typename T> constexpr int64_t pointSize = 2 * lanesOf<T>;

template <typename T> static inline Complex<T> loadPoint(const T *p) {
  return {load(p), load(p + lanesOf<T>)};
}
template <typename T> static inline void storePoint(T *p, Complex<T> x) {
  store(p, x.re);
  store(p + lanesOf<T>, x.im);
}

template <typename T>
static inline Complex<T> operator+(Complex<T> a, Complex<T> b) {
  return {a.re + b.re, a.im + b.im};
}
template <typename T>
static inline Complex<T> operator-(Complex<T> a, Complex<T> b) {
  return {a.re - b.re, a.im - b.im};
}
template <typename T>
static inline Complex<T> operator*(Complex<T> a, Complex<T> b) {
  return {a.re * b.re - a.im * b.im, fma(a.re, b.im, a.im * b.re)};
}
/// -i x, i x.
template <typename T> static inline Complex<T> turnBack(Complex<T> x) {
  return {x.im, -x.re};
}
template <typename T> static inline Complex<T> turn(Complex<T> x) {
  return {-x.im, x.re};
}
/// a + factor * b.
template <typename T>
static inline Complex<T> addTimes(Complex<T> a, T factor, Complex<T> b) {
  const Vec<T> f = splat(factor);
  return {fma(f, b.re, a.re), fma(f, b.im, a.im)};
}
template <typename T> static inline Complex<T> times(T factor, Complex<T> b) {
  const Vec<T> f = splat(factor);
  return {f * b.re, f * b.im};
}

/// x[r] = sum over j: x[j] exp(-2 pi i j r / Radix).
template <typename T, int Radix>
__attribute__((always_inline)) static inline void
transformPoints(Complex<T> (&x)[Radix]) {
  if constexpr (Radix == 2) {
    const Complex<T> a = x[0], b = x[1];
    x[0] = a + b;
    x[1] = a - b;
  } else if constexpr (Radix == 3) {
    constexpr T sine = T(0.86602540378443864676L);
    const Complex<T> sum = x[1] + x[2];
    const Complex<T> middle = addTimes(x[0], T(-0.5), sum);
    const Complex<T> side = times(sine, turnBack(x[1] - x[2]));
    x[0] = x[0] + sum;
    x[1] = middle + side;
    x[2] = middle - side;
  } else if constexpr (Radix == 4) {
    const Complex<T> a = x[0] + x[2], b = x[0] - x[2];
    const Complex<T> c = x[1] + x[3], d = turnBack(x[1] - x[3]);
    x[0] = a + c;
    x[1] = b + d;
    x[2] = a - c;
    x[3] = b - d;
  } else {
    static_assert(Radix == 5);
    constexpr T cosine1 = T(0.30901699437494742410L),
                cosine2 = T(-0.80901699437494742410L),
                sine1 = T(0.95105651629515357212L),
                sine2 = T(0.58778525229247312917L);
    const Complex<T> a = x[1] + x[4], b = x[2] + x[3];
    const Complex<T> c = turnBack(x[1] - x[4]), d = turnBack(x[2] - x[3]);
    const Complex<T> near = addTimes(addTimes(x[0], cosine1, a), cosine2, b);
    const Complex<T> far = addTimes(addTimes(x[0], cosine2, a), cosine1, b);
    const Complex<T> nearSide = addTimes(times(sine1, c), sine2, d);
    const Complex<T> farSide = addTimes(times(sine2, c), -sine1, d);
    x[0] = x[0] + a + b;
    x[1] = near + nearSide;
    x[2] = far + farSide;
    x[3] = far - farSide;
    x[4] = near - nearSide;
  }
}

/// One pass: `step` transforms of size / step points become Radix * step of
/// fewer points. What they leave lies as the next pass reads it. The last pass
/// has no roots but 1.
template <typename T, int Radix, bool IsLast>
static void transformPass(const Fourier<T> &f, int64_t step, const T *from,
                          T *to, Ahead &ahead) {
  constexpr int64_t point = pointSize<T>;
  const int64_t groups = f.size / step / Radix;
  const int64_t apart = step * groups * point;
  for (int64_t g = 0; g < groups; ++g) {
    ahead.step();
    Complex<T> roots[Radix];
#pragma GCC unroll 8
    for (int r = 1; !IsLast && r < Radix; ++r) {
      const T *root = f.roots + 2 * step * g * r;
      roots[r] = {splat(root[0]), splat(root[1])};
    }
    const T *in = from + g * step * point;
    T *out = to + g * Radix * step * point;
    for (int64_t i = 0; i < step; ++i, in += point, out += point) {
      Complex<T> x[Radix];
#pragma GCC unroll 8
      for (int r = 0; r < Radix; ++r)
        x[r] = loadPoint(in + r * apart);
      transformPoints<T, Radix>(x);
      storePoint(out, x[0]);
#pragma GCC unroll 8
      for (int r = 1; r < Radix; ++r)
        storePoint(out + r * step * point, IsLast ? x[r] : x[r] * roots[r]);
    }
  }
}

template <typename T, int Radix>
static void transformPass(const Fourier<T> &f, int64_t step, const T *from,
                          T *to, Ahead &ahead) {
  if (step * Radix == f.size)
    transformPass<T, Radix, true>(f, step, from, to, ahead);
  else
    transformPass<T, Radix, false>(f, step, from, to, ahead);
}

template <typename T>
static void transform(const Fourier<T> &f, T *a, T *b, Ahead &ahead) {
  int64_t step = 1;
  for (int64_t i = 0; i < f.numFactors; ++i) {
    const int radix = f.factors[i];
    if (radix == 2)
      transformPass<T, 2>(f, step, a, b, ahead);
    else if (radix == 3)
      transformPass<T, 3>(f, step, a, b, ahead);
    else if (radix == 4)
      transformPass<T, 4>(f, step, a, b, ahead);
    else
      transformPass<T, 5>(f, step, a, b, ahead);
    step *= radix;
    T *last = a;
    a = b;
    b = last;
  }
}

/// Two vectors, element for element; of both the first or the second halves.
template <typename T, bool Second>
static inline Vec<T> interleave(Vec<T> a, Vec<T> b) {
  constexpr int n = int(lanesOf<T>), h = Second ? n / 2 : 0;
  if constexpr (n == 2)
    return __builtin_shufflevector(a, b, h, h + n);
  else if constexpr (n == 4)
    return __builtin_shufflevector(a, b, h, h + n, h + 1, h + 1 + n);
  else if constexpr (n == 8)
    return __builtin_shufflevector(a, b, h, h + n, h + 1, h + 1 + n, h + 2,
                                   h + 2 + n, h + 3, h + 3 + n);
  else
    return __builtin_shufflevector(
        a, b, h, h + n, h + 1, h + 1 + n, h + 2, h + 2 + n, h + 3, h + 3 + n,
        h + 4, h + 4 + n, h + 5, h + 5 + n, h + 6, h + 6 + n, h + 7, h + 7 + n);
}

/// As many vectors as lanes: element j of vector i becomes element i of
/// vector j.
template <typename T>
__attribute__((always_inline)) static inline void
transposeVectors(Vec<T> (&v)[lanesOf<T>]) {
  constexpr int n = int(lanesOf<T>);
#pragma GCC unroll 8
  for (int rest = n; rest > 1; rest /= 2) {
    Vec<T> next[n];
#pragma GCC unroll 16
    for (int i = 0; i < n / 2; ++i) {
      next[2 * i] = interleave<T, false>(v[i], v[i + n / 2]);
      next[2 * i + 1] = interleave<T, true>(v[i], v[i + n / 2]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < n; ++i)
      v[i] = next[i];
  }
}

template <typename T>
static void toLanes(const T *const *rows, int64_t count, T *to) {
  constexpr int64_t lanes = lanesOf<T>;
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    Vec<T> v[lanes];
#pragma GCC unroll 16
    for (int64_t l = 0; l < lanes; ++l)
      v[l] = load(rows[l] + i);
    transposeVectors<T>(v);
#pragma GCC unroll 16
    for (int64_t l = 0; l < lanes; ++l)
      store(to + (i + l) * pointSize<T>, v[l]);
  }
  for (; i < count; ++i)
    for (int64_t l = 0; l < lanes; ++l)
      to[i * pointSize<T> + l] = rows[l][i];
}

template <typename T>
static void fromLanes(const T *from, int64_t count, T *to, int64_t rowStride,
                      T *flaws) {
  constexpr int64_t lanes = lanesOf<T>;
  Vec<T> flaw{};
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    Vec<T> v[lanes];
#pragma GCC unroll 16
    for (int64_t l = 0; l < lanes; ++l) {
      v[l] = load(from + (i + l) * pointSize<T>);
      flaw += v[l] - v[l];
    }
    transposeVectors<T>(v);
#pragma GCC unroll 16
    for (int64_t l = 0; l < lanes; ++l)
      store(to + l * rowStride + i, v[l]);
  }
  for (; i < count; ++i) {
    const Vec<T> v = load(from + i * pointSize<T>);
    flaw += v - v;
    for (int64_t l = 0; l < lanes; ++l)
      to[l * rowStride + i] = from[i * pointSize<T> + l];
  }
  store(flaws, flaw);
}

template <typename T> static void addSpectrum(const SpectrumSum<T> &s) {
  constexpr int64_t point = pointSize<T>;
  const T *filter = s.filter;
  const int64_t mapSize = s.size * point;
  for (int64_t m = 0; m <= s.size / 2; ++m) {
    Complex<T> sum = loadPoint(s.sums + m * point), other{};
    const T *near = s.maps + m * point;
    const T *far = s.maps + (m == 0 ? 0 : s.size - m) * point;
    for (int64_t p = 0; p < s.pairs;
         ++p, filter += 4, near += mapSize, far += mapSize) {
      const Complex<T> c = loadPoint(near), e = loadPoint(far);
      // D(m) conj(c(size - m)) and conj(D(size - m)) c(m).
      const Vec<T> dr = splat(filter[0]), di = splat(filter[1]);
      const Vec<T> pr = splat(filter[2]), pi = splat(filter[3]);
      sum.re = fma(dr, e.re, fma(di, e.im, sum.re));
      sum.im = fma(di, e.re, sum.im - dr * e.im);
      other.re = fma(pr, c.re, fma(pi, c.im, other.re));
      other.im = fma(pr, c.im, other.im - pi * c.re);
    }
    storePoint(s.sums + m * point, sum + other);
  }
}

template <typename T>
static void joinSpectra(const T *a, const T *b, int64_t size, T *to) {
  constexpr int64_t point = pointSize<T>;
  for (int64_t m = 0; m <= size / 2; ++m) {
    const Complex<T> x = loadPoint(a + m * point), y = loadPoint(b + m * point);
    // x(m) + i y(m) and conj(x(m)) + i conj(y(m)), re and im exchanged.
    if (m > 0)
      storePoint<T>(to + (size - m) * point, {y.re - x.im, x.re + y.im});
    if (m == 0 || 2 * m < size)
      storePoint<T>(to + m * point, {x.im + y.re, x.re - y.im});
  }
}

} // namespace disco::cpu_gather::DISCO_ISA

#endif // DISCO_LIB_RUNTIME_CPU_CPUGATHER_FOURIERIMPL_H
