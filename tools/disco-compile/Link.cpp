//===- Link.cpp - from an object file to a shared library -----------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emit.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <cmath>
#include <cstdlib>
#include <dlfcn.h>

using namespace disco;
using namespace disco::compile;

namespace {

struct Linker {
  std::string path;
  bool isDriver = false; // a C compiler, which adds libc by itself
};

/// A file that is removed again.
class TemporaryFile {
public:
  static Result<TemporaryFile> create(llvm::StringRef suffix) {
    llvm::SmallString<128> path;
    if (std::error_code error =
            llvm::sys::fs::createTemporaryFile("disco-compile", suffix, path))
      return Error{"cannot create a temporary file: " + error.message()};
    TemporaryFile file;
    file.path = std::string(path);
    return Result<TemporaryFile>(std::move(file));
  }
  TemporaryFile(TemporaryFile &&other) noexcept : path(std::move(other.path)) {
    other.path.clear();
  }
  ~TemporaryFile() {
    if (!path.empty())
      (void)llvm::sys::fs::remove(path);
  }
  std::string path;

private:
  TemporaryFile() = default;
};

} // namespace

/// Folder of this program.
static std::string getOwnFolder(const char *argv0) {
  std::string self = llvm::sys::fs::getMainExecutable(
      argv0, reinterpret_cast<void *>(&getOwnFolder));
  return std::string(llvm::sys::path::parent_path(self));
}

/// lld next to this program, of LLVM's package, or on the path; else the
/// system's C compiler.
static Result<Linker> findLinker(const std::string &ownFolder) {
  struct Candidate {
    const char *name;
    bool isDriver;
  };
  const Candidate candidates[] = {{"ld.lld", false},
                                  {"ld.lld-22", false},
                                  {"cc", true},
                                  {"gcc", true},
                                  {"clang", true}};
  std::string names;
  for (const Candidate &candidate : candidates) {
    names += (names.empty() ? "" : ", ") + std::string(candidate.name);
    llvm::SmallVector<llvm::StringRef> folders;
    if (!candidate.isDriver)
      folders = {ownFolder, DISCO_LLVM_TOOLS_DIR};
    llvm::ErrorOr<std::string> found = std::error_code();
    if (!folders.empty())
      found = llvm::sys::findProgramByName(candidate.name, folders);
    if (folders.empty() || !found)
      found = llvm::sys::findProgramByName(candidate.name);
    if (found)
      return Linker{*found, candidate.isDriver};
  }
  const char *path = std::getenv("PATH");
  return Error{
      "expected a linker to make a shared library, but found none of " + names +
      " in " + ownFolder + ", " DISCO_LLVM_TOOLS_DIR " and the PATH " +
      (path ? path : "") + ": install lld or a C compiler, or use --emit=obj"};
}

/// The file that the library of `symbol` was loaded from.
static std::string getLibraryPath(void *symbol) {
  Dl_info info;
  return dladdr(symbol, &info) && info.dli_fname ? info.dli_fname : "";
}

static std::string readFile(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

static std::vector<std::string> getArguments(const Linker &linker,
                                             const std::string &ownFolder,
                                             const std::string &object,
                                             const std::string &output) {
  std::vector<std::string> arguments{linker.path, "-shared", "-o", output,
                                     object};
  auto add = [&](std::initializer_list<const char *> flags) {
    for (const char *argument : flags)
      arguments.push_back((linker.isDriver ? "-Wl," : "") +
                          std::string(argument));
  };
  // Beside the artifact is a good place for the runtime, unless the program
  // has it already.
  add({"-rpath=$ORIGIN", "--build-id=none"});
  llvm::SmallString<128> runtime(ownFolder);
  llvm::sys::path::append(runtime, "..", "lib", "libdisco_runtime.so");
  if (llvm::sys::fs::exists(runtime))
    arguments.push_back(std::string(runtime));
  if (linker.isDriver) {
    arguments.push_back("-lm");
    return arguments;
  }
  for (const std::string &library :
       {getLibraryPath(
            reinterpret_cast<void *>(static_cast<float (*)(float)>(&::erff))),
        getLibraryPath(reinterpret_cast<void *>(&::malloc))})
    if (!library.empty())
      arguments.push_back(library);
  return arguments;
}

Result<std::string> compile::linkSharedLibrary(llvm::ArrayRef<char> object,
                                               const char *argv0) {
  std::string ownFolder = getOwnFolder(argv0);
  Result<Linker> linker = findLinker(ownFolder);
  if (!linker)
    return linker.error();
  Result<TemporaryFile> input = TemporaryFile::create("o");
  Result<TemporaryFile> output = TemporaryFile::create("so");
  Result<TemporaryFile> log = TemporaryFile::create("log");
  for (const Result<TemporaryFile> *file : {&input, &output, &log})
    if (!*file)
      return file->error();
  std::error_code error;
  llvm::raw_fd_ostream os(input->path, error);
  os.write(object.data(), object.size());
  os.close();
  if (error || os.has_error()) {
    std::string reason = (error ? error : os.error()).message();
    os.clear_error();
    return Error{"cannot write the temporary file " + input->path + ": " +
                 reason};
  }
  std::vector<std::string> storage =
      getArguments(*linker, ownFolder, input->path, output->path);
  llvm::SmallVector<llvm::StringRef> arguments(storage.begin(), storage.end());
  std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(""),
                                                llvm::StringRef(log->path),
                                                llvm::StringRef(log->path)};
  std::string message;
  int code = llvm::sys::ExecuteAndWait(linker->path, arguments, std::nullopt,
                                       redirects, 0, 0, &message);
  if (code != 0)
    return Error{"the linker " + linker->path + " failed" +
                 (message.empty() ? "" : ": " + message) + "\n" +
                 readFile(log->path)};
  std::string library = readFile(output->path);
  if (library.empty())
    return Error{"the linker " + linker->path + " wrote nothing"};
  return library;
}
