#pragma once
// Planners for operators.txt.

#include "nnopbase/arrays.h"
#include "nnopbase/executor.h"
#include "nnopbase/scalar.h"
#include "ops/math/reduce/kernel.h"

namespace softnpu {

// Sums and products compute in `dtype`; with ACL_DT_UNDEFINED in the result's. Without `dims` all dimensions are
// reduced.
Status reduce_sum(ReduceOp op, const aclTensor& self, const aclIntArray* dims, bool keepdim, aclDataType dtype,
                  const aclTensor& out, Plan* plan);
Status reduce_mean(const aclTensor& self, const aclIntArray* dims, bool keepdim, aclDataType dtype,
                   const aclTensor& out, Plan* plan);
Status reduce_prod(const aclTensor& self, aclDataType dtype, const aclTensor& out, Plan* plan);
Status reduce_prod(const aclTensor& self, int64_t dim, bool keepdim, aclDataType dtype, const aclTensor& out,
                   Plan* plan);
Status reduce_bools(ReduceOp op, const aclTensor& self, const aclIntArray* dims, bool keepdim, const aclTensor& out,
                    Plan* plan);
Status reduce_extreme(ReduceOp op, const aclTensor& self, const aclIntArray* dims, bool keepdim, const aclTensor& out,
                      Plan* plan);
Status reduce_extreme(ReduceOp op, const aclTensor& self, const aclTensor& out, Plan* plan);
Status reduce_minmax(const aclTensor& self, const aclIntArray* dims, bool keepdim, const aclTensor& min,
                     const aclTensor& max, Plan* plan);
Status reduce_minmax(const aclTensor& self, int64_t dim, bool keepdim, const aclTensor& min, const aclTensor& max,
                     Plan* plan);
Status reduce_minmax(const aclTensor& self, const aclTensor& min, const aclTensor& max, Plan* plan);
// `values` and `indices` over one dimension.
Status reduce_where(ReduceOp op, const aclTensor& self, int64_t dim, bool keepdim, const aclTensor& values,
                    const aclTensor& indices, Plan* plan);
Status reduce_index(ReduceOp op, const aclTensor& self, int64_t dim, bool keepdim, const aclTensor& indices,
                    Plan* plan);
Status reduce_norm(const aclTensor& self, const aclScalar* p, const aclIntArray* dims, bool keepdim, aclDataType dtype,
                   const aclTensor& out, Plan* plan);
// The variance, or its root, and the mean if it is given.
Status reduce_moments(bool root, const aclTensor& self, const aclIntArray* dims, int64_t correction, bool keepdim,
                      const aclTensor* variance, const aclTensor* mean, Plan* plan);
Status reduce_logsumexp(const aclTensor& self, const aclIntArray* dims, bool keepdim, const aclTensor& out, Plan* plan);

enum class ScanOp : uint8_t { kSum, kProd, kMax, kMin };
// Running sums and products along `dim`, computed in `dtype`.
Status scan(ScanOp op, const aclTensor& self, int64_t dim, aclDataType dtype, const aclTensor& out, Plan* plan);
Status scan_prod(const aclTensor& self, const aclScalar& dim, aclDataType dtype, const aclTensor& out, Plan* plan);
// The running maximum or minimum (the last of equal ones), and its index.
Status scan_where(ScanOp op, const aclTensor& self, int64_t dim, const aclTensor& values, const aclTensor& indices,
                  Plan* plan);

}  // namespace softnpu
