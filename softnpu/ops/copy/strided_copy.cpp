#include "ops/copy/strided_copy.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "ops/convert/rows.h"
#include "ops/copy/element.h"
#include "ops/describe.h"
#include "ops/parallel.h"

namespace softnpu {
namespace {

// A tile's rows and columns: one line of the cache.
constexpr int64_t kLine = 64;

template <typename T>
void copy_row(char* to, ptrdiff_t to_stride, const char* from, ptrdiff_t from_stride, int64_t count) {
  constexpr auto kSize = static_cast<ptrdiff_t>(sizeof(T));
  if (to_stride == kSize && from_stride == kSize) {
    std::memmove(to, from, static_cast<size_t>(count) * sizeof(T));
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

// A block of kLine bytes squared at the most, through a buffer: each line of `from` is read once, and of `to` written
// once, however many of them share a set of the cache.
template <typename T>
void copy_block(char* to, const Walk<2>::Dim& across, const Walk<2>::Dim& along, const char* from, int64_t rows,
                int64_t columns) {
  constexpr int64_t kSide = kLine / static_cast<int64_t>(sizeof(T));
  constexpr auto kSize = static_cast<ptrdiff_t>(sizeof(T));
  alignas(64) T buffer[kSide * kSide];
  const ptrdiff_t read = across.strides[1] / kSize;
  if (rows == kSide && columns == kSide && read == 1 && along.strides[0] == kSize) {
    // A whole block between contiguous lines: constant bounds, which the compiler unrolls.
    for (int64_t c = 0; c < kSide; ++c) std::memcpy(buffer + c * kSide, from + c * along.strides[1], kLine);
    for (int64_t r = 0; r < kSide; ++r) {
      alignas(64) T line[kSide];
      for (int64_t c = 0; c < kSide; ++c) line[c] = buffer[c * kSide + r];
      std::memcpy(to + r * across.strides[0], line, kLine);
    }
    return;
  }
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
  // Where another dimension is nearer in `from` than the innermost, the two make tiles.
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

void StridedCopy::run_rows(int threads) const {
  with_element(element_, [&]<typename T>() {
    const Walk<2>::Offsets strides = walk_.inner().strides;
    parallel_for(walk_.count(), kGrainElements, threads, [&](int64_t first, int64_t last) {
      walk_.for_runs(first, last - first, [&](const Walk<2>::Offsets& at, int64_t count) {
        copy_row<T>(to_ + at[0], strides[0], from_ + at[1], strides[1], count);
      });
    });
  });
}

void StridedCopy::run_tiles(int threads) const {
  with_element(element_, [&]<typename T>() {
    constexpr int64_t kSide = kLine / static_cast<int64_t>(sizeof(T));
    // A unit of work is a band of kSide rows of one of the outer positions.
    const int64_t bands = (across_.size + kSide - 1) / kSide;
    const int64_t grain = std::max<int64_t>(1, kGrainElements / (kSide * along_.size));
    parallel_for(walk_.count() * bands, grain, threads, [&](int64_t first, int64_t last) {
      for (int64_t unit = first; unit < last; ++unit) {
        const int64_t row = unit % bands * kSide;
        const int64_t rows = std::min(kSide, across_.size - row);
        walk_.for_runs(unit / bands, 1, [&](const Walk<2>::Offsets& at, int64_t) {
          char* to = to_ + at[0] + row * across_.strides[0];
          const char* from = from_ + at[1] + row * across_.strides[1];
          for (int64_t column = 0; column < along_.size; column += kSide) {
            copy_block<T>(to + column * along_.strides[0], across_, along_, from + column * along_.strides[1], rows,
                          std::min(kSide, along_.size - column));
          }
        });
      }
    });
  });
}

void CopyList::add(const View& to, const View& from) {
  const int64_t count = to.count();
  if (count == 0) return;
  elements_ += static_cast<double>(count);
  parts_.push_back({StridedCopy(to, from), effort_of(static_cast<double>(count)).threads});
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

Status CopyList::finish(std::string said, Plan* plan) {
  plan->work = effort_of(elements_).work;
  auto list = std::make_shared<const CopyList>(std::move(*this));
  plan->run = [list](void*) {
    for (const Part& part : list->parts_) part.copy.run(part.threads);
    return Status::ok();
  };
  plan->describe = [said = std::move(said)] { return said; };
  return Status::ok();
}

void store_scalar(const aclScalar& value, aclDataType dtype, void* to) {
  with_wide(wide_of(dtype), [&]<typename T>() {
    T wide;
    if (dtype == ACL_BOOL) {
      wide = static_cast<T>(value.as_bool() ? 1 : 0);
    } else if constexpr (std::is_same_v<T, uint64_t>) {  // NOLINT(bugprone-branch-clone): one branch a type
      wide = value.as_uint64();
    } else if constexpr (std::is_integral_v<T>) {
      wide = static_cast<T>(value.as_int64());
    } else if constexpr (std::is_floating_point_v<T>) {
      wide = static_cast<T>(value.as_double());
    } else {
      wide = static_cast<T>(value.as_complex());
    }
    store_row(dtype)(&wide, 1, to, static_cast<ptrdiff_t>(aclDataTypeSize(dtype)));
  });
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
  const aclTensor* both[] = {&to, &from};
  return list.finish(describe(both), plan);
}

}  // namespace softnpu
