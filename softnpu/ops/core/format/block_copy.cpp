#include "ops/core/format/block_copy.h"

#include <algorithm>
#include <utility>

#include "ops/core/format/tile.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

// Rows per part: few if blocks are contiguous on both sides, since adjacent blocks share cache lines of the plain
// tensor; many if rows are contiguous in the plain tensor.
constexpr int64_t kRowsOfBlocks = 32;
constexpr int64_t kRowsOfLines = 256;
// Steps along near_ before the next block, whose lines may be in the same cache set.
constexpr int64_t kNear = 16;

constexpr int64_t pieces(int64_t size, int64_t chunk) { return (size + chunk - 1) / chunk; }

}  // namespace

BlockCopy::BlockCopy(const BlockLayout& layout, const View& plain)
    : element_(static_cast<size_t>(plain.element())),
      block_(layout.block),
      columns_(layout.cut_size),
      step_(plain.strides[layout.cut_dim]) {
  const int64_t element = plain.element();
  for (const BlockAxis& axis : layout.axes) {
    const Loop loop{axis.size, axis.filled, plain.strides[axis.dim], axis.stride * element};
    if (axis.dim == layout.cut_dim) {
      cut_ = {loop.size, loop.filled, loop.in_plain * block_, loop.in_blocked};
    } else if (loop.filled != 1) {
      add(loop);
    }
  }
  choose_rows();
}

// Merges the dimension with the preceding one if both sides allow it.
void BlockCopy::add(const Loop& loop) {
  if (!rest_.empty()) {
    Loop& outer = rest_.back();
    if (loop.size == loop.filled && outer.size == outer.filled && outer.in_blocked == loop.in_blocked * loop.filled &&
        outer.in_plain == loop.in_plain * loop.size) {
      outer = {outer.size * loop.size, outer.filled * loop.filled, loop.in_plain, loop.in_blocked};
      return;
    }
  }
  rest_.push_back(loop);
}

// If blocks are contiguous in the plain tensor they are copied in memory order; otherwise the rows are the dimension in
// which the plain tensor is contiguous.
void BlockCopy::choose_rows() {
  if (rest_.empty()) {
    rows_.in_blocked = block_ * static_cast<int64_t>(element_);
    return;
  }
  size_t chosen = rest_.size() - 1;
  if (step_ != static_cast<ptrdiff_t>(element_)) {
    for (size_t i = 0; i < rest_.size(); ++i) {
      if (rest_[i].size > 1 && (rest_[chosen].size <= 1 || rest_[i].in_plain < rest_[chosen].in_plain)) chosen = i;
    }
  }
  rows_ = take(chosen);
  if (!rest_.empty() && rest_.back().in_blocked < rows_.in_blocked) near_ = take(rest_.size() - 1);
}

BlockCopy::Loop BlockCopy::take(size_t i) {
  const Loop taken = rest_[i];
  for (size_t j = i + 1; j < rest_.size(); ++j) rest_[j - 1] = rest_[j];
  rest_.pop_back();
  return taken;
}

template <typename Body>
void BlockCopy::for_pieces(bool fills, int threads, const Body& body) const {
  const auto size_of = [fills](const Loop& loop) { return fills ? loop.filled : loop.size; };
  const int64_t rows = size_of(rows_);
  const int64_t nears = size_of(near_);
  const int64_t part = std::min(rows, step_ == static_cast<ptrdiff_t>(element_) ? kRowsOfBlocks : kRowsOfLines);
  const int64_t near_part = std::min(nears, kNear);
  // A unit of work: some blocks of a part of the rows and of near_.
  const int64_t elements = part * near_part * block_;
  const int64_t blocks = std::clamp<int64_t>(kGrainElements / elements, 1, cut_.size);
  const int64_t groups = pieces(cut_.size, blocks);
  const int64_t near_parts = pieces(nears, near_part);
  const int64_t parts = pieces(rows, part);
  int64_t units = groups * near_parts * parts;
  for (const Loop& loop : rest_) units *= size_of(loop);
  const int64_t grain = std::max<int64_t>(1, kGrainElements / (elements * blocks));
  parallel_for(units, grain, threads, [&](int64_t first, int64_t last) {
    for (int64_t unit = first; unit < last; ++unit) {
      int64_t at = unit;
      const auto next = [&at](int64_t size) { return std::exchange(at, at / size) % size; };
      const int64_t first_block = next(groups) * blocks;
      const int64_t first_near = next(near_parts) * near_part;
      const int64_t first_row = next(parts) * part;
      ptrdiff_t in_plain = first_row * rows_.in_plain;
      ptrdiff_t in_blocked = first_row * rows_.in_blocked;
      bool is_beyond = false;
      for (size_t i = rest_.size(); i-- > 0;) {
        const int64_t index = next(size_of(rest_[i]));
        is_beyond = is_beyond || index >= rest_[i].size;
        in_plain += index * rest_[i].in_plain;
        in_blocked += index * rest_[i].in_blocked;
      }
      const int64_t filled = std::min(part, rows - first_row);
      const int64_t here = is_beyond ? 0 : std::clamp<int64_t>(rows_.size - first_row, 0, filled);
      const int64_t last_near = std::min(first_near + near_part, nears);
      for (int64_t b = first_block; b < std::min(first_block + blocks, cut_.size); ++b) {
        const int64_t columns = std::min(block_, columns_ - b * block_);
        for (int64_t n = first_near; n < last_near; ++n) {
          body(in_plain + b * cut_.in_plain + n * near_.in_plain,
               in_blocked + b * cut_.in_blocked + n * near_.in_blocked, n < near_.size ? here : 0, filled, columns);
        }
      }
    }
  });
}

void BlockCopy::pack(const char* plain, char* blocks, int threads) const {
  const TileStrides strides{rows_.in_blocked, rows_.in_plain, step_};
  const PackTile tile = pack_tile(element_, block_);
  for_pieces(true, threads, [&](ptrdiff_t from, ptrdiff_t to, int64_t rows, int64_t filled, int64_t columns) {
    tile(rows == 0 ? plain : plain + from, blocks + to, strides, rows, filled, columns);
  });
}

void BlockCopy::unpack(const char* blocks, char* plain, int threads) const {
  const TileStrides strides{rows_.in_blocked, rows_.in_plain, step_};
  const UnpackTile tile = unpack_tile(element_, block_);
  for_pieces(false, threads, [&](ptrdiff_t to, ptrdiff_t from, int64_t rows, int64_t, int64_t columns) {
    tile(blocks + from, plain + to, strides, rows, columns);
  });
}

}  // namespace softnpu
