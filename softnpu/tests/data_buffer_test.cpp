#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"

namespace {

std::string error() {
  const char* message = aclGetRecentErrMsg();
  return message == nullptr ? "" : message;
}

TEST(DataBuffer, ReturnsAndUpdatesItsFields) {
  int first = 1;
  int second = 2;
  aclDataBuffer* buffer = aclCreateDataBuffer(&first, sizeof first);
  ASSERT_NE(buffer, nullptr);
  EXPECT_EQ(aclGetDataBufferAddr(buffer), &first);
  EXPECT_EQ(aclGetDataBufferSizeV2(buffer), sizeof first);
  EXPECT_EQ(aclGetDataBufferSize(buffer), sizeof first);
  EXPECT_EQ(aclUpdateDataBuffer(buffer, &second, 2), ACL_SUCCESS);
  EXPECT_EQ(aclGetDataBufferAddr(buffer), &second);
  EXPECT_EQ(aclGetDataBufferSizeV2(buffer), 2u);
  EXPECT_EQ(aclDestroyDataBuffer(buffer), ACL_SUCCESS);
}

TEST(DataBuffer, EmptyBuffersAreValid) {
  aclDataBuffer* buffer = aclCreateDataBuffer(nullptr, 0);
  ASSERT_NE(buffer, nullptr);
  (void)error();
  EXPECT_EQ(aclGetDataBufferAddr(buffer), nullptr);
  EXPECT_EQ(aclGetDataBufferSizeV2(buffer), 0u);
  EXPECT_EQ(error(), "");
  EXPECT_EQ(aclDestroyDataBuffer(buffer), ACL_SUCCESS);
}

TEST(DataBuffer, LargeSizeIsNotTruncated) {
  aclDataBuffer* buffer = aclCreateDataBuffer(nullptr, (size_t{1} << 32) + 5);
  (void)error();
  EXPECT_EQ(aclGetDataBufferSize(buffer), 0u);
  EXPECT_NE(error().find("use aclGetDataBufferSizeV2"), std::string::npos);
  EXPECT_EQ(aclGetDataBufferSizeV2(buffer), (size_t{1} << 32) + 5);
  EXPECT_EQ(aclDestroyDataBuffer(buffer), ACL_SUCCESS);
}

TEST(DataBuffer, InvalidHandlesAreErrors) {
  aclDataBuffer* destroyed = aclCreateDataBuffer(nullptr, 1);
  ASSERT_EQ(aclDestroyDataBuffer(destroyed), ACL_SUCCESS);
  int foreign = 0;
  for (aclDataBuffer* handle :
       {static_cast<aclDataBuffer*>(nullptr), destroyed, reinterpret_cast<aclDataBuffer*>(&foreign)}) {
    const char* says = handle == nullptr ? "the data buffer is null" : "is no live data buffer";
    auto told = [&] { return error().find(says) != std::string::npos; };
    EXPECT_EQ(aclDestroyDataBuffer(handle), ACL_ERROR_INVALID_PARAM);
    EXPECT_TRUE(told());
    EXPECT_EQ(aclUpdateDataBuffer(handle, nullptr, 0), ACL_ERROR_INVALID_PARAM);
    EXPECT_TRUE(told());
    EXPECT_EQ(aclGetDataBufferAddr(handle), nullptr);
    EXPECT_TRUE(told());
    EXPECT_EQ(aclGetDataBufferSize(handle), 0u);
    EXPECT_TRUE(told());
    EXPECT_EQ(aclGetDataBufferSizeV2(handle), 0u);
    EXPECT_TRUE(told());
  }
}

TEST(DataBuffer, ManyThreads) {
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 8; ++t) {
    threads.emplace_back([t] {
      for (size_t i = 0; i < 500; ++i) {
        aclDataBuffer* buffer = aclCreateDataBuffer(nullptr, t);
        EXPECT_EQ(aclUpdateDataBuffer(buffer, nullptr, t + i), ACL_SUCCESS);
        EXPECT_EQ(aclGetDataBufferSizeV2(buffer), t + i);
        EXPECT_EQ(aclDestroyDataBuffer(buffer), ACL_SUCCESS);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
