#include "runtime/config.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

namespace softnpu {
namespace {

std::map<std::string, std::string> variables;

const char* lookup(const char* name) {
  auto it = variables.find(name);
  return it == variables.end() ? nullptr : it->second.c_str();
}

Status parse(std::map<std::string, std::string> values, Config* out) {
  variables = std::move(values);
  return parse_config(lookup, out);
}

TEST(Config, DefaultsComeFromTheMachine) {
  Config config;
  ASSERT_TRUE(parse({}, &config).is_ok());
  EXPECT_EQ(config.device_count(), 1);
  EXPECT_GE(config.cores, 1);
  EXPECT_GT(config.hbm_bytes, size_t{1} << 20);
  EXPECT_EQ(config.soc_name, "Ascend910B1");
  EXPECT_TRUE(config.tune);
  EXPECT_EQ(config.split, SplitMode::kByCpu);
}

TEST(Config, ReadsEachVariable) {
  Config config;
  ASSERT_TRUE(parse({{"SOFTNPU_DEVICE_COUNT", "2"},
                     {"SOFTNPU_CORES", "3"},
                     {"SOFTNPU_HBM", "8G"},
                     {"SOFTNPU_INLINE", "0"},
                     {"SOFTNPU_PROTECT", "1"},
                     {"SOFTNPU_SOC", "Ascend910B4"},
                     {"SOFTNPU_TUNE", "0"},
                     {"SOFTNPU_SPLIT", "tune"},
                     {"SOFTNPU_CPU_CAPABILITY", "avx2"},
                     {"ASCEND_LAUNCH_BLOCKING", "1"}},
                    &config)
                  .is_ok());
  EXPECT_EQ(config.device_count(), 2);
  EXPECT_EQ(config.cores, 3);
  EXPECT_EQ(config.hbm_bytes, size_t{8} << 30);
  EXPECT_EQ(config.inline_mode, InlineMode::kNever);
  EXPECT_TRUE(config.protect);
  EXPECT_FALSE(config.tune);
  EXPECT_EQ(config.split, SplitMode::kTuned);
  EXPECT_TRUE(config.launch_blocking);
  EXPECT_EQ(config.cpu_capability, CpuCapability::kAvx2);
  EXPECT_EQ(config.soc_name, "Ascend910B4");
}

TEST(Config, ProcessesOfOneJobShareTheMachine) {
  Config alone;
  Config shared;
  ASSERT_TRUE(parse({}, &alone).is_ok());
  ASSERT_TRUE(parse({{"LOCAL_WORLD_SIZE", "4"}}, &shared).is_ok());
  EXPECT_EQ(shared.device_count(), 4);
  EXPECT_EQ(shared.cores, std::max(1, alone.cores / 4));
  EXPECT_LE(shared.hbm_bytes, alone.hbm_bytes / 3);
  EXPECT_GE(shared.hbm_bytes, alone.hbm_bytes / 8);
  ASSERT_TRUE(
      parse({{"LOCAL_WORLD_SIZE", "4"}, {"SOFTNPU_DEVICE_COUNT", "1"}, {"SOFTNPU_CORES", "3"}, {"SOFTNPU_HBM", "1G"}},
            &shared)
          .is_ok());
  EXPECT_EQ(shared.device_count(), 1);
  EXPECT_EQ(shared.cores, 3);
  EXPECT_EQ(shared.hbm_bytes, size_t{1} << 30);
  // Not this project's variable: no error, and not more devices than there can be.
  ASSERT_TRUE(parse({{"LOCAL_WORLD_SIZE", "many"}}, &shared).is_ok());
  EXPECT_EQ(shared.device_count(), 1);
  ASSERT_TRUE(parse({{"LOCAL_WORLD_SIZE", "64"}}, &shared).is_ok());
  EXPECT_EQ(shared.device_count(), 16);
}

TEST(Config, VisibleDevicesAreNumberedAnew) {
  const auto devices = [](const char* visible) {
    Config config;
    EXPECT_TRUE(parse({{"SOFTNPU_DEVICE_COUNT", "4"}, {"ASCEND_RT_VISIBLE_DEVICES", visible}}, &config).is_ok());
    return config.devices;
  };
  EXPECT_EQ(devices("2,0"), (std::vector<int>{2, 0}));
  EXPECT_EQ(devices("3"), (std::vector<int>{3}));
  EXPECT_EQ(devices(""), (std::vector<int>{}));
  EXPECT_EQ(devices("1,4,2"), (std::vector<int>{1}));  // an unknown id ends the list
  EXPECT_EQ(devices("1,1,2"), (std::vector<int>{1}));
  EXPECT_EQ(devices("-1,2"), (std::vector<int>{}));
}

TEST(Config, MalformedValuesNameTheVariable) {
  for (auto [name, value] : {std::pair{"SOFTNPU_DEVICE_COUNT", "two"},
                             {"SOFTNPU_DEVICE_COUNT", "-1"},
                             {"SOFTNPU_HBM", "lots"},
                             {"SOFTNPU_HBM", "0"},
                             {"SOFTNPU_HBM", "99999999999G"},
                             {"SOFTNPU_INLINE", "2"},
                             {"SOFTNPU_CORES", "0"},
                             {"SOFTNPU_TUNE", "yes"},
                             {"SOFTNPU_SPLIT", "2"},
                             {"SOFTNPU_CPU_CAPABILITY", "AVX2"},
                             {"SOFTNPU_CPU_CAPABILITY", "sse"},
                             {"ASCEND_RT_VISIBLE_DEVICES", "one"},
                             {"ASCEND_SLOG_PRINT_TO_STDOUT", "yes"},
                             {"ASCEND_GLOBAL_LOG_LEVEL", "5"}}) {
    Config config;
    Status status = parse({{name, value}}, &config);
    EXPECT_FALSE(status.is_ok()) << name << "=" << value;
    EXPECT_EQ(status.message().find(std::string(name) + "=" + value + " is not understood: it takes "), 0U)
        << status.message();
  }
}

}  // namespace
}  // namespace softnpu
