#include "distributed/options.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string_view>

#include "core/acl.h"
#include "core/environment.h"
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

// The variables have former names, which count where the present ones are not set.
ErrorHandling read_error_handling() {
  const auto number = environment::is_set("TORCH_HCCL_ASYNC_ERROR_HANDLING")
                          ? environment::integer("TORCH_HCCL_ASYNC_ERROR_HANDLING")
                          : environment::integer("HCCL_ASYNC_ERROR_HANDLING");
  return value_of(number) == 0U ? ErrorHandling::kNone : ErrorHandling::kAbort;
}

bool read_blocking_wait() {
  return *value_of(environment::is_set("TORCH_HCCL_BLOCKING_WAIT") ? environment::flag("TORCH_HCCL_BLOCKING_WAIT")
                                                                   : environment::flag("HCCL_BLOCKING_WAIT"));
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
  return {
      .error_handling = read_error_handling(),
      .blocking_wait = read_blocking_wait(),
      .high_priority = *value_of(environment::flag("TORCH_HCCL_HIGH_PRIORITY")),
  };
}

}  // namespace torch_npu
