#pragma once
// Output sizes that are known only after the operator has run: nonzero, unique, masked_select.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "base/small_vector.h"

namespace softnpu {

using Dims = SmallVector<int64_t, 8>;

// The sizes that a tensor got after its creation. Shared by the tensor, its copies and the plans that set it, with
// independent lifetimes.
class ShapeRecord {
 public:
  void set(Dims dims) {
    std::lock_guard lock(mutex_);
    dims_ = std::move(dims);
    is_set_.store(true, std::memory_order_release);
  }

  // False, with `out` unchanged, before the first set().
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

// Captured by a plan's run to set the sizes; cheap to copy. After the stream was synchronised aclGetViewShape of the
// caller's tensor returns them. The tensor's `dims` and strides do not change.
class DynamicShape {
 public:
  explicit DynamicShape(std::shared_ptr<ShapeRecord> record) : record_(std::move(record)) {}
  void set(const Dims& dims) const { record_->set(dims); }

 private:
  std::shared_ptr<ShapeRecord> record_;
};

}  // namespace softnpu
