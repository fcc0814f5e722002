//===- Compile.cpp - calling disco-compile --------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include <cerrno>
#include <climits>
#include <cstring>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace disco::run {

/// disco-compile beside this program, else by its name alone (from PATH).
static std::string findCompiler() {
  char self[PATH_MAX];
  const ssize_t length = ::readlink("/proc/self/exe", self, sizeof self - 1);
  if (length > 0) {
    std::string path(self, static_cast<size_t>(length));
    path.resize(path.rfind('/') + 1);
    path += "disco-compile";
    if (::access(path.c_str(), X_OK) == 0)
      return path;
  }
  return "disco-compile";
}

Status compileModule(const std::string &module, const std::string &artifact,
                     bool instrument, int &exitCode) {
  std::string compiler = findCompiler();
  std::string words[] = {compiler, module,   "--target=cpu",
                         "-o",     artifact, "--instrument"};
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  if (!instrument)
    arguments.pop_back();
  arguments.push_back(nullptr);
  exitCode = exitError;
  pid_t child;
  if (int code = ::posix_spawnp(&child, compiler.c_str(), nullptr, nullptr,
                                arguments.data(), environ))
    return Error{"cannot run '" + compiler + "' to compile '" + module +
                 "': " + std::strerror(code)};
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return Error{std::string("cannot wait for disco-compile: ") +
                   std::strerror(errno)};
  if (WIFSIGNALED(status))
    return Error{"disco-compile was ended by signal " +
                 std::to_string(WTERMSIG(status)) + " (" +
                 strsignal(WTERMSIG(status)) + ")"};
  if (WEXITSTATUS(status) != 0) {
    exitCode = WEXITSTATUS(status);
    return Error{"disco-compile failed on '" + module + "' with exit code " +
                 std::to_string(exitCode)};
  }
  return {};
}

} // namespace disco::run
