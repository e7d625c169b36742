#pragma once
// Element types, positions, pipes and events.

#include <cstdint>
#include <cstring>
#include <type_traits>

using half = _Float16;

// bfloat16: the upper half of a float. Conversions round to nearest, ties to even; NaN stays NaN.
class bfloat16_t {
 public:
  bfloat16_t() = default;
  template <typename T>
  requires std::is_arithmetic_v<T> || std::is_same_v<T, half> bfloat16_t(T value)
      : bits_(round(static_cast<float>(value))) {}  // implicit, as the compiler's own type is
  operator float() const {
    const std::uint32_t widened = std::uint32_t{bits_} << 16;
    float value;
    std::memcpy(&value, &widened, sizeof(value));
    return value;
  }

 private:
  static std::uint16_t round(float value) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    if (value != value) return static_cast<std::uint16_t>((bits >> 16) | 0x40);
    return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
  }

  std::uint16_t bits_;
};

enum pipe_t { PIPE_S = 0, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_ALL, PIPE_FIX };

enum event_t { EVENT_ID0 = 0, EVENT_ID1, EVENT_ID2, EVENT_ID3, EVENT_ID4, EVENT_ID5, EVENT_ID6, EVENT_ID7 };

namespace AscendC {

using TEventID = std::int8_t;

enum class TPosition : std::uint8_t {
  GM,
  A1,
  A2,
  B1,
  B2,
  C1,
  C2,
  CO1,
  CO2,
  VECIN,
  VECOUT,
  VECCALC,
  LCM = VECCALC,
  SPM,
  SHM = SPM,
  TSCM,
  C2PIPE2GM,
  MAX
};
using QuePosition = TPosition;

// An event by the pipe that sets it and the pipe that waits for it.
enum class HardEvent : std::uint8_t {
  MTE2_MTE1,
  MTE1_MTE2,
  MTE1_M,
  M_MTE1,
  MTE2_V,
  V_MTE2,
  MTE3_V,
  V_MTE3,
  M_V,
  V_M,
  V_V,
  MTE3_MTE1,
  MTE1_MTE3,
  MTE1_V,
  MTE2_M,
  M_MTE2,
  V_MTE1,
  M_FIX,
  FIX_M,
  MTE3_MTE2,
  MTE2_MTE3,
  S_V,
  V_S,
  S_MTE2,
  MTE2_S,
  S_MTE3,
  MTE3_S,
  FIX_MTE3,
  FIX_MTE2,
  FIX_S,
  M_S,
  FIX_V,
  MAX
};

}  // namespace AscendC
