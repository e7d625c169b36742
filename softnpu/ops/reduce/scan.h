#pragma once
// Running results along one dimension: a state for each line, and its value after each element.

#include <cstddef>
#include <cstdint>

#include "ops/dtype.h"
#include "ops/reduce/operators.h"

namespace softnpu {

// Goes on by `count` values, which become the results; `indices` are those of the results where they are wanted.
// Rows: of one line, whose state this is. Columns: one value of each of `count` lines.
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
