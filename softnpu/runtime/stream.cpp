#include "runtime/stream.h"

#include <exception>
#include <new>
#include <utility>

#include "base/text.h"
#include "runtime/config.h"
#include "runtime/executor.h"

namespace softnpu {
namespace {

bool may_run_inline(Cost cost) {
  switch (config().inline_mode) {
    case InlineMode::kNever: return false;
    case InlineMode::kAlways: return true;
    case InlineMode::kAuto: break;
  }
  return cost == Cost::kSmall;
}

}  // namespace

Status Stream::submit(const char* name, Cost cost, std::function<Status()> work) {
  Task task;
  task.name = name;
  task.work = std::move(work);
  return enqueue(std::move(task), cost);
}

Status Stream::record(std::shared_ptr<Event> event) {
  Task task;
  task.kind = Kind::kRecord;
  task.event = std::move(event);
  return enqueue(std::move(task), Cost::kSmall);
}

Status Stream::wait(std::shared_ptr<Event> event) {
  Task task;
  task.kind = Kind::kWait;
  task.generation = event->newest();
  if (event->is_complete(task.generation)) return Status::ok();
  task.event = std::move(event);
  return enqueue(std::move(task), Cost::kLarge);
}

Status Stream::enqueue(Task task, Cost cost) {
  bool runs_here = false;
  {
    std::unique_lock lock(mutex_);
    // Marks pin no memory, and who sets one may hold what the queued work needs to go on: a lock of the program.
    if (task.kind == Kind::kWork && !executor_->on_executor_thread()) {
      changed_.wait(lock, [&] { return queue_.size() < kMaxQueued; });
    }
    // A wait never runs inline: it would block the caller.
    runs_here = !owned_ && queue_.empty() && task.kind != Kind::kWait && may_run_inline(cost);
    runs_here = runs_here || executor_->stopped();
    if (!runs_here) SOFTNPU_RETURN_IF_ERROR(executor_->start());
    Task& enqueued = runs_here ? task : queue_.emplace_back(std::move(task));
    // In the queue's order: who waits for a generation is enqueued behind its record, on whatever stream.
    if (enqueued.kind == Kind::kRecord) {
      try {
        enqueued.generation = enqueued.event->begin_record();
      } catch (...) {
        if (!runs_here) queue_.pop_back();
        throw;
      }
    }
    ++submitted_;
    pending_.fetch_add(1, std::memory_order_release);
    if (!std::exchange(owned_, true) && !runs_here) executor_->push(shared_from_this());
  }
  if (runs_here) {
    execute(task);
    finish(1);
  }
  if (config().launch_blocking) return synchronize(std::chrono::milliseconds(-1));
  return Status::ok();
}

void Stream::execute(Task& task) {
  if (task.kind == Kind::kRecord) {
    task.event->complete(task.generation);
    return;
  }
  if (task.kind == Kind::kWait) return;
  try {
    if (Status status = task.work(); !status.is_ok()) keep_error(task.name, status.code(), status.message().c_str());
  } catch (const std::bad_alloc&) {
    keep_error(task.name, ACL_ERROR_BAD_ALLOC, "out of host memory");
  } catch (const std::exception& e) {
    keep_error(task.name, ACL_ERROR_RT_INTERNAL_ERROR, e.what());
  } catch (...) {
    keep_error(task.name, ACL_ERROR_RT_INTERNAL_ERROR, "unknown exception");
  }
}

void Stream::finish(size_t tasks) {
  {
    std::lock_guard lock(mutex_);
    done_ += tasks;
    pending_.fetch_sub(tasks, std::memory_order_release);
    owned_ = !queue_.empty();
    if (owned_) executor_->push(shared_from_this());
  }
  changed_.notify_all();
}

void Stream::advance() {
  Task task;
  {
    std::lock_guard lock(mutex_);
    if (queue_.empty()) {  // abandoned meanwhile
      owned_ = false;
      return;
    }
    Task& front = queue_.front();
    if (front.kind == Kind::kWait) {
      try {
        // Parked: the stream stays owned, and the event wakes it.
        if (front.event->park(front.generation, shared_from_this())) return;
      } catch (const std::bad_alloc&) {
        executor_->push(shared_from_this());  // without memory to park it asks again
        return;
      }
    }
    task = std::move(front);
    queue_.pop_front();
  }
  execute(task);
  task = {};  // what the work holds is released before anyone learns that it is done
  finish(1);
}

void Stream::wake(std::shared_ptr<Stream> stream) {
  Executor* executor = stream->executor_;
  executor->push(std::move(stream));
}

Status Stream::synchronize(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  uint64_t target = submitted_;
  auto reached = [&] { return done_ >= target; };
  if (timeout.count() < 0) {
    changed_.wait(lock, reached);
  } else if (!changed_.wait_for(lock, timeout, reached)) {
    return {ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
            text("stream ", id_, " of device ", device_, " is still busy after ", timeout.count(), " ms")};
  }
  return std::exchange(error_, Status());
}

void Stream::abandon() {
  std::deque<Task> dropped;
  {
    std::lock_guard lock(mutex_);
    dropped.swap(queue_);
    done_ += dropped.size();
    pending_.fetch_sub(dropped.size(), std::memory_order_release);
  }
  // Whoever waits for a mark of this stream must not wait for ever.
  for (Task& task : dropped) {
    if (task.kind == Kind::kRecord) task.event->complete(task.generation);
  }
  changed_.notify_all();
}

void Stream::keep_error(const char* name, aclError code, const char* message) noexcept {
  std::lock_guard lock(mutex_);
  if (!error_.is_ok()) return;
  try {
    error_ = {code, text(name, " on stream ", id_, " of device ", device_, ": ", message)};
  } catch (...) {
    error_ = {code, {}};  // without memory for the text the code alone has to do
  }
}

}  // namespace softnpu
