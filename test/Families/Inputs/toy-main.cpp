//===- toy-main.cpp - chooses among the families and a toy ----------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Planning/Selection.h"

#include <cstdio>

using namespace disco::planning;

int main() {
  auto filter = disco::filter::parseSphereFilter(
      "sphere_filter<harmonic, [3], cutoff = 0.5, in = grid<lobatto, 9x16>, "
      "out = grid<lobatto, 9x16>>");
  auto problem = makeSphereProblem(DISCO_OP_CONV, *filter);
  for (int64_t channels : {16, 17}) {
    problem->channels = problem->out_channels = channels;
    auto target = *lookupTarget("h200");
    auto selection = select(*problem, target);
    if (!selection)
      return 1;
    std::puts(toText(*selection, *problem, target).c_str());
  }
  std::puts(listFamilies().c_str());
  return 0;
}
