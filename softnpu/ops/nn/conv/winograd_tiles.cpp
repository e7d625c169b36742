#include "ops/nn/conv/winograd_tiles.h"

#include "ops/nn/conv/winograd_rows.h"

namespace softnpu {
namespace {

// With fewer channels or tiles the transforms, and the filter of four times the size, cost more than the products save.
constexpr int64_t kMinChannels = 32;
constexpr int64_t kMinCovered = 256;  // values per channel
// Results beyond the image's edges are dropped: the limit of computed to needed values.
constexpr double kMaxWaste = 1.5;
// From this size a filter for the large tile does not fit a cache and significantly adds to a program's memory.
constexpr int64_t kLargeFilterBytes = int64_t{16} << 20;
constexpr int64_t kFewTiles = 8;  // the filter is this many times as large as the images

}  // namespace

const char* refused_by_winograd(const ConvProblem& p) {
  if (!p.allows_less) return "HF32 is not allowed, or the data type is not float32";
  if (p.dims != 2 || p.filter.sizes != Triple{1, 3, 3} || p.filter.dtype != ACL_FLOAT) {
    return "the filter is not 3 x 3 in float32";
  }
  if (p.groups != 1 || p.stride != Triple{1, 1, 1} || p.dilation != Triple{1, 1, 1}) {
    return "there are groups, a stride or a dilation";
  }
  // Otherwise a gradient covers only part of its image.
  if (p.padding[1] > 2 || p.padding[2] > 2) return "the padding is more than 2";
  for (const Image* image : {&p.in, &p.out}) {
    if (image->channels < kMinChannels || image->channels % kWinogradChannels != 0) {
      return "there are few channels, or a number of them that vectors do not divide";
    }
    if (!WinogradRows::are_of(*image)) return "the images' rows are not contiguous";
  }
  return nullptr;
}

WinogradTile tile_of(const ConvProblem& p, const Image& image) {
  constexpr WinogradTile kSmall{2}, kLarge{4};
  const int64_t filter = p.in.channels * p.out.channels;
  const int64_t values = tiles_of(image, p.batch, kLarge) * (p.in.channels + p.out.channels);
  const int64_t bytes = filter * kLarge.planes() * static_cast<int64_t>(sizeof(float));
  return bytes > kLargeFilterBytes && values <= filter / kFewTiles ? kSmall : kLarge;
}

bool has_enough_tiles(const Image& image, int64_t batch, WinogradTile tile) {
  const int64_t covered = tiles_of(image, batch, tile) * tile.output * tile.output;
  const auto needed = static_cast<double>(batch * image.spatial_size());
  return covered >= kMinCovered && static_cast<double>(covered) <= kMaxWaste * needed;
}

}  // namespace softnpu
