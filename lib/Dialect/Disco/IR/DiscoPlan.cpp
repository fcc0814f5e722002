//===- DiscoPlan.cpp - targets and plans ----------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The grammar of a plan knows no family: fields are looked up in the family's
// table.
//
//===----------------------------------------------------------------------===//

#include "disco/Dialect/Disco/Disco.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::disco;
namespace planning = ::disco::planning;

//===----------------------------------------------------------------------===//
// Targets
//===----------------------------------------------------------------------===//

static ::disco::Result<planning::Target> makeTarget(StringRef name,
                                                    StringAttr overrides) {
  ::disco::Result<planning::Target> target =
      planning::lookupTarget(std::string_view(name));
  if (target && overrides)
    if (::disco::Status status = planning::applyOverrides(
            *target, std::string_view(overrides.getValue()));
        !status)
      return status.error();
  return target;
}

LogicalResult TargetAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringRef name, StringAttr overrides) {
  ::disco::Result<planning::Target> target = makeTarget(name, overrides);
  return target ? success() : LogicalResult(emitError() << target.message());
}

planning::Target TargetAttr::getTarget() const {
  return *makeTarget(getName(), getOverrides());
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// What a plan says about the provider when it does not name one.
static Provider getDefaultProvider(const planning::Family &family) {
  return family.parts & planning::partCodegen ? Provider::codegen
                                              : Provider::runtime;
}

static const planning::Family *
findFamily(function_ref<InFlightDiagnostic()> emitError, StringRef name) {
  const planning::Family *family = planning::findFamily(std::string_view(name));
  if (!family)
    emitError() << "expected the kernel family to be one of "
                << planning::familyNames() << ", but got " << name;
  return family;
}

namespace {
/// The values of a plan's keys while they are parsed.
struct PlanKeys {
  const planning::Family &family;
  Provider provider;
  Order order = Order::filter_first;
  std::pair<Layout, Layout> layout{Layout::nchw, Layout::nchw};
  std::optional<std::pair<Layout, Layout>> kernelLayout;
  SmallVector<ScheduleField> schedule;
  std::string target;
  int64_t batch = 0;
  uint64_t problem = 0;

  explicit PlanKeys(const planning::Family &family)
      : family(family), provider(getDefaultProvider(family)) {}

  ParseResult parse(AsmParser &parser, StringRef key);

private:
  ParseResult parseSchedule(AsmParser &parser);
};
} // namespace

/// Parses a keyword that `symbolize` knows; `words` lists what it knows.
template <typename T>
static ParseResult parseWord(AsmParser &parser, StringRef what, StringRef words,
                             std::optional<T> (*symbolize)(StringRef),
                             T &result) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  std::optional<T> value = symbolize(word);
  if (!value)
    return parser.emitError(loc) << "expected the " << what << " to be "
                                 << words << ", but got " << word;
  result = *value;
  return success();
}

/// layouts ::= word `->` word
static ParseResult parseLayouts(AsmParser &parser, StringRef key,
                                std::pair<Layout, Layout> &layouts) {
  constexpr StringLiteral words = "nchw, nhwc or c8";
  return failure(
      parseWord<Layout>(parser, key, words, symbolizeLayout, layouts.first) ||
      parser.parseArrow() ||
      parseWord<Layout>(parser, key, words, symbolizeLayout, layouts.second));
}

/// schedule ::= `{` (field `=` integer (`,` field `=` integer)*)? `}`
ParseResult PlanKeys::parseSchedule(AsmParser &parser) {
  const planning::FieldTable &table = family.fields();
  auto parseField = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    StringRef name;
    int64_t value = 0;
    if (parser.parseKeyword(&name) || parser.parseEqual() ||
        parser.parseInteger(value))
      return failure();
    int32_t id = table.find(std::string_view(name));
    if (id < 0)
      return parser.emitError(loc)
             << "expected the field to be one of "
             << (table.size ? table.names() : "none") << " of " << family.name
             << ", but got " << name;
    if (llvm::any_of(schedule, [&](const ScheduleField &field) {
          return field.id == id;
        }))
      return parser.emitError(loc)
             << "expected each field once, but got " << name << " again";
    schedule.push_back({id, value});
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, parseField))
    return failure();
  llvm::sort(schedule, [](const ScheduleField &a, const ScheduleField &b) {
    return a.id < b.id;
  });
  return success();
}

/// Parses what is behind `key` and an equals sign.
ParseResult PlanKeys::parse(AsmParser &parser, StringRef key) {
  if (key == "provider")
    return parseWord<Provider>(parser, key, "codegen or runtime",
                               symbolizeProvider, provider);
  if (key == "order")
    return parseWord<Order>(parser, key, "filter_first or weight_first",
                            symbolizeOrder, order);
  if (key == "layout")
    return parseLayouts(parser, key, layout);
  if (key == "kernel_layout")
    return parseLayouts(parser, key, kernelLayout.emplace());
  if (key == "schedule")
    return parseSchedule(parser);
  if (key == "target")
    return parser.parseString(&target);
  SMLoc loc = parser.getCurrentLocation();
  APInt number;
  OptionalParseResult parsed = parser.parseOptionalInteger(number);
  if (!parsed.has_value())
    return parser.emitError(loc) << "expected an integer for " << key;
  if (failed(*parsed))
    return failure();
  unsigned bits = key == "batch" ? 63 : 64;
  if (number.isNegative() || number.isZero() || number.getActiveBits() > bits)
    return parser.emitError(loc)
           << "expected " << key << " to be positive and to fit into " << bits
           << " bits, but got " << llvm::toString(number, 10, /*Signed=*/true);
  if (key == "batch")
    batch = number.getZExtValue();
  else
    problem = number.getZExtValue();
  return success();
}

// plan ::= `<` family (`,` key `=` value)* `>`
Attribute PlanAttr::parse(AsmParser &parser, Type) {
  constexpr StringLiteral known[] = {"provider",      "order",    "layout",
                                     "kernel_layout", "schedule", "target",
                                     "batch",         "problem"};
  SMLoc loc = parser.getCurrentLocation();
  auto emitError = [&] { return parser.emitError(loc); };
  StringRef name;
  if (parser.parseLess() || parser.parseKeyword(&name))
    return {};
  const planning::Family *family = findFamily(emitError, name);
  if (!family)
    return {};
  PlanKeys keys(*family);
  SmallVector<StringRef> seen;
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc keyLoc = parser.getCurrentLocation();
    StringRef key;
    if (parser.parseKeyword(&key))
      return {};
    if (!llvm::is_contained(known, key) || llvm::is_contained(seen, key)) {
      parser.emitError(keyLoc)
          << "expected each of " << llvm::join(ArrayRef(known), ", ")
          << " at most once, but got " << key;
      return {};
    }
    seen.push_back(key);
    if (parser.parseEqual() || keys.parse(parser, key))
      return {};
  }
  if (parser.parseGreater())
    return {};
  auto [kernelIn, kernelOut] = keys.kernelLayout.value_or(keys.layout);
  return getChecked(emitError, parser.getContext(), StringRef(family->name),
                    keys.provider, keys.order, keys.layout.first,
                    keys.layout.second, kernelIn, kernelOut,
                    ArrayRef<ScheduleField>(keys.schedule),
                    StringRef(keys.target), keys.batch, keys.problem);
}

void PlanAttr::print(AsmPrinter &printer) const {
  const planning::Family &family = getKernelFamily();
  printer << '<' << getFamily();
  if (getProvider() != getDefaultProvider(family))
    printer << ", provider = " << stringifyProvider(getProvider());
  if (getOrder() != Order::filter_first)
    printer << ", order = " << stringifyOrder(getOrder());
  if (getInLayout() != Layout::nchw || getOutLayout() != Layout::nchw)
    printer << ", layout = " << stringifyLayout(getInLayout()) << " -> "
            << stringifyLayout(getOutLayout());
  if (getKernelInLayout() != getInLayout() ||
      getKernelOutLayout() != getOutLayout())
    printer << ", kernel_layout = " << stringifyLayout(getKernelInLayout())
            << " -> " << stringifyLayout(getKernelOutLayout());
  if (!getSchedule().empty()) {
    printer << ", schedule = {";
    llvm::interleaveComma(getSchedule(), printer.getStream(),
                          [&](const ScheduleField &field) {
                            printer << family.fields().fields[field.id].name
                                    << " = " << field.value;
                          });
    printer << '}';
  }
  if (!getTarget().empty())
    printer << ", target = \"" << getTarget() << '"';
  if (getBatch())
    printer << ", batch = " << getBatch();
  if (getProblem())
    printer << ", problem = 0x"
            << llvm::utohexstr(getProblem(), /*LowerCase=*/true, /*Width=*/16);
  printer << '>';
}

LogicalResult PlanAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               StringRef family, Provider provider, Order order,
                               Layout, Layout, Layout, Layout,
                               ArrayRef<ScheduleField> schedule,
                               StringRef target, int64_t batch,
                               uint64_t problem) {
  // C1
  const planning::Family *row = findFamily(emitError, family);
  if (!row)
    return failure();
  // C2
  planning::Schedule legal =
      planning::makeSchedule(row->fields(), static_cast<int32_t>(order),
                             static_cast<int32_t>(provider));
  for (const ScheduleField &field : schedule)
    if (::disco::Status status = planning::set(
            legal, row->fields(), static_cast<int32_t>(field.id), field.value);
        !status)
      return emitError() << status.message();
  // C3
  if (!target.empty())
    if (auto known = planning::lookupTarget(std::string_view(target)); !known)
      return emitError() << known.message();
  if (batch < 0)
    return emitError() << "expected batch to be positive, but got " << batch;
  return success();
}

PlanAttr PlanAttr::get(MLIRContext *context, const planning::Family &family,
                       const planning::Problem &problem,
                       const planning::Schedule &schedule, StringRef target) {
  SmallVector<ScheduleField> fields;
  for (int32_t i = 0; i < schedule.num_fields; ++i)
    fields.push_back({schedule.fields[i].id, schedule.fields[i].value});
  return get(
      context, StringRef(family.name), static_cast<Provider>(schedule.provider),
      static_cast<Order>(schedule.order),
      static_cast<Layout>(problem.in_layout),
      static_cast<Layout>(problem.out_layout),
      static_cast<Layout>(schedule.in_layout),
      static_cast<Layout>(schedule.out_layout), ArrayRef<ScheduleField>(fields),
      target, problem.batch_assumed ? problem.batch : 0,
      planning::hashOf(problem));
}

const planning::Family &PlanAttr::getKernelFamily() const {
  return *planning::findFamily(std::string_view(getFamily()));
}

bool PlanAttr::isComplete() const {
  return static_cast<int64_t>(getSchedule().size()) ==
         getKernelFamily().fields().size;
}

planning::Schedule PlanAttr::toSchedule() const {
  const planning::FieldTable &table = getKernelFamily().fields();
  planning::Schedule schedule =
      planning::makeSchedule(table, static_cast<int32_t>(getOrder()),
                             static_cast<int32_t>(getProvider()));
  schedule.in_layout = static_cast<int32_t>(getKernelInLayout());
  schedule.out_layout = static_cast<int32_t>(getKernelOutLayout());
  // The attribute's verifier has checked the values.
  for (const ScheduleField &field : getSchedule())
    (void)planning::set(schedule, table, static_cast<int32_t>(field.id),
                        field.value);
  return schedule;
}

std::string PlanAttr::getFieldsText() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(
      getSchedule(), os,
      [&](const ScheduleField &field) {
        os << getKernelFamily().fields().fields[field.id].name << '='
           << field.value;
      },
      ",");
  return text;
}

PlanAttr PlanAttr::withLayout(Layout in, Layout out) const {
  return get(getContext(), getFamily(), getProvider(), getOrder(), in, out,
             getKernelInLayout(), getKernelOutLayout(), getSchedule(),
             getTarget(), getBatch(), getProblem());
}

PlanAttr PlanAttr::withProblem(uint64_t problem) const {
  return get(getContext(), getFamily(), getProvider(), getOrder(),
             getInLayout(), getOutLayout(), getKernelInLayout(),
             getKernelOutLayout(), getSchedule(), getTarget(), getBatch(),
             problem);
}

SmallVector<int64_t> mlir::disco::getPhysicalShape(Layout layout, int64_t batch,
                                                   int64_t channels,
                                                   ArrayRef<int64_t> points) {
  SmallVector<int64_t> shape{batch};
  if (layout == Layout::nchw)
    shape.push_back(channels);
  if (layout == Layout::c8)
    shape.push_back(llvm::divideCeil(channels, 8));
  llvm::append_range(shape, points);
  if (layout == Layout::nhwc)
    shape.push_back(channels);
  if (layout == Layout::c8)
    shape.push_back(8);
  return shape;
}
