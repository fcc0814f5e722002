//===- Check.cpp - results against float64 --------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Measure.h"

#include "disco/Runtime/Accuracy.h"
#include "disco/Support/Parallel.h"

#include <algorithm>
#include <cmath>

namespace disco::bench {

namespace {

/// Sums of squares of the errors of what was computed and of the naive result.
struct Errors {
  double actual = 0, naive = 0, norm = 0;
  int64_t elements = 0;

  void add(double expected, double naiveValue, double actualValue) {
    actual += (actualValue - expected) * (actualValue - expected);
    naive += (naiveValue - expected) * (naiveValue - expected);
    norm += expected * expected;
    ++elements;
  }
  void add(const Errors &other) {
    actual += other.actual;
    naive += other.naive;
    norm += other.norm;
    elements += other.elements;
  }
};

class Checker {
public:
  Checker(const Work &work, const Operands &operands, DType dtype,
          double budget)
      : work(work), operands(operands), dtype(dtype), budget(budget),
        psi(*work.psi), numBasis(psi.numBasis()),
        groupIn(work.channels / work.groups),
        groupOut(work.outChannels / work.groups) {}

  Accuracy check() {
    if (work.op == DISCO_OP_CONV_WEIGHT_GRAD)
      checkWeightGrad();
    else
      checkPoints();
    Accuracy accuracy;
    const double norm = std::sqrt(errors.norm);
    accuracy.error = std::sqrt(errors.actual) / norm;
    accuracy.bound =
        reference::errorBound(dtype, std::sqrt(errors.naive) / norm);
    accuracy.elements = errors.elements;
    accuracy.isComplete = errors.elements == operands.y.numElements();
    // Not true for NaN.
    accuracy.ok = errors.elements > 0 && accuracy.error <= accuracy.bound;
    return accuracy;
  }

private:
  double narrow(double value) const { return roundTo(dtype, value); }

  /// The taps of a point, for all of its channels. exact and narrowed are
  /// [tap][K].
  struct Taps {
    std::vector<int64_t> in;
    std::vector<double> exact;
    std::vector<float> narrowed;
  };

  void readTaps(int64_t point, Taps &taps) const {
    taps.in.clear();
    taps.exact.clear();
    taps.narrowed.clear();
    psi.forEachTap(point, [&](int64_t in, const double *v) {
      taps.in.push_back(in);
      for (int64_t k = 0; k < numBasis; ++k) {
        taps.exact.push_back(v[k]);
        taps.narrowed.push_back(float(narrow(v[k])));
      }
    });
  }

  /// All points, or the ends and some between.
  std::vector<int64_t> samplePoints() const {
    const int64_t numOut = psi.numOut();
    double taps = 1;
    psi.forEachTap(numOut / 2, [&](int64_t, const double *) { ++taps; });
    const double cost =
        static_cast<double>(work.batch) *
        (static_cast<double>(work.channels * numBasis) * taps +
         static_cast<double>(work.weightShape.empty()
                                 ? 0
                                 : work.outChannels * groupIn * numBasis));
    const auto fit = static_cast<int64_t>(budget / cost);
    std::vector<int64_t> points;
    const int64_t count = std::min(numOut, std::max<int64_t>(fit, 24));
    points.reserve(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i)
      points.push_back(count == 1 ? 0 : i * (numOut - 1) / (count - 1));
    return points;
  }

  void checkPoints() {
    const std::vector<int64_t> points = samplePoints();
    const auto count = static_cast<int64_t>(points.size());
    std::vector<Errors> partial(points.size());
    parallelFor(count, 1, [&](int64_t i) {
      for (int64_t b = 0; b < work.batch; ++b)
        checkPoint(b, points[i], partial[i]);
    });
    for (const Errors &one : partial)
      errors.add(one);
  }

  void checkPoint(int64_t b, int64_t point, Errors &sum) const {
    const int64_t numIn = psi.numIn(), numOut = psi.numOut();
    Taps taps;
    readTaps(point, taps);
    if (work.op == DISCO_OP_CONTRACT_SUM) {
      for (int64_t c = 0; c < work.channels; ++c) {
        double exact = 0;
        float naive = 0;
        for (size_t t = 0; t < taps.in.size(); ++t)
          for (int64_t k = 0; k < numBasis; ++k) {
            const double z = operands.x.at(
                ((b * work.channels + c) * numBasis + k) * numIn + taps.in[t]);
            exact += taps.exact[t * numBasis + k] * z;
            naive += taps.narrowed[t * numBasis + k] * float(z);
          }
        const int64_t at = (b * work.channels + c) * numOut + point;
        sum.add(exact, narrow(naive), operands.y.at(at));
      }
      return;
    }
    std::vector<double> exact(work.channels * numBasis);
    std::vector<float> naive(exact.size());
    for (int64_t c = 0; c < work.channels; ++c)
      expand(operands.x, (b * work.channels + c) * numIn, taps,
             exact.data() + c * numBasis, naive.data() + c * numBasis);
    if (work.op == DISCO_OP_CONTRACT) {
      for (int64_t i = 0; i < work.channels * numBasis; ++i)
        sum.add(
            exact[i], naive[i],
            operands.y.at((b * work.channels * numBasis + i) * numOut + point));
      return;
    }
    for (int64_t o = 0; o < work.outChannels; ++o)
      checkMix(b, o, point, exact, naive, sum);
  }

  void checkMix(int64_t b, int64_t o, int64_t point,
                const std::vector<double> &exact,
                const std::vector<float> &naive, Errors &sum) const {
    const int64_t group = o / groupOut;
    double value = 0;
    float rounded = 0;
    for (int64_t c = 0; c < groupIn; ++c) {
      const int64_t row = work.transposeWeight
                              ? (group * groupIn + c) * groupOut + o % groupOut
                              : o * groupIn + c;
      for (int64_t k = 0; k < numBasis; ++k) {
        const double w = operands.weight.at(row * numBasis + k);
        const int64_t at = (group * groupIn + c) * numBasis + k;
        value += w * exact[at];
        rounded += float(w) * naive[at];
      }
    }
    const int64_t element = (b * work.outChannels + o) * psi.numOut() + point;
    sum.add(value, narrow(rounded), operands.y.at(element));
  }

  /// The features of one channel at a point.
  void expand(const Array &field, int64_t first, const Taps &taps,
              double *exact, float *naive) const {
    std::fill_n(exact, numBasis, 0.0);
    std::fill_n(naive, numBasis, 0.0f);
    for (size_t t = 0; t < taps.in.size(); ++t) {
      const double x = field.at(first + taps.in[t]);
      for (int64_t k = 0; k < numBasis; ++k) {
        exact[k] += taps.exact[t * numBasis + k] * x;
        naive[k] += taps.narrowed[t * numBasis + k] * float(x);
      }
    }
    for (int64_t k = 0; k < numBasis; ++k)
      naive[k] = float(narrow(naive[k]));
  }

  /// Some pairs of channels, summed over all points.
  void checkWeightGrad() {
    const bool filtersX = work.order == DISCO_FILTER_FIRST;
    const int64_t filtered = filtersX ? work.channels : work.outChannels;
    const int64_t step = psi.numOut() / 64 + 1;
    double taps = 0;
    for (int64_t n = 0; n < psi.numOut(); n += step)
      psi.forEachTap(n, [&](int64_t, const double *) { ++taps; });
    const double cost = static_cast<double>(work.batch * numBasis) *
                        (taps * static_cast<double>(step) +
                         8.0 * static_cast<double>(psi.numOut()));
    const int64_t fit = cost * 3 <= budget ? 3 : cost * 2 <= budget ? 2 : 1;
    const int64_t samples = std::min(filtered, fit);
    std::vector<Errors> partial(samples);
    parallelFor(samples, 1, [&](int64_t i) {
      checkChannel(i * (filtered - 1) / std::max<int64_t>(samples - 1, 1),
                   filtersX, partial[i]);
    });
    for (const Errors &one : partial)
      errors.add(one);
  }

  void checkChannel(int64_t channel, bool filtersX, Errors &sum) const {
    const Array &field = filtersX ? operands.x : operands.gy;
    const Array &other = filtersX ? operands.gy : operands.x;
    const int64_t filtered = filtersX ? work.channels : work.outChannels;
    const int64_t all = filtersX ? work.outChannels : work.channels;
    const int64_t inGroup = filtersX ? groupIn : groupOut;
    const int64_t others = filtersX ? groupOut : groupIn;
    const int64_t group = channel / inGroup;
    const int64_t samples = std::min<int64_t>(others, 8);
    std::vector<double> exact(samples * numBasis), features(numBasis);
    std::vector<float> naive(exact.size()), rounded(numBasis);
    Taps taps;
    for (int64_t b = 0; b < work.batch; ++b)
      for (int64_t n = 0; n < psi.numOut(); ++n) {
        readTaps(n, taps);
        expand(field, (b * filtered + channel) * psi.numIn(), taps,
               features.data(), rounded.data());
        for (int64_t s = 0; s < samples; ++s) {
          const double value =
              other.at((b * all + group * others + s) * psi.numOut() + n);
          for (int64_t k = 0; k < numBasis; ++k) {
            exact[s * numBasis + k] += value * features[k];
            naive[s * numBasis + k] += float(value) * rounded[k];
          }
        }
      }
    for (int64_t s = 0; s < samples; ++s) {
      const int64_t o = filtersX ? group * others + s : channel;
      const int64_t c = filtersX ? channel % groupIn : s;
      for (int64_t k = 0; k < numBasis; ++k)
        sum.add(exact[s * numBasis + k], narrow(naive[s * numBasis + k]),
                operands.y.at((o * groupIn + c) * numBasis + k));
    }
  }

  const Work &work;
  const Operands &operands;
  const DType dtype;
  const double budget; ///< multiply-adds that a check may take
  const reference::Operator &psi;
  const int64_t numBasis, groupIn, groupOut;
  Errors errors;
};

} // namespace

Accuracy checkResult(const Work &work, const Operands &operands, DType dtype,
                     double budget) {
  return Checker(work, operands, dtype, budget).check();
}

} // namespace disco::bench
