#pragma once
// Images with adjacent channels (channels last, and [N, C]): a row of all channels per position.

#include <algorithm>
#include <vector>

#include "ops/nn/norm/channels.h"
#include "workers/parallel.h"

namespace softnpu {

// Whether `x`, [N, C, ...], is such an image, or in NC1HWC0, which is viewed as one.
inline bool has_channel_rows(const aclTensor& x) {
  return is_blocked_format(x) || (x.dims.size() >= 2 && x.dims[1] > 1 && x.strides[1] == 1);
}

// The rows of `shape`, cut into pieces that do not depend on the number of threads.
class ChannelRows {
 public:
  explicit ChannelRows(const Channels& shape)
      : channels_(shape.channels), rows_(shape.per_channel()), threads_(shape.threads) {}

  int64_t pieces() const { return (rows_ + chunk() - 1) / chunk(); }
  int64_t rows_in(int64_t index) const { return std::min(chunk(), rows_ - index * chunk()); }

  // Calls body(first element of a part of a row, its first channel, count) for each part of each row of a piece.
  template <typename Body>
  void for_rows(int64_t index, const Body& body) const {
    const int64_t first = index * chunk();
    for (int64_t row = first; row < first + rows_in(index); ++row) {
      for (int64_t c = 0; c < channels_; c += kNormTile) {
        body(row * channels_ + c, c, std::min(kNormTile, channels_ - c));
      }
    }
  }

  // Calls work(index) for each piece.
  template <typename Work>
  void for_pieces(const Work& work) const {
    parallel_for(pieces(), 1, threads_, [&](int64_t first, int64_t last) {
      for (int64_t index = first; index < last; ++index) work(index);
    });
  }

 private:
  // The second pass over a piece finds it in the second-level cache.
  int64_t chunk() const { return std::max<int64_t>(1, (int64_t{1} << 15) / channels_); }

  int64_t channels_;
  int64_t rows_;
  int threads_;
};

}  // namespace softnpu
