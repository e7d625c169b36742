#include "core/generator.h"

#include <ATen/EmptyTensor.h>
#include <c10/core/TensorImpl.h>

#include <array>
#include <cstring>
#include <memory>

#include "core/capture.h"
#include "core/device.h"

namespace torch_npu {
namespace {

constexpr std::size_t kStateBytes = 16;
// The offset's increment per kernel call: a multiple of four, as in other counter-based generators.
constexpr uint64_t kOffsetStep = 4;

// SplitMix64 (Steele, Lea, Flood 2014): consecutive inputs give unrelated outputs.
uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// A machine without devices still has generators that can be seeded: those of npu:0.
c10::DeviceIndex existing(c10::DeviceIndex device) {
  return device > 0 || device_count() > 0 ? checked_device(device) : device;
}

}  // namespace

GeneratorImpl::GeneratorImpl(c10::DeviceIndex device)
    : c10::GeneratorImpl({c10::DeviceType::PrivateUse1, device}, c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)) {}

void GeneratorImpl::set_current_seed(uint64_t seed) {
  seed_ = seed;
  offset_ = 0;
}

uint64_t GeneratorImpl::seed() {
  set_current_seed(c10::detail::getNonDeterministicRandom());
  return seed_;
}

void GeneratorImpl::set_state(const c10::TensorImpl& state) {
  TORCH_CHECK(state.device().is_cpu() && state.dtype() == caffe2::TypeMeta::Make<uint8_t>() && state.is_contiguous() &&
                  static_cast<std::size_t>(state.numel()) == kStateBytes,
              "an npu generator's state is a contiguous CPU tensor of 16 bytes (seed, offset), got ", state.numel(),
              " elements of ", state.dtype(), " on ", state.device());
  const auto* bytes = static_cast<const char*>(state.data());
  std::memcpy(&seed_, bytes, sizeof seed_);
  std::memcpy(&offset_, bytes + sizeof seed_, sizeof offset_);
}

c10::intrusive_ptr<c10::TensorImpl> GeneratorImpl::get_state() const {
  at::TensorBase state = at::detail::empty_cpu({static_cast<int64_t>(kStateBytes)}, at::kByte);
  auto* bytes = static_cast<char*>(state.mutable_data_ptr());
  std::memcpy(bytes, &seed_, sizeof seed_);
  std::memcpy(bytes + sizeof seed_, &offset_, sizeof offset_);
  return state.getIntrusivePtr();
}

uint64_t GeneratorImpl::next_kernel_seed() {
  uint64_t drawn = mix(seed_ ^ mix(offset_));
  offset_ += kOffsetStep;
  return drawn;
}

std::pair<uint64_t, uint64_t> GeneratorImpl::next_counter() {
  return {seed_, std::exchange(offset_, offset_ + kOffsetStep)};
}

GeneratorImpl* GeneratorImpl::clone_impl() const {
  auto copy = std::make_unique<GeneratorImpl>(device().index());
  copy->seed_ = seed_;
  copy->offset_ = offset_;
  return copy.release();  // by c10's contract the caller adopts it
}

at::Generator make_generator(c10::DeviceIndex device) {
  if (device < 0) device = current_device();
  return at::make_generator<GeneratorImpl>(existing(device));
}

at::Generator generator_of(const std::optional<at::Generator>& given, c10::DeviceIndex device) {
  if (!given.has_value() || !given->defined()) return default_generator(device);
  TORCH_CHECK(given->device().type() == c10::DeviceType::PrivateUse1,
              "Expected a 'npu' device type for generator but found '", given->device(), "'");
  return *given;
}

const at::Generator& default_generator(c10::DeviceIndex device) {
  static auto& generators = *[] {
    auto made = std::make_unique<std::array<at::Generator, kMaxDevices>>();
    for (c10::DeviceIndex i = 0; i < kMaxDevices; ++i) {
      (*made)[static_cast<std::size_t>(i)] = at::make_generator<GeneratorImpl>(i);
    }
    return made.release();
  }();
  return generators[static_cast<std::size_t>(existing(device))];
}

Counter next_counter(const std::optional<at::Generator>& given, c10::DeviceIndex device) {
  // Seed and offset would be those of the capture at each replay.
  refuse_in_capture(device, "a random operator", "each replay would draw the same numbers.");
  at::Generator from = generator_of(given, device);
  std::lock_guard lock(from.mutex());
  const auto [seed, offset] = static_cast<GeneratorImpl*>(from.unsafeGetGeneratorImpl())->next_counter();
  return {static_cast<int64_t>(seed), static_cast<int64_t>(offset)};
}

}  // namespace torch_npu
