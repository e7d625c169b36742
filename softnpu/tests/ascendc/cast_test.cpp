// Cast of every pair of types, in every rounding mode, form and stride, compared with a loop over elements.

#include <bit>
#include <cmath>
#include <limits>

#include "ascendc/vector_forms.h"

namespace {

using namespace vector_forms;

class KernelCast : public KernelTest {};

// Every value of every type is one of long double.
template <typename T>
long double exact(T value) {
  if constexpr (is_real<T>)
    return static_cast<long double>(static_cast<double>(value));
  else
    return static_cast<long double>(value);
}

long double whole(long double x, RoundMode mode) {
  switch (mode) {
    case RoundMode::CAST_FLOOR: return std::floor(x);
    case RoundMode::CAST_CEIL: return std::ceil(x);
    case RoundMode::CAST_ROUND: return std::round(x);
    case RoundMode::CAST_TRUNC: return std::trunc(x);
    case RoundMode::CAST_NONE:
    case RoundMode::CAST_RINT: break;
  }
  return std::nearbyint(x);
}

// Of the two neighbours of `value` among To's numbers, the one that the mode chooses.
template <typename To>
To neighbour(long double value, RoundMode mode) {
  using Bits = std::conditional_t<sizeof(To) == 2, uint16_t, uint32_t>;
  const auto number = [](Bits bits) { return exact(std::bit_cast<To>(bits)); };
  const long double size = std::fabs(value);
  auto low = std::bit_cast<Bits>(static_cast<To>(static_cast<float>(size)));
  while (number(low) > size) --low;
  while (number(static_cast<Bits>(low + 1)) <= size) ++low;
  const auto high = static_cast<Bits>(low + 1);
  // Infinity counts as the number that would follow the largest one.
  const long double above =
      std::isinf(number(high)) ? 2 * number(low) - number(static_cast<Bits>(low - 1)) : number(high);
  const long double to_low = size - number(low);
  const long double to_high = above - size;
  bool takes_high = false;
  switch (mode) {
    case RoundMode::CAST_FLOOR: takes_high = value < 0; break;
    case RoundMode::CAST_CEIL: takes_high = value > 0; break;
    case RoundMode::CAST_TRUNC: break;
    case RoundMode::CAST_ROUND: takes_high = to_high <= to_low; break;
    default: takes_high = to_high < to_low || (to_high == to_low && low % 2 == 1);
  }
  const auto sign = std::signbit(value) ? static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1)) : Bits{0};
  return std::bit_cast<To>(static_cast<Bits>((takes_high && to_low != 0 ? high : low) | sign));
}

template <typename To, typename From>
To converted(From from, RoundMode mode) {
  const long double value = exact(from);
  if constexpr (std::is_same_v<To, From>) {
    return mode == RoundMode::CAST_NONE ? from : static_cast<To>(whole(value, mode));
  } else if constexpr (is_real<To>) {
    if (std::isnan(value) || std::isinf(value)) return static_cast<To>(static_cast<float>(value));
    return neighbour<To>(value, mode);
  } else {
    if (std::isnan(value)) return 0;
    const long double near = whole(value, mode);
    if (near <= static_cast<long double>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    if (near >= static_cast<long double>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    return static_cast<To>(near);
  }
}

template <typename To, typename From>
void check_cast() {
  if constexpr (std::is_same_v<To, float> || !std::is_same_v<To, From>) {
    for (const RoundMode mode : {RoundMode::CAST_NONE, RoundMode::CAST_RINT, RoundMode::CAST_FLOOR,
                                 RoundMode::CAST_CEIL, RoundMode::CAST_ROUND, RoundMode::CAST_TRUNC}) {
      const auto call = [mode](const auto& to, const auto& a, const auto&, const Variant& f) {
        const UnaryRepeatParams params(f.blocks[0], f.blocks[1], f.repeat_steps[0], f.repeat_steps[1]);
        if (f.kind == Variant::Kind::kCount) return Cast(to, a, mode, static_cast<uint32_t>(f.mask[0]));
        if (f.kind == Variant::Kind::kBits) return Cast(to, a, mode, f.mask, f.repeats, params);
        if (f.kind == Variant::Kind::kCore)
          return Cast<To, From, false>(to, a, mode, MASK_PLACEHOLDER, f.repeats, params);
        return Cast(to, a, mode, f.mask[0], f.repeats, params);
      };
      check<To, From>({"Cast", 0, call, [mode](To, From a, From) { return converted<To>(a, mode); }});
    }
  }
}

template <typename From>
void check_casts_of() {
  check_cast<half, From>();
  check_cast<bfloat16_t, From>();
  check_cast<float, From>();
  check_cast<int8_t, From>();
  check_cast<uint8_t, From>();
  check_cast<int16_t, From>();
  check_cast<int32_t, From>();
  check_cast<int64_t, From>();
}

void compare_all() {
  check_casts_of<half>();
  check_casts_of<bfloat16_t>();
  check_casts_of<float>();
  check_casts_of<int8_t>();
  check_casts_of<uint8_t>();
  check_casts_of<int16_t>();
  check_casts_of<int32_t>();
  check_casts_of<int64_t>();
}

const cells::Family kFamily(&compare_all);

TEST_F(KernelCast, EveryPairOfTypesEqualsALoopOverElements) { kFamily.run(); }

}  // namespace
