#include "base/inline_function.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <utility>

namespace {

using Function = softnpu::InlineFunction<int(int), 32>;

// A callable of some size that counts its live instances.
template <size_t Bytes>
struct Adds {
  std::shared_ptr<int> lives;
  std::array<char, Bytes> more{};
  int operator()(int number) const { return number + *lives; }
};

template <size_t Bytes>
void expect_owns_one() {
  auto lives = std::make_shared<int>(5);
  EXPECT_EQ(Function::holds_inline<Adds<Bytes>>(), sizeof(Adds<Bytes>) <= 32);
  {
    Function first(Adds<Bytes>{lives});
    EXPECT_EQ(lives.use_count(), 2);
    EXPECT_TRUE(first);
    EXPECT_EQ(first(2), 7);
    Function second(std::move(first));
    EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): it says so
    EXPECT_EQ(second(3), 8);
    EXPECT_EQ(lives.use_count(), 2);
    first = std::move(second);
    EXPECT_EQ(first(4), 9);
    first = Adds<Bytes>{lives};
    EXPECT_EQ(lives.use_count(), 2);
    Function& same = first;
    first = std::move(same);
    EXPECT_EQ(first(1), 6);
    second = nullptr;
    EXPECT_FALSE(second);
  }
  EXPECT_EQ(lives.use_count(), 1);
}

TEST(InlineFunctionTest, OwnsASmallCallable) { expect_owns_one<8>(); }
TEST(InlineFunctionTest, OwnsALargeCallable) { expect_owns_one<200>(); }

TEST(InlineFunctionTest, AcceptsMoveOnlyCallables) {
  const Function unique([number = std::make_unique<int>(4)](int more) { return *number + more; });
  EXPECT_EQ(unique(3), 7);
}

TEST(InlineFunctionTest, CallableWithAThrowingMoveIsOnTheHeap) {
  struct Throws {
    Throws() = default;
    Throws(const Throws&) {}
    int operator()(int number) const { return number; }
  };
  EXPECT_FALSE(Function::holds_inline<Throws>());
  Function function{Throws()};
  const Function moved = std::move(function);
  EXPECT_EQ(moved(3), 3);
}

TEST(InlineFunctionTest, PassesReferencesAndExceptionsOn) {
  const softnpu::InlineFunction<void(int&), 16> grows([](int& number) { ++number; });
  int number = 1;
  grows(number);
  EXPECT_EQ(number, 2);
  const Function throws([](int) -> int { throw std::runtime_error("on purpose"); });
  EXPECT_THROW(throws(1), std::runtime_error);
}

TEST(InlineFunctionTest, TargetReturnsTheInlineCallable) {
  struct Answer {
    int value;
    int operator()(int more) const { return value + more; }
  };
  const Function function(Answer{42});
  ASSERT_NE(function.target<Answer>(), nullptr);
  EXPECT_EQ(function.target<Answer>()->value, 42);
  const Function other([](int value) { return value; });
  EXPECT_EQ(other.target<Answer>(), nullptr);
  EXPECT_EQ(Function().target<Answer>(), nullptr);
}

}  // namespace
