#pragma once
// The loop over planes, some planes at a time: a step.

#include <cstddef>
#include <cstdint>

#include "ops/core/planes/table.h"

namespace softnpu {

// How values of the source are found.
enum class PlaneLookup : uint8_t {
  kOneVector,   // the step's source is a vector
  kTwoVectors,  // or two
  kGather,      // in memory
};

// A table for all planes of a step, as vectors.
struct PlaneStep {
  PlaneLookup lookup = PlaneLookup::kGather;
  PlaneOp op = PlaneOp::kSum;
  size_t taps = 0;
  size_t vectors = 0;  // of the result, which need not fill the last one
  // For each tap, of each value of the vectors: its place in the step's source; with kNoTap, the value has fewer taps.
  const int32_t* index = nullptr;
  bool is_ragged = false;                 // some are kNoTap
  const float* weight = nullptr;          // of the same; null: all are 1
  const float* divisor = nullptr;         // of each value, which is divided last; null: none is
  const float* source_divisor = nullptr;  // of each value of the source, which is divided first; null: none is
  size_t source = 0;                      // values of a step's source
  size_t result = 0;                      // values of a step's result
  const int32_t* plane_begin = nullptr;   // of each value: where its plane begins in the step's source
};

inline constexpr int32_t kNoTap = INT32_MIN;

// The most values of a step's source that are divided before they are gathered.
inline constexpr size_t kMaxDivided = 1024;

// Floats of a vector.
size_t plane_lanes();

// Computes `steps` steps, and the places of maxima in their planes if `indices` is not null. Each step reads one vector
// or two from the beginning of its source, and writes whole vectors.
void run_plane_steps(const PlaneStep& step, const float* in, float* out, int64_t* indices, size_t steps);

}  // namespace softnpu
