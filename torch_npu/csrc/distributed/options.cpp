#include "distributed/options.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string_view>

#include "core/acl.h"
#include "distributed/hccl.h"

namespace torch_npu {
namespace {

// Keys of the official plug-in that choose between transports and algorithms, of which there is one.
constexpr std::array<std::string_view, 8> kWithoutEffect = {
    "hccl_algo",         "hccl_retry_enable", "hccl_retry_params", "hccl_buffer_name",
    "hccl_exec_timeout", "hccl_sdma_qos",     "qos_traffic_class", "qos_service_level"};

uint32_t number_of(const std::string& key, const HcclConfigEntry& value) {
  const auto* number = std::get_if<int64_t>(&value);
  TORCH_CHECK_TYPE(number != nullptr, "Value type of ", key, " should be int.",
                   error_tail("ERR02002", "DIST invalid type"));
  TORCH_CHECK_VALUE(*number >= 0 && *number <= std::numeric_limits<uint32_t>::max(), key, " of hccl_config is ",
                    *number, ": it takes 0 to 4294967295");
  return static_cast<uint32_t>(*number);
}

void set_name(HcclCommConfig& config, const std::string& key, const HcclConfigEntry& value) {
  const auto* name = std::get_if<std::string>(&value);
  TORCH_CHECK_TYPE(name != nullptr, "Value type of ", key, " should be string.",
                   error_tail("ERR02002", "DIST invalid type"));
  TORCH_CHECK_VALUE(name->size() < sizeof config.hcclCommName, key, " of hccl_config has ", name->size(),
                    " characters: the maximum is ", sizeof config.hcclCommName - 1);
  std::memcpy(config.hcclCommName, name->c_str(), name->size() + 1);
}

// One of `names`, of which the last is a former one; -1 if none is set.
int read_number(std::initializer_list<const char*> names, int most) {
  for (const char* name : names) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const bool is_digit = value[0] >= '0' && value[0] <= '0' + most && value[1] == '\0';
    TORCH_CHECK_VALUE(is_digit, name, "=", value, " is not understood: it takes 0 to ", most);
    return value[0] - '0';
  }
  return -1;
}

}  // namespace

HcclCommConfig comm_config(const HcclOptions& options) {
  HcclCommConfig config;
  HcclCommConfigInit(&config);
  for (const auto& [key, value] : options.hccl_config) {
    if (key == "hccl_buffer_size") {
      config.hcclBufferSize = number_of(key, value);
    } else if (key == "group_name") {
      set_name(config, key, value);
    } else if (key == "hccl_op_expansion_mode") {
      config.hcclOpExpansionMode = number_of(key, value);
    } else if (key == "hccl_world_rank_id") {
      config.hcclWorldRankID = number_of(key, value);
    } else if (key == "hccl_job_id") {
      config.hcclJobID = number_of(key, value);
    } else {
      TORCH_CHECK_VALUE(std::ranges::find(kWithoutEffect, key) != kWithoutEffect.end(), "hccl_config has no key ", key,
                        ": it takes hccl_buffer_size, group_name, hccl_op_expansion_mode, hccl_world_rank_id and "
                        "hccl_job_id");
      TORCH_WARN_ONCE(key, " of hccl_config has no effect: there is one way between ranks");
    }
  }
  return config;
}

HcclSettings read_hccl_settings() {
  const int handling = read_number({"TORCH_HCCL_ASYNC_ERROR_HANDLING", "HCCL_ASYNC_ERROR_HANDLING"}, 3);
  return {
      .error_handling = handling == 0 ? ErrorHandling::kNone : ErrorHandling::kAbort,
      .blocking_wait = read_number({"TORCH_HCCL_BLOCKING_WAIT", "HCCL_BLOCKING_WAIT"}, 1) == 1,
      .high_priority = read_number({"TORCH_HCCL_HIGH_PRIORITY"}, 1) == 1,
  };
}

}  // namespace torch_npu
