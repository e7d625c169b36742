#pragma once
// The one status of all code below the C ABI. The border converts it to an aclError and a message (base/border.h).

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "acl/acl_base.h"
#include "base/no_destroy.h"

namespace softnpu {

// What failed: the call, a task that was launched before, or such a task because of an index out of range.
enum class Cause : uint8_t { kCall, kTask, kIndex };

// Success is free to make and return: only a message needs the heap.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(aclError code, std::string message, Cause cause = Cause::kCall)
      : code_(code),
        cause_(cause),
        message_(message.empty() ? nullptr : std::make_unique<const std::string>(std::move(message))) {}
  Status(const Status& other)
      : code_(other.code_),
        cause_(other.cause_),
        message_(other.message_ ? std::make_unique<const std::string>(*other.message_) : nullptr) {}
  Status(Status&&) noexcept = default;
  Status& operator=(const Status& other) { return *this = Status(other); }
  Status& operator=(Status&&) noexcept = default;
  ~Status() = default;

  static Status ok() { return {}; }

  bool is_ok() const { return code_ == ACL_SUCCESS; }
  aclError code() const { return code_; }
  Cause cause() const { return cause_; }
  const std::string& message() const { return message_ ? *message_ : empty(); }

 private:
  static const std::string& empty() {
    static NoDestroy<std::string> none;
    return none.get();
  }

  aclError code_ = ACL_SUCCESS;
  Cause cause_ = Cause::kCall;
  std::unique_ptr<const std::string> message_;
};

}  // namespace softnpu

// The one macro of this library: an early return needs the caller's function.
#define SOFTNPU_RETURN_IF_ERROR(expr)                                         \
  do {                                                                        \
    if (::softnpu::Status status_ = (expr); !status_.is_ok()) return status_; \
  } while (false)
