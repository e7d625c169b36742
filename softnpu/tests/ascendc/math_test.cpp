// The mathematical functions of whole tensors against the C++ library in double.

#include <cmath>
#include <iterator>

#include "ascendc/cells.h"
#include "ascendc/local_memory.h"
#include "ascendc/vector_memory.h"

namespace {

using namespace AscendC;

class KernelMath : public VectorTest {
 public:
  using VectorTest::in_kernel;
};

constexpr uint32_t kCount = 3000;

// Numbers over the whole range of float: all exponents, angles up to the largest, and special values.
float argument(uint32_t i) {
  constexpr float kSpecial[] = {0.0F,       -0.0F,       1.0F,       -1.0F,      INFINITY,   -INFINITY,     NAN,
                                0.5F,       2.5F,        3.5F,       -2.5F,      1e-45F,     3.4028235e38F, 1.5707964F,
                                3.1415927F, 16367173e5F, 6.2831855F, 1048576.0F, 1048577.0F, 0.99999994F,   1.0000001F};
  if (i < std::size(kSpecial)) return kSpecial[i];
  const uint32_t mixed = i * 2654435761U;
  if (i % 3 == 0) {
    float value;
    std::memcpy(&value, &mixed, sizeof(value));
    return value;
  }
  return static_cast<float>(static_cast<int32_t>(mixed)) * (i % 3 == 1 ? 0x1p-29F : 0x1p-20F);
}

// Units in the last place of float between a result and the exact one.
double distance(float value, double exact) {
  const auto near = static_cast<float>(exact);
  if (near != near || value != value) return near != near && value != value ? 0 : 1e9;
  if (value == near) return std::signbit(value) == std::signbit(near) ? 0 : 1e9;
  if (std::isinf(value) || std::isinf(near)) return 1e9;
  const double unit = std::ldexp(1.0, std::max(std::ilogb(near == 0 ? 1e-45F : near) - 23, -149));
  return std::fabs(static_cast<double>(value) - exact) / unit;
}
double distance(half value, double exact) {
  const auto near = static_cast<half>(static_cast<float>(exact));  // the test's arguments meet no double rounding
  if (near != near && value != value) return 0;
  return std::memcmp(&value, &near, sizeof(half)) == 0 ? 0 : 1e9;
}

template <typename T>
struct Function {
  const char* name;
  double (*exact)(double);
  void (*count)(const LocalTensor<T>&, const LocalTensor<T>&, uint32_t, const std::source_location&);
  void (*whole)(const LocalTensor<T>&, const LocalTensor<T>&, const std::source_location&);
  void (*count_work)(const LocalTensor<T>&, const LocalTensor<T>&, const LocalTensor<uint8_t>&, uint32_t,
                     const std::source_location&);
  void (*whole_work)(const LocalTensor<T>&, const LocalTensor<T>&, const LocalTensor<uint8_t>&,
                     const std::source_location&);
};

double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
double tangent(double x) { return std::tan(x); }

template <typename T>
const std::vector<Function<T>>& functions() {
  static const std::vector<Function<T>> all = {
      {"Sin", [](double x) { return std::sin(x); }, &Sin<T>, &Sin<T>, &Sin<T>, &Sin<T>},
      {"Cos", [](double x) { return std::cos(x); }, &Cos<T>, &Cos<T>, &Cos<T>, &Cos<T>},
      {"Tan", &tangent, &Tan<T>, &Tan<T>, &Tan<T>, &Tan<T>},
      {"Atan", [](double x) { return std::atan(x); }, &Atan<T>, &Atan<T>, &Atan<T>, &Atan<T>},
      {"Log", [](double x) { return std::log(x); }, &Log<T>, &Log<T>, &Log<T>, &Log<T>},
      {"Sign", &sign, &Sign<T>, &Sign<T>, &Sign<T>, &Sign<T>},
      {"Ceil", [](double x) { return std::ceil(x); }, &Ceil<T>, &Ceil<T>, &Ceil<T>, &Ceil<T>},
      {"Floor", [](double x) { return std::floor(x); }, &Floor<T>, &Floor<T>, &Floor<T>, &Floor<T>},
      {"Round", [](double x) { return std::nearbyint(x); }, &Round<T>, &Round<T>, &Round<T>, &Round<T>},
      {"Trunc", [](double x) { return std::trunc(x); }, &Trunc<T>, &Trunc<T>, &Trunc<T>, &Trunc<T>},
  };
  return all;
}

template <typename T>
struct Tensors {
  TPipe pipe;
  TBuf<> buffer;
  LocalTensor<T> from, to;
  LocalTensor<uint8_t> work;
  Tensors() {
    pipe.InitBuffer(buffer, 4 * (kCount + 40) * sizeof(T));
    from = buffer.Get<T>();
    to = from[kCount + 8];
    work = from[3 * (kCount + 24)].template ReinterpretCast<uint8_t>();
    from.SetSize(kCount);
    for (uint32_t i = 0; i < kCount; ++i) {
      from(i) = static_cast<T>(argument(i));
    }
    wait_for_pipes();
  }
};

// What is wrong with the first `count` results, and with what lies behind them.
template <typename T, typename Exact>
std::string wrong(const std::string& name, const std::string& variant, const Tensors<T>& t, uint32_t count,
                  const Exact& exact) {
  wait_for_pipes();
  for (uint32_t i = 0; i < count; ++i) {
    if (distance(t.to(i), exact(i)) > 1)
      return name + " of " + std::to_string(static_cast<double>(t.from(i))) + " is " +
             std::to_string(static_cast<double>(t.to(i))) + ", not " + std::to_string(exact(i)) + "\n";
  }
  if (t.to(count) != T(9)) return name + " writes behind its end\n";
  cells::record(name, variant, cells::type_name<T>(), false);
  return "";
}

constexpr const char* kForms[] = {"count", "whole", "count-work", "whole-work"};

template <typename T>
std::string check_functions() {
  std::string found;
  const auto here = std::source_location::current();
  for (const Function<T>& f : functions<T>()) {
    for (int variant = 0; variant < 4; ++variant) {
      for (const uint32_t count : {1U, 64U, 1001U, kCount}) {
        const bool whole = variant % 2 == 1;
        if (whole && count != kCount) continue;
        Tensors<T> t;
        t.to(count) = T(9);
        if (variant == 0) f.count(t.to, t.from, count, here);
        if (variant == 1) f.whole(t.to, t.from, here);
        if (variant == 2) f.count_work(t.to, t.from, t.work, count, here);
        if (variant == 3) f.whole_work(t.to, t.from, t.work, here);
        found += wrong(f.name, kForms[variant], t, count,
                       [&](uint32_t i) { return f.exact(static_cast<double>(t.from(i))); });
      }
    }
  }
  return found;
}

template <typename T>
std::string check_pairs() {
  std::string found;
  for (const float exponent : {2.0F, 2.5F, -1.0F, 0.0F}) {
    Tensors<T> t;
    t.to(1500) = T(9);
    Power(t.to, t.from, exponent, 1500);
    found += wrong("Power", "count", t, 1500,
                   [&](uint32_t i) { return std::pow(static_cast<double>(t.from(i)), exponent); });
  }
  for (const bool is_max : {true, false}) {
    {
      Tensors<T> t;
      t.to(1500) = T(9);
      if (is_max)
        ClampMax(t.to, t.from, 0.25F, 1500);
      else
        ClampMin(t.to, t.from, 0.25F, 1500);
      found += wrong(is_max ? "ClampMax" : "ClampMin", "count", t, 1500, [&](uint32_t i) {
        const auto x = static_cast<double>(t.from(i));
        return x != x ? x : is_max ? std::min(x, 0.25) : std::max(x, 0.25);
      });
    }
  }
  for (const uint32_t count : {1U, 1001U}) {
    Tensors<T> t;
    t.to(count) = T(9);
    const LocalTensor<T> divisor = t.from[1024];  // in its block of 32 bytes
    Fmod(t.to, t.from, divisor, count);
    found += wrong("Fmod", "count", t, count, [&](uint32_t i) {
      return std::fmod(static_cast<double>(t.from(i)), static_cast<double>(divisor(i)));
    });
  }
  return found;
}

void compare_all() {
  std::string found;
  KernelMath::in_kernel(
      [&] { found = check_functions<float>() + check_functions<half>() + check_pairs<float>() + check_pairs<half>(); });
  EXPECT_EQ(found, "");
}

const cells::Family kFamily(&compare_all);

TEST_F(KernelMath, FunctionsAreRoundedOnce) { kFamily.run(); }

// The functions behind kTrunc have a number, and their own test.
TEST_F(KernelMath, HasACaseForEachFunction) {
  using softnpu::kernel::MathInstruction;
  EXPECT_EQ(functions<float>().size(), static_cast<size_t>(MathInstruction::Function::kPower));
  EXPECT_EQ(static_cast<int>(MathInstruction::Function::kFmod),
            static_cast<int>(MathInstruction::Function::kPower) + 3);
}

}  // namespace
