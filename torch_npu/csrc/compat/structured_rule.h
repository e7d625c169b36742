#pragma once
// The interface by which a structured operator's rule announces an output. Up to torch 2.12 it includes dimension
// names.

#include <ATen/TensorIterator.h>
#include <ATen/TensorMeta.h>
#include <ATen/core/Tensor.h>
#include <torch/version.h>

#include <concepts>

namespace torch_npu::compat {

// `Rule` (at::meta::structured_mm) with one function for every output that it announces. A TensorIterator-based rule is
// notified afterwards, since it continues to build itself.
template <typename Rule>
class StructuredRule : public Rule {
 public:
#if TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR < 13
  void set_output_strided(int64_t i, at::IntArrayRef sizes, at::IntArrayRef strides, at::TensorOptions options,
                          at::DimnameList names) override {
    set(i, sizes, strides, options);
    if constexpr (kIterates) Rule::set_output_raw_strided(i, sizes, strides, options, names);
  }
  void set_output_raw_strided(int64_t i, at::IntArrayRef sizes, at::IntArrayRef strides, at::TensorOptions options,
                              at::DimnameList names) override {
    set(i, sizes, strides, options);
    if constexpr (kIterates) Rule::set_output_raw_strided(i, sizes, strides, options, names);
  }
#else
  void set_output_strided(int64_t i, at::IntArrayRef sizes, at::IntArrayRef strides,
                          at::TensorOptions options) override {
    set(i, sizes, strides, options);
    if constexpr (kIterates) Rule::set_output_raw_strided(i, sizes, strides, options);
  }
  void set_output_raw_strided(int64_t i, at::IntArrayRef sizes, at::IntArrayRef strides,
                              at::TensorOptions options) override {
    set(i, sizes, strides, options);
    if constexpr (kIterates) Rule::set_output_raw_strided(i, sizes, strides, options);
  }
#endif

 private:
  static constexpr bool kIterates = std::derived_from<Rule, at::TensorIteratorBase>;

  virtual void set(int64_t i, at::IntArrayRef sizes, at::IntArrayRef strides, const at::TensorOptions& options) = 0;
};

}  // namespace torch_npu::compat
