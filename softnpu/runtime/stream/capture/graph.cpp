#include "runtime/stream/capture/graph.h"

#include <algorithm>
#include <exception>
#include <new>
#include <set>
#include <sstream>
#include <utility>

#include "base/text.h"
#include "runtime/status_from_callback.h"
#include "runtime/stream/capture/replay.h"
#include "runtime/stream/executor.h"
#include "runtime/stream/time_limits.h"
#include "runtime/stream/trace.h"

namespace softnpu {
namespace {

// The most tasks of a fusion group, as in a stream.
constexpr uint32_t kMaxGroup = 16;
// Replays of up to this many small tasks run on the caller's thread of an idle stream.
constexpr size_t kMaxSmallTasks = 64;

const softnpuFusion* fusion_of(const CapturedTask& task) {
  return task.fusible == nullptr ? nullptr : task.fusible->fusion;
}

trace::Node traced(const CapturedTask& task) {
  uint64_t bytes = 0;
  for (const softnpuRange& range : task.written) bytes += range.bytes;
  return {task.name, task.stream, bytes};
}

std::shared_ptr<const CapturedTask::Work> share(CapturedTask::Work work) {
  return std::make_shared<const CapturedTask::Work>(std::move(work));
}

std::string stream_name(uint32_t stream) { return text("stream ", stream); }

}  // namespace

CapturedGraph::~CapturedGraph() {
  for (const Step& step : steps_) {
    if (step.group != nullptr) fusion_of(tasks_[step.first])->release(step.group);
  }
}

void CapturedGraph::instantiate(std::vector<CapturedTask> tasks, std::vector<softnpuRange> written) {
  tasks_ = std::move(tasks);
  written_ = std::make_shared<const std::vector<softnpuRange>>(std::move(written));
  const auto count = static_cast<uint32_t>(tasks_.size());
  for (uint32_t i = 0; i < count; ++i) {
    if (tasks_[i].is_updatable) updatable_[i] = share(std::move(tasks_[i].work));
  }
  for (uint32_t first = 0; first < count; first += steps_.back().count) steps_.push_back(step_from(first));
  has_steps_ = std::ranges::any_of(tasks_, [](const CapturedTask& task) { return task.make_steps != nullptr; });
  if (has_steps_) connect_steps();
  cost_ = count <= kMaxSmallTasks ? Cost::kSmall : Cost::kShort;
  for (const CapturedTask& task : tasks_) cost_ = std::max(cost_, task.is_updatable ? Cost::kLarge : task.cost);
}

std::shared_ptr<const std::vector<softnpuRange>> CapturedGraph::written() const {
  std::lock_guard lock(updating_);
  return written_;
}

void CapturedGraph::set_written(std::vector<softnpuRange> written) {
  std::lock_guard lock(updating_);
  written_ = std::make_shared<const std::vector<softnpuRange>>(std::move(written));
}

void CapturedGraph::update(const std::vector<uint32_t>& numbers, std::vector<CapturedTask> updates) {
  std::vector<TaskWork> works;
  works.reserve(updates.size());
  for (CapturedTask& task : updates) works.push_back(share(std::move(task.work)));
  std::lock_guard lock(updating_);
  for (size_t i = 0; i < numbers.size(); ++i) updatable_.at(numbers[i]).swap(works[i]);
}

CapturedGraph::TaskWork CapturedGraph::newest_work(uint32_t task) const {
  std::lock_guard lock(updating_);
  return updatable_.at(task);
}

void CapturedGraph::connect_steps() {
  std::vector<uint32_t> step_of(tasks_.size());
  for (uint32_t number = 0; number < steps_.size(); ++number) {
    Step& step = steps_[number];
    std::set<uint32_t> awaited;
    for (uint32_t task = step.first; task < step.first + step.count; ++task) {
      step_of[task] = number;
      for (const uint32_t before : tasks_[task].after) awaited.insert(step_of[before]);
    }
    awaited.erase(number);  // tasks of one group
    step.waits_for = static_cast<uint32_t>(awaited.size());
    for (const uint32_t before : awaited) steps_[before].before.push_back(number);
  }
}

// The longest group that begins with task `first`. Unlike a stream, which knows what was launched so far, a graph knows
// every later reader.
CapturedGraph::Step CapturedGraph::step_from(uint32_t first) const {
  const softnpuFusion* fusion = fusion_of(tasks_[first]);
  Step step;
  step.first = first;
  if (fusion == nullptr) return step;
  std::vector<void*> states;
  std::vector<size_t> last_readers;
  for (uint32_t i = first; i < tasks_.size() && states.size() < kMaxGroup && fusion_of(tasks_[i]) == fusion; ++i) {
    states.push_back(tasks_[i].fusible->state);
    const size_t dead_at = tasks_[i].dead_at;
    last_readers.push_back(dead_at == CapturedTask::kNeverDead ? SIZE_MAX : dead_at - first - 1);
  }
  if (states.size() == 1) return step;
  step.count = static_cast<uint32_t>(fusion->analyse(states.data(), last_readers.data(), states.size(), &step.group));
  return step;
}

// In the words of the task that failed.
Status CapturedGraph::named(const Step& step, const Status& status) const {
  if (status.is_ok()) return status;
  return {status.code(),
          text(tasks_[step.first].name, " (task ", step.first, " of the captured graph): ", status.message()),
          status.cause()};
}

Status CapturedGraph::run(const Step& step) const {
  if (!trace::wants(SOFTNPU_TRACE_TASKS)) [[likely]]
    return run_step(step);
  const int64_t begin = trace::now();
  Status status = run_step(step);
  const trace::Tag leader = trace::node_ran(traced(tasks_[step.first]), begin, !status.is_ok(), step.count);
  for (uint32_t i = 1; i < step.count; ++i) trace::node_ran_fused(traced(tasks_[step.first + i]), leader, i);
  return status;
}

Status CapturedGraph::run_step(const Step& step) const {
  const CapturedTask& first = tasks_[step.first];
  if (time_limits().any()) Executor::begin_operator();
  try {
    if (first.is_updatable) return (*newest_work(step.first))();
    if (step.group == nullptr) return first.work();
    return status_from_callback([&](char* message, size_t size) {
      return fusion_of(first)->run(step.group, first.fusible->state, message, size);
    });
  } catch (const std::bad_alloc&) {
    return {ACL_ERROR_BAD_ALLOC, "out of host memory"};
  } catch (const std::exception& e) {
    return {ACL_ERROR_RT_INTERNAL_ERROR, e.what()};
  }
}

Status CapturedGraph::run() const {
  std::lock_guard lock(running_);
  Status failure;
  for (const Step& step : steps_) {
    Status status = run(step);
    if (!status.is_ok() && failure.is_ok()) failure = named(step, status);
  }
  return failure;
}

Status CapturedGraph::make_replay(std::shared_ptr<Steps>* out) const {
  auto replay = std::make_shared<GraphReplay>(shared_from_this());
  for (const Step& step : steps_) {
    const CapturedTask& task = tasks_[step.first];
    if (task.make_steps == nullptr) continue;
    std::shared_ptr<Steps> part;
    if (Status status = task.make_steps(&part); !status.is_ok()) return named(step, status);
    replay->add(static_cast<uint32_t>(&step - steps_.data()), std::move(part));
  }
  *out = std::move(replay);
  return Status::ok();
}

std::string CapturedGraph::describe() const {
  std::ostringstream out;
  out << "graph " << id_ << " of device " << device_ << ": " << tasks_.size() << " tasks\n";
  for (const Step& step : steps_) {
    for (uint32_t i = step.first; i < step.first + step.count; ++i) {
      out << "  " << i << " " << tasks_[i].name << ", " << stream_name(tasks_[i].stream);
      if (!tasks_[i].after.empty()) out << ", after";
      for (const uint32_t before : tasks_[i].after) out << " " << before;
      if (step.group != nullptr) out << ", fused as task " << step.first;
      out << "\n";
    }
  }
  return out.str();
}

std::string CapturedGraph::trace() const {
  std::ostringstream out;
  out << "{\"traceEvents\": [";
  for (size_t i = 0; i < tasks_.size(); ++i) {
    out << (i == 0 ? "\n" : ",\n") << "{\"name\": \"" << tasks_[i].name << "\", \"ph\": \"X\", \"ts\": " << i
        << ", \"dur\": 1, \"pid\": \"graph " << id_ << "\", \"tid\": \"" << stream_name(tasks_[i].stream)
        << "\", \"args\": {\"task\": " << i << ", \"after\": [";
    for (size_t j = 0; j < tasks_[i].after.size(); ++j) out << (j == 0 ? "" : ", ") << tasks_[i].after[j];
    out << "]}}";
  }
  out << "\n]}\n";
  return out.str();
}

}  // namespace softnpu
