#pragma once
// A capture: between its begin and its end the tasks of its streams are kept instead of run. Another stream joins by
// waiting for an event that was recorded in the capture, and must come back in the same way before the end.

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "acl/acl_mdl.h"
#include "base/status.h"
#include "runtime/stream/capture/task.h"
#include "runtime/stream/capture/task_group.h"

namespace softnpu {

class Capture;
class CapturedGraph;
class Stream;

// Where an event was recorded in a capture: the tasks that a waiting stream waits for.
struct CapturedPosition {
  std::weak_ptr<Capture> capture;
  std::vector<uint32_t> tasks;
};

class Capture : public std::enable_shared_from_this<Capture> {
 public:
  Capture(std::shared_ptr<CapturedGraph> graph, aclmdlRICaptureMode mode);
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  ~Capture();

  const std::shared_ptr<CapturedGraph>& graph() const { return graph_; }
  aclmdlRICaptureMode mode() const { return mode_; }
  // Of the thread that began it.
  uint32_t thread() const { return thread_; }
  // The program's handle of what the capture becomes; set once after begin(). Compared, never dereferenced. The capture
  // gives it back.
  void* model() const { return model_; }
  void set_model(std::shared_ptr<void> model) {
    owned_model_ = std::move(model);
    model_ = owned_model_.get();
  }
  // The group that the tasks will replace; null if the capture makes a graph. Set before begin().
  const std::shared_ptr<const TaskGroup>& updates() const { return updates_; }
  void set_updates(std::shared_ptr<const TaskGroup> group) { updates_ = std::move(group); }
  // In words: "stream 3 of device 0 captures in global mode".
  std::string describe() const;

  // Makes `stream`, which captures nothing, its first stream.
  Status begin(Stream& stream);

  // Appends a task of `stream`. Fails if the capture was invalidated.
  Status add(const Stream& stream, CapturedTask task);
  Status record(const Stream& stream, std::shared_ptr<const CapturedPosition>* out);
  // `stream` waits for `position`, which is one of this capture. A stream that captures nothing joins.
  Status wait(Stream& stream, const CapturedPosition& position);
  // The tasks that `stream` adds from now on until end_group() are one task group. Fails inside another one.
  Status begin_group(const Stream& stream);
  Status end_group(const Stream& stream, std::vector<uint32_t>* tasks);
  // Tasks added from now on do not read [address, address + bytes).
  void output_dead(const void* address, size_t bytes);

  // From now on the capture fails; the first reason counts.
  void invalidate(const Status& reason);
  bool is_active() const;
  // Whether end() and drop() were not called yet.
  bool is_ongoing() const;

  // Ends it: all streams run their tasks again. Gives the tasks, or the reason why there is no graph, such as an open
  // task group.
  Status end(const Stream& stream, std::vector<CapturedTask>* tasks);
  // `stream`, which is part of it, is being destroyed: fails, and ends if it is the first stream.
  void forget(const Stream& stream);

 private:
  Status check_active() const;  // mutex_ is held
  Status check_joined() const;  // mutex_ is held
  Status check_groups() const;  // mutex_ is held
  void leave();

  const std::shared_ptr<CapturedGraph> graph_;
  const aclmdlRICaptureMode mode_;
  const uint32_t thread_;
  uint32_t first_stream_ = 0;
  std::shared_ptr<void> owned_model_;
  std::atomic<void*> model_{nullptr};
  std::shared_ptr<const TaskGroup> updates_;
  mutable std::mutex mutex_;  // guards all members below
  Status failure_;
  std::vector<CapturedTask> tasks_;
  std::map<const char*, size_t> outputs_;  // of fusible tasks, the newest at each address
  struct Member {
    std::weak_ptr<Stream> stream;
    std::vector<uint32_t> last;                  // tasks that its next one waits for
    std::optional<std::vector<uint32_t>> group;  // the tasks of an open task group
  };
  std::map<uint32_t, Member> members_;  // by id
  bool has_ended_ = false;
};

// The calling thread's mode, which decides with the captures' own whether a call is refused while they last. Returns
// the previous one.
aclmdlRICaptureMode exchange_capture_mode(aclmdlRICaptureMode mode);

// For a call that may disturb a capture, such as an allocation: fails, and invalidates the captures, where the modes
// refuse it. One load while nothing captures.
Status check_capture_allows(const char* call);

}  // namespace softnpu
