#pragma once
// TPipe: divides local memory among queues and buffers, and gives out event ids.

#include <cstdint>
#include <exception>
#include <source_location>
#include <string>

#include "ascendc/sync.h"
#include "ascendc/types.h"
#include "softnpu_kernel/positions.h"

namespace AscendC {

// An event that was set for a buffer and not waited for.
struct PendingEvent {
  HardEvent event{};
  TEventID id = -1;  // -1: none
};

// A part of local memory that a queue lends as a tensor.
struct LocalBuffer {
  uint8_t* address = nullptr;
  uint32_t bytes = 0;
  bool is_lent = false;
  PendingEvent filled;   // set by EnQue
  PendingEvent emptied;  // set by FreeTensor
};

// One lives at a time in a kernel. Sources: its use in Ascend/samples, DrivingSDK and sgl-kernel-npu kernels.
class TPipe {
 public:
  static constexpr uint32_t kMaxBuffers = 64;

  explicit TPipe(const std::source_location& where = std::source_location::current()) : where_(where) { Init(); }
  TPipe(const TPipe&) = delete;
  TPipe& operator=(const TPipe&) = delete;
  // Waits for all pipes; throws what checked mode finds.
  ~TPipe() noexcept(false) {
    if (std::uncaught_exceptions() == 0) Destroy();
  }

  // Makes it the one that GetTPipePtr() returns.
  void Init() { softnpu::kernel::current_block()->pipe = this; }

  // Gives `queue` `number` buffers of `bytes` bytes, rounded up to 32.
  template <typename Queue>
  bool InitBuffer(Queue& queue, uint32_t number, uint32_t bytes,
                  const std::source_location& where = std::source_location::current()) {
    if (number == 0 || number > kMaxBuffers - buffers_used_)
      softnpu::kernel::fail("InitBuffer: a pipe has at most 64 buffers for its queues, and a queue at least one",
                            where);
    const uint32_t first = buffers_used_;
    buffers_used_ += number;
    for (uint32_t i = first; i < buffers_used_; ++i) {
      const auto memory = take(Queue::kMemory, bytes, &queue, where);
      buffers_[i] = {static_cast<uint8_t*>(memory.address), static_cast<uint32_t>(memory.bytes), false, {}, {}};
    }
    queue.assign(this, buffers_ + first, number);
    return true;
  }
  // Gives `buffer` `bytes` bytes, rounded up to 32.
  template <typename Buffer>
  bool InitBuffer(Buffer& buffer, uint32_t bytes, const std::source_location& where = std::source_location::current()) {
    buffer.assign(take(Buffer::kMemory, bytes, &buffer, where));
    return true;
  }

  // An id of the event that nobody has; it is the caller's until ReleaseEventID.
  template <HardEvent event>
  TEventID AllocEventID(const std::source_location& where = std::source_location::current()) {
    return allocate(event, where);
  }
  template <HardEvent event>
  void ReleaseEventID(int32_t id, const std::source_location& = std::source_location::current()) {
    release(event, id);
  }
  // An id of the event that nobody has. It stays free: to be set and waited for at once.
  TEventID FetchEventID(HardEvent event, const std::source_location& where = std::source_location::current()) {
    return find(event, where);
  }
  template <HardEvent event>
  TEventID FetchEventID(const std::source_location& where = std::source_location::current()) {
    return find(event, where);
  }

  // Waits for all pipes and takes back all memory and events. Queues and buffers have to be initialised again.
  void Reset(const std::source_location& where = std::source_location::current()) {
    for (uint32_t i = 0; i < buffers_used_; ++i) wait(&buffers_[i].emptied, where);
    softnpu::kernel::barrier(softnpu::kernel::kAllPipes, where);
    softnpu::kernel::local_event(softnpu::kernel::LocalEvent::kReset, {}, this, where);
    for (uint64_t& used : used_) used = 0;
    for (uint8_t& taken : taken_) taken = 0;
    buffers_used_ = 0;
  }
  void Destroy() {
    softnpu::kernel::Block* block = softnpu::kernel::current_block();
    if (is_destroyed_ || block == nullptr) return;
    is_destroyed_ = true;
    Reset(where_);
    if (block->pipe == this) block->pipe = nullptr;
  }

  // For the headers of queues: the buffer at `address` that a queue has given out; null: none.
  LocalBuffer* lent(uint64_t address) {
    for (uint32_t i = 0; i < buffers_used_; ++i) {
      if (reinterpret_cast<uint64_t>(buffers_[i].address) == address && buffers_[i].is_lent) return &buffers_[i];
    }
    return nullptr;
  }
  // Sets `event` for a buffer.
  void set(PendingEvent* pending, HardEvent event, const std::source_location& where) {
    const auto pipes = softnpu::kernel::pipes_of(event);
    *pending = {event, allocate(event, where)};
    softnpu::kernel::set_flag(pipes.from, pipes.to, pending->id, where);
  }
  void wait(PendingEvent* pending, const std::source_location& where) {
    if (pending->id < 0) return;
    const auto pipes = softnpu::kernel::pipes_of(pending->event);
    softnpu::kernel::wait_flag(pipes.from, pipes.to, pending->id, where);
    release(pending->event, pending->id);
    pending->id = -1;
  }

 private:
  TEventID allocate(HardEvent event, const std::source_location& where) {
    const TEventID id = find(event, where);
    taken_[static_cast<int>(event)] |= static_cast<uint8_t>(1 << id);
    return id;
  }
  void release(HardEvent event, int32_t id) {
    if (id >= 0 && id < softnpu::kernel::kEventsOfPair)
      taken_[static_cast<int>(event)] &= static_cast<uint8_t>(~(1 << id));
  }
  // An id that nobody has. Where buffers' events hold all, the first of them is waited for now: there may be more
  // buffers than ids.
  TEventID find(HardEvent event, const std::source_location& where) {
    const uint8_t& taken = taken_[static_cast<int>(event)];
    for (uint32_t i = 0; taken == 0xff && i < buffers_used_; ++i) {
      if (buffers_[i].filled.event == event) wait(&buffers_[i].filled, where);
      if (buffers_[i].emptied.event == event) wait(&buffers_[i].emptied, where);
    }
    if (taken == 0xff)
      softnpu::kernel::fail_order("all 8 ids of an event are in use: ReleaseEventID is missing", where);
    return static_cast<TEventID>(__builtin_ctz(~static_cast<unsigned>(taken)));
  }

  softnpu::kernel::Memory take(softnpu::kernel::LocalMemory memory, uint32_t bytes, const void* owner,
                               const std::source_location& where) {
    const softnpu::kernel::Block& block = *softnpu::kernel::current_block();
    const int index = static_cast<int>(memory);
    const uint64_t rounded = (uint64_t{bytes} + 31) / 32 * 32;
    if (rounded > block.local_bytes[index] - used_[index]) {
      softnpu::kernel::fail(
          ("InitBuffer: " + std::to_string(rounded) + " bytes more than the " + std::to_string(used_[index]) +
           " in use exceed the memory's " + std::to_string(block.local_bytes[index]))
              .c_str(),
          where);
    }
    const softnpu::kernel::Memory taken{block.local[index] + used_[index], rounded};
    used_[index] += rounded;
    if (rounded == 0) return taken;  // kernels leave buffers that they do not use empty
    softnpu::kernel::local_event(softnpu::kernel::LocalEvent::kInitBuffer, taken, owner, where);
    return taken;
  }

  uint64_t used_[7] = {};                                 // by LocalMemory
  uint8_t taken_[static_cast<int>(HardEvent::MAX)] = {};  // ids, as bits
  LocalBuffer buffers_[kMaxBuffers];
  uint32_t buffers_used_ = 0;
  bool is_destroyed_ = false;
  std::source_location where_;
};

inline TPipe* GetTPipePtr() { return static_cast<TPipe*>(softnpu::kernel::current_block()->pipe); }

}  // namespace AscendC
