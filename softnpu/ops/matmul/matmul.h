#pragma once
// Products of matrices and of stacks of matrices, in float32, by oneDNN.

#include <array>
#include <cstdint>

#include "nnopbase/executor.h"
#include "nnopbase/tensor.h"

namespace softnpu {

// A stack of matrices in memory; one matrix is a stack of one. Strides in elements; 0 where a size is broadcast.
struct Matrices {
  int64_t batch = 1;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t batch_stride = 0;
  int64_t row_stride = 0;
  int64_t column_stride = 0;
  float* data = nullptr;  // where a kernel on the host may touch it
};

// c = beta * addend + alpha * a @ b. With beta 0 the addend is not read.
struct MatmulProblem {
  Matrices a;
  Matrices b;
  Matrices c;
  Matrices addend;
  float alpha = 1;
  float beta = 0;
};

// `tensor` as matrices; `role` names it in the error's text.
Status read_matrices(const aclTensor* tensor, const char* role, Matrices* out);

// The sizes of `problem` fit; its addend is broadcast to c.
Status check_matmul(MatmulProblem* problem);

Plan plan_matmul(const MatmulProblem& problem);

}  // namespace softnpu
