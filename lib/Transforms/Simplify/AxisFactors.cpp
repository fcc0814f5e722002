//===- AxisFactors.cpp - axes followed through reshapes -------------------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AxisFactors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::disco;

FactorList mlir::disco::wholeAxis(int64_t axis, int64_t size) {
  return size == 1 ? FactorList{} : FactorList{{axis, size, 1}};
}

AxisLayout mlir::disco::identityLayout(RankedTensorType type) {
  AxisLayout layout;
  for (auto [axis, size] : llvm::enumerate(type.getShape()))
    layout.push_back(wholeAxis(axis, size));
  return layout;
}

int64_t mlir::disco::sizeOf(const FactorList &factors) {
  int64_t size = 1;
  for (const AxisFactor &factor : factors) {
    if (ShapedType::isDynamic(factor.size))
      return ShapedType::kDynamic;
    size *= factor.size;
  }
  return size;
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

namespace {
/// How a linalg op of one input and one output moves its elements: result
/// dimension i is source dimension `sourceDims[i]`, or none (-1).
struct Movement {
  SmallVector<int64_t> sourceDims;
  ViewKind cast = ViewKind::None;
};
} // namespace

/// `op` as a movement: parallel loops whose body yields the input, perhaps
/// extended or truncated.
static std::optional<Movement> matchMovement(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || !linalgOp.hasPureTensorSemantics() ||
      linalgOp.getNumDpsInputs() != 1 || linalgOp.getNumDpsInits() != 1 ||
      linalgOp.getNumParallelLoops() != linalgOp.getNumLoops() ||
      !isa<RankedTensorType>(linalgOp.getDpsInputs()[0].getType()))
    return std::nullopt;
  AffineMap in = linalgOp.getIndexingMapsArray()[0];
  AffineMap out = linalgOp.getIndexingMapsArray()[1];
  if (!in.isProjectedPermutation() || !out.isPermutation())
    return std::nullopt;
  Movement movement;
  Block *body = linalgOp.getBlock();
  Value yielded = body->getTerminator()->getOperand(0);
  if (auto ext = yielded.getDefiningOp<arith::ExtFOp>()) {
    movement.cast = ViewKind::Extend;
    yielded = ext.getIn();
  } else if (auto trunc = yielded.getDefiningOp<arith::TruncFOp>()) {
    movement.cast = ViewKind::Truncate;
    yielded = trunc.getIn();
  }
  if (yielded != body->getArgument(0))
    return std::nullopt;
  for (AffineExpr loop : out.getResults()) {
    std::optional<unsigned> dim = in.getResultPosition(loop);
    movement.sourceDims.push_back(dim ? static_cast<int64_t>(*dim) : -1);
  }
  return movement;
}

ViewKind mlir::disco::getViewKind(Operation *op) {
  if (isa<tensor::ExpandShapeOp>(op))
    return ViewKind::Expand;
  if (isa<tensor::CollapseShapeOp>(op))
    return ViewKind::Collapse;
  if (isa<arith::ExtFOp, arith::TruncFOp>(op)) {
    if (!isa<RankedTensorType>(op->getResult(0).getType()))
      return ViewKind::None;
    return isa<arith::ExtFOp>(op) ? ViewKind::Extend : ViewKind::Truncate;
  }
  std::optional<Movement> movement = matchMovement(op);
  if (!movement)
    return ViewKind::None;
  if (movement->cast != ViewKind::None)
    return llvm::equal(movement->sourceDims,
                       llvm::seq<int64_t>(movement->sourceDims.size()))
               ? movement->cast
               : ViewKind::None;
  return llvm::is_contained(movement->sourceDims, -1) ? ViewKind::Broadcast
                                                      : ViewKind::Transpose;
}

Value mlir::disco::getViewSource(Operation *op) { return op->getOperand(0); }

static SmallVector<ReassociationIndices> getReassociation(Operation *op) {
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return expand.getReassociationIndices();
  return cast<tensor::CollapseShapeOp>(op).getReassociationIndices();
}

/// Takes factors from the minor end of `factors` until they make `size`.
static bool takeMinor(FactorList &factors, int64_t size, FactorList &taken) {
  while (size != 1) {
    if (factors.empty() || size == 0)
      return false;
    AxisFactor &last = factors.back();
    if (ShapedType::isDynamic(last.size) || last.size == 0)
      return false;
    if (size % last.size == 0) {
      size /= last.size;
      taken.insert(taken.begin(), factors.pop_back_val());
    } else if (last.size % size == 0) {
      taken.insert(taken.begin(), {last.axis, size, last.stride});
      last.size /= size;
      last.stride *= size;
      size = 1;
    } else {
      return false;
    }
  }
  return true;
}

/// Takes whole factors from the major end of `factors` until they make `size`.
static bool takeMajor(FactorList &factors, int64_t size, FactorList &taken) {
  while (size != 1) {
    if (factors.empty() || size == 0)
      return false;
    AxisFactor &first = factors.front();
    if (ShapedType::isDynamic(first.size) || first.size == 0)
      return false;
    if (size % first.size == 0) {
      size /= first.size;
      taken.push_back(first);
      factors.erase(factors.begin());
    } else if (first.size % size == 0) {
      int64_t rest = first.size / size;
      taken.push_back({first.axis, size, first.stride * rest});
      first.size = rest;
      size = 1;
    } else {
      return false;
    }
  }
  return true;
}

/// One dimension split into dimensions of `sizes`.
static std::optional<AxisLayout> split(FactorList factors,
                                       ArrayRef<int64_t> sizes) {
  AxisLayout parts(sizes.size());
  size_t end = sizes.size(), begin = 0;
  while (end > 0 && !ShapedType::isDynamic(sizes[end - 1])) {
    --end;
    if (!takeMinor(factors, sizes[end], parts[end]))
      return std::nullopt;
  }
  while (begin < end && !ShapedType::isDynamic(sizes[begin])) {
    if (!takeMajor(factors, sizes[begin], parts[begin]))
      return std::nullopt;
    ++begin;
  }
  // What is left is the one dynamic dimension.
  if (end - begin > 1 || (end == begin && !factors.empty()))
    return std::nullopt;
  if (end - begin == 1)
    parts[begin] = factors;
  return parts;
}

static AxisLayout mergeGroups(ArrayRef<ReassociationIndices> groups,
                              const AxisLayout &layout) {
  AxisLayout merged;
  for (const ReassociationIndices &group : groups) {
    FactorList &factors = merged.emplace_back();
    for (int64_t dim : group)
      llvm::append_range(factors, layout[dim]);
  }
  return merged;
}

static std::optional<AxisLayout>
splitGroups(ArrayRef<ReassociationIndices> groups, const AxisLayout &layout,
            RankedTensorType type) {
  AxisLayout result(type.getRank());
  for (auto [group, factors] : llvm::zip_equal(groups, layout)) {
    SmallVector<int64_t> sizes;
    for (int64_t dim : group)
      sizes.push_back(type.getDimSize(dim));
    std::optional<AxisLayout> parts = split(factors, sizes);
    if (!parts)
      return std::nullopt;
    for (auto [dim, part] : llvm::zip_equal(group, *parts))
      result[dim] = part;
  }
  return result;
}

std::optional<AxisLayout> mlir::disco::followForward(Operation *view,
                                                     const AxisLayout &source) {
  switch (getViewKind(view)) {
  case ViewKind::Extend:
  case ViewKind::Truncate:
    return source;
  case ViewKind::Collapse:
    return mergeGroups(getReassociation(view), source);
  case ViewKind::Expand:
    return splitGroups(getReassociation(view), source,
                       cast<RankedTensorType>(view->getResult(0).getType()));
  case ViewKind::Transpose: {
    AxisLayout layout;
    Movement movement = *matchMovement(view);
    for (int64_t dim : movement.sourceDims)
      layout.push_back(source[dim]);
    return layout;
  }
  case ViewKind::Broadcast:
  case ViewKind::None:
    return std::nullopt;
  }
  llvm_unreachable("unknown view kind");
}

std::optional<AxisLayout>
mlir::disco::followBackward(Operation *view, const AxisLayout &result) {
  switch (getViewKind(view)) {
  case ViewKind::Extend:
  case ViewKind::Truncate:
    return result;
  case ViewKind::Expand:
    return mergeGroups(getReassociation(view), result);
  case ViewKind::Collapse:
    return splitGroups(getReassociation(view), result,
                       cast<RankedTensorType>(getViewSource(view).getType()));
  case ViewKind::Transpose:
  case ViewKind::Broadcast: {
    auto source = cast<RankedTensorType>(getViewSource(view).getType());
    AxisLayout layout(source.getRank());
    Movement movement = *matchMovement(view);
    for (auto [dim, sourceDim] : llvm::enumerate(movement.sourceDims))
      if (sourceDim >= 0)
        layout[sourceDim] = result[dim];
    return layout;
  }
  case ViewKind::None:
    return std::nullopt;
  }
  llvm_unreachable("unknown view kind");
}

LaidOutValue mlir::disco::followToSource(LaidOutValue value, Type element) {
  while (Operation *op = value.value.getDefiningOp()) {
    ViewKind kind = getViewKind(op);
    if (kind == ViewKind::None || kind == ViewKind::Truncate)
      break;
    Type source =
        cast<RankedTensorType>(getViewSource(op).getType()).getElementType();
    if (kind == ViewKind::Extend && source != element && !source.isF32())
      break;
    std::optional<AxisLayout> layout = followBackward(op, value.layout);
    if (!layout)
      break;
    value = {getViewSource(op), *layout};
  }
  return value;
}

//===----------------------------------------------------------------------===//
// Rearranging
//===----------------------------------------------------------------------===//

void mlir::disco::refine(AxisLayout &layout, const AxisLayout &finer) {
  for (FactorList &factors : layout) {
    FactorList refined;
    for (const AxisFactor &factor : factors) {
      FactorList inside;
      for (const FactorList &list : finer)
        for (const AxisFactor &part : list)
          if (part.axis == factor.axis &&
              (part == factor || (!ShapedType::isDynamic(factor.size) &&
                                  part.stride >= factor.stride &&
                                  part.stride < factor.stride * factor.size)))
            inside.push_back(part);
      llvm::sort(inside, [](const AxisFactor &a, const AxisFactor &b) {
        return a.stride > b.stride;
      });
      if (sizeOf(inside) == factor.size)
        llvm::append_range(refined, inside);
      else
        refined.push_back(factor);
    }
    factors = refined;
  }
}

static SmallVector<int64_t> shapeOf(const AxisLayout &layout) {
  return llvm::map_to_vector(layout, sizeOf);
}

/// Groups of the dimensions of `layout`, one for each non-unit dimension; a
/// unit dimension joins the group before it (the first ones that behind).
static SmallVector<ReassociationIndices> groupUnits(const AxisLayout &layout) {
  SmallVector<ReassociationIndices> groups;
  bool isOpen = false;
  for (auto [dim, factors] : llvm::enumerate(layout)) {
    if (groups.empty() || (!factors.empty() && !isOpen))
      groups.emplace_back();
    groups.back().push_back(dim);
    isOpen = factors.empty() && groups.size() == 1 &&
             llvm::all_of(groups.back(),
                          [&](int64_t d) { return layout[d].empty(); });
  }
  return groups;
}

static AxisLayout dropUnits(AxisLayout layout) {
  llvm::erase_if(layout, [](const FactorList &list) { return list.empty(); });
  return layout;
}

static bool hasUnits(const AxisLayout &layout) {
  return llvm::any_of(layout,
                      [](const FactorList &list) { return list.empty(); });
}

Value mlir::disco::rearrange(OpBuilder &builder, Location loc, Value value,
                             AxisLayout from, AxisLayout to) {
  refine(from, to);
  refine(to, from);
  if (from == to)
    return value;
  Type element = cast<RankedTensorType>(value.getType()).getElementType();
  auto typeOf = [&](const AxisLayout &layout) {
    return RankedTensorType::get(shapeOf(layout), element);
  };
  // Each factor a dimension of its own, in the order of the source.
  AxisLayout flat, wanted;
  SmallVector<ReassociationIndices> split, merge;
  for (auto [layout, factors, groups] :
       {std::tuple(&from, &flat, &split), {&to, &wanted, &merge}})
    for (const FactorList &list : dropUnits(*layout)) {
      ReassociationIndices &group = groups->emplace_back();
      for (const AxisFactor &factor : list) {
        group.push_back(factors->size());
        factors->push_back({factor});
      }
    }
  if (hasUnits(from)) {
    auto groups = dropUnits(from).empty() ? SmallVector<ReassociationIndices>{}
                                          : groupUnits(from);
    value = tensor::CollapseShapeOp::create(
        builder, loc, typeOf(dropUnits(from)), value, groups);
  }
  if (flat.size() != split.size())
    value =
        tensor::ExpandShapeOp::create(builder, loc, typeOf(flat), value, split);
  SmallVector<int64_t> permutation;
  for (const FactorList &list : wanted)
    permutation.push_back(llvm::find(flat, list) - flat.begin());
  if (!llvm::is_sorted(permutation)) {
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(builder, loc, value);
    Value empty = tensor::EmptyOp::create(
        builder, loc,
        llvm::map_to_vector(permutation,
                            [&](int64_t dim) { return sizes[dim]; }),
        element);
    value = linalg::TransposeOp::create(builder, loc, value, empty, permutation)
                ->getResult(0);
  }
  if (wanted.size() != merge.size())
    value = tensor::CollapseShapeOp::create(builder, loc, typeOf(dropUnits(to)),
                                            value, merge);
  if (hasUnits(to)) {
    auto groups = dropUnits(to).empty() ? SmallVector<ReassociationIndices>{}
                                        : groupUnits(to);
    value =
        tensor::ExpandShapeOp::create(builder, loc, typeOf(to), value, groups);
  }
  return value;
}
