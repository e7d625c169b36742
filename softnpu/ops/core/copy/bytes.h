#pragma once
// Copies of contiguous bytes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace softnpu {

// As std::memmove. On AMD's Zen 3 the C library's copy of more than about 4 KiB, a string instruction, takes ten times
// as long if the destination is up to 63 bytes ahead of the source within a page: such copies are made in pieces.
inline void copy_bytes(void* to, const void* from, size_t count) {
  constexpr size_t kPage = 4096;
  constexpr size_t kLine = 64;
  constexpr size_t kChunk = 1024;
  const size_t ahead = (reinterpret_cast<uintptr_t>(to) - reinterpret_cast<uintptr_t>(from)) % kPage;
  auto* out = static_cast<char*>(to);
  const auto* in = static_cast<const char*>(from);
  const bool is_slow = count >= 2 * kChunk && ahead != 0 && ahead < kLine && (out + count <= in || in + count <= out);
  if (!is_slow) {
    std::memmove(to, from, count);
    return;
  }
  for (size_t i = 0; i < count; i += kChunk) std::memcpy(out + i, in + i, std::min(kChunk, count - i));
}

}  // namespace softnpu
