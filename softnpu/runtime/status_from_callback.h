#pragma once
// Converts a failed C callback's code and message to a Status.

#include <array>
#include <cstddef>

#include "base/status.h"

namespace softnpu {

// `work(message, size)` returns an aclError. If it is an error, it has written a message of less than `size` bytes.
template <typename Work>
Status status_from_callback(const Work& work) {
  std::array<char, 512> message;
  message[0] = '\0';
  const aclError code = work(message.data(), message.size());
  if (code == ACL_SUCCESS) return Status::ok();
  return {code, message.data()};
}

}  // namespace softnpu
