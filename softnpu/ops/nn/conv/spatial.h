#pragma once
// The windows of images: attributes with a value per spatial dimension, and the number of windows.

#include <cstddef>
#include <cstdint>

#include "base/checked.h"
#include "nnopbase/arrays.h"
#include "ops/nn/conv/problem.h"

namespace softnpu {

// Reads one number for all `dims` dimensions, or one each, into the last elements of `out`; missing ones are
// `fallback`. Fails if a number is below `least`, or no int as in PyTorch's kernels.
Status read_spatial(const aclIntArray* values, const char* name, size_t dims, int64_t least, int64_t fallback,
                    Triple* out);

// Windows along one dimension of an image. The attributes come from read_spatial().
struct WindowLine {
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t padding = 0;
  int64_t dilation = 1;

  // The number of values from a window's first to its last.
  Checked extent() const { return checked(dilation) * (checked(kernel) - 1) + 1; }
};

// The number of windows along `size` values; 0 if none fits. In `ceil_mode` the last one may extend beyond the right
// padding, if it starts before it. Fails if sizes do not fit into 64 bits.
Status count_windows(int64_t size, const WindowLine& line, bool ceil_mode, int64_t* out);

}  // namespace softnpu
