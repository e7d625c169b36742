#include "ops/elementwise/map_op.h"

#include <array>

namespace softnpu {
namespace {

constexpr size_t kOps = static_cast<size_t>(MapOp::kClampTensor) + 1;
using Table = std::array<std::array<MapKernel, kWides>, kOps>;

// Null where float32 has no kernel of its own.
MapKernel float32_kernel(MapOp op) {
  for (const auto kernel_of : {&float_math_kernel, &trigonometry_kernel, &hyperbolic_kernel, &power_kernel,
                               &remainder_kernel, &erfc_kernel, &activation_kernel}) {
    if (MapKernel kernel = kernel_of(op)) return kernel;
  }
  return nullptr;
}

MapKernel find_kernel(MapOp op, Wide wide) {
  if (wide == Wide::kC64 || wide == Wide::kC128) return complex_kernel(op, wide);
  if (wide == Wide::kF32) {
    if (MapKernel kernel = float32_kernel(op)) return kernel;
  }
  for (const auto kernel_of : {&arithmetic_kernel, &gradient_kernel, &math_kernel}) {
    if (MapKernel kernel = kernel_of(op, wide)) return kernel;
  }
  return nullptr;
}

Table make_table() {
  Table table{};
  for (size_t op = 0; op < kOps; ++op) {
    for (size_t wide = 0; wide < kWides; ++wide) {
      table[op][wide] = find_kernel(static_cast<MapOp>(op), static_cast<Wide>(wide));
    }
  }
  return table;
}

}  // namespace

MapKernel map_kernel(MapOp op, Wide wide) {
  static const Table table = make_table();
  return table[static_cast<size_t>(op)][static_cast<size_t>(wide)];
}

}  // namespace softnpu
