#pragma once
// Environment variables as statuses.

#include "base/status.h"
#include "softnpu/environment.h"

namespace softnpu::environment {

// Stores a variable's value, if it has one. Fails with the text of a wrong one, and then stores the default.
template <typename T, typename Out>
Status store(Read<T> read, Out* out) {
  if (read.value) *out = static_cast<Out>(*std::move(read.value));
  return read.error.empty() ? Status::ok() : Status(ACL_ERROR_INVALID_PARAM, std::move(read.error));
}

}  // namespace softnpu::environment
