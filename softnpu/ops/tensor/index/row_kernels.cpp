#include "ops/tensor/index/row_kernels.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/copy_bytes.h"
#include "ops/core/convert/rows.h"
#include "ops/core/convert/typed.h"
#include "ops/core/dtype.h"
#include "ops/core/element.h"

namespace softnpu {
namespace {

template <typename T>
void write(char* indexed, ptrdiff_t indexed_stride, char* other, ptrdiff_t other_stride, int64_t count, const void*) {
  constexpr auto kSize = static_cast<ptrdiff_t>(sizeof(T));
  if (count == 1) {
    std::memcpy(indexed, other, sizeof(T));
  } else if (indexed_stride == kSize && other_stride == kSize) {
    copy_bytes(indexed, other, static_cast<size_t>(count) * sizeof(T));
  } else {
    for (int64_t i = 0; i < count; ++i) std::memcpy(indexed + i * indexed_stride, other + i * other_stride, sizeof(T));
  }
}

struct Add {
  template <typename T>
  static T of(T a, T b) {
    if constexpr (std::is_same_v<T, int64_t>) {
      return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    } else if constexpr (std::is_same_v<T, int32_t>) {
      return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
    } else {
      return a + b;
    }
  }
};

struct Multiply {
  template <typename T>
  static T of(T a, T b) {
    if constexpr (std::is_same_v<T, int64_t>) {
      return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    } else if constexpr (std::is_same_v<T, int32_t>) {
      return static_cast<int32_t>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b));
    } else {
      return a * b;
    }
  }
};

struct Larger {
  template <typename T>
  static T of(T a, T b) {
    return a > b || a != a ? a : b;
  }
};

struct Smaller {
  template <typename T>
  static T of(T a, T b) {
    return a < b || a != a ? a : b;
  }
};

// Calls one(indexed, other) for each pair of elements.
template <typename Element, typename One>
void for_pairs(char* indexed, ptrdiff_t indexed_stride, const char* other, ptrdiff_t other_stride, int64_t count,
               const One& one) {
  constexpr auto kSize = static_cast<ptrdiff_t>(sizeof(typename Element::Stored));
  if (indexed_stride == kSize && other_stride == kSize) {  // contiguous: the compiler vectorises it
    for (int64_t i = 0; i < count; ++i) one(indexed + i * kSize, other + i * kSize);
  } else {
    for (int64_t i = 0; i < count; ++i) one(indexed + i * indexed_stride, other + i * other_stride);
  }
}

template <typename Element, typename Function>
void combine(char* indexed, ptrdiff_t indexed_stride, char* other, ptrdiff_t other_stride, int64_t count, const void*) {
  for_pairs<Element>(indexed, indexed_stride, other, other_stride, count, [](char* at, const char* from) {
    Element::store(at, Function::of(Element::load(at), Element::load(from)));
  });
}

// Contiguous half types, converted and computed as vectors.
template <typename Element, aclDataType kType, typename Function>
void combine_halves(char* indexed, ptrdiff_t indexed_stride, char* other, ptrdiff_t other_stride, int64_t count,
                    const void* alpha) {
  constexpr int64_t kTile = 256;
  constexpr int64_t kFew = 8;
  if (count < kFew) return combine<Element, Function>(indexed, indexed_stride, other, other_stride, count, alpha);
  alignas(64) float tile[kTile];
  alignas(64) float added[kTile];
  for (int64_t first = 0; first < count; first += kTile) {
    const auto here = static_cast<size_t>(std::min(kTile, count - first));
    char* at = indexed + first * indexed_stride;
    load_row(kType)(at, indexed_stride, here, tile);
    load_row(kType)(other + first * other_stride, other_stride, here, added);
    for (size_t i = 0; i < here; ++i) tile[i] = Function::of(tile[i], added[i]);
    store_row(kType)(tile, here, at, indexed_stride);
  }
}

template <typename Function>
RowKernel combining(aclDataType dtype) {
  if (dtype == ACL_FLOAT16) return &combine_halves<Float16Element, ACL_FLOAT16, Function>;
  if (dtype == ACL_BF16) return &combine_halves<BFloat16Element, ACL_BF16, Function>;
  return with_any(dtype, []<typename E>() -> RowKernel { return &combine<E, Function>; });
}

template <typename Element>
void add_scaled(char* indexed, ptrdiff_t indexed_stride, char* other, ptrdiff_t other_stride, int64_t count,
                const void* alpha) {
  using T = typename Element::Computed;
  const T scale = *static_cast<const T*>(alpha);
  for_pairs<Element>(indexed, indexed_stride, other, other_stride, count, [scale](char* at, const char* from) {
    Element::store(at, Add::of(Element::load(at), Multiply::of(scale, Element::load(from))));
  });
}

template <typename T>
void write_elements(char* indexed, const ptrdiff_t* offsets, const char* other, ptrdiff_t other_stride, int64_t count,
                    const void*) {
  for (int64_t k = 0; k < count; ++k) std::memcpy(indexed + offsets[k], other + k * other_stride, sizeof(T));
}

template <typename Element, typename Function>
void combine_elements(char* indexed, const ptrdiff_t* offsets, const char* other, ptrdiff_t other_stride, int64_t count,
                      const void*) {
  for (int64_t k = 0; k < count; ++k) {
    char* at = indexed + offsets[k];
    Element::store(at, Function::of(Element::load(at), Element::load(other + k * other_stride)));
  }
}

template <typename Element>
void add_scaled_elements(char* indexed, const ptrdiff_t* offsets, const char* other, ptrdiff_t other_stride,
                         int64_t count, const void* alpha) {
  using T = typename Element::Computed;
  const T scale = *static_cast<const T*>(alpha);
  for (int64_t k = 0; k < count; ++k) {
    char* at = indexed + offsets[k];
    Element::store(at, Add::of(Element::load(at), Multiply::of(scale, Element::load(other + k * other_stride))));
  }
}

template <typename Function>
ElementKernel combining_elements(aclDataType dtype) {
  return with_any(dtype, []<typename E>() -> ElementKernel { return &combine_elements<E, Function>; });
}

}  // namespace

RowKernel row_kernel(RowOp op, aclDataType dtype) {
  const size_t size = aclDataTypeSize(dtype);
  switch (op) {
    case RowOp::kWrite: return with_element(size, []<typename T>() -> RowKernel { return &write<T>; });
    case RowOp::kAdd: return combining<Add>(dtype);
    case RowOp::kAddScaled: return with_any(dtype, []<typename E>() -> RowKernel { return &add_scaled<E>; });
    case RowOp::kMultiply: return combining<Multiply>(dtype);
    default: break;
  }
  if (is_complex(dtype)) return nullptr;
  if (op == RowOp::kLarger) return with_real(dtype, []<typename E>() -> RowKernel { return &combine<E, Larger>; });
  return with_real(dtype, []<typename E>() -> RowKernel { return &combine<E, Smaller>; });
}

ElementKernel element_kernel(RowOp op, aclDataType dtype) {
  const size_t size = aclDataTypeSize(dtype);
  switch (op) {
    case RowOp::kWrite: return with_element(size, []<typename T>() -> ElementKernel { return &write_elements<T>; });
    case RowOp::kAdd: return combining_elements<Add>(dtype);
    case RowOp::kAddScaled:
      return with_any(dtype, []<typename E>() -> ElementKernel { return &add_scaled_elements<E>; });
    case RowOp::kMultiply: return combining_elements<Multiply>(dtype);
    default: break;
  }
  if (is_complex(dtype)) return nullptr;
  if (op == RowOp::kLarger) {
    return with_real(dtype, []<typename E>() -> ElementKernel { return &combine_elements<E, Larger>; });
  }
  return with_real(dtype, []<typename E>() -> ElementKernel { return &combine_elements<E, Smaller>; });
}

}  // namespace softnpu
