#pragma once
// The records of one thread: appended by it without a lock, taken by another thread.

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>

#include "softnpu/trace.h"

namespace softnpu::prof {

// A list of chunks. One thread appends, one at a time takes.
class ThreadBuffer {
 public:
  ThreadBuffer() : first_(new Chunk), last_(first_) {}
  ThreadBuffer(const ThreadBuffer&) = delete;
  ThreadBuffer& operator=(const ThreadBuffer&) = delete;
  ~ThreadBuffer() {
    for (Chunk* chunk = first_; chunk != nullptr;) {
      const std::unique_ptr<Chunk> ended(chunk);
      chunk = ended->next.load(std::memory_order_relaxed);
    }
  }

  // Throws std::bad_alloc.
  void append(const softnpuTraceRecord& record) {
    size_t count = last_->count.load(std::memory_order_relaxed);
    if (count == kChunk) {
      auto fresh = std::make_unique<Chunk>();
      last_->next.store(fresh.get(), std::memory_order_release);
      last_ = fresh.release();
      count = 0;
    }
    last_->records[count] = record;
    last_->count.store(count + 1, std::memory_order_release);
  }

  // The thread that appends has ended.
  void close() { is_closed_.store(true, std::memory_order_release); }
  // If it is, a take() after it gets everything.
  bool is_closed() const { return is_closed_.load(std::memory_order_acquire); }

  // Calls visit(record) with what was appended since the last call.
  template <typename Visit>
  void take(const Visit& visit) {
    while (true) {
      const size_t count = first_->count.load(std::memory_order_acquire);
      for (; taken_ < count; ++taken_) visit(first_->records[taken_]);
      Chunk* next = count < kChunk ? nullptr : first_->next.load(std::memory_order_acquire);
      if (next == nullptr) return;
      const std::unique_ptr<Chunk> ended(first_);
      first_ = next;
      taken_ = 0;
    }
  }

 private:
  static constexpr size_t kChunk = 256;
  struct Chunk {
    std::array<softnpuTraceRecord, kChunk> records;
    std::atomic<size_t> count{0};
    std::atomic<Chunk*> next{nullptr};
  };

  Chunk* first_;  // owned, as those after it
  size_t taken_ = 0;
  Chunk* last_;
  std::atomic<bool> is_closed_{false};
};

}  // namespace softnpu::prof
