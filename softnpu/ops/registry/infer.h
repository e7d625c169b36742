#pragma once
// Rules that infer the types and sizes of results, for the rows of operators. PyTorch's own, as its meta functions have
// them; a size is Operands::kUnknown where the run determines it.

#include <initializer_list>
#include <string>

#include "ops/registry/operands.h"

namespace softnpu {

using Outputs = std::initializer_list<aclTensor*>;

aclIntArray ints(std::initializer_list<int64_t> values);
// The data type with CANN's number `number`.
inline aclDataType as_dtype(int64_t number) { return static_cast<aclDataType>(number); }
// The last size; 1 without dimensions.
int64_t last_size(const aclTensor& tensor);
// `dim` in [-rank, rank) as an index; a tensor without dimensions counts as one with one.
Status find_dim(int64_t dim, size_t rank, size_t* out);

Status nothing(Operands& of);
// Sizes and type of `x`, or another type.
Status like(const aclTensor& x, aclTensor& y);
Status like(const aclTensor& x, aclDataType dtype, aclTensor& y);
Status all_like(std::initializer_list<const aclTensor*> xs, Outputs ys);
// The given sizes.
Status sized(const aclIntArray& sizes, aclDataType dtype, aclTensor& y);
// `x` in the type of CANN's number `dtype`.
Status converted(const aclTensor& x, int64_t dtype, aclTensor& y);

// The first `count` inputs, tensors or numbers, are broadcast; the type is PyTorch's promoted one, the same in floating
// point, or bool.
Status promoted(Operands& of, size_t count, aclTensor& y);
Status promoted_floating(Operands& of, size_t count, aclTensor& y);
Status compared(Operands& of, size_t count, aclTensor& y);
// `x` without its sign: the real type of a complex one.
Status magnitude(const aclTensor& x, aclTensor& y);
// `x` where `mask` is false.
Status masked(const aclTensor& x, const aclTensor& mask, aclTensor& y);
Status selected(const aclTensor& condition, const aclTensor& x1, const aclTensor& x2, aclTensor& y);

// Without the dimensions `axes`, or with one element in each; all dimensions if there are none in `axes`.
Status reduced(const aclTensor& x, const aclIntArray& axes, bool keep_dims, aclDataType dtype, aclTensor& y);
Status reduced_index(const aclTensor& x, const aclScalar& dim, bool keep_dims, int64_t dtype, aclTensor& y);
Status reduced_where(const aclTensor& x, int64_t dim, bool keep_dims, aclTensor& indices, aclTensor& values);
// Values like `x`, and the index of each.
Status with_indices(const aclTensor& x, aclTensor& y, aclTensor& indices);

Status concatenated(const aclTensorList& xs, int64_t dim, aclTensor& y);
// Along a new dimension.
Status stacked(const aclTensorList& xs, int64_t dim, aclTensor& y);
// A new dimension `dim` of `size` elements.
Status inserted(const aclTensor& x, int64_t dim, int64_t size, aclDataType dtype, aclTensor& y);
// Paddings are pairs, those of the first dimension first.
Status padded(const aclTensor& x, const aclIntArray& paddings, aclTensor& y);
Status ranged(const aclScalar& start, const aclScalar& limit, const aclScalar& delta, aclDataType dtype, aclTensor& y);
Status tiled(const aclTensor& x, const aclIntArray& multiples, aclTensor& y);
Status transposed(const aclTensor& x, const aclIntArray& order, aclTensor& y);
Status highest(const aclTensor& x, const aclIntArray& k, int64_t dim, aclTensor& values, aclTensor& indices);

// x[.., indices, ..] along `axis`; the first `batch_dims` dimensions are common.
Status gathered(const aclTensor& x, const aclTensor& indices, const aclIntArray& axis, int64_t batch_dims,
                aclTensor& y);
// Dimensions whose mask is not 0 are indexed by one tensor each.
Status indexed(const aclTensor& x, const aclIntArray& masks, const aclTensorList& indices, aclTensor& y);
Status nonzeros(const aclTensor& x, bool transpose, aclTensor& y);

// Products of matrices [.., m, k] and [.., k, n].
Status multiplied(const aclTensor& a, const aclTensor& b, aclTensor& y);
// [N, C, `size`..]
Status with_spatial(const aclTensor& x, const aclIntArray& size, aclTensor& y);
// One float32 per channel.
Status by_channel(const aclTensor& x, Outputs ys);
// y like x, one float32 per channel in each of `statistics`.
Status normalized(const aclTensor& x, aclTensor& y, Outputs statistics);
// The last dimensions, those of `gamma`, have one element in `statistics`.
Status normalized_rows(const aclTensor& x, const aclTensor& gamma, aclTensor& y, Outputs statistics);

// A loss: like `x` if `reduction` is "none", else one number.
Status summed(const aclTensor& x, const std::string& reduction, aclTensor& y);

}  // namespace softnpu
