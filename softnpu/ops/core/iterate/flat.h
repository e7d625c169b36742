#pragma once
// One tensor's elements in the order of their indices, for any strides, as values of a floating-point type.

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/small_vector.h"
#include "base/status.h"
#include "nnopbase/tensor.h"
#include "ops/core/convert/element_rows.h"
#include "ops/core/dtype.h"
#include "ops/core/iterate/cursor.h"

namespace softnpu {

// The memory of the elements.
class FlatTensor {
 public:
  // `last`: the dimension to be treated as the innermost one; -1 for none.
  static Status make(const aclTensor& tensor, int64_t last, const char* role, FlatTensor* out);

  aclDataType dtype() const { return dtype_; }
  char* data() const { return data_; }
  void move(void* data) { data_ = static_cast<char*>(data); }
  // Calls body(address, stride in bytes, count) for each run of [first, first + count).
  template <typename Body>
  void for_runs(int64_t first, int64_t count, Body&& body) const;
  // The address of element `first` if `count` elements from it on are contiguous; else null.
  char* contiguous(int64_t first, int64_t count) const {
    char* found = nullptr;
    if (strides_.back() != element_ && count > 1) return found;
    if (sizes_.size() == 1) return first + count <= sizes_[0] && count > 0 ? data_ + first * strides_[0] : found;
    const Cursor<AddressLayout> cursor(layout(), data_, first);
    return count > 0 && count <= cursor.run() ? cursor.position() : found;
  }

 private:
  AddressLayout layout() const { return {sizes_.data(), strides_.data(), sizes_.size()}; }

  char* data_ = nullptr;
  aclDataType dtype_ = ACL_DT_UNDEFINED;
  ptrdiff_t element_ = 0;  // bytes
  // Outermost first, merged if strides allow; at least one.
  SmallVector<int64_t, 4> sizes_;
  SmallVector<ptrdiff_t, 4> strides_;
};

// The data type of T, or the tensor's own if its compute type is T: kernels compute half types in float.
template <typename T>
aclDataType computed_as(aclDataType dtype) {
  constexpr bool kIsDouble = sizeof(T) == sizeof(double);
  if (compute_type_of(dtype) == (kIsDouble ? ComputeType::kF64 : ComputeType::kF32)) return dtype;
  return kIsDouble ? ACL_DOUBLE : ACL_FLOAT;
}

template <typename T>
class FlatReader {
 public:
  FlatReader() = default;
  explicit FlatReader(FlatTensor tensor)
      : tensor_(std::move(tensor)), reader_(tensor_.dtype(), computed_as<T>(tensor_.dtype())) {}

  FlatTensor& tensor() { return tensor_; }
  // The address of `count` values from element `first` on, if memory has them contiguously in type T; else null.
  const T* find(int64_t first, int64_t count) const {
    return reader_.is_direct() ? reinterpret_cast<const T*>(tensor_.contiguous(first, count)) : nullptr;
  }
  // The values: in place if find() succeeds, else copied to `buffer`.
  const T* read(int64_t first, int64_t count, T* buffer) const {
    if (const T* found = find(first, count)) return found;
    int64_t done = 0;
    tensor_.for_runs(first, count, [&](const char* from, ptrdiff_t stride, int64_t here) {
      reader_.read(from, stride, static_cast<size_t>(here), buffer + done);
      done += here;
    });
    return buffer;
  }

 private:
  FlatTensor tensor_;
  ElementReader reader_;
};

template <typename T>
class FlatWriter {
 public:
  FlatWriter() = default;
  explicit FlatWriter(FlatTensor tensor)
      : tensor_(std::move(tensor)), writer_(computed_as<T>(tensor_.dtype()), tensor_.dtype()) {}

  FlatTensor& tensor() { return tensor_; }
  // The address for `count` values from element `first` on, if memory stores them contiguously in type T; else null.
  T* find(int64_t first, int64_t count) const {
    return writer_.is_direct() ? reinterpret_cast<T*>(tensor_.contiguous(first, count)) : nullptr;
  }
  // Where the values are to be written: in place or `buffer`. put() completes the write.
  T* location(int64_t first, int64_t count, T* buffer) const {
    T* found = find(first, count);
    return found == nullptr ? buffer : found;
  }
  // Writes the values that place() did not place in memory.
  void put(int64_t first, int64_t count, const T* values) const {
    tensor_.for_runs(first, count, [&](char* to, ptrdiff_t stride, int64_t here) {
      if (to != reinterpret_cast<const char*>(values)) writer_.write(values, static_cast<size_t>(here), to, stride);
      values += here;
    });
  }

 private:
  FlatTensor tensor_;
  ElementWriter writer_;
};

template <typename Body>
void FlatTensor::for_runs(int64_t first, int64_t count, Body&& body) const {
  softnpu::for_runs(layout(), data_, first, count,
                    [&](char* address, int64_t here) { body(address, strides_.back(), here); });
}

}  // namespace softnpu
