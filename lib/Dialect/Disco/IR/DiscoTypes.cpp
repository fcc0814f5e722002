//===- DiscoTypes.cpp - types --------------------------------------*- C++
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
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace mlir::disco;

#define GET_TYPEDEF_CLASSES
#include "disco/Dialect/Disco/DiscoTypes.cpp.inc"

void DiscoDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "disco/Dialect/Disco/DiscoTypes.cpp.inc"
      >();
}

/// The number of points, or -1 when it is not below 2^31.
static int64_t countPoints(ArrayRef<int64_t> shape) {
  int64_t points = 1;
  for (int64_t size : shape) {
    if (llvm::MulOverflow(points, size, points) ||
        points > std::numeric_limits<int32_t>::max())
      return -1;
  }
  return points;
}

int64_t PsiType::getNumInputPoints() const { return countPoints(getInShape()); }
int64_t PsiType::getNumOutputPoints() const {
  return countPoints(getOutShape());
}

PsiType PsiType::getAdjoint() const {
  return get(getContext(), getStructure(), getDegree(), getNumBasis(),
             getOutShape(), getInShape());
}

std::string PsiType::formatShape(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(shape, os, "x");
  return text;
}

// psi ::= `<` structure (`<` degree `>`)? `,` K `,` dims `->` dims `>`
Type PsiType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  int64_t degree = 0, numBasis = 0;
  SmallVector<int64_t> inShape, outShape;
  if (parser.parseLess() || parser.parseKeyword(&keyword))
    return {};
  std::optional<Structure> structure = symbolizeStructure(keyword);
  if (!structure) {
    parser.emitError(loc) << "expected the structure of a psi to be sphere, "
                             "table or csr, but got "
                          << keyword;
    return {};
  }
  if (succeeded(parser.parseOptionalLess()) &&
      (parser.parseInteger(degree) || parser.parseGreater()))
    return {};
  if (parser.parseComma() || parser.parseInteger(numBasis) ||
      parser.parseComma() ||
      parser.parseDimensionList(inShape, /*allowDynamic=*/false,
                                /*withTrailingX=*/false) ||
      parser.parseArrow() ||
      parser.parseDimensionList(outShape, /*allowDynamic=*/false,
                                /*withTrailingX=*/false) ||
      parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    *structure, degree, numBasis, inShape, outShape);
}

void PsiType::print(AsmPrinter &printer) const {
  printer << '<' << stringifyStructure(getStructure());
  if (getStructure() == Structure::table)
    printer << '<' << getDegree() << '>';
  printer << ", " << getNumBasis() << ", " << formatShape(getInShape())
          << " -> " << formatShape(getOutShape()) << '>';
}

LogicalResult PsiType::verify(function_ref<InFlightDiagnostic()> emitError,
                              Structure structure, int64_t degree,
                              int64_t numBasis, ArrayRef<int64_t> inShape,
                              ArrayRef<int64_t> outShape) {
  // C1
  if (numBasis < 1)
    return emitError() << "expected the number of basis functions to be "
                          "positive, but got "
                       << numBasis;
  // C2
  size_t rank = structure == Structure::sphere ? 2 : 1;
  for (auto [name, shape] :
       {std::pair("input", inShape), {"output", outShape}}) {
    if (shape.size() != rank)
      return emitError() << "expected the " << name << " of a "
                         << stringifyStructure(structure) << " psi to have "
                         << rank << " dimensions, but got "
                         << formatShape(shape);
    if (llvm::any_of(shape, [](int64_t size) { return size < 1; }))
      return emitError() << "expected the " << name
                         << " dimensions of a psi to be positive, but got "
                         << formatShape(shape);
  }
  // C3
  if (structure == Structure::sphere && inShape[1] % outShape[1] != 0 &&
      outShape[1] % inShape[1] != 0)
    return emitError() << "expected one nlon of a sphere psi to divide the "
                          "other, but got "
                       << inShape[1] << " and " << outShape[1];
  // C4
  if (structure == Structure::table && degree < 1)
    return emitError()
           << "expected the degree of a table psi to be positive, but got "
           << degree;
  if (structure != Structure::table && degree != 0)
    return emitError() << "expected a " << stringifyStructure(structure)
                       << " psi to have no degree, but got " << degree;
  // C5
  for (auto [name, shape] : {std::pair("input", inShape), {"output", outShape}})
    if (countPoints(shape) < 0)
      return emitError() << "expected a psi to have fewer than 2147483648 "
                         << name << " points, but got " << formatShape(shape);
  return success();
}
