#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "acl_fixture.h"
#include "aclnn/acl_meta.h"
#include "nnopbase/tensor.h"
#include "softnpu/tensor.h"

namespace {

using Sizes = std::vector<int64_t>;

class TensorTest : public AclTest {
 protected:
  static aclTensor* make(const Sizes& dims, const Sizes& strides = {}, int64_t offset = 0,
                         aclDataType dtype = ACL_FLOAT) {
    return aclCreateTensor(dims.data(), dims.size(), dtype, strides.empty() ? nullptr : strides.data(), offset,
                           ACL_FORMAT_ND, dims.data(), dims.size(), nullptr);
  }

  static Sizes view_shape(const aclTensor* tensor) {
    int64_t* values = nullptr;
    uint64_t count = 99;
    EXPECT_EQ(aclGetViewShape(tensor, &values, &count), ACLNN_SUCCESS) << recent_error();
    EXPECT_NE(values, nullptr);
    const std::unique_ptr<int64_t[]> owned(values);
    return {values, values + count};
  }

  static Sizes sizes(const softnpu::Dims& dims) { return {dims.begin(), dims.end()}; }

  static void expect_refused(const aclTensor* tensor, const char* reason) {
    EXPECT_EQ(tensor, nullptr);
    const std::string message = recent_error();
    EXPECT_NE(message.find(reason), std::string::npos) << message;
  }
};

TEST_F(TensorTest, ReturnsItsCreationArguments) {
  const Sizes dims{2, 3, 4};
  const Sizes strides{1, 2, 6};
  const Sizes storage{5, 6};
  int data = 0;
  aclTensor* tensor =
      aclCreateTensor(dims.data(), 3, ACL_INT16, strides.data(), 7, ACL_FORMAT_NCHW, storage.data(), 2, &data);
  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(view_shape(tensor), dims);
  EXPECT_EQ(sizes(tensor->strides), strides);
  EXPECT_EQ(sizes(tensor->storage_dims), storage);
  EXPECT_EQ(tensor->offset, 7);
  EXPECT_EQ(tensor->format, ACL_FORMAT_NCHW);
  EXPECT_EQ(tensor->dtype, ACL_INT16);
  EXPECT_EQ(tensor->data, &data);
  EXPECT_EQ(aclDestroyTensor(tensor), ACLNN_SUCCESS);
}

TEST_F(TensorTest, WithoutStridesItIsContiguous) {
  for (const auto& [dims, strides] : {std::pair<Sizes, Sizes>{{}, {}},
                                      {{5}, {1}},
                                      {{2, 3, 4}, {12, 4, 1}},
                                      {{2, 0, 4}, {0, 4, 1}},
                                      {{1, 1, 1, 1, 1, 1, 1, 1, 2, 3}, {6, 6, 6, 6, 6, 6, 6, 6, 3, 1}}}) {
    aclTensor* tensor = make(dims);
    ASSERT_NE(tensor, nullptr) << recent_error();
    EXPECT_EQ(sizes(tensor->strides), strides);
    EXPECT_EQ(view_shape(tensor), dims);
    EXPECT_EQ(aclDestroyTensor(tensor), ACLNN_SUCCESS);
  }
}

TEST_F(TensorTest, HasUpTo64Dimensions) {
  const Sizes most(64, 1);
  aclTensor* tensor = make(most);
  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(view_shape(tensor), most);
  EXPECT_EQ(aclDestroyTensor(tensor), ACLNN_SUCCESS);
  expect_refused(make(Sizes(65, 1)), "65 view dimensions; at most 64");
  expect_refused(aclCreateTensor(most.data(), 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, UINT64_MAX, nullptr),
                 "storage dimensions; at most 64");
}

TEST_F(TensorTest, BadArgumentsAreErrors) {
  const int64_t one = 1;
  expect_refused(aclCreateTensor(nullptr, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &one, 1, nullptr),
                 "view dimensions is null");
  expect_refused(aclCreateTensor(&one, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 1, nullptr),
                 "storage dimensions is null");
  expect_refused(make({2, -3}), "the negative size -3");
  expect_refused(make({2}, {}, -1), "offset -1 is negative");
  expect_refused(make({2}, {}, 0, static_cast<aclDataType>(1000)), "data type 1000");
  const int64_t huge = int64_t{1} << 40;
  expect_refused(make({huge, huge}), "reach beyond 2^63 bytes");
  expect_refused(make({3}, {INT64_MAX}), "reach beyond 2^63 bytes");
  expect_refused(make({2}, {1}, INT64_MAX), "reach beyond 2^63 bytes");
  expect_refused(make({INT64_MAX}), "reach beyond 2^63 bytes");
  aclTensor* empty = make({huge, 0, huge});  // it has no elements
  EXPECT_NE(empty, nullptr) << recent_error();
  EXPECT_EQ(aclDestroyTensor(empty), ACLNN_SUCCESS);
}

TEST_F(TensorTest, InitReplacesTheDescriptionOrLeavesItUnchanged) {
  aclTensor* tensor = make({2, 3});
  const Sizes dims{1, 2, 3, 4, 5, 6, 7, 8, 9};
  ASSERT_EQ(softnpuInitTensor(tensor, dims.data(), dims.size(), ACL_DOUBLE, nullptr, 3, ACL_FORMAT_ND, dims.data(), 1,
                              nullptr),
            ACLNN_SUCCESS);
  EXPECT_EQ(view_shape(tensor), dims);
  EXPECT_EQ(sizes(tensor->storage_dims), Sizes{1});
  const int64_t bad = -1;
  EXPECT_EQ(softnpuInitTensor(tensor, &bad, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &bad, 1, nullptr),
            ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(view_shape(tensor), dims);
  EXPECT_EQ(aclDestroyTensor(tensor), ACLNN_SUCCESS);
  EXPECT_EQ(softnpuInitTensor(tensor, dims.data(), 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims.data(), 1, nullptr),
            ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(softnpuInitTensor(nullptr, dims.data(), 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims.data(), 1, nullptr),
            ACLNN_ERR_PARAM_NULLPTR);
}

TEST_F(TensorTest, DestroyedAndForeignHandlesAreDetected) {
  EXPECT_EQ(aclDestroyTensor(nullptr), ACLNN_SUCCESS);
  aclTensor* tensor = make({2});
  EXPECT_EQ(aclDestroyTensor(tensor), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyTensor(tensor), ACLNN_ERR_PARAM_INVALID);
  EXPECT_NE(recent_error().find("is no live aclTensor"), std::string::npos);
  std::array<char, 1024> memory{};
  int64_t* values = nullptr;
  uint64_t count = 0;
  int64_t number = 0;
  aclTensor* live = make({2});
  aclScalar* scalar = aclCreateScalar(&number, ACL_INT64);
  for (const void* no_tensor : std::initializer_list<const void*>{memory.data(), reinterpret_cast<char*>(live) + 8,
                                                                  scalar, reinterpret_cast<void*>(uintptr_t{1}),
                                                                  reinterpret_cast<void*>(UINTPTR_MAX)}) {
    const auto* handle = static_cast<const aclTensor*>(no_tensor);
    EXPECT_EQ(aclDestroyTensor(handle), ACLNN_ERR_PARAM_INVALID);
    EXPECT_EQ(aclGetViewShape(handle, &values, &count), ACLNN_ERR_PARAM_INVALID);
  }
  EXPECT_EQ(aclGetViewShape(nullptr, &values, &count), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(aclGetViewShape(live, nullptr, &count), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(aclGetViewShape(live, &values, nullptr), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(values, nullptr);
  EXPECT_EQ(aclDestroyScalar(scalar), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyTensor(live), ACLNN_SUCCESS);
}

TEST_F(TensorTest, OneThreadMakesWhatAnotherDestroys) {
  constexpr size_t kCount = 1000;
  std::vector<aclTensor*> created(kCount);
  for (int round = 0; round < 10; ++round) {
    std::thread maker([&] {
      for (size_t i = 0; i < kCount; ++i) created[i] = make({static_cast<int64_t>(i), 3});
    });
    maker.join();
    std::vector<aclTensor*> distinct = created;
    std::sort(distinct.begin(), distinct.end());
    EXPECT_EQ(std::unique(distinct.begin(), distinct.end()), distinct.end());
    for (size_t i = 0; i < kCount; i += 99) EXPECT_EQ(view_shape(created[i]), (Sizes{static_cast<int64_t>(i), 3}));
    std::thread destroyer([&] {
      for (aclTensor* tensor : created) EXPECT_EQ(aclDestroyTensor(tensor), ACLNN_SUCCESS);
    });
    destroyer.join();
  }
}

}  // namespace
