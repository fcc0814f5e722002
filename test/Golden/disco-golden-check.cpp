//===- disco-golden-check.cpp - compares tools with reference results -----===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the tools on every golden case and compares what they write. Prints each
// failure, the error of each case that is not gated, and last
// "N passed, M failed, K skipped", where the skipped ones are not gated.
//
//===----------------------------------------------------------------------===//

#include "GoldenCases.h"

#include "disco/Filter/SphereOperator.h"
#include "disco/Runtime/Accuracy.h"
#include "disco/Runtime/RunEntry.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <optional>
#include <set>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

using namespace disco;
using namespace disco::golden;

static constexpr char usage[] =
    R"(usage: disco-golden-check KIND... --tables DIR [--data DIR] --tools DIR --work DIR
                          [--family NAME] [--target NAME] [--device NAME]
                          [--artifacts DIR] [--only compile|run]

KIND is what to check, one or more of:
  grid      disco-inspect grid
  psi       disco-inspect filter
  layer     disco-run --layer, with the gradients
  artifact  disco-run --layer --emit-mlir, disco-compile, disco-run
  dtypes    the same in f32, f16 and bf16, by the rule of accuracy
  contract, contract_sum
            those operations with the filters of the layers, compiled, in all
            types, by the rule of accuracy

--tables DIR   the tables; the arrays are beside them unless --data is given
--data DIR     a folder with the arrays of all cases in full
--tools DIR    the tools to run
--family NAME  compile for this kernel family, not the one that is planned
--work DIR     for what the tools write; made if missing
--target NAME  compile for this, not the CPU
--device NAME  run there: cuda:N, in this process
--artifacts DIR, --only compile|run
               compile artifacts into a folder here, run those that are there
               where there is no compiler; what a family is not applicable to is
               skipped


Exits with 0 only if something was compared and nothing failed.
)";

namespace {

struct Options {
  std::set<std::string> kinds;
  std::string tables, data, tools, work, family, target = "cpu", device,
                                                 artifacts, only;
  /// Whether `data` has all rows of psi and all layers.
  bool full() const { return data != tables; }
};

/// What a command said, and how it ended.
struct Outcome {
  int code = -1;
  std::string output;
};

class Checker {
public:
  explicit Checker(Options options) : options(std::move(options)) {}

  Status checkGrids();
  Status checkPsi();
  Status checkLayers(bool compiled);
  Status checkDTypes();
  Status checkContractions(bool sum);

  /// Prints the last line; true if something passed and nothing failed.
  bool finish() const {
    std::printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
    return passed > 0 && failed == 0;
  }

private:
  Result<double> runGrid(const GridCase &gridCase);
  Result<double> runPsi(const PsiCase &psiCase);
  Result<double> runLayer(const ConvCase &convCase);
  Result<double> runArtifact(const ConvCase &convCase);
  Status runDType(const ConvCase &convCase, DType dtype);
  Status runContraction(const ConvCase &convCase, bool sum, DType dtype);
  /// Emits a layer as a module, compiles it and runs it on these arrays.
  Status compileAndRun(const ConvCase &convCase, const std::string &variant,
                       const std::string &x, const std::string &w,
                       const std::string &b, const std::string &y);
  bool compiles() const { return options.only != "run"; }
  bool runs() const { return options.only != "compile"; }
  /// The artifact of a case and what is done with it: compiled from a module,
  /// run on these inputs.
  std::string artifactPath(const std::string &name) {
    return options.artifacts.empty() ? options.work + "/layer.so"
                                     : options.artifacts + "/" + name + ".so";
  }
  Status compileModule(const std::string &module, const std::string &artifact);
  Status runArtifact(const std::string &artifact,
                     const std::vector<std::string> &inputs,
                     const std::string &y);
  void record(const std::string &name, const Status &status);

  /// Runs a tool to its end; its output is read on failure.
  Status runTool(const std::string &tool, std::vector<std::string> arguments);
  /// The worst relative error of the named results of a case.
  Result<double> compare(const ConvCase &convCase,
                         const std::vector<std::string> &names);
  std::string golden(const std::string &name) const {
    return options.data + "/" + name + ".npy";
  }
  /// A fresh path for what a tool is to write.
  std::string output(const std::string &name) const {
    std::string path = options.work + "/" + name;
    unlink(path.c_str());
    return path;
  }
  void record(const std::string &name, const Result<double> &error, double tol,
              bool gated);

  Options options;
  std::optional<EntryRunner> runner;
  /// Whether the case at hand is one that the family is not applicable to.
  bool isSkipped = false;
  int passed = 0, failed = 0, skipped = 0;
};

} // namespace

void Checker::record(const std::string &name, const Result<double> &error,
                     double tol, bool gated) {
  if (std::exchange(isSkipped, false)) {
    ++skipped;
  } else if (!error) {
    ++failed;
    std::printf("FAIL %s: %s\n", name.c_str(), error.message().c_str());
  } else if (!gated) {
    ++skipped;
    std::printf("not gated: %s: error %.3g (tolerance %.3g)\n", name.c_str(),
                *error, tol);
  } else if (*error <= tol) {
    ++passed;
  } else {
    ++failed;
    std::printf("FAIL %s: expected the error to be at most %.3g, but got "
                "%.3g\n",
                name.c_str(), tol, *error);
  }
  std::fflush(stdout);
}

void Checker::record(const std::string &name, const Status &status) {
  if (std::exchange(isSkipped, false)) {
    ++skipped;
    return;
  }
  status ? ++passed : ++failed;
  if (!status)
    std::printf("FAIL %s: %s\n", name.c_str(), status.message().c_str());
  std::fflush(stdout);
}

/// Starts `words` with both outputs in a pipe and waits for its end.
static Result<Outcome> runCommand(const std::vector<std::string> &words) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return Error{std::string("cannot make a pipe: ") + std::strerror(errno)};
  std::vector<char *> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string &word : words)
    arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  close(ends[1]);
  Outcome outcome;
  char buffer[4096];
  for (ssize_t size; (size = read(ends[0], buffer, sizeof(buffer))) > 0;)
    outcome.output.append(buffer, size);
  close(ends[0]);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child)
    return Error{"cannot run '" + words[0] + "': " + std::strerror(errno)};
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  return outcome;
}

Status Checker::runTool(const std::string &tool,
                        std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), options.tools + "/" + tool);
  Result<Outcome> outcome = runCommand(arguments);
  if (!outcome)
    return outcome.error();
  if (outcome->code != 0)
    return Error{tool + " ended with code " + std::to_string(outcome->code) +
                 ": " + outcome->output};
  return Status();
}

Result<double> Checker::runGrid(const GridCase &gridCase) {
  std::string path = output("grid.npy");
  if (Status status =
          runTool("disco-inspect", {"grid", gridCase.grid, "--npy", path});
      !status)
    return status.error();
  Result<Array> got = readNpy(path), wanted = readNpy(golden(gridCase.id));
  if (!got || !wanted)
    return got ? wanted.error() : got.error();
  return largestDifference(*got, *wanted);
}

Status Checker::checkGrids() {
  Result<std::vector<GridCase>> cases = readGridCases(options.tables);
  if (!cases)
    return cases.error();
  for (const GridCase &gridCase : *cases)
    record(gridCase.id, runGrid(gridCase), gridTolerance, /*gated=*/true);
  return Status();
}

Result<double> Checker::runPsi(const PsiCase &psiCase) {
  std::string path = output("psi.npy");
  if (Status status =
          runTool("disco-inspect", {"filter", psiCase.filter, "--npy", path});
      !status)
    return status.error();
  Result<Array> got = readNpy(path), wanted = readNpy(golden(psiCase.id));
  if (!got || !wanted)
    return got ? wanted.error() : got.error();
  return psiError(*got, *wanted, psiCase,
                  options.full() ? std::nullopt : psiCase.rows);
}

Status Checker::checkPsi() {
  Result<std::vector<PsiCase>> cases = readPsiCases(options.tables);
  if (!cases)
    return cases.error();
  for (const PsiCase &psiCase : *cases)
    record(psiCase.id, runPsi(psiCase), psiCase.tol, psiCase.gated);
  return Status();
}

Result<double> Checker::compare(const ConvCase &convCase,
                                const std::vector<std::string> &names) {
  double worst = 0;
  for (const std::string &name : names) {
    Result<Array> got = readNpy(options.work + "/" + name + ".npy");
    Result<Array> wanted = readNpy(golden(convCase.id + "." + name));
    if (!got || !wanted)
      return got ? wanted.error() : got.error();
    Result<double> error = relativeL2(*got, *wanted);
    if (!error)
      return Error{name + ": " + error.message()};
    worst = std::max(worst, *error);
  }
  return worst;
}

Result<double> Checker::runLayer(const ConvCase &convCase) {
  std::vector<std::string> names{"y", "gx", "gw"};
  std::vector<std::string> arguments{
      "--layer",       convCase.filter,
      "--groups",      std::to_string(convCase.groups),
      "--input",       golden(convCase.id + ".x"),
      "--weight",      golden(convCase.id + ".w"),
      "--output",      output("y.npy"),
      "--grad-output", golden(convCase.id + ".gy"),
      "--grad-input",  output("gx.npy"),
      "--grad-weight", output("gw.npy")};
  if (convCase.bias) {
    arguments.insert(arguments.end(), {"--bias", golden(convCase.id + ".b"),
                                       "--grad-bias", output("gb.npy")});
    names.push_back("gb");
  }
  if (Status status = runTool("disco-run", arguments); !status)
    return status.error();
  return compare(convCase, names);
}

Status Checker::compileModule(const std::string &module,
                              const std::string &artifact) {
  std::vector<std::string> compile{module, "-o", artifact,
                                   "--target=" + options.target};
  if (!options.family.empty())
    compile.push_back("--family=" + options.family);
  Status status = runTool("disco-compile", compile);
  if (!status && !options.artifacts.empty() &&
      status.message().find("is not applicable") != std::string::npos) {
    isSkipped = true;
    std::printf("skipped: %s\n", status.message().c_str());
  }
  return status;
}

Status Checker::runArtifact(const std::string &artifact,
                            const std::vector<std::string> &inputs,
                            const std::string &y) {
  if (options.device.empty()) {
    std::vector<std::string> run{artifact, "--entry", "layer", "--output", y};
    for (const std::string &input : inputs)
      run.insert(run.end(), {"--input", input});
    return runTool("disco-run", run);
  }
  if (access(artifact.c_str(), R_OK) != 0) {
    isSkipped = true; // the family is not applicable
    return Error{"no artifact '" + artifact + "'"};
  }
  if (!runner) {
    const int32_t index = std::atoi(options.device.c_str() + 5);
    Result<EntryRunner> created = EntryRunner::create({DISCO_CUDA, index});
    if (!created)
      return created.error();
    runner.emplace(std::move(*created));
  }
  std::vector<Array> arrays;
  for (const std::string &input : inputs) {
    Result<Array> array = readNpy(input);
    if (!array)
      return array.error();
    arrays.push_back(std::move(*array));
  }
  Result<std::vector<Array>> outputs =
      runner->run(artifact, "layer", std::move(arrays));
  return outputs ? writeNpy(y, outputs->front()) : Status(outputs.error());
}

Status Checker::compileAndRun(const ConvCase &convCase,
                              const std::string &variant, const std::string &x,
                              const std::string &w, const std::string &b,
                              const std::string &y) {
  const std::string artifact = artifactPath(convCase.id + "." + variant);
  std::vector<std::string> inputs{x, w};
  if (convCase.bias)
    inputs.push_back(b);
  if (compiles()) {
    std::string module = output("layer.mlir");
    unlink(artifact.c_str());
    std::vector<std::string> emit{
        "--layer",     convCase.filter,
        "--groups",    std::to_string(convCase.groups),
        "--input",     x,
        "--weight",    w,
        "--emit-mlir", module};
    if (convCase.bias)
      emit.insert(emit.end(), {"--bias", b});
    if (Status status = runTool("disco-run", emit); !status)
      return status;
    if (Status status = compileModule(module, artifact); !status)
      return status;
  }
  return runs() ? runArtifact(artifact, inputs, y) : Status();
}

Result<double> Checker::runArtifact(const ConvCase &convCase) {
  if (Status status =
          compileAndRun(convCase, "f64", golden(convCase.id + ".x"),
                        golden(convCase.id + ".w"), golden(convCase.id + ".b"),
                        output("y.npy"));
      !status)
    return status.error();
  return runs() ? compare(convCase, {"y"}) : Result<double>(0.0);
}

Status Checker::runDType(const ConvCase &convCase, DType dtype) {
  using namespace disco::reference;
  std::vector<std::string> paths;
  std::vector<Tensor> tensors;
  for (std::string name : {"x", "w", "b"}) {
    paths.push_back(output(name + ".npy"));
    tensors.emplace_back();
    if (name == "b" && !convCase.bias)
      continue;
    Result<Array> array = readNpy(golden(convCase.id + "." + name));
    if (!array)
      return array.error();
    tensors.back() = Tensor::from(*array);
    Result<Array> rounded = tensors.back().to(dtype);
    if (!rounded)
      return rounded.error();
    if (Status status = writeNpy(paths.back(), *rounded); !status)
      return status;
  }
  std::string path = output("y.npy");
  if (Status status = compileAndRun(convCase, std::string(nameOf(dtype)),
                                    paths[0], paths[1], paths[2], path);
      !status || !runs())
    return status;
  Result<Array> got = readNpy(path);
  if (!got)
    return got.error();
  if (got->dtype != dtype || got->numElements() == 0)
    return Error{"expected elements of " + std::string(nameOf(dtype)) +
                 ", but got " + describe(got->dtype, got->shape)};

  Result<filter::SphereFilter> filter =
      filter::parseSphereFilter(convCase.filter);
  if (!filter)
    return filter.error();
  Result<filter::SphereOperator> sphere = filter::buildOperator(*filter);
  if (!sphere)
    return sphere.error();
  const Operator psi = Operator::fromSphere(*sphere);
  ConvOptions conv;
  conv.groups = convCase.groups;
  const Tensor *bias = convCase.bias ? &tensors[2] : nullptr;
  Result<Tensor> exact =
      reference::conv(psi, tensors[0], tensors[1], bias, nullptr, conv);
  Result<Tensor> naive = reference::conv(psi, tensors[0], tensors[1], bias,
                                         nullptr, conv, {dtype});
  if (!exact || !naive)
    return exact ? naive.error() : exact.error();
  const Tensor naiveRounded = naive->rounded(dtype);
  return checkAccuracy(*exact, Tensor::from(*got), dtype,
                       needsNaive(dtype) ? &naiveRounded : nullptr);
}

/// z [B, C, K, in...] from x: each k another multiple, rounded like x.
static reference::Tensor expandFeatures(const reference::Tensor &x,
                                        int64_t numBasis, DType dtype) {
  std::vector<int64_t> shape = x.shape;
  shape.insert(shape.begin() + 2, numBasis);
  reference::Tensor z = reference::Tensor::zeros(shape);
  const int64_t points = x.shape[2] * x.shape[3];
  for (int64_t i = 0; i < z.size(); ++i) {
    const int64_t k = i / points % numBasis;
    const int64_t field = i / points / numBasis;
    z.data[i] = x.data[field * points + i % points] * std::cos(1.0 + k);
  }
  return z.rounded(dtype);
}

static std::string shapeText(const char *batch,
                             const std::vector<int64_t> &sizes, DType dtype) {
  std::string text = std::string("tensor<") + batch + "x";
  for (int64_t size : sizes)
    text += std::to_string(size) + "x";
  return text + std::string(nameOf(dtype)) + ">";
}

/// A module with a contraction in a function @layer.
static std::string contractionModule(const ConvCase &convCase,
                                     const filter::SphereFilter &filter,
                                     int64_t channels, bool sum, DType dtype) {
  const int64_t K = filter.numBasis();
  const auto grid = [](const filter::Grid &g) {
    return std::to_string(g.nlat) + "x" + std::to_string(g.nlon);
  };
  const std::string psi = "!disco.psi<sphere, " + std::to_string(K) + ", " +
                          grid(filter.in) + " -> " + grid(filter.out) + ">";
  std::vector<int64_t> in{channels, filter.in.nlat, filter.in.nlon};
  std::vector<int64_t> out{channels, filter.out.nlat, filter.out.nlon};
  std::vector<int64_t> &features = sum ? in : out;
  features.insert(features.begin() + 1, K);
  const std::string x = shapeText("?", in, dtype),
                    y = shapeText("?", out, dtype);
  return "func.func @layer(%x: " + x + ") -> " + y +
         " {\n  %psi = disco.filter " + convCase.filter + " -> " + psi +
         "\n  %y = disco." + (sum ? "contract_sum" : "contract") +
         " %x, %psi : (" + x + ", " + psi + ") -> " + y +
         "\n  return %y : " + y + "\n}\n";
}

Status Checker::runContraction(const ConvCase &convCase, bool sum,
                               DType dtype) {
  using namespace disco::reference;
  Result<filter::SphereFilter> filter =
      filter::parseSphereFilter(convCase.filter);
  Result<Array> array = readNpy(golden(convCase.id + ".x"));
  if (!filter || !array)
    return filter ? array.error() : filter.error();
  Tensor x = Tensor::from(*array).rounded(dtype);
  if (sum)
    x = expandFeatures(x, filter->numBasis(), dtype);
  Result<Array> input = x.to(dtype);
  const std::string path = output("x.npy"), result = output("y.npy");
  if (!input)
    return input.error();
  if (Status status = writeNpy(path, *input); !status)
    return status;
  const std::string artifact =
      artifactPath(convCase.id + (sum ? ".contract_sum." : ".contract.") +
                   std::string(nameOf(dtype)));
  if (compiles()) {
    const std::string module = output("layer.mlir");
    unlink(artifact.c_str());
    std::ofstream(module) << contractionModule(convCase, *filter, x.shape[1],
                                               sum, dtype);
    if (Status status = compileModule(module, artifact); !status)
      return status;
  }
  if (!runs())
    return {};
  if (Status status = runArtifact(artifact, {path}, result); !status)
    return status;
  Result<Array> got = readNpy(result);
  Result<filter::SphereOperator> sphere = filter::buildOperator(*filter);
  if (!got || !sphere)
    return got ? sphere.error() : got.error();
  const Operator psi = Operator::fromSphere(*sphere);
  const auto compute = [&](Precision precision) {
    return sum ? reference::contractSum(psi, x, precision)
               : reference::contract(psi, x, precision);
  };
  Result<Tensor> exact = compute({});
  if (!exact)
    return exact.error();
  if (!needsNaive(dtype))
    return checkAccuracy(*exact, Tensor::from(*got), dtype, nullptr);
  Result<Tensor> naive = compute({dtype});
  if (!naive)
    return naive.error();
  const Tensor rounded = naive->rounded(dtype);
  return checkAccuracy(*exact, Tensor::from(*got), dtype, &rounded);
}

Status Checker::checkContractions(bool sum) {
  Result<std::vector<ConvCase>> cases = readConvCases(options.tables);
  if (!cases)
    return cases.error();
  const std::string kind = sum ? " (contract_sum, " : " (contract, ";
  for (const ConvCase &convCase : *cases)
    for (DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16})
      if (options.full() || convCase.kept)
        record(convCase.id + kind + std::string(nameOf(dtype)) + ")",
               runContraction(convCase, sum, dtype));
  return Status();
}

Status Checker::checkDTypes() {
  Result<std::vector<ConvCase>> cases = readConvCases(options.tables);
  if (!cases)
    return cases.error();
  for (const ConvCase &convCase : *cases)
    for (DType dtype : {DType::f32, DType::f16, DType::bf16})
      if (options.full() || convCase.kept)
        record(convCase.id + " (artifact, " + std::string(nameOf(dtype)) + ")",
               runDType(convCase, dtype));
  return Status();
}

Status Checker::checkLayers(bool compiled) {
  Result<std::vector<ConvCase>> cases = readConvCases(options.tables);
  if (!cases)
    return cases.error();
  for (const ConvCase &convCase : *cases) {
    if (!options.full() && !convCase.kept)
      continue;
    record(convCase.id + (compiled ? " (artifact)" : ""),
           compiled ? runArtifact(convCase) : runLayer(convCase), convCase.tol,
           convCase.gated);
  }
  return Status();
}

static int failUsage(const std::string &message) {
  std::fprintf(stderr, "disco-golden-check: error: %s\n%s", message.c_str(),
               usage);
  return 2;
}

static Result<Options> parseOptions(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    std::string *value = word == "--tables"      ? &options.tables
                         : word == "--data"      ? &options.data
                         : word == "--tools"     ? &options.tools
                         : word == "--work"      ? &options.work
                         : word == "--family"    ? &options.family
                         : word == "--target"    ? &options.target
                         : word == "--device"    ? &options.device
                         : word == "--artifacts" ? &options.artifacts
                         : word == "--only"      ? &options.only
                                                 : nullptr;
    if (value) {
      if (++i == argc)
        return Error{"expected " + word + " to have a value, but got none"};
      *value = argv[i];
    } else if (word == "grid" || word == "psi" || word == "layer" ||
               word == "artifact" || word == "dtypes" || word == "contract" ||
               word == "contract_sum") {
      options.kinds.insert(word);
    } else {
      return Error{"unknown argument '" + word + "'"};
    }
  }
  if (options.kinds.empty() || options.tables.empty() ||
      options.tools.empty() || options.work.empty())
    return Error{"expected a kind, --tables, --tools and --work"};
  if (options.data.empty())
    options.data = options.tables;
  if (!options.only.empty() &&
      ((options.only != "compile" && options.only != "run") ||
       options.artifacts.empty()))
    return Error{"expected --only to be compile or run, with --artifacts, but "
                 "got '" +
                 options.only + "'"};
  if (!options.device.empty() && options.device.rfind("cuda:", 0) != 0)
    return Error{"expected --device to be cuda:N, but got '" + options.device +
                 "'"};
  return options;
}

int main(int argc, char **argv) {
  Result<Options> options = parseOptions(argc, argv);
  if (!options)
    return failUsage(options.message());
  for (const std::string &folder : {options->work, options->artifacts})
    if (!folder.empty() && mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST)
      return failUsage("cannot make '" + folder + "': " + std::strerror(errno));
  Checker checker(*options);
  Status status;
  auto run = [&](const char *kind, auto check) {
    if (status.ok() && options->kinds.count(kind))
      status = check();
  };
  run("grid", [&] { return checker.checkGrids(); });
  run("psi", [&] { return checker.checkPsi(); });
  run("layer", [&] { return checker.checkLayers(/*compiled=*/false); });
  run("artifact", [&] { return checker.checkLayers(/*compiled=*/true); });
  run("dtypes", [&] { return checker.checkDTypes(); });
  run("contract", [&] { return checker.checkContractions(/*sum=*/false); });
  run("contract_sum", [&] { return checker.checkContractions(/*sum=*/true); });
  if (!status) {
    std::printf("FAIL %s\n", status.message().c_str());
    return 1;
  }
  return checker.finish() ? 0 : 1;
}
