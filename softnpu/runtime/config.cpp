#include "runtime/config.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "base/environment.h"
#include "runtime/memory/limits.h"

namespace softnpu {
namespace {

constexpr int kMaxDevices = 16;

// The default capacity of each of `devices` devices, whose memory is mapped `mappings` times: 80% of the memory that is
// usable for each of `processes`, less if that leaves the program under 1 GiB (or half, where half is less). All
// mappings together use at most half of the addresses that the process may still map.
size_t default_capacity(size_t devices, size_t mappings, int processes) {
  constexpr size_t kProgram = size_t{1} << 30;
  const size_t memory = usable_memory() / static_cast<size_t>(processes);
  const size_t left = memory - std::min(kProgram, memory / 2);
  return std::min({memory / 10 * 8, left, usable_addresses() / 2 / std::max<size_t>(1, devices) / mappings});
}

std::optional<long long> parse_integer(std::string_view text) {
  long long value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Parses "8G", "512M", "4096": bytes with an optional binary suffix.
std::optional<size_t> parse_bytes(std::string_view text) {
  int shift = 0;
  if (!text.empty()) {
    switch (text.back()) {
      case 'k':
      case 'K': shift = 10; break;
      case 'm':
      case 'M': shift = 20; break;
      case 'g':
      case 'G': shift = 30; break;
      default: break;
    }
    if (shift != 0) text.remove_suffix(1);
  }
  auto value = parse_integer(text);
  if (!value || *value <= 0 || *value > (1LL << 46 >> shift)) return std::nullopt;
  return static_cast<size_t>(*value) << shift;
}

Status bad(const char* name, std::string_view value, const char* takes) {
  return {ACL_ERROR_INVALID_PARAM, environment::misunderstood(name, value, takes)};
}

Status parse_bytes(environment::Get get, size_t* out) {
  const std::string value = environment::text("SOFTNPU_HBM", get);
  if (value.empty()) return Status::ok();
  const auto bytes = parse_bytes(value);
  if (!bytes) return bad("SOFTNPU_HBM", value, "bytes, with K, M or G behind if you like (8G)");
  *out = *bytes;
  return Status::ok();
}

Status parse_inline(environment::Get get, InlineMode* out) {
  std::optional<bool> is_always;
  SOFTNPU_RETURN_IF_ERROR(environment::store(environment::flag("SOFTNPU_INLINE", get), &is_always));
  if (is_always) *out = *is_always ? InlineMode::kAlways : InlineMode::kNever;
  return Status::ok();
}

Status parse_split(environment::Get get, SplitMode* out) {
  std::string word;
  SOFTNPU_RETURN_IF_ERROR(environment::store(environment::choice("SOFTNPU_SPLIT", get), &word));
  if (word == "0") *out = SplitMode::kNever;
  if (word == "1") *out = SplitMode::kAlways;
  if (word == "tune") *out = SplitMode::kTuned;
  return Status::ok();
}

Status parse_cpu_capability(environment::Get get, CpuCapability* out) {
  std::string word;
  SOFTNPU_RETURN_IF_ERROR(environment::store(environment::choice("SOFTNPU_CPU_CAPABILITY", get), &word));
  if (word == "avx2") *out = CpuCapability::kAvx2;
  if (word == "avx512") *out = CpuCapability::kAvx512;
  return Status::ok();
}

// What is wrong with the variables of the log, which itself takes their defaults then.
Status check_log(environment::Get get) {
  bool to_stdout = false;
  int level = 0;
  SOFTNPU_RETURN_IF_ERROR(environment::store(environment::flag("ASCEND_SLOG_PRINT_TO_STDOUT", get), &to_stdout));
  return environment::store(environment::integer("ASCEND_GLOBAL_LOG_LEVEL", get), &level);
}

// The processes of one job on this host, each with a device of its own, as torchrun counts them; 1 without torchrun.
int local_processes(environment::Get get) {
  const auto number = parse_integer(environment::text("LOCAL_WORLD_SIZE", get));
  return number ? static_cast<int>(std::clamp<long long>(*number, 1, 1024)) : 1;
}

// Parses "2,0": device ids in the order in which the process numbers them. The first id that does not exist ends the
// list; an empty one is no device.
Status parse_visible(environment::Get get, int count, std::vector<int>* out) {
  out->clear();
  const auto value = environment::given("ASCEND_RT_VISIBLE_DEVICES", get);
  if (!value) {
    for (int id = 0; id < count; ++id) out->push_back(id);
    return Status::ok();
  }
  std::string_view rest = *value;
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    auto id = parse_integer(rest.substr(0, comma));
    if (!id) return bad("ASCEND_RT_VISIBLE_DEVICES", *value, "numbers of devices with commas between them (0,1)");
    if (*id < 0 || *id >= count || std::ranges::count(*out, static_cast<int>(*id)) > 0) break;
    out->push_back(static_cast<int>(*id));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return Status::ok();
}

struct Parsed {
  Config config;
  Status status;
};

const Parsed& parsed() {
  static const Parsed value = [] {
    Parsed result;
    result.status = parse_config(&environment::get_from_process, &result.config);
    return result;
  }();
  return value;
}

}  // namespace

Status parse_config(const char* (*get)(const char*), Config* out) {
  using environment::flag, environment::integer, environment::store;
  out->soc_name = environment::text("SOFTNPU_SOC", get);
  out->profile = environment::text("SOFTNPU_PROFILE", get);
  const int processes = local_processes(get);
  out->cores = std::max(1, usable_cores() / processes);
  int count = std::min(processes, kMaxDevices);
  SOFTNPU_RETURN_IF_ERROR(store(integer("SOFTNPU_DEVICE_COUNT", get), &count));
  out->installed = count;
  SOFTNPU_RETURN_IF_ERROR(parse_visible(get, count, &out->devices));
  SOFTNPU_RETURN_IF_ERROR(store(integer("SOFTNPU_CORES", get), &out->cores));
  out->hbm_bytes = 0;
  SOFTNPU_RETURN_IF_ERROR(parse_bytes(get, &out->hbm_bytes));
  SOFTNPU_RETURN_IF_ERROR(parse_inline(get, &out->inline_mode));
  SOFTNPU_RETURN_IF_ERROR(store(flag("SOFTNPU_PROTECT", get), &out->protect));
  if (out->hbm_bytes == 0) out->hbm_bytes = default_capacity(out->devices.size(), out->protect ? 2 : 1, processes);
  SOFTNPU_RETURN_IF_ERROR(store(flag("ASCEND_LAUNCH_BLOCKING", get), &out->launch_blocking));
  SOFTNPU_RETURN_IF_ERROR(store(flag("SOFTNPU_FUSE", get), &out->fuse));
  SOFTNPU_RETURN_IF_ERROR(store(flag("SOFTNPU_PACK", get), &out->pack));
  SOFTNPU_RETURN_IF_ERROR(store(flag("SOFTNPU_TUNE", get), &out->tune));
  SOFTNPU_RETURN_IF_ERROR(parse_split(get, &out->split));
  SOFTNPU_RETURN_IF_ERROR(parse_cpu_capability(get, &out->cpu_capability));
  return check_log(get);
}

const Config& config() { return parsed().config; }
const Status& config_status() { return parsed().status; }

}  // namespace softnpu
