#include "aten/aclnn/check.h"

#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

namespace torch_npu::aclnn_check {
namespace {

// The range of one data type.
struct Range {
  bool is_integral = false;
  int64_t least = std::numeric_limits<int64_t>::min();
  int64_t largest = std::numeric_limits<int64_t>::max();
  double limit = std::numeric_limits<double>::max();  // of floating-point numbers, for both signs
};

template <typename T>
constexpr Range integers() {
  constexpr auto kLargest = std::numeric_limits<T>::max();
  return {true, std::numeric_limits<T>::lowest(), kLargest, static_cast<double>(kLargest)};
}

constexpr auto kRanges = [] {
  std::array<Range, static_cast<std::size_t>(at::ScalarType::NumOptions)> ranges{};
  const auto of = [&](at::ScalarType type) -> Range& { return ranges[static_cast<std::size_t>(type)]; };
  of(at::kByte) = integers<uint8_t>();
  of(at::kChar) = integers<int8_t>();
  of(at::kShort) = integers<int16_t>();
  of(at::kInt) = integers<int32_t>();
  of(at::kLong) = integers<int64_t>();
  constexpr int64_t kLargestHalf = 65504;
  of(at::kHalf) = {false, -kLargestHalf, kLargestHalf, kLargestHalf};
  of(at::kBFloat16).limit = 0x1.FEp127;
  // In operations with floating-point numbers bool becomes PyTorch's default type.
  for (const at::ScalarType type : {at::kFloat, at::kBool, at::kComplexFloat})
    of(type).limit = std::numeric_limits<float>::max();
  return ranges;
}();

// Returns false for the maximum of an integral type, so that ATen handles it.
bool holds(const Range& range, double number) {
  if (range.is_integral) return number >= static_cast<double>(range.least) && number < range.limit;
  return !(std::abs(number) > range.limit) || std::isinf(number);
}

}  // namespace

bool holds(at::ScalarType type, const at::Scalar& number) {
  const Range& range = kRanges[static_cast<std::size_t>(type)];
  if (number.isIntegral(/*includeBool=*/true)) {
    const int64_t value = number.toLong();
    return value >= range.least && value <= range.largest;
  }
  if (!number.isComplex()) return holds(range, number.toDouble());
  if (!at::isComplexType(type)) return false;
  const c10::complex<double> parts = number.toComplexDouble();
  return holds(range, parts.real()) && holds(range, parts.imag());
}

}  // namespace torch_npu::aclnn_check
