#pragma once
// How a structured operator's rule announces an output. Up to torch 2.12 it names the dimensions as well.

#include <ATen/TensorMeta.h>
#include <ATen/core/Tensor.h>
#include <torch/version.h>

namespace torch_npu::compat {

// `Rule` (at::meta::structured_mm) with one function for every output that it announces.
template <typename Rule>
class StructuredRule : public Rule {
 public:
#if TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR < 13
  void set_output_strided(int64_t, at::IntArrayRef sizes, at::IntArrayRef strides, at::TensorOptions options,
                          at::DimnameList) override {
    set(sizes, strides, options);
  }
  void set_output_raw_strided(int64_t, at::IntArrayRef sizes, at::IntArrayRef strides, at::TensorOptions options,
                              at::DimnameList) override {
    set(sizes, strides, options);
  }
#else
  void set_output_strided(int64_t, at::IntArrayRef sizes, at::IntArrayRef strides, at::TensorOptions options) override {
    set(sizes, strides, options);
  }
  void set_output_raw_strided(int64_t, at::IntArrayRef sizes, at::IntArrayRef strides,
                              at::TensorOptions options) override {
    set(sizes, strides, options);
  }
#endif

 private:
  virtual void set(at::IntArrayRef sizes, at::IntArrayRef strides, const at::TensorOptions& options) = 0;
};

}  // namespace torch_npu::compat
