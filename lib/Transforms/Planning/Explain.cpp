//===- Explain.cpp - what a walkthrough says ------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything here is read from the op, its plan, the family's own description
// and the cost model; nothing is known about any one family.
//
//===----------------------------------------------------------------------===//

#include "FamilySources.h"
#include "ProblemBuilder.h"
#include "Walkthrough.h"
#include "disco/Transforms/Passes.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;
using namespace mlir::disco;
namespace planning = ::disco::planning;
using planning::BoundClass;
using planning::Counts;

static std::string str(std::string_view text) { return std::string(text); }

static std::string str(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static Figure number(StringRef name, double value, StringRef unit,
                     Provenance provenance) {
  return {name.str(), value, unit.str(), provenance, std::nullopt};
}

static Figure word(StringRef name, std::string text,
                   Provenance provenance = Provenance::exact) {
  return {name.str(), 0, "", provenance, std::move(text)};
}

static StringRef getFunctionName(Operation *op) {
  auto function = op->getParentOfType<FunctionOpInterface>();
  return function ? function.getName() : StringRef("?");
}

/// What follows from shapes is exact unless the batch is assumed.
static Provenance getShapeProvenance(const Explained &e) {
  return e.problem.batch_assumed ? Provenance::model : Provenance::exact;
}

/// Counts of taps are exact on constant filters and assumed otherwise.
static Provenance getTapProvenance(const Explained &e) {
  return e.problem.filter.exact ? Provenance::exact : Provenance::model;
}

/// The stage that computes most; the first of equals.
static const planning::Stage &getMainStage(const planning::Cost &cost) {
  const planning::Stage *longest = &cost.stages.front();
  for (const planning::Stage &stage : cost.stages)
    if (stage.counts.usefulFlop > longest->counts.usefulFlop)
      longest = &stage;
  return *longest;
}

//===----------------------------------------------------------------------===//
// Header
//===----------------------------------------------------------------------===//

static bool isPlanned(const Explained &e) {
  return planning::checkAvailable(e.plan.getKernelFamily(), getOpKind(e.op))
      .has_value();
}

/// Where the kernel's code comes from, for people.
static std::string describeProvider(const Explained &e) {
  bool onHost = e.target.kind == planning::TargetKind::cpu;
  std::string text;
  if (e.plan.getProvider() == Provider::codegen)
    text = onHost ? "generated for the host" : "generated PTX";
  else
    text = onHost ? "runtime, host" : "runtime, CUDA C++";
  if (isPlanned(e))
    text += "; planned: no kernel exists yet";
  return text;
}

static std::string getSource(StringRef family, StringRef part) {
  for (const FamilySource &source : getFamilySources())
    if (source.family == family && source.part == part)
      return (source.file + ":" + Twine(source.line)).str();
  return "";
}

std::string mlir::disco::getKernelSymbol(PlanAttr plan) {
  if (plan.getProvider() == Provider::codegen)
    return "";
  if (!getSource(plan.getFamily(), "kernel").empty())
    return ("disco_" + plan.getFamily() + "_run").str();
  return getSource(plan.getFamily(), "device kernel").empty()
             ? ""
             : "disco_device_run";
}

/// The chip, and the numbers of its row that were replaced.
static std::string describeTarget(const planning::Target &target) {
  std::string replaced = target.overridesText();
  return target.name + " (" + target.arch + ")" +
         (replaced.empty() ? "" : " with " + replaced);
}

static std::vector<Figure> makeHeader(const Explained &e) {
  // Where the kernel is, or what generates it.
  StringRef family = e.plan.getFamily();
  std::string file;
  if (e.plan.getProvider() == Provider::runtime && !isPlanned(e))
    file = getSource(family, e.target.kind == planning::TargetKind::cpu
                                 ? "kernel"
                                 : "device kernel");
  if (file.empty())
    file = getSource(family, "lowering");
  std::string symbol = isPlanned(e) ? "" : getKernelSymbol(e.plan);
  return {word("kernel family", e.plan.getFamily().str()),
          word("kernel symbol", symbol.empty() ? "none" : symbol),
          word("provider", describeProvider(e)),
          word("order", stringifyOrder(e.plan.getOrder()).str()),
          word("file", file.empty() ? "none" : file),
          word("target", describeTarget(e.target)),
          number("predicted time", e.cost.predictedMicroseconds(), "us",
                 Provenance::model),
          word("bound by", str(planning::nameOf(e.cost.bound())),
               Provenance::model)};
}

//===----------------------------------------------------------------------===//
// 1. Overview
//===----------------------------------------------------------------------===//

static std::string describeOp(Operation *op) {
  return TypeSwitch<Operation *, std::string>(op)
      .Case([](ContractOp) {
        return "z[b,c,k,n] = sum over taps t of n: v[t,k] * x[b,c,m(t)]";
      })
      .Case([](ContractSumOp) {
        return "y[b,c,n] = sum over k, taps t of n: v[t,k] * z[b,c,k,m(t)]";
      })
      .Case([](ConvOp) {
        return "conv[b,o,n] = sum over c, k: w[o,c,k] * (sum over taps t of n: "
               "v[t,k] * x[b,c,m(t)])";
      })
      .Case([](ConvWeightGradOp) {
        return "gw[o,c,k] = sum over b, n: gy[b,o,n] * (sum over taps t of n: "
               "v[t,k] * x[b,c,m(t)])";
      });
}

/// What the op does besides the filter and the channel mix.
static std::string describeFused(Operation *op) {
  if (auto grad = dyn_cast<ConvWeightGradOp>(op))
    return grad.getBiasGrad() ? "the bias gradient" : "nothing";
  auto conv = dyn_cast<ConvOp>(op);
  if (!conv)
    return "nothing";
  SmallVector<std::string> parts;
  if (conv.getBias())
    parts.push_back("bias");
  if (conv.getActivation() != Activation::none)
    parts.push_back(stringifyActivation(conv.getActivation()).str());
  if (conv.getResidual())
    parts.push_back("residual");
  return parts.empty() ? "nothing" : llvm::join(parts, ", then ");
}

static std::string describePsi(const Explained &e) {
  if (StorageAttr storage = e.op.getStorageAttr()) {
    std::string text = "tables: ";
    llvm::raw_string_ostream(text) << storage;
    return text;
  }
  PsiOrigin origin =
      getPsiOrigin(e.op.getPsiMutable().getAsOperandRange().front());
  std::string text = origin.adjoint ? "adjoint of " : "";
  if (auto filter = dyn_cast_or_null<FilterOp>(origin.definition))
    return text + filter.getFilter().getText();
  if (auto assemble = dyn_cast_or_null<AssembleOp>(origin.definition))
    return text + stringifyTableFormat(assemble.getFormat()).str() + " tables";
  return text + "a psi known only at run time";
}

/// The tensors that an op reads and writes, by the names of its documentation.
static SmallVector<std::pair<StringRef, Value>> getTensors(Operation *op) {
  SmallVector<std::pair<StringRef, Value>> tensors;
  auto add = [&](StringRef name, Value value) {
    if (value)
      tensors.emplace_back(name, value);
  };
  TypeSwitch<Operation *>(op)
      .Case([&](ContractOp op) {
        add("x", op.getX());
        add("z", op.getZ());
      })
      .Case([&](ContractSumOp op) {
        add("z", op.getZ());
        add("y", op.getY());
      })
      .Case([&](ConvOp op) {
        add("x", op.getX());
        add("w", op.getWeight());
        add("bias", op.getBias());
        add("residual", op.getResidual());
        add("y", op.getY());
      })
      .Case([&](ConvWeightGradOp op) {
        add("x", op.getX());
        add("gy", op.getGy());
        add("gw", op.getWeightGrad());
        add("gb", op.getBiasGrad());
      });
  return tensors;
}

static std::string describeOrder(const Explained &e) {
  bool isFirst = e.plan.getOrder() == Order::weight_first;
  if (isa<ConvWeightGradOp>(e.op.getOperation()))
    return isFirst ? "order: gy is filtered with the adjoint, then multiplied "
                     "with x on the input points"
                   : "order: x is filtered, then multiplied with gy on the "
                     "output points";
  return isFirst ? "order: channels are mixed on the input points, then the "
                   "maps are filtered and summed over k"
                 : "order: x is filtered, then channels and features are mixed "
                   "on the output points";
}

static WalkthroughSection makeOverview(const Explained &e) {
  PageBlock text;
  text.lines = {describeOp(e.op), "psi: " + describePsi(e),
                "fused behind the channel mix: " + describeFused(e.op)};
  if (planning::einsumFlop(e.problem, static_cast<int32_t>(e.plan.getOrder())))
    text.lines.push_back(describeOrder(e));
  for (auto [name, value] : getTensors(e.op))
    text.lines.push_back(name.str() + ": " + str(value.getType()));
  Type element = e.op.getActivations().getType().getElementType();
  PageBlock figures;
  int32_t order = static_cast<int32_t>(e.plan.getOrder());
  figures.figures = {
      word("sums in", str(getAccumulatorType(element))),
      word("two runs are bit-equal",
           e.problem.deterministic ? "yes" : "not asked for"),
      number(e.problem.batch_assumed ? "batch, assumed" : "batch",
             e.problem.batch, "", getShapeProvenance(e)),
      number("FLOP of the filter", planning::sparseFlop(e.problem, order),
             "FLOP", std::max(getTapProvenance(e), getShapeProvenance(e))),
      number("FLOP of the channel mix", planning::einsumFlop(e.problem, order),
             "FLOP", getShapeProvenance(e))};
  if (e.problem.precision != DISCO_PRECISION_IEEE)
    figures.figures.push_back(
        word("f32 products may be rounded to",
             str(planning::nameOfPrecision(e.problem.precision))));
  return {"Overview", {text, figures}};
}

//===----------------------------------------------------------------------===//
// 2. Host side
//===----------------------------------------------------------------------===//

static PageBlock makeChoices(const Explained &e) {
  PageBlock block;
  block.heading = "Why this family";
  const planning::Choice &best = e.selection.winner;
  const planning::Schedule schedule = e.plan.toSchedule();
  const planning::FieldTable &fields = e.plan.getKernelFamily().fields();
  bool isBest = best.family == &e.plan.getKernelFamily() &&
                best.schedule.order == schedule.order &&
                best.schedule.provider == schedule.provider &&
                planning::fieldsToString(best.schedule, fields) ==
                    planning::fieldsToString(schedule, fields);
  double time = e.cost.predictedMicroseconds();
  if (isBest) {
    block.lines.push_back("the plan is what selection chooses");
  } else {
    std::string chosen =
        planning::fieldsToString(best.schedule, best.family->fields());
    block.lines.push_back(llvm::formatv(
        "the plan is not what selection would choose, which is "
        "{0}, {1}{2}: {3:F1} us",
        best.family->name, str(planning::nameOfOrder(best.schedule.order)),
        chosen.empty() ? "" : " with " + chosen, best.microseconds()));
  }
  for (const planning::Loser &loser : e.selection.losers) {
    bool isPlan = !loser.failure && loser.family == &e.plan.getKernelFamily() &&
                  loser.schedule.order == schedule.order;
    block.lines.push_back((isPlan ? "this plan's family and order, with the "
                                    "best schedule: "
                                  : "rejected: ") +
                          loser.text(isBest ? time : best.microseconds()));
  }
  return block;
}

static PageBlock makeLaunch(const Explained &e) {
  PageBlock block;
  block.heading = "Launch";
  bool onHost = e.target.kind == planning::TargetKind::cpu;
  StringRef function = getFunctionName(e.op);
  if (e.plan.getProvider() == Provider::codegen && onHost)
    block.lines.push_back("inlined into @" + function.str() +
                          ": there is no kernel symbol and no launch");
  else if (isPlanned(e))
    block.lines.push_back("@" + function.str() + " -> " +
                          e.plan.getFamily().str() + ": no kernel exists yet");
  else if (onHost)
    block.lines.push_back(
        llvm::formatv("@{0} -> disco_{1}_run of the runtime, in a workspace of "
                      "the size that disco_{1}_workspace_bytes gives",
                      function, e.plan.getFamily()));
  else
    block.lines.push_back(llvm::formatv(
        "@{0} -> disco_device_run of the runtime, with what "
        "disco_device_prepare made for {1}, in a workspace of the "
        "size that disco_device_workspace_bytes gives",
        function, e.plan.getFamily()));
  const planning::Stage &stage = getMainStage(e.cost);
  const Counts &counts = stage.counts;
  if (e.cost.stages.size() > 1)
    block.lines.push_back(
        std::string(onHost ? "tasks" : "CTAs and what each takes") +
        " are those of the stage " + stage.name + ", which computes most");
  block.figures = {
      word("problem hash",
           e.plan.getProblem()
               ? "0x" + llvm::utohexstr(e.plan.getProblem(), true, 16)
               : "none"),
      number("launches", e.cost.total().launches, "", Provenance::model),
      number(onHost ? "tasks" : "CTAs", counts.ctas, "", Provenance::model)};
  if (!onHost) {
    block.figures.push_back(
        number("threads of a CTA", counts.threads, "", Provenance::model));
    block.figures.push_back(number("registers of a thread",
                                   counts.registersPerThread, "",
                                   Provenance::model));
    block.figures.push_back(number("shared memory of a CTA", counts.smemBytes,
                                   "B", Provenance::model));
    block.figures.push_back(number("CTAs that a core holds", counts.ctasPerCore,
                                   "", Provenance::model));
  }
  // Threads of the host have buffers of their own.
  std::string workspace = "workspace";
  if (onHost && e.plan.getProvider() == Provider::runtime)
    workspace += llvm::formatv(", a thread on each of {0} cores",
                               static_cast<int64_t>(
                                   e.target[planning::TargetField::cores]))
                     .str();
  block.figures.push_back(
      number(workspace, e.cost.workspaceBytes, "B", Provenance::model));
  std::string in = stringifyLayout(e.plan.getInLayout()).str() + " -> " +
                   stringifyLayout(e.plan.getOutLayout()).str();
  std::string kernel = stringifyLayout(e.plan.getKernelInLayout()).str() +
                       " -> " +
                       stringifyLayout(e.plan.getKernelOutLayout()).str();
  block.figures.push_back(word("layout of the activations", in));
  block.figures.push_back(word("layout of the kernel", kernel));
  return block;
}

//===----------------------------------------------------------------------===//
// 3. Device side
//===----------------------------------------------------------------------===//

static WalkthroughSection makeDevice(const Explained &e) {
  WalkthroughSection section{"Device side, step by step", {}};
  const planning::FieldTable &table = e.plan.getKernelFamily().fields();
  PageBlock schedule;
  schedule.heading = "Schedule";
  for (const ScheduleField &field : e.plan.getSchedule()) {
    const planning::FieldInfo &info = table.fields[field.id];
    schedule.lines.push_back(std::string(info.name) + " = " +
                             std::to_string(field.value) + " (" + info.meaning +
                             ")");
  }
  if (schedule.lines.empty())
    schedule.lines.push_back("the family has no fields");
  section.blocks.push_back(schedule);
  planning::Description description;
  e.plan.getKernelFamily().impl->describe(e.problem, e.target,
                                          e.plan.toSchedule(), description);
  auto add = [&](StringRef heading, std::vector<std::string> lines) {
    section.blocks.push_back({heading.str(), std::move(lines), {}, ""});
  };
  add("Which thread does what", description.threads);
  add("For example", description.example);
  add("Loads", description.loads);
  add("Computation", description.computation);
  if (!description.mix.empty())
    add("Channel mix", description.mix);
  add("Stores", description.stores);
  return section;
}

//===----------------------------------------------------------------------===//
// 4. Data flow
//===----------------------------------------------------------------------===//

static std::string bytes(double value) {
  return number("", value, "B", Provenance::model).format();
}

/// One box a stage, from the input down:
///
///   x
///   |  106.2 MB read
///   v
///   [contraction]
///   |  ...
static WalkthroughSection makeDataFlow(const Explained &e) {
  std::string text;
  llvm::raw_string_ostream os(text);
  std::string read, written;
  for (auto [name, value] : getTensors(e.op)) {
    bool isResult = value.getDefiningOp() == e.op.getOperation();
    (isResult ? written : read) += name.str() + ", ";
  }
  os << read << "psi\n";
  for (const planning::Stage &stage : e.cost.stages) {
    os << "|  " << bytes(stage.counts.dramReadBytes) << " read\nv\n["
       << str(stage.name) << "]  "
       << llvm::formatv("{0:F1} us, ", stage.predictedMicroseconds())
       << str(planning::nameOf(stage.bound())) << "\n|  "
       << bytes(stage.counts.dramWriteBytes) << " written\nv\n";
  }
  os << StringRef(written).drop_back(2) << '\n';
  PageBlock block;
  block.lines = {"bytes are those that must cross memory, each once (model)"};
  block.drawing = text;
  return {"Data flow", {block}};
}

//===----------------------------------------------------------------------===//
// 5. Memory and bounds
//===----------------------------------------------------------------------===//

static PageBlock makeCounts(const planning::Stage &stage, bool onHost) {
  const Counts &c = stage.counts;
  PageBlock block;
  block.heading = "Counts of " + str(stage.name);
  auto add = [&](StringRef name, double value, StringRef unit) {
    if (value != 0)
      block.figures.push_back(number(name, value, unit, Provenance::model));
  };
  add("bytes read from memory, compulsory", c.dramReadBytes, "B");
  add("bytes written to memory, compulsory", c.dramWriteBytes, "B");
  add("bytes requested from the shared cache", c.l2Bytes, "B");
  add("L1 requests", c.l1Requests, "");
  add("shared-memory wavefronts", c.smemWavefronts, "");
  add("FLOP useful", c.usefulFlop, "FLOP");
  add("FLOP padded", c.paddedFlop, "FLOP");
  add("FLOP issued", c.issuedFlop, "FLOP");
  add("tensor instructions", c.tensorInstructions, "");
  add("issue slots", c.issueSlots, "");
  add(onHost ? "tasks for each core" : "waves", c.waves, "");
  add("taps of the longest row over the mean row", c.tapImbalance, "");
  for (size_t i = 0; i < planning::numBoundClasses; ++i) {
    auto bound = static_cast<BoundClass>(i);
    add("time if bound by " + str(planning::nameOf(bound)), stage[bound], "us");
  }
  return block;
}

/// What the statistics call a row.
static std::string describeRow(const Explained &e,
                               const planning::FilterCounts &f) {
  // A weight gradient that filters gy goes from its points to those of x.
  planning::Problem applied =
      planning::appliedFilter(e.problem,
                              static_cast<int32_t>(e.plan.getOrder()))
          .problem;
  if (applied.structure != DISCO_SPHERE)
    return "a row is a point that the filter gives";
  std::string points = std::to_string(applied.out_shape[1] / f.phases);
  if (f.phases == 1)
    return "a row is a latitude that the filter gives: its " + points +
           " longitudes have the same taps, shifted";
  return "a row is a latitude that the filter gives and one of " +
         std::to_string(f.phases) + " phases: " + points +
         " of its longitudes, " + std::to_string(f.phases) +
         " apart, have the same taps, shifted";
}

/// Of the filter that the plan's order applies.
static PageBlock makeTaps(const Explained &e) {
  const planning::FilterCounts f =
      planning::appliedFilter(e.problem,
                              static_cast<int32_t>(e.plan.getOrder()))
          .problem.filter;
  Provenance from = getTapProvenance(e);
  PageBlock block;
  block.heading = "Taps";
  block.lines.push_back(describeRow(e, f));
  double rows = std::max<int64_t>(f.rows, 1);
  block.figures = {number("rows", f.rows, "", from),
                   number("rows without taps", f.empty_rows, "", from),
                   number("taps a row, mean", f.taps / rows, "", from),
                   number("taps a row, median", f.median_taps, "", from),
                   number("taps a row, most", f.max_taps, "", from)};
  if (e.problem.structure == DISCO_SPHERE) {
    block.figures.push_back(
        number("rings a row, mean", f.rings / rows, "", from));
    block.figures.push_back(number("gaps in rings", f.gaps, "", from));
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "taps of a row      rows   share of all taps\n";
  for (int bin = 0; bin < DISCO_TAP_BINS; ++bin) {
    if (!f.histogram_rows[bin])
      continue;
    int64_t least = bin ? int64_t(1) << (bin - 1) : 0;
    int64_t most = bin ? (int64_t(1) << bin) - 1 : 0;
    double share = f.taps ? double(f.histogram_taps[bin]) / f.taps : 0;
    os << llvm::formatv("{0,6} .. {1,-6} {2,6}   {3,4:F0} % ", least, most,
                        f.histogram_rows[bin], 100 * share)
       << std::string(static_cast<size_t>(std::lround(40 * share)), '#')
       << '\n';
  }
  block.drawing = text;
  return block;
}

static WalkthroughSection makeBounds(const Explained &e) {
  WalkthroughSection section{"Memory and bounds", {}};
  PageBlock total;
  total.figures = {number("predicted time", e.cost.predictedMicroseconds(),
                          "us", Provenance::model),
                   word("bound by", str(planning::nameOf(e.cost.bound())),
                        Provenance::model),
                   word("time over that of the next bound",
                        llvm::formatv("{0:F2}", e.cost.margin()).str(),
                        Provenance::model)};
  section.blocks.push_back(total);
  for (const planning::Stage &stage : e.cost.stages)
    section.blocks.push_back(
        makeCounts(stage, e.target.kind == planning::TargetKind::cpu));
  section.blocks.push_back(makeTaps(e));
  return section;
}

//===----------------------------------------------------------------------===//
// 6. Instruction set, 7. source index
//===----------------------------------------------------------------------===//

static WalkthroughSection makeInstructions(const Explained &e) {
  PageBlock block;
  block.lines = {isPlanned(e) ? "not generated: no kernel exists yet"
                 : e.plan.getProvider() == Provider::runtime
                     ? "not generated: the kernel is part of the runtime"
                 : e.target.kind == planning::TargetKind::cpu
                     ? "not generated: the host's code is made later, from the "
                       "whole entry"
                     : "not generated: no PTX of this op exists"};
  return {"Instruction set", {block}};
}

/// The locations that an op was made from, innermost last.
static void addLocations(Location loc, std::vector<std::string> &lines,
                         const std::string &indent) {
  if (auto file = dyn_cast<FileLineColLoc>(loc)) {
    lines.push_back(indent + file.getFilename().str() + ":" +
                    std::to_string(file.getLine()) + ":" +
                    std::to_string(file.getColumn()));
    return;
  }
  if (auto name = dyn_cast<NameLoc>(loc)) {
    addLocations(name.getChildLoc(), lines,
                 indent + "\"" + name.getName().str() + "\" at ");
    return;
  }
  if (auto call = dyn_cast<CallSiteLoc>(loc)) {
    addLocations(call.getCallee(), lines, indent);
    addLocations(call.getCaller(), lines, indent + "called from ");
    return;
  }
  if (auto fused = dyn_cast<FusedLoc>(loc)) {
    for (Location inner : fused.getLocations())
      addLocations(inner, lines, indent);
    return;
  }
  lines.push_back(indent + "unknown location");
}

static WalkthroughSection makeSources(const Explained &e) {
  PageBlock op, family;
  op.heading = "The operation";
  addLocations(e.op.getLoc(), op.lines, "");
  family.heading = "The family";
  for (const FamilySource &source : getFamilySources())
    if (source.family == e.plan.getFamily())
      family.lines.push_back(
          (source.part + ": " + source.file + ":" + Twine(source.line)).str());
  return {"Source index", {op, family}};
}

Walkthrough mlir::disco::explain(const Explained &e) {
  Walkthrough page;
  page.title = (e.op->getName().getStringRef() + " in @" +
                getFunctionName(e.op) + ": " + e.plan.getFamily())
                   .str();
  page.header = makeHeader(e);
  page.sections = {
      makeOverview(e), {"Host side", {makeChoices(e), makeLaunch(e)}},
      makeDevice(e),   makeDataFlow(e),
      makeBounds(e),   makeInstructions(e),
      makeSources(e)};
  return page;
}

void mlir::disco::printKernelFamilies(raw_ostream &os) {
  os << planning::listFamilies() << "\nsources:\n";
  for (const FamilySource &source : getFamilySources())
    os << llvm::formatv("  {0,-16} {1,-14} {2}:{3}\n", source.family,
                        source.part, source.file, source.line);
}
