#pragma once
// Numbers, texts and lists as bytes, in the order of this machine.

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace softnpu::graph {

class Writer {
 public:
  template <typename T>
  void put(T value) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void put(const std::string& words) {
    put(static_cast<uint64_t>(words.size()));
    bytes_ += words;
  }
  template <typename List>
  void put_list(const List& values) {
    put(static_cast<uint64_t>(values.size()));
    for (const auto& value : values) put(value);
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Reads what a Writer wrote. After the first error everything is zero or empty.
class Parser {
 public:
  explicit Parser(std::string_view bytes) : rest_(bytes) {}

  bool is_ok() const { return is_ok_; }
  bool is_at_end() const { return is_ok_ && rest_.empty(); }

  template <typename T>
  T get() {
    T value{};
    if (rest_.size() < sizeof(T)) {
      is_ok_ = false;
      rest_ = {};
      return value;
    }
    std::memcpy(&value, rest_.data(), sizeof(T));
    rest_.remove_prefix(sizeof(T));
    return value;
  }
  std::string_view view() {
    const size_t size = count(1);
    const std::string_view value = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return value;
  }
  std::string words() { return std::string(view()); }
  // The number of entries of at least `bytes` bytes each that follow.
  size_t count(size_t bytes) {
    const auto value = get<uint64_t>();
    if (value <= rest_.size() / bytes) return value;
    is_ok_ = false;
    rest_ = {};
    return 0;
  }
  template <typename T>
  std::vector<T> list() {
    std::vector<T> values(count(sizeof(T)));
    for (T& value : values) value = get<T>();
    return values;
  }

 private:
  std::string_view rest_;
  bool is_ok_ = true;
};

}  // namespace softnpu::graph
