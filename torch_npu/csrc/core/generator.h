#pragma once
// Random number generators. The state is a seed and an offset, 16 bytes, as on devices with counter-based generators.

#include <ATen/core/Generator.h>
#include <c10/core/GeneratorImpl.h>

#include <optional>
#include <utility>

namespace torch_npu {

class GeneratorImpl final : public c10::GeneratorImpl {
 public:
  explicit GeneratorImpl(c10::DeviceIndex device);

  void set_current_seed(uint64_t seed) override;
  uint64_t current_seed() const override { return seed_; }
  uint64_t seed() override;
  void set_offset(uint64_t offset) override { offset_ = offset; }
  uint64_t get_offset() const override { return offset_; }
  void set_state(const c10::TensorImpl& state) override;
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override;

  // A seed for one host kernel, drawn from (seed, offset); the offset advances. The caller holds mutex_.
  uint64_t next_kernel_seed();

  // Seed and offset of one call of a counter-based kernel; the offset advances. The caller holds mutex_.
  std::pair<uint64_t, uint64_t> next_counter();

 private:
  GeneratorImpl* clone_impl() const override;

  uint64_t seed_ = c10::default_rng_seed_val;
  uint64_t offset_ = 0;
};

// A device's default generator; -1 is the current device. Its creation initialises nothing.
const at::Generator& default_generator(c10::DeviceIndex device);
at::Generator make_generator(c10::DeviceIndex device);

// An operator's generator: `given`, else the default one of `device`. Throws for a generator of another device.
at::Generator generator_of(const std::optional<at::Generator>& given, c10::DeviceIndex device);

// Seed and offset in the types of aclnn's functions.
struct Counter {
  int64_t seed;
  int64_t offset;
};
// For one call of a counter-based kernel; the generator advances.
Counter next_counter(const std::optional<at::Generator>& given, c10::DeviceIndex device);

}  // namespace torch_npu
