#pragma once
// Products of stacks of matrices: what operators ask for, in terms of memory.

#include <cstdint>
#include <string>
#include <vector>

#include "fusion/elementwise_loop.h"
#include "nnopbase/plan.h"
#include "nnopbase/scalar.h"
#include "nnopbase/tensor.h"
#include "ops/dtype.h"

namespace softnpu {

// One operand of a batched product, in the terms of GEMM's M, N and K. Of a factor `k` is K and `rows` is M (of the
// second factor, whose columns they are, N); of the result and the addend `rows` is M and `k` is N. Strides in
// elements, 0 where a size is broadcast.
struct GemmOperand {
  aclDataType dtype = ACL_DT_UNDEFINED;
  char* data = nullptr;  // where a kernel on the host may touch it
  int64_t rows = 1;
  int64_t k = 1;
  int64_t row_stride = 0;
  int64_t k_stride = 0;
  // k may be divided into tiles of this many elements, each contiguous by k_stride.
  int64_t k_tile = 1;
  int64_t k_tile_stride = 0;
  Dims batch_strides;  // one for each dimension of the problem's batch

  bool is_tiled() const { return k_tile < k; }
  char* at(int64_t element) const { return data + element * static_cast<int64_t>(aclDataTypeSize(dtype)); }
};

// c = beta * addend + alpha * a @ b. Without `adds` the addend is not read.
struct MatmulProblem {
  aclDataType dtype = ACL_DT_UNDEFINED;  // what values are rounded to before and after
  Dims batch;                            // sizes, outermost first
  GemmOperand a;
  GemmOperand b;
  DeviceBytes b_source;  // the second factor as the device knows it
  GemmOperand c;
  GemmOperand addend;
  aclScalar alpha;
  aclScalar beta;
  bool adds = false;
  bool allows_less = false;  // than float32's precision, for float32 (cubeMathType)
  // As many matrices of the batch's last dimension are made at once, which this divides; 0: all.
  int64_t at_once = 0;

  int64_t batch_count() const {
    int64_t count = 1;
    for (int64_t size : batch) count *= size;
    return count;
  }
  // Operations on numbers.
  double flops() const {
    return 2.0 * static_cast<double>(batch_count()) * static_cast<double>(a.rows) * static_cast<double>(b.rows) *
           static_cast<double>(a.k);
  }
};

// Where matrix `index` of the stack begins, in elements.
int64_t batch_offset(const Dims& batch, const Dims& strides, int64_t index);

// Joins dimensions of the batch where all operands allow, and takes the batch for more rows where the second factor is
// the same throughout.
void simplify(MatmulProblem* problem);

// A row that is added to each row, as linear layers have it.
bool is_bias_row(const GemmOperand& addend);
bool is_same_memory(const GemmOperand& x, const GemmOperand& y);

// The bytes of all of the matrices, as they lie.
MemoryAccess memory_of(const GemmOperand& m, const Dims& batch);
// The output, as a FusionRoot states it.
MemoryAccess output_access(const MatmulProblem& problem);
// Appends what is read, and the workspace.
void add_accesses(const MatmulProblem& problem, const void* workspace, uint64_t bytes, std::vector<MemoryAccess>* to);

std::string describe(const MatmulProblem& problem);

}  // namespace softnpu
