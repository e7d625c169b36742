#include "ops/math/elementwise/map_op.h"

#include <array>

namespace softnpu {
namespace {

using Table = std::array<std::array<MapKernel, kComputeTypes>, kMapOps>;

MapKernel find_kernel(MapOp op, ComputeType compute_type) {
  if (compute_type == ComputeType::kC64 || compute_type == ComputeType::kC128) return complex_kernel(op, compute_type);
  if (compute_type == ComputeType::kF32) {
    // Of some functions in `arithmetic` these vectors are faster.
    if (MapKernel kernel = math_kernel(op, compute_type)) return kernel;
  }
  for (const auto kernel_of : {&arithmetic_kernel, &gradient_kernel, &math_kernel}) {
    if (MapKernel kernel = kernel_of(op, compute_type)) return kernel;
  }
  return nullptr;
}

Table make_table() {
  Table table{};
  for (size_t op = 0; op < kMapOps; ++op) {
    for (size_t compute_type = 0; compute_type < kComputeTypes; ++compute_type) {
      table[op][compute_type] = find_kernel(static_cast<MapOp>(op), static_cast<ComputeType>(compute_type));
    }
  }
  return table;
}

}  // namespace

MapKernel map_kernel(MapOp op, ComputeType compute_type) {
  static const Table table = make_table();
  return table[static_cast<size_t>(op)][static_cast<size_t>(compute_type)];
}

}  // namespace softnpu
