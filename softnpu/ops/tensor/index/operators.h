#pragma once
// Planners for operators.txt. Definitions as in PyTorch's functions of the same names. An index out of range is an
// error when the operator runs; its text contains the index.

#include "nnopbase/arrays.h"
#include "nnopbase/executor.h"
#include "nnopbase/scalar.h"
#include "nnopbase/tensor.h"

namespace softnpu {

// Reading operators.
Status index_select(const aclTensor& self, int64_t dim, const aclTensor& index, const aclTensor& out, Plan* plan);
// `index` has any number of dimensions, which replace `dim` in the result.
Status gather_rows(const aclTensor& self, int64_t dim, const aclTensor& index, const aclTensor& out, Plan* plan);
Status gather_rows_of_batch(const aclTensor& self, int64_t dim, const aclTensor& index, int64_t batch_dims,
                            const aclTensor& out, Plan* plan);
Status take(const aclTensor& self, const aclTensor& index, const aclTensor& out, Plan* plan);
// Null and empty index tensors select whole dimensions.
Status index(const aclTensor& self, const aclTensorList& indices, const aclTensor& out, Plan* plan);
Status gather(const aclTensor& self, int64_t dim, const aclTensor& index, const aclTensor& out, Plan* plan);

// Writing operators; `out` may be `self`.
Status index_put(const aclTensor& self, const aclTensorList& indices, const aclTensor& values, bool accumulate,
                 Plan* plan);
Status put(const aclTensor& self, const aclTensor& index, const aclTensor& source, bool accumulate, Plan* plan);
Status index_add(const aclTensor& self, int64_t dim, const aclTensor& index, const aclTensor& source,
                 const aclScalar& alpha, const aclTensor& out, Plan* plan);
Status index_copy(const aclTensor& self, int64_t dim, const aclTensor& index, const aclTensor& source,
                  const aclTensor& out, Plan* plan);
Status index_fill(const aclTensor& self, int64_t dim, const aclTensor& index, const aclScalar& value,
                  const aclTensor& out, Plan* plan);
Status index_fill(const aclTensor& self, int64_t dim, const aclIntArray& index, const aclScalar& value,
                  const aclTensor& out, Plan* plan);
Status scatter_nd_update(const aclTensor& self, const aclTensor& indices, const aclTensor& updates, Plan* plan);

// `reduction`: 0 replaces, 1 adds, 2 multiplies, 3 maximum, 4 minimum, 5 mean.
Status scatter(const aclTensor& self, int64_t dim, const aclTensor& index, const aclTensor& src, int64_t reduction,
               bool include_self, const aclTensor& out, Plan* plan);
Status scatter(const aclTensor& self, int64_t dim, const aclTensor& index, const aclScalar& value, int64_t reduction,
               bool include_self, const aclTensor& out, Plan* plan);

Status embedding_backward(const aclTensor& grad, const aclTensor& indices, int64_t weights, int64_t padding,
                          bool scale_by_frequency, const aclTensor& out, Plan* plan);

// Operators with masks. Sizes that depend on values are set when the run is done.
Status masked_select(const aclTensor& self, const aclTensor& mask, aclTensor& out, Plan* plan);
Status masked_scatter(const aclTensor& self, const aclTensor& mask, const aclTensor& source, Plan* plan);
// [elements, dimensions], or the other way round.
Status nonzero(const aclTensor& self, bool transposed, aclTensor& out, Plan* plan);

// Without a dimension, repeats elements in their logical order.
Status repeat_interleave(const aclTensor& self, const aclTensor& repeats, int64_t size, const aclTensor& out,
                         Plan* plan);
Status repeat_interleave(const aclTensor& self, int64_t repeats, int64_t size, const aclTensor& out, Plan* plan);
Status repeat_interleave(const aclTensor& self, const aclTensor& repeats, int64_t dim, int64_t size,
                         const aclTensor& out, Plan* plan);
Status repeat_interleave(const aclTensor& self, int64_t repeats, int64_t dim, int64_t size, const aclTensor& out,
                         Plan* plan);
Status repeat_interleave_indices(const aclTensor& repeats, int64_t size, const aclTensor& out, Plan* plan);
Status repeat_interleave_grad(const aclTensor& grad, const aclTensor& repeats, int64_t dim, const aclTensor& out,
                              Plan* plan);

}  // namespace softnpu
