#pragma once
// The border: what lies below returns a Status and may throw; what lies above sees an aclError and nothing else.

#include <exception>
#include <new>
#include <utility>

#include "base/status.h"

namespace softnpu {

// Keeps the text for aclGetRecentErrMsg of this thread, and logs it. Each library of softnpu defines it for itself.
void record_error(const char* function, const Status& status) noexcept;

// Runs `body`, which returns a Status, on behalf of the C function `name`.
template <typename Body>
aclError api(const char* name, Body&& body) noexcept {
  Status status;
  try {
    status = std::forward<Body>(body)();
  } catch (const std::bad_alloc&) {
    status = {ACL_ERROR_BAD_ALLOC, "out of host memory"};
  } catch (const std::exception& e) {
    status = {ACL_ERROR_INTERNAL_ERROR, e.what()};
  } catch (...) {
    status = {ACL_ERROR_INTERNAL_ERROR, "unknown exception"};
  }
  if (!status.is_ok()) record_error(name, status);
  return status.code();
}

// For functions that write a result: a null pointer is the caller's error.
inline Status require(const void* out, const char* argument) {
  if (out != nullptr) return Status::ok();
  return {ACL_ERROR_INVALID_PARAM, std::string(argument) + " is null"};
}

}  // namespace softnpu
