//===- Models.h - what the cost functions of families share -----*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Counting helpers: the times of a stage from its counts, the channel mix as a
// matrix product, a layout change, and a gather through staged ring windows.
// They read rates from the target and shapes from their arguments; they hold no
// constant of a chip.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_PLANNING_MODELS_H
#define DISCO_LIB_PLANNING_MODELS_H

#include "disco/Planning/Cost.h"
#include "disco/Planning/Family.h"

namespace disco::planning {

inline double real(int64_t value) { return static_cast<double>(value); }
/// Rounded up to whole tiles.
double ceilDiv(double value, double tile);
inline double padTo(double value, double tile) {
  return ceilDiv(value, tile) * tile;
}

inline DType dtypeOf(const Problem &problem) {
  return static_cast<DType>(problem.dtype);
}
/// Bytes of an element of x, and of the type that sums are kept in.
double elementBytes(const Problem &problem);
double accumulatorBytes(const Problem &problem);
/// `channels` in a layout: c8 stores whole blocks of eight.
double storedChannels(double channels, int32_t layout);
/// Bytes of x, of y (of z for contract), both in a layout, and of W.
double inputBytes(const Problem &problem, int32_t layout = DISCO_NCHW);
double outputBytes(const Problem &problem, int32_t layout = DISCO_NCHW);
double weightBytes(const Problem &problem);
/// Of the gradient that a conv_weight_grad reads.
double gyBytes(const Problem &problem, int32_t layout = DISCO_NCHW);
/// Of the bias, or of its gradient; 0 where there is none.
double biasBytes(const Problem &problem);
/// Of psi's tables as disco/ABI/Kernel.h describes them: 32-bit offsets and
/// indices, and values of `valueBytes`.
double psiBytes(const Problem &problem, double valueBytes);
/// Elements of the K-expanded tensor of an order, in a layout.
double storedExpanded(const Problem &problem, int32_t order, int32_t layout);
/// B times the fields that the order filters.
double filteredFields(const Problem &problem, int32_t order);

/// What bounds an execution unit, beside what Counts has.
struct Work {
  double fmaFlop = 0;
  DType fmaDType = DType::f32;
  double tensorFlop = 0;
  DType tensorDType = DType::bf16;
  /// The dependent chain of the largest CTA, or what is left of latencies after
  /// the resident CTAs have overlapped.
  double chainSeconds = 0;
};

/// Fills issuedFlop, waves and the times. With fewer CTAs than cores, what
/// happens inside a core takes longer in proportion; so does, on a CPU, what
/// cores draw from the shared cache.
void setTimes(Stage &stage, const Target &target, const Work &work);

/// Taps of the longest row over those of the mean one; 1 without taps.
double tapImbalance(const FilterCounts &counts);

/// CTAs that a core can hold with these threads, registers and shared memory;
/// 0: such a CTA cannot be launched.
double residentCtas(const Target &target, double threads, double registers,
                    double smemBytes);

/// Where the K-expanded tensor of a layer lives.
enum class Expanded { dram, sharedCache, core };

/// The channel mix of conv and conv_weight_grad as matrix products, one a
/// group, on the fastest unit that dtype and precision allow. Activations are
/// in `layout`.
Stage einsumStage(const Problem &problem, const Target &target, int32_t order,
                  Expanded expanded, int32_t layout = DISCO_NCHW);

/// Its threads, for people.
std::vector<std::string> describeEinsum(const Problem &problem, int32_t order);

/// One pass that changes the layout of a tensor.
void addRepack(Cost &cost, const Target &target, const char *name,
               double bytesRead, double bytesWritten);
/// That of x and y between the op's and the schedule's layouts; nothing where
/// they agree.
void addInputRepack(Cost &cost, const Target &target, const Problem &problem,
                    const Schedule &schedule);
void addOutputRepack(Cost &cost, const Target &target, const Problem &problem,
                     const Schedule &schedule);

/// A gather with the longitude along threads. Of a CTA:
///
///   for each ring of the row:     [whole ring | window] x bcTile channels are
///     stage                        copied to shared memory
///     for each tap: for each group of kTile features:
///       thread: lonPerThread x bcTile x kTile multiply-adds
struct GatherShape {
  double bcTile = 1, kTile = 1, threads = 128, lonPerThread = 1;
  /// Each group of features is a CTA of its own and stages its rings again.
  bool restage = false;
  bool wholeRing = false;
  /// Elements that one staging load of a thread brings.
  double loadElements = 1;
  /// Wavefronts of values and indices for each tap, warp and feature group.
  double tapLoads = 1;
  /// Instructions for each tap, warp and group besides loads and arithmetic.
  double tapOverhead = 8;
  /// Staging of the next ring overlaps the arithmetic of this one.
  bool pipelined = false;
  /// Multiply-adds of one field for which a thread loads one word: neighbouring
  /// longitudes and rows share words.
  double reuse = 1;
  /// Arcs are staged in pieces of so many taps; 0: whole.
  double pieceTaps = 0;
  /// Rows longer than this are split; 0: never.
  double splitTaps = 0;
  /// contract_sum: every feature reads a field of its own.
  bool sumOverK = false;
  /// Where the K-expanded tensor lives: the result, or with sumOverK the input.
  Expanded expanded = Expanded::dram;
};

/// The stage "contraction" for that many fields.
Stage gatherStage(const Problem &problem, const Target &target, int32_t order,
                  const GatherShape &shape);

/// Registers of a thread of that gather: its sums, and addresses, a tap and
/// loop counters.
double gatherRegisters(const Problem &problem, const GatherShape &shape);

/// Shared memory of a CTA of that gather.
double gatherSmemBytes(const Problem &problem, const GatherShape &shape);

/// What the filter is applied to, for people: "x", "z" (contract_sum), "gy" (a
/// weight gradient that filters the gradient), or the mixed maps.
std::string nameOfFiltered(const Problem &problem, int32_t order);

/// A failure whose number checkFamily or checkSchedule fills in.
RuleFailure failure(const std::string &reason, const std::string &suggestion);
std::string text(int64_t value);
std::string text(double wholeValue);

//===----------------------------------------------------------------------===//
// Checks that several families make
//===----------------------------------------------------------------------===//

/// 32-bit indices within a plane of `channels` fields that lie side by side,
/// and within the filter's values: both below 2^31 elements. Planes are found
/// with 64 bits, so that batch and channels are free.
std::optional<RuleFailure> checkExtents(const Problem &problem,
                                        const Target &target,
                                        int64_t channels = 1);
/// That the target has all of `features`.
std::optional<RuleFailure> checkFeatures(const Target &target,
                                         uint32_t features);
/// That `bytes` of shared memory fit one CTA.
std::optional<RuleFailure> checkSmem(const Target &target, double bytes,
                                     const char *suggestion);
/// That the filter is a constant, so that its taps are known.
std::optional<RuleFailure> checkExact(const Problem &problem);

} // namespace disco::planning

#endif // DISCO_LIB_PLANNING_MODELS_H
