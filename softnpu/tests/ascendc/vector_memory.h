#pragma once
// Local memory with numbers for tests of vector instructions, and how a test runs a body as a kernel.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "ascendc/kernel_run.h"
#include "kernel_operator.h"
#include "softnpu_kernel/instruction.h"

class VectorTest : public KernelTest {
 protected:
  struct Arguments {
    const std::function<void()>* body;
  };
  struct Call {
    void operator()(const Arguments& a) const { (*a.body)(); }
  };
  static void in_kernel(const std::function<void()>& body) {
    ASSERT_EQ(run("vector", 1, Arguments{&body}, Call()), ACL_SUCCESS) << recent_error();
  }
};

// Numbers that show errors of order and of special values: `seed` chooses which.
template <typename T>
T test_value(uint32_t i, uint32_t seed) {
  const uint32_t mixed = (i + 1) * 2654435761U + seed * 40503U;
  const int32_t small = static_cast<int32_t>(mixed >> 8 & 0xfff) - 2048;
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(seed % 3 == 1 ? small % 7 : small);
  } else {
    if (seed % 3 == 1) return static_cast<T>(static_cast<float>(small % 3));  // ties, zeros
    if (seed % 3 == 2) {
      switch (mixed % 37) {
        case 3: return static_cast<T>(std::numeric_limits<float>::quiet_NaN());
        case 5: return static_cast<T>(std::numeric_limits<float>::infinity());
        case 7: return static_cast<T>(-std::numeric_limits<float>::infinity());
        case 9: return static_cast<T>(-0.0F);
        default: break;
      }
    }
    return static_cast<T>(static_cast<float>(small) / 37.0F);
  }
}

// Whether both are the same bits, or both are NaN.
template <typename T>
bool is_same(T a, T b) {
  if (a != a && b != b) return true;
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

// What touch() tells of an instruction, byte by byte.
class TouchedBytes : public softnpu::kernel::Touches {
 public:
  TouchedBytes(const void* base, size_t bytes)
      : base_(static_cast<const uint8_t*>(base)), reads(bytes, false), writes(bytes, false) {}
  void read(const void* address, uint64_t bytes) override { note(&reads, address, bytes); }
  void write(void* address, uint64_t bytes) override { note(&writes, address, bytes); }
  void misuse(const char* sentence) override { misuses += std::string(sentence) + "\n"; }

 private:
  void note(std::vector<bool>* where, const void* address, uint64_t bytes) {
    const auto first = static_cast<uint64_t>(static_cast<const uint8_t*>(address) - base_);
    for (uint64_t i = first; i < first + bytes; ++i) {
      if (i >= where->size())
        outside = true;
      else
        (*where)[i] = true;
    }
  }
  const uint8_t* base_;

 public:
  std::vector<bool> reads;
  std::vector<bool> writes;
  std::string misuses;
  bool outside = false;
};
