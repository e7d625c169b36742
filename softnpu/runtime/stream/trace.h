#pragma once
// Where the runtime reports events. While nothing records, an event costs one relaxed load. softnpu/prof stores them.

#include <atomic>
#include <cstdint>

#include "softnpu/trace.h"

namespace softnpu {

class Device;

namespace trace {

// The bits of all recordings.
inline std::atomic<uint32_t> wanted{0};
inline bool wants(uint32_t what) noexcept { return (wanted.load(std::memory_order_relaxed) & what) != 0; }

int64_t now() noexcept;

// Stores `record`, with the calling thread's number. Never throws: if there is no memory, the record is counted as
// lost.
void append(softnpuTraceRecord record) noexcept;

// A task that is recorded; id 0: it is not.
struct Tag {
  uint64_t id = 0;
  int64_t begin = 0;  // of its launch

  explicit operator bool() const { return id != 0; }
};

Tag begin_task() noexcept;

// The tag of a task that is about to be launched.
inline Tag tag() noexcept { return wants(SOFTNPU_TRACE_TASKS) ? begin_task() : Tag{}; }

// Where a task is launched.
struct Location {
  int32_t device;
  uint32_t stream;
};

// The task was queued, or runs now. `number`: of the task in its stream.
void launched(Tag tag, softnpuTraceTask task, const char* name, Location location, uint64_t number,
              uint64_t bytes) noexcept;
// It was not launched after all.
void withdrawn(Tag tag) noexcept;
// It was launched and will never run.
void dropped(Tag tag) noexcept;
// It ran from `begin` until now, fused with the next `members` - 1 tasks.
void ran(Tag tag, Location location, int64_t begin, bool failed, uint64_t members = 1) noexcept;
// It ran as the `position`th of the group that `leader` began.
void ran_fused(Tag tag, Location location, Tag leader, uint32_t position) noexcept;

// The task that this thread runs, for the nodes of a graph. To be alive around it.
class Running {
 public:
  Running(Tag tag, Location location) noexcept;
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running();

  Tag tag() const noexcept { return tag_; }
  Location location() const noexcept { return location_; }

 private:
  const Running* const outer_;
  const Tag tag_;
  const Location location_;
};

// A node of a graph.
struct Node {
  const char* name;
  uint32_t stream;
  uint64_t bytes;  // that it writes
};
// A node of the graph that this thread's task replays ran from `begin` until now, fused with the next `members` - 1.
// The recorded node, or none if the replay is not recorded.
Tag node_ran(const Node& node, int64_t begin, bool failed, uint64_t members = 1) noexcept;
// It ran as the `position`th of the group that `leader` began.
void node_ran_fused(const Node& node, Tag leader, uint32_t position) noexcept;

// How much memory of `device` is in use, if a recording wants it.
void report_heap(Device& device) noexcept;

// A call of the host, while it is alive. `name` is a literal.
class Call {
 public:
  explicit Call(const char* name) noexcept : name_(name), begin_(wants(SOFTNPU_TRACE_CALLS) ? now() : 0) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() {
    if (begin_ != 0) [[unlikely]]
      softnpuTraceCall(name_, begin_);
  }

 private:
  const char* const name_;
  const int64_t begin_;
};

}  // namespace trace
}  // namespace softnpu
