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

// A stack of matrices, seen from the sum: `depth` goes along the sum, `lines` along the result (the rows of the first
// factor, the columns of the second); in the result and the addend lines are rows and depth is columns. Strides in
// elements, 0 where a size is broadcast.
struct Matrices {
  aclDataType dtype = ACL_DT_UNDEFINED;
  char* data = nullptr;  // where a kernel on the host may touch it
  int64_t lines = 1;
  int64_t depth = 1;
  int64_t line_stride = 0;
  int64_t depth_stride = 0;
  // The depth may come in pieces of this many elements, further apart.
  int64_t piece = 1;
  int64_t piece_stride = 0;
  Dims batch_strides;  // one for each dimension of the problem's batch

  bool in_pieces() const { return piece < depth; }
  char* at(int64_t element) const { return data + element * static_cast<int64_t>(aclDataTypeSize(dtype)); }
};

// c = beta * addend + alpha * a @ b. Without `adds` the addend is not read.
struct MatmulProblem {
  aclDataType dtype = ACL_DT_UNDEFINED;  // what values are rounded to before and after
  Dims batch;                            // sizes, outermost first
  Matrices a;
  Matrices b;
  DeviceBytes b_source;  // the second factor as the device knows it
  Matrices c;
  Matrices addend;
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
    return 2.0 * static_cast<double>(batch_count()) * static_cast<double>(a.lines) * static_cast<double>(b.lines) *
           static_cast<double>(a.depth);
  }
};

// Where matrix `index` of the stack begins, in elements.
int64_t batch_offset(const Dims& batch, const Dims& strides, int64_t index);

// Joins dimensions of the batch where all operands allow, and takes the batch for more rows where the second factor is
// the same throughout.
void simplify(MatmulProblem* problem);

// A row that is added to each line, as linear layers have it.
bool is_row(const Matrices& addend);
bool is_same_place(const Matrices& x, const Matrices& y);

// The bytes of all of the matrices, as they lie.
MemoryAccess memory_of(const Matrices& m, const Dims& batch);
// The output, as a FusionRoot states it.
MemoryAccess output_access(const MatmulProblem& problem);
// Appends what is read, and the workspace.
void add_accesses(const MatmulProblem& problem, const void* workspace, uint64_t bytes, std::vector<MemoryAccess>* to);

std::string describe(const MatmulProblem& problem);

}  // namespace softnpu
