#include "nnopbase/arrays.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "acl_fixture.h"
#include "aclnn/acl_meta.h"

namespace {

class ArraysTest : public AclTest {
 protected:
  static aclTensor* tensor() {
    const int64_t size = 4;
    return aclCreateTensor(&size, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &size, 1, nullptr);
  }
  static aclScalar* scalar() {
    int64_t value = 4;
    return aclCreateScalar(&value, ACL_INT64);
  }

  // The life of one kind of array, and its results for bad calls.
  template <typename Object, typename T>
  static void expect_array(const std::vector<T>& values, const T* data, Object* (*create)(const T*, uint64_t),
                           aclnnStatus (*destroy)(const Object*)) {
    Object* result = create(data, values.size());
    ASSERT_NE(result, nullptr) << recent_error();
    EXPECT_TRUE(std::equal(values.begin(), values.end(), result->begin(), result->end()));
    EXPECT_EQ(destroy(result), ACLNN_SUCCESS);
    EXPECT_EQ(destroy(result), ACLNN_ERR_PARAM_INVALID);
    EXPECT_NE(recent_error().find("is no live acl"), std::string::npos);
    EXPECT_EQ(destroy(nullptr), ACLNN_SUCCESS);
    EXPECT_EQ(create(nullptr, 3), nullptr);
    EXPECT_NE(recent_error().find("value is null"), std::string::npos);
    EXPECT_EQ(create(data, static_cast<uint64_t>(-1)), nullptr);
    EXPECT_NE(recent_error().find("at most"), std::string::npos);
    Object* empty = create(nullptr, 0);
    ASSERT_NE(empty, nullptr);
    EXPECT_EQ(empty->size(), 0);
    EXPECT_EQ(destroy(empty), ACLNN_SUCCESS);
  }
};

TEST_F(ArraysTest, ArraysKeepCopiesOfTheirNumbers) {
  for (const size_t count : {1, 8, 9, 1000}) {
    std::vector<int64_t> integers(count);
    std::vector<float> floats(count);
    for (size_t i = 0; i < count; ++i) {
      integers[i] = static_cast<int64_t>(i) - 5;
      floats[i] = static_cast<float>(i) / 3;
    }
    expect_array<aclIntArray>(integers, integers.data(), &aclCreateIntArray, &aclDestroyIntArray);
    expect_array<aclFloatArray>(floats, floats.data(), &aclCreateFloatArray, &aclDestroyFloatArray);
  }
  const std::array<bool, 3> bools{true, false, true};
  expect_array<aclBoolArray, bool>({true, false, true}, bools.data(), &aclCreateBoolArray, &aclDestroyBoolArray);
}

TEST_F(ArraysTest, AListDestroysItsElements) {
  const std::array<const aclTensor*, 3> tensors{tensor(), nullptr, tensor()};
  aclTensorList* list = aclCreateTensorList(tensors.data(), tensors.size());
  ASSERT_NE(list, nullptr);
  EXPECT_EQ(list->size(), 3);
  EXPECT_EQ(aclDestroyTensorList(list), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyTensor(tensors[0]), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclDestroyTensor(tensors[2]), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclDestroyTensorList(list), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclDestroyTensorList(nullptr), ACLNN_SUCCESS);

  const std::array<const aclScalar*, 2> scalars{scalar(), scalar()};
  aclScalarList* numbers = aclCreateScalarList(scalars.data(), scalars.size());
  ASSERT_NE(numbers, nullptr);
  EXPECT_EQ(numbers->size(), 2);
  EXPECT_EQ(aclDestroyScalarList(numbers), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyScalar(scalars[1]), ACLNN_ERR_PARAM_INVALID);
}

TEST_F(ArraysTest, DestroyedAndRepeatedElementsAreSkipped) {
  const aclTensor* twice = tensor();
  const aclTensor* early = tensor();
  const std::array<const aclTensor*, 3> tensors{twice, early, twice};
  aclTensorList* list = aclCreateTensorList(tensors.data(), tensors.size());
  ASSERT_NE(list, nullptr);
  EXPECT_EQ(aclDestroyTensor(early), ACLNN_SUCCESS);
  EXPECT_EQ(aclDestroyTensorList(list), ACLNN_SUCCESS);
}

TEST_F(ArraysTest, BadListElementsAreErrors) {
  const aclTensor* live = tensor();
  const aclTensor* dead = tensor();
  EXPECT_EQ(aclDestroyTensor(dead), ACLNN_SUCCESS);
  const std::array<const aclTensor*, 2> tensors{live, dead};
  EXPECT_EQ(aclCreateTensorList(tensors.data(), tensors.size()), nullptr);
  EXPECT_NE(recent_error().find("is no live aclTensor"), std::string::npos);
  EXPECT_EQ(aclCreateTensorList(nullptr, 2), nullptr);
  EXPECT_EQ(aclCreateScalarList(nullptr, 2), nullptr);
  EXPECT_EQ(aclDestroyTensor(live), ACLNN_SUCCESS);  // still owned by the caller
  aclTensorList* empty = aclCreateTensorList(nullptr, 0);
  EXPECT_NE(empty, nullptr);
  EXPECT_EQ(aclDestroyTensorList(empty), ACLNN_SUCCESS);
}

}  // namespace
