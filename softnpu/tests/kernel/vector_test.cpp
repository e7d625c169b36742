// Every elementwise vector instruction x form x type x strides, compared with a loop over elements.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cfloat>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "kernel/kernel_run.h"
#include "kernel/vector_reference.h"
#include "kernel_operator.h"

namespace {

using namespace AscendC;
using softnpu::kernel::VectorOp;
using namespace vector_reference;

class KernelVector : public KernelTest {
 public:
  using KernelTest::recent_error;
  using KernelTest::run;
};

// One way to say which elements an instruction computes.
struct Form {
  enum class Kind { kCount, kMask, kBits, kCounter } kind;
  uint64_t mask[2];
  uint8_t repeats;
  uint8_t blocks[3];  // strides of destination and sources
  uint8_t repeat_steps[3];
};
constexpr Form kForms[] = {
    {Form::Kind::kCount, {1000, 0}, 0, {1, 1, 1}, {8, 8, 8}},
    {Form::Kind::kCount, {3, 0}, 0, {1, 1, 1}, {8, 8, 8}},
    {Form::Kind::kMask, {~0ULL, 0}, 5, {1, 1, 1}, {8, 8, 8}},  // as many as a repeat has
    {Form::Kind::kMask, {21, 0}, 4, {1, 1, 1}, {8, 8, 8}},
    {Form::Kind::kMask, {~0ULL, 0}, 3, {2, 1, 3}, {17, 9, 24}},
    {Form::Kind::kMask, {37, 0}, 6, {1, 0, 1}, {8, 0, 8}},  // one block for all
    {Form::Kind::kBits, {0xa5a50ff0a5a5f00f, 0x8000000000000101}, 3, {1, 1, 1}, {8, 8, 8}},
    {Form::Kind::kBits, {0x5555555555555555, 0x5555555555555555}, 2, {1, 2, 1}, {8, 16, 9}},
    {Form::Kind::kCounter, {333, 0}, 0, {1, 1, 1}, {8, 8, 8}},
};
constexpr uint32_t kBytes = 16384;  // of each operand

// The elements of a repeat of which the widest operand has `bytes` bytes.
uint32_t lanes_for(uint32_t bytes) { return 256 / bytes; }

// Calls `element(destination, sources...)`, indices, for each element that `form` names.
void for_each(const Form& form, uint32_t widest, const uint32_t (&bytes)[3],
              const std::function<void(const uint64_t (&)[3])>& element) {
  const uint32_t lanes = lanes_for(widest);
  const bool has_count = form.kind == Form::Kind::kCount || form.kind == Form::Kind::kCounter;
  const uint64_t total = has_count ? form.mask[0] : uint64_t{form.repeats} * lanes;
  for (uint64_t i = 0; i < total; ++i) {
    const uint64_t lane = i % lanes;
    if (form.kind == Form::Kind::kMask && lane >= form.mask[0]) continue;
    if (form.kind == Form::Kind::kBits && (form.mask[lane / 64] >> lane % 64 & 1) == 0) continue;
    uint64_t at[3];
    for (int k = 0; k < 3; ++k) {
      const uint64_t offset = lane * bytes[k];
      at[k] = form.kind == Form::Kind::kCount
                  ? i
                  : ((i / lanes * form.repeat_steps[k] + offset / 32 * form.blocks[k]) * 32 + offset % 32) / bytes[k];
    }
    element(at);
  }
}

template <typename D, typename S>
struct Operands {
  std::vector<D> held;
  std::vector<S> first;
  std::vector<S> second;
  std::vector<D> result;
};

// Runs `call(destination, first, second, form)` on copies of the operands in local memory.
template <typename D, typename S, typename Call>
void run_local(Operands<D, S>* operands, const Form& form, const Call& call) {
  TPipe pipe;
  TBuf<> buffer;
  pipe.InitBuffer(buffer, 3 * kBytes);
  auto destination = buffer.Get<uint8_t>().template ReinterpretCast<D>();
  auto first = buffer.Get<uint8_t>()[kBytes].template ReinterpretCast<S>();
  auto second = buffer.Get<uint8_t>()[2 * kBytes].template ReinterpretCast<S>();
  auto* out = reinterpret_cast<D*>(destination.GetPhyAddr());
  std::copy(operands->held.begin(), operands->held.end(), out);
  std::copy(operands->first.begin(), operands->first.end(), reinterpret_cast<S*>(first.GetPhyAddr()));
  std::copy(operands->second.begin(), operands->second.end(), reinterpret_cast<S*>(second.GetPhyAddr()));
  if (form.kind == Form::Kind::kCounter) SetVectorMask<D, MaskMode::COUNTER>(0);
  call(destination, first, second, form);
  SetMaskNorm();
  operands->result.assign(out, out + kBytes / sizeof(D));
}

// The opcodes that were compared.
std::set<VectorOp>& seen() {
  static std::set<VectorOp> ops;
  return ops;
}

template <typename D, typename S>
struct Case {
  const char* name;
  VectorOp op;
  double ulps;  // of the destination's type
  std::function<void(const LocalTensor<D>&, const LocalTensor<S>&, const LocalTensor<S>&, const Form&)> call;
  std::function<D(D held, S a, S b)> want;
};

template <typename D, typename S>
struct CaseArguments {
  const Case<D, S>* tested;
  Operands<D, S>* operands;
  const Form* form;
};

template <typename D, typename S>
void check(const Case<D, S>& tested) {
  seen().insert(tested.op);
  const uint32_t widest = std::max(sizeof(D), sizeof(S));
  for (const Form& given : kForms) {
    Form form = given;
    if (form.kind == Form::Kind::kMask) form.mask[0] = std::min<uint64_t>(form.mask[0], lanes_for(widest));
    if (form.kind == Form::Kind::kBits && lanes_for(widest) <= 64) {
      form.mask[1] = 0;
      if (lanes_for(widest) < 64) form.mask[0] &= (1ULL << lanes_for(widest)) - 1;
    }
    Operands<D, S> operands{
        values<D>(kBytes / sizeof(D), 1), values<S>(kBytes / sizeof(S), 2), values<S>(kBytes / sizeof(S), 3), {}};
    const CaseArguments<D, S> arguments{&tested, &operands, &form};
    ASSERT_EQ((KernelVector::run("vector", 1, arguments,
                                 [](const CaseArguments<D, S>& a) { run_local(a.operands, *a.form, a.tested->call); })),
              ACL_SUCCESS)
        << tested.name << ": " << KernelVector::recent_error();
    std::vector<D> want = operands.held;
    const uint32_t bytes[3] = {sizeof(D), sizeof(S), sizeof(S)};
    for_each(form, widest, bytes, [&](const uint64_t(&at)[3]) {
      want[at[0]] = tested.want(want[at[0]], operands.first[at[1]], operands.second[at[2]]);
    });
    for (size_t i = 0; i < want.size(); ++i) {
      ASSERT_LE(distance(operands.result[i], want[i]), tested.ulps)
          << tested.name << ", form " << &given - kForms << ", element " << i << ": "
          << static_cast<double>(operands.result[i]) << " instead of " << static_cast<double>(want[i]) << " of "
          << static_cast<double>(operands.first[i % operands.first.size()]) << " and "
          << static_cast<double>(operands.second[i % operands.second.size()]);
    }
  }
}

// The forms of one name as one call.
#define BINARY(Name)                                                                                             \
  [](const auto& to, const auto& a, const auto& b, const Form& f) {                                              \
    const BinaryRepeatParams params(f.blocks[0], f.blocks[1], f.blocks[2], f.repeat_steps[0], f.repeat_steps[1], \
                                    f.repeat_steps[2]);                                                          \
    if (f.kind == Form::Kind::kCount) return Name(to, a, b, static_cast<int32_t>(f.mask[0]));                    \
    if (f.kind == Form::Kind::kBits) return Name(to, a, b, f.mask, f.repeats, params);                           \
    return Name(to, a, b, f.mask[0], f.repeats, params);                                                         \
  }
#define UNARY(Name, ...)                                                                                              \
  [](const auto& to, const auto& a, const auto&, const Form& f) {                                                     \
    const UnaryRepeatParams params(f.blocks[0], f.blocks[1], f.repeat_steps[0], f.repeat_steps[1]);                   \
    if (f.kind == Form::Kind::kCount) return Name(to, a __VA_OPT__(, ) __VA_ARGS__, static_cast<int32_t>(f.mask[0])); \
    if (f.kind == Form::Kind::kBits) return Name(to, a __VA_OPT__(, ) __VA_ARGS__, f.mask, f.repeats, params);        \
    return Name(to, a __VA_OPT__(, ) __VA_ARGS__, f.mask[0], f.repeats, params);                                      \
  }

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
  check<T, T>({"Add", VectorOp::kAdd, 0, BINARY(Add), two([](W a, W b) { return a + b; })});
  check<T, T>({"Sub", VectorOp::kSub, 0, BINARY(Sub), two([](W a, W b) { return a - b; })});
  check<T, T>({"Mul", VectorOp::kMul, 0, BINARY(Mul), two([](W a, W b) { return a * b; })});
  check<T, T>({"Max", VectorOp::kMax, 1, BINARY(Max), [](T, T a, T b) { return largest(a, b); }});
  check<T, T>({"Min", VectorOp::kMin, 1, BINARY(Min), [](T, T a, T b) { return smallest(a, b); }});
  check<T, T>({"Adds", VectorOp::kAdds, 0, UNARY(Adds, T(3)), [](T, T a, T) { return narrow<T>(W(a) + 3); }});
  check<T, T>({"Muls", VectorOp::kMuls, 0, UNARY(Muls, T(3)), [](T, T a, T) { return narrow<T>(W(a) * 3); }});
  check<T, T>({"Maxs", VectorOp::kMaxs, 1, UNARY(Maxs, T(3)), [](T, T a, T) { return largest(a, T(3)); }});
  check<T, T>({"Mins", VectorOp::kMins, 1, UNARY(Mins, T(3)), [](T, T a, T) { return smallest(a, T(3)); }});
}

template <typename T>
void check_real() {
  const auto one = [](auto function) {
    return [function](T, T a, T) { return static_cast<T>(function(static_cast<double>(a))); };
  };
  check<T, T>({"Div", VectorOp::kDiv, 0, BINARY(Div), [](T, T a, T b) { return T(double(a) / double(b)); }});
  check<T, T>({"Abs", VectorOp::kAbs, 0, UNARY(Abs), one([](double a) { return std::fabs(a); })});
  check<T, T>({"Sqrt", VectorOp::kSqrt, 0, UNARY(Sqrt), one([](double a) { return std::sqrt(a); })});
  check<T, T>({"Exp", VectorOp::kExp, 1, UNARY(Exp), one([](double a) { return std::exp(a); })});
  check<T, T>({"Relu", VectorOp::kRelu, 1, UNARY(Relu), [](T, T a, T) { return a < 0 ? T(0) : a; }});
  // Float32: fused, rounded once. Half: the sum is rounded to float32 first.
  const double fused = std::is_same_v<T, half> ? 1 : 0;
  const auto fma = [](T a, T b, T c) {
    return std::is_same_v<T, half> ? T(double(a) * double(b) + double(c)) : T(std::fma(float(a), float(b), float(c)));
  };
  check<T, T>(
      {"MulAddDst", VectorOp::kMulAddDst, fused, BINARY(MulAddDst), [fma](T c, T a, T b) { return fma(a, b, c); }});
  check<T, T>(
      {"Axpy", VectorOp::kAxpy, fused, UNARY(Axpy, T(1.25)), [fma](T c, T a, T) { return fma(a, T(1.25), c); }});
}

template <typename T>
void check_bits() {
  check<T, T>({"And", VectorOp::kAnd, 0, BINARY(And), [](T, T a, T b) { return T(a & b); }});
  check<T, T>({"Or", VectorOp::kOr, 0, BINARY(Or), [](T, T a, T b) { return T(a | b); }});
  check<T, T>({"Not", VectorOp::kNot, 0, UNARY(Not), [](T, T a, T) { return T(~a); }});
  check<T, T>({"ShiftLeft", VectorOp::kShiftLeft, 0, UNARY(ShiftLeft, T(3)),
               [](T, T a, T) { return T(std::make_unsigned_t<T>(a) << 3); }});
  check<T, T>({"ShiftRight", VectorOp::kShiftRight, 0, UNARY(ShiftRight, T(3)), [](T, T a, T) { return T(a >> 3); }});
}

template <typename T>
void check_duplicate() {
  const auto call = [](const auto& to, const auto&, const auto&, const Form& f) {
    if (f.kind == Form::Kind::kCount) return Duplicate(to, T(7), static_cast<int32_t>(f.mask[0]));
    if (f.kind == Form::Kind::kBits) return Duplicate(to, T(7), f.mask, f.repeats, f.blocks[0], f.repeat_steps[0]);
    return Duplicate(to, T(7), f.mask[0], f.repeats, f.blocks[0], f.repeat_steps[0]);
  };
  check<T, T>({"Duplicate", VectorOp::kDuplicate, 0, call, [](T, T, T) { return T(7); }});
}

// The integers and half integers round as the mode says; a number between two of T's becomes one of these.
template <typename To>
To rounded(double value, RoundMode mode) {
  const auto whole = [mode](double x) {
    switch (mode) {
      case RoundMode::CAST_FLOOR: return std::floor(x);
      case RoundMode::CAST_CEIL: return std::ceil(x);
      case RoundMode::CAST_ROUND: return std::round(x);
      case RoundMode::CAST_TRUNC: return std::trunc(x);
      case RoundMode::CAST_NONE:
      case RoundMode::CAST_RINT: break;
    }
    return std::nearbyint(x);
  };
  if constexpr (is_real<To>) {
    // Of the two neighbours the one on the mode's side, found by walking from the nearest one.
    const To nearest = static_cast<To>(value);
    if (mode == RoundMode::CAST_NONE || mode == RoundMode::CAST_RINT || static_cast<double>(nearest) == value ||
        std::isnan(value))
      return nearest;
    const double target = mode == RoundMode::CAST_TRUNC ? 0 : mode == RoundMode::CAST_FLOOR ? -INFINITY : INFINITY;
    const bool is_beyond = target < value ? static_cast<double>(nearest) > value : static_cast<double>(nearest) < value;
    if (!is_beyond) return nearest;
    // The next representable number towards `target`, by its bits.
    using Bits = std::conditional_t<sizeof(To) == 2, uint16_t, uint32_t>;
    auto bits = std::bit_cast<Bits>(nearest);
    const bool grows = (target > value) != std::signbit(static_cast<double>(nearest));
    bits = static_cast<Bits>(grows ? bits + 1 : bits - 1);
    return std::bit_cast<To>(bits);
  } else {
    if (std::isnan(value)) return 0;
    const double near = whole(value);
    if (near <= static_cast<double>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    if (near >= static_cast<double>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    return static_cast<To>(near);
  }
}

template <typename To, typename From>
void check_cast() {
  for (const RoundMode mode : {RoundMode::CAST_NONE, RoundMode::CAST_RINT, RoundMode::CAST_FLOOR, RoundMode::CAST_CEIL,
                               RoundMode::CAST_ROUND, RoundMode::CAST_TRUNC}) {
    // To floating-point types ROUND differs from RINT in ties only, which integers wider than the type have.
    if (mode == RoundMode::CAST_ROUND && is_real<To>) continue;
    const auto call = [mode](const auto& to, const auto& a, const auto&, const Form& f) {
      const UnaryRepeatParams params(f.blocks[0], f.blocks[1], f.repeat_steps[0], f.repeat_steps[1]);
      if (f.kind == Form::Kind::kCount) return Cast(to, a, mode, static_cast<uint32_t>(f.mask[0]));
      if (f.kind == Form::Kind::kBits) return Cast(to, a, mode, f.mask, f.repeats, params);
      return Cast(to, a, mode, f.mask[0], f.repeats, params);
    };
    check<To, From>({"Cast", VectorOp::kCast, 0, call,
                     [mode](To, From a, From) { return rounded<To>(static_cast<double>(a), mode); }});
  }
}

TEST_F(KernelVector, EveryInstructionEqualsALoopOverElements) {
  check_cast<half, float>();
  check_cast<float, half>();
  check_cast<int32_t, float>();
  check_cast<float, int32_t>();
  check_cast<int16_t, float>();
  check_cast<float, int16_t>();
  check_cast<int8_t, half>();
  check_cast<uint8_t, half>();
  check_cast<half, uint8_t>();
  check_cast<half, int32_t>();
  check_cast<int16_t, half>();
  check_cast<int64_t, float>();
  check_arithmetic<float>();
  check_arithmetic<half>();
  check_arithmetic<int16_t>();
  check_arithmetic<int32_t>();
  check_real<float>();
  check_real<half>();
  check_bits<int16_t>();
  check_bits<uint16_t>();
  check_bits<int32_t>();
  check_bits<uint32_t>();
  check_duplicate<float>();
  check_duplicate<half>();
  check_duplicate<int16_t>();
  check_duplicate<uint32_t>();
  EXPECT_EQ(seen().size(), static_cast<size_t>(VectorOp::kCount));
}

}  // namespace
