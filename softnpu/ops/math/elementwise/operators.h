#pragma once
// Planners for operators.txt. Each selects the compute dtype by PyTorch's promotion rules.

#include "ops/math/elementwise/map_op.h"

namespace softnpu {

// The constants of a mapping, in order.
using Constants = std::initializer_list<const aclScalar*>;

// Computes in the input's type.
Status unary(MapOp op, const aclTensor& self, const aclTensor& out, Plan* plan);
Status unary(MapOp op, const aclTensor& self, Constants constants, const aclTensor& out, Plan* plan);
// Computes in floating point: integers become the result's type, or float32.
Status floating(MapOp op, const aclTensor& self, const aclTensor& out, Plan* plan);
Status floating(MapOp op, const aclTensor& self, Constants constants, const aclTensor& out, Plan* plan);
// Computes in the promoted type. A scalar promotes only if its category is higher than the tensor's.
Status binary(MapOp op, MapInput self, MapInput other, const aclTensor& out, Plan* plan);
Status binary(MapOp op, MapInput self, MapInput other, Constants constants, const aclTensor& out, Plan* plan);
// The same, in floating point.
Status floating_binary(MapOp op, MapInput self, MapInput other, const aclTensor& out, Plan* plan);
Status ternary(MapOp op, MapInput a, MapInput b, MapInput c, Constants constants, const aclTensor& out, Plan* plan);
// Computes in the type of the input, which its gradients must have too.
Status gradient(MapOp op, const aclTensor& grad, const aclTensor& self, Constants constants, const aclTensor& out,
                Plan* plan);

// Operators with special rules for their arguments.
Status divide(MapInput self, MapInput other, int32_t mode, const aclTensor& out, Plan* plan);
Status power(MapInput self, MapInput exponent, const aclTensor& out, Plan* plan);
Status clamp(const aclTensor& self, const aclScalar* min, const aclScalar* max, const aclTensor& out, Plan* plan);
Status clamp_min(const aclTensor& self, const aclScalar& min, const aclTensor& out, Plan* plan);
Status clamp_max(const aclTensor& self, const aclScalar& max, const aclTensor& out, Plan* plan);
Status clamp(const aclTensor& self, const aclTensor* min, const aclTensor* max, const aclTensor& out, Plan* plan);
Status shift(MapOp op, MapInput self, MapInput other, const aclTensor& out, Plan* plan);
// Logical for bool.
Status bitwise_not(const aclTensor& self, const aclTensor& out, Plan* plan);
Status round_decimals(const aclTensor& self, int64_t decimals, const aclTensor& out, Plan* plan);
Status nan_to_num(const aclTensor& self, float nan, float posinf, float neginf, const aclTensor& out, Plan* plan);
Status is_close(const aclTensor& self, const aclTensor& other, double rtol, double atol, bool equal_nan,
                const aclTensor& out, Plan* plan);
Status logit(const aclTensor& self, double eps, const aclTensor& out, Plan* plan);
Status logit_backward(const aclTensor& self, const aclTensor& grad, double eps, const aclTensor& out, Plan* plan);
Status gelu(const aclTensor& self, int64_t mode, const aclTensor& out, Plan* plan);
Status gelu_backward(const aclTensor& grad, const aclTensor& self, const char* approximate, const aclTensor& out,
                     Plan* plan);
Status elu_backward(const aclTensor& grad, const aclScalar& alpha, const aclScalar& scale, const aclScalar& input_scale,
                    bool is_result, const aclTensor& self, const aclTensor& out, Plan* plan);
Status celu(const aclTensor& self, const aclScalar& alpha, const aclTensor& out, Plan* plan);
Status leaky_relu_backward(const aclTensor& grad, const aclTensor& self, const aclScalar& slope, bool is_result,
                           const aclTensor& out, Plan* plan);
// Converts as C++ does; a complex number becomes its real part.
Status cast(const aclTensor& self, const aclTensor& out, Plan* plan);
// `out` must have `dtype`.
Status cast_to(const aclTensor& self, aclDataType dtype, const aclTensor& out, Plan* plan);
Status fill(const aclTensor& self, double value, Plan* plan);
Status fill(const aclTensor& self, const aclScalar& value, Plan* plan);
// `buffer` is for the backward pass of other devices; it is not written.
Status log_sigmoid_forward(const aclTensor& self, const aclTensor& out, const aclTensor& buffer, Plan* plan);
Status where(const aclTensor& condition, const aclTensor& self, const aclTensor& other, const aclTensor& out,
             Plan* plan);
Status masked_fill(const aclTensor& self, const aclTensor& mask, MapInput value, Plan* plan);

}  // namespace softnpu
