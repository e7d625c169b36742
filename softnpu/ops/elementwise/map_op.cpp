#include "ops/elementwise/map_op.h"

namespace softnpu {

MapKernel map_kernel(MapOp op, Wide wide) {
  if (wide == Wide::kC64 || wide == Wide::kC128) return complex_kernel(op, wide);
  if (MapKernel kernel = arithmetic_kernel(op, wide)) return kernel;
  if (MapKernel kernel = gradient_kernel(op, wide)) return kernel;
  return math_kernel(op, wide);
}

}  // namespace softnpu
