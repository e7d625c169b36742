#include "ops/registry/infer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "base/text.h"
#include "ops/core/describe.h"
#include "ops/core/dtype.h"
#include "ops/math/elementwise/promotion.h"
#include "ops/registry/invalid_call.h"

namespace softnpu {
namespace {

constexpr aclDataType kIndex = ACL_INT64;

Status put(const Dims& dims, aclDataType dtype, aclTensor& y) {
  y.dims = dims;
  y.dtype = dtype;
  return Status::ok();
}

// The first `count` sizes.
Dims leading(const Dims& sizes, size_t count) {
  Dims dims;
  for (size_t i = 0; i < count && i < sizes.size(); ++i) dims.push_back(sizes[i]);
  return dims;
}

// Broadcasts `sizes` into `dims`.
Status broadcast(const Dims& sizes, Dims* dims) {
  Dims whole = sizes.size() > dims->size() ? sizes : *dims;
  const Dims& other = sizes.size() > dims->size() ? *dims : sizes;
  const size_t shift = whole.size() - other.size();
  for (size_t i = 0; i < other.size(); ++i) {
    int64_t& size = whole[shift + i];
    if (size == 1) {
      size = other[i];
    } else if (other[i] != 1 && other[i] != size) {
      return {ACL_ERROR_INVALID_PARAM, text("sizes ", size, " and ", other[i], " of one dimension do not match")};
    }
  }
  *dims = whole;
  return Status::ok();
}

// The first `count` inputs broadcast, and their promoted type.
Status broadcast_and_promote(Operands& of, size_t count, Dims* dims, aclDataType* dtype) {
  std::array<aclScalar, 4> numbers;
  std::vector<MapInput> inputs;
  const size_t given = std::min(count, of.count());
  for (size_t i = 0; i < given; ++i) {
    inputs.push_back(of.value(i, &numbers[i]));
    if (inputs[i].tensor != nullptr) SOFTNPU_RETURN_IF_ERROR(broadcast(inputs[i].tensor->dims, dims));
  }
  SOFTNPU_RETURN_IF_ERROR(of.peek());
  const bool are_numbers = std::ranges::all_of(inputs, [](const MapInput& input) { return input.tensor == nullptr; });
  if (are_numbers) {
    *dtype = of.dtype(0);
    return Status::ok();
  }
  return promoted_type(inputs, aclTensor{}, dtype);
}

}  // namespace

aclIntArray ints(std::initializer_list<int64_t> values) {
  aclIntArray array;
  for (const int64_t value : values) array.values.push_back(value);
  return array;
}

int64_t last_size(const aclTensor& tensor) { return tensor.dims.empty() ? 1 : tensor.dims.back(); }

Status find_dim(int64_t dim, size_t rank, size_t* out) {
  const auto most = static_cast<int64_t>(std::max<size_t>(rank, 1));
  if (dim < -most || dim >= most) {
    return {ACL_ERROR_INVALID_PARAM, text("dimension ", dim, " of a tensor of ", rank, " dimensions")};
  }
  *out = static_cast<size_t>(dim < 0 ? dim + most : dim);
  return Status::ok();
}

Status nothing(Operands& /*of*/) { return Status::ok(); }

Status like(const aclTensor& x, aclTensor& y) { return put(x.dims, x.dtype, y); }
Status like(const aclTensor& x, aclDataType dtype, aclTensor& y) { return put(x.dims, dtype, y); }

Status all_like(std::initializer_list<const aclTensor*> xs, Outputs ys) {
  auto y = ys.begin();
  for (const aclTensor* x : xs) SOFTNPU_RETURN_IF_ERROR(like(*x, **y++));
  return Status::ok();
}

Status sized(const aclIntArray& sizes, aclDataType dtype, aclTensor& y) {
  for (const int64_t size : sizes) {
    if (size < 0 && size != Operands::kUnknown) return {ACL_ERROR_INVALID_PARAM, text("a size of ", size)};
  }
  return put(Dims(sizes.begin(), sizes.end()), dtype, y);
}

Status converted(const aclTensor& x, int64_t dtype, aclTensor& y) {
  if (!is_known(as_dtype(dtype))) return {ACL_ERROR_INVALID_PARAM, text("the data type ", dtype, " is not known")};
  return put(x.dims, as_dtype(dtype), y);
}

Status promoted(Operands& of, size_t count, aclTensor& y) {
  return broadcast_and_promote(of, count, &y.dims, &y.dtype);
}

Status promoted_floating(Operands& of, size_t count, aclTensor& y) {
  SOFTNPU_RETURN_IF_ERROR(promoted(of, count, y));
  if (is_integral(y.dtype)) y.dtype = ACL_FLOAT;
  return Status::ok();
}

Status compared(Operands& of, size_t count, aclTensor& y) {
  SOFTNPU_RETURN_IF_ERROR(promoted(of, count, y));
  y.dtype = ACL_BOOL;
  return Status::ok();
}

Status magnitude(const aclTensor& x, aclTensor& y) {
  return put(x.dims, is_known(x.dtype) && is_complex(x.dtype) ? real_of(x.dtype) : x.dtype, y);
}

Status masked(const aclTensor& x, const aclTensor& mask, aclTensor& y) {
  Dims dims = x.dims;
  SOFTNPU_RETURN_IF_ERROR(broadcast(mask.dims, &dims));
  return put(dims, x.dtype, y);
}

Status selected(const aclTensor& condition, const aclTensor& x1, const aclTensor& x2, aclTensor& y) {
  Dims dims = condition.dims;
  SOFTNPU_RETURN_IF_ERROR(broadcast(x1.dims, &dims));
  SOFTNPU_RETURN_IF_ERROR(broadcast(x2.dims, &dims));
  const MapInput inputs[] = {x1, x2};
  y.dims = dims;
  return promoted_type(inputs, aclTensor{}, &y.dtype);
}

Status reduced(const aclTensor& x, const aclIntArray& axes, bool keep_dims, aclDataType dtype, aclTensor& y) {
  const size_t rank = x.dims.size();
  std::vector<bool> marked(rank, axes.empty());
  for (const int64_t axis : axes) {
    size_t dim = 0;
    SOFTNPU_RETURN_IF_ERROR(find_dim(axis, rank, &dim));
    if (rank == 0) continue;
    if (marked[dim]) return {ACL_ERROR_INVALID_PARAM, text("dimension ", axis, " is given twice")};
    marked[dim] = true;
  }
  Dims dims;
  for (size_t i = 0; i < rank; ++i) {
    if (!marked[i]) dims.push_back(x.dims[i]);
    if (marked[i] && keep_dims) dims.push_back(1);
  }
  return put(dims, dtype, y);
}

Status reduced_index(const aclTensor& x, const aclScalar& dim, bool keep_dims, int64_t dtype, aclTensor& y) {
  return reduced(x, ints({dim.as_int64()}), keep_dims, as_dtype(dtype), y);
}

Status reduced_where(const aclTensor& x, int64_t dim, bool keep_dims, aclTensor& indices, aclTensor& values) {
  SOFTNPU_RETURN_IF_ERROR(reduced(x, ints({dim}), keep_dims, kIndex, indices));
  return reduced(x, ints({dim}), keep_dims, x.dtype, values);
}

Status with_indices(const aclTensor& x, aclTensor& y, aclTensor& indices) {
  SOFTNPU_RETURN_IF_ERROR(like(x, y));
  return like(x, kIndex, indices);
}

Status concatenated(const aclTensorList& xs, int64_t dim, aclTensor& y) {
  if (xs.size() == 0) return invalid_call("no tensor is given");
  const aclTensor& first = *xs[0];
  size_t at = 0;
  SOFTNPU_RETURN_IF_ERROR(find_dim(dim, first.dims.size(), &at));
  if (first.dims.empty()) return invalid_call("tensors without dimensions are not concatenated");
  Dims dims = first.dims;
  std::vector<MapInput> inputs;
  Checked along = 0;
  for (size_t i = 0; i < xs.size(); ++i) {
    const Dims& sizes = xs[i]->dims;
    for (size_t d = 0; d < dims.size(); ++d) {
      if (sizes.size() == dims.size() && (d == at || sizes[d] == dims[d])) continue;
      return {ACL_ERROR_INVALID_PARAM, text("input ", i, " is ", describe(*xs[i]), ", the first ", describe(first))};
    }
    along = along + sizes[at];
    inputs.push_back(*xs[i]);
  }
  if (!along.fits()) return invalid_call("the result has more elements than 64 bits count");
  dims[at] = along.value();
  y.dims = dims;
  return promoted_type(inputs, aclTensor{}, &y.dtype);
}

Status stacked(const aclTensorList& xs, int64_t dim, aclTensor& y) {
  if (xs.size() == 0) return invalid_call("no tensor is given");
  std::vector<MapInput> inputs;
  for (size_t i = 0; i < xs.size(); ++i) {
    if (!std::ranges::equal(xs[i]->dims, xs[0]->dims)) return invalid_call("tensors of one size are stacked");
    inputs.push_back(*xs[i]);
  }
  SOFTNPU_RETURN_IF_ERROR(inserted(*xs[0], dim, static_cast<int64_t>(xs.size()), xs[0]->dtype, y));
  return promoted_type(inputs, aclTensor{}, &y.dtype);
}

Status inserted(const aclTensor& x, int64_t dim, int64_t size, aclDataType dtype, aclTensor& y) {
  size_t at = 0;
  SOFTNPU_RETURN_IF_ERROR(find_dim(dim, x.dims.size() + 1, &at));
  Dims dims;
  for (size_t i = 0; i <= x.dims.size(); ++i) {
    if (i == at) dims.push_back(size);
    if (i < x.dims.size()) dims.push_back(x.dims[i]);
  }
  return put(dims, dtype, y);
}

Status padded(const aclTensor& x, const aclIntArray& paddings, aclTensor& y) {
  if (paddings.size() != 2 * x.dims.size()) return invalid_call("a pair of paddings for each dimension is needed");
  Dims dims = x.dims;
  for (size_t i = 0; i < dims.size(); ++i) {
    const Checked size = checked(dims[i]) + paddings[2 * i] + paddings[2 * i + 1];
    if (!size.fits() || size.value() < 0) return invalid_call("more is cropped than there is, or too much is added");
    dims[i] = size.value();
  }
  return put(dims, x.dtype, y);
}

Status ranged(const aclScalar& start, const aclScalar& limit, const aclScalar& delta, aclDataType dtype, aclTensor& y) {
  const double step = delta.as_double();
  const double count = std::ceil((limit.as_double() - start.as_double()) / step);
  if (step == 0 || std::isnan(count)) return invalid_call("the step is 0, or a bound is not a number");
  if (count < 0) return invalid_call("the bounds do not fit the step's sign");
  if (count >= 0x1p62) return invalid_call("the range has too many elements");
  return put({static_cast<int64_t>(count)}, dtype, y);
}

Status tiled(const aclTensor& x, const aclIntArray& multiples, aclTensor& y) {
  if (multiples.size() < x.dims.size()) return invalid_call("a multiple for each dimension is needed");
  Dims dims(multiples.begin(), multiples.end());
  const size_t shift = dims.size() - x.dims.size();
  for (size_t i = 0; i < x.dims.size(); ++i) {
    const Checked size = checked(dims[shift + i]) * x.dims[i];
    if (!size.fits()) return invalid_call("the result has more elements than 64 bits count");
    dims[shift + i] = size.value();
  }
  if (std::ranges::any_of(dims, [](int64_t size) { return size < 0; })) return invalid_call("a multiple is negative");
  return put(dims, x.dtype, y);
}

Status transposed(const aclTensor& x, const aclIntArray& order, aclTensor& y) {
  const size_t rank = x.dims.size();
  if (order.size() != rank) return invalid_call("each dimension is named once");
  std::vector<bool> used(rank);
  Dims dims;
  for (const int64_t one : order) {
    size_t dim = 0;
    SOFTNPU_RETURN_IF_ERROR(find_dim(one, rank, &dim));
    if (used[dim]) return invalid_call("each dimension is named once");
    used[dim] = true;
    dims.push_back(x.dims[dim]);
  }
  return put(dims, x.dtype, y);
}

Status highest(const aclTensor& x, const aclIntArray& k, int64_t dim, aclTensor& values, aclTensor& indices) {
  if (k.size() != 1) return invalid_call("one k is needed");
  size_t at = 0;
  SOFTNPU_RETURN_IF_ERROR(find_dim(dim, x.dims.size(), &at));
  Dims dims = x.dims;
  if (k[0] < 0 || k[0] > (dims.empty() ? 1 : dims[at])) {
    return {ACL_ERROR_INVALID_PARAM, text("k is ", k[0], ", more than the dimension has, or negative")};
  }
  if (!dims.empty()) dims[at] = k[0];
  SOFTNPU_RETURN_IF_ERROR(put(dims, x.dtype, values));
  return put(dims, kIndex, indices);
}

Status gathered(const aclTensor& x, const aclTensor& indices, const aclIntArray& axis, int64_t batch_dims,
                aclTensor& y) {
  if (axis.size() != 1) return invalid_call("one axis is needed");
  size_t at = 0;
  SOFTNPU_RETURN_IF_ERROR(find_dim(axis[0], x.dims.size(), &at));
  const auto common = static_cast<size_t>(batch_dims);
  if (batch_dims < 0 || common > at || common > indices.dims.size()) {
    return {ACL_ERROR_INVALID_PARAM, text(batch_dims, " common dimensions")};
  }
  Dims dims;
  for (size_t i = 0; i < at; ++i) dims.push_back(x.dims[i]);
  for (size_t i = common; i < indices.dims.size(); ++i) dims.push_back(indices.dims[i]);
  for (size_t i = at + 1; i < x.dims.size(); ++i) dims.push_back(x.dims[i]);
  return put(dims, x.dtype, y);
}

Status indexed(const aclTensor& x, const aclIntArray& masks, const aclTensorList& indices, aclTensor& y) {
  if (masks.size() > x.dims.size()) return invalid_call("more masks than dimensions");
  Dims picked;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i]->dtype == ACL_BOOL || indices[i]->dtype == ACL_UINT8) {
      return invalid_call("the sizes of a result that masks select are known after the run only");
    }
    SOFTNPU_RETURN_IF_ERROR(broadcast(indices[i]->dims, &picked));
  }
  std::vector<size_t> used;
  for (size_t i = 0; i < masks.size(); ++i) {
    if (masks[i] != 0) used.push_back(i);
  }
  if (used.size() != indices.size()) return invalid_call("an index tensor for each mask of 1 is needed");
  // Indexed dimensions beside each other are replaced in place, others by the first dimensions of the result.
  const bool are_grouped = !used.empty() && used.back() - used.front() + 1 == used.size();
  Dims dims;
  if (!are_grouped) dims = picked;
  for (size_t i = 0; i < x.dims.size(); ++i) {
    if (are_grouped && i == used.front()) {
      for (const int64_t size : picked) dims.push_back(size);
    }
    if (std::ranges::find(used, i) == used.end()) dims.push_back(x.dims[i]);
  }
  return put(dims, x.dtype, y);
}

Status nonzeros(const aclTensor& x, bool transpose, aclTensor& y) {
  const auto rank = static_cast<int64_t>(x.dims.size());
  return transpose ? put({rank, Operands::kUnknown}, kIndex, y) : put({Operands::kUnknown, rank}, kIndex, y);
}

Status multiplied(const aclTensor& a, const aclTensor& b, aclTensor& y) {
  const size_t n = a.dims.size();
  const size_t m = b.dims.size();
  if (n < 2 || m < 2 || a.dims[n - 1] != b.dims[m - 2]) {
    return {ACL_ERROR_INVALID_PARAM, text("the factors ", describe(a), " and ", describe(b), " do not match")};
  }
  Dims dims = leading(a.dims, n - 2);
  SOFTNPU_RETURN_IF_ERROR(broadcast(leading(b.dims, m - 2), &dims));
  dims.push_back(a.dims[n - 2]);
  dims.push_back(b.dims[m - 1]);
  return put(dims, a.dtype, y);
}

Status with_spatial(const aclTensor& x, const aclIntArray& size, aclTensor& y) {
  if (x.dims.size() < size.size()) return invalid_call("the image has fewer dimensions than sizes are given");
  Dims dims = leading(x.dims, x.dims.size() - size.size());
  for (const int64_t one : size) dims.push_back(one);
  return put(dims, x.dtype, y);
}

Status by_channel(const aclTensor& x, Outputs ys) {
  if (x.dims.size() < 2) return invalid_call("an image [N, C, ..] is needed");
  for (aclTensor* y : ys) SOFTNPU_RETURN_IF_ERROR(put({x.dims[1]}, ACL_FLOAT, *y));
  return Status::ok();
}

Status normalized(const aclTensor& x, aclTensor& y, Outputs statistics) {
  SOFTNPU_RETURN_IF_ERROR(like(x, y));
  return by_channel(x, statistics);
}

Status normalized_rows(const aclTensor& x, const aclTensor& gamma, aclTensor& y, Outputs statistics) {
  const size_t rank = x.dims.size();
  if (gamma.dims.size() > rank) return invalid_call("the weight has more dimensions than the input");
  Dims dims = leading(x.dims, rank - gamma.dims.size());
  while (dims.size() < rank) dims.push_back(1);
  for (aclTensor* one : statistics) SOFTNPU_RETURN_IF_ERROR(put(dims, x.dtype, *one));
  return like(x, y);
}

Status summed(const aclTensor& x, const std::string& reduction, aclTensor& y) {
  return put(reduction == "none" ? x.dims : Dims{}, x.dtype, y);
}

}  // namespace softnpu
