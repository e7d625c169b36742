#pragma once
// Batched matrix products: operators' requests in terms of memory.

#include <cstdint>
#include <string>
#include <vector>

#include "fusion/elementwise_loop.h"
#include "nnopbase/plan.h"
#include "nnopbase/scalar.h"
#include "nnopbase/tensor.h"
#include "ops/core/dtype.h"

namespace softnpu {

// An operand of a batched product, in the terms of GEMM's M, N and K. For factors `k` is K, and `rows` is M (for the
// second factor N, its columns); for the result and the addend `rows` is M and `k` is N. Strides in elements, 0 if a
// size is broadcast.
struct GemmOperand {
  aclDataType dtype = ACL_DT_UNDEFINED;
  char* data = nullptr;  // the address for host kernels
  int64_t rows = 1;
  int64_t k = 1;
  int64_t row_stride = 0;
  int64_t k_stride = 0;
  // k may be divided into tiles of this many elements; within a tile the stride is k_stride.
  int64_t k_tile = 1;
  int64_t k_tile_stride = 0;
  Dims batch_strides;  // one per dimension of the problem's batch

  bool is_tiled() const { return k_tile < k; }
  char* at(int64_t element) const { return data + element * static_cast<int64_t>(aclDataTypeSize(dtype)); }
};

// c = beta * addend + alpha * a @ b. The addend is not read unless `adds`.
struct MatmulProblem {
  aclDataType dtype = ACL_DT_UNDEFINED;  // to which values are rounded before and after
  Dims batch;                            // sizes, outermost first
  GemmOperand a;
  GemmOperand b;
  softnpuRange b_source = {};  // the device address of the second factor
  GemmOperand c;
  GemmOperand addend;
  aclScalar alpha;
  aclScalar beta;
  bool adds = false;
  bool allows_less = false;  // lower precision than float32 is allowed (cubeMathType)
  bool splits = false;       // then factors are split (split.h), if the product is large enough
  // Matrices of the batch's last dimension to compute per run, a divisor of its size; 0: all.
  int64_t at_once = 0;

  int64_t batch_count() const {
    int64_t count = 1;
    for (int64_t size : batch) count *= size;
    return count;
  }
  // Floating-point operations.
  double flops() const {
    return 2.0 * static_cast<double>(batch_count()) * static_cast<double>(a.rows) * static_cast<double>(b.rows) *
           static_cast<double>(a.k);
  }
};

// The offset of matrix `index` of the stack, in elements.
int64_t batch_offset(const Dims& batch, const Dims& strides, int64_t index);

// Merges batch dimensions if all operands allow, and turns the batch into rows if the second factor is broadcast along
// it.
void simplify(MatmulProblem* problem);

// Whether it is a row added to each row, as in linear layers.
bool is_bias_row(const GemmOperand& addend);
bool is_same_memory(const GemmOperand& x, const GemmOperand& y);

// The memory of all matrices.
MemoryAccess memory_of(const GemmOperand& m, const Dims& batch);
// The output for FusionRoot.
MemoryAccess output_access(const MatmulProblem& problem);
// Appends the inputs and the workspace.
void add_accesses(const MatmulProblem& problem, const void* workspace, uint64_t bytes, std::vector<MemoryAccess>* to);

std::string describe(const MatmulProblem& problem);

}  // namespace softnpu
