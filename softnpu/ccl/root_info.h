#pragma once
// What HcclRootInfo contains: where the ranks of a communicator meet, and the secret that admits them.

#include <array>
#include <cstdint>
#include <string>

#include "base/status.h"
#include "hccl/hccl_types.h"

namespace softnpu::ccl {

using Secret = std::array<uint8_t, 32>;

struct RootInfo {
  std::string name;  // of the socket, and the communicator's where nobody gives it another
  Secret secret{};
  std::string host;  // one start of one machine's kernel

  static Status make(RootInfo* out);
  // One that all who know this one can derive.
  RootInfo derive(const std::string& purpose) const;
  void write(HcclRootInfo* out) const;
  // Fails for what write() did not make, and for another host's.
  static Status read(const HcclRootInfo& from, RootInfo* out);
};

// Compares in constant time.
bool same_secret(const Secret& one, const Secret& other);

}  // namespace softnpu::ccl
