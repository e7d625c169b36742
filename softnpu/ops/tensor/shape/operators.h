#pragma once
// Planners for operators.txt. Definitions as in PyTorch's functions of the same names.

#include "nnopbase/arrays.h"
#include "nnopbase/executor.h"
#include "nnopbase/scalar.h"
#include "nnopbase/tensor.h"

namespace softnpu {

enum class PadMode : uint8_t { kReflect, kReplicate };

// Inputs are converted to out's dtype.
Status cat(const aclTensorList& tensors, int64_t dim, const aclTensor& out, Plan* plan);
Status stack(const aclTensorList& tensors, int64_t dim, const aclTensor& out, Plan* plan);
// Python's self[start:end:step] along `dim`, with a positive step; out's dtype is self's.
Status slice(const aclTensor& self, int64_t dim, int64_t start, int64_t end, int64_t step, const aclTensor& out,
             Plan* plan);
Status split(const aclTensor& self, const aclIntArray& sizes, int64_t dim, const aclTensorList& out, Plan* plan);

Status flip(const aclTensor& self, const aclIntArray& dims, const aclTensor& out, Plan* plan);
// Without dims, rolls the elements in their logical order.
Status roll(const aclTensor& self, const aclIntArray& shifts, const aclIntArray& dims, const aclTensor& out,
            Plan* plan);
Status repeat(const aclTensor& self, const aclIntArray& repeats, const aclTensor& out, Plan* plan);
Status permute(const aclTensor& self, const aclIntArray& dims, const aclTensor& out, Plan* plan);
Status channel_shuffle(const aclTensor& self, int64_t groups, const aclTensor& out, Plan* plan);

// Paddings are pairs, the last dimension's first; negative ones crop.
Status constant_pad(const aclTensor& self, const aclIntArray& padding, const aclScalar& value, const aclTensor& out,
                    Plan* plan);
Status pad(PadMode mode, size_t dims, const aclTensor& self, const aclIntArray& padding, const aclTensor& out,
           Plan* plan);
Status pad_backward(PadMode mode, size_t dims, const aclTensor& grad, const aclTensor& self, const aclIntArray& padding,
                    const aclTensor& out, Plan* plan);

Status triangle(bool upper, const aclTensor& self, int64_t diagonal, const aclTensor& out, Plan* plan);
Status eye(int64_t n, int64_t m, const aclTensor& out, Plan* plan);
Status trace(const aclTensor& self, const aclTensor& out, Plan* plan);
Status fill_diagonal(const aclTensor& self, const aclScalar& value, bool wrap, Plan* plan);

Status arange(const aclScalar& start, const aclScalar& end, const aclScalar& step, const aclTensor& out, Plan* plan);
Status range(const aclScalar& start, const aclScalar& end, const aclScalar& step, const aclTensor& out, Plan* plan);
Status linspace(const aclScalar& start, const aclScalar& end, int64_t steps, const aclTensor& out, Plan* plan);
Status logspace(const aclScalar& start, const aclScalar& end, int64_t steps, double base, const aclTensor& out,
                Plan* plan);
// A class out of range is an error of the run.
Status one_hot(const aclTensor& self, int64_t classes, const aclTensor& on, const aclTensor& off, int64_t axis,
               const aclTensor& out, Plan* plan);

}  // namespace softnpu
