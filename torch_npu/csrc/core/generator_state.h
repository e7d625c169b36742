#pragma once
// The state of a generator: a seed and an offset, and for graphs their copies in device memory. Several generators may
// share one (Generator.graphsafe_set_state).

#include <ATen/core/Tensor.h>
#include <c10/core/GeneratorImpl.h>
#include <c10/core/Stream.h>
#include <c10/util/intrusive_ptr.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

namespace torch_npu {

struct RandomCounter {
  uint64_t seed = c10::default_rng_seed_val;
  uint64_t offset = 0;
};

// All functions lock it.
class GeneratorState final : public c10::intrusive_ptr_target {
 public:
  explicit GeneratorState(c10::DeviceIndex device, RandomCounter counter = {}) : device_(device), counter_(counter) {}

  c10::DeviceIndex device() const { return device_; }
  RandomCounter get() const;
  void set(RandomCounter counter);
  // Before the offset advances by `step`.
  RandomCounter advance(uint64_t step);

  // Int64 tensors of one element from which captured tasks read seed and offset. They exist while a graph holds them.
  struct Memory {
    at::Tensor seed;
    at::Tensor offset;
  };
  void hold();
  void release();
  Memory memory() const;

  // Enqueues on `stream`, the current one, that the memory gets seed and offset; the offset advances by `drawn`. The
  // stream waits for the last replay if that was on another one: it reads the same memory.
  void begin_replay(c10::Stream stream, uint64_t drawn);

 private:
  const c10::DeviceIndex device_;
  mutable std::mutex mutex_;  // guards all members below
  RandomCounter counter_;
  Memory memory_;
  std::size_t holders_ = 0;
  std::optional<c10::Stream> last_replay_;
};

}  // namespace torch_npu
