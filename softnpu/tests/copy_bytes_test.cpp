#include "base/copy_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace softnpu {
namespace {

// Copies between two places of one buffer: apart, overlapping either way, and with the destination a few bytes ahead of
// the source within a page, as std::memmove.
TEST(CopyBytes, AnyDistance) {
  constexpr size_t kPage = 4096;
  constexpr size_t kFrom = 3 * kPage;
  for (const size_t count : {size_t{0}, size_t{1}, size_t{511}, size_t{2048}, size_t{2049}, 2 * kPage + 7}) {
    for (const ptrdiff_t distance : {-8193, -8192, -8180, -4084, -12, -1, 0, 1, 12, 63, 64, 2047, 4097, 8204, 12200}) {
      std::vector<unsigned char> expected(8 * kPage);
      for (size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<unsigned char>(i * 7 + i / 251);
      std::vector<unsigned char> memory = expected;
      std::copy_n(memory.begin() + kFrom, count, expected.begin() + static_cast<ptrdiff_t>(kFrom) + distance);
      copy_bytes(memory.data() + kFrom + distance, memory.data() + kFrom, count);
      EXPECT_EQ(memory, expected) << count << " bytes by " << distance;
    }
  }
}

}  // namespace
}  // namespace softnpu
