#pragma once
// A kernel's arguments as bytes: placed as the members of a C structure are, copied by the launch, read by each block.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "ascendc/types.h"
#include "softnpu_kernel/core.h"
#include "softnpu_kernel/launch.h"

#pragma GCC visibility push(hidden)  // of each program's own

namespace softnpu::kernel {

// The character of a parameter's type in softnpuKernelEntry.
template <typename T>
constexpr char parameter_code() {
  if constexpr (std::is_pointer_v<T>) {
    return 'P';
  } else if constexpr (std::is_same_v<T, half>) {
    return 'e';
  } else if constexpr (std::is_same_v<T, bfloat16_t>) {
    return 'E';
  } else if constexpr (std::is_same_v<T, float>) {
    return 'f';
  } else if constexpr (std::is_same_v<T, double>) {
    return 'd';
  } else if constexpr (std::is_same_v<T, bool>) {
    return '?';
  } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
    constexpr bool is_signed = T(-1) < T(0);
    constexpr char codes[2][9] = {"_BH_I___", "_bh_i___"};
    return sizeof(T) == 8 ? (is_signed ? 'q' : 'Q') : codes[is_signed][sizeof(T)];
  } else {
    return 's';
  }
}

// What a block gets for an argument: a device address in the form in which kernels may use it, other values unchanged.
template <typename T>
T block_argument(T value) {
  if constexpr (std::is_pointer_v<T>) {
    return static_cast<T>(device_pointer(const_cast<void*>(static_cast<const volatile void*>(value))));
  } else {
    return value;
  }
}

template <typename... P>
struct Arguments {
  static_assert((... && !std::is_reference_v<P>), "a kernel's parameters are values: references cannot be copied");
  static_assert((... && std::is_trivially_copyable_v<P>), "a kernel's parameters have to be trivially copyable");
  static_assert((... && (alignof(P) <= 16)), "a kernel's parameters are aligned to at most 16 bytes");

  // Each argument's offset, and at last the size.
  static constexpr std::array<std::size_t, sizeof...(P) + 1> offsets = [] {
    constexpr std::array<std::size_t, sizeof...(P) + 1> sizes = {sizeof(P)..., 0};
    constexpr std::array<std::size_t, sizeof...(P) + 1> alignments = {alignof(P)..., 1};
    std::array<std::size_t, sizeof...(P) + 1> all{};
    std::size_t end = 0;
    std::size_t widest = 1;
    for (std::size_t i = 0; i < sizeof...(P); ++i) {
      all[i] = (end + alignments[i] - 1) / alignments[i] * alignments[i];
      end = all[i] + sizes[i];
      if (alignments[i] > widest) widest = alignments[i];
    }
    all[sizeof...(P)] = (end + widest - 1) / widest * widest;
    return all;
  }();
  static constexpr std::size_t bytes = offsets[sizeof...(P)];
  static constexpr char codes[sizeof...(P) + 1] = {parameter_code<P>()..., 0};

  // Writes `bytes` bytes to `to`.
  static void pack(unsigned char* to, const P&... values) {
    std::size_t i = 0;
    (std::memcpy(to + offsets[i++], &values, sizeof(P)), ...);
  }

  // Calls the kernel with the packed arguments.
  static void call(void (*kernel)(P...), const void* packed) {
    call(kernel, static_cast<const unsigned char*>(packed), std::index_sequence_for<P...>());
  }

 private:
  template <typename T>
  static T read(const unsigned char* from) {
    alignas(T) unsigned char value[sizeof(T)];
    std::memcpy(value, from, sizeof(T));
    return block_argument(*reinterpret_cast<T*>(value));
  }
  template <std::size_t... I>
  static void call(void (*kernel)(P...), [[maybe_unused]] const unsigned char* packed, std::index_sequence<I...>) {
    kernel(read<P>(packed + offsets[I])...);
  }
};

}  // namespace softnpu::kernel

#pragma GCC visibility pop
