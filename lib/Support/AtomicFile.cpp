//===- AtomicFile.cpp - files that appear whole or not at all -------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Support/AtomicFile.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace disco {

static Error failure(const char *what, const std::string &path) {
  return Error{std::string("cannot ") + what + " '" + path +
               "': " + std::strerror(errno)};
}

Result<AtomicFile> AtomicFile::create(const std::string &path) {
  AtomicFile file;
  file.destination = path;
  file.target = path;
  struct stat info;
  if (::stat(path.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode))
      return Error{"cannot write '" + path + "': it is a directory"};
    if (!S_ISREG(info.st_mode)) {
      file.descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
      if (file.descriptor < 0)
        return failure("write", path);
      return file;
    }
    if (char *resolved = ::realpath(path.c_str(), nullptr)) {
      file.target = resolved;
      std::free(resolved);
    }
  }
  // mkstemp would create the file readable by its owner only; this follows the
  // umask as any other output does.
  static std::atomic<unsigned> counter{0};
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::string name = file.target + ".part-" + std::to_string(::getpid()) +
                       "-" + std::to_string(counter++);
    file.descriptor =
        ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file.descriptor >= 0) {
      file.temporary = std::move(name);
      return file;
    }
    if (errno != EEXIST)
      break;
  }
  return failure("write", path);
}

AtomicFile::AtomicFile(AtomicFile &&other) noexcept
    : destination(std::move(other.destination)),
      target(std::move(other.target)), temporary(std::move(other.temporary)),
      descriptor(std::exchange(other.descriptor, -1)) {
  other.temporary.clear();
}

AtomicFile &AtomicFile::operator=(AtomicFile &&other) noexcept {
  if (this != &other) {
    discard();
    destination = std::move(other.destination);
    target = std::move(other.target);
    temporary = std::move(other.temporary);
    other.temporary.clear();
    descriptor = std::exchange(other.descriptor, -1);
  }
  return *this;
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::discard() {
  if (descriptor >= 0)
    ::close(descriptor);
  descriptor = -1;
  if (!temporary.empty())
    ::unlink(temporary.c_str());
  temporary.clear();
}

Status AtomicFile::write(const void *data, size_t size) {
  const char *next = static_cast<const char *>(data);
  while (size > 0) {
    const ssize_t written = ::write(descriptor, next, size);
    if (written < 0) {
      if (errno == EINTR)
        continue;
      return failure("write", destination);
    }
    next += written;
    size -= static_cast<size_t>(written);
  }
  return {};
}

Status AtomicFile::commit() {
  const int closed = ::close(std::exchange(descriptor, -1));
  if (closed != 0 || (!temporary.empty() &&
                      ::rename(temporary.c_str(), target.c_str()) != 0)) {
    Error error = failure("write", destination);
    discard();
    return error;
  }
  temporary.clear();
  return {};
}

} // namespace disco
