#pragma once
// Planners for operators.txt. Definitions as in PyTorch's functions of the same names; NaN is greater than all numbers.
// Sorting is stable, and of equal elements the first are selected.

#include "nnopbase/arrays.h"
#include "nnopbase/executor.h"
#include "nnopbase/scalar.h"
#include "nnopbase/tensor.h"

namespace softnpu {

Status sort(const aclTensor& self, int64_t dim, bool descending, const aclTensor& values, const aclTensor& indices,
            Plan* plan);
Status argsort(const aclTensor& self, int64_t dim, bool descending, const aclTensor& indices, Plan* plan);
Status topk(const aclTensor& self, int64_t k, int64_t dim, bool largest, bool sorted, const aclTensor& values,
            const aclTensor& indices, Plan* plan);
Status kthvalue(const aclTensor& self, int64_t k, int64_t dim, bool keepdim, const aclTensor& values,
                const aclTensor& indices, Plan* plan);
// For an even number of elements the lower one in the middle. `skip_nan`: ignores NaN.
Status median(bool skip_nan, const aclTensor& self, int64_t dim, bool keepdim, const aclTensor& values,
              const aclTensor& indices, Plan* plan);
Status median(bool skip_nan, const aclTensor& self, const aclTensor& out, Plan* plan);

// Each NaN is unique. Sizes are set when the run is done. Empty `inverse` and `counts` are not written.
Status unique(const aclTensor& self, aclTensor& out, aclTensor& inverse, aclTensor* counts, Plan* plan);
// Removes equal neighbours: of slices along `dim`, or of elements if `dim` is 1000.
Status unique_consecutive(const aclTensor& self, int64_t dim, aclTensor& out, aclTensor& inverse, aclTensor& counts,
                          Plan* plan);
Status unique_dim(const aclTensor& self, int64_t dim, aclTensor& out, aclTensor& inverse, aclTensor& counts,
                  Plan* plan);

Status search_sorted(const aclTensor& sequence, const aclTensor& self, bool right, const aclTensor* sorter,
                     const aclTensor& out, Plan* plan);
Status search_sorted(const aclTensor& sequence, const aclScalar& self, bool right, const aclTensor* sorter,
                     const aclTensor& out, Plan* plan);
Status bincount(const aclTensor& self, const aclTensor* weights, int64_t minlength, const aclTensor& out, Plan* plan);
Status histc(const aclTensor& self, int64_t bins, const aclScalar& min, const aclScalar& max, const aclTensor& out,
             Plan* plan);
Status is_in(const aclTensor& elements, const aclScalar& test, bool invert, const aclTensor& out, Plan* plan);
Status is_in(const aclScalar& element, const aclTensor& tests, bool invert, const aclTensor& out, Plan* plan);

}  // namespace softnpu
