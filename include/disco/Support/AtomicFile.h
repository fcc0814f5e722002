//===- AtomicFile.h - files that appear whole or not at all -----*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file is written beside its destination and renamed onto it at the end, so
// that a failure leaves the old content, or nothing. Several files that belong
// together are all written first and then committed one after the other.
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_SUPPORT_ATOMICFILE_H
#define DISCO_SUPPORT_ATOMICFILE_H

#include "disco/Support/Result.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace disco {

class AtomicFile {
public:
  /// Creates the temporary file. A destination that exists and is no regular
  /// file (a pipe, /dev/null) is written in place; a directory is an error.
  static Result<AtomicFile> create(const std::string &path);

  AtomicFile(AtomicFile &&other) noexcept;
  AtomicFile &operator=(AtomicFile &&other) noexcept;
  AtomicFile(const AtomicFile &) = delete;
  AtomicFile &operator=(const AtomicFile &) = delete;
  /// Removes the temporary file unless it was committed.
  ~AtomicFile();

  Status write(const void *data, size_t size);
  Status write(std::string_view text) {
    return write(text.data(), text.size());
  }

  /// Closes the file and renames it onto its destination.
  Status commit();

private:
  AtomicFile() = default;
  void discard();

  std::string destination; // as given, for messages
  std::string target;      // with symbolic links resolved
  std::string temporary;   // empty: written in place
  int descriptor = -1;
};

} // namespace disco

#endif // DISCO_SUPPORT_ATOMICFILE_H
