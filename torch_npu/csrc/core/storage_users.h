#pragma once
// The messages between a process that uses a shared storage and the one that sent it (sent_storages.h).

#include <acl/acl_rt.h>

#include <array>
#include <cstdint>
#include <string>

namespace torch_npu {

// Where a shared storage is, in the piece of memory that a key opens. All in bytes.
struct SharedLocation {
  std::array<char, ACL_IPC_HANDLE_SIZE> key{};
  std::uint64_t chunk = 0;   // size of the piece
  std::uint64_t offset = 0;  // of the storage in it
  std::uint64_t nbytes = 0;  // of the storage
};

struct UserRequest {
  enum class Kind : std::uint64_t { kOpen, kRelease };
  Kind kind = Kind::kOpen;
  std::uint64_t user = 0;
};

struct UserReply {
  std::uint64_t user = 0;  // of the request
  std::uint64_t is_known = 0;
  SharedLocation location;
};

}  // namespace torch_npu
