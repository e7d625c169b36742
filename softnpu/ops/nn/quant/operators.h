#pragma once
// Planners for operators.txt: int8 values with scales. Values are of a floating-point dtype up to 32 bits and computed
// in float32; results are rounded to nearest, ties to even, and saturate.

#include <array>

#include "nnopbase/arrays.h"
#include "nnopbase/executor.h"
#include "nnopbase/tensor.h"

namespace softnpu {

// Quantizes rows of the last dimension with their own scales: max
// x * smooth
//  / 127, or with `offset` (max - min) / 255 and the offset 127 - max / scale. `smooth`: [C], or [E, C] if
//  `group_index` has the ends of E groups of rows.
struct DynamicQuant {
  const aclTensor& x;
  const aclTensor* smooth;
  const aclTensor* group_index;
  const aclTensor& y;
  const aclTensor& scale;   // one per row
  const aclTensor* offset;  // one per row
};
Status dynamic_quant(const DynamicQuant& operands, Plan* plan);

// y = x * scale + offset; scale and offset have dimension `axis` (-1 or -2) or one element. `round`: round, floor, ceil
// or trunc.
Status static_quant(const aclTensor& x, const aclTensor& scale, const aclTensor* offset, bool square_scale,
                    const char* round, aclDataType dtype, int64_t axis, const aclTensor& y, Plan* plan);
// y = x / scale + offset in int8, uint8 or int32; scale and offset have dimension `axis` or one element.
Status quantize(const aclTensor& x, const aclTensor& scale, const aclTensor* offset, aclDataType dtype, int64_t axis,
                const aclTensor& y, Plan* plan);
// y = (x + offset) * scale of int8 x; scale and offset have the last dimension or one element.
Status anti_quant(const aclTensor& x, const aclTensor& scale, const aclTensor* offset, aclDataType dtype,
                  bool square_scale, const aclTensor& y, Plan* plan);

// The RMS norm of x1 + x2 over the dimensions of gamma, in int8: y = norm gamma + beta, of which each branch is
// y / scale + offset, or y * scale + offset. The first branch has a scale; without one, `y` of the second is zeros.
struct NormBranch {
  const aclTensor* scale = nullptr;   // one element or as many as gamma
  const aclTensor* offset = nullptr;  // as scale; 0 without it
  const aclTensor* y = nullptr;
};
struct NormQuant {
  const aclTensor& x1;
  const aclTensor* x2 = nullptr;
  const aclTensor& gamma;
  const aclTensor* beta = nullptr;
  double eps = 0;
  const aclTensor* sum = nullptr;   // x1 + x2
  const aclTensor* norm = nullptr;  // y
};
Status norm_quant(const NormQuant& operands, bool divides, int64_t axis, const std::array<NormBranch, 2>& branches,
                  Plan* plan);

// The same with a scale for each row: max |y * smooth| / 127, or 1 for a row of zeros. A branch that `mask` does not
// select is zeros. Without `mask` the second branch is computed if both have
// `smooth`.
struct DynamicNormBranch {
  const aclTensor* smooth;
  const aclTensor& y;
  const aclTensor& scale;
};
Status norm_dynamic_quant(const NormQuant& operands, const aclBoolArray* mask,
                          const std::array<DynamicNormBranch, 2>& branches, Plan* plan);

// Packs a float32 scale and an offset (default 0) into the 64 bits that quant_matmul takes. CANN's packing is not
// public; here the scale's bits are the lower half and the offset's the upper one.
Status pack_quant_parameters(const aclTensor& scale, const aclTensor* offset, const aclTensor& packed, Plan* plan);

// out = (x1 @ x2 + bias) * x2_scale * x1_scale + x2_offset for an int32 bias, which is exact up to the scales; a
// floating-point bias is added last. x1 [batch, M, K] and x2 [batch, K, N] are int8, with broadcast batches; x1_scale
// has M elements; x2_scale, offset and bias have N or one. Scales may be packed (int64 or uint64).
struct QuantMatmul {
  const aclTensor& x1;
  const aclTensor& x2;
  const aclTensor* x1_scale;
  const aclTensor& x2_scale;
  const aclTensor* x2_offset;
  const aclTensor* bias;
  bool transpose1;
  bool transpose2;
  int64_t group;                              // 0: other values are not supported
  std::array<const aclTensor*, 3> undefined;  // arguments that must be null or empty
  const aclTensor& out;                       // int8 or floating point
};
Status quant_matmul(const QuantMatmul& operands, Plan* plan);

// out = x @ ((weight + offset) * scale) + bias, weight [batch, K, N] of int8 or int4. scale and offset: one element, N,
// or [ceil(K / group), N].
struct WeightQuantMatmul {
  const aclTensor& x;
  const aclTensor& weight;
  const aclTensor& scale;
  const aclTensor* offset;
  const aclTensor* bias;
  int64_t group;                              // rows of the weight that share a scale; 0: all
  std::array<const aclTensor*, 2> undefined;  // arguments that must be null or empty
  const aclTensor& out;
};
Status weight_quant_matmul(const WeightQuantMatmul& operands, Plan* plan);

}  // namespace softnpu
