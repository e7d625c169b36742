// What a caller's tensors mean as matrices, and whether they fit.

#include "base/text.h"
#include "ops/matmul/matmul.h"
#include "softnpu/softnpu.h"

namespace softnpu {
namespace {

// Elements from the first to the last of the view, both counted.
int64_t extent(const aclTensor& tensor) {
  int64_t last = 0;
  for (size_t i = 0; i < tensor.dims.size(); ++i) last += (tensor.dims[i] - 1) * tensor.strides[i];
  return last + 1;
}

Status resolve(const aclTensor& tensor, const char* role, float** out) {
  *out = nullptr;
  if (element_count(tensor) == 0) return Status::ok();
  for (int64_t stride : tensor.strides) {
    if (stride < 0) return {ACLNN_ERR_PARAM_INVALID, text(role, " has the negative stride ", stride)};
  }
  SOFTNPU_RETURN_IF_ERROR(not_null(tensor.data, role));
  void* kernel = nullptr;
  const float* first = static_cast<const float*>(tensor.data) + tensor.offset;
  if (softnpuKernelAddress(first, static_cast<size_t>(extent(tensor)) * sizeof(float), &kernel) != ACL_SUCCESS) {
    return {ACLNN_ERR_PARAM_INVALID,
            text(role, " at ", first, " does not lie in one allocation of device memory with all of its ",
                 extent(tensor), " elements")};
  }
  *out = static_cast<float*>(kernel);
  return Status::ok();
}

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
  return resolve(*tensor, role, &out->data);
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
