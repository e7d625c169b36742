#pragma once
// Running results along one dimension: each line has a state; its value after each element is the result.

#include <cstddef>
#include <cstdint>

#include "ops/dtype.h"
#include "ops/reduce/operators.h"

namespace softnpu {

// Processes `count` values and replaces them by the results; `indices`, if not null, receives theirs. Rows: values of
// one line with one state. Columns: one value of each of `count` lines.
using ScanStep = void (*)(void* states, void* values, int64_t* indices, size_t count, int64_t index);

struct ScanKernel {
  size_t state_bytes = 0;
  void (*start)(void* states, size_t count) = nullptr;
  ScanStep rows = nullptr;
  ScanStep columns = nullptr;
};

constexpr size_t kMostScanStateBytes = 16;

ScanKernel scan_kernel(ScanOp op, ComputeType compute_type);

}  // namespace softnpu
