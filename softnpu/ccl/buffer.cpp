#include "ccl/buffer.h"

#include "base/text.h"
#include "ccl/acl_status.h"
#include "softnpu/memory_events.h"

namespace softnpu::ccl {

Status Buffer::find(const Communicator& comm, const char* role, const void* address, uint64_t bytes, Buffer* out) {
  *out = {};
  if (bytes == 0) return Status::ok();
  if (address == nullptr) return {ACL_ERROR_INVALID_PARAM, text(role, " is null and has ", bytes, " bytes")};
  softnpuLocation location{};
  if (const Status status = from_acl([&] { return softnpuLocate(address, bytes, &location); }); !status.is_ok()) {
    return {ACL_ERROR_INVALID_PARAM, text(role, ": ", status.message())};
  }
  out->data_ = static_cast<char*>(location.kernel);
  out->bytes_ = bytes;
  out->is_shared_ = location.isInFile == 1 && location.deviceId == comm.device();
  out->offset_ = location.offset;
  return Status::ok();
}

bool Buffer::overlaps(const Buffer& other) const {
  return bytes_ > 0 && other.bytes_ > 0 && data_ < other.data_ + other.bytes_ && other.data_ < data_ + bytes_;
}

Status Buffer::stage(const Communicator& comm, Buffer* out, std::shared_ptr<void>* owner) const {
  void* address = softnpuTryMallocSameDevice(comm.memory().base, bytes_);
  if (address == nullptr) {
    return {ACL_ERROR_RT_MEMORY_ALLOCATION,
            text("device ", comm.device(), " has no room for a copy of ", bytes_,
                 " bytes, which other ranks read: the buffer is host memory, another process's, or in several pieces")};
  }
  *owner = std::shared_ptr<void>(address, [](void* result) { (void)softnpuFree(result); });
  return find(comm, "the copy", address, bytes_, out);
}

}  // namespace softnpu::ccl
