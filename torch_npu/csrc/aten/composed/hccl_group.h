#pragma once
// Collectives of the hccl group that an operator names. Tensors are dense or become so; each call has been ordered on
// the current stream when it returns.

#include <ATen/core/Tensor.h>

#include <optional>
#include <string_view>
#include <vector>

#include "core/named_groups.h"

namespace torch_npu::custom {

class Group {
 public:
  // `name` is the operator's, `hcom` what get_hccl_comm_name gave; throws unless the group has `size` ranks.
  Group(const char* name, std::string_view hcom, std::optional<int64_t> size);

  int64_t size() const;
  int64_t rank() const;

  // Rows of all ranks, one after the other.
  at::Tensor gathered(const at::Tensor& rows) const;
  // This rank's part of the sums of all ranks' rows.
  at::Tensor scattered(const at::Tensor& rows) const;
  at::Tensor reduced(const at::Tensor& values) const;
  // `sent` and `received` are numbers of rows for each rank; equal parts without.
  at::Tensor exchanged(const at::Tensor& rows, std::vector<int64_t> sent, std::vector<int64_t> received) const;

 private:
  const char* name_;
  c10::intrusive_ptr<c10d::Backend> group_;
};

}  // namespace torch_npu::custom
