#pragma once
// The border: what lies below returns a Status and may throw; what lies above sees an aclError and nothing else.

#include <exception>
#include <new>
#include <utility>

#include "base/status.h"

namespace softnpu {

// Keeps the text for aclGetRecentErrMsg of this thread, and logs it. Each library of softnpu defines it for itself.
void record_error(const char* function, aclError code, const char* message) noexcept;

// Runs `body`, which returns a Status, on behalf of the C function `name`.
template <typename Body>
aclError api(const char* name, Body&& body) noexcept {
  auto failed = [name](aclError code, const char* message) {
    record_error(name, code, message);
    return code;
  };
  try {
    const Status status = std::forward<Body>(body)();
    return status.is_ok() ? ACL_SUCCESS : failed(status.code(), status.message().c_str());
  } catch (const std::bad_alloc&) {
    return failed(ACL_ERROR_BAD_ALLOC, "out of host memory");
  } catch (const std::exception& e) {
    return failed(ACL_ERROR_INTERNAL_ERROR, e.what());
  } catch (...) {
    return failed(ACL_ERROR_INTERNAL_ERROR, "unknown exception");
  }
}

// For functions that write a result: a null pointer is the caller's error.
inline Status require(const void* out, const char* argument) {
  if (out != nullptr) return Status::ok();
  return {ACL_ERROR_INVALID_PARAM, std::string(argument) + " is null"};
}

}  // namespace softnpu
