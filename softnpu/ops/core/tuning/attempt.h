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
  Attempt(T made) : made_(std::move(made)) {}
  Attempt(Refusal refusal) : why_(refusal.why) {}

  explicit operator bool() const { return made_.has_value(); }
  T& operator*() & { return *made_; }
  T&& operator*() && { return *std::move(made_); }
  T* operator->() { return &*made_; }
  // Null if it was made.
  const char* why() const { return why_; }

 private:
  std::optional<T> made_;
  const char* why_ = nullptr;
};

}  // namespace softnpu
