#pragma once
// Computes every plane of a batch of images by one table.

#include <cstdint>
#include <vector>

#include "nnopbase/plan.h"
#include "ops/core/planes/table.h"

namespace softnpu {

// Whether a table for planes of these numbers of values pays: they are small, and several.
bool fits_planes(int64_t planes, int64_t source, int64_t result);

struct PlanesProblem {
  PlaneOp op = PlaneOp::kSum;
  PlaneTable table;
  // Of each value of the result, which is divided by it at the end; empty: none is.
  std::vector<float> divisors = {};
  // Of each value of the source, which is divided by it first; empty: none is.
  std::vector<float> source_divisors = {};
  int64_t planes = 0;
  // Planes without gaps; the result overlaps no source.
  const float* source = nullptr;
  float* result = nullptr;
  // Of maxima, in their planes; null: not computed. Then each row of the table has a value.
  int64_t* indices = nullptr;
};

// fits_planes() is true.
Plan plan_planes(PlanesProblem problem);

}  // namespace softnpu
