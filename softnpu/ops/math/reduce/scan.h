#pragma once
// Running results along one dimension: each line has a state; its value after each element is the result.

#include <cstddef>
#include <cstdint>

#include "ops/core/dtype.h"
#include "ops/math/reduce/operators.h"

namespace softnpu {

// Processes `count` values and replaces them by the results; `indices`, if not null, receives theirs. Rows: values of
// one line with one state. Columns: one value of each of `count` lines.
using ScanStep = void (*)(void* states, void* values, int64_t* indices, size_t count, int64_t index);

// Lines whose states are independent of each other: a step of one need not wait for another's.
constexpr size_t kScanLines = 4;
// Processes `count` contiguous values of each of kScanLines lines; `out` may be `in`.
using ScanLines = void (*)(void* states, const void* const* in, void* const* out, size_t count);
// Adds `count` contiguous values to the state.
using ScanTotal = void (*)(void* state, const void* values, size_t count);

struct ScanKernel {
  size_t state_bytes = 0;
  void (*start)(void* states, size_t count) = nullptr;
  ScanStep rows = nullptr;
  ScanStep columns = nullptr;
  ScanLines lines = nullptr;  // null: the operator has none
  // Null: the results would depend on the order of the sums by more than their own rounding.
  ScanTotal total = nullptr;
};

constexpr size_t kMaxScanStateBytes = 16;

ScanKernel scan_kernel(ScanOp op, ComputeType compute_type);

}  // namespace softnpu
