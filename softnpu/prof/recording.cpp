// Recordings that stay in memory, for profilers in this process.

#include <chrono>
#include <vector>

#include "base/border.h"
#include "base/handles.h"
#include "base/no_destroy.h"
#include "base/text.h"
#include "prof/collector.h"
#include "softnpu/trace.h"

using softnpu::api;
using softnpu::require;
using softnpu::Status;
using softnpu::prof::Collector;

namespace {

constexpr uint32_t kAll =
    SOFTNPU_TRACE_TASKS | SOFTNPU_TRACE_CALLS | SOFTNPU_TRACE_DETAILS | SOFTNPU_TRACE_MEMORY | SOFTNPU_TRACE_MARKS;

class Recording final : public softnpu::prof::Sink {
 public:
  void take(const softnpuTraceRecord& record) override { records_.push_back(record); }
  const std::vector<softnpuTraceRecord>& records() const { return records_; }

 private:
  std::vector<softnpuTraceRecord> records_;
};

softnpu::Handles<Recording>& recordings() {
  static softnpu::NoDestroy<softnpu::Handles<Recording>> instance("recording");
  return instance.get();
}

}  // namespace

aclError softnpuTraceStart(uint32_t wanted, softnpuTrace** trace) {
  return api("softnpuTraceStart", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(trace, "trace"));
    if (wanted == 0 || (wanted & ~kAll) != 0) {
      return {ACL_ERROR_INVALID_PARAM, softnpu::text("a recording of the bits ", wanted, ": there are 1 to ", kAll)};
    }
    auto recording = std::make_shared<Recording>();
    Recording* sink = recording.get();
    const void* handle = recordings().add(std::move(recording));
    try {
      Collector::get().add(sink, wanted);
    } catch (...) {
      (void)recordings().remove(handle);
      throw;
    }
    *trace = reinterpret_cast<softnpuTrace*>(sink);
    return Status::ok();
  });
}

aclError softnpuTraceStop(softnpuTrace* trace, uint32_t timeoutMs,
                          void (*visit)(void* context, const softnpuTraceRecord* record), void* context,
                          uint64_t* missing) {
  return api("softnpuTraceStop", [&]() -> Status {
    std::shared_ptr<Recording> recording;
    SOFTNPU_RETURN_IF_ERROR(recordings().find(trace, &recording));
    SOFTNPU_RETURN_IF_ERROR(recordings().remove(trace));
    const uint64_t open = Collector::get().remove(recording.get(), std::chrono::milliseconds(timeoutMs));
    if (missing != nullptr) *missing = open;
    if (visit == nullptr) return Status::ok();
    for (const softnpuTraceRecord& record : recording->records()) visit(context, &record);
    return Status::ok();
  });
}
