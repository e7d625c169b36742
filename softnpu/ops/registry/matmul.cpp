// Matrix products invoked by type name.

#include "ops/blas/matmul/operators.h"
#include "ops/registry/infer.h"
#include "ops/registry/invalid_call.h"
#include "ops/registry/registry.h"
#include "softnpu/softnpu.h"

namespace softnpu {
namespace {

constexpr int8_t kKeepType = 0;   // compute in the operands' type
constexpr int8_t kAllowHf32 = 3;  // float32 with the precision of HF32

int8_t precision_of(Operands& of) { return of.has("allow_hf32") && of.flag("allow_hf32") ? kAllowHf32 : kKeepType; }

// The matrix as described, or with its last two dimensions exchanged.
aclTensor matrix(const aclTensor& tensor, bool transposed) {
  aclTensor view = tensor;
  const size_t rank = view.dims.size();
  if (transposed && rank >= 2) {
    std::swap(view.dims[rank - 1], view.dims[rank - 2]);
    std::swap(view.strides[rank - 1], view.strides[rank - 2]);
  }
  return view;
}

// (x1, x2, bias?): bias is broadcast to the product.
Status plan_product(Operands& of, Plan* plan) {
  const aclTensor x1 = matrix(of.in(0), of.flag("transpose_x1"));
  const aclTensor x2 = matrix(of.in(1), of.flag("transpose_x2"));
  const aclScalar one = integer_scalar(1);
  if (const aclTensor* bias = of.maybe(2)) return addmm({*bias, one, one}, x1, x2, of.out(), precision_of(of), plan);
  return mm(x1, x2, of.out(), precision_of(of), plan);
}

// A factor of GEMM: one number in host memory. Programs describe it as they describe device memory.
Status read_factor(Operands& of, size_t location, aclScalar* out) {
  aclScalar number;
  const MapInput given = of.value(location, &number);
  if (given.scalar != nullptr) {
    *out = number;
    return Status::ok();
  }
  const aclTensor& tensor = *given.tensor;
  void* kernel = nullptr;
  if (tensor.dtype != ACL_FLOAT || element_count(tensor) != 1 || tensor.data == nullptr ||
      softnpuProbeAddress(tensor.data, sizeof(float), &kernel) == ACL_SUCCESS) {
    return invalid_call("alpha and beta are one float32 in host memory each");
  }
  *out = real_scalar(*static_cast<const float*>(tensor.data));
  return Status::ok();
}

// alpha a b + beta c, which is broadcast to the product.
Status plan_gemm(Operands& of, Plan* plan) {
  aclScalar alpha;
  aclScalar beta;
  SOFTNPU_RETURN_IF_ERROR(read_factor(of, 3, &alpha));
  SOFTNPU_RETURN_IF_ERROR(read_factor(of, 4, &beta));
  const aclTensor a = matrix(of.in(0), of.flag("transpose_a"));
  const aclTensor b = matrix(of.in(1), of.flag("transpose_b"));
  return addmm({of.in(2), beta, alpha}, a, b, of.out(), kKeepType, plan);
}

// Batch dimensions are broadcast.
Status plan_batch_product(Operands& of, Plan* plan) {
  const aclTensor x1 = matrix(of.in(0), of.flag("adj_x1"));
  const aclTensor x2 = matrix(of.in(1), of.flag("adj_x2"));
  const aclScalar one = integer_scalar(1);
  if (const aclTensor* bias = of.maybe(2)) return baddbmm({*bias, one, one}, x1, x2, of.out(), precision_of(of), plan);
  return matmul(x1, x2, of.out(), precision_of(of), plan);
}

}  // namespace

}  // namespace softnpu

#include "opgen/rows_matmul.inc"
