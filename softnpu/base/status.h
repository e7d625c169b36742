#pragma once
// One status for everything below the C ABI. It becomes an aclError and a message at the border (acl/api.h).

#include <memory>
#include <string>
#include <utility>

#include "acl/acl_base.h"
#include "base/no_destroy.h"

namespace softnpu {

// Success is a null pointer: it costs nothing to make, pass on and forget.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(aclError code, std::string message)
      : failure_(code == ACL_SUCCESS ? nullptr : new_failure(code, std::move(message))) {}
  Status(const Status& other) : failure_(other.is_ok() ? nullptr : std::make_unique<const Failure>(*other.failure_)) {}
  Status(Status&&) noexcept = default;
  Status& operator=(const Status& other) { return *this = Status(other); }
  Status& operator=(Status&&) noexcept = default;
  ~Status() = default;

  static Status ok() { return {}; }

  bool is_ok() const { return failure_ == nullptr; }
  aclError code() const { return is_ok() ? ACL_SUCCESS : failure_->code; }
  const std::string& message() const { return is_ok() ? empty() : failure_->message; }

 private:
  struct Failure {
    Failure(aclError failed_with, std::string why) : code(failed_with), message(std::move(why)) {}
    aclError code;
    std::string message;
  };

  [[gnu::cold]] static std::unique_ptr<const Failure> new_failure(aclError code, std::string message) {
    return std::make_unique<const Failure>(code, std::move(message));
  }
  static const std::string& empty() {
    static NoDestroy<std::string> none;
    return none.get();
  }

  std::unique_ptr<const Failure> failure_;
};

}  // namespace softnpu

// The one macro of this library: an early return needs the caller's frame.
#define SOFTNPU_RETURN_IF_ERROR(expr)                                         \
  do {                                                                        \
    if (::softnpu::Status status_ = (expr); !status_.is_ok()) return status_; \
  } while (false)
