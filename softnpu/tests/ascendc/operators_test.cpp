// Operators of tensors against loops over elements.

#include "ascendc/cells.h"
#include "ascendc/local_memory.h"
#include "ascendc/vector_memory.h"

namespace {

using namespace AscendC;

class KernelOperators : public VectorTest {
 public:
  using VectorTest::in_kernel;
};

constexpr uint32_t kElements = 320;

template <typename T>
struct Tensors {
  TPipe pipe;
  TBuf<> first, second, result, bits;
  LocalTensor<T> a, b, c;
  LocalTensor<uint8_t> mask;
  Tensors() {
    for (TBuf<>* buffer : {&first, &second, &result, &bits}) pipe.InitBuffer(*buffer, kElements * sizeof(T));
    a = first.Get<T>();
    b = second.Get<T>();
    c = result.Get<T>();
    mask = bits.Get<uint8_t>();
    for (uint32_t i = 0; i < kElements; ++i) {
      a(i) = test_value<T>(i, 1);
      b(i) = test_value<T>(i, 4);
    }
    wait_for_pipes();
  }
  template <typename Selection>
  std::string wrong(const char* name, const Selection& want) {
    wait_for_pipes();
    for (uint32_t i = 0; i < kElements; ++i) {
      if (!is_same(c.GetValue(i), static_cast<T>(want(a.GetValue(i), b.GetValue(i)))))
        return name + std::to_string(i) + " ";
    }
    cells::record(std::string("operator") + name, "tensors", cells::type_name<T>(), false);
    return "";
  }
  template <typename Selection>
  std::string wrong_bits(const char* name, const Selection& want) {
    wait_for_pipes();
    for (uint32_t i = 0; i < kElements; ++i) {
      if ((mask.GetValue(i / 8) >> (i % 8) & 1) != want(a.GetValue(i), b.GetValue(i)))
        return name + std::to_string(i) + " ";
    }
    cells::record(std::string("operator") + name, "tensors", cells::type_name<T>(), false);
    return "";
  }
};

template <typename T>
std::string computes() {
  Tensors<T> t;
  std::string wrong;
  t.c = t.a + t.b;
  wrong += t.wrong("+", [](T a, T b) { return a + b; });
  t.c = t.a - t.b;
  wrong += t.wrong("-", [](T a, T b) { return a - b; });
  t.c = t.a * t.b;
  wrong += t.wrong("*", [](T a, T b) { return a * b; });
  if constexpr (std::is_integral_v<T>) {
    t.c = t.a & t.b;
    wrong += t.wrong("&", [](T a, T b) { return a & b; });
  } else {
    t.c = t.a / t.b;
    wrong += t.wrong("/", [](T a, T b) { return a / b; });
  }
  return wrong;
}

template <typename T>
std::string computes_bits() {
  Tensors<T> t;
  t.c = t.a & t.b;
  return t.wrong("&", [](T a, T b) { return a & b; });
}

template <typename T>
std::string compares() {
  Tensors<T> t;
  std::string wrong;
  t.mask = t.a < t.b;
  wrong += t.wrong_bits("<", [](T a, T b) { return a < b; });
  t.mask = t.a <= t.b;
  wrong += t.wrong_bits("<=", [](T a, T b) { return a <= b; });
  t.mask = t.a == t.b;
  wrong += t.wrong_bits("==", [](T a, T b) { return a == b; });
  return wrong;
}

void compare_all() {
  for (auto* body :
       {&computes<float>, &computes<half>, &computes<int16_t>, &computes<int32_t>, &computes_bits<uint16_t>,
        &computes_bits<uint32_t>, &compares<float>, &compares<half>, &compares<int32_t>}) {
    std::string wrong;
    KernelOperators::in_kernel([&] { wrong = body(); });
    EXPECT_EQ(wrong, "");
  }
}

const cells::Family kFamily(&compare_all);

TEST_F(KernelOperators, EqualALoopOverElements) { kFamily.run(); }

TEST_F(KernelOperators, ComputeTheElementsThatAllHave) {
  float last = 0, behind = 0;
  in_kernel([&] {
    Tensors<float> t;
    Duplicate(t.a, 2.0F, kElements);
    Duplicate(t.c, 7.0F, kElements);
    LocalTensor<float> part = t.c;
    part.SetSize(100);
    part = t.a + t.a;
    last = t.c.GetValue(99);
    behind = t.c.GetValue(100);
  });
  EXPECT_EQ(last, 4);
  EXPECT_EQ(behind, 7);
}

TEST_F(KernelOperators, AnErrorNamesTheirLine) {
  const std::function<void()> body = [] {
    Tensors<uint32_t> t;
    t.c = t.a + t.b;  // no addition of this type
  };
  const uint32_t line = __LINE__ - 2;
  EXPECT_NE(run("vector", 1, Arguments{&body}, Call()), ACL_SUCCESS);
  EXPECT_NE(recent_error().find("operators_test.cpp:" + std::to_string(line)), std::string::npos) << recent_error();
}

}  // namespace
