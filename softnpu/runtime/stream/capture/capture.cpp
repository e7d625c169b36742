#include "runtime/stream/capture/capture.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <utility>

#include "base/no_destroy.h"
#include "base/text.h"
#include "runtime/stream/capture/graph.h"
#include "runtime/stream/stream.h"

namespace softnpu {
namespace {

const char* mode_name(aclmdlRICaptureMode mode) {
  switch (mode) {
    case ACL_MODEL_RI_CAPTURE_MODE_GLOBAL: return "global";
    case ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL: return "thread-local";
    case ACL_MODEL_RI_CAPTURE_MODE_RELAXED: break;
  }
  return "relaxed";
}

// The captures that have begun and not ended.
class Ongoing {
 public:
  static Ongoing& get() {
    static NoDestroy<Ongoing> instance;
    return instance.get();
  }

  void add(Capture* capture) {
    std::lock_guard lock(mutex_);
    captures_.push_back(capture);
    count_.store(captures_.size(), std::memory_order_release);
  }
  void remove(const Capture* capture) {
    std::lock_guard lock(mutex_);
    std::erase(captures_, capture);
    count_.store(captures_.size(), std::memory_order_release);
  }
  bool empty() const { return count_.load(std::memory_order_acquire) == 0; }

  // Those for which is_meant(capture) holds.
  template <typename IsMeant>
  std::vector<std::shared_ptr<Capture>> find(const IsMeant& is_meant) const {
    std::vector<std::shared_ptr<Capture>> found;
    std::lock_guard lock(mutex_);
    for (Capture* capture : captures_) {
      if (std::shared_ptr<Capture> alive = capture->weak_from_this().lock(); alive && is_meant(*alive)) {
        found.push_back(std::move(alive));
      }
    }
    return found;
  }

 private:
  mutable std::mutex mutex_;  // guards captures_
  std::vector<Capture*> captures_;
  std::atomic<size_t> count_{0};
};

thread_local aclmdlRICaptureMode mode_of_thread = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;

// Adds to `to` what it lacks of `from`; both are sorted.
void merge(const std::vector<uint32_t>& from, std::vector<uint32_t>* to) {
  std::vector<uint32_t> merged;
  std::ranges::set_union(*to, from, std::back_inserter(merged));
  to->swap(merged);
}

}  // namespace

Capture::Capture(std::shared_ptr<CapturedGraph> graph, aclmdlRICaptureMode mode)
    : graph_(std::move(graph)), mode_(mode), thread_(this_thread()) {
  Ongoing::get().add(this);
}

Capture::~Capture() { Ongoing::get().remove(this); }

std::string Capture::describe() const {
  return text("stream ", first_stream_, " of device ", graph_->device(), " captures in ", mode_name(mode_), " mode");
}

Status Capture::begin(Stream& stream) {
  first_stream_ = stream.id();
  if (!stream.join_capture(shared_from_this())) {
    return {ACL_ERROR_RT_STREAM_CAPTURED,
            text("stream ", stream.id(), " of device ", stream.device(), " captures already: end that capture first")};
  }
  std::lock_guard lock(mutex_);
  members_[stream.id()].stream = stream.weak_from_this();
  return Status::ok();
}

Status Capture::check_active() const {
  if (failure_.is_ok()) return Status::ok();
  return {ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, text("the capture of stream ", first_stream_, " of device ",
                                                        graph_->device(), " has failed: ", failure_.message())};
}

Status Capture::add(const Stream& stream, CapturedTask task) {
  std::lock_guard lock(mutex_);
  SOFTNPU_RETURN_IF_ERROR(check_active());
  const auto number = static_cast<uint32_t>(tasks_.size());
  Member& member = members_[stream.id()];
  task.stream = stream.id();
  task.after = std::exchange(member.last, {number});
  if (member.group.has_value()) {
    task.is_updatable = true;
    task.fusible = nullptr;
    member.group->push_back(number);
  }
  if (task.fusible != nullptr && task.fusible->output != nullptr) {
    outputs_[static_cast<const char*>(task.fusible->output)] = number;
  }
  tasks_.push_back(std::move(task));
  return Status::ok();
}

Status Capture::record(const Stream& stream, std::shared_ptr<const CapturedPosition>* out) {
  std::lock_guard lock(mutex_);
  SOFTNPU_RETURN_IF_ERROR(check_active());
  *out = std::make_shared<CapturedPosition>(CapturedPosition{weak_from_this(), members_[stream.id()].last});
  return Status::ok();
}

Status Capture::wait(Stream& stream, const CapturedPosition& position) {
  if (stream.device() != graph_->device()) {
    Status refused(ACL_ERROR_STREAM_CAPTURE_CONFLICT,
                   text("a stream of device ", stream.device(), " cannot join the capture of device ", graph_->device(),
                        ": capture a graph for each device"));
    invalidate(refused);
    return refused;
  }
  // Without mutex_: the stream locks its own.
  (void)stream.join_capture(shared_from_this());
  std::lock_guard lock(mutex_);
  SOFTNPU_RETURN_IF_ERROR(check_active());
  Member& member = members_[stream.id()];
  member.stream = stream.weak_from_this();
  merge(position.tasks, &member.last);
  return Status::ok();
}

Status Capture::begin_group(const Stream& stream) {
  std::lock_guard lock(mutex_);
  SOFTNPU_RETURN_IF_ERROR(check_active());
  std::optional<std::vector<uint32_t>>& group = members_[stream.id()].group;
  if (group.has_value()) {
    return {ACL_ERROR_INVALID_PARAM, text("stream ", stream.id(), " has an open task group: end it first")};
  }
  group.emplace();
  return Status::ok();
}

Status Capture::end_group(const Stream& stream, std::vector<uint32_t>* tasks) {
  std::lock_guard lock(mutex_);
  SOFTNPU_RETURN_IF_ERROR(check_active());
  std::optional<std::vector<uint32_t>>& group = members_[stream.id()].group;
  if (!group.has_value()) {
    return {ACL_ERROR_INVALID_PARAM, text("stream ", stream.id(), " has no open task group: begin one first")};
  }
  *tasks = std::move(*group);
  group.reset();
  return Status::ok();
}

void Capture::output_dead(const void* address, size_t bytes) {
  const auto* begin = static_cast<const char*>(address);
  std::lock_guard lock(mutex_);
  for (auto at = outputs_.lower_bound(begin); at != outputs_.end() && at->first < begin + bytes;) {
    tasks_[at->second].dead_at = tasks_.size();
    at = outputs_.erase(at);
  }
}

void Capture::invalidate(const Status& reason) {
  std::lock_guard lock(mutex_);
  if (failure_.is_ok()) failure_ = reason;
}

bool Capture::is_active() const {
  std::lock_guard lock(mutex_);
  return failure_.is_ok();
}

bool Capture::is_ongoing() const {
  std::lock_guard lock(mutex_);
  return !has_ended_;
}

// Every task must be one that the first stream's end waits for.
Status Capture::check_joined() const {
  std::vector<bool> is_joined(tasks_.size());
  std::vector<uint32_t> open = members_.at(first_stream_).last;
  for (const uint32_t task : open) is_joined[task] = true;
  while (!open.empty()) {
    const uint32_t task = open.back();
    open.pop_back();
    for (const uint32_t before : tasks_[task].after) {
      if (!is_joined[before]) open.push_back(before);
      is_joined[before] = true;
    }
  }
  const auto missing = std::ranges::find(is_joined, false);
  if (missing == is_joined.end()) return Status::ok();
  const CapturedTask& task = tasks_[static_cast<size_t>(missing - is_joined.begin())];
  return {ACL_ERROR_RT_STREAM_UNJOINED,
          text("stream ", task.stream, " joined the capture of stream ", first_stream_,
               " and has not come back: ", task.name, " runs there. Record an event on it and let stream ",
               first_stream_, " wait for it before the capture ends")};
}

Status Capture::check_groups() const {
  for (const auto& [id, member] : members_) {
    if (!member.group.has_value()) continue;
    return {ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED,
            text("stream ", id, " has an open task group: call aclmdlRICaptureTaskGrpEnd before the capture ends")};
  }
  return Status::ok();
}

Status Capture::end(const Stream& stream, std::vector<CapturedTask>* tasks) {
  if (stream.id() != first_stream_) {
    return {ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED,
            text("stream ", stream.id(), " joined the capture that stream ", first_stream_, " began: end it there")};
  }
  leave();
  std::lock_guard lock(mutex_);
  SOFTNPU_RETURN_IF_ERROR(check_active());
  failure_ = {ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, "it has ended"};
  SOFTNPU_RETURN_IF_ERROR(check_joined());
  SOFTNPU_RETURN_IF_ERROR(check_groups());
  *tasks = std::move(tasks_);
  tasks_.clear();
  outputs_.clear();
  return Status::ok();
}

void Capture::forget(const Stream& stream) {
  invalidate({ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, text("stream ", stream.id(), " was destroyed")});
  if (stream.id() == first_stream_) leave();
}

void Capture::leave() {
  std::vector<std::shared_ptr<Stream>> streams;
  {
    std::lock_guard lock(mutex_);
    has_ended_ = true;
    for (auto& [id, member] : members_) {
      if (std::shared_ptr<Stream> stream = member.stream.lock()) streams.push_back(std::move(stream));
    }
  }
  for (const auto& stream : streams) stream->leave_capture(this);
  Ongoing::get().remove(this);
}

aclmdlRICaptureMode exchange_capture_mode(aclmdlRICaptureMode mode) { return std::exchange(mode_of_thread, mode); }

Status check_capture_allows(const char* call) {
  if (Ongoing::get().empty() || mode_of_thread == ACL_MODEL_RI_CAPTURE_MODE_RELAXED) return Status::ok();
  const uint32_t thread = this_thread();
  const auto refusing = Ongoing::get().find([&](const Capture& capture) {
    if (capture.mode() == ACL_MODEL_RI_CAPTURE_MODE_RELAXED) return false;
    if (capture.thread() == thread) return true;
    return mode_of_thread == ACL_MODEL_RI_CAPTURE_MODE_GLOBAL && capture.mode() == ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;
  });
  if (refusing.empty()) return Status::ok();
  const Status refused(ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT,
                       text(call, " is refused while ", refusing.front()->describe(),
                            ": call it before the capture, or in relaxed mode (aclmdlRICaptureThreadExchangeMode)"));
  for (const auto& capture : refusing) capture->invalidate(refused);
  return refused;
}

}  // namespace softnpu
