#pragma once
// Planners for operators.txt: each treats its arguments as matrices.

#include "nnopbase/executor.h"
#include "nnopbase/scalar.h"
#include "nnopbase/tensor.h"

namespace softnpu {

// beta * self + alpha * the product. `self` is broadcast to the result, and not read if beta is 0.
struct Addend {
  const aclTensor& self;
  const aclScalar& beta;
  const aclScalar& alpha;
};

// [m, k] @ [k, n]
Status mm(const aclTensor& self, const aclTensor& mat2, const aclTensor& out, int8_t cube_math_type, Plan* plan);
// [b, m, k] @ [b, k, n]
Status bmm(const aclTensor& self, const aclTensor& mat2, const aclTensor& out, int8_t cube_math_type, Plan* plan);
// As torch.matmul: vectors, and broadcast batch dimensions.
Status matmul(const aclTensor& self, const aclTensor& mat2, const aclTensor& out, int8_t cube_math_type, Plan* plan);
Status addmm(const Addend& addend, const aclTensor& mat1, const aclTensor& mat2, const aclTensor& out,
             int8_t cube_math_type, Plan* plan);
Status baddbmm(const Addend& addend, const aclTensor& batch1, const aclTensor& batch2, const aclTensor& out,
               int8_t cube_math_type, Plan* plan);
// Adds up the products of the batch: [b, m, k] @ [b, k, n] -> [m, n].
Status addbmm(const Addend& addend, const aclTensor& batch1, const aclTensor& batch2, const aclTensor& out,
              int8_t cube_math_type, Plan* plan);
// [m, k] @ [k] -> [m]
Status mv(const aclTensor& self, const aclTensor& vec, const aclTensor& out, int8_t cube_math_type, Plan* plan);
Status addmv(const Addend& addend, const aclTensor& mat, const aclTensor& vec, const aclTensor& out,
             int8_t cube_math_type, Plan* plan);
// [m] x [n] -> [m, n], in the promoted type of all arguments.
Status addr(const Addend& addend, const aclTensor& vec1, const aclTensor& vec2, const aclTensor& out, Plan* plan);
// [k] . [k] -> []
Status dot(const aclTensor& self, const aclTensor& other, const aclTensor& out, Plan* plan);

}  // namespace softnpu
