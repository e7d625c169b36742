#pragma once
// Copies of contiguous bytes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace softnpu {

// As std::memmove. On AMD's Zen 3 and 4 the C library's copy of 4 KiB to 1 MiB, a string instruction, takes up to
// fourteen times as long if the destination is up to 63 bytes ahead of the source within a page: such copies are
// divided. Each part is a std::memmove, too: a compiler inlines std::memcpy of a known size as the same string
// instruction.
inline void copy_bytes(void* to, const void* from, size_t count) {
  constexpr size_t kPage = 4096;
  constexpr size_t kLine = 64;
  constexpr size_t kChunk = 512;
  constexpr size_t kMaxString = size_t{1} << 20;
  const size_t ahead = (reinterpret_cast<uintptr_t>(to) - reinterpret_cast<uintptr_t>(from)) % kPage;
  auto* out = static_cast<char*>(to);
  const auto* in = static_cast<const char*>(from);
  const bool is_slow = count >= 4 * kChunk && count < kMaxString && ahead != 0 && ahead < kLine &&
                       (out + count <= in || in + count <= out);
  if (!is_slow) {
    std::memmove(to, from, count);
    return;
  }
  for (size_t i = 0; i < count; i += kChunk) std::memmove(out + i, in + i, std::min(kChunk, count - i));
}

}  // namespace softnpu
