#pragma once
// Memory that a caller passes: where it is, and where other ranks can read it.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/status.h"
#include "ccl/communicator.h"

namespace softnpu::ccl {

class Buffer {
 public:
  // None: no bytes.
  Buffer() = default;
  // `role` names the argument in errors. `address` may be null where `bytes` is 0.
  static Status find(const Communicator& comm, const char* role, const void* address, uint64_t bytes, Buffer* out);

  char* data() const { return data_; }
  uint64_t bytes() const { return bytes_; }
  // Whether other ranks can read it in place: it is one range of the rank's device memory.
  bool is_shared() const { return is_shared_; }
  // In the device's memory file; of shared ones.
  uint64_t offset() const { return offset_; }
  bool overlaps(const Buffer& other) const;

  // A copy's room in memory that other ranks can read. Freed with the last copy of `owner`.
  Status stage(const Communicator& comm, Buffer* out, std::shared_ptr<void>* owner) const;

 private:
  char* data_ = nullptr;  // where this process accesses it
  uint64_t bytes_ = 0;
  uint64_t offset_ = 0;
  bool is_shared_ = false;
};

}  // namespace softnpu::ccl
