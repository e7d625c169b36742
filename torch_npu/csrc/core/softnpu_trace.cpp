#include "core/softnpu_trace.h"

#include <c10/util/ApproximateClock.h>
#include <softnpu/trace.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/acl.h"
#include "core/bound_library.h"
#include "core/stream.h"

namespace torch_npu::trace {
namespace {

// How long the end of a recording waits for queued tasks.
constexpr uint32_t kTimeoutMs = 30000;

struct Functions {
  decltype(&softnpuTraceStart) start;
  decltype(&softnpuTraceStop) stop;
  decltype(&softnpuTraceNow) now;
  decltype(&softnpuTraceRecentTask) recent_task;
  decltype(&softnpuTraceHostKernel) host_kernel;
};

template <typename Function>
Function find(const char* name) {
  return reinterpret_cast<Function>(bound_symbol(name));
}

const Functions& functions() {
  static const Functions found{find<decltype(&softnpuTraceStart)>("softnpuTraceStart"),
                               find<decltype(&softnpuTraceStop)>("softnpuTraceStop"),
                               find<decltype(&softnpuTraceNow)>("softnpuTraceNow"),
                               find<decltype(&softnpuTraceRecentTask)>("softnpuTraceRecentTask"),
                               find<decltype(&softnpuTraceHostKernel)>("softnpuTraceHostKernel")};
  return found;
}

// What is needed of the records.
struct Collected {
  SoftnpuTrace::Runs runs;
  std::unordered_map<uint64_t, uint64_t> bytes;
  std::unordered_map<uint64_t, std::vector<std::pair<uint32_t, uint64_t>>> members;  // by leader: position, task

  void add(const softnpuTraceRecord& record) {
    switch (record.kind) {
      case SOFTNPU_TRACE_LAUNCH: bytes[record.id] = std::max<uint64_t>(record.bytes, 1); break;
      case SOFTNPU_TRACE_RUN: runs[record.id] = {record.begin, record.end}; break;
      case SOFTNPU_TRACE_MEMBER: members[record.other].emplace_back(record.position, record.id); break;
      default: break;
    }
  }

  void share_groups() {
    for (auto& [leader, others] : members) {
      const auto run = runs.find(leader);
      if (run == runs.end()) continue;
      others.emplace_back(0, leader);
      std::ranges::sort(others);
      const auto [begin, end] = run->second;
      double total = 0;
      for (const auto& [position, task] : others) total += static_cast<double>(bytes[task]);
      double done = 0;
      for (const auto& [position, task] : others) {
        const auto at = [&] { return begin + static_cast<int64_t>(static_cast<double>(end - begin) * done / total); };
        const int64_t from = at();
        done += static_cast<double>(bytes[task]);
        runs[task] = {from, at()};
      }
    }
  }
};

}  // namespace

bool SoftnpuTrace::is_available() noexcept {
  return functions().start != nullptr && functions().stop != nullptr && functions().recent_task != nullptr;
}

std::unique_ptr<SoftnpuTrace> SoftnpuTrace::start() {
  softnpuTrace* trace = nullptr;
  if (!is_available() || functions().start(SOFTNPU_TRACE_TASKS, &trace) != ACL_SUCCESS) return nullptr;
  return std::unique_ptr<SoftnpuTrace>(new SoftnpuTrace(trace));
}

SoftnpuTrace::~SoftnpuTrace() {
  if (trace_ != nullptr) (void)functions().stop(trace_, 0, nullptr, nullptr, nullptr);
}

SoftnpuTrace::Runs SoftnpuTrace::stop() {
  Collected collected;
  const auto add = [](void* context, const softnpuTraceRecord* record) {
    static_cast<Collected*>(context)->add(*record);
  };
  (void)functions().stop(std::exchange(trace_, nullptr), kTimeoutMs, add, &collected, nullptr);
  collected.share_groups();
  // The difference of the clocks.
  const int64_t before = functions().now();
  const int64_t wall = c10::getTime();
  const int64_t shift = wall - before - (functions().now() - before) / 2;
  for (auto& [task, run] : collected.runs) run = {run.start_ns + shift, run.end_ns + shift};
  return std::move(collected.runs);
}

uint64_t SoftnpuTrace::recent_task() noexcept { return functions().recent_task(); }

int64_t SoftnpuTrace::now() noexcept { return functions().now == nullptr ? 0 : functions().now(); }

uint64_t SoftnpuTrace::report_host_kernel(const char* name, c10::Stream stream, int64_t begin) noexcept {
  if (functions().host_kernel == nullptr || begin == 0) return 0;
  functions().host_kernel(name, runtime_handle(stream), begin);
  return recent_task();
}

}  // namespace torch_npu::trace
