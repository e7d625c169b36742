#pragma once
// The one iteration over strided memories: a position that moves run by run along the innermost dimension.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/small_vector.h"

namespace softnpu {

// Dimensions, outermost first, at least one; and how a position (an address, several offsets, ...) moves along them.
template <typename T>
concept StridedLayout = requires(const T layout, typename T::Position* position, size_t dim, int64_t steps) {
  { layout.dims() } -> std::convertible_to<size_t>;
  { layout.size(dim) } -> std::convertible_to<int64_t>;
  layout.advance(position, dim, steps);
};

template <StridedLayout Layout>
class Cursor {
 public:
  using Position = typename Layout::Position;

  // Stands at element `first`, in the order of the dimensions; `origin` is the position of element 0.
  Cursor(Layout layout, const Position& origin, int64_t first)
      : layout_(layout), last_(layout.dims() - 1), at_(layout.dims()), position_(origin) {
    for (size_t d = last_ + 1; d-- > 0 && first > 0;) {
      const int64_t outer = first / layout_.size(d);
      at_[d] = first - outer * layout_.size(d);
      layout_.advance(&position_, d, at_[d]);
      first = outer;
    }
  }

  const Position& position() const { return position_; }
  // The elements from here to the end of the innermost dimension.
  int64_t run() const { return layout_.size(last_) - at_[last_]; }

  // Moves past `count` elements, at most run().
  void skip(int64_t count) {
    if (count == run()) return next_run();
    at_[last_] += count;
    layout_.advance(&position_, last_, count);
  }

 private:
  void next_run() {
    layout_.advance(&position_, last_, -at_[last_]);
    at_[last_] = 0;
    for (size_t d = last_; d-- > 0;) {
      layout_.advance(&position_, d, 1);
      if (++at_[d] < layout_.size(d)) return;
      layout_.advance(&position_, d, -layout_.size(d));
      at_[d] = 0;
    }
  }

  Layout layout_;
  size_t last_;
  SmallVector<int64_t, 8> at_;
  Position position_;
};

// Calls body(position of the first element, count) for each run in [first, first + count).
template <StridedLayout Layout, typename Body>
void for_runs(const Layout& layout, const typename Layout::Position& origin, int64_t first, int64_t count,
              Body&& body) {
  if (count <= 0) return;
  if (layout.dims() == 1) {  // one run, without a division
    auto position = origin;
    layout.advance(&position, 0, first);
    return body(std::as_const(position), count);
  }
  Cursor<Layout> cursor(layout, origin, first);
  for (;;) {
    const int64_t here = std::min(cursor.run(), count);
    body(std::as_const(cursor.position()), here);
    count -= here;
    if (count == 0) return;
    cursor.skip(here);
  }
}

// One memory: its position is an address.
struct AddressLayout {
  using Position = char*;
  const int64_t* sizes = nullptr;
  const ptrdiff_t* strides = nullptr;  // in bytes
  size_t count = 0;

  size_t dims() const { return count; }
  int64_t size(size_t dim) const { return sizes[dim]; }
  void advance(char** address, size_t dim, int64_t steps) const { *address += steps * strides[dim]; }
};

}  // namespace softnpu
