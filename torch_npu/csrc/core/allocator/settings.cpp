#include "core/allocator/settings.h"

#include <c10/core/AllocatorConfig.h>
#include <c10/util/Exception.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>
#include <unordered_set>

#include "core/allocator/round.h"
#include "core/environment.h"

namespace torch_npu {
namespace {

using c10::CachingAllocator::AcceleratorAllocatorConfig;
using c10::CachingAllocator::ConfigTokenizer;

// With NPU_MEMORY_OPTIMIZATION=1 segments grow in place, by the unit in which devices map memory: changing sizes leave
// fewer gaps, and less is mapped than needed.
constexpr const char* kSavingMemory = "expandable_segments:True,segment_size_mb:2";

// The unit in which devices map memory.
constexpr std::size_t kUnit = c10::CachingAllocator::kSmallBuffer;

constexpr std::size_t kMiB = std::size_t{1} << 20;

std::atomic<std::size_t> segment_bytes{0};  // segment_size_mb; 0 if it is not set

// Keys of the official torch_npu in addition to PyTorch's. All except the first tune hardware that softnpu does not
// have.
const std::unordered_set<std::string>& npu_keys() {
  static const std::unordered_set<std::string> keys{"segment_size_mb",     "base_addr_aligned_kb",
                                                    "page_size",           "multi_stream_lazy_reclaim",
                                                    "pinned_mem_register", "pin_memory_expandable_segments"};
  return keys;
}

// Once for each key.
void warn_without_effect(const std::string& key) {
  static std::mutex mutex;  // guards warned
  static std::unordered_set<std::string> warned;
  const std::lock_guard lock(mutex);
  if (warned.insert(key).second) TORCH_WARN("allocator setting ", key, " has no effect on a software NPU");
}

void parse_npu_keys(const std::string& text) {
  ConfigTokenizer tokens(text);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string& key = tokens[i];
    if (key == "segment_size_mb") {
      TORCH_CHECK_VALUE(i + 2 < tokens.size() && tokens.checkToken(i + 1, ":"),
                        "segment_size_mb takes a number of MiB, as in segment_size_mb:20");
      i += 2;
      const std::size_t megabytes = std::strtoull(tokens[i].c_str(), nullptr, 10);
      TORCH_CHECK_VALUE(megabytes >= 2 && megabytes % 2 == 0, "segment_size_mb:", tokens[i],
                        " is not understood: an expandable segment grows by an even number of MiB, at least 2");
      segment_bytes = megabytes * kMiB;
    } else {
      if (npu_keys().contains(key)) {
        warn_without_effect(key);
      }
      i = tokens.skipKey(i);
    }
    if (++i >= tokens.size()) break;
    TORCH_CHECK_VALUE(tokens.checkToken(i, ","), "expected a comma between allocator settings, not '", tokens[i], "'");
  }
}

// PyTorch has one parser of a device's keys, the last one registered: it calls the earlier one, that of CUDA in builds
// with CUDA. A key that the earlier one has as well is read by both. Always true: a static constant runs it once.
bool register_keys() {
  std::unordered_set<std::string> keys = npu_keys();
  for (const std::string& known : AcceleratorAllocatorConfig::getKeys()) keys.erase(known);
  const auto parse = [earlier = AcceleratorAllocatorConfig::getConfigParserHook()](const std::string& text) {
    if (earlier) earlier(text);
    parse_npu_keys(text);
  };
  AcceleratorAllocatorConfig::registerDeviceConfigParserHook(parse, keys);
  return true;
}

// At load time: PyTorch's parser must know npu's keys before they can be set.
[[maybe_unused]] const bool are_keys_registered = register_keys();

// PyTorch's parser passes on what std::stoull throws, and asserts where a value is missing.
void apply(const std::string& text) {
  try {
    parse_npu_keys(text);  // first: its errors are the better ones
    c10::CachingAllocator::setAllocatorSettings(text);
  } catch (const c10::ValueError&) {
    throw;
  } catch (const std::exception&) {
    TORCH_CHECK_VALUE(false, "allocator settings '", text,
                      "' are not understood: they are key:value pairs with commas between them, such as "
                      "max_split_size_mb:128,expandable_segments:True");
  }
}

// Always true: a function's static constant runs it once.
bool read_variables() {
  const std::string npu = environment::text("PYTORCH_NPU_ALLOC_CONF");
  const std::string all = environment::text("PYTORCH_ALLOC_CONF");
  TORCH_CHECK_VALUE(npu.empty() || all.empty(),
                    "PYTORCH_NPU_ALLOC_CONF and PYTORCH_ALLOC_CONF are both set: unset one of them");
  if (!npu.empty()) apply(npu);
  if (!all.empty()) parse_npu_keys(all);  // PyTorch reads the rest by itself
  if (npu.empty() && all.empty() && saves_memory()) {
    c10::CachingAllocator::setAllocatorSettings(kSavingMemory);
  }
  // Memory that several streams use is always reused once their work is done: 1 is the only value.
  (void)value_or_warn(environment::choice("MULTI_STREAM_MEMORY_REUSE"));
  return true;
}

}  // namespace

void read_allocator_settings() { [[maybe_unused]] static const bool done = read_variables(); }

void set_allocator_settings(const std::string& text) {
  read_allocator_settings();  // so that the environment does not override them later
  apply(text);
}

std::size_t expandable_unit(bool large) {
  if (const std::size_t given = segment_bytes; given != 0) return given;
  if (!large) return kUnit;
  return round_up(AcceleratorAllocatorConfig::large_segment_size(), kUnit);
}

bool saves_memory() {
  static const bool saves = value_or_warn(environment::flag("NPU_MEMORY_OPTIMIZATION"));
  return saves;
}

bool caching_is_off() {
  static const bool off = environment::is_set("PYTORCH_NO_NPU_MEMORY_CACHING");
  return off;
}

}  // namespace torch_npu
