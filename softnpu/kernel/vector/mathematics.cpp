// Functions that take more than a few instructions: libopapi's kernels over float32, half by way of float32.

#include <algorithm>
#include <cstddef>

#include "kernel/vector/dispatch.h"
#include "ops/elementwise/map_op.h"

namespace softnpu::kernel {
namespace {

template <MapOp op>
void of_floats(void* out, const void* first, const void*, size_t count, const VectorInstruction&) {
  static const MapKernel kernel = math_kernel(op, ComputeType::kF32);
  kernel(out, &first, count, nullptr);
}

VectorFunction float_function(VectorOp op) {
  using enum VectorOp;
  switch (op) {
    case kExp: return &of_floats<MapOp::kExp>;
    default: return nullptr;
  }
}

void of_halves(void* out, const void* first, const void*, size_t count, const VectorInstruction& v) {
  static const VectorFunction widen = cast_function(DataType::kFloat, DataType::kHalf);
  static const VectorFunction narrow = cast_function(DataType::kHalf, DataType::kFloat);
  const VectorFunction function = float_function(v.op);
  VectorInstruction plain = v;
  plain.rounding = Rounding::kRint;
  float values[256];
  const auto* in = static_cast<const half*>(first);
  auto* to = static_cast<half*>(out);
  for (size_t i = 0; i < count; i += std::size(values)) {
    const size_t part = std::min(count - i, std::size(values));
    widen(values, in + i, nullptr, part, plain);
    function(values, values, nullptr, part, plain);
    narrow(to + i, values, nullptr, part, plain);
  }
}

}  // namespace

VectorFunction exponential_function(VectorOp op, DataType type) {
  const VectorFunction function = float_function(op);
  if (function == nullptr || type == DataType::kFloat) return function;
  return type == DataType::kHalf ? &of_halves : nullptr;
}

}  // namespace softnpu::kernel
