#pragma once
// One status for everything below the C ABI. It becomes an aclError and a message at the border (acl/api.h).

#include <string>
#include <utility>

#include "acl/acl_base.h"

namespace softnpu {

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(aclError code, std::string message) : code_(code), message_(std::move(message)) {}

  static Status ok() { return {}; }

  bool is_ok() const { return code_ == ACL_SUCCESS; }
  aclError code() const { return code_; }
  const std::string& message() const { return message_; }

 private:
  aclError code_ = ACL_SUCCESS;
  std::string message_;
};

}  // namespace softnpu

// The one macro of this library: an early return needs the caller's frame.
#define SOFTNPU_RETURN_IF_ERROR(expr)                                         \
  do {                                                                        \
    if (::softnpu::Status status_ = (expr); !status_.is_ok()) return status_; \
  } while (false)
