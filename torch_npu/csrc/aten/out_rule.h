#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/empty_strided.h>

#include "aten/empty.h"
#include "compat/structured_rule.h"

namespace torch_npu {

// PyTorch's own shape and dtype rule of a structured operator, applied to `out`:
// OutRule<at::meta::structured_mm>(out).meta(self, mat2) checks what the caller gave and gives it its sizes, or makes
// it where it is undefined.
template <typename Rule>
class OutRule final : public compat::StructuredRule<Rule> {
 public:
  explicit OutRule(at::Tensor& out) : out_(out) {}

  const at::Tensor& maybe_get_output(int64_t) override { return out_; }

 private:
  void set(at::IntArrayRef sizes, at::IntArrayRef strides, const at::TensorOptions& options) override {
    if (!out_.defined()) {
      out_ = strides.empty() ? make_tensor(sizes, c10::typeMetaToScalarType(options.dtype()), options.device().index())
                             : at::empty_strided(sizes, strides, options);
      return;
    }
    TORCH_CHECK(options.dtype() == out_.dtype(), "Expected out tensor to have dtype ", options.dtype(), ", but got ",
                out_.dtype(), " instead");
    TORCH_CHECK(options.device() == out_.device(), "Expected out tensor to have device ", options.device(),
                ", but got ", out_.device(), " instead");
    if (at::native::resize_output(out_, sizes) && !strides.empty()) out_.as_strided_(sizes, strides);
  }

  at::Tensor& out_;
};

}  // namespace torch_npu
