#include "ops/nn/experts/group_numbers.h"

#include <cstring>

#include "nnopbase/written.h"
#include "ops/core/tensor_memory.h"
#include "ops/nn/experts/rows.h"

namespace softnpu {

Status read_group_matrix(const aclTensor& tensor, const char* role, GroupMatrix* out) {
  const size_t n = tensor.dims.size();
  if (n < 2) return bad_experts(text(role, " is ", describe(tensor), "; a matrix is needed"));
  GroupMatrix result{.dtype = tensor.dtype, .rows = 1, .columns = tensor.dims[n - 1]};
  result.column_stride = tensor.strides[n - 1];
  result.row_stride = tensor.strides[n - 2];
  int64_t next = tensor.strides[n - 2];
  for (size_t i = n - 1; i-- > 0;) {
    if (tensor.dims[i] != 1 && result.rows != 1 && tensor.strides[i] != next && element_count(tensor) > 0) {
      return bad_experts(text(role, " is ", describe(tensor), " with rows that do not follow each other in memory"));
    }
    if (result.rows == 1) result.row_stride = tensor.strides[i];
    result.rows *= tensor.dims[i];
    next = result.row_stride * result.rows;
  }
  void* data = nullptr;
  SOFTNPU_RETURN_IF_ERROR(tensor_memory(tensor, role, &data));
  result.data = static_cast<char*>(data);
  result.source = device_bytes(tensor);
  *out = result;
  return Status::ok();
}

Status read_stack(const aclTensorList& list, const char* role, std::vector<GroupMatrix>* out) {
  for (const aclTensor* tensor : list) SOFTNPU_RETURN_IF_ERROR(not_null(tensor, role));
  if (list.size() == 1 && list[0]->dims.size() == 3) {
    const aclTensor& stack = *list[0];
    // Parts of a checked tensor.
    void* data = nullptr;
    SOFTNPU_RETURN_IF_ERROR(tensor_memory(stack, role, &data));
    const auto bytes = static_cast<int64_t>(aclDataTypeSize(stack.dtype));
    const char* const from = static_cast<const char*>(device_bytes(stack).address);
    aclTensor one = stack;
    one.dims = {stack.dims[1], stack.dims[2]};
    one.strides = {stack.strides[1], stack.strides[2]};
    const auto part = static_cast<size_t>(extent(one) * bytes);
    for (int64_t i = 0; i < stack.dims[0]; ++i) {
      const int64_t offset = i * stack.strides[0] * bytes;
      out->push_back({static_cast<char*>(data) + (data == nullptr ? 0 : offset),
                      stack.dtype,
                      one.dims[0],
                      one.dims[1],
                      one.strides[0],
                      one.strides[1],
                      {from + offset, part}});
    }
    return Status::ok();
  }
  for (const aclTensor* tensor : list) {
    if (tensor->dims.size() != 2) {
      return bad_experts(text(role, " has ", describe(*tensor), ": matrices, or one stack of three dimensions"));
    }
    SOFTNPU_RETURN_IF_ERROR(read_group_matrix(*tensor, role, &out->emplace_back()));
  }
  return Status::ok();
}

Status GroupNumbers::make(const aclTensorList* list, const char* role, size_t groups) {
  if (list == nullptr || list->empty()) return Status::ok();
  is_stack_ = list->size() == 1 && groups != 1;
  if (!is_stack_ && list->size() != groups) {
    return bad_experts(text(role, " has ", list->size(), " tensors for ", groups, " groups: one for each is taken"));
  }
  for (const aclTensor* tensor : *list) {
    SOFTNPU_RETURN_IF_ERROR(not_null(tensor, role));
    const bool is_number = is_known(tensor->dtype) && !is_complex(tensor->dtype) && tensor->dtype != ACL_BOOL;
    const bool is_by_group =
        !is_stack_ || (tensor->dims.size() >= 2 && tensor->dims[0] == static_cast<int64_t>(groups));
    if (!is_number || !is_by_group || tensor->dtype != (*list)[0]->dtype) {
      return bad_experts(
          text(role, " has ", describe(*tensor), " for ", groups,
               " groups: numbers of one type are taken, of all groups in a first dimension or a tensor"));
    }
    dtype_ = tensor->dtype;
    const int64_t all = element_count(*tensor);
    counts_.push_back(is_stack_ ? all / static_cast<int64_t>(groups) : all);
    FlatTensor flat;
    SOFTNPU_RETURN_IF_ERROR(FlatTensor::make(*tensor, -1, role, &flat));
    tensors_.push_back(flat);
    readers_.emplace_back(std::move(flat));
  }
  return Status::ok();
}

std::vector<double> GroupNumbers::read_numbers(size_t group) const {
  std::vector<double> values(static_cast<size_t>(count(group)));
  if (values.empty()) return values;
  const double* const found = readers_[is_stack_ ? 0 : group].read(first(group), count(group), values.data());
  if (found != values.data()) std::copy_n(found, values.size(), values.data());
  return values;
}

std::vector<uint64_t> GroupNumbers::read_words(size_t group) const {
  std::vector<uint64_t> values;
  if (count(group) == 0) return values;
  tensors_[is_stack_ ? 0 : group].for_runs(first(group), count(group),
                                           [&](const char* from, ptrdiff_t stride, int64_t n) {
                                             for (int64_t i = 0; i < n; ++i, from += stride)
                                               std::memcpy(&values.emplace_back(), from, sizeof(uint64_t));
                                           });
  return values;
}

}  // namespace softnpu
