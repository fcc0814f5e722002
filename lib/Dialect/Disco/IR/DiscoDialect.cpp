//===- DiscoDialect.cpp - the dialect and its bytecode -------------*- C++
//-*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BytecodeVersion.h"
#include "disco/Dialect/Disco/Disco.h"

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace mlir::disco;

#include "disco/Dialect/Disco/DiscoDialect.cpp.inc"
#include "disco/Dialect/Disco/DiscoEnums.cpp.inc"
#include "disco/Dialect/Disco/DiscoInterfaces.cpp.inc"

namespace {

/// Attributes and types are written as text, which the grammar keeps readable;
/// the version lets later readers upgrade what older writers wrote.
struct DiscoBytecodeInterface : public BytecodeDialectInterface {
  explicit DiscoBytecodeInterface(Dialect *dialect)
      : BytecodeDialectInterface(dialect) {}

  void writeVersion(DialectBytecodeWriter &writer) const override {
    writer.writeVarInt(kBytecodeVersion);
  }

  std::unique_ptr<DialectVersion>
  readVersion(DialectBytecodeReader &reader) const override {
    uint64_t version = 0;
    if (failed(reader.readVarInt(version)))
      return nullptr;
    if (version > static_cast<uint64_t>(kBytecodeVersion)) {
      reader.emitError() << "expected disco bytecode of version "
                         << kBytecodeVersion << " or older, but got version "
                         << version;
      return nullptr;
    }
    return std::make_unique<DiscoDialectVersion>(version);
  }

  /// Operations read what older versions wrote; nothing is left to upgrade.
  LogicalResult upgradeFromVersion(Operation *topLevelOp,
                                   const DialectVersion &) const override {
    return success();
  }
};

/// Every disco op is pure, so that functions of them inline freely.
struct DiscoInlinerInterface : public DialectInlinerInterface {
  explicit DiscoInlinerInterface(Dialect *dialect)
      : DialectInlinerInterface(dialect) {}
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
};

} // namespace

void DiscoDialect::initialize() {
  registerAttributes();
  registerTypes();
  registerBytecode();
  addInterfaces<DiscoInlinerInterface>();
  addOperations<
#define GET_OP_LIST
#include "disco/Dialect/Disco/DiscoOps.cpp.inc"
      >();
}

void DiscoDialect::registerBytecode() {
  addInterfaces<DiscoBytecodeInterface>();
}
