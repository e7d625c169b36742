#include "ops/nn/pool/pool.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

#include "ops/core/convert/element_rows.h"
#include "ops/core/dtype.h"
#include "ops/nn/pool/values.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

class Pool {
 public:
  explicit Pool(PoolProblem problem)
      : p_(std::move(problem)),
        in_reader_(p_.in.dtype, p_.dtype),
        out_reader_(p_.out.dtype, p_.dtype),
        in_writer_(p_.dtype, p_.in.dtype),
        out_writer_(p_.dtype, p_.out.dtype),
        has_indices_(p_.indices.data != nullptr) {
    if (has_indices_) {
      index_reader_ = ElementReader(p_.indices.dtype, ACL_INT64);
      index_writer_ = ElementWriter(ACL_INT64, p_.indices.dtype);
    }
  }

  // Call before forward().
  void find_even() {
    const bool in_place = in_reader_.is_direct() && step_of(p_.in) == static_cast<ptrdiff_t>(aclDataTypeSize(p_.dtype));
    if (p_.kind != PoolKind::kMax || !in_place || !has_short_indices()) return;
    const std::vector<Range>& all = p_.windows.ranges[2];
    const auto length_of = [&](const Range& r) { return length(r, p_.windows.step[2]); };
    for (const Range& r : all) even_.length = std::max(even_.length, length_of(r));
    const auto is_longest = [&](const Range& r) { return length_of(r) == even_.length; };
    even_.first = std::ranges::find_if(all, is_longest) - all.begin();
    const auto at = [&](int64_t i) -> const Range& { return all[static_cast<size_t>(i)]; };
    const auto end = static_cast<int64_t>(all.size());
    even_.last = std::min(even_.first + 1, end);
    if (even_.last < end) even_.stride = std::max<int64_t>(1, at(even_.last).begin - at(even_.first).begin);
    while (even_.last < end && is_longest(at(even_.last)) &&
           at(even_.last).begin - at(even_.last - 1).begin == even_.stride) {
      ++even_.last;
    }
  }

  const PoolProblem& problem() const { return p_; }

  // Computes one row of `out`.
  template <typename T>
  void forward(int64_t row_index) const {
    const Triple& sizes = p_.out.sizes;
    const Location to = location_of(sizes, row_index);
    const auto go = [](int64_t first, int64_t last, const auto& block) {
      for (int64_t x = first; x < last; x += kAtATime) block(x, std::min(kAtATime, last - x));
    };
    go(0, even_.first, [&](int64_t x, int64_t count) { forward_block<T>(to, x, count); });
    go(even_.first, even_.last, [&](int64_t x, int64_t count) { forward_even<T>(to, x, count); });
    go(even_.last, sizes[2], [&](int64_t x, int64_t count) { forward_block<T>(to, x, count); });
  }

  // Whether the channels of both images are adjacent in memory.
  bool has_channel_rows() const {
    const auto is_row = [](const Image& image) { return image.channel_stride == 1; };
    return p_.in.channels > 1 && is_row(p_.in) && is_row(p_.out) && (!has_indices_ || is_row(p_.indices));
  }

  // Computes one row of `out`, for all channels.
  template <typename T>
  void forward_channels(int64_t row_index) const {
    const Triple& sizes = p_.out.sizes;
    const int64_t plane = row_index / sizes[1] % sizes[0];
    const auto forward = has_short_indices() ? &Pool::forward_of<T, int32_t> : &Pool::forward_of<T, int64_t>;
    for (int64_t x = 0; x < sizes[2]; ++x) {
      for (int64_t c = 0; c < p_.in.channels; c += kAtATime) {
        const Location to{row_index / (sizes[0] * sizes[1]), c, plane, row_index % sizes[1]};
        const int64_t count = std::min(kAtATime, p_.in.channels - c);
        (this->*forward)(to, x, count);
      }
    }
  }

  // Computes one row of `in`.
  template <typename T>
  void backward(int64_t row_index) const {
    const Triple& sizes = p_.in.sizes;
    const Location to = location_of(sizes, row_index);
    for (int64_t x = 0; x < sizes[2]; x += kAtATime) {
      backward_block<T>(to, x, std::min(kAtATime, sizes[2] - x));
    }
  }

  // Whether gradients of maxima can be added by index: `in` must be accessible with a single stride.
  bool can_scatter() const {
    return p_.kind == PoolKind::kMax && has_indices_ && in_writer_.is_direct() && is_linear(p_.in);
  }

  // Computes all of `in` for one channel, or for up to kAtATime adjacent channels.
  template <typename T>
  void scatter(int64_t batch, int64_t channel, int64_t channels) const {
    T* const to = reinterpret_cast<T*>(row_of(p_.in, batch, channel, 0, 0, 0));
    const int64_t spatial_size = p_.in.spatial_size();
    const int64_t step = p_.in.strides[2];
    const int64_t run = step == channels ? spatial_size : 1;
    for (int64_t at = 0; at < spatial_size; at += run) std::fill_n(to + at * step, run * channels, T(0));
    const bool is_row = channels == 1;
    // A channel's windows as one row, if their gradients and indices have one stride.
    Triple sizes = p_.out.sizes;
    if (is_row && is_linear(p_.out) && is_linear(p_.indices)) sizes = {1, 1, p_.out.spatial_size()};
    const int64_t along = is_row ? sizes[2] : 1;  // results per step
    Block<T> block;
    for (int64_t row = 0; row < sizes[0] * sizes[1]; ++row) {
      for (int64_t x = 0; x < sizes[2]; x += std::min(along, kAtATime)) {
        const int64_t count = is_row ? std::min(kAtATime, sizes[2] - x) : channels;
        const auto at = [&](const Image& image) {
          return row_of(image, batch, channel, row / sizes[1], row % sizes[1], x);
        };
        const auto step_in = [&](const Image& image) { return is_row ? step_of(image) : element_of(image); };
        const T* values = in_place_or_read(out_reader_, at(p_.out), step_in(p_.out), count, block.values);
        const int64_t* indices_of =
            in_place_or_read(index_reader_, at(p_.indices), step_in(p_.indices), count, block.indices);
        for (int64_t i = 0; i < count; ++i) {
          const int64_t location = indices_of[i];
          if (location >= 0 && location < spatial_size) to[location * step + (is_row ? 0 : i)] += values[i];
        }
      }
    }
  }

  // Computes one row of `in`, for all channels.
  template <typename T>
  void backward_channels(int64_t row_index) const {
    const Triple& sizes = p_.in.sizes;
    const int64_t plane = row_index / sizes[1] % sizes[0];
    for (int64_t x = 0; x < sizes[2]; ++x) {
      for (int64_t c = 0; c < p_.in.channels; c += kAtATime) {
        backward_at<T>({row_index / (sizes[0] * sizes[1]), c, plane, row_index % sizes[1]}, x,
                       std::min(kAtATime, p_.in.channels - c));
      }
    }
  }

 private:
  // Whether the positions of a channel have a single stride.
  static bool is_linear(const Image& image) {
    const auto& [planes, rows, columns] = image.sizes;
    const Triple& strides = image.strides;
    return (rows == 1 || strides[1] == strides[2] * columns) &&
           (planes == 1 || strides[0] == strides[2] * columns * rows);
  }

  struct Location {
    int64_t batch, channel, plane, row;
  };

  // The position of row `row_index`, counted through all channels of the batch.
  Location location_of(const Triple& sizes, int64_t row_index) const {
    const int64_t channel_index = row_index / (sizes[0] * sizes[1]);
    const int64_t row = row_index % (sizes[0] * sizes[1]);
    return {channel_index / p_.in.channels, channel_index % p_.in.channels, row / sizes[1], row % sizes[1]};
  }

  // Writes results from position x on, and their indices; `along`: the step, along the row or the channels.
  template <typename T>
  void put(const Location& to, int64_t x, int64_t count, const T* values, const int64_t* indices,
           ptrdiff_t (*along)(const Image&)) const {
    const auto at = [&](const Image& image) { return row_of(image, to.batch, to.channel, to.plane, to.row, x); };
    out_writer_.write(values, static_cast<size_t>(count), at(p_.out), along(p_.out));
    if (has_indices_) index_writer_.write(indices, static_cast<size_t>(count), at(p_.indices), along(p_.indices));
  }

  // Results [first, last) of a row whose windows have equal lengths and distances.
  struct Even {
    int64_t first = 0, last = 0, stride = 1, length = 0;
  };

  const Range& range(size_t dim, int64_t at) const { return p_.windows.ranges[dim][static_cast<size_t>(at)]; }

  // The index of a position in `in`.
  template <typename Index>
  Index index_of(int64_t plane, int64_t row, int64_t column) const {
    return static_cast<Index>((plane * p_.in.sizes[1] + row) * p_.in.sizes[2] + column);
  }
  bool has_short_indices() const { return p_.in.spatial_size() <= std::numeric_limits<int32_t>::max(); }

  template <typename T>
  void forward_block(const Location& to, int64_t x, int64_t count) const {
    Block<T> block;
    const Triple& step = p_.windows.step;
    const Range& planes = range(0, to.plane);
    const Range& rows = range(1, to.row);
    begin(planes, rows, x, count, &block);
    T values[kAtATime];
    const int64_t left = p_.windows.lowest(2, range(2, x));
    const int64_t right = range(2, x + count - 1).end;
    for (int64_t plane = planes.begin; plane < planes.end; plane += step[0]) {
      for (int64_t row = rows.begin; row < rows.end; row += step[1]) {
        int64_t next = 0;  // of the block: earlier windows have ended
        for (int64_t from = left; from < right; from += kAtATime) {
          const int64_t here = std::min(kAtATime, right - from);
          in_reader_.read(row_of(p_.in, to.batch, to.channel, plane, row, from), step_of(p_.in),
                          static_cast<size_t>(here), values);
          while (next < count && range(2, x + next).end <= from) ++next;
          const auto at = index_of<int64_t>(plane, row, from);
          for (int64_t i = next; i < count && p_.windows.lowest(2, range(2, x + i)) < from + here; ++i) {
            const Range& r = range(2, x + i);
            take(values, first_on(r, from, step[2]) - from, std::min(r.end, from + here) - from, step[2], at, i,
                 &block);
          }
        }
      }
    }
    if (p_.kind == PoolKind::kAverage) {
      for (int64_t i = 0; i < count; ++i) {
        block.values[i] = quotient(block.values[i], static_cast<T>(divisor(to.plane, to.row, x + i)));
      }
    }
    put(to, x, count, block.values, block.indices, step_of);
  }

  // The maxima of even windows, one window position at a time: a branch-free loop along the row.
  template <typename T>
  void forward_even(const Location& to, int64_t x, int64_t count) const {
    T most[kAtATime];
    int32_t found[kAtATime];  // the index relative to the first window
    const Triple& step = p_.windows.step;
    const Range& planes = range(0, to.plane);
    const Range& rows = range(1, to.row);
    const int64_t left = range(2, x).begin;
    std::fill(most, most + count, lowest<T>());
    std::fill(found, found + count, index_of<int32_t>(planes.begin, rows.begin, left));
    for (int64_t plane = planes.begin; plane < planes.end; plane += step[0]) {
      for (int64_t row = rows.begin; row < rows.end; row += step[1]) {
        const auto* values = reinterpret_cast<const T*>(row_of(p_.in, to.batch, to.channel, plane, row, left));
        for (int64_t k = 0; k < even_.length; ++k) {
          take_all(values + k * step[2], count, index_of<int32_t>(plane, row, left + k * step[2]), most, found);
        }
      }
    }
    int64_t indices[kAtATime];
    for (int64_t i = 0; has_indices_ && i < count; ++i) indices[i] = found[i] + i * even_.stride;
    put(to, x, count, most, indices, step_of);
  }

  // Updates the maxima with one position of each window; the values are `even_.stride` apart.
  template <typename T>
  void take_all(const T* values, int64_t count, int32_t index, T* most, int32_t* found) const {
    // The compiler vectorises constant strides.
    if (even_.stride == 1) return take_greater(values, 1, count, index, most, found);
    if (even_.stride == 2) return take_greater(values, 2, count, index, most, found);
    take_greater(values, even_.stride, count, index, most, found);
  }

  // Updates the maxima with values that are `stride` apart and all have index `index`.
  template <typename T, typename Index>
  [[gnu::always_inline]] static void take_greater(const T* values, int64_t stride, int64_t count, Index index, T* most,
                                                  Index* found) {
    for (int64_t i = 0; i < count; ++i) {
      const T value = values[i * stride];
      const bool is_more = is_greater(value, most[i]);
      most[i] = is_more ? value : most[i];
      found[i] = is_more ? index : found[i];
    }
  }

  // One position of `out` in `count` channels from to.channel on. Indices as short as values allow vectorisation.
  template <typename T, typename Index>
  void forward_of(const Location& to, int64_t x, int64_t count) const {
    T result[kAtATime];
    Index found[kAtATime];
    T buffer[kAtATime];
    const Triple& step = p_.windows.step;
    const Range& planes = range(0, to.plane);
    const Range& rows = range(1, to.row);
    const Range& columns = range(2, x);
    std::fill(result, result + count, lowest<T>());
    std::fill(found, found + count, index_of<Index>(planes.begin, rows.begin, columns.begin));
    for (int64_t plane = planes.begin; plane < planes.end; plane += step[0]) {
      for (int64_t row = rows.begin; row < rows.end; row += step[1]) {
        for (int64_t at = columns.begin; at < columns.end; at += step[2]) {
          const T* values = in_place_or_read(in_reader_, row_of(p_.in, to.batch, to.channel, plane, row, at),
                                             element_of(p_.in), count, buffer);
          if (p_.kind == PoolKind::kAverage) {
            for (int64_t c = 0; c < count; ++c) result[c] += values[c];
          } else {
            take_greater(values, 1, count, index_of<Index>(plane, row, at), result, found);
          }
        }
      }
    }
    if (p_.kind == PoolKind::kAverage) {
      const T values = static_cast<T>(divisor(to.plane, to.row, x));
      for (int64_t c = 0; c < count; ++c) result[c] = quotient(result[c], values);
    }
    int64_t indices[kAtATime];
    if (has_indices_) std::copy(found, found + count, indices);
    put(to, x, count, result, indices, element_of);
  }

  // The initial value of a result.
  template <typename T>
  T lowest() const {
    if (p_.kind == PoolKind::kAverage) return T{};
    if constexpr (std::is_floating_point_v<T>) {
      return -std::numeric_limits<T>::infinity();
    } else {
      return std::numeric_limits<T>::lowest();
    }
  }

  template <typename T>
  void begin(const Range& planes, const Range& rows, int64_t x, int64_t count, Block<T>* block) const {
    const T first = lowest<T>();
    for (int64_t i = 0; i < count; ++i) {
      block->values[i] = first;
      block->indices[i] = index_of<int64_t>(planes.begin, rows.begin, range(2, x + i).begin);
    }
  }

  // Adds values [first, last) of a row to result i; `at` is the index of values[0].
  template <typename T>
  void take(const T* values, int64_t first, int64_t last, int64_t step, int64_t at, int64_t i, Block<T>* block) const {
    if (p_.kind == PoolKind::kAverage) {
      T sum = block->values[i];
      for (int64_t k = first; k < last; k += step) sum += values[k];
      block->values[i] = sum;
      return;
    }
    T most = block->values[i];
    int64_t index = block->indices[i];
    for (int64_t k = first; k < last; k += step) {
      if (is_greater(values[k], most)) {
        most = values[k];
        index = at + k;
      }
    }
    block->values[i] = most;
    block->indices[i] = index;
  }

  template <typename T>
  void backward_block(const Location& to, int64_t x, int64_t count) const {
    T sums[kAtATime] = {};
    const auto write = [&] {
      in_writer_.write(sums, static_cast<size_t>(count), row_of(p_.in, to.batch, to.channel, to.plane, to.row, x),
                       step_of(p_.in));
    };
    if (p_.kind == PoolKind::kAverage) {
      share(to, x, count, sums);
      return write();
    }
    Block<T> block;
    const Windows& w = p_.windows;
    const auto planes = w.holders(0, to.plane);
    const auto rows = w.holders(1, to.row);
    const int64_t left = w.holders(2, x).first;
    const int64_t right = w.holders(2, x + count - 1).second;
    const int64_t base = (to.plane * p_.in.sizes[1] + to.row) * p_.in.sizes[2] + x;
    for (int64_t plane = planes.first; plane < planes.second; ++plane) {
      if (!is_on(range(0, plane), to.plane, w.step[0])) continue;
      for (int64_t row = rows.first; row < rows.second; ++row) {
        if (!is_on(range(1, row), to.row, w.step[1])) continue;
        for (int64_t from = left; from < right; from += kAtATime) {
          const int64_t here = std::min(kAtATime, right - from);
          out_reader_.read(row_of(p_.out, to.batch, to.channel, plane, row, from), step_of(p_.out),
                           static_cast<size_t>(here), block.values);
          read_indices(to, plane, row, from, here, block.indices);
          for (int64_t i = 0; i < here; ++i) {
            const int64_t at = block.indices[i] - base;
            if (at >= 0 && at < count) sums[at] += block.values[i];
          }
        }
      }
    }
    write();
  }

  // One position of `in` in `count` channels from to.channel on.
  template <typename T>
  void backward_at(const Location& to, int64_t x, int64_t count) const {
    T sums[kAtATime] = {};
    const auto write = [&] {
      in_writer_.write(sums, static_cast<size_t>(count), row_of(p_.in, to.batch, to.channel, to.plane, to.row, x),
                       element_of(p_.in));
    };
    if (p_.kind == PoolKind::kAverage) {
      share_at(to, x, count, sums);
      return write();
    }
    Block<T> block;
    const Windows& w = p_.windows;
    const auto planes = w.holders(0, to.plane);
    const auto rows = w.holders(1, to.row);
    const auto columns = w.holders(2, x);
    const int64_t own = (to.plane * p_.in.sizes[1] + to.row) * p_.in.sizes[2] + x;
    for (int64_t plane = planes.first; plane < planes.second; ++plane) {
      if (!is_on(range(0, plane), to.plane, w.step[0])) continue;
      for (int64_t row = rows.first; row < rows.second; ++row) {
        if (!is_on(range(1, row), to.row, w.step[1])) continue;
        for (int64_t column = columns.first; column < columns.second; ++column) {
          out_reader_.read(row_of(p_.out, to.batch, to.channel, plane, row, column), element_of(p_.out),
                           static_cast<size_t>(count), block.values);
          read_indices_of_channels(to, plane, row, column, count, block.indices);
          for (int64_t c = 0; c < count; ++c) sums[c] += block.indices[c] == own ? block.values[c] : T(0);
        }
      }
    }
    write();
  }

  void read_indices(const Location& to, int64_t plane, int64_t row, int64_t from, int64_t n, int64_t* indices) const {
    if (has_indices_) {
      return index_reader_.read(row_of(p_.indices, to.batch, to.channel, plane, row, from), step_of(p_.indices),
                                static_cast<size_t>(n), indices);
    }
    for (int64_t i = 0; i < n; ++i) indices[i] = beginning(plane, row, from + i);
  }

  void read_indices_of_channels(const Location& to, int64_t plane, int64_t row, int64_t x, int64_t count,
                                int64_t* indices) const {
    if (!has_indices_) return std::fill(indices, indices + count, beginning(plane, row, x));
    index_reader_.read(row_of(p_.indices, to.batch, to.channel, plane, row, x), element_of(p_.indices),
                       static_cast<size_t>(count), indices);
  }

  // The index of a window's first value.
  int64_t beginning(int64_t plane, int64_t row, int64_t x) const {
    return (range(0, plane).begin * p_.in.sizes[1] + range(1, row).begin) * p_.in.sizes[2] + range(2, x).begin;
  }

  // Averages: first adds the shares of the windows that begin at one column, then spreads them over their columns.
  template <typename T>
  void share(const Location& to, int64_t x, int64_t count, T* sums) const {
    T buffer[kAtATime];
    T column[kAtATime];
    T widths[kAtATime];
    const Windows& w = p_.windows;
    const auto planes = w.holders(0, to.plane);
    const auto rows = w.holders(1, to.row);
    const int64_t right = w.holders(2, x + count - 1).second;
    for (int64_t from = w.holders(2, x).first; from < right; from += kAtATime) {
      const int64_t here = std::min(kAtATime, right - from);
      std::fill_n(column, here, T(0));
      for (int64_t i = 0; i < here; ++i) widths[i] = p_.divisor != 0 ? T(1) : static_cast<T>(counted(2, from + i));
      for (int64_t plane = planes.first; plane < planes.second; ++plane) {
        if (!is_on(range(0, plane), to.plane, w.step[0])) continue;
        for (int64_t row = rows.first; row < rows.second; ++row) {
          if (!is_on(range(1, row), to.row, w.step[1])) continue;
          const T* values = in_place_or_read(out_reader_, row_of(p_.out, to.batch, to.channel, plane, row, from),
                                             step_of(p_.out), here, buffer);
          const T lines = static_cast<T>(p_.divisor != 0 ? p_.divisor : counted(0, plane) * counted(1, row));
          for (int64_t i = 0; i < here; ++i) column[i] += quotient(values[i], lines * widths[i]);
        }
      }
      for (int64_t i = 0; i < here; ++i) {
        const Range& r = range(2, from + i);
        const int64_t last = std::min(r.end, x + count) - x;
        for (int64_t k = std::max(r.begin, x) - x; k < last; ++k) sums[k] += column[i];
      }
    }
  }

  // The same for one position in `count` channels, in the same order of additions.
  template <typename T>
  void share_at(const Location& to, int64_t x, int64_t count, T* sums) const {
    T buffer[kAtATime];
    const Windows& w = p_.windows;
    const auto planes = w.holders(0, to.plane);
    const auto rows = w.holders(1, to.row);
    const auto columns = w.holders(2, x);
    for (int64_t at = columns.first; at < columns.second; ++at) {
      T column[kAtATime] = {};
      for (int64_t plane = planes.first; plane < planes.second; ++plane) {
        if (!is_on(range(0, plane), to.plane, w.step[0])) continue;
        for (int64_t row = rows.first; row < rows.second; ++row) {
          if (!is_on(range(1, row), to.row, w.step[1])) continue;
          const T* values = in_place_or_read(out_reader_, row_of(p_.out, to.batch, to.channel, plane, row, at),
                                             element_of(p_.out), count, buffer);
          const T divided_by = static_cast<T>(divisor(plane, row, at));
          for (int64_t c = 0; c < count; ++c) column[c] += quotient(values[c], divided_by);
        }
      }
      for (int64_t c = 0; c < count; ++c) sums[c] += column[c];
    }
  }

  // The length of a window along `dim` for the average.
  int64_t counted(size_t dim, int64_t at) const {
    const Range& r = range(dim, at);
    return std::max<int64_t>(1, p_.counts_padding ? r.padded : length(r, p_.windows.step[dim]));
  }

  int64_t divisor(int64_t plane, int64_t row, int64_t x) const {
    return divisor_of(p_, range(0, plane), range(1, row), range(2, x));
  }

  const PoolProblem p_;
  ElementReader in_reader_, out_reader_, index_reader_;
  ElementWriter in_writer_, out_writer_, index_writer_;
  const bool has_indices_;
  Even even_;
};

template <typename Body>
void with_real(aclDataType dtype, const Body& body) {
  with_compute_type(compute_type_of(dtype), [&]<typename T>() {
    if constexpr (std::is_arithmetic_v<T>) body.template operator()<T>();
  });
}

// Runs `body` for each row of `image`: per channel, or for all channels at once.
template <typename Body>
Plan plan_rows(const std::shared_ptr<const Pool>& pool, const Image& image, double work, bool at_once, Body body) {
  const int64_t channels = at_once ? 1 : image.channels;
  const int64_t row = image.sizes[2] * (at_once ? image.channels : 1);
  const int64_t rows = pool->problem().batch * channels * image.sizes[0] * image.sizes[1];
  const double flops = 4 * work * static_cast<double>(rows) * static_cast<double>(row);
  const int threads = threads_for(flops);
  const int64_t grain = std::max<int64_t>(1, 4096 / std::max<int64_t>(1, row));
  return {0, flops, [pool, rows, threads, grain, body](void*) {
            parallel_for(rows, grain, threads, [&](int64_t first, int64_t last) {
              for (int64_t row = first; row < last; ++row) body(*pool, row);
            });
            return Status::ok();
          }};
}

// Runs Pool::scatter for all of `in`.
Plan plan_scatter(const std::shared_ptr<const Pool>& pool, bool by_channels) {
  // The number of channels whose cache lines stay in the cache while neighbouring windows are added.
  constexpr int64_t kChannels = 64;
  const PoolProblem& p = pool->problem();
  const int64_t block = by_channels ? kChannels : 1;
  const int64_t blocks = (p.in.channels + block - 1) / block;
  const int64_t values = block * (p.in.spatial_size() + 4 * p.out.spatial_size());
  const double flops = 2 * static_cast<double>(p.batch * blocks) * static_cast<double>(values);
  const int threads = threads_for(flops);
  const int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, values));
  return {0, flops, [pool, blocks, block, threads, grain](void*) {
            const PoolProblem& p = pool->problem();
            parallel_for(p.batch * blocks, grain, threads, [&](int64_t first, int64_t last) {
              for (int64_t at = first; at < last; ++at) {
                const int64_t channel = at % blocks * block;
                with_real(p.dtype, [&]<typename T>() {
                  pool->scatter<T>(at / blocks, channel, std::min(block, p.in.channels - channel));
                });
              }
            });
            return Status::ok();
          }};
}

// The largest number of values in a window.
double window_size(const Windows& windows) {
  double size = 1;
  for (size_t i = 0; i < 3; ++i) {
    int64_t longest = 1;
    for (const Range& range : windows.ranges[i]) longest = std::max(longest, length(range, windows.step[i]));
    size *= static_cast<double>(longest);
  }
  return size;
}

}  // namespace

Plan plan_pool(PoolProblem problem) {
  if (std::optional<Plan> plan = plan_pool_of_planes(problem, false)) return *std::move(plan);
  const double work = window_size(problem.windows);
  const auto pool = std::make_shared<Pool>(std::move(problem));
  pool->find_even();
  const bool by_channels = pool->has_channel_rows();
  return plan_rows(pool, pool->problem().out, work, by_channels, [by_channels](const Pool& p, int64_t row) {
    with_real(p.problem().dtype, [&]<typename T>() {
      if (by_channels) return p.forward_channels<T>(row);
      p.forward<T>(row);
    });
  });
}

Plan plan_pool_backward(PoolProblem problem) {
  if (std::optional<Plan> plan = plan_pool_of_planes(problem, true)) return *std::move(plan);
  const double work = window_size(problem.windows);
  const auto pool = std::make_shared<const Pool>(std::move(problem));
  const bool by_channels = pool->has_channel_rows();
  if (pool->can_scatter()) return plan_scatter(pool, by_channels);
  return plan_rows(pool, pool->problem().in, work, by_channels, [by_channels](const Pool& p, int64_t row) {
    with_real(p.problem().dtype, [&]<typename T>() {
      if (by_channels) return p.backward_channels<T>(row);
      p.backward<T>(row);
    });
  });
}

}  // namespace softnpu
