#pragma once
// The thread that forms communicators in the background.
//
// Ranks need not agree who listens: the first that comes does, at the name in the root information, and the others
// connect to it.

#include <memory>
#include <mutex>
#include <vector>

#include "base/descriptor_socket.h"
#include "base/status.h"
#include "ccl/communicator.h"
#include "ccl/member.h"
#include "ccl/wakeup_thread.h"

namespace softnpu::ccl {

class Connector {
 public:
  // The one instance. It is never destroyed; its thread ends at process exit.
  static Connector& get();

  // Forms `comm`, or makes it fail, unless it is dropped before. The other ranks see that it is.
  Status add(const std::shared_ptr<Communicator>& comm, RankConfig self);
  // Something that was added is no longer there.
  void ring() const { thread_.ring(); }

 private:
  struct Pending {
    std::weak_ptr<Communicator> comm;
    RootInfo info;
    RankConfig self;
    DescriptorSocket socket;  // none until it has connected
    uint32_t attempts = 0;
  };

  void run();
  // Goes on with one. True when it is over.
  static bool proceed(Pending* pending);
  // Connects to the rank that listens, or listens.
  static Status connect(Pending* pending);

  std::mutex mutex_;  // guards arrivals_
  std::vector<Pending> arrivals_;
  WakeupThread thread_{"connects to other ranks"};
};

}  // namespace softnpu::ccl
