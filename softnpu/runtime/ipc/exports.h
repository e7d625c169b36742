#pragma once
// What this process lets other processes open: device memory and events. An importer connects to this process's socket
// and shows the secret of a ticket; a thread here checks who it is and passes a descriptor. The open connection is the
// importer's lease of the memory.

#include <poll.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <tuple>
#include <vector>

#include "base/descriptor_socket.h"
#include "base/status.h"
#include "runtime/ipc/export_ticket.h"

namespace softnpu {

class Exports {
 public:
  // What an importer gets: a duplicate of `fd` and a range of its file.
  struct Grant {
    int fd = -1;  // stays open while `lease` lives
    uint64_t offset = 0;
    uint64_t size = 0;
    std::shared_ptr<const void> lease;  // lives until the importer closes its connection or ends
  };
  // Fills a grant; false if what was exported exists no longer. Called by any thread, must not throw anything but
  // std::bad_alloc, and must not call this class.
  using Grantor = std::function<bool(Grant*)>;

  // What is exported, with the right to open it: any process of this user if `anybody`, otherwise those named by
  // allow() and this one. `id`: no later thing of the same owner has it.
  struct Subject {
    ExportTicket::Kind kind = ExportTicket::Kind::kMemory;
    bool anybody = false;
    const void* owner = nullptr;
    uint64_t id = 0;
    uint64_t offset = 0;
    uint64_t size = 0;
    bool operator<(const Subject& other) const {
      return std::tie(kind, anybody, owner, id, offset, size) <
             std::tie(other.kind, other.anybody, other.owner, other.id, other.offset, other.size);
    }
  };

  // One subject always has one ticket. The first call starts the thread.
  Status add(const Subject& subject, Grantor grantor, ExportTicket* out);
  // False if `ticket` is no export of this process.
  bool allow(const ExportTicket& ticket, const int32_t* pids, size_t count);

  // Ends the leases whose importers are gone, which the thread does as well, later. Whether there were any.
  bool end_leases();

  // Joins the thread. Leases stay: the process ends.
  void stop();
  // In a forked child, which must not answer in the parent's name.
  void leave_to_parent() noexcept;

 private:
  struct Export {
    Subject subject;
    std::vector<int32_t> pids;
    Grantor grantor;
  };
  struct Connection {
    DescriptorSocket socket;
    std::shared_ptr<const void> lease;
  };

  // Listens and starts the thread, once. mutex_ is held.
  Status start();
  Status draw_ticket(ExportTicket::Kind kind, ExportTicket* out) const;
  void purge();
  void serve();
  void watch(std::vector<pollfd>* out);
  // False after an error that the next poll() would report again at once.
  bool accept_next();
  void answer_all();
  // Answers a request, or ends a lease. False if the connection is over.
  bool answer(Connection& connection);
  bool may_open(const Export& entry, pid_t pid) const;

  std::mutex mutex_;  // guards exports_, tickets_, purge_at_, thread_ and the start
  std::map<ExportTicket, Export> exports_;
  std::map<Subject, ExportTicket> tickets_;
  size_t purge_at_ = 64;
  std::thread thread_;
  // Set before the thread starts, constant then.
  DescriptorSocket listener_;
  File wake_;  // an eventfd: the thread shall end
  uint32_t tag_ = 0;
  std::atomic<int> listening_{-1};  // listener_'s descriptor, for a forked child
  std::mutex connections_mutex_;    // guards connections_; taken before mutex_
  std::list<Connection> connections_;
};

}  // namespace softnpu
