#pragma once
// What a copy should do, byte by byte, written with two cursors and nothing of the library.

#include <cstdint>
#include <set>
#include <vector>

struct CopyCase {
  enum class Variant { kCountIn, kCountOut, kCountLocal, kBlocksIn, kBlocksOut, kBlocksLocal, kPadIn, kPadOut };
  Variant variant;
  bool is_ext;  // DataCopyExtParams
  uint32_t bursts;
  uint32_t length;  // elements, blocks or bytes, as the form counts
  uint32_t source_gap;
  uint32_t destination_gap;
  bool is_pad;
  uint32_t left;  // elements
  uint32_t right;
};

struct CopyResult {
  std::vector<uint8_t> destination;
  std::set<const uint8_t*> read;
  std::set<const uint8_t*> written;
};

// `destination` holds what was there; `written` has addresses from `to` on.
inline CopyResult reference_copy(const CopyCase& c, uint32_t element, const std::vector<uint8_t>& padding,
                                 const uint8_t* from, const uint8_t* to, std::vector<uint8_t> destination) {
  using Variant = CopyCase::Variant;
  CopyResult result{std::move(destination), {}, {}};
  const bool is_count =
      c.variant == Variant::kCountIn || c.variant == Variant::kCountOut || c.variant == Variant::kCountLocal;
  const bool is_blocks =
      c.variant == Variant::kBlocksIn || c.variant == Variant::kBlocksOut || c.variant == Variant::kBlocksLocal;
  const bool pads = c.variant == Variant::kPadIn;
  size_t at_source = 0;
  size_t at_destination = 0;
  const auto write = [&](uint8_t byte) {
    result.destination[at_destination] = byte;
    result.written.insert(to + at_destination++);
  };
  for (uint32_t burst = 0; burst < c.bursts; ++burst) {
    const size_t bytes = is_count ? c.length * element / 32 * 32 : is_blocks ? c.length * 32 : c.length;
    const size_t first = at_source;
    if (pads && c.is_pad) {
      for (uint32_t i = 0; i < c.left * element; ++i) write(padding[i % element]);
    }
    for (size_t i = 0; i < bytes; ++i) {
      result.read.insert(from + at_source);
      write(from[at_source++]);
    }
    if (pads) {
      if (c.is_pad) {
        for (uint32_t i = 0; i < c.right * element; ++i) write(padding[i % element]);
      }
      for (size_t i = 0; at_destination % 32 != 0; ++i) write(bytes >= element ? from[first + i % element] : 0);
    }
    if (c.variant == Variant::kPadOut) at_source = (at_source + 31) / 32 * 32;
    at_source += c.source_gap * (c.variant == Variant::kPadIn ? 1 : 32);
    at_destination += c.destination_gap * (c.variant == Variant::kPadOut ? 1 : 32);
  }
  return result;
}
