//===- RunEntry.h - running entries of artifacts on arrays ------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For tests: arrays of the host are moved to the device and back.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_RUNTIME_RUNENTRY_H
#define DISCO_RUNTIME_RUNENTRY_H

#include "disco/ABI/disco.h"
#include "disco/Support/Npy.h"

#include <memory>
#include <string>
#include <vector>

namespace disco {

/// A device, on which entries run one after the other.
class EntryRunner {
public:
  static Result<EntryRunner> create(disco_device device);

  /// Opens, prepares, runs and closes. The outputs are full of NaN before.
  Result<std::vector<Array>> run(const std::string &artifact,
                                 const std::string &entry,
                                 std::vector<Array> inputs) const;

private:
  struct Destroy {
    void operator()(disco_context *context) const {
      disco_context_destroy(context);
    }
  };
  disco_device device = {DISCO_CPU, 0};
  std::unique_ptr<disco_context, Destroy> context;
};

} // namespace disco

#endif // DISCO_RUNTIME_RUNENTRY_H
