#pragma once
// Elements as bytes: code that moves them needs no type.

#include <cstddef>
#include <cstdint>

namespace softnpu {

struct alignas(8) Bytes16 {
  uint64_t words[2];
};

// Calls body.template operator()<T>() with an unsigned type of `size` bytes: 1, 2, 4, 8 or 16.
template <typename Body>
decltype(auto) with_element(size_t size, Body&& body) {
  switch (size) {
    case 1: return body.template operator()<uint8_t>();
    case 2: return body.template operator()<uint16_t>();
    case 4: return body.template operator()<uint32_t>();
    case 8: return body.template operator()<uint64_t>();
    default: return body.template operator()<Bytes16>();
  }
}

}  // namespace softnpu
