//===- Launch.cpp - what the kernel is launched with ----------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Launch.h"

#include "disco/ABI/Problem.h"

#include <initializer_list>

using namespace disco::toeplitz_wgmma;

/// Longitudes from one tile to the next: all that a tile has, or fewer if that
/// lets more stores begin at whole sectors and lines of memory without more
/// tiles. nchw always begins tiles at multiples of 8 points, if rows do, for
/// stores of 16 bytes.
static int32_t advanceOf(const Params &p) {
  const int32_t whole = p.shape.groups * p.shape.longitudes;
  const auto tiles = [&](int32_t advance) {
    return (p.rowLongitudes + advance - 1) / advance;
  };
  const auto aligned = [&](int32_t advance, int32_t points) {
    return advance * p.shape.phases % points == 0;
  };
  for (int32_t points : {64, 32, 16, 8})
    for (int32_t advance = whole; advance > whole / 2; --advance)
      if (aligned(advance, points) && tiles(advance) == tiles(whole))
        return advance;
  if (p.yPoint == 1 && p.shape.nlonOut % 8 == 0)
    for (int32_t advance = whole; advance > 0; --advance)
      if (aligned(advance, 8))
        return advance;
  return whole;
}

bool disco::toeplitz_wgmma::makeParams(const Shape &shape,
                                       const Operands &operands, Params &p) {
  p = {};
  p.x = operands.x;
  p.y = operands.y;
  p.shape = shape;
  const int64_t planesIn =
      shape.sum ? int64_t(shape.numBasis) * shape.nlatIn : shape.nlatIn;
  p.xBlockBytes = planesIn * shape.nlonIn * pointBytes;
  const bool blocked = operands.yLayout == DISCO_C8;
  p.yPoint = blocked ? blockChannels : 1;
  p.pitch =
      disco_toeplitz_wgmma_pitch(shape.groups, shape.groupPoints, blocked);
  p.yRow = int64_t(shape.nlonOut) * p.yPoint;
  const int64_t rows = p.yRow * shape.nlatOut;
  p.yPlane = shape.sum ? p.yRow : rows;
  p.yChannel = shape.sum ? rows : rows * shape.numBasis;
  p.rowLongitudes = shape.nlonOut / shape.phases;
  p.advance = advanceOf(p);
  p.tiles = (p.rowLongitudes + p.advance - 1) / p.advance;
  const int64_t blocks =
      (operands.channels + blockChannels - 1) / blockChannels;
  int64_t units = 0, items = 0;
  if (__builtin_mul_overflow(operands.batch, blocks * p.tiles, &units) ||
      units > INT32_MAX - mathGroups)
    return false;
  const int64_t unitGroups = (units + mathGroups - 1) / mathGroups;
  if (__builtin_mul_overflow(unitGroups, int64_t(shape.blocks), &items) ||
      items > INT32_MAX)
    return false;
  p.channels = static_cast<int32_t>(operands.channels);
  p.channelBlocks = static_cast<int32_t>(blocks);
  p.units = static_cast<int32_t>(units);
  p.unitGroups = static_cast<uint32_t>(unitGroups);
  p.items = static_cast<uint32_t>(items);
  return true;
}
