#include "ops/index/row_kernels.h"

#include <cstring>
#include <type_traits>

#include "ops/convert/typed.h"
#include "ops/copy/element.h"
#include "ops/dtype.h"

namespace softnpu {
namespace {

template <typename T>
void move(char* to, ptrdiff_t to_stride, const char* from, ptrdiff_t from_stride, int64_t count) {
  constexpr auto kSize = static_cast<ptrdiff_t>(sizeof(T));
  if (count == 1) {
    std::memcpy(to, from, sizeof(T));
  } else if (to_stride == kSize && from_stride == kSize) {
    std::memmove(to, from, static_cast<size_t>(count) * sizeof(T));
  } else {
    for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * to_stride, from + i * from_stride, sizeof(T));
  }
}

template <typename T>
void read(char* indexed, ptrdiff_t indexed_stride, char* other, ptrdiff_t other_stride, int64_t count, const void*) {
  move<T>(other, other_stride, indexed, indexed_stride, count);
}

template <typename T>
void write(char* indexed, ptrdiff_t indexed_stride, char* other, ptrdiff_t other_stride, int64_t count, const void*) {
  move<T>(indexed, indexed_stride, other, other_stride, count);
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

template <typename Element, typename Function>
void combine(char* indexed, ptrdiff_t indexed_stride, char* other, ptrdiff_t other_stride, int64_t count, const void*) {
  for (int64_t i = 0; i < count; ++i) {
    char* at = indexed + i * indexed_stride;
    Element::store(at, Function::of(Element::load(at), Element::load(other + i * other_stride)));
  }
}

template <typename Element>
void add_scaled(char* indexed, ptrdiff_t indexed_stride, char* other, ptrdiff_t other_stride, int64_t count,
                const void* alpha) {
  using T = typename Element::Computed;
  const T scale = *static_cast<const T*>(alpha);
  for (int64_t i = 0; i < count; ++i) {
    char* at = indexed + i * indexed_stride;
    const T value = Element::load(other + i * other_stride);
    Element::store(at, Add::of(Element::load(at), Multiply::of(scale, value)));
  }
}

}  // namespace

RowKernel row_kernel(RowOp op, aclDataType dtype) {
  const size_t size = aclDataTypeSize(dtype);
  switch (op) {
    case RowOp::kRead: return with_element(size, []<typename T>() -> RowKernel { return &read<T>; });
    case RowOp::kWrite: return with_element(size, []<typename T>() -> RowKernel { return &write<T>; });
    case RowOp::kAdd: return with_any(dtype, []<typename E>() -> RowKernel { return &combine<E, Add>; });
    case RowOp::kAddScaled: return with_any(dtype, []<typename E>() -> RowKernel { return &add_scaled<E>; });
    case RowOp::kMultiply: return with_any(dtype, []<typename E>() -> RowKernel { return &combine<E, Multiply>; });
    default: break;
  }
  if (is_complex(dtype)) return nullptr;
  if (op == RowOp::kLarger) return with_real(dtype, []<typename E>() -> RowKernel { return &combine<E, Larger>; });
  return with_real(dtype, []<typename E>() -> RowKernel { return &combine<E, Smaller>; });
}

}  // namespace softnpu
