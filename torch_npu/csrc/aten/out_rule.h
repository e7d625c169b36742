#pragma once

#include <ATen/TensorMeta.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/Resize.h>

namespace torch_npu {

// PyTorch's own shape and dtype rule of a structured operator, applied to an `out` that the caller gave:
// OutRule<at::meta::structured_mm>(out).meta(self, mat2) checks it and gives it its sizes.
template <typename Rule>
class OutRule final : public Rule {
 public:
  explicit OutRule(at::Tensor& out) : out_(out) {}

  void set_output_strided(int64_t, at::IntArrayRef sizes, at::IntArrayRef strides, at::TensorOptions options) override {
    set(sizes, strides, options);
  }
  void set_output_raw_strided(int64_t, at::IntArrayRef sizes, at::IntArrayRef strides,
                              at::TensorOptions options) override {
    set(sizes, strides, options);
  }
  const at::Tensor& maybe_get_output(int64_t) override { return out_; }

 private:
  void set(at::IntArrayRef sizes, at::IntArrayRef strides, const at::TensorOptions& options) {
    TORCH_CHECK(options.dtype() == out_.dtype(), "Expected out tensor to have dtype ", options.dtype(), ", but got ",
                out_.dtype(), " instead");
    TORCH_CHECK(options.device() == out_.device(), "Expected out tensor to have device ", options.device(),
                ", but got ", out_.device(), " instead");
    if (at::native::resize_output(out_, sizes) && !strides.empty()) out_.as_strided_(sizes, strides);
  }

  at::Tensor& out_;
};

}  // namespace torch_npu
