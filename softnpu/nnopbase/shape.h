#pragma once
// Sizes of an output that only its run knows: nonzero, unique, masked_select.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "base/small_vector.h"

namespace softnpu {

using Dims = SmallVector<int64_t, 8>;

// The sizes that a tensor has got since it was described. Shared by the tensor, its copies and the plans that set it:
// none of them need outlive another.
class ShapeRecord {
 public:
  void set(Dims dims) {
    std::lock_guard lock(mutex_);
    dims_ = std::move(dims);
    is_set_.store(true, std::memory_order_release);
  }

  // False, and `out` stays as it is, before the first set().
  bool get(Dims* out) const {
    if (!is_set_.load(std::memory_order_acquire)) return false;
    std::lock_guard lock(mutex_);
    *out = dims_;
    return true;
  }

 private:
  std::atomic<bool> is_set_{false};
  mutable std::mutex mutex_;  // guards dims_
  Dims dims_;
};

// What a plan's run captures to tell the sizes; cheap to copy. When the stream was synchronised aclGetViewShape on the
// caller's tensor says them. The tensor's `dims` stay what it was described with, as do its strides.
class DynamicShape {
 public:
  explicit DynamicShape(std::shared_ptr<ShapeRecord> record) : record_(std::move(record)) {}
  void set(const Dims& dims) const { record_->set(dims); }

 private:
  std::shared_ptr<ShapeRecord> record_;
};

}  // namespace softnpu
