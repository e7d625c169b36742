#pragma once
// Device activity with times, for profilers. During a recording each piece of work stores its name, stream, times and
// operator; otherwise a piece of work costs one load.

#include <c10/core/Stream.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace torch_npu::trace {

enum class Kind : uint8_t { kKernel, kCopy };

struct Activity {
  std::string name;
  Kind kind;
  c10::Stream stream;
  int64_t start_ns;  // of the host's wall clock, as c10::getTime()
  int64_t end_ns;
  uint64_t correlation;  // the innermost operator's id on the thread that started the work; 0: none
  uint64_t task = 0;     // its number among softnpu's records; 0: none
};

struct Recording {
  std::vector<Activity> activities;
  std::vector<std::string> errors;  // reasons for missing activities
};

// Starts a recording of all threads; discards a running one.
void start();

// Ends it and waits for its work. Work that another thread is just launching is omitted.
Recording stop();

// The profiler's id of the operator that this thread enters, and its end.
void push_correlation(uint64_t id);
void pop_correlation() noexcept;

namespace detail {
struct Record;
// Number of observers of work: recordings (0 or 1) and threads that count routes (core/route_stats.h).
inline std::atomic<int> watchers{0};
inline bool is_watched() { return watchers.load(std::memory_order_relaxed) != 0; }
// Null if only routes are counted.
std::shared_ptr<Record> begin_launch(const char* name, Kind kind, c10::Stream stream);
void end_launch(Record& record) noexcept;
std::shared_ptr<Record> begin_host_kernel(const char* name, c10::DeviceIndex device);
void end_host_kernel(Record& record) noexcept;
}  // namespace detail

// To be alive around the call that enqueues one piece of work on `stream`, whose device is bound.
class Launch {
 public:
  Launch(const char* name, Kind kind, c10::Stream stream) {
    if (detail::is_watched()) [[unlikely]]
      record_ = detail::begin_launch(name, kind, stream);
  }
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;
  ~Launch() {
    if (record_ != nullptr) [[unlikely]]
      detail::end_launch(*record_);
  }

 private:
  std::shared_ptr<detail::Record> record_;
};

// To be alive while a kernel runs on the calling thread in place of `device`, as if it were in the current stream. The
// activity is named aicpu:: and the operator.
class HostKernel {
 public:
  HostKernel(const char* name, c10::DeviceIndex device) {
    if (detail::is_watched()) [[unlikely]] {
      is_watched_ = true;
      record_ = detail::begin_host_kernel(name, device);
    }
  }
  HostKernel(const HostKernel&) = delete;
  HostKernel& operator=(const HostKernel&) = delete;
  ~HostKernel() {
    if (record_ != nullptr) [[unlikely]]
      detail::end_host_kernel(*record_);
  }
  // Whether somebody looks at it.
  bool is_watched() const noexcept { return is_watched_; }

 private:
  bool is_watched_ = false;
  std::shared_ptr<detail::Record> record_;
};

}  // namespace torch_npu::trace
