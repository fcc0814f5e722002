//===- Main.cpp - disco-run -----------------------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>

using namespace disco;
using namespace disco::run;

int disco::run::reportError(const std::string &message) {
  std::fflush(stdout); // keeps the order where both go to one place
  std::fprintf(stderr, "disco-run: error: %s\n", message.c_str());
  return exitError;
}

static int dispatch(int argc, char **argv) {
  Result<Options> options =
      parseOptions(std::vector<std::string>(argv + 1, argv + argc));
  if (!options) {
    std::fprintf(stderr, "disco-run: error: %s (see --help)\n",
                 options.message().c_str());
    return exitUsage;
  }
  if (options->help) {
    std::fputs(helpText().c_str(), stdout);
    return exitOk;
  }
  if (options->version) {
    std::puts("disco-run " DISCO_VERSION);
    return exitOk;
  }
  return options->layer.empty() ? runProgram(*options) : runLayer(*options);
}

/// What has been printed is part of the result.
static int finish(int exitCode) {
  errno = 0;
  const bool failed = std::fflush(stdout) != 0 || std::ferror(stdout);
  if (!failed || exitCode != exitOk)
    return exitCode;
  // An earlier failure leaves no reason.
  const std::string reason =
      errno ? ": " + std::string(std::strerror(errno)) : "";
  return reportError("cannot write to the standard output" + reason);
}

int main(int argc, char **argv) {
  try {
    return finish(dispatch(argc, argv));
  } catch (const std::bad_alloc &) {
    return reportError("out of memory");
  } catch (const std::exception &exception) {
    return reportError(exception.what());
  }
}
