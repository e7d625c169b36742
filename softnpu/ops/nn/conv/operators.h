#pragma once
// Planners for operators.txt. Spatial attributes have one value per dimension, or one for all.

#include "nnopbase/arrays.h"
#include "nnopbase/executor.h"
#include "nnopbase/tensor.h"

namespace softnpu {

struct ConvAttributes {
  const aclIntArray& stride;
  const aclIntArray& padding;
  const aclIntArray& dilation;
  bool transposed = false;
  const aclIntArray* output_padding = nullptr;  // of transposed convolutions; null: 0
  int64_t groups = 1;
};

// input [N, C, spatial] or [C, spatial]; weight [O, C / groups, kernel], transposed [C, O / groups, kernel].
Status convolution(const aclTensor& input, const aclTensor& weight, const aclTensor* bias,
                   const ConvAttributes& attributes, const aclTensor& out, int8_t cube_math_type, Plan* plan);

// Computes the gradients selected by `mask`: of input, weight, bias.
Status convolution_backward(const aclTensor& grad, const aclTensor& input, const aclTensor& weight,
                            const ConvAttributes& attributes, const aclBoolArray& mask, int8_t cube_math_type,
                            const aclTensor* grad_input, const aclTensor* grad_weight, const aclTensor* grad_bias,
                            Plan* plan);

// One group per channel of the input; `kernel_size` repeats the weight's.
Status conv_depthwise2d(const aclTensor& input, const aclTensor& weight, const aclIntArray& kernel_size,
                        const aclTensor* bias, const ConvAttributes& attributes, const aclTensor& out,
                        int8_t cube_math_type, Plan* plan);

// input [T, N, C], weight [kernel, C, O], out [T', N, O].
Status conv_tbc(const aclTensor& input, const aclTensor& weight, const aclTensor& bias, int64_t padding,
                const aclTensor& out, int8_t cube_math_type, Plan* plan);
Status conv_tbc_backward(const aclTensor& grad, const aclTensor& input, const aclTensor& weight, int64_t padding,
                         int8_t cube_math_type, const aclTensor& grad_input, const aclTensor& grad_weight,
                         const aclTensor& grad_bias, Plan* plan);

}  // namespace softnpu
