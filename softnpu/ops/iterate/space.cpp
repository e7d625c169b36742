#include "ops/iterate/space.h"

#include <algorithm>
#include <numeric>

#include "base/text.h"
#include "ops/describe.h"
#include "ops/dtype.h"
#include "ops/tensor_memory.h"

namespace softnpu {
namespace {

// The broadcast shape of all tensors.
Status broadcast(std::span<const aclTensor* const> tensors, std::vector<int64_t>* out) {
  for (const aclTensor* tensor : tensors) {
    const size_t n = tensor->dims.size();
    if (out->size() < n) out->insert(out->begin(), n - out->size(), 1);
    for (size_t i = 0; i < n; ++i) {
      int64_t& size = (*out)[out->size() - n + i];
      const int64_t own = tensor->dims[i];
      if (own == 1 || own == size) continue;
      if (size != 1) {
        return {ACLNN_ERR_PARAM_INVALID, text("the shapes ", describe(tensors), " cannot be broadcast together")};
      }
      size = own;
    }
  }
  return Status::ok();
}

// A result whose elements share one place has no value of its own; PyTorch refuses it, too.
Status check_result(const aclTensor& tensor, std::span<const int64_t> shape) {
  if (!std::ranges::equal(tensor.dims, shape)) {
    return {ACLNN_ERR_PARAM_INVALID, text("the result has the shape ", describe_shape(tensor.dims), " where ",
                                          describe_shape(shape), " is needed")};
  }
  for (size_t i = 0; i < tensor.dims.size(); ++i) {
    if (tensor.dims[i] <= 1 || tensor.strides[i] != 0) continue;
    return {ACLNN_ERR_PARAM_INVALID, text("the result ", describe(tensor), " has the stride 0 in dimension ", i)};
  }
  return Status::ok();
}

}  // namespace

Status Space::make(std::span<const aclTensor* const> tensors, size_t outputs, Space* out) {
  for (const aclTensor* tensor : tensors) {
    if (!is_known(tensor->dtype)) {
      return {ACLNN_ERR_PARAM_INVALID, text("no operator computes with data type ", static_cast<int>(tensor->dtype))};
    }
  }
  std::vector<int64_t> shape;
  SOFTNPU_RETURN_IF_ERROR(broadcast(tensors, &shape));
  for (size_t i = 0; i < outputs; ++i) {
    SOFTNPU_RETURN_IF_ERROR(check_result(*tensors[i], shape));
  }
  const size_t n = shape.size();
  const size_t operands = tensors.size();
  out->operand_count_ = operands;
  out->count_ = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
  std::vector<ptrdiff_t> strides(operands * n);
  for (size_t k = 0; k < operands; ++k) {
    const aclTensor& tensor = *tensors[k];
    Operand& operand = out->operands_[k];
    void* data = nullptr;
    SOFTNPU_RETURN_IF_ERROR(tensor_memory(tensor, k < outputs ? "the result" : "an argument", &data));
    operand.data = static_cast<char*>(data);
    operand.dtype = tensor.dtype;
    const auto size = static_cast<ptrdiff_t>(aclDataTypeSize(tensor.dtype));
    const size_t missing = n - tensor.dims.size();
    for (size_t i = missing; i < n; ++i) {
      strides[k * n + i] = tensor.dims[i - missing] == 1 ? 0 : tensor.strides[i - missing] * size;
    }
  }
  // The order of the result's memory; dimensions of size 1 do not count.
  std::vector<size_t> order;
  for (size_t i = 0; i < n; ++i) {
    if (shape[i] != 1) order.push_back(i);
  }
  const auto before = [&](size_t a, size_t b) {
    for (size_t k = 0; k < operands; ++k) {
      const ptrdiff_t x = strides[k * n + a];
      const ptrdiff_t y = strides[k * n + b];
      if (x == 0 || y == 0 || x == y) continue;  // says nothing: the next tensor decides
      return x > y;
    }
    return false;
  };
  // Insertion: `before` is no strict order, since it may be silent about two dimensions.
  for (size_t i = 1; i < order.size(); ++i) {
    for (size_t j = i; j > 0 && before(order[j], order[j - 1]); --j) std::swap(order[j], order[j - 1]);
  }
  std::vector<size_t> kept;  // the innermost of each group of joined dimensions
  std::vector<int64_t>& sizes = out->sizes_;
  sizes.clear();
  for (size_t i : order) {
    const auto joins = [&] {
      for (size_t k = 0; k < operands; ++k) {
        if (strides[k * n + kept.back()] != strides[k * n + i] * shape[i]) return false;
      }
      return true;
    };
    if (!kept.empty() && joins()) {
      kept.back() = i;
      sizes.back() *= shape[i];
    } else {
      kept.push_back(i);
      sizes.push_back(shape[i]);
    }
  }
  out->strides_.clear();
  for (size_t k = 0; k < operands; ++k) {
    Operand& operand = out->operands_[k];
    for (size_t i : kept) out->strides_.push_back(strides[k * n + i]);
    if (kept.empty()) out->strides_.push_back(0);
    operand.is_constant =
        k >= outputs && std::all_of(out->strides_.end() - static_cast<ptrdiff_t>(std::max<size_t>(kept.size(), 1)),
                                    out->strides_.end(), [](ptrdiff_t s) { return s == 0; });
  }
  if (kept.empty()) sizes.push_back(out->count_);
  return Status::ok();
}

bool Space::is_contiguous(size_t operand) const {
  return sizes_.size() == 1 &&
         (strides_[operand] == static_cast<ptrdiff_t>(aclDataTypeSize(operands_[operand].dtype)) || count_ <= 1);
}

}  // namespace softnpu
