#pragma once
// What the device did and when, for profilers. While a recording is on, each piece of work leaves its name, its stream,
// its times and the operator that it belongs to; while it is off, a piece of work costs one load.

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
  int64_t start_ns;  // of the host's wall clock, as c10::getTime() tells it
  int64_t end_ns;
  uint64_t correlation;  // the innermost operator's id on the thread that started the work; 0: none
};

struct Recording {
  std::vector<Activity> activities;
  std::vector<std::string> errors;  // why activities are missing
};

// Starts a recording of all threads; a running one is dropped.
void start();

// Ends it and waits for the work that it holds. Work whose launch is still under way on another thread is left out.
Recording stop();

// The profiler's id of the operator that this thread enters, and its end.
void push_correlation(uint64_t id);
void pop_correlation() noexcept;

namespace detail {
struct Record;
// Recordings (0 or 1) and threads that count routes (core/route_stats.h): who looks at pieces of work.
inline std::atomic<int> watchers{0};
inline bool is_watched() { return watchers.load(std::memory_order_relaxed) != 0; }
// Null where only routes are counted.
std::shared_ptr<Record> begin_launch(const char* name, Kind kind, c10::Stream stream);
void end_launch(Record& record) noexcept;
std::shared_ptr<Record> begin_host_kernel(const char* name, c10::DeviceIndex device);
void end_host_kernel(Record& record) noexcept;
}  // namespace detail

// Lives around the call that enqueues one piece of work on `stream`, whose device is bound.
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

// Lives while a kernel runs on the calling thread in the stead of `device`, as if it stood in the current stream. The
// activity is called aicpu:: and the operator.
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
