// How a stream's tasks run: one by one, fused, or in steps between which the stream is parked.

#include <array>
#include <chrono>
#include <exception>
#include <mutex>
#include <new>
#include <utility>

#include "runtime/status_from_callback.h"
#include "runtime/stream/executor.h"
#include "runtime/stream/stream.h"

namespace softnpu {
namespace {

thread_local uint64_t epoch_of_task = 0;

// Sets launch_epoch() for the task that this thread runs; a task may launch another, which runs at once.
class TaskEpoch {
 public:
  explicit TaskEpoch(uint64_t epoch) : previous_(std::exchange(epoch_of_task, epoch)) {}
  TaskEpoch(const TaskEpoch&) = delete;
  TaskEpoch& operator=(const TaskEpoch&) = delete;
  ~TaskEpoch() { epoch_of_task = previous_; }

 private:
  const uint64_t previous_;
};

}  // namespace

uint64_t launch_epoch() { return epoch_of_task; }

void Stream::execute(Task& task) {
  switch (task.kind) {
    case Kind::kRecord: {
      const int64_t begin = task.tag ? trace::now() : 0;
      task.event->complete(task.generation);
      if (task.tag) trace::ran(task.tag, location(), begin, false);
      return;
    }
    case Kind::kWait:
    case Kind::kSteps: return trace::dropped(task.tag);
    case Kind::kWork: return void(run_recorded(task));
  }
}

bool Stream::run_recorded(Task& task) {
  if (!task.tag) [[likely]]
    return run(task);
  const trace::Running running(task.tag, location());
  const int64_t begin = trace::now();
  const bool is_ok = run(task);
  trace::ran(task.tag, location(), begin, !is_ok);
  return is_ok;
}

bool Stream::run(Task& task) {
  if (skips()) return false;
  const TaskEpoch epoch(task.traits.epoch);
  try {
    Status status = task.work();
    if (status.is_ok()) return true;
    keep_error(task, status.code(), status.message().c_str());
  } catch (const std::bad_alloc&) {
    keep_error(task, ACL_ERROR_BAD_ALLOC, "out of host memory");
  } catch (const std::exception& e) {
    keep_error(task, ACL_ERROR_RT_INTERNAL_ERROR, e.what());
  } catch (...) {
    keep_error(task, ACL_ERROR_RT_INTERNAL_ERROR, "unknown exception");
  }
  return false;
}

bool Stream::skips() const {
  if (!stop_on_failure_.load(std::memory_order_relaxed)) return false;
  std::lock_guard lock(mutex_);
  return !error_.is_ok();
}

bool Stream::run_group(Task& first) {
  std::array<void*, kMaxGroup> states{};
  std::array<size_t, kMaxGroup> last_readers{};
  const softnpuFusion& fusion = *first.traits.fusible->fusion;
  size_t candidates = 0;
  const auto add = [&](const Task& task) {
    states[candidates] = task.traits.fusible->state;
    last_readers[candidates] = task.output_dead_at == UINT64_MAX ? SIZE_MAX : task.output_dead_at - first.number - 1;
    ++candidates;
  };
  {
    std::lock_guard lock(mutex_);
    add(first);
    while (candidates < kMaxGroup && candidates <= queue_.size()) {
      const Task& next = queue_[candidates - 1];
      if (next.traits.fusible == nullptr || next.traits.fusible->fusion != &fusion) break;
      add(next);
    }
    if (candidates == 1) return false;
    is_analysing_ = true;
  }
  void* group = nullptr;
  const size_t count = fusion.analyse(states.data(), last_readers.data(), candidates, &group);
  std::array<Task, kMaxGroup> rest;
  {
    std::lock_guard lock(mutex_);
    for (size_t i = 1; i < count; ++i) {
      rest[i] = std::move(queue_.front());
      queue_.pop_front();
    }
    is_analysing_ = false;
  }
  analysed_.notify_all();
  if (count == 1) return false;
  executor_->count_fused_tasks(count - 1);
  Work first_work = std::move(first.work);  // owns the data that the group reads of the first task
  first.work = [&fusion, group, state = states[0]] {
    return status_from_callback([&](char* message, size_t size) { return fusion.run(group, state, message, size); });
  };
  const int64_t begin = first.tag ? trace::now() : 0;
  const bool is_ok = run(first);
  if (first.tag) {
    trace::ran(first.tag, location(), begin, !is_ok, count);
    for (size_t i = 1; i < count; ++i) {
      trace::ran_fused(rest[i].tag, location(), first.tag, static_cast<uint32_t>(i));
    }
  } else {  // the recording began between the tasks' launches
    for (size_t i = 1; i < count; ++i) trace::dropped(rest[i].tag);
  }
  fusion.release(group);
  first = {};
  first_work = nullptr;
  rest = {};  // releases resources before the tasks count as done
  finish(count);
  return true;
}

void Stream::advance() {
  Task task;
  bool was_parked = false;
  {
    std::lock_guard lock(mutex_);
    was_parked = parked_.has_value();
    if (was_parked) {
      task = std::move(*parked_);
      parked_.reset();
    } else if (queue_.empty()) {  // the stream was abandoned meanwhile
      owned_ = false;
      return;
    } else {
      task = std::move(queue_.front());
      queue_.pop_front();
    }
    running_name_ = task.name;
    running_number_ = task.number;
    if (task.tag && !was_parked) began_at_ = trace::now();
  }
  if (task.kind == Kind::kWait) {
    // If the task's work fails, nothing will complete its event: the stream continues.
    const bool waits = !task.work || was_parked || run(task);
    task.work = nullptr;
    if (waits && park(task)) return;
    if (const Status failure = task.event->failure(task.generation); !failure.is_ok()) {
      keep_error(task, failure.code(), failure.message().c_str());
    }
    task.event->end_wait();
    if (task.tag) trace::ran(task.tag, location(), began_at_, false);
  } else if (task.kind == Kind::kSteps) {
    bool is_ok = true;
    if (run_steps(task, &is_ok)) return;
    if (task.tag) trace::ran(task.tag, location(), began_at_, !is_ok);
  } else {
    if (task.traits.fusible != nullptr && run_group(task)) return;
    execute(task);
  }
  task = {};  // releases the work's resources before the task counts as done
  finish(1);
}

bool Stream::run_steps(Task& task, bool* is_ok) {
  const trace::Running running(task.tag, location());
  while (true) {
    bool again = false;
    task.work = [&] {
      task.generation = task.event->begin_record();
      return task.steps->step(&again);
    };
    *is_ok = run(task);
    task.work = nullptr;
    if (!*is_ok || !again) return false;
    if (park(task)) return true;
    // Nothing resumes it any more if it was abandoned while it ran; else it was resumed meanwhile.
    std::lock_guard lock(mutex_);
    if (task.number < abandoned_) return false;
  }
}

bool Stream::park(Task& task) {
  std::lock_guard lock(mutex_);
  if (task.number < abandoned_) return false;  // the stream was abandoned while the executor was about to park it
  ticket_ = ++tickets_;
  try {
    if (!task.event->park(task.generation, {shared_from_this(), ticket_, nullptr})) {
      ticket_ = 0;
      return false;
    }
  } catch (const std::exception&) {  // out of memory to park: retry
    ticket_ = 0;
    executor_->push(shared_from_this());
  }
  parked_ = std::move(task);
  parked_at_ = std::chrono::steady_clock::now();
  return true;
}

}  // namespace softnpu
