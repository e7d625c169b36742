#pragma once
// Which convolutions Winograd's minimal filtering makes, and how images are cut into tiles.

#include <cstdint>

#include "ops/conv/problem.h"
#include "ops/conv/winograd_kernels.h"

namespace softnpu {

// Whether it makes convolutions, or gradients, like `problem`: of float32 with the permission to lose digits, 3 x 3
// taps, stride 1, one group, images whose channels its kernels count and whose rows they read.
bool is_winograds(const ConvProblem& problem);

inline int64_t tiles_along(int64_t size, WinogradTile tile) { return (size + tile.made - 1) / tile.made; }
// Of the images like `image`, all of them.
inline int64_t tiles_of(const Image& image, int64_t batch, WinogradTile tile) {
  return batch * tiles_along(image.sizes[1], tile) * tiles_along(image.sizes[2], tile);
}
// The tile of fewest multiplications, unless few tiles of `image`, by which all images are cut, share a large filter:
// that of a small tile takes less than half the memory, which is what such products wait for.
WinogradTile tile_of(const ConvProblem& problem, const Image& image);
// Whether the tiles of `image` are so many, and so few of their values beyond its edges, that it is faster.
bool has_enough_tiles(const Image& image, int64_t batch, WinogradTile tile);

}  // namespace softnpu
