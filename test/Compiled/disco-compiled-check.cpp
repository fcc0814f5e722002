//===- disco-compiled-check.cpp - compiled code against the reference -----===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: disco-compiled-check sphere|table DTYPE FAMILY TOOLS WORK
//        disco-compiled-check properties FAMILY TOOLS WORK
//
// Prints each failure, and last "N passed, M failed".
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include <cstdio>
#include <sys/stat.h>

using namespace disco;
using namespace disco::compiled;

int main(int argc, char **argv) {
  std::string kind = argc > 1 ? argv[1] : "";
  if (kind == "properties" && argc == 5) {
    mkdir(argv[4], 0777);
    Checker checker(argv[2], argv[3], argv[4]);
    checkProperties(checker);
    return checker.finish() ? 0 : 1;
  }
  std::optional<DType> dtype =
      argc == 6 || argc == 8 ? parseDType(argv[2]) : std::nullopt;
  if (!dtype || (kind != "sphere" && kind != "table")) {
    std::fprintf(stderr, "expected sphere|table DTYPE FAMILY TOOLS WORK "
                         "[TARGET compile|run|both] or "
                         "properties FAMILY TOOLS WORK\n");
    return 2;
  }
  // With a target: on device 0, or only compiled for a machine that has one.
  Place place;
  if (argc == 8) {
    const std::string what = argv[7];
    place = {{DISCO_CUDA, 0}, argv[6], what != "run", what != "compile"};
  }
  mkdir(argv[5], 0777);
  Checker checker(argv[3], argv[4], argv[5], place);
  if (kind == "sphere")
    checkSpheres(checker, *dtype);
  else
    checkTables(checker, *dtype);
  return checker.finish() ? 0 : 1;
}
