// Elementwise vector instructions x form x type x strides, compared with a loop over elements.

#include <cfloat>

#include "ascendc/vector_forms.h"

namespace {

using namespace vector_forms;

class KernelVector : public KernelTest {};

template <typename T>
T largest(T a, T b) {
  if (a != a || b != b) return a != a ? a : b;
  return a > b ? a : b;
}
template <typename T>
T smallest(T a, T b) {
  if (a != a || b != b) return a != a ? a : b;
  return a < b ? a : b;
}

template <typename T>
void check_arithmetic() {
  using W = Reference<T>;
  const auto two = [](auto function) {
    return [function](T, T a, T b) { return narrow<T>(function(static_cast<W>(a), static_cast<W>(b))); };
  };
  check<T, T>({"Add", 0, SOFTNPU_TEST_BINARY(Add), two([](W a, W b) { return a + b; })});
  check<T, T>({"Sub", 0, SOFTNPU_TEST_BINARY(Sub), two([](W a, W b) { return a - b; })});
  check<T, T>({"Mul", 0, SOFTNPU_TEST_BINARY(Mul), two([](W a, W b) { return a * b; })});
  check<T, T>({"Max", 1, SOFTNPU_TEST_BINARY(Max), [](T, T a, T b) { return largest(a, b); }});
  check<T, T>({"Min", 1, SOFTNPU_TEST_BINARY(Min), [](T, T a, T b) { return smallest(a, b); }});
  check<T, T>(
      {"Adds", 0, SOFTNPU_TEST_UNARY(Adds, (Adds<T, false>), T(3)), [](T, T a, T) { return narrow<T>(W(a) + 3); }});
  check<T, T>(
      {"Muls", 0, SOFTNPU_TEST_UNARY(Muls, (Muls<T, false>), T(3)), [](T, T a, T) { return narrow<T>(W(a) * 3); }});
  check<T, T>(
      {"Maxs", 1, SOFTNPU_TEST_UNARY(Maxs, (Maxs<T, false>), T(3)), [](T, T a, T) { return largest(a, T(3)); }});
  check<T, T>(
      {"Mins", 1, SOFTNPU_TEST_UNARY(Mins, (Mins<T, false>), T(3)), [](T, T a, T) { return smallest(a, T(3)); }});
}

template <typename T>
void check_relu() {
  check<T, T>({"Relu", 1, SOFTNPU_TEST_UNARY(Relu, (Relu<T, false>)), [](T, T a, T) { return a < 0 ? T(0) : a; }});
}

template <typename T>
void check_real() {
  const auto one = [](auto function) {
    return [function](T, T a, T) { return static_cast<T>(function(static_cast<double>(a))); };
  };
  check<T, T>({"Div", 0, SOFTNPU_TEST_BINARY(Div), [](T, T a, T b) { return T(double(a) / double(b)); }});
  check<T, T>({"Abs", 0, SOFTNPU_TEST_UNARY(Abs, (Abs<T, false>)), one([](double a) { return std::fabs(a); })});
  check<T, T>({"Sqrt", 0, SOFTNPU_TEST_UNARY(Sqrt, (Sqrt<T, false>)), one([](double a) { return std::sqrt(a); })});
  check<T, T>({"Exp", 1, SOFTNPU_TEST_UNARY(Exp, (Exp<T, false>)), one([](double a) { return std::exp(a); })});
  check<T, T>({"AddRelu", 1, SOFTNPU_TEST_BINARY(AddRelu), [](T, T a, T b) {
                 const double sum = double(a) + double(b);
                 return T(sum < 0 ? 0 : sum);
               }});
  const auto leaky = [](double slope) { return [slope](T, T a, T) { return a > 0 ? a : T(double(a) * slope); }; };
  check<T, T>({"LeakyRelu", 0, SOFTNPU_TEST_UNARY(LeakyRelu, (LeakyRelu<T, false>), T(0.125)), leaky(0.125)});
  check<T, T>({"LeakyRelu", 0, SOFTNPU_TEST_UNARY(LeakyRelu, (LeakyRelu<T, false>), T(-3)), leaky(-3)});
  // Float32: fused, rounded once. Half: the sum is rounded to float32 first.
  const double fused = std::is_same_v<T, half> ? 1 : 0;
  const auto fma = [](T a, T b, T c) {
    return std::is_same_v<T, half> ? T(double(a) * double(b) + double(c)) : T(std::fma(float(a), float(b), float(c)));
  };
  check<T, T>({"MulAddDst", fused, SOFTNPU_TEST_BINARY(MulAddDst), [fma](T c, T a, T b) { return fma(a, b, c); }});
  check<T, T>({"Axpy", fused, SOFTNPU_TEST_UNARY(Axpy, (Axpy<T, T, false>), T(1.25)),
               [fma](T c, T a, T) { return fma(a, T(1.25), c); }});
}

// Integers: the smallest one has no negative, and stays.
template <typename T>
void check_abs_of_integers() {
  check<T, T>({"Abs", 0, SOFTNPU_TEST_UNARY(Abs, (Abs<T, false>)),
               [](T, T a, T) { return a < 0 ? static_cast<T>(-static_cast<int64_t>(a)) : a; }});
}

// A product of two halves is exact in float32.
void check_mixed_axpy() {
  check<float, half>({"Axpy", 0, SOFTNPU_TEST_UNARY(Axpy, (Axpy<float, half, false>), half(-1.375F)),
                      [](float c, half a, half) { return std::fma(static_cast<float>(a), -1.375F, c); }});
}

// Rounded down, or to the nearest integer, halves up; as if the numbers had any width.
template <typename T>
T shifted_right(T value, int distance, bool rounds) {
  const long double exact = std::ldexp(static_cast<long double>(value), -distance);
  return static_cast<T>(std::floor(exact + (rounds ? 0.5L : 0.0L)));
}

template <typename T>
void check_and_or() {
  check<T, T>({"And", 0, SOFTNPU_TEST_BINARY(And), [](T, T a, T b) { return T(a & b); }});
  check<T, T>({"Or", 0, SOFTNPU_TEST_BINARY(Or), [](T, T a, T b) { return T(a | b); }});
}

template <typename T>
void check_bits() {
  check_and_or<T>();
  check<T, T>({"Not", 0, SOFTNPU_TEST_UNARY(Not, (Not<T, false>)), [](T, T a, T) { return T(~a); }});
  for (const int distance : {0, 3, 15, 16, 17, 31, 32, 40}) {
    const T scalar = static_cast<T>(distance);
    check<T, T>({"ShiftLeft", 0, SOFTNPU_TEST_UNARY(ShiftLeft, (ShiftLeft<T, false>), scalar),
                 [distance](T, T a, T) { return static_cast<T>(static_cast<uint64_t>(a) << distance); }});
    check<T, T>({"ShiftRight", 0, SOFTNPU_TEST_UNARY(ShiftRight, (ShiftRight<T, false>), scalar),
                 [distance](T, T a, T) { return shifted_right(a, distance, false); }});
    const auto rounding = [scalar](const auto& to, const auto& a, const auto&, const Variant& f) {
      const UnaryRepeatParams params(f.blocks[0], f.blocks[1], f.repeat_steps[0], f.repeat_steps[1]);
      if (f.kind == Variant::Kind::kBits) return ShiftRight(to, a, scalar, f.mask, f.repeats, params, true);
      if (f.kind == Variant::Kind::kCore)
        return ShiftRight<T, false>(to, a, scalar, MASK_PLACEHOLDER, f.repeats, params, true);
      return ShiftRight(to, a, scalar, f.mask[0], f.repeats, params, true);
    };
    check<T, T>({"ShiftRight", 0, rounding, [distance](T, T a, T) { return shifted_right(a, distance, true); }, false});
  }
}

template <typename T>
void check_duplicate() {
  const T value(7.0F);
  const auto call = [value](const auto& to, const auto&, const auto&, const Variant& f) {
    if (f.kind == Variant::Kind::kCount) return Duplicate(to, value, static_cast<int32_t>(f.mask[0]));
    if (f.kind == Variant::Kind::kBits) return Duplicate(to, value, f.mask, f.repeats, f.blocks[0], f.repeat_steps[0]);
    if (f.kind == Variant::Kind::kCore)
      return Duplicate<T, false>(to, value, MASK_PLACEHOLDER, f.repeats, f.blocks[0], f.repeat_steps[0]);
    return Duplicate(to, value, f.mask[0], f.repeats, f.blocks[0], f.repeat_steps[0]);
  };
  check<T, T>({"Duplicate", 0, call, [value](T, T, T) { return value; }});
}

void compare_all() {
  check_arithmetic<float>();
  check_arithmetic<half>();
  check_arithmetic<int16_t>();
  check_arithmetic<int32_t>();
  check_real<float>();
  check_real<half>();
  check_abs_of_integers<int16_t>();
  check_abs_of_integers<int32_t>();
  check_relu<float>();
  check_relu<half>();
  check_relu<int32_t>();
  check_mixed_axpy();
  check_and_or<uint8_t>();
  check_bits<int16_t>();
  check_bits<uint16_t>();
  check_bits<int32_t>();
  check_bits<uint32_t>();
  check_duplicate<half>();
  check_duplicate<bfloat16_t>();
  check_duplicate<float>();
  check_duplicate<int8_t>();
  check_duplicate<uint8_t>();
  check_duplicate<int16_t>();
  check_duplicate<uint16_t>();
  check_duplicate<int32_t>();
  check_duplicate<uint32_t>();
  check_duplicate<int64_t>();
  check_duplicate<uint64_t>();
}

const cells::Family kFamily(&compare_all);

TEST_F(KernelVector, EveryInstructionEqualsALoopOverElements) { kFamily.run(); }

}  // namespace
