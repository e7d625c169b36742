#pragma once
// What operators.txt plans with. Images are [N, C, spatial] or [C, spatial]; attributes have one value for each spatial
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

// `indices`: int32 or int64, of the greatest values in a channel of the input.
Status max_pool(const PoolAttributes& attributes, const aclTensor& self, const aclTensor& out, const aclTensor& indices,
                Plan* plan);
Status max_pool_backward(const PoolAttributes& attributes, const aclTensor& grad, const aclTensor& self,
                         const aclTensor& indices, const aclTensor& grad_input, Plan* plan);
// `mask`: int8 [.., C, kH * kW, 32 * (ceil(oH * oW / 16) + 1)], contiguous. What CANN keeps in it is not public; here a
// channel's bytes begin with its int32 indices, and windows of one value need none.
Status max_pool_mask(const PoolAttributes& attributes, const aclTensor& self, const aclTensor& out,
                     const aclTensor& mask, Plan* plan);
Status max_pool_mask_backward(const PoolAttributes& attributes, const aclTensor& grad, const aclTensor& self,
                              const aclTensor& mask, const aclTensor& grad_input, Plan* plan);
// Two dimensions; `bits` as ops/pool/argmax_bits.h has them, in any type of 16 bits. Plans are for one launch.
Status max_pool_bits(const PoolAttributes& attributes, const aclTensor& self, const aclTensor& out,
                     const aclTensor& bits, Plan* plan);
Status max_pool_bits_backward(const PoolAttributes& attributes, const aclTensor& grad, const aclTensor& self,
                              const aclTensor& bits, const aclTensor& grad_input, Plan* plan);
// `divisor` 0: the number of values, padding among them where it is counted.
Status avg_pool(const PoolAttributes& attributes, const aclTensor& self, bool counts_padding, int64_t divisor,
                const aclTensor& out, Plan* plan);
Status avg_pool_backward(const PoolAttributes& attributes, const aclTensor& grad, const aclTensor& self,
                         bool counts_padding, int64_t divisor, const aclTensor& grad_input, Plan* plan);
// Windows that cover the input evenly, of `dims` dimensions.
Status adaptive_max_pool(size_t dims, const aclTensor& self, const aclIntArray& output_size, const aclTensor& out,
                         const aclTensor& indices, Plan* plan);
Status adaptive_max_pool_backward(size_t dims, const aclTensor& grad, const aclTensor& self, const aclTensor& indices,
                                  const aclTensor& grad_input, Plan* plan);
Status adaptive_avg_pool(size_t dims, const aclTensor& self, const aclIntArray& output_size, const aclTensor& out,
                         Plan* plan);
Status adaptive_avg_pool_backward(size_t dims, const aclTensor& grad, const aclTensor& self,
                                  const aclTensor& grad_input, Plan* plan);

// Puts values where `indices` (int32 or int64, in a channel of the result) say; zeros everywhere else.
Status max_unpool(size_t dims, const aclTensor& self, const aclTensor& indices, const aclIntArray& output_size,
                  const aclTensor& out, Plan* plan);

}  // namespace softnpu
