#include "ascendc/instructions/matrix/gemm.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ascendc/instructions/matrix/gemm.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace softnpu::kernel {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Rows of a tile in registers; it has two vectors of columns.
constexpr size_t kRows = 6;
// A block of `right` of kDepth by kColumns stays in the second cache, one of `left` of kLeft by kDepth in the first.
constexpr size_t kDepth = 256;
constexpr size_t kColumns = 768;
constexpr size_t kLeft = 16 * kRows;

// `count` contiguous elements as T.
template <typename T>
void widen(const void* from, DataType type, size_t count, T* to) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  if constexpr (std::is_same_v<T, int32_t>) {
    const auto* bytes = static_cast<const int8_t*>(from);
    const hn::Rebind<int8_t, decltype(d)> narrow;
    for (; i + lanes <= count; i += lanes) hn::StoreU(hn::PromoteTo(d, hn::LoadU(narrow, bytes + i)), d, to + i);
    for (; i < count; ++i) to[i] = bytes[i];
  } else if (type == DataType::kFloat) {
    std::memcpy(to, from, count * sizeof(float));
  } else if (type == DataType::kHalf) {
    const auto* words = static_cast<const hwy::float16_t*>(from);
    const hn::Rebind<hwy::float16_t, decltype(d)> narrow;
    for (; i + lanes <= count; i += lanes) hn::StoreU(hn::PromoteTo(d, hn::LoadU(narrow, words + i)), d, to + i);
    for (; i < count; ++i) to[i] = static_cast<float>(static_cast<const half*>(from)[i]);
  } else {
    const auto* words = static_cast<const hwy::bfloat16_t*>(from);
    const hn::Rebind<hwy::bfloat16_t, decltype(d)> narrow;
    for (; i + lanes <= count; i += lanes) hn::StoreU(hn::PromoteTo(d, hn::LoadU(narrow, words + i)), d, to + i);
    for (; i < count; ++i) to[i] = static_cast<float>(static_cast<const bfloat16_t*>(from)[i]);
  }
}

const void* element(const GemmOperand& operand, size_t row, size_t column) {
  return static_cast<const char*>(operand.data) +
         (row * operand.row_step + column * operand.column_step) * bytes_of(operand.type);
}

// Packs `depth` by `columns` elements from (row, column) on into panels of `width` columns; missing ones are zeros.
template <typename T>
void pack(const GemmOperand& from, size_t row, size_t column, size_t depth, size_t columns, size_t width, T* to) {
  T line[kDepth];
  for (size_t j = 0; j < columns; j += width, to += depth * width) {
    const size_t count = std::min(width, columns - j);
    if (count < width) std::fill(to, to + depth * width, T(0));
    if (from.column_step == 1) {
      for (size_t p = 0; p < depth; ++p) widen(element(from, row + p, column + j), from.type, count, to + p * width);
    } else if (from.row_step == 1) {
      for (size_t c = 0; c < count; ++c) {
        widen(element(from, row, column + j + c), from.type, depth, line);
        for (size_t p = 0; p < depth; ++p) to[p * width + c] = line[p];
      }
    } else {
      for (size_t p = 0; p < depth; ++p) {
        for (size_t c = 0; c < count; ++c)
          widen(element(from, row + p, column + j + c), from.type, 1, to + p * width + c);
      }
    }
  }
}

template <typename V>
HWY_INLINE V multiply_add(V a, V b, V sum) {
  if constexpr (std::is_floating_point_v<hn::TFromV<V>>)
    return hn::MulAdd(a, b, sum);
  else
    return hn::Add(hn::Mul(a, b), sum);
}

// Sums of kRows rows and two vectors of columns, from a panel of each operand. `adds`: to what `to` has.
template <typename T>
void tile(const T* left, const T* right, size_t depth, T* to, size_t stride, bool adds) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  const auto begin = [&](size_t row, size_t half)
                         HWY_ATTR { return adds ? hn::LoadU(d, to + row * stride + half * lanes) : hn::Zero(d); };
  auto s00 = begin(0, 0), s01 = begin(0, 1), s10 = begin(1, 0), s11 = begin(1, 1), s20 = begin(2, 0), s21 = begin(2, 1);
  auto s30 = begin(3, 0), s31 = begin(3, 1), s40 = begin(4, 0), s41 = begin(4, 1), s50 = begin(5, 0), s51 = begin(5, 1);
  for (size_t p = 0; p < depth; ++p, left += kRows, right += 2 * lanes) {
    const auto b0 = hn::LoadU(d, right);
    const auto b1 = hn::LoadU(d, right + lanes);
    auto a = hn::Set(d, left[0]);
    s00 = multiply_add(a, b0, s00);
    s01 = multiply_add(a, b1, s01);
    a = hn::Set(d, left[1]);
    s10 = multiply_add(a, b0, s10);
    s11 = multiply_add(a, b1, s11);
    a = hn::Set(d, left[2]);
    s20 = multiply_add(a, b0, s20);
    s21 = multiply_add(a, b1, s21);
    a = hn::Set(d, left[3]);
    s30 = multiply_add(a, b0, s30);
    s31 = multiply_add(a, b1, s31);
    a = hn::Set(d, left[4]);
    s40 = multiply_add(a, b0, s40);
    s41 = multiply_add(a, b1, s41);
    a = hn::Set(d, left[5]);
    s50 = multiply_add(a, b0, s50);
    s51 = multiply_add(a, b1, s51);
  }
  const auto end = [&](size_t row, auto first, auto second) HWY_ATTR {
    hn::StoreU(first, d, to + row * stride);
    hn::StoreU(second, d, to + row * stride + lanes);
  };
  end(0, s00, s01);
  end(1, s10, s11);
  end(2, s20, s21);
  end(3, s30, s31);
  end(4, s40, s41);
  end(5, s50, s51);
}

// A tile of which `rows` rows and `columns` columns are within the result.
template <typename T>
void tile_at_edge(const T* left, const T* right, size_t depth, T* to, size_t stride, bool adds, size_t rows,
                  size_t columns) {
  const size_t width = 2 * hn::Lanes(hn::ScalableTag<T>());
  if (rows == kRows && columns == width) return tile(left, right, depth, to, stride, adds);
  T sums[kRows * 2 * hn::MaxLanes(hn::ScalableTag<T>())] = {};
  if (adds) {
    for (size_t i = 0; i < rows; ++i) std::copy_n(to + i * stride, columns, sums + i * width);
  }
  tile(left, right, depth, sums, width, adds);
  for (size_t i = 0; i < rows; ++i) std::copy_n(sums + i * width, columns, to + i * stride);
}

template <typename T>
void multiply(const GemmOperand& left, const GemmOperand& right, size_t m, size_t n, size_t k, T* result,
              size_t stride) {
  static thread_local std::vector<T> packed_right, packed_left;
  const size_t width = 2 * hn::Lanes(hn::ScalableTag<T>());
  packed_left.resize(kLeft * kDepth);
  // `pack` takes columns: those of the transposed matrix are the rows of `left`.
  const GemmOperand turned{left.data, left.type, left.column_step, left.row_step};
  for (size_t j = 0; j < n; j += kColumns) {
    const size_t columns = std::min(kColumns, n - j);
    for (size_t p = 0; p < k; p += kDepth) {
      const size_t depth = std::min(kDepth, k - p);
      packed_right.resize((columns + width - 1) / width * width * depth);
      pack(right, p, j, depth, columns, width, packed_right.data());
      for (size_t i = 0; i < m; i += kLeft) {
        const size_t rows = std::min(kLeft, m - i);
        pack(turned, p, i, depth, rows, kRows, packed_left.data());
        for (size_t jj = 0; jj < columns; jj += width) {
          for (size_t ii = 0; ii < rows; ii += kRows)
            tile_at_edge(packed_left.data() + ii * depth, packed_right.data() + jj * depth, depth,
                         result + (i + ii) * stride + j + jj, stride, p > 0, std::min(kRows, rows - ii),
                         std::min(width, columns - jj));
        }
      }
    }
  }
}

void multiply_floats(const GemmOperand& left, const GemmOperand& right, size_t m, size_t n, size_t k, float* result,
                     size_t stride) {
  multiply(left, right, m, n, k, result, stride);
}
void multiply_bytes(const GemmOperand& left, const GemmOperand& right, size_t m, size_t n, size_t k, int32_t* result,
                    size_t stride) {
  multiply(left, right, m, n, k, result, stride);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace softnpu::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softnpu::kernel {
namespace {

HWY_EXPORT(multiply_floats);
HWY_EXPORT(multiply_bytes);

template <typename T>
void fill_zeros(size_t m, size_t n, T* result, size_t stride) {
  for (size_t i = 0; i < m; ++i) std::fill_n(result + i * stride, n, T(0));
}

}  // namespace

void gemm(const GemmOperand& left, const GemmOperand& right, size_t m, size_t n, size_t k, float* result,
          size_t stride) {
  if (k == 0) return fill_zeros(m, n, result, stride);
  limit_simd_targets();
  HWY_DYNAMIC_DISPATCH(multiply_floats)(left, right, m, n, k, result, stride);
}

void gemm(const GemmOperand& left, const GemmOperand& right, size_t m, size_t n, size_t k, int32_t* result,
          size_t stride) {
  if (k == 0) return fill_zeros(m, n, result, stride);
  limit_simd_targets();
  HWY_DYNAMIC_DISPATCH(multiply_bytes)(left, right, m, n, k, result, stride);
}

}  // namespace softnpu::kernel
#endif
