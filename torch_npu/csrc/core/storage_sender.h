#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "core/peer_socket.h"
#include "core/storage_users.h"

namespace torch_npu {

// A process that has sent storages to this one. While a storage of it is used here, the connection stays open: its end
// tells the sender that this process has ended.
class StorageSender {
 public:
  // The connection to the socket `name`: one for all storages. Throws if the sender has ended.
  static std::shared_ptr<StorageSender> connect(const std::string& name);

  explicit StorageSender(const std::string& name);

  // Makes this process the user `number`, once. Throws if the sender knows no such user, or another process is it.
  SharedLocation open(std::uint64_t number);
  // Ends the user. Does nothing if the sender has ended.
  void release(std::uint64_t number) noexcept;

 private:
  // Without an answer the reply is empty.
  UserReply ask(UserRequest request) noexcept;

  std::mutex mutex_;  // one request at a time
  const PeerSocket socket_;
};

}  // namespace torch_npu
