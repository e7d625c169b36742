#pragma once
// Environment variables as values of the plug-in: a wrong one is an error or a warning.

#include <c10/util/Exception.h>
#include <softnpu/environment.h>

#include <optional>
#include <string>
#include <utility>

namespace torch_npu {

namespace environment = softnpu::environment;

// The value; none where the variable is not set and has no default. Throws c10::ValueError for a wrong one.
template <typename T>
std::optional<T> value_of(environment::Read<T> read) {
  TORCH_CHECK_VALUE(read.error.empty(), read.error);
  return std::move(read.value);
}

// The value of a variable that has a default, which also serves after a warning about a wrong value.
template <typename T>
T value_or_warn(environment::Read<T> read) {
  if (!read.error.empty()) TORCH_WARN(read.error, "; the default serves: ", *read.value);
  return *std::move(read.value);
}

// Whether each launch waits for its work. A wrong value is an error of the runtime.
inline bool launch_is_blocking() { return *environment::flag("ASCEND_LAUNCH_BLOCKING").value; }

}  // namespace torch_npu
