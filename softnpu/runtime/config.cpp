#include "runtime/config.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "base/text.h"
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

Status bad(const char* name, const char* value, const char* takes) {
  return {ACL_ERROR_INVALID_PARAM, text(name, "=", value, " is not understood: it takes ", takes)};
}

Status parse_int(const char* (*get)(const char*), const char* name, int least, int most, int* out) {
  const char* value = get(name);
  if (value == nullptr || *value == '\0') return Status::ok();
  auto number = parse_integer(value);
  if (!number || *number < least || *number > most) {
    return bad(name, value, text("a whole number from ", least, " to ", most).c_str());
  }
  *out = static_cast<int>(*number);
  return Status::ok();
}

Status parse_switch(const char* (*get)(const char*), const char* name, std::optional<bool>* out) {
  int value = -1;
  SOFTNPU_RETURN_IF_ERROR(parse_int(get, name, 0, 1, &value));
  if (value >= 0) *out = value == 1;
  return Status::ok();
}

Status parse_split(const char* (*get)(const char*), SplitMode* out) {
  const char* value = get("SOFTNPU_SPLIT");
  if (value == nullptr || *value == '\0') return Status::ok();
  const std::string_view word = value;
  if (word == "0") {
    *out = SplitMode::kNever;
  } else if (word == "1") {
    *out = SplitMode::kAlways;
  } else if (word == "tune") {
    *out = SplitMode::kTuned;
  } else {
    return bad("SOFTNPU_SPLIT", value, "0, 1 or tune");
  }
  return Status::ok();
}

Status parse_cpu_capability(const char* (*get)(const char*), CpuCapability* out) {
  const char* value = get("SOFTNPU_CPU_CAPABILITY");
  if (value == nullptr || *value == '\0') return Status::ok();
  const std::string_view word = value;
  if (word == "default") {
    *out = CpuCapability::kDefault;
  } else if (word == "avx2") {
    *out = CpuCapability::kAvx2;
  } else if (word == "avx512") {
    *out = CpuCapability::kAvx512;
  } else {
    return bad("SOFTNPU_CPU_CAPABILITY", value, "default, avx2 or avx512");
  }
  return Status::ok();
}

// The processes of one job on this host, each with a device of its own, as torchrun counts them; 1 without torchrun.
int local_processes(const char* (*get)(const char*)) {
  const char* value = get("LOCAL_WORLD_SIZE");
  const auto number = value == nullptr ? std::nullopt : parse_integer(value);
  return number ? static_cast<int>(std::clamp<long long>(*number, 1, 1024)) : 1;
}

// Parses "2,0": device ids in the order in which the process numbers them. The first id that does not exist ends the
// list.
Status parse_visible(const char* (*get)(const char*), int count, std::vector<int>* out) {
  out->clear();
  const char* value = get("ASCEND_RT_VISIBLE_DEVICES");
  if (value == nullptr) {
    for (int id = 0; id < count; ++id) out->push_back(id);
    return Status::ok();
  }
  std::string_view rest = value;
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    auto id = parse_integer(rest.substr(0, comma));
    if (!id) return bad("ASCEND_RT_VISIBLE_DEVICES", value, "numbers of devices with commas between them (0,1)");
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
    result.status = parse_config([](const char* name) -> const char* { return std::getenv(name); }, &result.config);
    return result;
  }();
  return value;
}

}  // namespace

Status parse_config(const char* (*get)(const char*), Config* out) {
  const int processes = local_processes(get);
  out->cores = std::max(1, usable_cores() / processes);
  int count = std::min(processes, kMaxDevices);
  SOFTNPU_RETURN_IF_ERROR(parse_int(get, "SOFTNPU_DEVICE_COUNT", 0, kMaxDevices, &count));
  out->installed = count;
  SOFTNPU_RETURN_IF_ERROR(parse_visible(get, count, &out->devices));
  SOFTNPU_RETURN_IF_ERROR(parse_int(get, "SOFTNPU_CORES", 1, 1024, &out->cores));
  out->hbm_bytes = 0;
  if (const char* hbm = get("SOFTNPU_HBM"); hbm != nullptr && *hbm != '\0') {
    auto bytes = parse_bytes(hbm);
    if (!bytes) return bad("SOFTNPU_HBM", hbm, "bytes, with K, M or G behind if you like (8G)");
    out->hbm_bytes = *bytes;
  }
  std::optional<bool> inlined;
  std::optional<bool> protect;
  std::optional<bool> blocking;
  std::optional<bool> fuse;
  std::optional<bool> pack;
  std::optional<bool> tune;
  SOFTNPU_RETURN_IF_ERROR(parse_switch(get, "SOFTNPU_INLINE", &inlined));
  SOFTNPU_RETURN_IF_ERROR(parse_switch(get, "SOFTNPU_PROTECT", &protect));
  SOFTNPU_RETURN_IF_ERROR(parse_switch(get, "ASCEND_LAUNCH_BLOCKING", &blocking));
  SOFTNPU_RETURN_IF_ERROR(parse_switch(get, "SOFTNPU_FUSE", &fuse));
  SOFTNPU_RETURN_IF_ERROR(parse_switch(get, "SOFTNPU_PACK", &pack));
  SOFTNPU_RETURN_IF_ERROR(parse_switch(get, "SOFTNPU_TUNE", &tune));
  SOFTNPU_RETURN_IF_ERROR(parse_split(get, &out->split));
  if (inlined) out->inline_mode = *inlined ? InlineMode::kAlways : InlineMode::kNever;
  out->protect = protect.value_or(false);
  if (out->hbm_bytes == 0) out->hbm_bytes = default_capacity(out->devices.size(), out->protect ? 2 : 1, processes);
  out->launch_blocking = blocking.value_or(false);
  out->fuse = fuse.value_or(true);
  out->pack = pack.value_or(true);
  out->tune = tune.value_or(true);
  SOFTNPU_RETURN_IF_ERROR(parse_cpu_capability(get, &out->cpu_capability));
  if (const char* soc = get("SOFTNPU_SOC"); soc != nullptr && *soc != '\0') out->soc_name = soc;
  if (const char* profile = get("SOFTNPU_PROFILE"); profile != nullptr) out->profile = profile;
  return Status::ok();
}

const Config& config() { return parsed().config; }
const Status& config_status() { return parsed().status; }

}  // namespace softnpu
