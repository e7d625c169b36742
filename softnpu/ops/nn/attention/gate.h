#pragma once
// Gated linear units (Shazeer, 2020), and gelu with a sigmoid. Any floating-point type, any strides.

#include "nnopbase/executor.h"
#include "nnopbase/tensor.h"
#include "ops/math/elementwise/map_op.h"

namespace softnpu {

// The activation of one half, and its gradient, a function of the activation's input or of its result.
struct Gate {
  MapOp function;
  MapOp gradient;
  bool is_of_result = false;
};
inline constexpr Gate kSiluGate = {MapOp::kSilu, MapOp::kSiluBackward};
inline constexpr Gate kSigmoidGate = {MapOp::kSigmoid, MapOp::kSigmoidBackward, /*is_of_result=*/true};
inline constexpr Gate kGeluGate = {MapOp::kGelu, MapOp::kGeluBackward};
inline constexpr Gate kGeluTanhGate = {MapOp::kGeluTanh, MapOp::kGeluTanhBackward};

// Splits x into halves along `dim`; `left` says which half is activated. `activated`, which may be null, receives the
// activation's result.
Status gate(const Gate& kind, const aclTensor& x, int64_t dim, bool left, const aclTensor& out,
            const aclTensor* activated, Plan* plan);
Status gate_grad(const Gate& kind, const aclTensor& grad, const aclTensor& x, int64_t dim, bool left,
                 const aclTensor& out, Plan* plan);
// approximate: 0 exact gelu, 1 with tanh.
Status ge_glu(const aclTensor& x, int64_t dim, int64_t approximate, bool left, const aclTensor& out,
              const aclTensor& activated, Plan* plan);
Status ge_glu_grad(const aclTensor& grad, const aclTensor& x, int64_t dim, int64_t approximate, bool left,
                   const aclTensor& out, Plan* plan);

// Along the last dimension, the left half activated; approximate: none or tanh.
Status gelu_mul(const aclTensor& x, const char* approximate, const aclTensor& out, Plan* plan);

// min(a, limit) sigmoid(alpha min(a, limit)) (clamp(b, -limit, limit) + bias), where a and b are the elements of x from
// `dim` on in turn, or their halves. Rows before `dim` behind the sum of `group_index` are 0.
struct ClippedGate {
  double alpha = 1.702;
  double limit = 7;
  double bias = 1;
  bool interleaved = true;
};
Status clipped_gate(const aclTensor& x, const aclTensor* group_index, int64_t dim, const ClippedGate& gate,
                    const aclTensor& out, Plan* plan);

// x sigmoid(1.702 x); Hendrycks and Gimpel, 2016.
Status fast_gelu(const aclTensor& x, const aclTensor& out, Plan* plan);
Status fast_gelu_grad(const aclTensor& grad, const aclTensor& x, const aclTensor& out, Plan* plan);

}  // namespace softnpu
