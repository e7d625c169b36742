#pragma once
// Overflow-checked sizes of memory and of images, computed from a program's arguments.

#include <concepts>
#include <cstdint>
#include <limits>
#include <utility>

namespace softnpu {

class Checked;
template <std::integral T>
constexpr Checked checked(T value);

// An integer with checked arithmetic: if a result overflows 64 bits, it and everything computed from it does not fit.
class Checked {
 public:
  constexpr Checked() = default;
  // Constants only: a program's number is converted by checked() before anything is computed from it.
  consteval Checked(int64_t constant) : value_(constant) {}  // NOLINT(google-explicit-constructor)

  bool fits() const { return value_ != kNone; }
  // 0 if it does not fit.
  int64_t value() const { return fits() ? value_ : 0; }
  // 0 if it does not fit or is negative.
  uint64_t bytes() const { return value_ > 0 ? static_cast<uint64_t>(value_) : 0; }
  // Whether it fits and equals `other`.
  bool is(int64_t other) const { return fits() && value_ == other; }
  template <std::integral T>
  friend constexpr Checked checked(T value);
  friend constexpr Checked operator+(Checked a, Checked b) {
    int64_t sum = 0;
    const bool overflows = __builtin_add_overflow(a.value_, b.value_, &sum);
    return of(a, b, overflows, sum);
  }
  friend constexpr Checked operator-(Checked a, Checked b) {
    int64_t difference = 0;
    const bool overflows = __builtin_sub_overflow(a.value_, b.value_, &difference);
    return of(a, b, overflows, difference);
  }
  friend constexpr Checked operator*(Checked a, Checked b) {
    int64_t product = 0;
    const bool overflows = __builtin_mul_overflow(a.value_, b.value_, &product);
    return of(a, b, overflows, product);
  }
  // The maximum; does not fit if one of them does not.
  friend constexpr Checked larger(Checked a, Checked b) {
    return of(a, b, false, a.value_ > b.value_ ? a.value_ : b.value_);
  }
  // The least multiple of `multiple`, a positive constant, that is at least `number`, which must not be negative.
  friend constexpr Checked round_up(Checked number, int64_t multiple) {
    const Checked last = number + checked(multiple - 1);
    return of(last, last, false, last.value_ / multiple * multiple);
  }

 private:
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::min();
  static constexpr Checked of(Checked a, Checked b, bool overflows, int64_t value) {
    Checked result;
    result.value_ = overflows || a.value_ == kNone || b.value_ == kNone ? kNone : value;
    return result;
  }

  int64_t value_ = 0;  // kNone: does not fit
};

template <std::integral T>
constexpr Checked checked(T value) {
  Checked number;
  number.value_ = std::in_range<int64_t>(value) ? static_cast<int64_t>(value) : Checked::kNone;
  return number;
}

template <std::integral T>
constexpr Checked operator+(Checked a, T b) {
  return a + checked(b);
}
template <std::integral T>
constexpr Checked operator-(Checked a, T b) {
  return a - checked(b);
}
template <std::integral T>
constexpr Checked operator*(Checked a, T b) {
  return a * checked(b);
}

}  // namespace softnpu
