#pragma once
// Rows that are written to pages of a cache.

#include <ATen/core/Tensor.h>

namespace torch_npu::custom {

// A contiguous cache of pages [pages, tokens of a page, ..., channels], where NZ keeps blocks of channels apart.
struct Pages {
  at::Tensor cache;
  bool is_blocked;
  const char* name;  // of the operator, for errors

  // Writes rows [T, channels] to slots [T]; negative ones are left out.
  void write(const at::Tensor& rows, const at::Tensor& slots) const;
};

// x cos + (-b, a) sin of the halves a and b of the last dimension, whose numbers alternate: even ones are a.
at::Tensor rotated_pairs(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin);

}  // namespace torch_npu::custom
