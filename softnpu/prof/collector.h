#pragma once
// Hands the records of all threads to those that want them.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_set>
#include <vector>

#include "prof/buffer.h"
#include "softnpu/trace.h"

namespace softnpu::prof {

// Takes records, on the collector's thread or on that of add() or remove(), never on two at once.
class Sink {
 public:
  Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  virtual ~Sink() = default;

  virtual void take(const softnpuTraceRecord& record) = 0;
  // After a series of records.
  virtual void flush() {}
};

class Collector {
 public:
  // The one instance. Never destroyed.
  static Collector& get();

  // Begins to give `sink` the records of `wanted`. Throws std::system_error, std::bad_alloc.
  void add(Sink* sink, uint32_t wanted);
  // Waits until the tasks that were launched have run, at most `timeout`, gives `sink` the rest and forgets it. Returns
  // how many tasks had not run.
  uint64_t remove(Sink* sink, std::chrono::milliseconds timeout);

  // This thread's buffer.
  void append(const softnpuTraceRecord& record);
  // Counts tasks between their launch and their end.
  void count_open(int64_t change) { open_.fetch_add(change, std::memory_order_acq_rel); }
  uint64_t next_id() { return next_id_.fetch_add(1, std::memory_order_relaxed); }
  // The same text with the lifetime of the process.
  const char* intern(std::string_view text);
  // Records that were lost because there was no memory.
  void count_lost() noexcept { lost_.fetch_add(1, std::memory_order_relaxed); }
  uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  struct Listener {
    Sink* sink;
    uint32_t wanted;
  };

  void give(Sink* sink, const softnpuTraceRecord& record) noexcept;
  // mutex_ is held.
  void deliver();
  void update_wanted();
  void run(uint64_t generation);
  std::shared_ptr<ThreadBuffer> open_buffer();

  std::atomic<int64_t> open_{0};
  std::atomic<uint64_t> next_id_{1};
  std::atomic<uint64_t> lost_{0};
  std::mutex texts_mutex_;  // guards the texts
  std::unordered_set<std::string> texts_;
  std::mutex mutex_;  // guards all members below, and taking from buffers
  std::condition_variable changed_;
  std::vector<std::shared_ptr<ThreadBuffer>> buffers_;
  std::vector<Listener> listeners_;
  std::thread thread_;
  uint64_t generation_ = 0;  // of thread_; another number ends it
};

}  // namespace softnpu::prof
