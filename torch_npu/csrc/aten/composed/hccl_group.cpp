#include "aten/composed/hccl_group.h"

#include <ATen/ops/empty.h>

#include <numeric>
#include <string>

namespace torch_npu::custom {

using at::Tensor;

namespace {

void wait(const c10::intrusive_ptr<c10d::Work>& work) {
  if (work) work->wait();
}

}  // namespace

Group::Group(const char* name, std::string_view hcom, std::optional<int64_t> size)
    : name_(name), group_(group_named(std::string(hcom))) {
  TORCH_CHECK(!size.has_value() || *size == group_->getSize(), "npu::", name, ": world_size is ", *size,
              " for a group of ", group_->getSize());
}

int64_t Group::size() const { return group_->getSize(); }
int64_t Group::rank() const { return group_->getRank(); }

Tensor Group::gathered(const Tensor& rows) const {
  std::vector<int64_t> sizes = rows.sizes().vec();
  sizes[0] *= size();
  Tensor result = at::empty(sizes, rows.options()), input = rows.contiguous();
  c10d::AllgatherOptions options;
  options.asyncOp = false;
  wait(group_->_allgather_base(result, input, options));
  return result;
}

Tensor Group::scattered(const Tensor& rows) const {
  TORCH_CHECK(rows.size(0) % size() == 0, "npu::", name_, ": ", rows.size(0), " rows for ", size(),
              " ranks: a multiple is taken");
  std::vector<int64_t> sizes = rows.sizes().vec();
  sizes[0] /= size();
  Tensor result = at::empty(sizes, rows.options()), input = rows.contiguous();
  c10d::ReduceScatterOptions options;
  options.asyncOp = false;
  wait(group_->_reduce_scatter_base(result, input, options));
  return result;
}

Tensor Group::reduced(const Tensor& values) const {
  std::vector<Tensor> tensors = {values.contiguous()};
  c10d::AllreduceOptions options;
  options.asyncOp = false;
  wait(group_->allreduce(tensors, options));
  return tensors[0];
}

Tensor Group::exchanged(const Tensor& rows, std::vector<int64_t> sent, std::vector<int64_t> received) const {
  std::vector<int64_t> sizes = rows.sizes().vec();
  if (!received.empty()) sizes[0] = std::accumulate(received.begin(), received.end(), int64_t{0});
  Tensor result = at::empty(sizes, rows.options()), input = rows.contiguous();
  c10d::AllToAllOptions options;
  options.asyncOp = false;
  wait(group_->alltoall_base(result, input, received, sent, options));
  return result;
}

}  // namespace torch_npu::custom
