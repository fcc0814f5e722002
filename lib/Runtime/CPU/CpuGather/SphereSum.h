//===- SphereSum.h - sums over rings, weight first --------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// contract_sum, and a conv with the weight first, sum K maps over the rings of
// psi. A task takes some out-latitudes and channels, and runs over the rings
// that they read, from north to south. Each ring is copied or computed once,
//
//   u[channel, k, longitude]  =  z[channel, k]  or  sum over c: w[c, k] x[c]
//
// and then added to all rows that read it, while it is in the cache:
//
//   sums[row, channel] += taps of row in ring * u[channel]
//
// A row thus adds up its rings from north to south, and on each its arcs in
// order, in whichever task it is. Ring and row are extended periodically, as
// far as the taps reach, so that no tap tests for the wrap:
//
//   u   [ .. lattice/2 .. | 0 .. lattice | .. one row's padding .. ]  per phase
//
// Where a ring of x is u itself (contract_sum, stride 1, no conversion), the
// columns whose taps all lie on it without wrap read x, and only those near its
// ends a copy. The sums of the first columns, `origin` of them, are kept behind
// the last one's, so that those near both ends follow each other. A block of
// columns asks for the same columns of the next ring: so much is read, and as
// fast, as is computed.
//
// One row alone needs a load of u for each multiplication. Up to three rows
// that follow each other among those that read a ring, and whose arcs on it
// meet, are a *group*: each tap is a load for all of its rows that have it, and
// none for the others (GroupParts in Kernels.h). Taps that mirror each other
// for all rows of a group (Mirror.h) are one element, the sum or the difference
// of two longitudes. Groups and their elements depend on psi alone.
//
// The lists are made once for all channels of a task, as many as a thread has
// room for: a *round*. Tasks of the same rows that a thread takes one after the
// other share them, if they are one round. A channel after the other runs
// through the round, so that each of its K maps is read in one go, and the sums
// of few rows are in use at a time. A mixed ring holds all channels, and is a
// round.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CPU_CPUGATHER_SPHERESUM_H
#define DISCO_LIB_RUNTIME_CPU_CPUGATHER_SPHERESUM_H

#include "Operations.h"
#include "Sphere.h"
#include "Values.h"

#include <algorithm>

namespace disco::cpu_gather {

/// Elements (taps or pairs of them, for each k) and pieces of a round.
constexpr int64_t listSize = DISCO_CPU_GATHER_ROUND_ELEMENTS,
                  maxPieces = DISCO_CPU_GATHER_ROUND_PIECES;
/// Lanes of the widest vectors.
constexpr int64_t maxLanes = 16;
/// Rows of a task, at least: its first and last rings are also read by others.
constexpr int64_t minRows = DISCO_CPU_GATHER_TASK_ROWS;

template <typename T> class SphereSum final : public Operation {
public:
  SphereSum(const Problem &problem, const Kernels<T> &kernels)
      : problem(problem), call(*problem.call), kernels(kernels),
        tables(problem), isMix(call.op == DISCO_OP_CONV),
        lattice(problem.lattice),
        origin(isPlain() && problem.lattice >= 4 * kernels.lanes ? kernels.lanes
                                                                 : 0),
        padded(roundUp(problem.lattice, kernels.panel) + 2 * origin),
        vectors(divideUp(problem.lattice, kernels.lanes)),
        // The ring's end, that is copied, is where a panel begins.
        margin(origin ? roundUp(problem.lattice / 2 + problem.lattice,
                                kernels.panel) -
                            problem.lattice
                      : roundUp(problem.lattice / 2, kernels.panel)),
        phaseSize(roundUp(margin + padded + divideUp(problem.lattice, 2),
                          kernels.panel)),
        mapSize(problem.stride * phaseSize) {}

  void layout(Arena &arena) override;
  void run() override;

private:
  bool mixes() const { return isMix; }
  /// Whether rings of x are what is added.
  bool isPlain() const {
    return !mixes() && problem.stride == 1 &&
           call.dtype == (sizeof(T) == 8 ? DISCO_F64 : DISCO_F32) &&
           problem.numIn <= INT32_MAX / (2 * greater(problem.numBasis, 1));
  }
  bool readsDirectly() const {
    return isPlain() && reinterpret_cast<uintptr_t>(call.x) % sizeof(T) == 0;
  }
  int64_t channelSize() const { return problem.numBasis * mapSize; }
  int64_t ringPanels() const {
    return roundUp(call.psi.nlon_in, kernels.panel);
  }

  /// What an element of a list is.
  enum Kind { single, sum, difference, allKinds };

  /// An arc as its ring sees it.
  struct Reader {
    int32_t row, arc;
  };

  /// Readers of a ring that are added together, the longest arc first, and the
  /// longitudes of all their taps. With a whole ring, they start where it does.
  struct Group {
    Reader readers[maxGroup];
    int64_t size = 0;
    int64_t start = 0, length = 0;
    bool isRing = false;
  };

  /// Consecutive elements of a group.
  struct Piece {
    int32_t lat;
    int32_t rows[maxGroup], slots[maxGroup], numRows;
    int32_t firstOffset, firstValue, numParts;
    int32_t counts[3][GroupParts::maxParts];
    int32_t lowest, highest; ///< columns of u that taps start from
    uint8_t isFirst, isLast; ///< bit r: of row r
  };

  /// Rows that follow each other and are summed by transforms.
  struct Run {
    int32_t firstRow, numRows;
  };

  /// Of a ring's pieces: how many follow each other, the blocks of columns of
  /// them all, and the columns of u that taps start from. Columns [first, end)
  /// read x, if any; of its ends so many vectors are copied.
  struct RingSpan {
    int32_t numPieces, steps, lowest, highest, first, end, head, tail;
  };

  /// Where a ring is read.
  struct RingPlace {
    T *staged = nullptr;
    const T *x = nullptr; ///< for columns [first, end), if any
    int64_t first = 0, end = 0;
    Ahead ahead;
  };

  /// A thread's buffers.
  struct Scratch {
    T *ring = nullptr;   ///< u [block or 1][K][stride][phaseSize]
    T *mixed = nullptr;  ///< [block * K][nlonIn], stride > 1
    T *x = nullptr;      ///< panels of x
    T *row = nullptr;    ///< one ring of x
    T *sums = nullptr;   ///< [block][slot][padded]
    T *values = nullptr; ///< of elements, [element][row of its part]
    int32_t *offsets = nullptr;
    int32_t *direct = nullptr;     ///< the same in x
    T *groupValues = nullptr;      ///< [row][tap][K]
    int32_t *tapOffsets = nullptr; ///< of a group
    int32_t *tapColumns = nullptr; ///< the same in x
    uint8_t *parity = nullptr;     ///< [K]
    uint8_t *tapParts = nullptr;   ///< of a group: bit p: in part p
    int32_t *maps = nullptr;       ///< [kind or all][K]
    int64_t numMaps[4] = {};
    Piece *pieces = nullptr;
    RingSpan *spans = nullptr;    ///< at the first piece of a ring
    int32_t *slots = nullptr;     ///< of rows; -1: none
    int32_t *freeSlots = nullptr; ///< a stack
    int32_t *left = nullptr;      ///< arcs of a row that are to be added
    // Of rows by transforms; a point is [re, im][lane]:
    T *ringMaps = nullptr; ///< [pair of maps][point]
    T *work = nullptr;     ///< [point]
    T *spectra = nullptr;  ///< [row of a run][point of a half]
    T *results = nullptr;  ///< [2 rows][lane][padded]
    // Of the present round:
    int64_t numPieces = 0, used = 0, usedOffsets = 0, usedValues = 0;
    int64_t numFree = 0;
    int64_t listedRow = -1; ///< if the round is all of the task from this row
  };

  /// What a task computes.
  struct Task {
    int64_t batch, group, firstChannel, count; ///< channels in the group
    int64_t firstRow, numRows;
    Scratch *scratch;
    const int32_t *firstTable; ///< of each row; < 0: tap by tap; null: all so
    bool isFourier = false;    ///< has no rows but those by transforms

    bool has(int64_t row) const {
      return row >= firstRow && row < firstRow + numRows &&
             (firstTable && firstTable[row] >= 0) == isFourier;
    }
  };

  void indexReaders();
  void computeTask(int64_t task, Scratch &scratch);
  void addRing(const Task &task, int64_t lat);
  Group groupAt(const Reader *begin, const Reader *end) const;
  void addGroup(const Task &task, int64_t lat, const Group &group);
  void loadGroup(Scratch &s, const Group &group) const;
  void chooseKinds(Scratch &s, const Group &group) const;
  void addElements(const Task &task, Piece *&piece, const Group &group,
                   Kind kind, int part, int ours);
  Piece &startPiece(const Task &task, const Piece &like);
  void writeOffsets(Scratch &s, int64_t start, int64_t length,
                    Piece &piece) const;
  void loadValues(const Arc &arc, int64_t first, int64_t count, T *to) const;
  int64_t shiftOf(const Arc &from, const Arc &to) const;
  void makeLists(const Task &task);
  /// Begins another round.
  static void emptyLists(Scratch &s) {
    s.numPieces = s.used = s.usedOffsets = s.usedValues = 0;
    s.listedRow = -1;
  }
  void addRound(const Task &task);
  void measureRings(Scratch &s) const;
  RingPlace placeRing(const Task &task, int64_t channel, int64_t lat,
                      const RingSpan &span) const;
  void addPiece(const Task &task, const Piece &piece, int64_t channel,
                RingPlace &place);
  void stage(const Task &task, int64_t channel, int64_t lat, int64_t first,
             int64_t end) const;
  void mixRing(const Task &task, int64_t lat);
  const char *mapOf(const Task &task, int64_t channel, int64_t k,
                    int64_t lat) const;
  void copyRing(const Task &task, int64_t channel, int64_t lat) const;
  Ahead ringAhead(const Task &task, int64_t lat, int64_t channel,
                  int64_t steps) const;
  void extend(T *maps, int64_t lowest, int64_t highest) const;
  void storeRow(const Task &task, int64_t row, int64_t channel, const T *sums);

  // SphereFourier.cpp
  int64_t numFields() const { return problem.batch * problem.channels; }
  int64_t numPairs() const { return divideUp(problem.numBasis, 2); }
  /// Elements of the spectra of an arc, and of the sums of a row.
  int64_t tableSize() const { return numPairs() * (lattice / 2 + 1) * 4; }
  int64_t spectrumSize() const { return (lattice / 2 + 1) * 2 * kernels.lanes; }
  int64_t leastTapsOfArcs() const;
  const T *ringOfField(int64_t field, int64_t k, int64_t lat) const {
    return static_cast<const T *>(call.x) +
           (field * problem.numBasis + k) * problem.numIn +
           lat * call.psi.nlon_in;
  }
  void layoutFourier(Arena &arena);
  void layoutFourier(Arena &arena, Scratch &s) const;
  void chooseFourierRows();
  void transformFilters();
  void transformFilters(int64_t row, Scratch &s) const;
  void transformRing(int64_t first, int64_t count, int64_t lat, Scratch &s,
                     Ahead &ahead) const;
  void computeRun(const Run &run, int64_t first, Scratch &s);
  void storeRows(const Run &run, int64_t row, int64_t first, int64_t count,
                 Scratch &s);
  Task taskOfRow(int64_t row, int64_t field, Scratch &s) const;

  const Problem &problem;
  const disco_kernel_call &call;
  const Kernels<T> &kernels;
  const SphereTables tables;
  const bool isMix;
  const int64_t lattice, origin, padded, vectors, margin, phaseSize, mapSize;
  int64_t block = 1, blocks = 1; ///< channels of a task; tasks of a group
  int64_t rowChunk = 1, chunks = 1;
  bool isStreamed = false; ///< results go around the caches
  T *weight = nullptr;
  Scratch *scratches = nullptr;
  int64_t *cost = nullptr;
  int32_t *order = nullptr;
  int64_t *firstReader = nullptr; ///< of each ring
  Reader *readers = nullptr;      ///< by ring, then by row and arc
  Fourier<T> fourier;
  int64_t maxTables = 0, numRuns = 0;
  int32_t *firstTable = nullptr; ///< of each row; < 0: tap by tap
  Run *runs = nullptr;
  T *roots = nullptr;
  T *filters = nullptr; ///< [arc][point of a half][pair][4]
};

} // namespace disco::cpu_gather

#endif // DISCO_LIB_RUNTIME_CPU_CPUGATHER_SPHERESUM_H
