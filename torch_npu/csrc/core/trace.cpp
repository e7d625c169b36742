#include "core/trace.h"

#include <c10/util/ApproximateClock.h>
#include <c10/util/Exception.h>

#include <array>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "core/device.h"
#include "core/event.h"
#include "core/program_lines.h"
#include "core/route_stats.h"
#include "core/softnpu_trace.h"
#include "core/stream.h"

namespace torch_npu::trace {

struct detail::Record {
  Record(std::string name_of, Kind kind_of, c10::Stream stream_of, uint64_t operator_of)
      : name(std::move(name_of)), kind(kind_of), stream(stream_of), correlation(operator_of) {}

  const std::string name;
  const Kind kind;
  const c10::Stream stream;
  const uint64_t correlation;
  Event before;  // of a launch, if softnpu records nothing
  Event after;
  uint64_t task = 0;     // of softnpu
  int64_t start_ns = 0;  // of a host kernel, and of a launch that started no task
  int64_t end_ns = 0;
  int64_t begin = 0;              // in softnpu's clock, of a host kernel or where lines of the program are recorded
  std::atomic<bool> done{false};  // set after the end was written
};

namespace {

using detail::Record;

struct State {
  std::mutex mutex;  // guards all below
  std::vector<std::shared_ptr<Record>> records;
  std::unique_ptr<SoftnpuTrace> tasks;  // while it records on softnpu
  std::atomic<uint64_t> generation{0};  // written under the mutex
  std::atomic<bool> is_on{false};       // written under the mutex; while true it counts as a watcher
};

State& state() {
  static State& instance = *std::make_unique<State>().release();  // used until the end of the process
  return instance;
}

// Ids that a thread pushed in an earlier recording may never have been popped.
struct Correlations {
  uint64_t generation = 0;
  std::vector<uint64_t> ids;
};

Correlations& correlations() {
  static thread_local Correlations own;
  const uint64_t now = state().generation.load(std::memory_order_relaxed);
  if (own.generation != now) {
    own.ids.clear();
    own.generation = now;
  }
  return own;
}

std::shared_ptr<Record> make_record(std::string name, Kind kind, c10::Stream stream) {
  const auto& ids = correlations().ids;
  auto record = std::make_shared<Record>(std::move(name), kind, stream, ids.empty() ? 0 : ids.back());
  std::lock_guard lock(state().mutex);
  state().records.push_back(record);
  return record;
}

// One moment in the device's clock and in the host's.
struct Anchor {
  Event event;
  int64_t host_ns = 0;
};

// The host's time is uncertain by the duration of the record; the shortest of a few tries is used.
Anchor make_anchor(c10::DeviceIndex device) {
  constexpr int kTries = 5;
  bind_device(device);
  Anchor best;
  int64_t shortest = INT64_MAX;
  for (int i = 0; i < kTries; ++i) {
    Event event;
    const int64_t before = c10::getTime();
    event.record(current_stream(device));
    event.synchronize();
    const int64_t after = c10::getTime();
    if (after - before < shortest) {
      shortest = after - before;
      best.event = std::move(event);
      best.host_ns = before + shortest / 2;
    }
  }
  return best;
}

class Anchors {
 public:
  const Anchor& of(c10::DeviceIndex device) {
    auto& anchor = anchors_.at(static_cast<std::size_t>(device));
    if (!anchor.has_value()) anchor = make_anchor(device);
    return *anchor;
  }

 private:
  std::array<std::optional<Anchor>, kMaxDevices> anchors_;
};

Activity activity_of(const Record& record, const SoftnpuTrace::Runs& runs, Anchors& anchors) {
  Activity activity{record.name,   record.kind,        record.stream, record.start_ns,
                    record.end_ns, record.correlation, record.task};
  if (const auto run = runs.find(record.task); run != runs.end()) {
    activity.start_ns = run->second.start_ns;
    activity.end_ns = run->second.end_ns;
  }
  if (record.before.is_recorded()) {
    constexpr double kNsPerMs = 1e6;
    const auto duration = static_cast<int64_t>(elapsed_ms(record.before, record.after) * kNsPerMs);
    const Anchor& anchor = anchors.of(record.stream.device_index());
    activity.start_ns = anchor.host_ns - static_cast<int64_t>(elapsed_ms(record.before, anchor.event) * kNsPerMs);
    activity.end_ns = activity.start_ns + duration;
  }
  return activity;
}

}  // namespace

void start() {
  std::lock_guard lock(state().mutex);
  state().records.clear();
  state().tasks = nullptr;
  state().tasks = SoftnpuTrace::start();
  state().generation.fetch_add(1, std::memory_order_relaxed);
  if (!state().is_on.exchange(true)) detail::watchers.fetch_add(1, std::memory_order_relaxed);
}

Recording stop() {
  std::vector<std::shared_ptr<Record>> records;
  std::unique_ptr<SoftnpuTrace> tasks;  // while it records on softnpu
  {
    std::lock_guard lock(state().mutex);
    if (state().is_on.exchange(false)) detail::watchers.fetch_sub(1, std::memory_order_relaxed);
    records.swap(state().records);
    tasks = std::move(state().tasks);
  }
  Recording recording;
  const SoftnpuTrace::Runs runs = tasks == nullptr ? SoftnpuTrace::Runs() : tasks->stop();
  Anchors anchors;
  for (const auto& record : records) {
    if (!record->done.load(std::memory_order_acquire)) continue;
    try {
      recording.activities.push_back(activity_of(*record, runs, anchors));
    } catch (const c10::Error& error) {
      recording.errors.push_back(record->name + ": " + error.what_without_backtrace());
    }
  }
  return recording;
}

void push_correlation(uint64_t id) { correlations().ids.push_back(id); }

void pop_correlation() noexcept {
  auto& ids = correlations().ids;
  if (!ids.empty()) ids.pop_back();
}

std::shared_ptr<Record> detail::begin_launch(const char* name, Kind kind, c10::Stream stream) {
  route_stats::mark(kind == Kind::kCopy ? route_stats::Route::kCopy : route_stats::Route::kAclnn,
                    kind == Kind::kCopy ? "" : name);
  if (!state().is_on.load(std::memory_order_relaxed)) return nullptr;
  auto record = make_record(name, kind, stream);
  if (program_lines::is_on()) record->begin = program_lines::now();
  if (SoftnpuTrace::is_available()) {
    record->task = SoftnpuTrace::recent_task();
    record->start_ns = c10::getTime();
  } else {
    record->before.record(stream);
  }
  return record;
}

void detail::end_launch(Record& record) noexcept {
  try {
    if (SoftnpuTrace::is_available()) {
      const uint64_t before = std::exchange(record.task, SoftnpuTrace::recent_task());
      if (record.task == before) record.task = 0;  // such as a copy that the host did
      record.end_ns = c10::getTime();
      if (record.begin != 0) program_lines::add_launch(record.name, record.task, record.begin);
    } else {
      record.after.record(record.stream);
    }
    record.done.store(true, std::memory_order_release);
  } catch (const std::exception&) {
    // The launch itself, or the next one, reports errors of the stream; the recording omits this activity.
  }
}

std::shared_ptr<Record> detail::begin_host_kernel(const char* name, c10::DeviceIndex device) {
  route_stats::mark(route_stats::Route::kAiCpu);
  if (!state().is_on.load(std::memory_order_relaxed)) return nullptr;
  std::string_view op(name);
  if (const auto colons = op.rfind(':'); colons != std::string_view::npos) op.remove_prefix(colons + 1);
  auto record = make_record("aicpu::" + std::string(op), Kind::kKernel, current_stream(device));
  record->start_ns = c10::getTime();
  record->begin = SoftnpuTrace::now();
  return record;
}

void detail::end_host_kernel(Record& record) noexcept {
  record.end_ns = c10::getTime();
  record.task = SoftnpuTrace::report_host_kernel(record.name.c_str(), record.stream, record.begin);
  if (program_lines::is_on()) program_lines::add_launch(record.name, record.task, record.begin);
  record.done.store(true, std::memory_order_release);
}

}  // namespace torch_npu::trace
