#include "ops/core/iterate/space.h"

#include <algorithm>
#include <numeric>

#include "base/text.h"
#include "ops/core/contiguous.h"
#include "ops/core/describe.h"
#include "ops/core/dtype.h"
#include "ops/core/tensor_memory.h"

namespace softnpu {
namespace {

// The broadcast shape of all tensors.
Status broadcast(std::span<const aclTensor* const> tensors, Dims* out) {
  size_t most = 0;
  for (const aclTensor* tensor : tensors) most = std::max(most, tensor->dims.size());
  out->resize(most, 1);
  for (const aclTensor* tensor : tensors) {
    const size_t n = tensor->dims.size();
    for (size_t i = 0; i < n; ++i) {
      int64_t& size = (*out)[most - n + i];
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

// Whether nothing is broadcast and all tensors are contiguous with the same order of dimensions.
bool is_flat(std::span<const aclTensor* const> tensors) {
  const Dims& shape = tensors[0]->dims;
  for (const aclTensor* tensor : tensors) {
    const size_t n = tensor->dims.size();
    if (n != shape.size() || !is_contiguous(*tensor)) return false;
    for (size_t i = 0; i < n; ++i) {
      if (tensor->dims[i] != shape[i]) return false;
    }
  }
  return true;
}

Status check_result(const aclTensor& tensor, std::span<const int64_t> shape) {
  if (std::ranges::equal(tensor.dims, shape)) return Status::ok();
  return {ACLNN_ERR_PARAM_INVALID, text("the result has the shape ", describe_shape(tensor.dims), " where ",
                                        describe_shape(shape), " is needed")};
}

}  // namespace

Status Space::make(std::span<const aclTensor* const> tensors, size_t outputs, Space* out) {
  for (const aclTensor* tensor : tensors) {
    if (!is_known(tensor->dtype)) {
      return {ACLNN_ERR_PARAM_INVALID, text("no operator computes with data type ", static_cast<int>(tensor->dtype))};
    }
  }
  if (is_flat(tensors)) {
    SOFTNPU_RETURN_IF_ERROR(out->find(tensors, outputs));
    out->flatten(tensors);
    return Status::ok();
  }
  Sizes shape;
  SOFTNPU_RETURN_IF_ERROR(broadcast(tensors, &shape));
  for (size_t i = 0; i < outputs; ++i) {
    SOFTNPU_RETURN_IF_ERROR(check_result(*tensors[i], std::span(shape.data(), shape.size())));
  }
  SOFTNPU_RETURN_IF_ERROR(out->find(tensors, outputs));
  if (std::ranges::find(shape, 0) != shape.end()) {  // strides of no elements have no meaning
    out->flatten(tensors);
    out->count_ = 0;
    out->sizes_[0] = 0;
    return Status::ok();
  }
  const size_t n = shape.size();
  Strides strides(tensors.size() * n);
  for (size_t k = 0; k < tensors.size(); ++k) {
    const aclTensor& tensor = *tensors[k];
    const auto size = static_cast<ptrdiff_t>(aclDataTypeSize(tensor.dtype));
    const size_t missing = n - tensor.dims.size();
    for (size_t i = missing; i < n; ++i) {
      strides[k * n + i] = tensor.dims[i - missing] == 1 ? 0 : tensor.strides[i - missing] * size;
    }
  }
  out->order(shape, strides, outputs);
  return Status::ok();
}

Status Space::find(std::span<const aclTensor* const> tensors, size_t outputs) {
  operand_count_ = tensors.size();
  for (size_t k = 0; k < tensors.size(); ++k) {
    void* data = nullptr;
    SOFTNPU_RETURN_IF_ERROR(tensor_memory(*tensors[k], k < outputs ? "the result" : "an argument", &data));
    operands_[k] = {static_cast<char*>(data), tensors[k]->dtype};
  }
  return Status::ok();
}

void Space::flatten(std::span<const aclTensor* const> tensors) {
  count_ = element_count(*tensors[0]);
  sizes_.assign(&count_, &count_ + 1);
  strides_.clear();
  for (const aclTensor* tensor : tensors) {
    strides_.push_back(static_cast<ptrdiff_t>(aclDataTypeSize(tensor->dtype)));
  }
}

void Space::order(const Sizes& shape, const Strides& strides, size_t outputs) {
  const size_t n = shape.size();
  const size_t operands = operand_count_;
  count_ = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
  // The order of the result's memory; dimensions of size 1 are ignored.
  SmallVector<size_t, 8> order;
  for (size_t i = 0; i < n; ++i) {
    if (shape[i] != 1) order.push_back(i);
  }
  const auto before = [&](size_t a, size_t b) {
    for (size_t k = 0; k < operands; ++k) {
      const ptrdiff_t x = strides[k * n + a];
      const ptrdiff_t y = strides[k * n + b];
      if (x == 0 || y == 0 || x == y) continue;  // no preference: the next tensor decides
      return x > y;
    }
    return false;
  };
  // Insertion sort: `before` is no strict weak order, since it may have no preference for two dimensions.
  for (size_t i = 1; i < order.size(); ++i) {
    for (size_t j = i; j > 0 && before(order[j], order[j - 1]); --j) std::swap(order[j], order[j - 1]);
  }
  SmallVector<size_t, 8> kept;  // the innermost of each group of merged dimensions
  sizes_.clear();
  for (size_t i : order) {
    const auto joins = [&] {
      for (size_t k = 0; k < operands; ++k) {
        if (strides[k * n + kept.back()] != strides[k * n + i] * shape[i]) return false;
      }
      return true;
    };
    if (!kept.empty() && joins()) {
      kept.back() = i;
      sizes_.back() *= shape[i];
    } else {
      kept.push_back(i);
      sizes_.push_back(shape[i]);
    }
  }
  if (kept.empty()) sizes_.push_back(count_);
  strides_.clear();
  for (size_t k = 0; k < operands; ++k) {
    bool moves = false;
    for (size_t i : kept) {
      strides_.push_back(strides[k * n + i]);
      moves = moves || strides_.back() != 0;
    }
    if (kept.empty()) strides_.push_back(0);
    operands_[k].is_constant = k >= outputs && !moves;
  }
}

std::pair<const char*, const char*> Space::extent(size_t operand) const {
  const char* begin = operands_[operand].data;
  const char* end = begin + aclDataTypeSize(operands_[operand].dtype);
  for (size_t d = 0; !operands_[operand].is_constant && d < dims(); ++d) {
    const ptrdiff_t reach = (size(d) - 1) * stride(operand, d);
    (reach < 0 ? begin : end) += reach;
  }
  return {begin, end};
}

char* Space::chunk(size_t operand, int64_t first, int64_t count, ptrdiff_t step) const {
  const int64_t inner = sizes_[sizes_.size() - 1];
  if (stride(operand, sizes_.size() - 1) != step || first % inner + count > inner) return nullptr;
  char* location = nullptr;
  for_runs(operand, first, count, [&location](char* from, ptrdiff_t, size_t) { location = from; });
  return location;
}

bool Space::is_contiguous(size_t operand) const {
  return sizes_.size() == 1 &&
         (strides_[operand] == static_cast<ptrdiff_t>(aclDataTypeSize(operands_[operand].dtype)) || count_ <= 1);
}

}  // namespace softnpu
