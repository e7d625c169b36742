// What a caller's tensors mean as matrices, and whether they fit.

#include "base/text.h"
#include "ops/matmul/matmul.h"
#include "ops/tensor_memory.h"

namespace softnpu {
namespace {

std::string shape(const Matrices& m) { return text("[", m.batch, ", ", m.rows, ", ", m.columns, "]"); }

Status broadcast(int64_t from, int64_t to, int64_t* stride) {
  if (from == to) return Status::ok();
  if (from != 1) return {ACLNN_ERR_PARAM_INVALID, text("a size of ", from, " cannot be broadcast to ", to)};
  *stride = 0;
  return Status::ok();
}

}  // namespace

Status read_matrices(const aclTensor* tensor, const char* role, Matrices* out) {
  SOFTNPU_RETURN_IF_ERROR(not_null(tensor, role));
  const size_t n = tensor->dims.size();
  if (n > 3) return {ACLNN_ERR_PARAM_INVALID, text(role, " has ", n, " dimensions; at most 3 are taken")};
  if (tensor->dtype != ACL_FLOAT) {
    return {ACLNN_ERR_PARAM_INVALID,
            text(role, " has data type ", static_cast<int>(tensor->dtype), "; float32 (0) is taken")};
  }
  if (tensor->format != ACL_FORMAT_ND && tensor->format != ACL_FORMAT_NCHW && tensor->format != ACL_FORMAT_NCL) {
    return {ACLNN_ERR_PARAM_INVALID, text(role, " has the private format ", static_cast<int>(tensor->format))};
  }
  *out = {};
  out->rows = n > 1 ? tensor->dims[n - 2] : 1;
  out->row_stride = n > 1 ? tensor->strides[n - 2] : 0;
  out->columns = n > 0 ? tensor->dims[n - 1] : 1;
  out->column_stride = n > 0 ? tensor->strides[n - 1] : 0;
  out->batch = n > 2 ? tensor->dims[0] : 1;
  out->batch_stride = n > 2 ? tensor->strides[0] : 0;
  void* data = nullptr;
  SOFTNPU_RETURN_IF_ERROR(tensor_memory(*tensor, role, &data));
  out->data = static_cast<float*>(data);
  return Status::ok();
}

Status check_matmul(MatmulProblem* problem) {
  const Matrices& a = problem->a;
  const Matrices& b = problem->b;
  const Matrices& c = problem->c;
  if (a.columns != b.rows || a.batch != b.batch || c.batch != a.batch || c.rows != a.rows || c.columns != b.columns) {
    return {ACLNN_ERR_PARAM_INVALID,
            text("the shapes ", shape(a), " and ", shape(b), " do not multiply to ", shape(c))};
  }
  if (problem->beta == 0) return Status::ok();
  Matrices& addend = problem->addend;
  SOFTNPU_RETURN_IF_ERROR(broadcast(addend.batch, c.batch, &addend.batch_stride));
  SOFTNPU_RETURN_IF_ERROR(broadcast(addend.rows, c.rows, &addend.row_stride));
  SOFTNPU_RETURN_IF_ERROR(broadcast(addend.columns, c.columns, &addend.column_stride));
  addend.batch = c.batch;
  addend.rows = c.rows;
  addend.columns = c.columns;
  return Status::ok();
}

}  // namespace softnpu
