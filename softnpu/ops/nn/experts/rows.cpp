#include "ops/nn/experts/rows.h"

#include <cstring>

namespace softnpu {

Status IndexList::make(const aclTensor& tensor, const char* role) {
  if (tensor.dtype != ACL_INT32 && tensor.dtype != ACL_INT64) {
    return bad_experts(text(role, " is ", describe(tensor), "; int32 and int64 are taken"));
  }
  is_widened_ = tensor.dtype == ACL_INT64;
  count_ = element_count(tensor);
  return FlatTensor::make(tensor, -1, role, &tensor_);
}

template <typename T>
std::vector<int64_t> IndexList::read_as() const {
  std::vector<int64_t> values;
  values.reserve(static_cast<size_t>(count_));
  tensor_.for_runs(0, count_, [&](const char* from, ptrdiff_t stride, int64_t here) {
    for (int64_t i = 0; i < here; ++i, from += stride) {
      T value;
      std::memcpy(&value, from, sizeof(T));
      values.push_back(value);
    }
  });
  return values;
}

template <typename T>
void IndexList::write_as(const std::vector<int64_t>& values) const {
  size_t next = 0;
  tensor_.for_runs(0, count_, [&](char* to, ptrdiff_t stride, int64_t here) {
    for (int64_t i = 0; i < here; ++i, to += stride) {
      const T value = static_cast<T>(values[next++]);
      std::memcpy(to, &value, sizeof(T));
    }
  });
}

std::vector<int64_t> IndexList::read() const {
  if (count_ == 0) return {};
  return is_widened_ ? read_as<int64_t>() : read_as<int32_t>();
}

void IndexList::write(const std::vector<int64_t>& values) const {
  if (count_ == 0) return;
  if (is_widened_) {
    write_as<int64_t>(values);
  } else {
    write_as<int32_t>(values);
  }
}

Status check_indices(const std::vector<int64_t>& indices, int64_t limit, const char* role) {
  for (const int64_t index : indices) {
    if (index < 0 || index >= limit) {
      return bad_experts(text(role, ": index ", index, " is out of range: 0 up to ", limit - 1, " are taken"));
    }
  }
  return Status::ok();
}

}  // namespace softnpu
