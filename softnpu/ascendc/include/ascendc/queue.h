#pragma once
// TQueBind and TQue: tensors that one pipe fills and another reads, in turn.

#include <cstdint>
#include <source_location>

#include "ascendc/pipe.h"
#include "ascendc/tensor.h"

namespace AscendC {

// The event of two pipes.
constexpr HardEvent event_between(softnpu::kernel::Pipe from, softnpu::kernel::Pipe to) {
  for (int i = 0; i < static_cast<int>(HardEvent::MAX); ++i) {
    const auto pipes = softnpu::kernel::pipes_of(static_cast<HardEvent>(i));
    if (pipes.from == from && pipes.to == to) return static_cast<HardEvent>(i);
  }
  return HardEvent::MAX;
}

// Its tensors are filled as those of `source` are and read as those of `destination` are. `depth` tensors at most are
// enqueued at once. Sources: its use in Ascend/samples, DrivingSDK and sgl-kernel-npu kernels.
template <TPosition source, TPosition destination, int32_t depth, auto mask = 0>
class TQueBind {
 public:
  static constexpr TPosition kPosition = source == TPosition::GM ? destination : source;
  static constexpr softnpu::kernel::LocalMemory kMemory = softnpu::kernel::memory_of(kPosition);

  // A tensor that nobody has, after what read it last. It is the caller's until EnQue or FreeTensor.
  template <typename T>
  LocalTensor<T> AllocTensor(const std::source_location& where = std::source_location::current()) {
    for (uint32_t i = 0; i < number_; ++i) {
      LocalBuffer& buffer = buffers_[(next_ + i) % number_];
      if (buffer.is_lent) continue;
      // Without checks a buffer is idle when it is given back: the same one again stays in the CPU's caches.
      if (softnpu::kernel::is_checked) next_ = (next_ + i + 1) % number_;
      pipe_->wait(&buffer.emptied, where);
      buffer.is_lent = true;
      softnpu::kernel::local_event(softnpu::kernel::LocalEvent::kAlloc, memory(buffer), this, where);
      return tensor<T>(buffer);
    }
    softnpu::kernel::fail(number_ == 0 ? "AllocTensor: the queue has no buffers: InitBuffer is missing"
                                       : "AllocTensor: all buffers of the queue are in use: FreeTensor is missing",
                          where);
  }

  template <typename T>
  bool EnQue(const LocalTensor<T>& tensor, const std::source_location& where = std::source_location::current()) {
    LocalBuffer& buffer = find(tensor.GetPhyAddr(), "EnQue: the tensor is not one that the queue has given out", where);
    if (count_ == kDepth) softnpu::kernel::fail_order("EnQue: the queue is full: DeQue is missing", where);
    if constexpr (kHasEvents) pipe_->set(&buffer.filled, kForth, where);
    queue_[(first_ + count_++) % kDepth] = &buffer;
    softnpu::kernel::local_event(softnpu::kernel::LocalEvent::kEnque, memory(buffer), this, where);
    return true;
  }

  // The tensor that was enqueued first, after it was filled.
  template <typename T>
  LocalTensor<T> DeQue(const std::source_location& where = std::source_location::current()) {
    if (count_ == 0) softnpu::kernel::fail_order("DeQue: nothing is in the queue: EnQue is missing", where);
    LocalBuffer& buffer = *queue_[first_];
    first_ = (first_ + 1) % kDepth;
    --count_;
    pipe_->wait(&buffer.filled, where);
    softnpu::kernel::local_event(softnpu::kernel::LocalEvent::kDeque, memory(buffer), this, where);
    return tensor<T>(buffer);
  }

  // A tensor of another queue is free there: kernels swap queues that are filled and read alike.
  template <typename T>
  void FreeTensor(const LocalTensor<T>& tensor, const std::source_location& where = std::source_location::current()) {
    LocalBuffer* const lent = pipe_ == nullptr ? nullptr : pipe_->lent(tensor.GetPhyAddr());
    if (lent == nullptr) softnpu::kernel::fail("FreeTensor: the tensor is not one that a queue has given out", where);
    LocalBuffer& buffer = *lent;
    if constexpr (kHasEvents) pipe_->set(&buffer.emptied, kBack, where);
    buffer.is_lent = false;
    softnpu::kernel::local_event(softnpu::kernel::LocalEvent::kFree, memory(buffer), this, where);
  }

  bool HasTensorInQue() const { return count_ > 0; }
  bool VacantInQue() const { return count_ < kDepth; }

  // For the pipe.
  void assign(TPipe* pipe, LocalBuffer* buffers, uint32_t number) {
    pipe_ = pipe;
    buffers_ = buffers;
    number_ = number;
    next_ = first_ = count_ = 0;
  }

 private:
  static constexpr uint32_t kDepth = depth > 0 ? depth : 1;
  static constexpr softnpu::kernel::Pipe kProducer = softnpu::kernel::producer_of(source);
  static constexpr softnpu::kernel::Pipe kConsumer = softnpu::kernel::consumer_of(destination);
  static constexpr HardEvent kForth = event_between(kProducer, kConsumer);
  static constexpr HardEvent kBack = event_between(kConsumer, kProducer);
  // One pipe needs no events with itself: it works in order.
  static constexpr bool kHasEvents = kProducer != kConsumer;
  static_assert(!kHasEvents || (kForth != HardEvent::MAX && kBack != HardEvent::MAX),
                "no events connect the pipes of these positions");

  static softnpu::kernel::Memory memory(const LocalBuffer& buffer) { return {buffer.address, buffer.bytes}; }
  template <typename T>
  LocalTensor<T> tensor(const LocalBuffer& buffer) const {
    return LocalTensor<T>(buffer.address, buffer.bytes, kPosition, this);
  }
  LocalBuffer& find(uint64_t address, const char* otherwise, const std::source_location& where) const {
    for (uint32_t i = 0; i < number_; ++i) {
      if (reinterpret_cast<uint64_t>(buffers_[i].address) == address && buffers_[i].is_lent) return buffers_[i];
    }
    softnpu::kernel::fail_order(otherwise, where);
  }

  TPipe* pipe_ = nullptr;
  LocalBuffer* buffers_ = nullptr;  // the pipe's
  uint32_t number_ = 0;
  uint32_t next_ = 0;                // where AllocTensor looks first
  LocalBuffer* queue_[kDepth] = {};  // a ring
  uint32_t first_ = 0;
  uint32_t count_ = 0;
};

template <TPosition position, int32_t depth, auto mask = 0>
class TQue : public TQueBind<position, position, depth, mask> {};

}  // namespace AscendC
