#include "core/generator.h"

#include <ATen/EmptyTensor.h>
#include <c10/core/TensorImpl.h>

#include <array>
#include <cstring>
#include <memory>
#include <utility>

#include "core/capture.h"
#include "core/device.h"
#include "core/stream.h"

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

at::Generator new_generator(c10::DeviceIndex device) {
  return at::make_generator<GeneratorImpl>(device, c10::make_intrusive<GeneratorState>(device));
}

}  // namespace

GeneratorImpl::GeneratorImpl(c10::DeviceIndex device, State state)
    : c10::GeneratorImpl({c10::DeviceType::PrivateUse1, device}, c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)),
      state_(std::move(state)) {}

void GeneratorImpl::set(RandomCounter counter) {
  if (!CapturedDraws::offset(*state_).has_value()) return state_->set(counter);
  TORCH_CHECK(counter.seed == current_seed(), "the seed of an npu generator cannot change in a capture, from ",
              current_seed(), " to ", counter.seed, ": set it before the capture or before a replay");
  CapturedDraws::set_offset(*state_, counter.offset);
}

void GeneratorImpl::set_current_seed(uint64_t seed) { set({seed, 0}); }

uint64_t GeneratorImpl::seed() {
  set_current_seed(c10::detail::getNonDeterministicRandom());
  return current_seed();
}

void GeneratorImpl::set_offset(uint64_t offset) { set({current_seed(), offset}); }

uint64_t GeneratorImpl::get_offset() const {
  const std::optional<uint64_t> captured = CapturedDraws::offset(*state_);
  return captured.has_value() ? *captured : state_->get().offset;
}

void GeneratorImpl::set_state(const c10::TensorImpl& state) {
  TORCH_CHECK(state.device().is_cpu() && state.dtype() == caffe2::TypeMeta::Make<uint8_t>() && state.is_contiguous() &&
                  static_cast<std::size_t>(state.numel()) == kStateBytes,
              "an npu generator's state is a contiguous CPU tensor of 16 bytes (seed, offset), got ", state.numel(),
              " elements of ", state.dtype(), " on ", state.device());
  const auto* bytes = static_cast<const char*>(state.data());
  RandomCounter counter;
  std::memcpy(&counter.seed, bytes, sizeof counter.seed);
  std::memcpy(&counter.offset, bytes + sizeof counter.seed, sizeof counter.offset);
  set(counter);
}

c10::intrusive_ptr<c10::TensorImpl> GeneratorImpl::get_state() const {
  at::TensorBase state = at::detail::empty_cpu({static_cast<int64_t>(kStateBytes)}, at::kByte);
  auto* bytes = static_cast<char*>(state.mutable_data_ptr());
  const RandomCounter counter{current_seed(), get_offset()};
  std::memcpy(bytes, &counter.seed, sizeof counter.seed);
  std::memcpy(bytes + sizeof counter.seed, &counter.offset, sizeof counter.offset);
  return state.getIntrusivePtr();
}

void GeneratorImpl::graphsafe_set_state(const c10::intrusive_ptr<c10::GeneratorImpl>& other) {
  const auto* given = dynamic_cast<const GeneratorImpl*>(other.get());
  TORCH_CHECK(given != nullptr && given->device() == device(),
              "graphsafe_set_state takes a generator of the same device, ", device());
  state_ = given->state_;
}

c10::intrusive_ptr<c10::GeneratorImpl> GeneratorImpl::graphsafe_get_state() const {
  return c10::make_intrusive<GeneratorImpl>(device().index(), state_);
}

uint64_t GeneratorImpl::next_kernel_seed() {
  const RandomCounter drawn = state_->advance(kOffsetStep);
  return mix(drawn.seed ^ mix(drawn.offset));
}

GeneratorImpl* GeneratorImpl::clone_impl() const {
  auto state = c10::make_intrusive<GeneratorState>(device().index(), RandomCounter{current_seed(), get_offset()});
  return std::make_unique<GeneratorImpl>(device().index(), std::move(state)).release();  // c10's caller adopts it
}

at::Generator make_generator(c10::DeviceIndex device) {
  if (device < 0) device = current_device();
  return new_generator(existing(device));
}

at::Generator generator_of(const std::optional<at::Generator>& given, c10::DeviceIndex device) {
  if (!given.has_value() || !given->defined()) return default_generator(device);
  TORCH_CHECK(given->device().type() == c10::DeviceType::PrivateUse1,
              "Expected a 'npu' device type for generator but found '", given->device(), "'");
  return *given;
}

const at::Generator& default_generator(c10::DeviceIndex device) {
  static auto& generators = *[] {
    auto result = std::make_unique<std::array<at::Generator, kMaxDevices>>();
    for (c10::DeviceIndex i = 0; i < kMaxDevices; ++i) {
      (*result)[static_cast<std::size_t>(i)] = new_generator(i);
    }
    return result.release();
  }();
  return generators[static_cast<std::size_t>(existing(device))];
}

const GeneratorImpl::State& state_of(const at::Generator& generator) {
  const auto* impl = dynamic_cast<const GeneratorImpl*>(generator.unsafeGetGeneratorImpl());
  TORCH_CHECK(impl != nullptr, "Expected a 'npu' device type for generator but found '", generator.device(), "'");
  return impl->state();
}

Counter next_counter(const std::optional<at::Generator>& given, c10::DeviceIndex device, bool reads_memory) {
  // Numbers would be those of the capture at each replay.
  if (!reads_memory) refuse_in_capture(device, "a random operator", "each replay would draw the same numbers.");
  at::Generator from = generator_of(given, device);
  std::lock_guard lock(from.mutex());
  GeneratorState& state = *state_of(from);
  if (any_capture() && capture_of(current_stream(device)) != nullptr) {
    CapturedCounter captured = CapturedDraws::advance(state, kOffsetStep);
    return {0, static_cast<int64_t>(captured.add), std::move(captured.memory)};
  }
  const RandomCounter drawn = state.advance(kOffsetStep);
  return {static_cast<int64_t>(drawn.seed), static_cast<int64_t>(drawn.offset), std::nullopt};
}

}  // namespace torch_npu
