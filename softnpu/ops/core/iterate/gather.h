#pragma once
// Elements of an operand of a space, gathered to contiguous values of the compute type, and scattered back.

#include <cstring>
#include <type_traits>

#include "ops/core/convert/element_rows.h"
#include "ops/core/element.h"
#include "ops/core/iterate/space.h"

namespace softnpu {
namespace detail {

// A call of a copy function for each run of a few elements takes longer than the elements.
inline bool has_short_runs(const Space& space) {
  constexpr int64_t kLongest = 16;
  return space.size(space.dims() - 1) <= kLongest;
}

// Moves elements of `bytes` each from the operand's memory to `values`, or back, if kWrites.
template <bool kWrites, typename Values = std::conditional_t<kWrites, const char*, char*>>
void move_short_runs(const Space& space, size_t operand, int64_t at, int64_t count, size_t bytes, Values values) {
  with_element(bytes, [&]<typename T>() {
    space.for_runs(operand, at, count, [&](char* address, ptrdiff_t stride, size_t here) {
      for (size_t i = 0; i < here; ++i, address += stride, values += sizeof(T)) {
        if constexpr (kWrites) {
          std::memcpy(address, values, sizeof(T));
        } else {
          std::memcpy(values, address, sizeof(T));
        }
      }
    });
  });
}

}  // namespace detail

// Reads the elements [at, at + count) to `values`. `bytes`: of a value of the compute type.
inline void gather(const Space& space, size_t operand, const ElementReader& reader, int64_t at, int64_t count,
                   size_t bytes, char* values) {
  if (reader.is_direct() && detail::has_short_runs(space)) {
    return detail::move_short_runs<false>(space, operand, at, count, bytes, values);
  }
  space.for_runs(operand, at, count, [&](const char* from, ptrdiff_t stride, size_t here) {
    reader.read(from, stride, here, values);
    values += here * bytes;
  });
}

// Writes `values` to the elements [at, at + count).
inline void scatter(const Space& space, size_t operand, const ElementWriter& writer, int64_t at, int64_t count,
                    size_t bytes, const char* values) {
  if (writer.is_direct() && detail::has_short_runs(space)) {
    return detail::move_short_runs<true>(space, operand, at, count, bytes, values);
  }
  space.for_runs(operand, at, count, [&](char* to, ptrdiff_t stride, size_t here) {
    writer.write(values, here, to, stride);
    values += here * bytes;
  });
}

}  // namespace softnpu
