#pragma once
// The border: what lies below returns a Status and may throw; what lies above sees an aclError and nothing else.

#include <exception>
#include <new>
#include <stdexcept>
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
  } catch (const std::length_error&) {
    return failed(ACL_ERROR_BAD_ALLOC, "a list of more elements than host memory has addresses");
  } catch (const std::exception& e) {
    return failed(ACL_ERROR_INTERNAL_ERROR, e.what());
  } catch (...) {
    return failed(ACL_ERROR_INTERNAL_ERROR, "unknown exception");
  }
}

// The same for functions that have no code to return: what they return where `body` throws is `otherwise`.
template <typename Result, typename Body>
Result guarded(Result otherwise, Body&& body) noexcept {
  try {
    return std::forward<Body>(body)();
  } catch (...) {
    return otherwise;
  }
}
template <typename Body>
void guarded(Body&& body) noexcept {
  try {
    std::forward<Body>(body)();
  } catch (...) {  // there is nobody to tell
  }
}

// For functions that write a result: a null pointer is the caller's error.
inline Status require(const void* out, const char* argument) {
  if (out != nullptr) return Status::ok();
  return {ACL_ERROR_INVALID_PARAM, std::string(argument) + " is null"};
}

}  // namespace softnpu
