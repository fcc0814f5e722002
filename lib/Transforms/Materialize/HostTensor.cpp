//===- HostTensor.cpp - constant tensors in and out of attributes ---------===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostTensor.h"

#include "disco/Dialect/Disco/Disco.h"
#include "disco/Dialect/Disco/Matchers.h"
#include "disco/Support/DType.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

#include <cstring>

using namespace mlir;
using namespace mlir::disco;

static std::optional<::disco::DType> getDType(Type type) {
  if (type.isF64())
    return ::disco::DType::f64;
  if (type.isF32())
    return ::disco::DType::f32;
  if (type.isF16())
    return ::disco::DType::f16;
  if (type.isBF16())
    return ::disco::DType::bf16;
  if (type.isInteger(32))
    return ::disco::DType::i32;
  if (type.isInteger(64))
    return ::disco::DType::i64;
  return std::nullopt;
}

static int64_t loadInteger(const char *data, ::disco::DType type,
                           int64_t index) {
  if (type == ::disco::DType::i32) {
    int32_t value;
    std::memcpy(&value, data + index * sizeof(value), sizeof(value));
    return value;
  }
  int64_t value;
  std::memcpy(&value, data + index * sizeof(value), sizeof(value));
  return value;
}

static std::optional<HostTensor> readResource(DenseResourceElementsAttr attr,
                                              ::disco::DType type) {
  AsmResourceBlob *blob = attr.getRawHandle().getBlob();
  int64_t count = attr.getNumElements();
  if (!blob ||
      blob->getData().size() != static_cast<size_t>(count) * sizeOf(type))
    return std::nullopt;
  HostTensor tensor;
  tensor.shape.assign(attr.getType().getShape());
  tensor.isFloat = isFloat(type);
  const char *data = blob->getData().data();
  for (int64_t i = 0; i < count; ++i) {
    if (tensor.isFloat)
      tensor.values.push_back(::disco::loadAsDouble(data, type, i));
    else
      tensor.indices.push_back(loadInteger(data, type, i));
  }
  return tensor;
}

std::optional<HostTensor> mlir::disco::readConstant(Value value) {
  Attribute attr = getConstant(value);
  auto elements = dyn_cast_or_null<ElementsAttr>(attr);
  std::optional<::disco::DType> type =
      elements ? getDType(elements.getElementType()) : std::nullopt;
  if (!type)
    return std::nullopt;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attr))
    return readResource(resource, *type);
  auto dense = dyn_cast<DenseElementsAttr>(attr);
  if (!dense)
    return std::nullopt;
  HostTensor tensor;
  tensor.shape.assign(dense.getType().getShape());
  tensor.isFloat = isFloat(*type);
  if (!tensor.isFloat) {
    for (const APInt &element : dense.getValues<APInt>())
      tensor.indices.push_back(element.getSExtValue());
    return tensor;
  }
  for (APFloat element : dense.getValues<APFloat>()) {
    bool losesInfo;
    element.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                    &losesInfo);
    tensor.values.push_back(element.convertToDouble());
  }
  return tensor;
}

/// The bytes of `tensor` in `type`.
static std::vector<char> encode(const HostTensor &tensor, ::disco::DType type) {
  size_t count = tensor.isFloat ? tensor.values.size() : tensor.indices.size();
  std::vector<char> bytes(count * sizeOf(type));
  for (size_t i = 0; i < count; ++i) {
    if (tensor.isFloat) {
      ::disco::storeFromDouble(bytes.data(), type, i, tensor.values[i]);
    } else if (type == ::disco::DType::i32) {
      auto value = static_cast<int32_t>(tensor.indices[i]);
      std::memcpy(bytes.data() + i * sizeof(value), &value, sizeof(value));
    } else {
      std::memcpy(bytes.data() + i * sizeof(int64_t), &tensor.indices[i],
                  sizeof(int64_t));
    }
  }
  return bytes;
}

/// What a linalg.generic that only converts elements reads, or null.
static Value getConverted(Value value) {
  auto generic = value.getDefiningOp<linalg::GenericOp>();
  if (!generic || generic.getNumDpsInputs() != 1 ||
      generic.getNumDpsInits() != 1 ||
      !llvm::all_of(generic.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isIdentity(); }))
    return {};
  Value element = generic.getBody()->getTerminator()->getOperand(0);
  while (Operation *op = element.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp>(op))
      return {};
    element = op->getOperand(0);
  }
  return element == generic.getBody()->getArgument(0)
             ? generic.getDpsInputs().front()
             : Value();
}

std::optional<std::vector<char>> mlir::disco::readConstantBytes(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  std::optional<::disco::DType> dtype =
      type ? getDType(type.getElementType()) : std::nullopt;
  if (!dtype)
    return std::nullopt;
  // Large ones are not read element by element.
  auto resource =
      dyn_cast_or_null<DenseResourceElementsAttr>(getConstant(value));
  if (resource) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    size_t size = resource.getNumElements() * sizeOf(*dtype);
    if (!blob || blob->getData().size() != size)
      return std::nullopt;
    return std::vector<char>(blob->getData().begin(), blob->getData().end());
  }
  Value source = getConverted(value);
  std::optional<HostTensor> tensor = readConstant(source ? source : value);
  if (!tensor)
    return std::nullopt;
  return encode(*tensor, *dtype);
}

TypedAttr mlir::disco::makeConstant(const HostTensor &tensor, Type element,
                                    uint64_t &bytes) {
  ::disco::DType type = *getDType(element);
  std::vector<char> data = encode(tensor, type);
  auto tensorType = RankedTensorType::get(tensor.shape, element);
  llvm::XXH128_hash_t hash = llvm::xxh3_128bits(ArrayRef<uint8_t>(
      reinterpret_cast<const uint8_t *>(data.data()), data.size()));
  std::string key = ("disco_" + llvm::StringRef(nameOf(type)) + "_" +
                     llvm::utohexstr(hash.high64, /*LowerCase=*/true, 16) +
                     llvm::utohexstr(hash.low64, /*LowerCase=*/true, 16))
                        .str();
  MLIRContext *context = element.getContext();
  auto &interface = DenseResourceElementsHandle::getManagerInterface(context);
  auto *entry = interface.getBlobManager().lookup(key);
  if (entry && entry->getBlob() &&
      entry->getBlob()->getData().size() == data.size() &&
      std::memcmp(entry->getBlob()->getData().data(), data.data(),
                  data.size()) == 0)
    return DenseResourceElementsAttr::get(
        tensorType, DenseResourceElementsHandle(
                        entry, context->getLoadedDialect<BuiltinDialect>()));
  bytes += data.size();
  return DenseResourceElementsAttr::get(
      tensorType, key,
      HeapAsmResourceBlob::allocateAndCopyWithAlign(
          ArrayRef<char>(data.data(), data.size()), /*align=*/64));
}
