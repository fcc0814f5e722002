//===- SelectKernel.cpp - disco-select-kernel -----------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanChecks.h"
#include "disco/Planning/Selection.h"
#include "disco/Transforms/Passes.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::disco {
#define GEN_PASS_DEF_SELECTKERNELPASS
#include "disco/Transforms/Passes.h.inc"
} // namespace mlir::disco

using namespace mlir;
using namespace mlir::disco;
namespace planning = ::disco::planning;
using planning::Problem;
using planning::Selection;
using planning::SelectionOptions;

static std::string str(std::string_view text) { return std::string(text); }

//===----------------------------------------------------------------------===//
// Remarks
//===----------------------------------------------------------------------===//

namespace {

/// Reports one selection through the remark engine. A remark's name tells the
/// family and order apart, so that a policy that keeps the last remark of a
/// name keeps all of them.
class Reporter {
public:
  Reporter(Operation *op) : op(op) {
    if (auto parent = op->getParentOfType<FunctionOpInterface>())
      function = parent.getName();
  }

  void report(const Selection &selection, const Problem &problem) {
    // Building the text of all losers is not free.
    if (!op->getContext()->getRemarkEngine())
      return;
    reportWinner(selection.winner, problem);
    for (const planning::Loser &loser : selection.losers)
      reportLoser(loser, selection.winner);
  }

private:
  remark::RemarkOpts options(const std::string &name) {
    // The engine may keep the remark: its name must live as long.
    return remark::RemarkOpts::name(
               StringAttr::get(op->getContext(), name).getValue())
        .category("disco-select-kernel")
        .function(function);
  }

  void reportWinner(const planning::Choice &choice, const Problem &problem) {
    const planning::Schedule &schedule = choice.schedule;
    std::string fields =
        planning::fieldsToString(schedule, choice.family->fields());
    auto remark = remark::passed(op->getLoc(), options(choice.family->name));
    remark << remark::add("chose {0}", str(choice.family->name))
           << remark::metric("Order",
                             str(planning::nameOfOrder(schedule.order)))
           << remark::metric("Provider",
                             str(planning::nameOfProvider(schedule.provider)))
           << remark::metric("Schedule", fields.empty() ? "none" : fields)
           << remark::metric("PredictedMicroseconds",
                             formatMicroseconds(choice.microseconds()))
           << remark::metric("Bound", str(nameOf(choice.cost.bound())))
           << remark::metric(
                  "Margin", llvm::formatv("{0:F2}", choice.cost.margin()).str())
           << remark::metric("Executable", choice.executable);
    if (problem.batch_assumed)
      remark << remark::metric("AssumedBatch", problem.batch);
  }

  void reportLoser(const planning::Loser &loser,
                   const planning::Choice &winner) {
    std::string name = loser.family->name;
    if (loser.order)
      name += " " + str(planning::nameOfOrder(*loser.order));
    if (loser.provider)
      name += " " + str(planning::nameOfProvider(*loser.provider));
    if (loser.failure) {
      remark::missed(op->getLoc(), options(name))
          << remark::metric("Rule", loser.failure->rule)
          << remark::reason("{0}", loser.failure->reason)
          << remark::suggest("{0}", loser.failure->suggestion);
      return;
    }
    double micros = loser.cost.predictedMicroseconds();
    remark::missed(op->getLoc(), options(name))
        << remark::reason("{0}", loser.text(winner.microseconds()))
        << remark::metric("PredictedMicroseconds", formatMicroseconds(micros))
        << remark::metric("Bound", str(nameOf(loser.cost.bound())));
  }

  static std::string formatMicroseconds(double value) {
    return llvm::formatv("{0:F1}", value).str();
  }

  Operation *op;
  StringRef function;
};

} // namespace

//===----------------------------------------------------------------------===//
// Choosing
//===----------------------------------------------------------------------===//

/// What a plan written by hand forces. The order of an op that has only one is
/// not forced unless the plan names the other one.
static SelectionOptions getForced(PlanAttr plan, const Problem &problem,
                                  bool includePlanned) {
  SelectionOptions options;
  options.family = plan.getFamily().str();
  options.provider = static_cast<int32_t>(plan.getProvider());
  bool hasBoth = planning::ordersOf(problem) ==
                 (1u << DISCO_FILTER_FIRST | 1u << DISCO_WEIGHT_FIRST);
  if (hasBoth || plan.getOrder() != Order::filter_first)
    options.order = static_cast<int32_t>(plan.getOrder());
  options.fields = plan.getFieldsText();
  options.includePlanned = includePlanned;
  return options;
}

/// The order is no choice of an op that has only one.
static bool hasOneOrder(Operation *op) {
  return isa<ContractOp, ContractSumOp>(op);
}

/// That a plan and what is forced agree. Fields that the plan leaves open are
/// added to `open`, as "threads=128,...".
static LogicalResult checkForced(Operation *op, PlanAttr plan,
                                 const SelectionOptions &forced,
                                 std::string &open) {
  auto check = [&](StringRef what, StringRef wanted,
                   StringRef got) -> LogicalResult {
    if (wanted == got)
      return success();
    return op->emitOpError()
           << "expected the plan to have the " << what << " '" << wanted
           << "' that is forced, but got '" << got << "'";
  };
  if (!forced.family.empty() &&
      failed(check("family", forced.family, plan.getFamily())))
    return failure();
  if (forced.provider &&
      failed(check("provider", str(planning::nameOfProvider(*forced.provider)),
                   stringifyProvider(plan.getProvider()))))
    return failure();
  if (forced.order && !hasOneOrder(op) &&
      failed(check("order", str(planning::nameOfOrder(*forced.order)),
                   stringifyOrder(plan.getOrder()))))
    return failure();
  const planning::FieldTable &table = plan.getKernelFamily().fields();
  planning::Schedule values = planning::makeSchedule(table, 0, 0);
  if (::disco::Status status =
          planning::parseFields(values, table, forced.fields);
      !status)
    return op->emitOpError() << status.message();
  SmallVector<StringRef> items;
  StringRef(forced.fields).split(items, ',', -1, /*KeepEmpty=*/false);
  for (StringRef item : items) {
    StringRef name = item.split('=').first;
    int32_t id = table.find(std::string_view(name));
    int64_t wanted = planning::get(values, id);
    const auto *field =
        llvm::find_if(plan.getSchedule(), [&](const ScheduleField &f) {
          return int64_t(f.id) == id;
        });
    if (field == plan.getSchedule().end())
      open += (open.empty() ? "" : ",") + item.str();
    else if (field->value != wanted)
      return op->emitOpError()
             << "expected the plan to have the field " << name << " = "
             << wanted << " that is forced, but got " << field->value;
  }
  return success();
}

/// A plan that names the layouts of its kernel gets them.
static LogicalResult checkKernelLayout(Operation *op, PlanAttr plan,
                                       const planning::Choice &choice) {
  if (plan.getKernelInLayout() == plan.getInLayout() &&
      plan.getKernelOutLayout() == plan.getOutLayout())
    return success();
  auto in = static_cast<Layout>(choice.schedule.in_layout);
  auto out = static_cast<Layout>(choice.schedule.out_layout);
  if (plan.getKernelInLayout() == in && plan.getKernelOutLayout() == out)
    return success();
  return op->emitOpError() << "expected the kernel layout of "
                           << choice.family->name << " to be "
                           << stringifyLayout(in) << " -> "
                           << stringifyLayout(out) << ", but got "
                           << stringifyLayout(plan.getKernelInLayout())
                           << " -> "
                           << stringifyLayout(plan.getKernelOutLayout());
}

namespace {
struct SelectKernelPass
    : public mlir::disco::impl::SelectKernelPassBase<SelectKernelPass> {
  using SelectKernelPassBase::SelectKernelPassBase;

  void runOnOperation() override;

private:
  FailureOr<SelectionOptions> getOptions();
  LogicalResult plan(ContractionOpInterface op, const planning::Target &chip,
                     ProblemBuilder &problems, const SelectionOptions &options);
};
} // namespace

/// Sets `forced` to the index of `word` in `words`, where there is a word; an
/// error at the module when it is none of them.
static LogicalResult parseForced(Operation *module, StringRef what,
                                 StringRef word,
                                 std::initializer_list<std::string_view> words,
                                 std::optional<int32_t> &forced) {
  if (word.empty())
    return success();
  for (auto [index, candidate] : llvm::enumerate(words)) {
    if (word != StringRef(candidate))
      continue;
    forced = static_cast<int32_t>(index);
    return success();
  }
  return module->emitOpError()
         << "expected " << what << " to be " << StringRef(*words.begin())
         << " or " << StringRef(*(words.begin() + 1)) << ", but got " << word;
}

FailureOr<SelectionOptions> SelectKernelPass::getOptions() {
  SelectionOptions options;
  ModuleOp module = getOperation();
  if (failed(parseForced(module, "force-provider", forceProvider,
                         {planning::nameOfProvider(DISCO_CODEGEN),
                          planning::nameOfProvider(DISCO_RUNTIME)},
                         options.provider)) ||
      failed(parseForced(module, "force-order", forceOrder,
                         {planning::nameOfOrder(DISCO_FILTER_FIRST),
                          planning::nameOfOrder(DISCO_WEIGHT_FIRST)},
                         options.order)))
    return failure();
  if (forceFamily.empty() && !forceFields.empty())
    return module.emitOpError() << "expected force-fields to come with "
                                   "force-family, but got only "
                                << forceFields;
  if (assumedBatch < 1)
    return module.emitOpError()
           << "expected assumed-batch to be positive, but got "
           << int64_t(assumedBatch);
  options.family = forceFamily;
  options.fields = forceFields;
  options.includePlanned = includePlanned;
  return options;
}

LogicalResult SelectKernelPass::plan(ContractionOpInterface op,
                                     const planning::Target &chip,
                                     ProblemBuilder &problems,
                                     const SelectionOptions &options) {
  auto old = op->getAttrOfType<PlanAttr>("plan");
  std::string open;
  if (old && failed(checkForced(op, old, options, open)))
    return failure();
  if (old && old.getBatch() && assumedBatch.hasValue() &&
      old.getBatch() != assumedBatch)
    op->emitWarning() << "the batch " << old.getBatch()
                      << " that the plan states is assumed, not the "
                         "assumed-batch "
                      << int64_t(assumedBatch);
  if (old && old.getProblem()) {
    ++numKept;
    return mlir::disco::checkPlan(op, old, chip, problems, includePlanned);
  }
  if (old && failed(checkPremises(op, old, chip)))
    return failure();
  FailureOr<Problem> problem = problems.build(
      op, old && old.getBatch() ? old.getBatch() : int64_t(assumedBatch));
  if (failed(problem))
    return failure();
  SelectionOptions wanted =
      old ? getForced(old, *problem, includePlanned) : options;
  // An op that has only one order is not a choice that can be forced.
  if (!old && hasOneOrder(op))
    wanted.order.reset();
  // Arcs of the adjoint serve one order of a weight gradient only.
  StorageAttr storage = op.getStorageAttr();
  if (!wanted.order && storage && storage.getForm() == StorageForm::arcs &&
      isa<ConvWeightGradOp>(op.getOperation()))
    wanted.order =
        storage.getAdjoint() ? DISCO_WEIGHT_FIRST : DISCO_FILTER_FIRST;
  if (!open.empty())
    wanted.fields += (wanted.fields.empty() ? "" : ",") + open;
  ::disco::Result<Selection> selection =
      planning::select(*problem, chip, wanted);
  if (!selection)
    return op->emitOpError() << selection.message();
  const planning::Choice &winner = selection->winner;
  auto chosen = PlanAttr::get(op.getContext(), *winner.family, *problem,
                              winner.schedule, StringRef(chip.name));
  if (failed(checkStorage(op, chosen)))
    return failure();
  if (old && failed(checkKernelLayout(op, old, winner)))
    return failure();
  Reporter(op).report(*selection, *problem);
  op->setAttr("plan", chosen);
  ++(old ? numKept : numPlanned);
  return success();
}

void SelectKernelPass::runOnOperation() {
  ModuleOp module = getOperation();
  FailureOr<std::vector<TargetScope>> scopes =
      resolveTargets(module, target, overrides);
  FailureOr<SelectionOptions> options = getOptions();
  if (failed(scopes) || failed(options))
    return signalPassFailure();
  auto &problems = getAnalysis<ProblemBuilder>();
  unsigned countedBefore = problems.getNumCounted();
  bool isValid = true;
  for (TargetScope &scope : *scopes)
    for (ContractionOpInterface op : scope.ops)
      isValid &= succeeded(plan(op, scope.chip, problems, *options));
  numCounted += problems.getNumCounted() - countedBefore;
  if (!isValid)
    return signalPassFailure();
  for (TargetScope &scope : *scopes)
    scope.module->setAttr(kTargetAttr, scope.attr);
  // Counts go by filters and tables, which are as they were.
  markAnalysesPreserved<ProblemBuilder>();
}
