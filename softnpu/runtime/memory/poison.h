#pragma once
// Tells AddressSanitizer which bytes of device memory must not be accessed. No-ops without it.

#include <cstddef>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace softnpu {

#ifdef __SANITIZE_ADDRESS__
constexpr bool kPoisons = true;
inline void poison(const void* address, size_t size) { __asan_poison_memory_region(address, size); }
inline void unpoison(const void* address, size_t size) { __asan_unpoison_memory_region(address, size); }
#else
constexpr bool kPoisons = false;
inline void poison(const void*, size_t) {}
inline void unpoison(const void*, size_t) {}
#endif

}  // namespace softnpu
