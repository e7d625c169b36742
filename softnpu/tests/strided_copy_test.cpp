// Copies between views of every kind, against an element-by-element reference; memory between the elements must not
// change.

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "acl_fixture.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_inplace_copy.h"
#include "instruction_sets.h"

namespace {

using Sizes = std::vector<int64_t>;

struct Layout {
  Sizes strides;  // in elements
  int64_t offset = 0;

  int64_t extent(const Sizes& sizes) const {
    int64_t last = offset;
    for (size_t i = 0; i < sizes.size(); ++i) last += (sizes[i] - 1) * strides[i];
    return last + 1;
  }
};

// Dimensions in memory order `order`, outermost first, each followed by `gap` elements.
Layout dense(const Sizes& sizes, const std::vector<size_t>& order, int64_t offset = 0, int64_t gap = 0) {
  Layout layout{Sizes(sizes.size()), offset};
  int64_t stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    layout.strides[order[i]] = stride;
    stride *= sizes[order[i]] + gap;
  }
  return layout;
}

struct Element {
  aclDataType dtype;
  size_t size;
};
constexpr Element kElements[] = {
    {ACL_UINT8, 1}, {ACL_FLOAT16, 2}, {ACL_FLOAT, 4}, {ACL_INT64, 8}, {ACL_COMPLEX128, 16}};

class StridedCopyTest : public AclTest {
 protected:
  void check(const Element& element, const Sizes& sizes, const Layout& to, const Layout& from) {
    SCOPED_TRACE(testing::Message() << element.size << " bytes, sizes " << testing::PrintToString(sizes));
    const std::vector<char> source = drawn(static_cast<size_t>(from.extent(sizes)) * element.size);
    const std::vector<char> before = drawn(static_cast<size_t>(to.extent(sizes)) * element.size);
    std::vector<char> expected = before;
    copy(element.size, sizes, 0, to.offset, from.offset, to, from, &expected, source);
    void* memory[2];
    ASSERT_EQ(aclrtMalloc(&memory[0], before.size(), ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    ASSERT_EQ(aclrtMalloc(&memory[1], source.size(), ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemcpy(memory[1], source.size(), source.data(), source.size(), ACL_MEMCPY_HOST_TO_DEVICE),
              ACL_SUCCESS);
    aclTensor* target = tensor(element, sizes, to, memory[0]);
    aclTensor* origin = tensor(element, sizes, from, memory[1]);
    for_each_instruction_set([&] {
      ASSERT_EQ(aclrtMemcpy(memory[0], before.size(), before.data(), before.size(), ACL_MEMCPY_HOST_TO_DEVICE),
                ACL_SUCCESS);
      uint64_t bytes = 0;
      aclOpExecutor* executor = nullptr;
      ASSERT_EQ(aclnnInplaceCopyGetWorkspaceSize(target, origin, &bytes, &executor), ACL_SUCCESS);
      ASSERT_EQ(aclnnInplaceCopy(nullptr, 0, executor, nullptr), ACL_SUCCESS);
      ASSERT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
      std::vector<char> found(before.size());
      ASSERT_EQ(aclrtMemcpy(found.data(), found.size(), memory[0], found.size(), ACL_MEMCPY_DEVICE_TO_HOST),
                ACL_SUCCESS);
      EXPECT_TRUE(found == expected);  // EXPECT_EQ would print all of them
    });
    for (aclTensor* each : {target, origin}) aclDestroyTensor(each);
    for (void* each : memory) aclrtFree(each);
  }

  std::mt19937 random_{17};

 private:
  static void copy(size_t size, const Sizes& sizes, size_t dim, int64_t to_at, int64_t from_at, const Layout& to,
                   const Layout& from, std::vector<char>* out, const std::vector<char>& in) {
    if (dim == sizes.size()) {
      std::memcpy(out->data() + static_cast<size_t>(to_at) * size, in.data() + static_cast<size_t>(from_at) * size,
                  size);
      return;
    }
    for (int64_t i = 0; i < sizes[dim]; ++i) {
      copy(size, sizes, dim + 1, to_at + i * to.strides[dim], from_at + i * from.strides[dim], to, from, out, in);
    }
  }

  static aclTensor* tensor(const Element& element, const Sizes& sizes, const Layout& layout, void* memory) {
    const int64_t extent = layout.extent(sizes);
    return aclCreateTensor(sizes.data(), sizes.size(), element.dtype, layout.strides.data(), layout.offset,
                           ACL_FORMAT_ND, &extent, 1, memory);
  }

  std::vector<char> drawn(size_t bytes) {
    std::vector<char> values(bytes);
    uint32_t state = static_cast<uint32_t>(random_());
    for (char& value : values) {
      state = state * 1664525U + 1013904223U;
      value = static_cast<char>(state >> 24);
    }
    return values;
  }
};

TEST_F(StridedCopyTest, OfEveryElementAndOrderOfDimensions) {
  const Sizes shapes[] = {{1, 1},    {3, 5},       {4, 4},       {16, 16},      {17, 33},     {64, 65},
                          {129, 70}, {300, 257},   {1000, 3},    {3, 1000},     {2, 3, 5, 7}, {5, 64, 9, 8},
                          {2, 3, 4}, {2, 130, 40}, {40, 130, 4}, {7, 3, 33, 31}};
  for (const Element& element : kElements) {
    for (const Sizes& sizes : shapes) {
      std::vector<size_t> order(sizes.size());
      std::iota(order.begin(), order.end(), size_t{0});
      std::vector<size_t> other = order;
      std::ranges::reverse(other);
      check(element, sizes, dense(sizes, order), dense(sizes, other));
      check(element, sizes, dense(sizes, other, 1, 1), dense(sizes, order, 3, 2));
      std::ranges::shuffle(other, random_);
      std::ranges::shuffle(order, random_);
      check(element, sizes, dense(sizes, order), dense(sizes, other));
      check(element, sizes, dense(sizes, order, 2, 0), dense(sizes, other, 1, 5));
    }
  }
}

TEST_F(StridedCopyTest, OfTilesLargerThanAUnitOfWork) {
  for (const Element& element : kElements) {
    const Sizes sizes = {1100, 770};
    check(element, sizes, dense(sizes, {0, 1}), dense(sizes, {1, 0}));
    check(element, sizes, dense(sizes, {0, 1}, 5, 3), dense(sizes, {1, 0}, 1, 1));
  }
}

// Results written with non-temporal stores: from 32 MiB on.
TEST_F(StridedCopyTest, OfMoreThanTheCachesHold) {
  const Sizes plain = {(int64_t{33} << 20) + 5};
  check(kElements[0], plain, dense(plain, {0}), dense(plain, {0}));
  check(kElements[0], plain, dense(plain, {0}, 3), dense(plain, {0}, 1));
  const Sizes rows = {3001, 2900};
  check(kElements[2], rows, dense(rows, {0, 1}, 3, 5), dense(rows, {0, 1}, 1, 2));
  const Sizes whole = {2928, 2913};  // lines of `to` are aligned to cache lines
  check(kElements[2], whole, dense(whole, {1, 0}), dense(whole, {0, 1}));
  check(kElements[2], whole, dense(whole, {0, 1}), dense(whole, {1, 0}));
  const Sizes images = {33, 64, 64, 130};
  check(kElements[1], images, dense(images, {0, 2, 3, 1}), dense(images, {0, 1, 2, 3}));
  check(kElements[1], images, dense(images, {0, 1, 2, 3}, 32), dense(images, {0, 2, 3, 1}));
}

}  // namespace
