#include "runtime/stream/stream.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "base/spin.h"
#include "base/text.h"
#include "base/ticks.h"
#include "base/wait.h"
#include "runtime/config.h"
#include "runtime/exceptions.h"
#include "runtime/stream/executor.h"

namespace softnpu {
namespace {

constexpr aclError kWrongArgument = -SOFTNPU_INDEX_ERROR;

uint64_t bytes_of(std::span<const softnpuRange> written) {
  uint64_t bytes = 0;
  for (const softnpuRange& range : written) bytes += range.bytes;
  return bytes;
}

}  // namespace

uint32_t this_thread() {
  static thread_local const auto id = static_cast<uint32_t>(syscall(SYS_gettid));
  return id;
}

Stream::~Stream() { drop_capture(); }

void Stream::drop_capture() {
  if (const auto capture = capture_if_any()) {
    capture->forget(*this);
    leave_capture(capture.get());
  }
}

Status Stream::submit(const char* name, Cost cost, Work work, TaskTraits traits) {
  if (const auto capture = capture_if_any()) {
    CapturedTask captured;
    captured.name = name;
    captured.work = std::move(work);
    captured.fusible = traits.fusible;
    captured.written.assign(traits.written.begin(), traits.written.end());
    captured.cost = cost;
    return capture->add(*this, std::move(captured));
  }
  Task task;
  task.name = name;
  task.work = std::move(work);
  task.traits = traits;
  task.tag = trace::tag();
  if (!may_run_inline(cost) || !enter_inline()) return enqueue(std::move(task), cost);
  task.thread = this_thread();
  task.number = submitted_.load(std::memory_order_relaxed) + gate_.count_run();
  if (task.tag) {
    trace::launched(task.tag, SOFTNPU_TRACE_WORK, name, location(), task.number, bytes_of(traits.written));
  }
  const uint64_t begin = ticks();
  run_recorded(task);
  executor_->add_inline(ticks() - begin);
  task.work = nullptr;  // releases its resources before the task counts as done
  leave_inline();
  return config().launch_blocking ? synchronize(std::chrono::milliseconds(-1)) : Status::ok();
}

bool Stream::may_run_inline(Cost cost) const {
  switch (config().inline_mode) {
    case InlineMode::kNever: return false;
    case InlineMode::kAlways: return true;
    case InlineMode::kAuto: break;
  }
  return cost == Cost::kSmall || (cost == Cost::kShort && executor_->idle_long_enough());
}

bool Stream::enter_inline() {
  if (!gate_.try_enter()) return false;
  if (!gate_.must_leave()) return true;
  leave_inline();
  return false;
}

void Stream::leave_inline() {
  if (gate_.leave()) return;
  {
    std::lock_guard lock(mutex_);
    ++awaited_leaves_;
    if (!queue_.empty() && !std::exchange(owned_, true)) executor_->push(shared_from_this());
  }
  changed_.notify_all();
}

Status Stream::record(std::shared_ptr<Event> event) {
  if (const auto capture = capture_if_any()) {
    std::shared_ptr<const CapturedPosition> position;
    SOFTNPU_RETURN_IF_ERROR(capture->record(*this, &position));
    if (event->capture(std::move(position))) return Status::ok();
    return refuse_in_capture("a record of an external event or of one that processes share",
                             "record an event of aclrtCreateEvent");
  }
  Task task;
  task.kind = Kind::kRecord;
  task.event = std::move(event);
  return enqueue(std::move(task), Cost::kSmall);
}

Status Stream::wait(std::shared_ptr<Event> event) {
  const std::shared_ptr<const CapturedPosition> position = event->captured();
  const auto own = capture_if_any();
  if (position != nullptr || own != nullptr) return wait_captured(*event, position.get(), own.get());
  Task task;
  task.kind = Kind::kWait;
  task.generation = event->newest();
  if (event->is_complete(task.generation)) return Status::ok();
  task.event = std::move(event);
  return enqueue(std::move(task), Cost::kLarge);
}

Status Stream::wait_captured(const Event& event, const CapturedPosition* position, Capture* own) {
  const std::shared_ptr<Capture> other = position == nullptr ? nullptr : position->capture.lock();
  const auto refuse = [&](aclError code, std::string message) -> Status {
    Status refused(code, std::move(message));
    if (own != nullptr) own->invalidate(refused);
    return refused;
  };
  if (position == nullptr) {
    if (!event.mark() && event.newest() == 0) return Status::ok();  // never recorded
    return refuse(ACL_ERROR_RT_CAPTURE_DEPENDENCY,
                  text("stream ", id_, " of device ", device_, " captures and waits for an event that was recorded ",
                       "outside of the capture: wait for it before the capture begins"));
  }
  if (other == nullptr || !other->is_ongoing()) {
    return refuse(ACL_ERROR_RT_EVENT_CAPTURED,
                  "the event was recorded in a capture that has ended: record it again before waiting for it");
  }
  if (own != nullptr && own != other.get()) {
    return refuse(ACL_ERROR_STREAM_CAPTURE_CONFLICT,
                  text("stream ", id_, " of device ", device_, " waits for an event of another capture"));
  }
  return other->wait(*this, *position);
}

std::shared_ptr<Capture> Stream::capture() const {
  std::lock_guard lock(mutex_);
  return capture_;
}

Status Stream::refuse_in_capture(const char* what, const char* instead) const {
  const auto capture = capture_if_any();
  if (capture == nullptr) return Status::ok();
  Status refused(ACL_ERROR_RT_STREAM_CAPTURED, text(what, " cannot be part of a graph, and stream ", id_, " of device ",
                                                    device_, " captures one: ", instead));
  capture->invalidate(refused);
  return refused;
}

bool Stream::join_capture(std::shared_ptr<Capture> capture) {
  std::lock_guard lock(mutex_);
  if (capture_ != nullptr) return capture_ == capture;
  capture_ = std::move(capture);
  is_capturing_.store(true, std::memory_order_release);
  return true;
}

void Stream::leave_capture(const Capture* capture) {
  std::shared_ptr<Capture> left;  // released without the lock
  std::lock_guard lock(mutex_);
  if (capture_.get() != capture) return;
  left.swap(capture_);
  is_capturing_.store(false, std::memory_order_release);
}

Status Stream::gate(const char* name, Work start, std::shared_ptr<Event> done) {
  SOFTNPU_RETURN_IF_ERROR(refuse_in_capture(name, "call it before the capture or after it"));
  Task task;
  task.kind = Kind::kWait;
  task.name = name;
  task.work = std::move(start);
  task.generation = done->newest();
  task.event = std::move(done);
  return enqueue(std::move(task), Cost::kLarge);
}

Status Stream::capture_steps(const char* name, StepsMaker&& make, std::span<const softnpuRange> written,
                             bool* is_captured) {
  const auto capture = capture_if_any();
  *is_captured = capture != nullptr;
  if (capture == nullptr) return Status::ok();
  CapturedTask captured;
  captured.name = name;
  captured.make_steps = std::move(make);
  captured.written.assign(written.begin(), written.end());
  return capture->add(*this, std::move(captured));
}

Status Stream::submit_steps(const char* name, std::shared_ptr<Steps> steps, uint64_t epoch) {
  SOFTNPU_RETURN_IF_ERROR(refuse_in_capture(name, "end the graph before it and begin another one after it"));
  Task task;
  task.kind = Kind::kSteps;
  task.name = name;
  task.event = steps->turn();
  task.traits.epoch = epoch;
  task.steps = std::move(steps);
  return enqueue(std::move(task), Cost::kLarge);
}

softnpuTraceTask Stream::traced(const Task& task) {
  switch (task.kind) {
    case Kind::kRecord: return SOFTNPU_TRACE_EVENT_RECORD;
    case Kind::kWait: return SOFTNPU_TRACE_EVENT_WAIT;
    case Kind::kSteps: return SOFTNPU_TRACE_STEPS;
    case Kind::kWork: break;
  }
  return SOFTNPU_TRACE_WORK;
}

Status Stream::enqueue(Task task, Cost cost) {
  bool runs_here = false;
  task.thread = this_thread();
  if (!task.tag && trace::wants(SOFTNPU_TRACE_TASKS)) task.tag = trace::begin_task();
  const std::span<const softnpuRange> written = std::exchange(task.traits.written, {});
  {
    std::unique_lock lock(mutex_);
    // Records and waits are not limited: they pin no memory, and the caller may hold a lock that queued work needs.
    if (task.kind == Kind::kWork && !executor_->on_executor_thread()) {
      Status status = wait_until(&lock, kNever, [&] { return queue_.size() < kMaxQueued; });
      if (!status.is_ok()) {
        trace::withdrawn(task.tag);
        return status;
      }
    }
    gate_.add_pending();
    const bool is_taken = gate_.await_leave();
    task.number = submitted_ + gate_.runs();
    // What waits never runs inline: it would block the caller.
    const bool may_wait = task.kind == Kind::kWait || task.kind == Kind::kSteps;
    runs_here = !is_taken && !owned_ && queue_.empty() && !may_wait && may_run_inline(cost);
    runs_here = runs_here || executor_->stopped();
    bool is_queued = false;
    const trace::Tag tag = task.tag;
    const auto forget = [&] {
      if (is_queued) queue_.pop_back();
      gate_.remove_pending(1);
      trace::withdrawn(tag);
    };
    try {
      if (!runs_here) {
        if (Status started = executor_->start(); !started.is_ok()) {
          forget();
          return started;
        }
      }
      Task& enqueued = runs_here ? task : queue_.emplace_back(std::move(task));
      is_queued = !runs_here;
      // In queue order: a wait for a generation is enqueued after its record, whatever their streams.
      if (enqueued.kind == Kind::kRecord) enqueued.generation = enqueued.event->begin_record(this);
      if (enqueued.kind == Kind::kWait && !runs_here) enqueued.event->add_wait();
      if (tag) trace::launched(tag, traced(enqueued), enqueued.name, location(), enqueued.number, bytes_of(written));
    } catch (...) {
      forget();
      throw;
    }
    ++submitted_;
    // leave_inline() hands the queue over.
    if (!is_taken && !std::exchange(owned_, true) && !runs_here) executor_->push(shared_from_this());
  }
  if (runs_here) {
    execute(task);
    finish(1);
  }
  if (config().launch_blocking) return synchronize(std::chrono::milliseconds(-1));
  return Status::ok();
}

void Stream::finish(size_t tasks) {
  {
    std::lock_guard lock(mutex_);
    done_ += tasks;
    gate_.remove_pending(tasks);
    owned_ = !queue_.empty();
    if (owned_) executor_->push(shared_from_this());
  }
  changed_.notify_all();
}

void Stream::output_dead(const void* address, size_t bytes) {
  // A freed value was usually computed a few tasks ago.
  constexpr size_t kMaxLooks = 8;
  if (const auto capture = capture_if_any()) return capture->output_dead(address, bytes);
  if (!gate_.has_pending()) return;
  const auto* begin = static_cast<const char*>(address);
  std::lock_guard lock(mutex_);
  const uint64_t now = submitted_ + gate_.runs();
  for (size_t i = 0; i < std::min(kMaxLooks, queue_.size()); ++i) {
    Task& task = queue_[queue_.size() - 1 - i];
    if (task.traits.fusible == nullptr || task.output_dead_at != UINT64_MAX) continue;
    const auto* output = static_cast<const char*>(task.traits.fusible->output);
    if (output != nullptr && begin <= output && output < begin + bytes) task.output_dead_at = now;
  }
}

void Stream::wake(const Waiter& waiter) {
  Stream& stream = *waiter.stream;
  std::lock_guard lock(stream.mutex_);
  if (stream.ticket_ != waiter.ticket) return;
  stream.ticket_ = 0;
  stream.executor_->push(waiter.stream);
}

bool Stream::waits(const Waiter& waiter) {
  std::lock_guard lock(waiter.stream->mutex_);
  return waiter.stream->ticket_ == waiter.ticket;
}

auto Stream::all_so_far() {
  return [this, target = submitted_.load(), leaves = awaited_leaves_] {
    return done_ >= target && (awaited_leaves_ != leaves || !gate_.await_leave());
  };
}

Status Stream::synchronize(std::chrono::milliseconds timeout) {
  SOFTNPU_RETURN_IF_ERROR(refuse_in_capture("a wait of the host", "wait before the capture or after it"));
  if (timeout.count() != 0) spin_until([this] { return idle(); });
  using Clock = std::chrono::steady_clock;
  std::unique_lock lock(mutex_);
  const auto end = timeout.count() < 0 ? kNever : Clock::now() + timeout;
  Status status = wait_until(&lock, end, all_so_far());
  if (status.is_ok()) return std::exchange(error_, Status());
  if (status.code() != ACL_ERROR_RT_STREAM_SYNC_TIMEOUT) return status;
  return {status.code(), text("stream ", id_, " of device ", device_, " is still busy after ", timeout.count(), " ms")};
}

template <typename Reached>
Status Stream::wait_until(std::unique_lock<std::mutex>* lock, std::chrono::steady_clock::time_point end,
                          const Reached& reached) {
  using Clock = std::chrono::steady_clock;
  while (true) {
    const TimeLimits limits = time_limits();
    const auto look = limits.any() ? std::min(end, Clock::now() + limits.pause()) : end;
    if (softnpu::wait_until(changed_, *lock, look, reached)) return Status::ok();
    if (limits.any()) {
      lock->unlock();
      leave_overdue(limits);
      Status status = overdue(*this, limits);
      lock->lock();
      if (!status.is_ok()) return reached() ? Status::ok() : status;
    }
    if (look == end) return {ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, {}};
  }
}

std::pair<std::shared_ptr<Event>, uint64_t> Stream::parked_on() const {
  std::lock_guard lock(mutex_);
  return parked_ ? std::pair{parked_->event, parked_->generation} : std::pair{std::shared_ptr<Event>(), uint64_t{0}};
}

Status Stream::own_overdue(const TimeLimits& limits) const {
  std::lock_guard lock(mutex_);
  const auto runs_too_long = [&](const char* name, uint64_t number) -> Status {
    return {ACL_ERROR_RT_AICORE_TIMEOUT,
            text(name, " on stream ", id_, " of device ", device_, " (task ", number, ") runs for longer than ",
                 limits.execute.count(),
                 " us (aclrtSetOpExecuteTimeOut): it is left to end by itself, what is behind it on the stream waits")};
  };
  if (executor_->is_overdue(this)) return runs_too_long(running_name_, running_number_);
  if (parked_ && parked_->steps != nullptr && parked_->steps->computes()) {
    const bool is_late =
        limits.execute != TimeLimits::kForever && std::chrono::steady_clock::now() - parked_at_ >= limits.execute;
    return is_late ? runs_too_long(parked_->name, parked_->number) : Status::ok();
  }
  if (!parked_ || limits.wait == TimeLimits::kForever || std::chrono::steady_clock::now() - parked_at_ < limits.wait) {
    return Status::ok();
  }
  const std::string_view name(parked_->name);
  return {ACL_ERROR_RT_WAIT_TIMEOUT,
          text("stream ", id_, " of device ", device_, " waits for ", name.empty() ? "an event" : name, " (task ",
               parked_->number, ") for longer than ", limits.wait.count(), " us (aclrtSetOpWaitTimeout)")};
}

bool Stream::drained(std::chrono::steady_clock::time_point end) {
  std::unique_lock lock(mutex_);
  const auto reached = all_so_far();
  return softnpu::wait_until(changed_, lock, end, reached);
}

void Stream::drop(Task& task) {
  // Completes a dropped record, so that its waiters do not wait for ever.
  if (task.kind == Kind::kRecord) task.event->complete(task.generation);
  if (task.kind == Kind::kWait) task.event->end_wait();
  trace::dropped(task.tag);
}

void Stream::abandon(const Status& reason) {
  if (const auto capture = capture_if_any()) {
    capture->invalidate({ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, text("work of stream ", id_, " was dropped")});
  }
  std::deque<Task> dropped;
  std::optional<Task> parked;
  {
    std::unique_lock lock(mutex_);
    analysed_.wait(lock, [this] { return !is_analysing_; });
    dropped.swap(queue_);
    parked.swap(parked_);
    abandoned_ = submitted_ + gate_.runs();
    // A parked stream that was not woken yet is free now; a woken one is owned by the executor.
    if (std::exchange(ticket_, 0) != 0) owned_ = false;
    const size_t tasks = dropped.size() + (parked ? 1 : 0);
    done_ += tasks;
    gate_.remove_pending(tasks);
    if (tasks > 0 && error_.is_ok()) error_ = reason;
  }
  if (parked) drop(*parked);
  for (Task& task : dropped) drop(task);
  changed_.notify_all();
}

void Stream::keep_error(const char* name, const Status& status) noexcept {
  std::lock_guard lock(mutex_);
  if (!error_.is_ok()) return;
  try {
    error_ = {status.code(), text(name, " on stream ", id_, " of device ", device_, ": ", status.message())};
  } catch (...) {
    error_ = {status.code(), {}};  // no memory for the text: only the code
  }
}

void Stream::keep_error(const Task& task, aclError code, const char* message) noexcept {
  const Cause cause = code == SOFTNPU_INDEX_ERROR ? Cause::kIndex : Cause::kTask;
  if (code == SOFTNPU_INDEX_ERROR) code = kWrongArgument;
  report_exception({static_cast<uint32_t>(task.number), id_, task.thread, static_cast<uint32_t>(device_),
                    static_cast<uint32_t>(code)});
  std::lock_guard lock(mutex_);
  if (!error_.is_ok()) return;
  try {
    error_ = {code,
              text(task.name, " on stream ", id_, " of device ", device_, " (task ", task.number,
                   ", launched by thread ", task.thread, "): ", message),
              cause};
  } catch (...) {
    error_ = {code, {}, cause};
  }
}

}  // namespace softnpu
