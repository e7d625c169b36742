#include "ops/conv/winograd_tiles.h"

#include "ops/conv/winograd_rows.h"

namespace softnpu {
namespace {

// With fewer channels or tiles the transforms, and the filter of four times the size, cost more than the products save.
constexpr int64_t kLeastChannels = 32;
constexpr int64_t kLeastCovered = 256;  // values per channel
// Results beyond the image's edges are dropped: the limit of computed to needed values.
constexpr double kMostWaste = 1.5;
// From this size a filter for the large tile does not fit a cache and significantly adds to a program's memory.
constexpr int64_t kLargeFilterBytes = int64_t{16} << 20;
constexpr int64_t kFewTiles = 8;  // the filter is this many times as large as the images

}  // namespace

bool is_winograds(const ConvProblem& p) {
  const bool has_3x3_taps = p.dims == 2 && p.filter.sizes == Triple{1, 3, 3} && p.filter.dtype == ACL_FLOAT;
  const bool is_plain = p.groups == 1 && p.stride == Triple{1, 1, 1} && p.dilation == Triple{1, 1, 1};
  const bool is_padded = p.padding[1] <= 2 && p.padding[2] <= 2;  // otherwise a gradient covers only part of its image
  if (!p.allows_less || !has_3x3_taps || !is_plain || !is_padded) return false;
  for (const Image* image : {&p.in, &p.out}) {
    const bool has_channels = image->channels >= kLeastChannels && image->channels % kWinogradChannels == 0;
    if (!has_channels || !WinogradRows::are_of(*image)) return false;
  }
  return true;
}

WinogradTile tile_of(const ConvProblem& p, const Image& image) {
  constexpr WinogradTile kSmall{2}, kLarge{4};
  const int64_t filter = p.in.channels * p.out.channels;
  const int64_t values = tiles_of(image, p.batch, kLarge) * (p.in.channels + p.out.channels);
  const int64_t bytes = filter * kLarge.planes() * static_cast<int64_t>(sizeof(float));
  return bytes > kLargeFilterBytes && values <= filter / kFewTiles ? kSmall : kLarge;
}

bool has_enough_tiles(const Image& image, int64_t batch, WinogradTile tile) {
  const int64_t covered = tiles_of(image, batch, tile) * tile.made * tile.made;
  const auto needed = static_cast<double>(batch * image.spatial_size());
  return covered >= kLeastCovered && static_cast<double>(covered) <= kMostWaste * needed;
}

}  // namespace softnpu
