//===- Filter.h - psi on a device -------------------------------*- C++ -*-===//
//
// Part of the Disco project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DISCO_LIB_RUNTIME_CUDA_CSRGATHER_FILTER_H
#define DISCO_LIB_RUNTIME_CUDA_CSRGATHER_FILTER_H

#include "../Core/Kernels.h"
#include "Choices.h"
#include "Lattice.h"

#include <functional>

namespace disco::cuda::csr {

/// contract: y[f, k] = psi_k x[f]. contract_sum: y[f] = sum of psi_k x[f, k].
enum class FilterOp { contract, contractSum };

/// What make() needs to know.
struct FilterOptions {
  int32_t dtype = DISCO_F32;
  FilterOp op = FilterOp::contract;
  Choices choices;
  int64_t minFields = 1; ///< of any launch
  int64_t fields = 0;    ///< of most launches; 0: minFields
  /// contract on a sphere can be launched for so many latitudes (on a point
  /// set, points) at a time; 0: for all at once.
  int64_t blockLatitudes = 0;
};

/// One of the two operations with one psi, ready to be launched on any number
/// of fields. The kernels and their tables depend on how many those are at
/// least: one for 8 fields at a time is not made for fewer.
class Filter {
public:
  /// psi's tables have been checked.
  static disco_status make(const Device &device, const disco_kernel_psi &psi,
                           const FilterOptions &options, Filter &filter);

  int32_t numBlocks() const {
    return static_cast<int32_t>(blockPoints.size()) - 1;
  }
  /// The out-points of a block are [firstPoint(block), firstPoint(block + 1)).
  int64_t firstPoint(int32_t block) const { return blockPoints[block]; }
  int64_t maxBlockPoints() const;

  /// Launches a block. fields.y is where the block's first out-point goes. The
  /// epilogue is for contract_sum.
  disco_status launch(const Fields &fields, int32_t block, cudaStream_t stream,
                      const Epilogue &epilogue = {nullptr, nullptr, 0, 0,
                                                  1}) const;

private:
  struct Variant {
    int32_t fields = 0; ///< of a block of threads
    Kernel kernel;
  };

  disco_status make(const Device &device, const disco_kernel_psi &psi);
  disco_status makeContract(const Device &device, const disco_kernel_psi &psi,
                            const Lattice &lattice);
  disco_status makeContractSum(const Device &device,
                               const disco_kernel_psi &psi,
                               const Lattice &lattice);
  disco_status makePoints(const Device &device, const disco_kernel_psi &psi);
  disco_status addVariants(const Device &device, const Blob &blob,
                           const std::vector<int32_t> &widths,
                           const std::string &stem, const std::string &end,
                           const std::function<int64_t(int32_t)> &smem);
  /// Bytes of contract_sum's shared memory for a window and its values, and for
  /// all of a warp.
  struct SumBuffer {
    int64_t bytes, warp;
  };
  SumBuffer sumBuffer(int32_t fields) const;
  disco_status uploadSphere(const Device &device, const std::vector<Int4> &rows,
                            const std::vector<Int4> &stages,
                            const std::vector<Int4> &windows,
                            const std::vector<char> &values);
  disco_status checkKernels(const Device &device) const;
  disco_status checkKernel(const Device &device, const Variant &variant) const;
  disco_status checkKernel(const Device &device, const Variant &variant,
                           int64_t points) const;
  disco_status launch(const Variant &variant, const Fields &fields,
                      int32_t block, cudaStream_t stream,
                      const Epilogue &epilogue) const;
  disco_status launchContract(const Variant &variant, const Fields &fields,
                              int32_t block, cudaStream_t stream) const;
  disco_status launchContractSum(const Variant &variant, const Fields &fields,
                                 cudaStream_t stream,
                                 const Epilogue &epilogue) const;
  disco_status launchPoints(const Variant &variant, const Fields &fields,
                            int32_t block, cudaStream_t stream,
                            const Epilogue &epilogue) const;
  SumType sumType() const {
    return options.dtype == DISCO_F64 ? SumType::f64 : SumType::f32;
  }
  bool sums() const { return options.op == FilterOp::contractSum; }

  FilterOptions options;
  bool isSphere = false;
  int32_t kTile = 0;
  std::vector<Variant> variants; ///< widest first; the last does any number
  std::vector<int64_t> blockPoints;
  std::vector<int32_t> blockRows;
  /// Without fields and pointers to them.
  ContractParams contract = {};
  ContractSumParams contractSum = {};
  PointParams points = {};
  int64_t maxTaps = 0;
  int32_t sumValueBytes = 0;
  DeviceMemory rows, stages, windows, parts, partValues, rowPlaces, offsets,
      columns, values;
};

/// The smallest psi that a kernel can go wrong on; for the canary.
struct CanaryPsi {
  disco_kernel_psi psi = {};
  std::vector<int32_t> offsets, indices;
  std::vector<double> values;
  std::vector<double> rowSums; ///< [nlatOut or nOut, K] of values
};
CanaryPsi makeCanaryPsi(bool isSphere, int64_t numBasis, int64_t points);

} // namespace disco::cuda::csr

#endif // DISCO_LIB_RUNTIME_CUDA_CSRGATHER_FILTER_H
