#pragma once
// What an algorithm makes of a piece of work, or why it does not serve it.

#include <optional>
#include <utility>

namespace softnpu {

// `why` is a literal: "the filter has more than one tap".
struct Refusal {
  const char* why;
};

template <typename T>
class Attempt {
 public:
  Attempt(T created) : created_(std::move(created)) {}
  Attempt(Refusal refusal) : why_(refusal.why) {}

  explicit operator bool() const { return created_.has_value(); }
  T& operator*() & { return *created_; }
  T&& operator*() && { return *std::move(created_); }
  T* operator->() { return &*created_; }
  // Null if it was made.
  const char* why() const { return why_; }

 private:
  std::optional<T> created_;
  const char* why_ = nullptr;
};

}  // namespace softnpu
