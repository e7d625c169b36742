#include "base/small_vector.h"

#include <gtest/gtest.h>

#include <numeric>
#include <utility>
#include <vector>

namespace {

using Small = softnpu::SmallVector<int, 4>;

Small counted(int count) {
  Small created;
  for (int i = 0; i < count; ++i) created.push_back(i);
  return created;
}

std::vector<int> values(const Small& from) { return {from.begin(), from.end()}; }

std::vector<int> counted_values(int count) {
  std::vector<int> created(static_cast<size_t>(count));
  std::iota(created.begin(), created.end(), 0);
  return created;
}

class SmallVectorTest : public ::testing::TestWithParam<int> {};

TEST_P(SmallVectorTest, IsAVector) {
  Small small = counted(GetParam());
  const std::vector<int> expected = counted_values(GetParam());
  EXPECT_EQ(values(small), expected);
  EXPECT_EQ(small.size(), expected.size());
  EXPECT_EQ(small.empty(), expected.empty());
  const auto* self = reinterpret_cast<const char*>(&small);
  const auto* data = reinterpret_cast<const char*>(small.data());
  EXPECT_EQ(data >= self && data < self + sizeof small, GetParam() <= 4);

  Small copy = small;
  EXPECT_EQ(copy, small);
  copy.push_back(7);
  EXPECT_NE(copy, small);
  EXPECT_EQ(copy.back(), 7);
  EXPECT_EQ(values(small), expected);
  copy = small;
  EXPECT_EQ(copy, small);

  Small moved = std::move(copy);
  EXPECT_EQ(moved, small);
  EXPECT_TRUE(copy.empty());  // NOLINT(bugprone-use-after-move): it says so
  copy.push_back(3);
  EXPECT_EQ(values(copy), std::vector<int>{3});
  copy = std::move(moved);
  EXPECT_EQ(copy, small);
  copy.resize(12, 9);
  EXPECT_EQ(copy.size(), 12);
  EXPECT_EQ(copy[11], 9);
  copy.resize(2);
  copy.pop_back();
  copy.clear();
  EXPECT_TRUE(copy.empty());
}

TEST_P(SmallVectorTest, ConstructsAndAssignsFromRanges) {
  const std::vector<int> expected = counted_values(GetParam());
  EXPECT_EQ(values(Small(expected)), expected);
  EXPECT_EQ(values(Small(expected.begin(), expected.end())), expected);
  EXPECT_EQ(Small(static_cast<size_t>(GetParam()), 5).size(), expected.size());
  Small assigned = counted(9);
  assigned.assign(expected.begin(), expected.end());
  EXPECT_EQ(values(assigned), expected);
  EXPECT_EQ((Small{3, 4}), (Small{3, 4}));
}

INSTANTIATE_TEST_SUITE_P(InlineAndOnTheHeap, SmallVectorTest, ::testing::Values(0, 1, 3, 4, 5, 11));

}  // namespace
