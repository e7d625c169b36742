#pragma once
// Output sizes that are known only after the operator has run: nonzero, unique, masked_select.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "base/checked.h"
#include "base/small_vector.h"

namespace softnpu {

using Dims = SmallVector<int64_t, 8>;

// Sets the strides of a tensor without gaps, in elements; false if one of them exceeds 64 bits. A dimension of no
// elements counts as one.
inline bool set_contiguous_strides(const Dims& dims, Dims* strides) {
  *strides = Dims(dims.size());
  Checked stride = 1;
  for (size_t i = dims.size(); i-- > 0; stride = stride * std::max<int64_t>(dims[i], 1)) {
    if (!stride.fits()) return false;
    (*strides)[i] = stride.value();
  }
  return true;
}

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
