#pragma once
// Conversion of pictures between gray, YUV of 4:2:0, 4:2:2 and 4:4:4, and RGB.

#include "acl/ops/acl_dvpp.h"
#include "base/status.h"
#include "dvpp/picture.h"

namespace softnpu {

// Both have the same sizes. Chroma is the mean of its pixels, and belongs to each of them. `matrix` is one of
// acldvppCscMatrix: ITU-R BT.601, BT.709 or BT.2020 in their full or narrow range. A new alpha is 255.
Status convert_colors(const Picture& from, const Picture& to, uint32_t matrix);

}  // namespace softnpu
