#include "core/task_queue.h"

#include <c10/util/Exception.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

#include "core/acl.h"
#include "core/aclnn.h"
#include "core/allocator/caching_allocator.h"
#include "core/device.h"
#include "core/environment.h"
#include "core/memory_blocks.h"
#include "core/special_streams.h"
#include "core/stream.h"

namespace torch_npu {
namespace {

// A program that runs further ahead waits: this bounds the resources of queued launches.
constexpr std::size_t kMaxQueued = 1024;

// Whether the caller launches in any case. Where kernels are checked, a launch has to know the tensors of its time.
bool caller_launches() { return launch_is_blocking() || tracks_blocks(); }

int read_level() {
  if (!environment::is_set("TASK_QUEUE_ENABLE") || caller_launches()) return 0;
  return value_or_warn(environment::choice("TASK_QUEUE_ENABLE"))[0] - '0';
}

// The queue of one device; lives as long as the process, its thread from the first launch on.
class TaskQueue {
 public:
  void push(const LaunchTask& task) {
    throw_failure();
    std::unique_lock lock(mutex_);
    if (!runs_) {
      std::thread([this] { run(); }).detach();
      runs_ = true;
    }
    changed_.wait(lock, [&] { return tasks_.size() < kMaxQueued; });
    tasks_.push_back(task);
    if (tasks_.size() == 1) changed_.notify_all();
  }

  void drain() noexcept {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return tasks_.empty(); });
  }

  void throw_failure() {
    std::lock_guard lock(mutex_);
    if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

  void* workspace(c10::Stream stream, uint64_t bytes) {
    std::lock_guard lock(workspaces_mutex_);
    Workspace& kept = workspaces_[stream.id()];
    if (kept.bytes < bytes) {
      drain();  // queued launches use the address
      kept = {};
      kept = {caching_allocator().allocate_on(stream.device_index(), bytes), bytes};
    }
    return kept.memory.get();
  }

 private:
  struct Workspace {
    c10::DataPtr memory;
    uint64_t bytes = 0;
  };

  void run() {
    pthread_setname_np(pthread_self(), "npu-launch");
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return !tasks_.empty(); });
      const LaunchTask& task = tasks_.front();  // not moved: others only append
      lock.unlock();
      std::exception_ptr failure;
      try {
        bind_device(task.stream.device_index());
        launch_now(task);
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      if (failure != nullptr && failure_ == nullptr) failure_ = failure;
      const bool was_full = tasks_.size() == kMaxQueued;
      tasks_.pop_front();  // after the launch: an empty queue has launched everything
      if (was_full || tasks_.empty()) changed_.notify_all();
    }
  }

  std::mutex mutex_;  // guards all members below
  std::condition_variable changed_;
  std::deque<LaunchTask> tasks_;
  std::exception_ptr failure_;
  bool runs_ = false;
  std::mutex workspaces_mutex_;  // guards workspaces_; taken before mutex_
  std::unordered_map<c10::StreamId, Workspace> workspaces_;
};

TaskQueue& queue_of(c10::DeviceIndex device) {
  static auto& queues =
      *std::make_unique<std::array<TaskQueue, kMaxDevices>>().release();  // used until the end of the process
  return queues[static_cast<std::size_t>(device)];
}

}  // namespace

std::atomic<int> detail::queue_level{read_level()};

void set_task_queue_level(int64_t level) {
  TORCH_CHECK(level >= 0 && level <= 2, "mode must be 0, 1, or 2, but got ", level, ".",
              error_tail("ERR00003", "PTA invalid value"));
  if (is_initialized()) {
    for (c10::DeviceIndex device = 0; device < device_count(); ++device) drain_launches(device);
  }
  detail::queue_level = caller_launches() ? 0 : static_cast<int>(level);
}

void launch_now(const LaunchTask& task) {
  Enqueue enqueue(task.stream, Enqueue::kFromQueue);
  check_aclnn(task.phase(task.workspace, task.workspace_bytes, task.executor, enqueue.handle()), task.name);
}

void queue_launch(const LaunchTask& task) {
  TaskQueue& queue = queue_of(task.stream.device_index());
  if (is_sync_launch(task.stream)) {
    queue.drain();  // launches of one device stay in order
    launch_now(task);
  } else {
    queue.push(task);
  }
}

void* stream_workspace(c10::Stream stream, uint64_t bytes) {
  return queue_of(stream.device_index()).workspace(stream, bytes);
}

void detail::drain(c10::DeviceIndex device) noexcept {
  if (!in_bad_fork()) queue_of(device).drain();  // a forked child has no such thread
}

void detail::throw_failure(c10::DeviceIndex device) { queue_of(device).throw_failure(); }

}  // namespace torch_npu
