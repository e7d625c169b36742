#pragma once
// The launch cache: a small aclnn call that differs from an earlier one only in its tensors' addresses, or for some
// operators in nothing, needs neither descriptors nor a first phase. Only on softnpu (softnpuCacheLaunch); CANN caches
// executors itself.

#include <ATen/core/IListRef.h>
#include <ATen/core/Tensor.h>
#include <aclnn/aclnn_base.h>
#include <c10/core/Scalar.h>
#include <c10/util/OptionalArrayRef.h>

#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "core/aclnn_argument.h"

namespace torch_npu::launch_cache {

// The description of a call in words.
class Words {
 public:
  static constexpr size_t kMax = 96;

  Words() noexcept {}  // uninitialised: nothing reads beyond size_
  Words(const Words& other) noexcept { *this = other; }
  Words& operator=(const Words& other) noexcept {
    size_ = other.size_;
    std::memcpy(words_, other.words_, size_ * sizeof(uint64_t));
    return *this;
  }

  bool add(uint64_t word) {
    if (size_ == kMax) return false;
    words_[size_++] = word;
    hash_ = std::rotl(hash_ ^ word, 23) * 0x9E3779B97F4A7C15;
    return true;
  }
  uint64_t hash() const { return hash_; }
  bool operator==(const Words& other) const {
    return size_ == other.size_ && std::memcmp(words_, other.words_, size_ * sizeof(uint64_t)) == 0;
  }

 private:
  size_t size_ = 0;
  uint64_t hash_ = 0;
  uint64_t words_[kMax];
};

// The key of a call: its operator, its device, and everything of each argument except its address.
class Key {
 public:
  static constexpr size_t kMaxTensors = 16;
  // For larger tensors the first phase's time is negligible.
  static constexpr int64_t kMaxElements = 1 << 22;

  Key(const void* op, c10::DeviceIndex device) : device_(device) {
    add_word(reinterpret_cast<uintptr_t>(op));
    add_word(static_cast<uint64_t>(device));
  }

  void add(const at::Tensor& tensor);
  void add(const Int4Elements& argument) {
    add(argument.tensor);
    add_word(static_cast<uint64_t>(argument.packed));
  }
  void add(const at::Scalar& scalar);
  void add(at::TensorList tensors);
  void add(const at::ITensorListRef& tensors);
  void add(at::IntArrayRef values) {
    add_word(values.size());
    for (const int64_t value : values) add_word(static_cast<uint64_t>(value));
  }
  template <size_t N>
  void add(const std::array<int64_t, N>& values) {
    add(at::IntArrayRef(values));
  }
  void add(at::OptionalIntArrayRef values) {
    add_word(values.has_value());
    if (values.has_value()) add(*values);
  }
  void add(const std::optional<at::Tensor>& tensor) { add(tensor.has_value() ? *tensor : at::Tensor()); }
  void add(const std::optional<at::Scalar>& scalar) {
    add_word(scalar.has_value());
    if (scalar.has_value()) add(*scalar);
  }
  void add(at::ArrayRef<double> values) {
    add_word(values.size());
    for (const double value : values) add(value);
  }
  void add(at::ArrayRef<bool> values) {
    add_word(values.size());
    for (const bool value : values) add(value);
  }
  template <size_t N>
  void add(const std::array<bool, N>& values) {
    add(at::ArrayRef<bool>(values));
  }
  void add(at::ArrayRef<at::Scalar> values) {
    add_word(values.size());
    for (const at::Scalar& value : values) add(value);
  }
  void add(std::string_view text) {
    add_word(text.size());
    for (const char letter : text) add(letter);
  }
  void add(std::nullptr_t) {}
  // What a pointer is to, such as a descriptor that gets the sizes that the operator finds, is no part of a key.
  template <typename T>
  void add(T* pointer) = delete;
  void add(at::ScalarType type) { add_word(static_cast<uint64_t>(type)); }
  template <Number T>
  requires(sizeof(T) <= sizeof(uint64_t)) void add(T number) {
    uint64_t word = 0;
    std::memcpy(&word, &number, sizeof number);
    add_word(word);
  }

  // Whether all arguments allow the call to be cached.
  bool fits() const { return fits_; }
  const Words& words() const { return words_; }
  c10::DeviceIndex device() const { return device_; }
  size_t tensors() const { return tensors_; }
  const void* const* addresses() const { return addresses_; }
  const size_t* bytes() const { return bytes_; }

 private:
  void add_word(uint64_t word) { fits_ = words_.add(word) && fits_; }

  c10::DeviceIndex device_;
  bool fits_ = true;
  Words words_;
  size_t tensors_ = 0;
  // Of the tensors; the rest is uninitialised.
  const void* addresses_[kMaxTensors];
  size_t bytes_[kMaxTensors];
};

template <typename T>
concept Keyed = requires(Key key, const T& value) {
  key.add(value);
};

// Whether calls are cached: not during a recording, which needs each launch's name, nor with queued launches, which
// another thread makes.
bool is_on();

// Launches the cached call of `key` on the current stream of its device; false if there is none.
bool launch(const Key& key);
// Caches a call that launch() did not find; called between its two phases.
void insert(const Key& key, const aclOpExecutor* executor);

}  // namespace torch_npu::launch_cache
