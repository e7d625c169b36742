#pragma once
// The source of a call's random numbers.

#include "nnopbase/tensor.h"
#include "ops/core/device_number.h"
#include "ops/math/random/philox.h"

namespace softnpu {

// The ABI's attributes: numbers, or one-element tensors and a number to be added to the offset. Borrowed during
// planning.
class RandomSeed {
 public:
  RandomSeed(int64_t seed, int64_t offset) : seed_(seed), offset_(offset) {}
  RandomSeed(const aclTensor& seed, const aclTensor& offset, int64_t add)
      : offset_(add), seed_tensor_(&seed), offset_tensor_(&offset) {}

 private:
  friend class RandomSource;
  int64_t seed_ = 0;
  int64_t offset_ = 0;
  const aclTensor* seed_tensor_ = nullptr;
  const aclTensor* offset_tensor_ = nullptr;
};

class RandomSource {
 public:
  static Status make(const RandomSeed& seed, RandomSource* out) {
    out->sequence_ = {.seed = static_cast<uint64_t>(seed.seed_), .offset = static_cast<uint64_t>(seed.offset_)};
    out->in_memory_ = seed.seed_tensor_ != nullptr;
    if (!out->in_memory_) return Status::ok();
    SOFTNPU_RETURN_IF_ERROR(DeviceNumber::make(*seed.seed_tensor_, "seed", &out->seed_));
    return DeviceNumber::make(*seed.offset_tensor_, "offset", &out->offset_);
  }

  // Only during run().
  PhiloxSequence sequence() const {
    if (!in_memory_) return sequence_;
    return {.seed = static_cast<uint64_t>(seed_.as_int64()),
            .offset = sequence_.offset + static_cast<uint64_t>(offset_.as_int64())};
  }

 private:
  PhiloxSequence sequence_;
  bool in_memory_ = false;
  DeviceNumber seed_;
  DeviceNumber offset_;
};

}  // namespace softnpu
