#pragma once
// A fast path that avoids PyTorch's TensorIterator rule, which takes as long as a small operator: tensors of one type,
// shape and memory order have a result with the same, or with truth values.

#include <ATen/MemoryOverlap.h>
#include <ATen/core/Tensor.h>

#include <optional>
#include <string_view>
#include <type_traits>

#include "aten/aclnn/outputs.h"
#include "compat/names.h"

namespace torch_npu::aclnn_check {

// The arguments' types whose result PyTorch's rule gives the same type, or truth values of any real type.
enum class ResultType : uint8_t { kOfFloats, kOfNumbers, kOfAll, kTruth };

namespace detail {

inline bool has_result_type(ResultType result, c10::ScalarType type) {
  switch (result) {
    case ResultType::kOfFloats: return c10::isFloatingType(type);
    case ResultType::kOfNumbers: return c10::isFloatingType(type) || c10::isIntegralType(type, /*includeBool=*/false);
    default: return c10::isFloatingType(type) || c10::isIntegralType(type, /*includeBool=*/true);
  }
}

// Not of a tensor of the CPU, which an operator takes where it has no dimensions: its result is on the other's device.
inline bool can_copy_layout(ResultType result, const c10::TensorImpl& first) {
  return first.is_privateuseone() && has_result_type(result, c10::typeMetaToScalarType(first.dtype())) &&
         first.is_non_overlapping_and_dense() && !compat::has_names(first);
}

inline bool has_same_layout(const at::Tensor& first, const at::Tensor& other) {
  return other.dtype() == first.dtype() && other.sizes() == first.sizes() && other.strides() == first.strides();
}

// Whether `other` is broadcast to `first`, and both are contiguous. Of dimensions of one element PyTorch's rule decides
// the strides.
inline bool is_broadcast_to(const at::Tensor& first, const at::Tensor& other) {
  const auto sizes = first.sizes();
  const auto others = other.sizes();
  if (other.dtype() != first.dtype() || other.device() != first.device() || others.size() > sizes.size()) return false;
  if (!first.is_contiguous() || !other.is_contiguous()) return false;
  const std::size_t more = sizes.size() - others.size();
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] < 2 || (d >= more && others[d - more] != sizes[d] && others[d - more] != 1)) return false;
  }
  return true;
}

// Whether another argument does not change the result's shape and type.
template <bool kBroadcasts>
bool adds_nothing(const at::Tensor& first, const at::Tensor& other) {
  return (has_same_layout(first, other) || (kBroadcasts && is_broadcast_to(first, other))) &&
         !compat::has_names(*other.unsafeGetTensorImpl());
}
template <bool>
bool adds_nothing(const at::Tensor& first, const at::Scalar& number) {
  if (at::isFloatingType(first.scalar_type())) return is_real(number);
  return number.isIntegral(/*includeBool=*/false) && first.scalar_type() != at::kBool;
}
// A missing number adds nothing where another one is given, see has_number.
template <bool kBroadcasts>
bool adds_nothing(const at::Tensor& first, const std::optional<at::Scalar>& number) {
  return !number.has_value() || adds_nothing<kBroadcasts>(first, *number);
}
template <bool>
bool adds_nothing(const at::Tensor&, const std::optional<double>&) {
  return true;
}
// What a flag that is set needs of the numbers is checked by PyTorch's rule.
template <bool>
bool adds_nothing(const at::Tensor&, bool flag) {
  return !flag;
}
template <bool>
bool adds_nothing(const at::Tensor&, std::string_view) {
  return true;
}
// For other types, such as missing arguments or lists: PyTorch's rule decides.
template <bool, typename Other>
bool adds_nothing(const at::Tensor&, const Other&) {
  return false;
}

// Whether one of the optional numbers is given, if the operator has any: PyTorch's rule refuses a call with none.
template <typename... Rest>
bool has_number([[maybe_unused]] const Rest&... rest) {
  if constexpr ((std::is_same_v<Rest, std::optional<at::Scalar>> || ...)) {
    const auto is_given = [](const auto& argument) {
      if constexpr (requires { argument->isIntegral(false); }) return argument.has_value();
      return false;
    };
    return (is_given(rest) || ...);
  }
  return true;
}

inline void check_memory(const at::Tensor& out, const at::Tensor& other) { at::assert_no_partial_overlap(out, other); }
template <typename Other>
void check_memory(const at::Tensor&, const Other&) {}

}  // namespace detail

// Sets the outputs without a rule: like the arguments, or the first argument itself. For rules whose result has the
// arguments' type, or truth values. `kBroadcasts`: whether others may be broadcast to the first one. False if the rule
// is needed.
template <bool kBroadcasts, ResultType kResult, typename... Rest>
bool makes_same_layout(Outputs<1>& results, const at::Tensor& first, const Rest&... rest) {
  if (results.variant() == Variant::kOut || !detail::can_copy_layout(kResult, *first.unsafeGetTensorImpl()) ||
      !(detail::adds_nothing<kBroadcasts>(first, rest) && ...) || !detail::has_number(rest...))
    return false;
  if (results.variant() == Variant::kInPlace) {
    if (kResult == ResultType::kTruth) return false;
    (detail::check_memory(results[0], rest), ...);
  } else {
    results[0] = make_same_layout(first, kResult == ResultType::kTruth ? at::kBool : first.scalar_type());
  }
  return true;
}

}  // namespace torch_npu::aclnn_check
