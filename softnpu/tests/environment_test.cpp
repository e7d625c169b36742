#include "base/environment.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>

namespace softnpu::environment {
namespace {

const char* set_value = nullptr;

const char* lookup(const char* /*name*/) { return set_value; }

template <typename Reader, typename RowName>
auto read_as(const char* value, Reader reader, RowName name) {
  set_value = value;
  return reader(name, &lookup);
}

TEST(Environment, ValuesOfEachType) {
  const Name<Type::kFlag> flags[] = {"INF_NAN_MODE_ENABLE", "SOFTNPU_INLINE"};
  EXPECT_EQ(read_as(nullptr, &flag, flags[0]).value, true);  // the row's default
  EXPECT_EQ(read_as("", &flag, flags[0]).value, true);
  EXPECT_EQ(read_as("0", &flag, flags[0]).value, false);
  EXPECT_EQ(read_as(nullptr, &flag, flags[1]).value, std::nullopt);  // no default
  const Name<Type::kChoice> words = "TORCH_NPU_CANN";
  EXPECT_EQ(read_as(nullptr, &choice, words).value, "auto");
  EXPECT_EQ(read_as("system", &choice, words).value, "system");
  const Name<Type::kInteger> number = "SEED";
  EXPECT_EQ(read_as(nullptr, &integer, number).value, 666U);
  EXPECT_EQ(read_as("4294967295", &integer, number).value, 4294967295U);
  const Name<Type::kText> folder = "OOM_SNAPSHOT_PATH";
  EXPECT_EQ(read_as("", &text, folder), ".");
  EXPECT_EQ(read_as(" a b ", &text, folder), " a b ");
  EXPECT_FALSE(read_as("", &is_set, folder));
  EXPECT_TRUE(read_as("0", &is_set, folder));
  EXPECT_EQ(read_as("", &given, folder), "");
  EXPECT_EQ(read_as(nullptr, &given, folder), std::nullopt);
}

// The texts of torch_npu/_core/environment.py. Beside an error the default serves.
TEST(Environment, AWrongValueIsOneError) {
  const Name<Type::kFlag> a_flag = "INF_NAN_MODE_ENABLE";
  for (const std::string value : {"yes", "2", " 1", "01"}) {
    const auto read = read_as(value.c_str(), &flag, a_flag);
    EXPECT_EQ(read.value, true);
    EXPECT_EQ(read.error, "INF_NAN_MODE_ENABLE=" + value + " is not understood: it takes 0 or 1");
  }
  const Name<Type::kChoice> words = "TORCH_NPU_CANN";
  for (const std::string value : {"best", "AUTO", "auto, softnpu", ","}) {
    const auto read = read_as(value.c_str(), &choice, words);
    EXPECT_EQ(read.value, "auto");
    EXPECT_EQ(read.error, "TORCH_NPU_CANN=" + value + " is not understood: it takes auto, softnpu or system");
  }
  const Name<Type::kInteger> number = "SOFTNPU_CORES";
  for (const std::string value : {"-1", "+1", "1.0", "x", "0", "1025", "99999999999999999999", " 1"}) {
    const auto read = read_as(value.c_str(), &integer, number);
    EXPECT_EQ(read.value, std::nullopt);
    EXPECT_EQ(read.error, "SOFTNPU_CORES=" + value + " is not understood: it takes 1 to 1024");
  }
}

TEST(Environment, StoreIsAStatus) {
  std::chrono::seconds seconds(7);
  const Name<Type::kInteger> name = "HCCL_CONNECT_TIMEOUT";
  EXPECT_TRUE(store(read_as("3", &integer, name), &seconds).is_ok());
  EXPECT_EQ(seconds.count(), 3);
  const Status status = store(read_as("soon", &integer, name), &seconds);
  EXPECT_EQ(status.code(), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(status.message(), "HCCL_CONNECT_TIMEOUT=soon is not understood: it takes 0 to 2147483");
  EXPECT_EQ(seconds.count(), 120);
  int cores = 5;
  const Name<Type::kInteger> without_default = "SOFTNPU_CORES";
  EXPECT_TRUE(store(read_as(nullptr, &integer, without_default), &cores).is_ok());
  EXPECT_EQ(cores, 5);
}

}  // namespace
}  // namespace softnpu::environment
