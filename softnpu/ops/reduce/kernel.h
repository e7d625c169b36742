#pragma once
// What a reduction does with its values: a state for each result, fed with tiles of values, merged, and finished.

#include <cstddef>
#include <cstdint>

#include "ops/dtype.h"

namespace softnpu {

// k: the constants of a reduction.
enum class ReduceOp : uint8_t {
  kSum,     // divided by k0 in floating point
  kNansum,  // NaN counts as 0
  kProd,
  kCount,  // of values that are not 0
  kAbsSum,
  kSquareRoot,  // of the sum of squares
  kPower,       // (sum of |x|^k0)^(1/k0)
  kAbsMax,
  kAbsMin,
  kAny,  // of bool
  kAll,
  kMax,  // NaN where one is NaN
  kMin,
  kMinMax,  // both
  kArgMax,  // the first greatest value, and its index
  kArgMin,
  kMoments,  // the variance with correction k0 (its root where k1 is not 0), and the mean
  kLogSumExp,
};

constexpr size_t kMostReduceConstants = 2;

// `lines` results of `count` values each. By rows: a result's values lie one behind the other, and lines `line` bytes
// apart. By columns: values of one position lie one behind the other, and positions `line` bytes apart. `index`: the
// first position's number.
using ReduceTile = void (*)(void* states, const void* values, ptrdiff_t line, size_t lines, size_t count, int64_t index,
                            const double* k);

struct ReduceKernel {
  size_t state_bytes = 0;
  size_t most_columns = 0;  // that one call should take
  void (*start)(void* states, size_t count) = nullptr;
  ReduceTile rows = nullptr;
  ReduceTile columns = nullptr;
  // Adds what came after.
  void (*merge)(void* states, const void* others, size_t count) = nullptr;
  // Results in their compute types, one behind the other; null for one that is not wanted.
  void (*finish)(const void* states, size_t count, const double* k, void* first, void* second) = nullptr;
};

constexpr size_t kMostStateBytes = 40;

// The kernel for values of type `compute_type`; without functions where it is not defined for them.
ReduceKernel reduce_kernel(ReduceOp op, ComputeType compute_type);

// The parts of the above, one file each.
ReduceKernel sum_kernel(ReduceOp op, ComputeType compute_type);
ReduceKernel extreme_kernel(ReduceOp op, ComputeType compute_type);
ReduceKernel moment_kernel(ReduceOp op, ComputeType compute_type);

}  // namespace softnpu
