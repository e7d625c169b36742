#pragma once
// The windows of images: attributes with a number for each spatial dimension, and how many windows there are.

#include <cstddef>
#include <cstdint>

#include "base/checked.h"
#include "nnopbase/arrays.h"
#include "ops/conv/problem.h"

namespace softnpu {

// One number for all `dims` dimensions, or one each, into the last of `out`; all others, and null, are `fallback`.
// Fails where one is below `least`, or no int as PyTorch's kernels have it.
Status read_spatial(const aclIntArray* values, const char* name, size_t dims, int64_t least, int64_t fallback,
                    Triple* out);

// Windows along one dimension of an image. Attributes are read_spatial's.
struct WindowLine {
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t padding = 0;
  int64_t dilation = 1;

  // From a window's first value to its last.
  Checked extent() const { return checked(dilation) * (checked(kernel) - 1) + 1; }
};

// How many windows there are along `size` values; 0 where none fits. In `ceil_mode` the last one may reach beyond the
// padding on the right, if it begins before that. Fails where sizes do not fit into 64 bits.
Status count_windows(int64_t size, const WindowLine& line, bool ceil_mode, int64_t* out);

}  // namespace softnpu
