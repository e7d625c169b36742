#pragma once
// The storages that this process has sent to others. Each sending adds a user, whose number is a secret. The receiver
// opens and releases it over a connection; a thread here answers. When the connection or its process ends, all users
// that it opened end with it.

#include <c10/core/Storage.h>

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/peer_socket.h"
#include "core/storage_users.h"

namespace torch_npu {

class SentStorages {
 public:
  // Never destroyed: storages may be freed at the end of the process.
  static SentStorages& get();

  // Adds a user of `storage`, which is at `location` and does not move. Returns the name of this process's socket and
  // the user's number. The memory stays until the user ends.
  std::pair<std::string, std::uint64_t> add_user(c10::StorageImpl& storage, const SharedLocation& location);

  // Frees memory that this process has dropped and that has no users.
  void collect();

  // Joins the thread. Memory that others use stays with them.
  void close();

 private:
  // Memory of a storage, which owns this as its context.
  struct Sent {
    c10::DataPtr data;
    std::size_t users = 0;
  };
  struct Connection {
    PeerSocket socket;
    Descriptor process;  // a pidfd: a child of the receiver may have its sockets, too. None on old kernels
    std::unordered_set<std::uint64_t> opened;
  };
  struct User {
    Sent* sent = nullptr;
    SharedLocation location;
    const Connection* opener = nullptr;
  };

  static void delete_sent(void* context);
  void drop(std::unique_ptr<Sent> sent);

  // All below: mutex_ is held, except in serve().
  void start();
  void serve();
  void answer_all();
  // False if the connection is over.
  bool answer(Connection& connection);
  void end_user(std::uint64_t number);
  std::uint64_t new_number() const;
  void leave_to_parent();

  std::mutex mutex_;  // guards all members below
  std::string name_;  // empty until the first storage is sent
  PeerSocket listener_;
  Descriptor wake_;  // an eventfd: the thread shall end
  std::thread thread_;
  std::list<Connection> connections_;
  std::unordered_map<std::uint64_t, User> users_;
  std::vector<std::unique_ptr<Sent>> dropped_;
  bool closed_ = false;
};

}  // namespace torch_npu
