#pragma once
// Planners for operators.txt. Images are [N, C, spatial] or [C, spatial]; attributes have one value per spatial
// dimension, or one for all; an empty stride is the kernel's size.

#include "nnopbase/arrays.h"
#include "nnopbase/executor.h"
#include "nnopbase/tensor.h"

namespace softnpu {

struct PoolAttributes {
  size_t dims;
  const aclIntArray& kernel;
  const aclIntArray& stride;
  const aclIntArray& padding;
  const aclIntArray* dilation;
  bool ceil_mode;
};

// `indices`: int32 or int64, positions of the maxima in a channel of the input.
Status max_pool(const PoolAttributes& attributes, const aclTensor& self, const aclTensor& out, const aclTensor& indices,
                Plan* plan);
// Two dimensions, without indices. `pads` holds the padding before and after each dimension, which are equal;
// `auto_pad` is 0: as stated.
struct PaddedPool {
  const aclIntArray& kernel;
  const aclIntArray& stride;
  int64_t auto_pad;
  const aclIntArray& pads;
  const aclIntArray& dilation;
  bool ceil_mode;
};
Status max_pool_values(const PaddedPool& attributes, const aclTensor& self, const aclTensor& out, Plan* plan);
Status max_pool_backward(const PoolAttributes& attributes, const aclTensor& grad, const aclTensor& self,
                         const aclTensor& indices, const aclTensor& grad_input, Plan* plan);
// `mask`: int8 [.., C, kH * kW, 32 * (ceil(oH * oW / 16) + 1)], contiguous. CANN's contents are not public; here a
// channel's bytes begin with its int32 indices. Windows of one value need none.
Status max_pool_mask(const PoolAttributes& attributes, const aclTensor& self, const aclTensor& out,
                     const aclTensor& mask, Plan* plan);
Status max_pool_mask_backward(const PoolAttributes& attributes, const aclTensor& grad, const aclTensor& self,
                              const aclTensor& mask, const aclTensor& grad_input, Plan* plan);
// Two dimensions; `bits` as in ops/nn/pool/argmax_bits.h, in any 16-bit type. Launches of one plan take turns.
Status max_pool_bits(const PoolAttributes& attributes, const aclTensor& self, const aclTensor& out,
                     const aclTensor& bits, Plan* plan);
Status max_pool_bits_backward(const PoolAttributes& attributes, const aclTensor& grad, const aclTensor& self,
                              const aclTensor& bits, const aclTensor& grad_input, Plan* plan);
// `divisor` 0: the number of values, including padding if that is counted.
Status avg_pool(const PoolAttributes& attributes, const aclTensor& self, bool counts_padding, int64_t divisor,
                const aclTensor& out, Plan* plan);
Status avg_pool_backward(const PoolAttributes& attributes, const aclTensor& grad, const aclTensor& self,
                         bool counts_padding, int64_t divisor, const aclTensor& grad_input, Plan* plan);
// Windows that cover the input evenly, in `dims` dimensions.
Status adaptive_max_pool(size_t dims, const aclTensor& self, const aclIntArray& output_size, const aclTensor& out,
                         const aclTensor& indices, Plan* plan);
Status adaptive_max_pool_backward(size_t dims, const aclTensor& grad, const aclTensor& self, const aclTensor& indices,
                                  const aclTensor& grad_input, Plan* plan);
Status adaptive_avg_pool(size_t dims, const aclTensor& self, const aclIntArray& output_size, const aclTensor& out,
                         Plan* plan);
Status adaptive_avg_pool_backward(size_t dims, const aclTensor& grad, const aclTensor& self,
                                  const aclTensor& grad_input, Plan* plan);

// Writes values to the positions `indices` (int32 or int64, in a channel of the result), and zeros elsewhere.
Status max_unpool(size_t dims, const aclTensor& self, const aclTensor& indices, const aclIntArray& output_size,
                  const aclTensor& out, Plan* plan);

}  // namespace softnpu
