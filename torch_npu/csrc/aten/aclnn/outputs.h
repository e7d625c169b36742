#pragma once
// The outputs of one call of a generated aclnn operator, and PyTorch's rule for their sizes and types.

#include <ATen/ExpandUtils.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/TensorIterator.h>
#include <ATen/core/IListRef.h>
#include <ATen/core/Tensor.h>

#include <array>
#include <concepts>
#include <optional>

#include "aten/aclnn/check.h"
#include "aten/operator_error.h"
#include "compat/structured_rule.h"

namespace torch_npu::aclnn_check {

enum class Variant : uint8_t { kNew, kOut, kInPlace };

template <std::size_t N>
class Outputs {
 public:
  // The rule creates them.
  Outputs() = default;
  // The caller gives them.
  template <std::same_as<at::Tensor>... Tensors>
  explicit Outputs(Variant variant, Tensors&... given) : variant_(variant), given_{&given...} {}
  Outputs(const Outputs&) = delete;
  Outputs& operator=(const Outputs&) = delete;

  Variant variant() const { return variant_; }
  at::Tensor& operator[](std::size_t i) { return given_[i] != nullptr ? *given_[i] : created_[i]; }

  // Whether there is anything to compute.
  bool has_elements() {
    for (std::size_t i = 0; i < N; ++i) {
      if ((*this)[i].numel() > 0) return true;
    }
    return false;
  }

  // Returns the created ones to the caller.
  auto take() {
    if constexpr (N == 1) {
      return std::move(created_[0]);
    } else {
      return std::tuple_cat(std::move(created_));
    }
  }

 private:
  Variant variant_ = Variant::kNew;
  std::array<at::Tensor, N> created_;
  std::array<at::Tensor*, N> given_{};
};

// Creates `out` for the form kNew; otherwise checks it, and resizes it for the form kOut.
void set_output(at::Tensor& out, Variant variant, at::IntArrayRef sizes, at::IntArrayRef strides,
                const at::TensorOptions& options);

// An uninitialised tensor with the type and sizes of `first` and its dense_strides().
at::Tensor make_same_layout(const at::Tensor& first, at::ScalarType dtype);
inline at::Tensor make_same_layout(const at::Tensor& first) { return make_same_layout(first, first.scalar_type()); }

// Throws if an output overlaps itself, or partially overlaps `input`.
void check_overlap(const at::Tensor& out, const at::Tensor& input);

template <std::size_t N>
bool takes_outputs(Check& check, Outputs<N>& outputs) {
  if (outputs.variant() == Variant::kNew) return true;
  for (std::size_t i = 0; i < N; ++i) {
    if (!check.takes_output(outputs[i])) return false;
  }
  return true;
}

// Whether no other argument shares the storage of `self`.
inline bool has_own_storage(const at::Tensor& self, const at::Tensor& other) {
  return !other.defined() || !self.is_alias_of(other);
}
inline bool has_own_storage(const at::Tensor& self, const std::optional<at::Tensor>& other) {
  return !other.has_value() || has_own_storage(self, *other);
}

inline void check_overlap_of(const at::Tensor& out, const at::Tensor& input) { check_overlap(out, input); }
inline void check_overlap_of(const at::Tensor& out, const std::optional<at::Tensor>& input) {
  if (input.has_value()) check_overlap(out, *input);
}
inline void check_overlap_of(const at::Tensor& out, const at::ITensorListRef& inputs) {
  for (const at::Tensor& input : inputs) check_overlap(out, input);
}

// Applies PyTorch's own rule, such as at::meta::structured_mm, to outputs:
// OutRule<at::meta::structured_mm, 1>(outputs).apply(self, mat2).
template <typename Rule, std::size_t N>
class OutRule final : public compat::StructuredRule<Rule> {
 public:
  explicit OutRule(Outputs<N>& outputs) : outputs_(outputs) {}

  const at::Tensor& maybe_get_output(int64_t i) override { return outputs_[static_cast<std::size_t>(i)]; }

  // Runs the rule: it creates or checks the outputs. Its errors have the operators' official code.
  template <typename... Args>
  void apply(const Args&... args) {
    try {
      this->meta(args...);
    } catch (const c10::Error&) {
      rethrow_with_code();
    }
  }

  // To be called after apply(). Rules based on TensorIterator have checked overlaps themselves.
  template <typename... Inputs>
  void check_overlaps(const Inputs&... inputs) {
    if constexpr (!std::derived_from<Rule, at::TensorIteratorBase>) {
      if (outputs_.variant() == Variant::kNew) return;
      for (std::size_t i = 0; i < N; ++i) {
        if (!outputs_[i].defined()) continue;
        at::assert_no_internal_overlap(outputs_[i]);
        (check_overlap_of(outputs_[i], inputs), ...);
      }
    }
  }

 private:
  void set(int64_t i, at::IntArrayRef sizes, at::IntArrayRef strides, const at::TensorOptions& options) override {
    set_output(outputs_[static_cast<std::size_t>(i)], outputs_.variant(), sizes, strides, options);
  }

  Outputs<N>& outputs_;
};

// Converts an operator's argument to that of its rule.
template <typename T>
const T& rule_argument(const T& value) {
  return value;
}
inline at::OptionalTensorRef rule_argument(const std::optional<at::Tensor>& tensor) {
  return tensor.has_value() && tensor->defined() ? at::OptionalTensorRef(*tensor) : at::OptionalTensorRef();
}
inline at::OptionalScalarRef rule_argument(const std::optional<at::Scalar>& scalar) {
  return scalar.has_value() ? at::OptionalScalarRef(&*scalar) : at::OptionalScalarRef();
}

}  // namespace torch_npu::aclnn_check
