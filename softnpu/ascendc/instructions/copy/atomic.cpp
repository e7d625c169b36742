#include "ascendc/instructions/copy/atomic.h"

#include <bit>
#include <cstring>
#include <type_traits>

namespace softnpu::kernel {
namespace {

template <size_t bytes>
using Bits = std::conditional_t<bytes == 1, uint8_t, std::conditional_t<bytes == 2, uint16_t, uint32_t>>;

template <typename T>
T combined(AtomicOperation operation, T there, T comes) {
  switch (operation) {
    case AtomicOperation::kMax: return there < comes ? comes : there;
    case AtomicOperation::kMin: return comes < there ? comes : there;
    default: break;
  }
  if constexpr (std::is_integral_v<T>) {  // wraps
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<Unsigned>(there) + static_cast<Unsigned>(comes));
  } else {
    return T(there + comes);
  }
}

template <typename T>
void combine_elements(AtomicOperation operation, uint8_t* to, const uint8_t* from, uint64_t bytes) {
  using B = Bits<sizeof(T)>;
  for (uint64_t i = 0; i + sizeof(T) <= bytes; i += sizeof(T)) {
    T comes;
    std::memcpy(&comes, from + i, sizeof(T));
    auto* at = reinterpret_cast<B*>(to + i);
    B there = __atomic_load_n(at, __ATOMIC_RELAXED);
    B next;
    do {
      next = std::bit_cast<B>(combined(operation, std::bit_cast<T>(there), comes));
    } while (!__atomic_compare_exchange_n(at, &there, next, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
  }
}

}  // namespace

void combine(const AtomicMode& mode, uint8_t* to, const uint8_t* from, uint64_t bytes) {
  switch (mode.type) {
    case DataType::kHalf: return combine_elements<half>(mode.operation, to, from, bytes);
    case DataType::kBfloat16: return combine_elements<bfloat16_t>(mode.operation, to, from, bytes);
    case DataType::kInt8: return combine_elements<int8_t>(mode.operation, to, from, bytes);
    case DataType::kInt16: return combine_elements<int16_t>(mode.operation, to, from, bytes);
    case DataType::kInt32: return combine_elements<int32_t>(mode.operation, to, from, bytes);
    default: return combine_elements<float>(mode.operation, to, from, bytes);
  }
}

}  // namespace softnpu::kernel
