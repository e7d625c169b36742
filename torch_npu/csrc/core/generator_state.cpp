#include "core/generator_state.h"

#include <ATen/ops/empty.h>
#include <aclnnop/aclnn_inplace_fill_scalar.h>
#include <c10/core/Event.h>
#include <c10/util/Exception.h>

#include <utility>

#include "core/aclnn.h"
#include "core/allocator/caching_allocator.h"
#include "core/device.h"

namespace torch_npu {
namespace {

at::Tensor make_number(c10::DeviceIndex device) {
  const c10::Device on(c10::DeviceType::PrivateUse1, device);
  return at::empty({1}, at::TensorOptions().dtype(at::kLong).device(on));
}

void fill(c10::DeviceIndex device, const at::Tensor& number, uint64_t value) {
  static const AclnnOp<decltype(aclnnInplaceFillScalarGetWorkspaceSize)> op("aclnnInplaceFillScalar");
  op(device, number, at::Scalar(static_cast<int64_t>(value)));
}

}  // namespace

RandomCounter GeneratorState::get() const {
  std::lock_guard lock(mutex_);
  return counter_;
}

void GeneratorState::set(RandomCounter counter) {
  std::lock_guard lock(mutex_);
  counter_ = counter;
}

RandomCounter GeneratorState::advance(uint64_t step) {
  std::lock_guard lock(mutex_);
  const RandomCounter before = counter_;
  counter_.offset += step;
  return before;
}

void GeneratorState::hold() {
  std::lock_guard lock(mutex_);
  if (holders_ == 0) memory_ = {make_number(device_), make_number(device_)};
  ++holders_;
}

void GeneratorState::release() {
  Memory released;
  std::lock_guard lock(mutex_);
  if (--holders_ > 0) return;
  released = std::exchange(memory_, {});
  const std::optional<c10::Stream> last = std::exchange(last_replay_, std::nullopt);
  if (!last.has_value()) return;
  for (const at::Tensor* number : {&released.seed, &released.offset}) {
    caching_allocator().recordStream(number->storage().data_ptr(), *last);
  }
}

GeneratorState::Memory GeneratorState::memory() const {
  std::lock_guard lock(mutex_);
  TORCH_INTERNAL_ASSERT(holders_ > 0, "no graph holds the generator");
  return memory_;
}

void GeneratorState::begin_replay(c10::Stream stream, uint64_t drawn) {
  std::lock_guard lock(mutex_);
  if (last_replay_.has_value() && *last_replay_ != stream) {
    c10::Event passed(stream.device_type());
    passed.record(*last_replay_);
    passed.block(stream);
  }
  last_replay_ = stream;
  fill(device_, memory_.seed, counter_.seed);
  fill(device_, memory_.offset, counter_.offset);
  counter_.offset += drawn;
}

}  // namespace torch_npu
