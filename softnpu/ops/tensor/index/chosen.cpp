#include "ops/tensor/index/chosen.h"

#include <cstring>

namespace softnpu {

int64_t count_nonzero(const char* at, ptrdiff_t stride, int64_t count) {
  int64_t total = 0;
  int64_t i = 0;
  if (stride == 1) {
    constexpr uint64_t kLow = 0x7F7F7F7F7F7F7F7F;
    constexpr uint64_t kOnes = 0x0101010101010101;
    for (; i + 8 <= count; i += 8) {
      uint64_t word;
      std::memcpy(&word, at + i, sizeof word);
      const uint64_t flags = (((word & kLow) + kLow) | word) >> 7 & kOnes;  // 1 for each byte that is not zero
      total += static_cast<int64_t>(flags * kOnes >> 56);
    }
  }
  for (; i < count; ++i) total += at[i * stride] != 0;
  return total;
}

void prepare_chosen(double elements, int64_t count, Describe message, Plan* plan) {
  plan->work = effort_of(elements).work;
  plan->workspace_bytes = checked(pieces_of(count)) * sizeof(int64_t);
  plan->describe = std::move(message);
}

}  // namespace softnpu
