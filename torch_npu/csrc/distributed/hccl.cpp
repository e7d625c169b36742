#include "distributed/hccl.h"

#include <c10/util/Exception.h>
#include <dlfcn.h>

#include <list>
#include <memory>
#include <mutex>

#include "core/acl.h"
#include "core/route_stats.h"

namespace torch_npu {
namespace {

struct Counter {
  std::string name;
  std::atomic<uint64_t> calls{0};
};

struct Counters {
  std::mutex mutex;         // guards the list; counters are atomic
  std::list<Counter> list;  // addresses stay
};

Counters& counters() {
  static auto& all = *std::make_unique<Counters>().release();  // used until the end of the process
  return all;
}

std::string message_of(HcclResult code) {
  if (const char* recent = aclGetRecentErrMsg(); recent != nullptr && *recent != '\0') return recent;
  return reinterpret_cast<decltype(&HcclGetErrorString)>(hccl_symbol("HcclGetErrorString"))(code);
}

}  // namespace

void* find_hccl_symbol(const char* name) {
  // Loaded by torch_npu._load from the folder of the bound CANN, which may lack it.
  static void* library = dlopen("libhccl.so", RTLD_NOW | RTLD_NOLOAD);
  return library == nullptr ? nullptr : dlsym(library, name);
}

void* hccl_symbol(const char* name) {
  void* found = find_hccl_symbol(name);
  TORCH_CHECK(found != nullptr, "the bound CANN has no libhccl.so with the function ", name,
              ", which collectives of npu tensors need", error_tail("ERR02007", "DIST feature not supported"));
  return found;
}

void hccl_check(HcclResult code, const char* call) {
  if (C10_LIKELY(code == HCCL_SUCCESS)) return;
  TORCH_CHECK_WITH(DistBackendError, false, call, " failed with error ", static_cast<int>(code), ": ", message_of(code),
                   error_tail("ERR02200", "DIST call hccl api failed."));
}

std::vector<std::pair<std::string, uint64_t>> hccl_calls() {
  std::vector<std::pair<std::string, uint64_t>> calls;
  std::lock_guard lock(counters().mutex);
  for (const Counter& counter : counters().list) {
    if (const uint64_t count = counter.calls.load(std::memory_order_relaxed); count != 0) {
      calls.emplace_back(counter.name, count);
    }
  }
  return calls;
}

std::atomic<uint64_t>& detail::hccl_counter(const char* name) {
  std::lock_guard lock(counters().mutex);
  for (Counter& counter : counters().list) {
    if (counter.name == name) return counter.calls;
  }
  Counter& result = counters().list.emplace_back();
  result.name = name;
  return result.calls;
}

void detail::mark_hccl_route(const char* name) noexcept { route_stats::mark(route_stats::Route::kHccl, name); }

}  // namespace torch_npu
