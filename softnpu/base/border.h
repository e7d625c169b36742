#pragma once
// The border: C++ code below returns a Status and may throw; the C caller above sees only an aclError.

#include <exception>
#include <new>
#include <stdexcept>
#include <utility>

#include "base/status.h"

namespace softnpu {

// A thread's recent message is that of its newest failing call; aclGetRecentErrMsg hands it out once. Calls that
// succeed leave it, so that a program can clean up before it reads, unless its code reports no failure
// (ACL_ERROR_REPEAT_INITIALIZE). Each library of softnpu defines the two functions.

// Makes `message`, or a general one where it is empty, this thread's recent message, and logs it.
void record_error(const char* function, aclError code, const char* message, Cause cause = Cause::kCall) noexcept;
// Drops the recent message of a code that reports no failure.
void record_success() noexcept;

// Runs `body`, which returns a Status, as the implementation of the C function `name`.
template <typename Body>
aclError api(const char* name, Body&& body) noexcept {
  auto failed = [name](aclError code, const char* message, Cause cause = Cause::kCall) {
    record_error(name, code, message, cause);
    return code;
  };
  try {
    const Status status = std::forward<Body>(body)();
    if (!status.is_ok()) return failed(status.code(), status.message().c_str(), status.cause());
    record_success();
    return ACL_SUCCESS;
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

// The same for functions that return no code: they return `otherwise` if `body` throws.
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
  } catch (...) {  // there is no way to report it
  }
}

// For functions that write a result: null is the caller's error.
inline Status require(const void* out, const char* argument) {
  if (out != nullptr) return Status::ok();
  return {ACL_ERROR_INVALID_PARAM, std::string(argument) + " is null"};
}

}  // namespace softnpu
