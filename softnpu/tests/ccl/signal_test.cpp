// Signals of the program: its handlers do not run on libhccl's threads.

#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "acl/acl.h"
#include "ccl/processes.h"

namespace ccl_test {
namespace {

// This process's threads that no signal's handler runs on.
int threads_without_signals() {
  int count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream status(task.path() / "status");
    for (std::string line; std::getline(status, line);) {
      if (line.rfind("SigBlk:", 0) != 0) continue;
      const uint64_t blocked = std::stoull(line.substr(7), nullptr, 16);
      if ((blocked >> (SIGUSR1 - 1) & 1) != 0 && (blocked >> (SIGINT - 1) & 1) != 0) ++count;
    }
  }
  return count;
}

const Register kSignals("signals", [](const Rank& rank) {
  const int before = threads_without_signals();
  const HcclComm comm = rank.communicator();
  // The watcher of other ranks, and rank 0's server of the rendezvous.
  const int wanted = rank.rank == 0 ? 2 : 1;
  const int found = threads_without_signals() - before;
  require(found >= wanted, std::to_string(found) + " threads block signals");
  require(HcclCommDestroy(comm) == HCCL_SUCCESS, "HcclCommDestroy");
});

TEST(SignalTest, LibrarysThreadsTakeNone) {
  Job job("signals", 2);
  for (const Outcome& outcome : job.finish()) EXPECT_EQ(outcome.status, 0) << outcome.output;
}

}  // namespace
}  // namespace ccl_test
