#pragma once
// The Status of a function of the C ABI that tells in words why it failed.

#include <array>
#include <cstddef>

#include "base/status.h"

namespace softnpu {

// `work(message, size)` returns an aclError, and where that is no success it has written a message of less than `size`
// bytes.
template <typename Work>
Status status_from_callback(const Work& work) {
  std::array<char, 512> message;
  message[0] = '\0';
  const aclError code = work(message.data(), message.size());
  if (code == ACL_SUCCESS) return Status::ok();
  return {code, message.data()};
}

}  // namespace softnpu
