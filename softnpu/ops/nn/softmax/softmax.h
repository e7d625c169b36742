#pragma once
// Planners for operators.txt: softmax or its logarithm along one dimension, and their gradients.

#include "nnopbase/executor.h"
#include "nnopbase/tensor.h"

namespace softnpu {

Status softmax(bool log, const aclTensor& self, int64_t dim, const aclTensor& out, Plan* plan);
Status softmax_gradient(bool log, const aclTensor& grad, const aclTensor& output, int64_t dim, const aclTensor& out,
                        Plan* plan);

}  // namespace softnpu
