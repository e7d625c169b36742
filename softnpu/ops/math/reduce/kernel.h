#pragma once
// The kernel of a reduction: a state per result, which is updated with tiles of values, merged, and finished.

#include <cstddef>
#include <cstdint>

#include "ops/core/dtype.h"

namespace softnpu {

// k: the constants of a reduction.
enum class ReduceOp : uint8_t {
  kSum,     // divided by k0 in floating point
  kNansum,  // NaN counts as 0
  kProd,
  kCount,  // of values that are not 0
  kAbsSum,
  kSquareRoot,  // root of the sum of squares
  kPower,       // (sum of |x|^k0)^(1/k0)
  kAbsMax,
  kAbsMin,
  kAny,  // of bool
  kAll,
  kMax,  // NaN if any is NaN
  kMin,
  kMinMax,  // both
  kArgMax,  // the first maximum and its index
  kArgMin,
  kMoments,  // variance with correction k0 (its root if k1 != 0), and mean
  kLogSumExp,
};

constexpr size_t kMaxReduceConstants = 2;

// Updates `lines` results with `count` values each. Rows: a result's values are contiguous, and lines are `line` bytes
// apart. Columns: the values of one position are contiguous, and positions are `line` bytes apart. `index`: the index
// of the first position.
using ReduceTile = void (*)(void* states, const void* values, ptrdiff_t line, size_t lines, size_t count, int64_t index,
                            const double* k);

struct ReduceKernel {
  size_t state_bytes = 0;
  size_t most_columns = 0;  // the recommended limit per call
  void (*start)(void* states, size_t count) = nullptr;
  ReduceTile rows = nullptr;
  ReduceTile columns = nullptr;
  // Merges states of later values into `states`.
  void (*merge)(void* states, const void* others, size_t count) = nullptr;
  // Writes results contiguously in their compute types; `first` or `second` is null if it is not needed.
  void (*finish)(const void* states, size_t count, const double* k, void* first, void* second) = nullptr;
};

constexpr size_t kMaxStateBytes = 40;

// The kernel for values of `compute_type`; without functions if it is not defined for them.
ReduceKernel reduce_kernel(ReduceOp op, ComputeType compute_type);

// The parts of reduce_kernel(), one file each.
ReduceKernel sum_kernel(ReduceOp op, ComputeType compute_type);
ReduceKernel extreme_kernel(ReduceOp op, ComputeType compute_type);
ReduceKernel moment_kernel(ReduceOp op, ComputeType compute_type);

}  // namespace softnpu
