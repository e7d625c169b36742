#pragma once
// Linear interpolation of an area of one picture into an area of another of the same layout.

#include <cstdint>

#include "base/status.h"
#include "dvpp/picture.h"

namespace softnpu {

// First column and row, sizes; even where chroma is subsampled.
struct Area {
  int64_t left = 0;
  int64_t top = 0;
  int64_t width = 0;
  int64_t height = 0;
};

// Pixels' centers are at halves, as in torch.nn.functional.interpolate without aligned corners; pixels beyond the area
// are those of its edge. UV and VU may differ. The areas are within their pictures.
Status scale(const Picture& from, const Area& of, const Picture& to, const Area& into);

}  // namespace softnpu
