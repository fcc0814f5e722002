//===- Compile.cpp - calling disco-compile --------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include "disco/Planning/Target.h"

#include <cctype>
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

Result<disco_device_properties> queryDevice(disco_device device) {
  disco_device_properties properties = {};
  properties.struct_size = sizeof properties;
  if (disco_device_query(device.id, &properties) != DISCO_OK)
    return Error{"cannot use cuda:" + std::to_string(device.id) + ": " +
                 disco_last_error()};
  return properties;
}

/// A chip is like a device when it is of its architecture, or of an earlier one
/// without a suffix, which runs on later ones too; the one whose name is in the
/// device's comes first.
Result<std::string> findTarget(disco_device device) {
  if (device.kind == DISCO_CPU)
    return std::string("cpu");
  const Result<disco_device_properties> properties = queryDevice(device);
  if (!properties)
    return properties.error();
  const int arch = 10 * properties->major + properties->minor;
  std::string name = properties->name;
  for (char &c : name)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const planning::Target *best = nullptr;
  const auto rank = [&](const planning::Target &target) {
    const std::string number = target.arch.substr(3);
    if (number == std::to_string(arch) + "a")
      return name.find(target.name) != std::string::npos ? 3 : 2;
    return number.back() != 'a' && std::stoi(number) <= arch ? 1 : 0;
  };
  for (const planning::Target &target : planning::knownTargets())
    if (target.kind == planning::TargetKind::cuda && rank(target) > 0 &&
        (!best || rank(target) > rank(*best)))
      best = &target;
  if (best)
    return best->name;
  return Error{"expected a chip to compile for that runs on sm_" +
               std::to_string(arch) + " (" + properties->name +
               "), but there is none (disco-opt --list-targets)"};
}

Status compileModule(const std::string &module, const std::string &artifact,
                     disco_device device, bool instrument, int &exitCode) {
  exitCode = exitError;
  const Result<std::string> target = findTarget(device);
  if (!target)
    return target.error();
  std::string compiler = findCompiler();
  std::string words[] = {compiler, module,   "--target=" + *target,
                         "-o",     artifact, "--instrument"};
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  if (!instrument || device.kind != DISCO_CPU) // there it always is
    arguments.pop_back();
  arguments.push_back(nullptr);
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
