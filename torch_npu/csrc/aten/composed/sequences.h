#pragma once
// Sequences of a batch in the layouts of attention: rows of queries, rows of keys in tensors or pages.

#include <ATen/core/Tensor.h>

#include <optional>
#include <string_view>
#include <vector>

namespace torch_npu::custom {

struct Span {
  int64_t begin, count;
  int64_t end() const { return begin + count; }
};

// The rows of each sequence of [B, S, N, D] with `layout` BSND, or of [T, N, D] with TND, after flattening what is
// before N. `lengths` are counts for BSND, none for all rows, and ends for TND.
std::vector<Span> sequences_of(const char* name, const char* role, const at::Tensor& rows, std::string_view layout,
                               const std::optional<at::Tensor>& lengths);

// Numbers of a tensor of one dimension, on any device.
std::vector<int64_t> numbers_of(const char* name, const char* role, const at::Tensor& numbers);

// The rows [length, N, D] of one sequence in pages [pages, block, N, D].
at::Tensor rows_of_pages(const char* name, const at::Tensor& pages, const at::Tensor& table, int64_t sequence,
                         int64_t length);

}  // namespace torch_npu::custom
