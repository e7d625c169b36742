#pragma once
// The functions of elementwise mappings, and their kernels.

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "ops/math/elementwise/map.h"

namespace softnpu {

// The rows of operators.txt that begin with "function", in their order.
enum class MapOp : uint8_t {
#include "opgen/map_op.inc"
};

// The properties of a function in operators.txt.
struct MapOpTraits {
  double cost = 1;
  bool rounds_constants = false;  // to half types, as PyTorch does
  bool keeps_numbers = false;     // a scalar right operand is float32 beside halves, as in PyTorch
};
constexpr MapOpTraits kMapOpTraits[] = {
#include "opgen/map_op_traits.inc"
};
constexpr size_t kMapOps = std::size(kMapOpTraits);
constexpr const MapOpTraits& traits_of(MapOp op) { return kMapOpTraits[static_cast<size_t>(op)]; }

// The kernel of `op` for values of `compute_type`; null if it is not defined for them.
MapKernel map_kernel(MapOp op, ComputeType compute_type);

// The kernel of `op` for bytes that are truths; null if `op` is not defined by truths alone.
MapKernel truth_kernel(MapOp op);

// The parts of map_kernel(), one file each.
MapKernel arithmetic_kernel(MapOp op, ComputeType compute_type);
MapKernel gradient_kernel(MapOp op, ComputeType compute_type);
MapKernel math_kernel(MapOp op, ComputeType compute_type);  // by simd/math
MapKernel complex_kernel(MapOp op, ComputeType compute_type);

}  // namespace softnpu
