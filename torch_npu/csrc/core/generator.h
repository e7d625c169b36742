#pragma once
// Random number generators. The state is a seed and an offset, 16 bytes, as on devices with counter-based generators.

#include <ATen/core/Generator.h>
#include <c10/core/GeneratorImpl.h>

#include <cstdint>
#include <optional>

#include "core/captured_generators.h"

namespace torch_npu {

// In a capture of the current stream of its device, the offset is what the capture has drawn, and the seed stays.
class GeneratorImpl final : public c10::GeneratorImpl {
 public:
  using State = c10::intrusive_ptr<GeneratorState>;

  GeneratorImpl(c10::DeviceIndex device, State state);

  void set_current_seed(uint64_t seed) override;
  uint64_t current_seed() const override { return state_->get().seed; }
  uint64_t seed() override;
  void set_offset(uint64_t offset) override;
  uint64_t get_offset() const override;
  void set_state(const c10::TensorImpl& state) override;
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override;
  // Shares the state of another npu generator.
  void graphsafe_set_state(const c10::intrusive_ptr<c10::GeneratorImpl>& other) override;
  // A generator that shares this one's state.
  c10::intrusive_ptr<c10::GeneratorImpl> graphsafe_get_state() const override;

  // A seed for one host kernel, drawn from (seed, offset); the offset advances. The caller holds mutex_.
  uint64_t next_kernel_seed();

  const State& state() const { return state_; }

 private:
  GeneratorImpl* clone_impl() const override;
  void set(RandomCounter counter);

  State state_;
};

// A device's default generator; -1 is the current device. Its creation initialises nothing.
const at::Generator& default_generator(c10::DeviceIndex device);
at::Generator make_generator(c10::DeviceIndex device);

// An operator's generator: `given`, else the default one of `device`. Throws for a generator of another device.
at::Generator generator_of(const std::optional<at::Generator>& given, c10::DeviceIndex device);

// The state of an npu generator. Throws for a generator of another device.
const GeneratorImpl::State& state_of(const at::Generator& generator);

// Seed and offset in the types of aclnn's functions.
struct Counter {
  int64_t seed = 0;
  int64_t offset = 0;
  // In a capture, instead of the seed: numbers in device memory. `offset` is to be added to theirs.
  std::optional<GeneratorState::Memory> memory;
};
// For one call of a counter-based kernel on the current stream of `device`; the generator advances. Throws, and ends
// the capture, if the stream is captured and the kernel cannot be: `reads_memory` says whether it takes numbers in
// memory.
Counter next_counter(const std::optional<at::Generator>& given, c10::DeviceIndex device, bool reads_memory);

}  // namespace torch_npu
