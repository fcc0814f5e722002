//===- DiscoAttrs.cpp - attributes ---------------------------------*- C++
//-*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "disco/Dialect/Disco/Disco.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::disco;

#define GET_ATTRDEF_CLASSES
#include "disco/Dialect/Disco/DiscoAttrs.cpp.inc"

void DiscoDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "disco/Dialect/Disco/DiscoAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Grids and filters: the text belongs to lib/Filter's grammar
//===----------------------------------------------------------------------===//

/// Parses the whole symbol, `sphere_filter<...>` or `grid<...>`, with
/// lib/Filter. MLIR's parser resumes behind the symbol whatever was consumed.
template <typename AttrT, typename ParseFn>
static Attribute parseText(DialectAsmParser &parser, ParseFn parseFn) {
  SMLoc loc = parser.getNameLoc();
  auto value = parseFn(std::string_view(parser.getFullSymbolSpec()));
  if (!value) {
    parser.emitError(loc) << value.message();
    return {};
  }
  return AttrT::getChecked([&] { return parser.emitError(loc); },
                           parser.getContext(), *value);
}

Attribute DiscoDialect::parseAttribute(DialectAsmParser &parser,
                                       Type type) const {
  StringRef symbol = parser.getFullSymbolSpec();
  if (symbol.starts_with("sphere_filter<"))
    return parseText<SphereFilterAttr>(parser,
                                       ::disco::filter::parseSphereFilter);
  if (symbol.starts_with("grid<"))
    return parseText<GridAttr>(parser, ::disco::filter::parseGrid);

  Attribute attr;
  StringRef mnemonic;
  OptionalParseResult result =
      generatedAttributeParser(parser, &mnemonic, type, attr);
  if (result.has_value())
    return attr;
  parser.emitError(parser.getNameLoc())
      << "unknown attribute '" << mnemonic << "' in dialect 'disco'";
  return {};
}

/// The text behind "#disco.", which MLIR prints itself.
static StringRef withoutDialect(StringRef text) {
  text.consume_front("#disco.");
  return text;
}

void DiscoDialect::printAttribute(Attribute attr,
                                  DialectAsmPrinter &printer) const {
  if (auto filter = dyn_cast<SphereFilterAttr>(attr)) {
    printer << withoutDialect(filter.getText());
    return;
  }
  if (auto grid = dyn_cast<GridAttr>(attr)) {
    printer << withoutDialect(toString(grid.getGrid()));
    return;
  }
  (void)generatedAttributePrinter(attr, printer);
}

static LogicalResult report(function_ref<InFlightDiagnostic()> emitError,
                            const ::disco::Status &status) {
  return status ? success() : LogicalResult(emitError() << status.message());
}

LogicalResult GridAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               ::disco::filter::Grid grid) {
  return report(emitError, ::disco::filter::verify(grid));
}

// Declared by tablegen, which takes parameters by value.
// NOLINTBEGIN(performance-unnecessary-value-param)
LogicalResult
SphereFilterAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                         ::disco::filter::SphereFilter filter) {
  return report(emitError, ::disco::filter::verify(filter));
}
// NOLINTEND(performance-unnecessary-value-param)

std::string SphereFilterAttr::getText() const { return toString(getFilter()); }

PsiType SphereFilterAttr::getPsiType() const {
  const ::disco::filter::SphereFilter &filter = getFilter();
  return PsiType::get(getContext(), Structure::sphere, /*degree=*/0,
                      filter.numBasis(), {filter.in.nlat, filter.in.nlon},
                      {filter.out.nlat, filter.out.nlon});
}

//===----------------------------------------------------------------------===//
// Storage
//===----------------------------------------------------------------------===//

// storage ::= `<` form `,` psi-type (`,` `adjoint`)? `>`
Attribute StorageAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  PsiType psi;
  if (parser.parseLess() || parser.parseKeyword(&keyword))
    return {};
  std::optional<StorageForm> form = symbolizeStorageForm(keyword);
  if (!form) {
    parser.emitError(loc) << "expected the storage form to be arcs, csr, table "
                             "or onehot, but got "
                          << keyword;
    return {};
  }
  bool adjoint = false;
  if (parser.parseComma() || parser.parseType(psi))
    return {};
  if (succeeded(parser.parseOptionalComma())) {
    if (parser.parseKeyword("adjoint"))
      return {};
    adjoint = true;
  }
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    *form, psi, adjoint);
}

void StorageAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyStorageForm(getForm()) << ", " << getPsi();
  if (getAdjoint())
    printer << ", adjoint";
  printer << '>';
}

LogicalResult StorageAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  StorageForm form, PsiType psi, bool) {
  // C1. A table may be stored as csr; nothing else changes its structure.
  auto isLegal = [&] {
    switch (form) {
    case StorageForm::arcs:
      return psi.getStructure() == Structure::sphere;
    case StorageForm::csr:
      return psi.getStructure() != Structure::sphere;
    case StorageForm::table:
    case StorageForm::onehot:
      return psi.getStructure() == Structure::table;
    }
    llvm_unreachable("unknown storage form");
  };
  if (!isLegal())
    return emitError() << "expected the storage form of a "
                       << stringifyStructure(psi.getStructure())
                       << " psi to be one that holds it, but got "
                       << stringifyStorageForm(form);
  return success();
}

PsiType StorageAttr::getStoredPsi() const {
  return getAdjoint() ? getPsi().getAdjoint() : getPsi();
}

int64_t StorageAttr::getStride() const {
  PsiType psi = getStoredPsi();
  return std::max<int64_t>(psi.getInShape().back() / psi.getOutShape().back(),
                           1);
}

int64_t StorageAttr::getPhases() const {
  PsiType psi = getStoredPsi();
  return std::max<int64_t>(psi.getOutShape().back() / psi.getInShape().back(),
                           1);
}

int64_t StorageAttr::getNumRows() const {
  PsiType psi = getStoredPsi();
  return getForm() == StorageForm::arcs
             ? psi.getOutShape().front() * getPhases()
             : psi.getNumOutputPoints();
}

int64_t StorageAttr::getNumColumns() const {
  return getStoredPsi().getNumInputPoints();
}

unsigned StorageAttr::getNumTensors() const {
  return getForm() == StorageForm::arcs || getForm() == StorageForm::csr ? 3
                                                                         : 2;
}
