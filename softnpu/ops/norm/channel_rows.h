#pragma once
// Images whose channels lie one behind the other (channels last, and [N, C]), a row of all channels for each place.

#include <algorithm>
#include <vector>

#include "ops/norm/channels.h"
#include "workers/parallel.h"

namespace softnpu {

// Whether `x`, [N, C, ...], is such an image, or in blocks of channels that are seen as one.
inline bool has_channel_rows(const aclTensor& x) {
  return is_blocked_format(x) || (x.dims.size() >= 2 && x.dims[1] > 1 && x.strides[1] == 1);
}

// The rows of `shape`, in pieces that are the same for every number of threads.
class ChannelRows {
 public:
  explicit ChannelRows(const Channels& shape)
      : channels_(shape.channels), rows_(shape.per_channel()), threads_(threads_of(shape)) {}

  int64_t pieces() const { return (rows_ + piece() - 1) / piece(); }
  int64_t rows_in(int64_t index) const { return std::min(piece(), rows_ - index * piece()); }

  // body(first element of a part of a row, its first channel, their number) for each part of each row of a piece.
  template <typename Body>
  void for_rows(int64_t index, const Body& body) const {
    const int64_t first = index * piece();
    for (int64_t row = first; row < first + rows_in(index); ++row) {
      for (int64_t c = 0; c < channels_; c += kNormTile) {
        body(row * channels_ + c, c, std::min(kNormTile, channels_ - c));
      }
    }
  }

  // work(index) for each piece.
  template <typename Work>
  void for_pieces(const Work& work) const {
    parallel_for(pieces(), 1, threads_, [&](int64_t first, int64_t last) {
      for (int64_t index = first; index < last; ++index) work(index);
    });
  }

 private:
  // The second look at a piece finds it in the second-level cache.
  int64_t piece() const { return std::max<int64_t>(1, (int64_t{1} << 15) / channels_); }

  int64_t channels_;
  int64_t rows_;
  int threads_;
};

}  // namespace softnpu
