#include "ops/blas/matmul/operators.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/text.h"
#include "nnopbase/written.h"
#include "ops/blas/matmul/algorithms.h"
#include "ops/blas/matmul/problem.h"
#include "ops/blas/matmul/weight_blocks.h"
#include "ops/blas/onednn/cpu.h"
#include "ops/core/cube_math.h"
#include "ops/core/describe.h"
#include "ops/core/dtype.h"
#include "ops/core/nothing.h"
#include "ops/core/tensor_memory.h"
#include "ops/core/view/view.h"

namespace softnpu {
namespace {

Status check_dims(const aclTensor& tensor, size_t dims, const char* role) {
  if (tensor.dims.size() == dims) return Status::ok();
  return {ACLNN_ERR_PARAM_INVALID,
          text(role, " is ", describe(tensor), ", where a tensor of ", dims, " dimensions is needed")};
}

Status check_format(const aclTensor& tensor, const char* role) {
  switch (tensor.format) {
    case ACL_FORMAT_ND:
    case ACL_FORMAT_NCHW:
    case ACL_FORMAT_NCL:
    case ACL_FORMAT_NCDHW: return Status::ok();
    default: break;
  }
  return {ACLNN_ERR_PARAM_INVALID, text(role, " has the private format ", static_cast<int>(tensor.format))};
}

Status misfit(const aclTensor& a, const aclTensor& b, const aclTensor& out) {
  return {ACLNN_ERR_PARAM_INVALID, text("the shapes ", describe_shape(a.dims), " and ", describe_shape(b.dims),
                                        " do not multiply to ", describe_shape(out.dims))};
}

// The operands of a product, and its dtype.
struct Product {
  const aclTensor& a;    // [..., m, k]
  const aclTensor& b;    // [..., k, n]
  const aclTensor& out;  // [..., m, n]
  aclDataType dtype = ACL_DT_UNDEFINED;
};

// Floating factors of up to 32 bits are promoted, others have one dtype. The result may be float32 if that has 16 bits.
Status common_dtype(const aclTensor& a, const aclTensor& b, const aclTensor& out, aclDataType* dtype) {
  *dtype = a.dtype;
  for (const aclTensor* tensor : {&a, &b, &out}) {
    if (!is_known(tensor->dtype) || tensor->dtype == ACL_BOOL) {
      return {ACLNN_ERR_PARAM_INVALID, text("no product of matrices is defined for ", describe(*tensor))};
    }
  }
  if (a.dtype != b.dtype) {
    const auto promotes = [](aclDataType type) { return type == ACL_FLOAT || is_half(type); };
    if (!promotes(a.dtype) || !promotes(b.dtype)) {
      return {ACLNN_ERR_PARAM_INVALID,
              text("the factors have the different data types ", name_of(a.dtype), " and ", name_of(b.dtype))};
    }
    *dtype = promote(a.dtype, b.dtype);
  }
  const bool widens = out.dtype == ACL_FLOAT && is_half(*dtype);
  if (out.dtype == *dtype || widens) return Status::ok();
  return {ACLNN_ERR_PARAM_INVALID,
          text("the result has the data type ", name_of(out.dtype), ", where ", name_of(*dtype), " is needed")};
}

// A second factor [.., k, n] in FRACTAL_NZ that aclnnTransMatmulWeight made of the matrix [n, k]: k is cut into blocks,
// which are outermost in memory. Its strides say that it is the transpose of what is in memory.
Status read_blocks(const aclTensor& tensor, GemmOperand* out, softnpuRange* source) {
  const size_t n = tensor.dims.size();
  const int64_t k = tensor.dims[n - 2];
  const int64_t columns = tensor.dims[n - 1];
  const bool is_one = element_count(tensor) == k * columns;
  const bool is_transposed = (tensor.strides[n - 2] == 1 || k == 1) && (tensor.strides[n - 1] == k || columns == 1);
  if (tensor.offset != 0 || !is_one || !is_transposed) {
    return {ACLNN_ERR_PARAM_INVALID,
            text("the second factor is ", describe(tensor), " in FRACTAL_NZ; one whole matrix is taken, the transpose ",
                 "of what aclnnTransMatmulWeight converted")};
  }
  const WeightBlocks blocks = weight_blocks(columns, k);
  SOFTNPU_RETURN_IF_ERROR(blocks.memory(tensor, "the second factor", &out->data));
  *source = {tensor.data, static_cast<size_t>(blocks.bytes(tensor.dtype).value())};
  out->row_stride = kWeightBlock;
  out->k_stride = 1;
  out->k_tile = kWeightBlock;
  out->k_tile_stride = blocks.padded_rows * kWeightBlock;
  return Status::ok();
}

// Reads the two inner dimensions of `tensor`; broadcasts its batch dimensions to `batch`. With `takes_blocks` the
// memory of a FRACTAL_NZ tensor is left to read_blocks().
Status read(const aclTensor& tensor, const Dims& batch, bool rows_are_outer, const char* role, GemmOperand* out,
            bool takes_blocks = false) {
  const size_t n = tensor.dims.size();
  out->dtype = tensor.dtype;
  out->rows = tensor.dims[n - 2];
  out->row_stride = tensor.strides[n - 2];
  out->k = tensor.dims[n - 1];
  out->k_stride = tensor.strides[n - 1];
  if (!rows_are_outer) {
    std::swap(out->rows, out->k);
    std::swap(out->row_stride, out->k_stride);
  }
  out->k_tile = std::max<int64_t>(1, out->k);
  out->batch_strides = Dims(batch.size(), 0);
  for (size_t i = 0; i + 2 < n; ++i) {
    if (tensor.dims[i] != 1) out->batch_strides[batch.size() - (n - 2) + i] = tensor.strides[i];
  }
  if (tensor.format == ACL_FORMAT_FRACTAL_NZ && takes_blocks) return Status::ok();
  void* data = nullptr;
  SOFTNPU_RETURN_IF_ERROR(check_format(tensor, role));
  SOFTNPU_RETURN_IF_ERROR(tensor_memory(tensor, role, &data));
  out->data = static_cast<char*>(data);
  return Status::ok();
}

// Whether the result's batch is the broadcast of the factors' batches.
bool is_broadcast(const aclTensor& a, const aclTensor& b, const aclTensor& out) {
  const size_t n = out.dims.size();
  if (n != std::max(a.dims.size(), b.dims.size())) return false;
  for (size_t i = 2; i < n; ++i) {
    int64_t size = 1;
    for (const aclTensor* factor : {&a, &b}) {
      if (i >= factor->dims.size()) continue;
      const int64_t own = factor->dims[factor->dims.size() - 1 - i];
      if (own == 1 || own == size) continue;
      if (size != 1) return false;
      size = own;
    }
    if (out.dims[n - 1 - i] != size) return false;
  }
  return true;
}

Status read_addend(const Addend& addend, const aclTensor& out, MatmulProblem* problem) {
  problem->alpha = addend.alpha;
  problem->beta = addend.beta;
  problem->adds = addend.beta.as_bool();
  if (!problem->adds) return Status::ok();
  if (!is_known(addend.self.dtype)) {
    return {ACLNN_ERR_PARAM_INVALID, text("self has the unknown data type ", static_cast<int>(addend.self.dtype))};
  }
  const aclDataType common = promote(addend.self.dtype, problem->dtype);
  if (common != problem->dtype && addend.self.dtype != out.dtype) {
    return {ACLNN_ERR_PARAM_INVALID,
            text("self is ", describe(addend.self), ", which cannot be added to ", name_of(problem->dtype))};
  }
  aclTensor broadcast;
  SOFTNPU_RETURN_IF_ERROR(expand(addend.self, {out.dims.data(), out.dims.size()}, "self", &broadcast));
  return read(broadcast, problem->batch, true, "self", &problem->addend);
}

Plan choose(MatmulProblem problem) {
  const int64_t count = problem.batch_count() * problem.c.rows * problem.c.k;
  if (count == 0) return no_work();
  simplify(&problem);
  return choose_product(problem);
}

Status check_sizes(const MatmulProblem& problem, const Product& p) {
  const bool fits = problem.a.k == problem.b.k && problem.a.rows == problem.c.rows && problem.b.rows == problem.c.k;
  return fits ? Status::ok() : misfit(p.a, p.b, p.out);
}

Status read_product(const Product& p, const Addend* addend, MatmulProblem* problem) {
  problem->dtype = p.dtype;
  problem->alpha.kind = aclScalar::Kind::kSigned;
  problem->alpha.integer = 1;
  problem->batch = Dims(p.out.dims.begin(), p.out.dims.end() - 2);
  if (!is_broadcast(p.a, p.b, p.out)) return misfit(p.a, p.b, p.out);
  SOFTNPU_RETURN_IF_ERROR(read(p.a, problem->batch, true, "the first factor", &problem->a));
  problem->b_source = device_bytes(p.b);
  const bool is_blocked = p.b.format == ACL_FORMAT_FRACTAL_NZ && element_count(p.b) > 0;
  SOFTNPU_RETURN_IF_ERROR(read(p.b, problem->batch, false, "the second factor", &problem->b, is_blocked));
  if (is_blocked) SOFTNPU_RETURN_IF_ERROR(read_blocks(p.b, &problem->b, &problem->b_source));
  SOFTNPU_RETURN_IF_ERROR(read(p.out, problem->batch, true, "out", &problem->c));
  SOFTNPU_RETURN_IF_ERROR(check_sizes(*problem, p));
  if (addend != nullptr) SOFTNPU_RETURN_IF_ERROR(read_addend(*addend, p.out, problem));
  return Status::ok();
}

Status product(const aclTensor& a, const aclTensor& b, const aclTensor& out, const Addend* addend,
               int8_t cube_math_type, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(check_cube_math_type(cube_math_type));
  aclDataType dtype = ACL_DT_UNDEFINED;
  SOFTNPU_RETURN_IF_ERROR(common_dtype(a, b, out, &dtype));
  MatmulProblem problem;
  SOFTNPU_RETURN_IF_ERROR(read_product({a, b, out, dtype}, addend, &problem));
  problem.allows_less = a.dtype == ACL_FLOAT && b.dtype == ACL_FLOAT && allows_less(cube_math_type);
  *plan = choose(std::move(problem));
  return Status::ok();
}

Status matrix_product(const aclTensor& a, const aclTensor& b, const aclTensor& out, const Addend* addend, size_t dims,
                      int8_t cube_math_type, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(check_dims(a, dims, "the first factor"));
  SOFTNPU_RETURN_IF_ERROR(check_dims(b, dims, "the second factor"));
  SOFTNPU_RETURN_IF_ERROR(check_dims(out, dims, "out"));
  if (dims == 3 && a.dims[0] != b.dims[0] && (a.dims[0] != 1) == (b.dims[0] != 1)) return misfit(a, b, out);
  return product(a, b, out, addend, cube_math_type, plan);
}

}  // namespace

Status mm(const aclTensor& self, const aclTensor& mat2, const aclTensor& out, int8_t cube_math_type, Plan* plan) {
  return matrix_product(self, mat2, out, nullptr, 2, cube_math_type, plan);
}

Status bmm(const aclTensor& self, const aclTensor& mat2, const aclTensor& out, int8_t cube_math_type, Plan* plan) {
  return matrix_product(self, mat2, out, nullptr, 3, cube_math_type, plan);
}

Status addmm(const Addend& addend, const aclTensor& mat1, const aclTensor& mat2, const aclTensor& out,
             int8_t cube_math_type, Plan* plan) {
  return matrix_product(mat1, mat2, out, &addend, 2, cube_math_type, plan);
}

Status baddbmm(const Addend& addend, const aclTensor& batch1, const aclTensor& batch2, const aclTensor& out,
               int8_t cube_math_type, Plan* plan) {
  return matrix_product(batch1, batch2, out, &addend, 3, cube_math_type, plan);
}

Status matmul(const aclTensor& self, const aclTensor& mat2, const aclTensor& out, int8_t cube_math_type, Plan* plan) {
  if (self.dims.empty() || mat2.dims.empty()) {
    return {ACLNN_ERR_PARAM_INVALID, text("a factor has no dimension: ", describe(self), " and ", describe(mat2))};
  }
  const bool row = self.dims.size() == 1;
  const bool column = mat2.dims.size() == 1;
  const size_t needed = (row ? 1U : 0U) + (column ? 1U : 0U);
  if (out.dims.size() + needed < 2) return misfit(self, mat2, out);
  aclTensor result = out;
  if (row) result = unsqueeze(result, result.dims.size() - (column ? 0 : 1));
  if (column) result = unsqueeze(result, result.dims.size());
  return product(row ? unsqueeze(self, 0) : self, column ? unsqueeze(mat2, 1) : mat2, result, nullptr, cube_math_type,
                 plan);
}

Status addbmm(const Addend& addend, const aclTensor& batch1, const aclTensor& batch2, const aclTensor& out,
              int8_t cube_math_type, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(check_cube_math_type(cube_math_type));
  SOFTNPU_RETURN_IF_ERROR(check_dims(batch1, 3, "batch1"));
  SOFTNPU_RETURN_IF_ERROR(check_dims(batch2, 3, "batch2"));
  SOFTNPU_RETURN_IF_ERROR(check_dims(out, 2, "out"));
  if (batch1.dims[0] != batch2.dims[0]) return misfit(batch1, batch2, out);
  aclDataType dtype = ACL_DT_UNDEFINED;
  SOFTNPU_RETURN_IF_ERROR(common_dtype(batch1, batch2, out, &dtype));
  // One product, with the batch as part of the sum.
  MatmulProblem problem;
  problem.dtype = dtype;
  problem.allows_less = dtype == ACL_FLOAT && allows_less(cube_math_type);
  const Dims batch = {batch1.dims[0]};
  SOFTNPU_RETURN_IF_ERROR(read(batch1, batch, true, "batch1", &problem.a));
  SOFTNPU_RETURN_IF_ERROR(read(batch2, batch, false, "batch2", &problem.b));
  SOFTNPU_RETURN_IF_ERROR(read(out, {}, true, "out", &problem.c));
  SOFTNPU_RETURN_IF_ERROR(check_sizes(problem, {batch1, batch2, out, dtype}));
  SOFTNPU_RETURN_IF_ERROR(read_addend(addend, out, &problem));
  for (GemmOperand* m : {&problem.a, &problem.b}) {
    m->k_tile_stride = m->batch_strides[0];
    m->k *= batch[0];
    const bool joins = batch[0] == 1 || m->k_tile_stride == m->k_tile * m->k_stride;
    if (joins || m->k == 0) m->k_tile = std::max<int64_t>(1, m->k);
    m->batch_strides = Dims();
  }
  *plan = choose(std::move(problem));
  return Status::ok();
}

Status mv(const aclTensor& self, const aclTensor& vec, const aclTensor& out, int8_t cube_math_type, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(check_dims(self, 2, "self"));
  SOFTNPU_RETURN_IF_ERROR(check_dims(vec, 1, "vec"));
  SOFTNPU_RETURN_IF_ERROR(check_dims(out, 1, "out"));
  return product(self, unsqueeze(vec, 1), unsqueeze(out, 1), nullptr, cube_math_type, plan);
}

Status addmv(const Addend& addend, const aclTensor& mat, const aclTensor& vec, const aclTensor& out,
             int8_t cube_math_type, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(check_dims(mat, 2, "mat"));
  SOFTNPU_RETURN_IF_ERROR(check_dims(vec, 1, "vec"));
  SOFTNPU_RETURN_IF_ERROR(check_dims(out, 1, "out"));
  const std::array<int64_t, 1> size = {out.dims[0]};
  aclTensor self;
  SOFTNPU_RETURN_IF_ERROR(expand(addend.self, size, "self", &self));
  self = unsqueeze(self, 1);
  const Addend column{self, addend.beta, addend.alpha};
  return product(mat, unsqueeze(vec, 1), unsqueeze(out, 1), &column, cube_math_type, plan);
}

Status addr(const Addend& addend, const aclTensor& vec1, const aclTensor& vec2, const aclTensor& out, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(check_dims(vec1, 1, "vec1"));
  SOFTNPU_RETURN_IF_ERROR(check_dims(vec2, 1, "vec2"));
  SOFTNPU_RETURN_IF_ERROR(check_dims(out, 2, "out"));
  aclDataType dtype = ACL_DT_UNDEFINED;
  for (const aclTensor* tensor : {&addend.self, &vec1, &vec2}) {
    if (!is_known(tensor->dtype) || !is_known(out.dtype)) {
      return {ACLNN_ERR_PARAM_INVALID, text("data type ", static_cast<int>(tensor->dtype), " is unknown")};
    }
    dtype = dtype == ACL_DT_UNDEFINED ? tensor->dtype : promote(dtype, tensor->dtype);
    if (dtype == ACL_DT_UNDEFINED) {
      return {ACLNN_ERR_PARAM_INVALID, "self, vec1 and vec2 have no common data type"};
    }
  }
  MatmulProblem problem;
  SOFTNPU_RETURN_IF_ERROR(read_product({unsqueeze(vec1, 1), unsqueeze(vec2, 0), out, dtype}, &addend, &problem));
  *plan = choose(std::move(problem));
  return Status::ok();
}

Status dot(const aclTensor& self, const aclTensor& other, const aclTensor& out, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(check_dims(self, 1, "self"));
  SOFTNPU_RETURN_IF_ERROR(check_dims(other, 1, "tensor"));
  SOFTNPU_RETURN_IF_ERROR(check_dims(out, 0, "out"));
  return product(unsqueeze(self, 0), unsqueeze(other, 1), unsqueeze(unsqueeze(out, 0), 0), nullptr,
                 static_cast<int8_t>(CubeMath::kKeepDtype), plan);
}

}  // namespace softnpu
