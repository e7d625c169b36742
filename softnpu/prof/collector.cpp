#include "prof/collector.h"

#include <pthread.h>

#include <algorithm>
#include <cstdlib>

#include "base/join.h"
#include "base/no_destroy.h"
#include "base/own_thread.h"
#include "runtime/stream/trace.h"

namespace softnpu::prof {
namespace {

// How long a record may stay in its thread's buffer: a killed program loses no more.
constexpr std::chrono::milliseconds kPause{50};
// How long the end of a recording waits for tasks while another one goes on: its tasks count, too.
constexpr std::chrono::milliseconds kSharedTimeout{500};

// This thread's buffer. The pointer has no destructor and stays readable while the thread ends.
thread_local constinit ThreadBuffer* own_buffer = nullptr;
thread_local constinit bool own_is_over = false;
struct OwnBuffer {
  std::shared_ptr<ThreadBuffer> buffer;
  ~OwnBuffer() {
    own_buffer = nullptr;
    own_is_over = true;
    if (buffer != nullptr) buffer->close();
  }
};
thread_local OwnBuffer own_holder;

uint32_t bits_of(uint8_t kind) {
  switch (kind) {
    case SOFTNPU_TRACE_CALL: return SOFTNPU_TRACE_CALLS;
    case SOFTNPU_TRACE_DETAIL: return SOFTNPU_TRACE_DETAILS;
    case SOFTNPU_TRACE_HEAP: return SOFTNPU_TRACE_MEMORY;
    case SOFTNPU_TRACE_MARK: return SOFTNPU_TRACE_MARKS;
    default: return SOFTNPU_TRACE_TASKS;
  }
}

}  // namespace

Collector& Collector::get() {
  static NoDestroy<Collector> instance;
  // The child of a fork has no thread that would take records.
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { trace::wanted.store(0, std::memory_order_relaxed); });
  (void)registered;
  return instance.get();
}

std::shared_ptr<ThreadBuffer> Collector::open_buffer() {
  auto buffer = std::make_shared<ThreadBuffer>();
  std::lock_guard lock(mutex_);
  buffers_.push_back(buffer);
  return buffer;
}

void Collector::append(const softnpuTraceRecord& record) {
  if (own_buffer == nullptr) {
    if (own_is_over) return count_lost();
    own_holder.buffer = open_buffer();
    own_buffer = own_holder.buffer.get();
  }
  own_buffer->append(record);
}

const char* Collector::intern(std::string_view text) {
  std::lock_guard lock(texts_mutex_);
  return texts_.emplace(text).first->c_str();
}

void Collector::give(Sink* sink, const softnpuTraceRecord& record) noexcept {
  try {
    sink->take(record);
  } catch (...) {
    count_lost();
  }
}

void Collector::deliver() {
  std::erase_if(buffers_, [this](const auto& buffer) {
    const bool is_last = buffer->is_closed();
    buffer->take([this](const softnpuTraceRecord& record) {
      const uint32_t bits = bits_of(record.kind);
      for (const Listener& listener : listeners_) {
        if ((listener.wanted & bits) != 0) give(listener.sink, record);
      }
    });
    return is_last;
  });
  for (const Listener& listener : listeners_) listener.sink->flush();
}

void Collector::update_wanted() {
  uint32_t bits = 0;
  for (const Listener& listener : listeners_) bits |= listener.wanted;
  trace::wanted.store(bits, std::memory_order_relaxed);
}

void Collector::add(Sink* sink, uint32_t wanted) {
  std::lock_guard lock(mutex_);
  deliver();  // what was recorded before is not the new one's
  listeners_.push_back({sink, wanted});
  if (!thread_.joinable()) {
    try {
      thread_ = start_own_thread([this, generation = ++generation_] { run(generation); });
    } catch (...) {
      listeners_.pop_back();
      throw;
    }
  }
  update_wanted();
}

uint64_t Collector::remove(Sink* sink, std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  const auto found = std::ranges::find(listeners_, sink, &Listener::sink);
  if (found == listeners_.end()) return 0;
  // Tasks that are launched from now on are not recorded, unless another sink wants them.
  const uint32_t wanted = std::exchange(found->wanted, 0);
  update_wanted();
  found->wanted = wanted;
  if (listeners_.size() > 1) timeout = std::min(timeout, kSharedTimeout);
  const auto end = std::chrono::steady_clock::now() + timeout;
  while (open_.load(std::memory_order_acquire) > 0 && std::chrono::steady_clock::now() < end) {
    changed_.wait_for(lock, std::chrono::milliseconds(1));
  }
  deliver();
  std::erase_if(listeners_, [sink](const Listener& listener) { return listener.sink == sink; });
  std::thread ended;
  if (listeners_.empty()) {
    ended = std::move(thread_);
    ++generation_;
  }
  lock.unlock();
  changed_.notify_all();
  join(std::move(ended));
  return static_cast<uint64_t>(std::max<int64_t>(0, open_.load()));
}

void Collector::run(uint64_t generation) {
  std::unique_lock lock(mutex_);
  while (generation == generation_) {
    changed_.wait_for(lock, kPause);
    if (generation == generation_) deliver();
  }
}

}  // namespace softnpu::prof
