// Exp: the operators' kernel over float32, half by way of float32.

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "ascendc/instructions/vector/dispatch.h"
#include "simd/math/functions.h"

namespace softnpu::kernel {
namespace {

void of_floats(void* out, const void* first, const void*, size_t count, const VectorInstruction&) {
  static const MathKernel kernel = math_kernel(MathFunction::kExp, FloatType::kF32);
  kernel(out, &first, count, nullptr);
}

void of_halves(void* out, const void* first, const void*, size_t count, const VectorInstruction& v) {
  static const VectorFunction widen = cast_function(DataType::kFloat, DataType::kHalf);
  static const VectorFunction narrow = cast_function(DataType::kHalf, DataType::kFloat);
  float values[256];
  const auto* in = static_cast<const half*>(first);
  auto* to = static_cast<half*>(out);
  for (size_t i = 0; i < count; i += std::size(values)) {
    const size_t part = std::min(count - i, std::size(values));
    widen(values, in + i, nullptr, part, v);
    of_floats(values, values, nullptr, part, v);
    narrow(to + i, values, nullptr, part, v);
  }
}

}  // namespace

VectorFunction exponential_function(VectorOp op, DataType type) {
  if (op != VectorOp::kExp) return nullptr;
  return type == DataType::kFloat ? &of_floats : type == DataType::kHalf ? &of_halves : nullptr;
}

}  // namespace softnpu::kernel
