#pragma once
// Device memory that is freed at its end, and the status of functions of the runtime.

#include <cstddef>

#include "base/status.h"

namespace softnpu::graph {

// The status of a function of libascendcl, with its message.
Status status_of(aclError code);

class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory();

  // Of the current device. No memory for 0 bytes.
  Status allocate(size_t bytes);
  char* data() const { return static_cast<char*>(data_); }

 private:
  void* data_ = nullptr;
};

}  // namespace softnpu::graph
