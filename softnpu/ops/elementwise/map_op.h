#pragma once
// The functions that tensors are mapped by, and where their kernels are.

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "ops/elementwise/map.h"

namespace softnpu {

// The rows of operators.txt that begin with "function", in their order.
enum class MapOp : uint8_t {
#include "opgen/map_op.inc"
};

// What operators.txt says of a function.
struct MapOpTraits {
  double cost = 1;
  bool rounds_constants = false;  // to the tensors' type, where that is a half, as PyTorch does
  bool keeps_numbers = false;     // one number on the right is computed in float32 beside halves, as PyTorch does
};
constexpr MapOpTraits kMapOpTraits[] = {
#include "opgen/map_op_traits.inc"
};
constexpr size_t kMapOps = std::size(kMapOpTraits);
constexpr const MapOpTraits& traits_of(MapOp op) { return kMapOpTraits[static_cast<size_t>(op)]; }

// The kernel of `op` on values of type `compute_type`; null where it is not defined for them.
MapKernel map_kernel(MapOp op, ComputeType compute_type);

// The parts of the above, one file each.
MapKernel arithmetic_kernel(MapOp op, ComputeType compute_type);
MapKernel gradient_kernel(MapOp op, ComputeType compute_type);
MapKernel math_kernel(MapOp op, ComputeType compute_type);
MapKernel complex_kernel(MapOp op, ComputeType compute_type);

// Of float32 alone: null for all that are not theirs.
MapKernel float_math_kernel(MapOp op);
MapKernel trigonometry_kernel(MapOp op);
MapKernel hyperbolic_kernel(MapOp op);
MapKernel power_kernel(MapOp op);
MapKernel remainder_kernel(MapOp op);
MapKernel erfc_kernel(MapOp op);
MapKernel activation_kernel(MapOp op);

}  // namespace softnpu
