#include "ascendcl/op_attr.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"

namespace {

std::string error() {
  const char* message = aclGetRecentErrMsg();
  return message == nullptr ? "" : message;
}

class OpAttrTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(attr, nullptr); }
  void TearDown() override { aclopDestroyAttr(attr); }

  template <typename T>
  T value(const char* name) const {
    return std::get<T>(attr->values.at(name));
  }

  aclopAttr* attr = aclopCreateAttr();
};

TEST_F(OpAttrTest, KeepsEveryKind) {
  const uint8_t bools[] = {0, 1, 2};
  const int64_t ints[] = {-1, int64_t{1} << 40};
  const float floats[] = {0.5F, -2};
  const char* strings[] = {"a", ""};
  const aclDataType types[] = {ACL_FLOAT, ACL_BF16};
  const int counts[] = {2, 0, 1};
  const int64_t* lists[] = {ints, nullptr, ints};
  ASSERT_EQ(aclopSetAttrBool(attr, "bool", 2), ACL_SUCCESS);
  ASSERT_EQ(aclopSetAttrInt(attr, "int", -7), ACL_SUCCESS);
  ASSERT_EQ(aclopSetAttrFloat(attr, "float", 0.25F), ACL_SUCCESS);
  ASSERT_EQ(aclopSetAttrString(attr, "string", "text"), ACL_SUCCESS);
  ASSERT_EQ(aclopSetAttrDataType(attr, "type", ACL_INT8), ACL_SUCCESS);
  ASSERT_EQ(aclopSetAttrListBool(attr, "bools", 3, bools), ACL_SUCCESS);
  ASSERT_EQ(aclopSetAttrListInt(attr, "ints", 2, ints), ACL_SUCCESS);
  ASSERT_EQ(aclopSetAttrListFloat(attr, "floats", 2, floats), ACL_SUCCESS);
  ASSERT_EQ(aclopSetAttrListString(attr, "strings", 2, strings), ACL_SUCCESS);
  ASSERT_EQ(aclopSetAttrListDataType(attr, "types", 2, types), ACL_SUCCESS);
  ASSERT_EQ(aclopSetAttrListListInt(attr, "lists", 3, counts, lists), ACL_SUCCESS);
  EXPECT_EQ(attr->values.size(), 11u);
  EXPECT_EQ(value<bool>("bool"), true);
  EXPECT_EQ(value<int64_t>("int"), -7);
  EXPECT_EQ(value<float>("float"), 0.25F);
  EXPECT_EQ(value<std::string>("string"), "text");
  EXPECT_EQ(value<aclDataType>("type"), ACL_INT8);
  EXPECT_EQ(value<std::vector<bool>>("bools"), (std::vector<bool>{false, true, true}));
  EXPECT_EQ(value<std::vector<int64_t>>("ints"), (std::vector<int64_t>{-1, int64_t{1} << 40}));
  EXPECT_EQ(value<std::vector<float>>("floats"), (std::vector<float>{0.5F, -2}));
  EXPECT_EQ(value<std::vector<std::string>>("strings"), (std::vector<std::string>{"a", ""}));
  EXPECT_EQ(value<std::vector<aclDataType>>("types"), (std::vector<aclDataType>{ACL_FLOAT, ACL_BF16}));
  EXPECT_EQ(value<std::vector<std::vector<int64_t>>>("lists"),
            (std::vector<std::vector<int64_t>>{{-1, int64_t{1} << 40}, {}, {-1}}));
}

TEST_F(OpAttrTest, ASecondValueReplacesTheFirst) {
  ASSERT_EQ(aclopSetAttrInt(attr, "axis", 1), ACL_SUCCESS);
  ASSERT_EQ(aclopSetAttrString(attr, "axis", "rows"), ACL_SUCCESS);
  EXPECT_EQ(attr->values.size(), 1u);
  EXPECT_EQ(value<std::string>("axis"), "rows");
}

TEST_F(OpAttrTest, RefusedValuesChangeNothing) {
  ASSERT_EQ(aclopSetAttrInt(attr, "kept", 1), ACL_SUCCESS);
  const char* strings[] = {"a", nullptr};
  const int counts[] = {1, -1};
  const int64_t number = 3;
  const int64_t* lists[] = {&number, &number};
  const int64_t* missing[] = {&number, nullptr};
  const int ones[] = {1, 1};
  for (aclError code :
       {aclopSetAttrInt(attr, nullptr, 2), aclopSetAttrInt(attr, "", 2), aclopSetAttrString(attr, "kept", nullptr),
        aclopSetAttrListInt(attr, "kept", -1, &number), aclopSetAttrListInt(attr, "kept", 1, nullptr),
        aclopSetAttrListBool(attr, "kept", 1, nullptr), aclopSetAttrListFloat(attr, "kept", 1, nullptr),
        aclopSetAttrListDataType(attr, "kept", 1, nullptr), aclopSetAttrListString(attr, "kept", 1, nullptr),
        aclopSetAttrListString(attr, "kept", 2, strings), aclopSetAttrListListInt(attr, "kept", 2, counts, lists),
        aclopSetAttrListListInt(attr, "kept", 2, ones, missing),
        aclopSetAttrListListInt(attr, "kept", 2, nullptr, lists),
        aclopSetAttrListListInt(attr, "kept", 2, ones, nullptr),
        aclopSetAttrListListInt(attr, "kept", -2, ones, lists)}) {
    EXPECT_EQ(code, ACL_ERROR_INVALID_PARAM);
  }
  EXPECT_EQ(attr->values.size(), 1u);
  EXPECT_EQ(value<int64_t>("kept"), 1);
  (void)error();
  EXPECT_EQ(aclopSetAttrListInt(attr, "kept", -4, &number), ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(error().find("aclopSetAttrListInt: a list of -4 values [error 100000]"), std::string::npos);
  EXPECT_EQ(aclopSetAttrListInt(attr, "empty", 0, nullptr), ACL_SUCCESS);
  EXPECT_TRUE(value<std::vector<int64_t>>("empty").empty());
}

TEST(OpAttr, InvalidHandlesAreErrors) {
  aclopAttr* destroyed = aclopCreateAttr();
  aclopDestroyAttr(destroyed);
  int foreign = 0;
  for (aclopAttr* handle : {static_cast<aclopAttr*>(nullptr), destroyed, reinterpret_cast<aclopAttr*>(&foreign)}) {
    (void)error();
    EXPECT_EQ(aclopSetAttrInt(handle, "x", 1), ACL_ERROR_INVALID_PARAM);
    EXPECT_NE(error().find(handle == nullptr ? "is null" : "is no live set of attributes"), std::string::npos);
    EXPECT_EQ(aclopSetAttrString(handle, "x", "y"), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclopSetAttrListInt(handle, "x", 0, nullptr), ACL_ERROR_INVALID_PARAM);
    (void)error();
    aclopDestroyAttr(handle);
    EXPECT_EQ(error().empty(), handle == nullptr);
  }
}

TEST(OpAttr, ManyThreads) {
  std::vector<std::thread> threads;
  for (int64_t t = 0; t < 8; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 300; ++i) {
        aclopAttr* attr = aclopCreateAttr();
        EXPECT_EQ(aclopSetAttrInt(attr, "thread", t), ACL_SUCCESS);
        EXPECT_EQ(std::get<int64_t>(attr->values.at("thread")), t);
        aclopDestroyAttr(attr);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
