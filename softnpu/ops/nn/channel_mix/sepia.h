#pragma once
// The sepia filter: each color of the result is a sum of the image's colors,
//
//   R' = 0.393 R + 0.769 G + 0.189 B,  G' = 0.349 R + 0.686 G + 0.168 B,  B' = 0.272 R + 0.534 G + 0.131 B
//
// not clamped. Images are [..., channels, height, width] of any floating-point type and strides.

#include "nnopbase/executor.h"
#include "nnopbase/tensor.h"

namespace softnpu {

// `image` has three channels, or one that is used for all three; `out` has three.
Status sepia(const aclTensor& image, const aclTensor& out, Plan* plan);

// The gradient of an image from that of its result. `out` has the image's number of channels.
Status sepia_grad(const aclTensor& grad, const aclTensor& out, Plan* plan);

}  // namespace softnpu
