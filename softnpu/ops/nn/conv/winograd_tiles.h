#pragma once
// Decides which convolutions use Winograd's minimal filtering, and how images are cut into tiles.

#include <cstdint>

#include "ops/nn/conv/problem.h"
#include "ops/nn/conv/winograd_kernels.h"

namespace softnpu {

// Whether convolutions, or gradients, like `problem` are supported: float32 with permission to lose precision, 3 x 3
// taps, stride 1, one group, channel counts and layouts that the kernels support.
const char* refused_by_winograd(const ConvProblem& problem);
inline constexpr const char* kRefusedTiles = "the image has few tiles, or many of their values are beyond its edges";

inline int64_t tiles_along(int64_t size, WinogradTile tile) { return (size + tile.output - 1) / tile.output; }
// Of all `batch` images like `image`.
inline int64_t tiles_of(const Image& image, int64_t batch, WinogradTile tile) {
  return batch * tiles_along(image.sizes[1], tile) * tiles_along(image.sizes[2], tile);
}
// The tile with the fewest multiplications. But if few tiles of `image` (the one that is cut) share a large filter, the
// small tile: its filter needs less than half the memory, and such products are bound by memory.
WinogradTile tile_of(const ConvProblem& problem, const Image& image);
// Whether `image` has so many tiles, and so few of their values beyond its edges, that Winograd is faster.
bool has_enough_tiles(const Image& image, int64_t batch, WinogradTile tile);

}  // namespace softnpu
