//===- Instrument.h - what probes say of operations -------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_TRANSFORMS_INSTRUMENT_INSTRUMENT_H
#define DISCO_LIB_TRANSFORMS_INSTRUMENT_INSTRUMENT_H

#include "mlir/IR/Location.h"

#include <string>

namespace mlir::disco {

/// "net.mlir:12:8", or "".
std::string getLocationText(Location loc);

} // namespace mlir::disco

#endif // DISCO_LIB_TRANSFORMS_INSTRUMENT_INSTRUMENT_H
