//===- SphereTables.cpp - spheres as arcs ---------------------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tables.h"

#include <limits>

using namespace mlir;
using namespace mlir::disco;
namespace filter = ::disco::filter;

StoredPsi mlir::disco::storeSphere(const filter::SphereOperator &op) {
  std::vector<int64_t> offsets(op.rowOffsets.begin(), op.rowOffsets.end());
  std::vector<int64_t> arcs;
  arcs.reserve(op.arcs.size() * 4);
  for (const filter::Arc &arc : op.arcs)
    arcs.insert(arcs.end(),
                {arc.lat, arc.lonStart, arc.length, arc.valueOffset});
  std::vector<double> values = op.values;
  if (arcs.empty())
    arcs.assign(4, 0);
  if (values.empty())
    values.assign(op.numBasis, 0.0);
  int64_t numRows = op.numRows(), numArcs = arcs.size() / 4,
          numTaps = values.size() / op.numBasis;
  StoredPsi stored;
  stored.form = StorageForm::arcs;
  stored.tensors.push_back(
      {HostTensor::ofIndices({numRows + 1}, std::move(offsets)), Value()});
  stored.tensors.push_back(
      {HostTensor::ofIndices({numArcs, 4}, std::move(arcs)), Value()});
  stored.tensors.push_back(
      {HostTensor::ofValues({numTaps, op.numBasis}, std::move(values)),
       Value()});
  return stored;
}

/// Names of the tables, as the op's rules call them.
static ArrayRef<StringRef> getTableNames(TableFormat format) {
  static const StringRef harmonics[] = {"offsets", "basis index", "row",
                                        "column", "values"};
  static const StringRef packed[] = {"index", "values", "count"};
  switch (format) {
  case TableFormat::harmonics_csr:
    return harmonics;
  case TableFormat::coo:
    return ArrayRef(harmonics).drop_front();
  default:
    return packed;
  }
}

/// Checks that `value`, element `index` of a table, is in [0, bound).
static LogicalResult checkRange(AssembleOp op, StringRef name, size_t index,
                                int64_t value, int64_t bound) {
  if (value >= 0 && value < bound)
    return success();
  return op.emitOpError() << "expected " << name << " " << index
                          << " to be in [0, " << bound << "), but got "
                          << value;
}

/// The entries of K-packed tables.
static FailureOr<filter::PsiCoo> readPacked(AssembleOp op,
                                            ArrayRef<HostTensor> tables,
                                            const filter::PsiShape &shape) {
  const HostTensor &index = tables[0], &values = tables[1], &count = tables[2];
  int64_t width = index.shape[1], padded = values.shape[2];
  if (padded < shape.numBasis)
    return op.emitOpError()
           << "expected values to have at least " << shape.numBasis
           << " features, but got " << padded;
  filter::PsiCoo psi;
  psi.numBasis = shape.numBasis;
  for (int64_t t = 0; t < shape.nlatOut; ++t) {
    if (failed(checkRange(op, "count", t, count.indices[t], width + 1)))
      return failure();
    for (int64_t j = 0; j < count.indices[t]; ++j) {
      int64_t at = t * width + j;
      int64_t lat = index.indices[2 * at], lon = index.indices[2 * at + 1];
      if (failed(checkRange(op, "latitude", at, lat, shape.nlatIn)) ||
          failed(checkRange(op, "longitude", at, lon, shape.nlonIn)))
        return failure();
      for (int64_t k = 0; k < shape.numBasis; ++k) {
        psi.k.push_back(k);
        psi.row.push_back(t);
        psi.col.push_back(lat * shape.nlonIn + lon);
        psi.values.push_back(values.values[at * padded + k]);
      }
    }
  }
  return psi;
}

/// The entries of COO tables, or those of the CSR tables behind their offsets.
static FailureOr<filter::PsiCoo> readEntries(AssembleOp op,
                                             ArrayRef<HostTensor> tables,
                                             const filter::PsiShape &shape) {
  const int64_t bounds[] = {shape.numBasis, shape.nlatOut,
                            shape.nlatIn * shape.nlonIn};
  ArrayRef<StringRef> names = getTableNames(TableFormat::coo);
  for (unsigned i = 0; i < 3; ++i)
    for (auto [at, value] : llvm::enumerate(tables[i].indices))
      if (failed(checkRange(op, names[i], at, value, bounds[i])))
        return failure();
  filter::PsiCoo psi;
  psi.numBasis = shape.numBasis;
  psi.k.assign(tables[0].indices.begin(), tables[0].indices.end());
  psi.row.assign(tables[1].indices.begin(), tables[1].indices.end());
  psi.col = tables[2].indices;
  psi.values = tables[3].values;
  return psi;
}

static FailureOr<filter::PsiCoo> readSphere(AssembleOp op,
                                            ArrayRef<HostTensor> tables,
                                            const filter::PsiShape &shape) {
  switch (op.getFormat()) {
  case TableFormat::harmonics_csr: {
    if (failed(readEntries(op, tables.drop_front(), shape)))
      return failure();
    filter::PsiCsr csr{tables[0].indices, tables[1].indices, tables[2].indices,
                       tables[3].indices, tables[4].values};
    ::disco::Result<filter::PsiCoo> psi = filter::cooFromCsr(csr, shape);
    if (!psi)
      return op.emitOpError() << psi.message();
    return std::move(*psi);
  }
  case TableFormat::coo:
    return readEntries(op, tables, shape);
  default:
    return readPacked(op, tables, shape);
  }
}

FailureOr<filter::SphereOperator> mlir::disco::assembleSphere(AssembleOp op) {
  SmallVector<HostTensor> tables;
  ArrayRef<StringRef> names = getTableNames(op.getFormat());
  for (auto [name, table] : llvm::zip_equal(names, op.getTables())) {
    std::optional<HostTensor> constant = readConstant(table);
    if (!constant)
      return op.emitOpError() << "expected the tables of a sphere psi to be "
                                 "constants, but got "
                              << name << " that is not one";
    tables.push_back(std::move(*constant));
  }
  PsiType type = op.getType();
  filter::PsiShape shape{type.getNumBasis(), type.getInShape()[0],
                         type.getInShape()[1], type.getOutShape()[0],
                         type.getOutShape()[1]};
  FailureOr<filter::PsiCoo> psi = readSphere(op, tables, shape);
  if (failed(psi))
    return failure();
  ::disco::Result<filter::SphereOperator> sphere =
      filter::operatorFromCoo(shape, *psi);
  if (!sphere)
    return op.emitOpError() << sphere.message();
  return std::move(*sphere);
}
