#include "ops/core/copy/strided_copy.h"

#include <algorithm>

#include "base/copy_bytes.h"
#include "base/text.h"
#include "ops/core/convert/number.h"
#include "ops/core/copy/transpose.h"
#include "ops/core/describe.h"
#include "ops/core/element.h"
#include "simd/non_temporal.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

// Rows and columns of a tile: one cache line.
constexpr int64_t kLine = 64;
// Tiles per unit of work, along the result's lines.
constexpr int64_t kTilesOfUnit = 16;
// Shorter runs are not worth non-temporal stores.
constexpr int64_t kMinNonTemporal = 16 * kLine;
// Bytes of the rows that copies beside each other write in turn: they stay in the first-level cache.
constexpr int64_t kRowsBytes = 1 << 14;

template <typename T>
void copy_row(char* to, ptrdiff_t to_stride, const char* from, ptrdiff_t from_stride, int64_t count) {
  constexpr auto kSize = static_cast<ptrdiff_t>(sizeof(T));
  if (to_stride == kSize && from_stride == kSize) {
    copy_bytes(to, from, static_cast<size_t>(count) * sizeof(T));
    return;
  }
  auto* out = reinterpret_cast<T*>(to);
  const auto* in = reinterpret_cast<const T*>(from);
  const ptrdiff_t write = to_stride / kSize;
  const ptrdiff_t read = from_stride / kSize;
  if (from_stride == 0) {
    const T value = *in;
    if (write == 1) {
      std::fill_n(out, count, value);
    } else {
      for (int64_t i = 0; i < count; ++i) out[i * write] = value;
    }
  } else if (write == 1 && read == -1) {
    for (int64_t i = 0; i < count; ++i) out[i] = in[-i];
  } else if (write == 1) {
    for (int64_t i = 0; i < count; ++i) out[i] = in[i * read];
  } else {
    for (int64_t i = 0; i < count; ++i) out[i * write] = in[i * read];
  }
}

// At most a square block of kLine bytes, through a buffer: each line of `from` is read once and each line of `to` is
// written once, even if they share a cache set.
template <typename T>
void copy_block(char* to, const Walk<2>::Dim& across, const Walk<2>::Dim& along, const char* from, int64_t rows,
                int64_t columns) {
  constexpr int64_t kSide = kLine / static_cast<int64_t>(sizeof(T));
  constexpr auto kSize = static_cast<ptrdiff_t>(sizeof(T));
  alignas(64) T buffer[kSide * kSide];
  const ptrdiff_t read = across.strides[1] / kSize;
  for (int64_t c = 0; c < columns; ++c) {
    const auto* in = reinterpret_cast<const T*>(from + c * along.strides[1]);
    for (int64_t r = 0; r < rows; ++r) buffer[r * kSide + c] = in[r * read];
  }
  for (int64_t r = 0; r < rows; ++r) {
    copy_row<T>(to + r * across.strides[0], along.strides[0], reinterpret_cast<const char*>(buffer + r * kSide), kSize,
                columns);
  }
}

}  // namespace

StridedCopy::StridedCopy(const View& to, const View& from)
    : to_(to.data), from_(from.data), element_(static_cast<size_t>(to.element())) {
  for (size_t i = 0; i < to.rank(); ++i) {
    if (to.sizes[i] != 1) walk_.add(to.sizes[i], {to.strides[i], from.strides[i]});
  }
  walk_.order();
  walk_.join();
  // If another dimension has a smaller stride in `from` than the innermost one, the two dimensions form tiles.
  const size_t last = walk_.dims() - 1;
  size_t nearest = last;
  const auto distance = [this](size_t i) { return std::abs(walk_.dim(i).strides[1]); };
  for (size_t i = 0; i < last; ++i) {
    if (distance(i) != 0 && distance(i) < distance(nearest)) nearest = i;
  }
  if (nearest == last || walk_.dim(nearest).size < 4 || walk_.inner().size < 4) return;
  tiled_ = true;
  along_ = walk_.take(last);
  across_ = walk_.take(nearest);
}

void StridedCopy::run(int threads) const {
  if (tiled_) {
    run_tiles(threads);
  } else {
    run_rows(threads);
  }
}

// Whether the result is too large to remain in the caches, and does not overlap the source.
bool StridedCopy::uses_non_temporal_stores() const {
  const auto reach = [this](size_t k) {
    ptrdiff_t low = 0;
    ptrdiff_t high = static_cast<ptrdiff_t>(element_);
    const auto add = [&](const Walk<2>::Dim& dim) {
      (dim.strides[k] < 0 ? low : high) += (dim.size - 1) * dim.strides[k];
    };
    for (size_t i = 0; i < walk_.dims(); ++i) add(walk_.dim(i));
    if (tiled_) {
      add(across_);
      add(along_);
    }
    return std::pair(low, high);
  };
  const int64_t count = walk_.count() * (tiled_ ? across_.size * along_.size : 1);
  if (count * static_cast<int64_t>(element_) < kNonTemporalBytes) return false;
  const auto [to_low, to_high] = reach(0);
  const auto [from_low, from_high] = reach(1);
  return to_ + to_high <= from_ + from_low || from_ + from_high <= to_ + to_low;
}

void StridedCopy::run_rows(int threads) const {
  const Walk<2>::Offsets strides = walk_.inner().strides;
  const auto size = static_cast<ptrdiff_t>(element_);
  if (strides[0] == size && strides[1] == size && walk_.inner().size * size >= kMinNonTemporal &&
      uses_non_temporal_stores()) {
    const NonTemporalCopy non_temporal = non_temporal_copy();
    return parallel_for(walk_.count(), kGrainElements, threads, [&](int64_t first, int64_t last) {
      walk_.for_runs(first, last - first, [&](const Walk<2>::Offsets& at, int64_t count) {
        const char* from = from_ + at[1];
        non_temporal(to_ + at[0], from, static_cast<size_t>(count) * element_, from + kAheadBytes);
      });
      fence_non_temporal_stores();
    });
  }
  with_element(element_, [&]<typename T>() {
    parallel_for(walk_.count(), kGrainElements, threads, [&](int64_t first, int64_t last) {
      walk_.for_runs(first, last - first, [&](const Walk<2>::Offsets& at, int64_t count) {
        copy_row<T>(to_ + at[0], strides[0], from_ + at[1], strides[1], count);
      });
    });
  });
}

void StridedCopy::copy_runs(int64_t first, int64_t last) const {
  const ptrdiff_t write = walk_.inner().strides[0];
  const ptrdiff_t read = walk_.inner().strides[1];
  const int64_t size = walk_.inner().size;
  with_element(element_, [&]<typename T>() {
    walk_.for_runs(first * size, (last - first) * size, [&](const Walk<2>::Offsets& at, int64_t count) {
      copy_row<T>(to_ + at[0], write, from_ + at[1], read, count);
    });
  });
}

bool StridedCopy::is_beside(const StridedCopy& other) const {
  const size_t outer = walk_.dims() - 1;
  const auto is_row = [](const StridedCopy& copy) { return !copy.tiled_ && copy.walk_.inner().strides[0] >= 0; };
  if (!is_row(*this) || !is_row(other) || outer == 0 || other.walk_.dims() != walk_.dims()) return false;
  const auto end = [](const StridedCopy& copy) {
    return copy.to_ + (copy.walk_.inner().size - 1) * copy.walk_.inner().strides[0] + copy.element_;
  };
  const ptrdiff_t row = std::max(end(*this), end(other)) - std::min(to_, other.to_);
  for (size_t i = 0; i < outer; ++i) {
    const Walk<2>::Dim& dim = walk_.dim(i);
    if (other.walk_.dim(i).size != dim.size || other.walk_.dim(i).strides[0] != dim.strides[0]) return false;
    const ptrdiff_t within = i + 1 < outer ? walk_.dim(i + 1).size * walk_.dim(i + 1).strides[0] : row;
    if (dim.strides[0] < within) return false;
  }
  return true;
}

// Whether tiles write whole cache lines: partial lines would be read and written twice.
bool StridedCopy::lines_are_whole() const {
  bool whole = reinterpret_cast<uintptr_t>(to_) % kLine == 0 && across_.strides[0] % kLine == 0 &&
               along_.size * static_cast<int64_t>(element_) >= kLine;
  for (size_t i = 0; i < walk_.dims(); ++i) whole = whole && walk_.dim(i).strides[0] % kLine == 0;
  return whole;
}

// Units of work are bands of `columns` lines of one outer position, in stretches of `rows` elements. Calls
// body(offsets, lines, elements per line).
template <typename Body>
void StridedCopy::for_units(int threads, int64_t columns, int64_t rows, const Body& body) const {
  const int64_t bands = (across_.size + columns - 1) / columns;
  const int64_t stretches = (along_.size + rows - 1) / rows;
  const int64_t grain = std::max<int64_t>(1, kGrainElements / (columns * std::min(rows, along_.size)));
  parallel_for(walk_.count() * bands * stretches, grain, threads, [&](int64_t first, int64_t last) {
    for (int64_t unit = first; unit < last; ++unit) {
      const int64_t along = unit % stretches * rows;
      const int64_t across = unit / stretches % bands * columns;
      walk_.for_runs(unit / stretches / bands, 1, [&](Walk<2>::Offsets at, int64_t) {
        for (size_t k = 0; k < 2; ++k) at[k] += across * across_.strides[k] + along * along_.strides[k];
        body(at, std::min(columns, across_.size - across), std::min(rows, along_.size - along));
      });
    }
  });
}

void StridedCopy::run_tiles(int threads) const {
  const auto size = static_cast<ptrdiff_t>(element_);
  if (across_.strides[1] == size && along_.strides[0] == size) return run_transposed(threads);
  with_element(element_, [&]<typename T>() {
    constexpr int64_t kSide = kLine / static_cast<int64_t>(sizeof(T));
    for_units(threads, kSide, kTilesOfUnit * kSide, [&](const Walk<2>::Offsets& at, int64_t columns, int64_t rows) {
      for (int64_t row = 0; row < rows; row += kSide) {
        copy_block<T>(to_ + at[0] + row * along_.strides[0], across_, along_, from_ + at[1] + row * along_.strides[1],
                      columns, std::min(kSide, rows - row));
      }
    });
  });
}

void StridedCopy::run_transposed(int threads) const {
  const Transpose transpose = transpose_of(element_);
  const bool past_caches = lines_are_whole() && uses_non_temporal_stores();
  for_units(threads, transpose.columns, kTilesOfUnit * transpose.rows,
            [&](const Walk<2>::Offsets& at, int64_t columns, int64_t rows) {
              for (int64_t row = 0; row < rows; row += transpose.rows) {
                transpose.run(
                    {to_ + at[0] + row * along_.strides[0], across_.strides[0], from_ + at[1] + row * along_.strides[1],
                     along_.strides[1], std::min(transpose.rows, rows - row), columns},
                    past_caches);
              }
              fence_non_temporal_stores();
            });
}

void CopyList::add(const View& to, const View& from) {
  const int64_t count = to.count();
  if (count == 0) return;
  elements_ += static_cast<double>(count);
  parts_.push_back({StridedCopy(to, from), static_cast<double>(count)});
}

void CopyList::fill(const View& to, const Constant& value) {
  if (to.count() == 0) return;
  constants_.push_back(std::make_unique<Constant>(value));
  View from = to;
  from.data = constants_.back()->bytes;
  for (int64_t& stride : from.strides) stride = 0;
  add(to, from);
}

void CopyList::fill(const View& to, const aclScalar& value) {
  Constant constant;
  store_scalar(value, to.dtype, constant.bytes);
  fill(to, constant);
}

void CopyList::zero(const View& to) { fill(to, Constant()); }

std::vector<CopyList::Group> CopyList::groups() const {
  std::vector<Group> groups;
  for (size_t begin = 0; begin < parts_.size();) {
    double elements = parts_[begin].elements;
    size_t end = begin + 1;
    for (; end < parts_.size(); ++end) {
      const auto fits = [&](const Part& part) { return part.copy.is_beside(parts_[end].copy); };
      if (!std::all_of(parts_.begin() + static_cast<ptrdiff_t>(begin), parts_.begin() + static_cast<ptrdiff_t>(end),
                       fits)) {
        break;
      }
      elements += parts_[end].elements;
    }
    groups.push_back({begin, end, effort_of(elements).threads});
    begin = end;
  }
  return groups;
}

void CopyList::run(const Group& group) const {
  const StridedCopy& first_copy = parts_[group.begin].copy;
  if (group.end == group.begin + 1) return first_copy.run(group.threads);
  double elements = 0;
  for (size_t i = group.begin; i < group.end; ++i) elements += parts_[i].elements;
  const int64_t runs = first_copy.runs();
  const auto of_row = std::max<int64_t>(1, static_cast<int64_t>(elements) / runs);
  const int64_t rows = std::max<int64_t>(1, kRowsBytes / (of_row * first_copy.element()));
  const int64_t grain = std::max<int64_t>(1, kGrainElements / of_row);
  parallel_for(runs, grain, group.threads, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; row += rows) {
      for (size_t i = group.begin; i < group.end; ++i) parts_[i].copy.copy_runs(row, std::min(last, row + rows));
    }
  });
}

Status CopyList::finish(Describe message, Plan* plan) {
  plan->work = effort_of(elements_).work;
  auto list = std::make_shared<const CopyList>(std::move(*this));
  plan->run = [list, groups = list->groups()](void*) {
    for (const Group& group : groups) list->run(group);
    return Status::ok();
  };
  plan->describe = std::move(message);
  return Status::ok();
}

Status plan_copy(const aclTensor& from, const aclTensor& to, Plan* plan) {
  View source;
  View target;
  SOFTNPU_RETURN_IF_ERROR(view_of(from, "the source", &source));
  SOFTNPU_RETURN_IF_ERROR(view_of(to, "the result", &target));
  SOFTNPU_RETURN_IF_ERROR(same_dtype(from, to));
  if (!broadcasts_to(from.dims, to.dims)) {
    return {ACLNN_ERR_PARAM_INVALID, text("a source of the shape ", describe_shape(from.dims),
                                          " cannot be broadcast to ", describe_shape(to.dims))};
  }
  CopyList list;
  list.add(target, source.expand(target.sizes));
  return list.finish(describe_later({&to, &from}), plan);
}

}  // namespace softnpu
