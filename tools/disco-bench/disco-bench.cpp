//===- disco-bench.cpp - measures kernels and checks their answers --------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceMeasure.h"
#include "Report.h"

#include "disco/Planning/Family.h"
#include "disco/Support/AtomicFile.h"
#include "disco/Support/Progress.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>
#include <new>
#include <optional>
#include <sys/resource.h>
#include <tuple>

using namespace disco;
using namespace disco::bench;

static const char *const usage =
    "usage: disco-bench [problem...] [options]\n"
    "  --list                print the problems\n"
    "  --device cpu|cuda:N   default cpu\n"
    "  --family F            default cpu_gather, on a CUDA device csr_gather\n"
    "  --direction D,...     contract, contract_sum, conv, input_grad, "
    "weight_grad; default conv\n"
    "  --dtype T,...         f64, f32, f16, bf16; default f32\n"
    "  --batch N,...         default 1\n"
    "  --threads N,...       of the CPU; default: DISCO_NUM_THREADS, or all "
    "processors that the process may use\n"
    "  --order O             filter_first or weight_first; default: the "
    "cheaper\n"
    "  --tile N, --channel-block N  the schedule on the CPU; default: the "
    "family's\n"
    "  --warm-up N           runs before the first measured one; default 1, on "
    "a CUDA device 20\n"
    "  --repeat N            measured runs; default 5, on a CUDA device 100, "
    "each with a cold L2\n"
    "  --sustained N         on a CUDA device also so many launches back to "
    "back; default 600\n"
    "  --layout nchw|c8,...  of x and y on a CUDA device; default nchw\n"
    "  --fields [DIRECTION:]F=N,.../...  schedules to measure on a CUDA "
    "device, "
    "as plans write them; fields that are not named are the family's choice\n"
    "  --clock wall|cpu      what is quoted: cpu is the processor time divided "
    "by the threads, for a machine that is shared; default wall\n"
    "  --json                one line of JSON for each measurement\n"
    "  --page FILE           also write a page in Markdown, on the CPU; after "
    "an error of what was measured until then\n"
    "  --help, --version\n"
    "Exit status: 0, 1 after an error or a wrong answer, 2 for wrong usage.\n";

namespace {

/// For messages: what memory was missing for.
struct {
  const char *what = "reading the arguments", *layer = "";
} activity;

struct Options {
  std::vector<const NamedLayer *> layers;
  std::vector<Direction> directions{Direction::conv};
  std::vector<DType> dtypes{DType::f32};
  std::vector<int64_t> batches{1}, threads;
  std::string family;  ///< empty: the default of the device
  int32_t device = -1; ///< of CUDA; -1: the CPU
  std::optional<int32_t> order;
  int64_t tile = 0, channelBlock = 0;
  std::optional<int> warmUps, repeats, sustained;
  std::vector<int32_t> layouts{DISCO_NCHW};
  std::vector<std::string> fields;
  Clock clock = Clock::wall;
  bool json = false, list = false, help = false, version = false;
  std::string page, command = "disco-bench";
};

std::vector<std::string_view> split(std::string_view text,
                                    char separator = ',') {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

Result<int64_t> parseNumber(std::string_view option, std::string_view text,
                            int64_t low) {
  int64_t value = 0;
  const auto [end, code] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || value < low ||
      value > INT32_MAX)
    return Error{"expected " + std::string(option) + " to be a number from " +
                 std::to_string(low) + " on, but got '" + std::string(text) +
                 "'"};
  return value;
}

Status parseNumbers(std::string_view option, std::string_view text,
                    std::vector<int64_t> &values) {
  values.clear();
  for (std::string_view part : split(text)) {
    Result<int64_t> value = parseNumber(option, part, 1);
    if (!value)
      return value.error();
    values.push_back(*value);
  }
  return {};
}

/// Parses names by `parse`, which returns an optional.
template <typename T, typename Parse>
Status parseNames(std::string_view option, std::string_view text,
                  const char *known, Parse &&parse, std::vector<T> &values) {
  values.clear();
  for (std::string_view part : split(text)) {
    const std::optional<T> value = parse(part);
    if (!value)
      return Error{"expected " + std::string(option) + " to be one of " +
                   known + ", but got '" + std::string(part) + "'"};
    values.push_back(*value);
  }
  return {};
}

Status parseOption(std::string_view option, std::string_view value,
                   Options &options) {
  if (option == "--direction")
    return parseNames(option, value,
                      "contract, contract_sum, conv, input_grad, weight_grad",
                      parseDirection, options.directions);
  if (option == "--dtype")
    return parseNames(
        option, value, "f64, f32, f16, bf16",
        [](std::string_view name) {
          const std::optional<DType> dtype = parseDType(name);
          return dtype && isFloat(*dtype) ? dtype : std::nullopt;
        },
        options.dtypes);
  if (option == "--batch")
    return parseNumbers(option, value, options.batches);
  if (option == "--threads")
    return parseNumbers(option, value, options.threads);
  if (option == "--family") {
    options.family = value;
    return {};
  }
  if (option == "--fields") {
    options.fields.clear();
    for (std::string_view part : split(value, '/'))
      options.fields.emplace_back(part);
    return {};
  }
  if (option == "--layout")
    return parseNames(
        option, value, "nchw, c8",
        [](std::string_view name) -> std::optional<int32_t> {
          if (name == "nchw")
            return DISCO_NCHW;
          if (name == "c8")
            return DISCO_C8;
          return std::nullopt;
        },
        options.layouts);
  if (option == "--device") {
    if (value == "cpu") {
      options.device = -1;
      return {};
    }
    if (value.substr(0, 5) != "cuda:")
      return Error{"expected --device to be cpu or cuda:N, but got '" +
                   std::string(value) + "'"};
    Result<int64_t> index = parseNumber(option, value.substr(5), 0);
    if (!index)
      return index.error();
    options.device = static_cast<int32_t>(*index);
    return {};
  }
  if (option == "--clock") {
    std::vector<Clock> clock;
    Status s = parseNames(
        option, value, "wall, cpu",
        [](std::string_view name) -> std::optional<Clock> {
          if (name == "wall")
            return Clock::wall;
          return name == "cpu" ? std::optional(Clock::cpu) : std::nullopt;
        },
        clock);
    if (s)
      options.clock = clock.front();
    return s;
  }
  if (option == "--page") {
    options.page = value;
    return {};
  }
  if (option == "--order") {
    std::vector<int32_t> order;
    Status s = parseNames(
        option, value, "filter_first, weight_first",
        [](std::string_view name) -> std::optional<int32_t> {
          if (name == "filter_first")
            return DISCO_FILTER_FIRST;
          if (name == "weight_first")
            return DISCO_WEIGHT_FIRST;
          return std::nullopt;
        },
        order);
    if (s)
      options.order = order.front();
    return s;
  }
  Result<int64_t> number =
      parseNumber(option, value, option == "--repeat" ? 1 : 0);
  if (!number)
    return number.error();
  if (option == "--tile")
    options.tile = *number;
  else if (option == "--channel-block")
    options.channelBlock = *number;
  else if (option == "--repeat")
    options.repeats = static_cast<int>(*number);
  else if (option == "--sustained")
    options.sustained = static_cast<int>(*number);
  else
    options.warmUps = static_cast<int>(*number);
  return {};
}

/// Options that would be ignored are errors.
Status checkCombination(const std::vector<std::string_view> &given,
                        const Options &options) {
  static constexpr std::string_view onlyCuda[] = {"--sustained", "--layout",
                                                  "--fields"};
  static constexpr std::string_view onlyCpu[] = {
      "--threads", "--tile", "--channel-block", "--clock", "--page"};
  const bool isCpu = options.device < 0;
  const auto isIn = [](const auto &list, std::string_view option) {
    return std::find(std::begin(list), std::end(list), option) !=
           std::end(list);
  };
  for (std::string_view option : given)
    if (isCpu ? isIn(onlyCuda, option) : isIn(onlyCpu, option))
      return Error{std::string("expected --device to be ") +
                   (isCpu ? "cuda:N" : "cpu") + " with " + std::string(option) +
                   ", but got " +
                   (isCpu ? "cpu" : "cuda:" + std::to_string(options.device))};
  // A contraction filters and then mixes nothing, its transpose the reverse.
  for (Direction direction : options.directions)
    for (const auto &[fixed, order, name] :
         {std::tuple(Direction::contract, int32_t(DISCO_FILTER_FIRST),
                     "filter_first"),
          std::tuple(Direction::contractSum, int32_t(DISCO_WEIGHT_FIRST),
                     "weight_first")})
      if (direction == fixed && options.order.value_or(order) != order)
        return Error{
            "expected --order to be " + std::string(name) + " with " +
            std::string(nameOf(direction)) + ", but got " +
            (order == DISCO_FILTER_FIRST ? "weight_first" : "filter_first")};
  return {};
}

/// The threads that are asked for, or those of the runtime's choice.
Status resolveThreads(Options &options) {
  int32_t count = 0;
  const auto resolve = [&](int64_t requested) -> Status {
    if (disco_cpu_gather_threads(static_cast<int32_t>(requested), &count) !=
        DISCO_OK)
      return Error{disco_last_error()};
    return {};
  };
  if (options.threads.empty()) {
    Status s = resolve(0);
    options.threads.push_back(count);
    return s;
  }
  for (int64_t threads : options.threads)
    if (Status s = resolve(threads); !s)
      return s;
  return {};
}

Result<Options> parseArguments(int argc, char **argv) {
  static constexpr std::string_view withValue[] = {
      "--family",  "--direction", "--dtype",  "--batch",
      "--threads", "--order",     "--tile",   "--channel-block",
      "--warm-up", "--repeat",    "--page",   "--clock",
      "--device",  "--sustained", "--layout", "--fields"};
  Options options;
  std::vector<std::string_view> given;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    options.command += " " + std::string(argument);
    given.push_back(argument);
    if (argument == "--json") {
      options.json = true;
    } else if (argument == "--help" || argument == "-h") {
      options.help = true;
      return options;
    } else if (argument == "--version") {
      options.version = true;
      return options;
    } else if (argument == "--list") {
      options.list = true;
    } else if (std::find(std::begin(withValue), std::end(withValue),
                         argument) != std::end(withValue)) {
      if (++i == argc)
        return Error{"expected a value after " + std::string(argument)};
      options.command += " " + std::string(argv[i]);
      if (Status s = parseOption(argument, argv[i], options); !s)
        return s.error();
    } else if (!argument.empty() && argument[0] == '-') {
      return Error{"unknown option " + std::string(argument)};
    } else {
      const auto &layers = namedLayers();
      const auto layer =
          std::find_if(layers.begin(), layers.end(),
                       [&](const NamedLayer &l) { return l.name == argument; });
      if (layer == layers.end())
        return Error{"unknown problem '" + std::string(argument) +
                     "', see --list"};
      options.layers.push_back(&*layer);
    }
  }
  if (options.family.empty())
    options.family = options.device < 0 ? "cpu_gather" : "csr_gather";
  if (options.device < 0 && !findKernelFamily(options.family))
    return Error{"expected --family to be cpu_gather, whose kernels are in the "
                 "runtime, but got '" +
                 options.family +
                 "' (compiled code of any family is measured by disco-run)"};
  if (options.layers.empty() && !options.list)
    return Error{"expected at least one problem, see --list"};
  if (Status s = checkCombination(given, options); !s)
    return s.error();
  return options;
}

void printList() {
  for (const NamedLayer &layer : namedLayers()) {
    std::printf("%-13s %lld -> %lld channels, groups %lld, ",
                layer.name.c_str(), static_cast<long long>(layer.channels),
                static_cast<long long>(layer.outChannels),
                static_cast<long long>(layer.groups));
    if (layer.filter.empty())
      std::printf("%lld nearest of %lld points at %lld points, K %lld\n",
                  static_cast<long long>(layer.degree),
                  static_cast<long long>(layer.numIn),
                  static_cast<long long>(layer.numOut),
                  static_cast<long long>(layer.numBasis));
    else
      std::printf("%s\n", layer.filter.c_str());
  }
}

/// Machines by (threads, whether sums are f64).
class Bench {
public:
  explicit Bench(const Options &options) : options(options) {}

  /// Creates the page, so that nothing is measured in vain.
  Status openPage() {
    if (options.page.empty())
      return {};
    Result<AtomicFile> file = AtomicFile::create(options.page);
    if (!file)
      return file.error();
    page.emplace(std::move(*file));
    return {};
  }

  Status run() {
    for (const NamedLayer *layer : options.layers)
      for (DType dtype : options.dtypes) {
        activity = {"building psi of ", layer->name.c_str()};
        Result<LayerPsi> psi = buildPsi(*layer, dtype);
        if (!psi)
          return Error{layer->name + ": " + psi.message()};
        activity = {"measuring ", layer->name.c_str()};
        if (Status s = runLayer(*layer, *psi, dtype); !s)
          return Error{layer->name + ": " + s.message()};
      }
    return {};
  }

  /// What has been measured, if anything.
  Status writePage() {
    if (!page || results.empty())
      return {};
    activity = {"writing the page", ""};
    std::vector<Machine> all;
    all.reserve(machines.size());
    for (const auto &entry : machines)
      all.push_back(entry.second);
    if (Status s = page->write(toPage(all, results, options.command)); !s)
      return s;
    return page->commit();
  }

  bool allRight() const {
    return std::all_of(results.begin(), results.end(),
                       [](const Measurement &m) { return m.accuracy.ok; });
  }

private:
  Status runLayer(const NamedLayer &layer, const LayerPsi &psi, DType dtype) {
    Settings settings;
    settings.dtype = dtype;
    settings.order = options.order;
    settings.tile = options.tile;
    settings.channelBlock = options.channelBlock;
    for (Direction direction : options.directions)
      for (int64_t batch : options.batches)
        for (int64_t threads : options.threads) {
          settings.direction = direction;
          settings.batch = batch;
          settings.threads = static_cast<int>(threads);
          Result<const Machine *> machine = machineFor(settings.threads, dtype);
          if (!machine)
            return machine.error();
          Result<Measurement> result =
              measure(*family, layer, psi, settings, **machine,
                      options.warmUps.value_or(1), options.repeats.value_or(5));
          if (!result)
            return result.error();
          print(*result, **machine);
          results.push_back(std::move(*result));
          // psi does not outlive the layer.
          results.back().work.psi = nullptr;
          results.back().work.tables = nullptr;
        }
    return {};
  }

  Result<const Machine *> machineFor(int threads, DType dtype) {
    const std::pair<int, bool> key(threads, dtype == DType::f64);
    const auto known = machines.find(key);
    if (known != machines.end())
      return &known->second;
    const Progress progress("measuring the machine");
    Result<Machine> measured =
        measureMachine(threads, key.second, options.clock);
    if (!measured)
      return measured.error();
    const Machine &machine = machines[key] = std::move(*measured);
    if (options.json)
      std::printf("%s\n", toJson(machine).c_str());
    else
      std::printf("# %s, %s, %d threads%s: copy %.1f GB/s, FMA %.0f GFLOP/s, "
                  "matrix product %.0f GFLOP/s\n",
                  machine.processor.c_str(), machine.isa.c_str(), threads,
                  key.second ? ", f64" : "", machine.copyGbs, machine.fmaGflops,
                  machine.gemmGflops);
    return &machine;
  }

  void print(const Measurement &result, const Machine &machine) {
    if (options.json) {
      std::printf("%s\n", toJson(result, machine).c_str());
    } else {
      if (results.empty())
        std::printf("%s\n", tableHeader().c_str());
      std::printf("%s\n", toTableLine(result).c_str());
    }
    std::fflush(stdout);
  }

  const Options &options;
  const KernelFamily *family = findKernelFamily(options.family);
  std::map<std::pair<int, bool>, Machine> machines;
  std::vector<Measurement> results;
  std::optional<AtomicFile> page;
};

#ifdef DISCO_BENCH_CUDA
/// The fields of "rows=2,stages=3" by the table of the family.
Result<std::vector<disco_schedule_field>> parseFields(const std::string &family,
                                                      std::string_view text) {
  std::vector<disco_schedule_field> fields;
  const planning::Family *known = planning::findFamily(family);
  if (!known)
    return Error{"expected --family to be one of " + planning::familyNames() +
                 ", but got '" + family + "'"};
  for (std::string_view part : split(text)) {
    if (text.empty())
      break;
    const size_t equals = std::min(part.find('='), part.size());
    const std::string_view name = part.substr(0, equals);
    const int32_t id = known->fields().find(name);
    if (id < 0)
      return Error{"expected a field of " + family + " (" +
                   known->fields().names() + "), but got '" +
                   std::string(name) + "'"};
    Result<int64_t> value =
        parseNumber(name, part.substr(std::min(equals + 1, part.size())), 0);
    if (!value)
      return value.error();
    for (const disco_schedule_field &field : fields)
      if (field.id == id)
        return Error{"expected each field once, but got '" + std::string(text) +
                     "'"};
    fields.push_back({id, *value});
  }
  return fields;
}

/// The schedules that are asked for in a direction; the family's choice when
/// there are none.
Status chooseSchedules(const Options &options, Direction direction,
                       decltype(DeviceSettings::schedules) &schedules) {
  schedules.clear();
  for (std::string_view text : options.fields) {
    const size_t colon = text.find(':');
    if (colon != text.npos) {
      if (text.substr(0, colon) != nameOf(direction))
        continue;
      text.remove_prefix(colon + 1);
    }
    auto fields = parseFields(options.family, text);
    if (!fields)
      return fields.error();
    schedules.emplace_back(text, std::move(*fields));
  }
  if (schedules.empty())
    schedules.push_back({});
  return {};
}
#endif

/// All that is asked for on a CUDA device; whether every answer was right.
Result<bool> runOnDevice(const Options &options) {
#ifdef DISCO_BENCH_CUDA
  Result<DeviceMachine> machine = openDevice(options.device);
  if (!machine)
    return machine.error();
  if (options.json)
    std::printf("%s\n", toJson(*machine).c_str());
  else
    std::printf("# %s\n%s\n", toJson(*machine).c_str(),
                deviceTableHeader().c_str());
  DeviceSettings how;
  how.warmUps = options.warmUps.value_or(how.warmUps);
  how.repeats = options.repeats.value_or(how.repeats);
  how.sustained = options.sustained.value_or(how.sustained);
  how.layouts = options.layouts;
  bool allRight = true;
  const auto report = [&](const DeviceMeasurement &result) {
    std::printf("%s\n", options.json ? toJson(result, *machine).c_str()
                                     : toTableLine(result).c_str());
    std::fflush(stdout);
    allRight &= result.accuracy.ok;
  };
  for (const NamedLayer *layer : options.layers) {
    // By whether values are f64.
    std::map<bool, LayerPsi> psis;
    for (DType dtype : options.dtypes) {
      const bool isF64 = dtype == DType::f64;
      if (!psis.count(isF64)) {
        Result<LayerPsi> psi = buildPsi(*layer, dtype);
        if (!psi)
          return Error{layer->name + ": " + psi.message()};
        psis.emplace(isF64, std::move(*psi));
      }
      for (Direction direction : options.directions) {
        if (Status s = chooseSchedules(options, direction, how.schedules); !s)
          return s.error();
        for (int64_t batch : options.batches) {
          Settings settings;
          settings.dtype = dtype;
          settings.order = options.order;
          settings.direction = direction;
          settings.batch = batch;
          if (Status s = measureOnDevice(options.family, *layer, psis.at(isF64),
                                         settings, *machine, how, report);
              !s)
            return Error{layer->name + ": " + s.message()};
        }
      }
    }
  }
  return allRight;
#else
  return Error{"expected --device to be cpu, as this build has no CUDA part, "
               "but got cuda:" +
               std::to_string(options.device)};
#endif
}

/// Of what no message knows the size: the memory that was there instead.
Error outOfMemory() {
  rusage used = {};
  getrusage(RUSAGE_SELF, &used);
  return Error{"out of memory: " + std::string(activity.what) + activity.layer +
               " needs more than the " + std::to_string(used.ru_maxrss / 1024) +
               " MiB that were in use at most"};
}

int fail(const std::string &message, int code) {
  std::fprintf(stderr, "disco-bench: error: %s\n", message.c_str());
  return code;
}

int runOnCpu(Options &options) {
  const bool isChosen = !options.threads.empty();
  if (Status s = resolveThreads(options); !s)
    return fail(isChosen ? "--threads: " + s.message() : s.message(),
                isChosen ? 2 : 1);
  Bench bench(options);
  if (Status s = bench.openPage(); !s)
    return fail(s.message(), 1);
  Status failure;
  try {
    failure = bench.run();
  } catch (const std::bad_alloc &) {
    failure = outOfMemory();
  }
  // What was measured before an error stays.
  Status written = bench.writePage();
  if (!failure)
    return fail(failure.message(), 1);
  if (!written)
    return fail(written.message(), 1);
  return bench.allRight() ? 0 : fail("a result is wrong", 1);
}

int dispatch(int argc, char **argv) {
  Result<Options> options = parseArguments(argc, argv);
  if (!options)
    return fail(options.message(), 2);
  if (options->help) {
    std::fputs(usage, stdout);
    return 0;
  }
  if (options->version) {
    std::puts("disco-bench " DISCO_VERSION);
    return 0;
  }
  if (options->list) {
    printList();
    return 0;
  }
  if (options->device < 0)
    return runOnCpu(*options);
  activity = {"measuring on the device", ""};
  Result<bool> allRight = runOnDevice(*options);
  if (!allRight)
    return fail(allRight.message(), 1);
  return *allRight ? 0 : fail("a result is wrong", 1);
}

} // namespace

int main(int argc, char **argv) {
  try {
    return dispatch(argc, argv);
  } catch (const std::bad_alloc &) {
    return fail(outOfMemory().message, 1);
  }
}
