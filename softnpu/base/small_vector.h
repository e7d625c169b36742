#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace softnpu {

// A vector of plain values that stores up to N of them inline, more on the heap. Empty after being moved from.
template <typename T, size_t N>
class SmallVector {
  static_assert(std::is_trivially_copyable_v<T> && N > 0);

 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  SmallVector() noexcept {}  // the inline values stay uninitialised: nothing reads beyond size_
  explicit SmallVector(size_t count, T value = T()) { resize(count, value); }
  SmallVector(std::initializer_list<T> values) { assign(values.begin(), values.end()); }
  template <typename Iterator, typename = typename std::iterator_traits<Iterator>::iterator_category>
  SmallVector(Iterator first, Iterator last) {
    assign(first, last);
  }
  SmallVector(const std::vector<T>& values) { assign(values.begin(), values.end()); }
  SmallVector(const SmallVector& other) { assign(other.begin(), other.end()); }
  SmallVector(SmallVector&& other) noexcept { take(other); }
  SmallVector& operator=(const SmallVector& other) {
    if (this != &other) assign(other.begin(), other.end());
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this != &other) take(other);
    return *this;
  }
  ~SmallVector() = default;

  size_t size() const { return size_; }
  size_t capacity() const { return heap_ ? capacity_ : N; }
  bool empty() const { return size_ == 0; }
  T* data() { return heap_ ? heap_.get() : inline_; }
  const T* data() const { return heap_ ? heap_.get() : inline_; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }
  T& front() { return data()[0]; }
  const T& front() const { return data()[0]; }
  T& back() { return data()[size_ - 1]; }
  const T& back() const { return data()[size_ - 1]; }

  void clear() { size_ = 0; }
  void reserve(size_t count) {
    if (count > capacity()) grow(count);
  }
  void resize(size_t count, T value = T()) {
    reserve(count);
    if (count > size_) std::fill(data() + size_, data() + count, value);
    size_ = count;
  }
  void push_back(T value) {
    if (size_ == capacity()) grow(2 * size_);
    data()[size_++] = value;
  }
  void pop_back() { --size_; }
  // The values must not be elements of this vector.
  template <typename Iterator>
  void assign(Iterator first, Iterator last) {
    const auto count = static_cast<size_t>(std::distance(first, last));
    size_ = 0;
    if (count > capacity()) replace(count);
    std::copy(first, last, data());
    size_ = count;
  }

  friend bool operator==(const SmallVector& a, const SmallVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  void grow(size_t count) {
    count = std::max(count, 2 * N);
    auto larger = std::make_unique_for_overwrite<T[]>(count);
    std::copy_n(data(), std::min(size_, capacity()), larger.get());  // always size_, which the compiler cannot know
    heap_ = std::move(larger);
    capacity_ = count;
  }

  // Makes room for `count` values and discards the contents.
  void replace(size_t count) {
    heap_ = std::make_unique_for_overwrite<T[]>(count);
    capacity_ = count;
  }

  void take(SmallVector& other) noexcept {
    heap_ = std::move(other.heap_);
    capacity_ = other.capacity_;
    size_ = std::exchange(other.size_, 0);
    if (!heap_) std::copy_n(other.inline_, std::min(size_, N), inline_);
  }

  size_t size_ = 0;
  size_t capacity_ = 0;  // of heap_
  std::unique_ptr<T[]> heap_;
  T inline_[N];
};

}  // namespace softnpu
