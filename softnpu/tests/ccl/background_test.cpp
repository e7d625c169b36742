// Communicators whose ranks meet in the background: calls return at once, and their streams wait.

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "ccl/processes.h"
#include "ccl/values.h"
#include "softnpu/collectives.h"

namespace ccl_test {
namespace {

constexpr size_t kCount = 3000;
constexpr HcclDataType kType = HCCL_DATA_TYPE_FP32;

// The communicator of two ranks, by the numbers of both.
HcclComm pair_of(const HcclRootInfo& root, uint32_t own, uint32_t other) {
  const std::array<uint32_t, 2> ids = {std::min(own, other), std::max(own, other)};
  HcclComm comm = nullptr;
  require(softnpuCommInitInBackground(2, ids.data(), &root, own < other ? 0 : 1, nullptr, &comm) == HCCL_SUCCESS,
          "softnpuCommInitInBackground");
  return comm;
}

uint32_t rank_in_pair(uint32_t own, uint32_t other) { return other < own ? 0 : 1; }

aclrtStream make_stream() {
  aclrtStream stream = nullptr;
  require(aclrtCreateStream(&stream) == ACL_SUCCESS, "aclrtCreateStream");
  return stream;
}

std::string recent_error() {
  const char* message = aclGetRecentErrMsg();
  return message == nullptr ? "" : message;
}

std::string error_of(const Outcome& outcome) {
  const size_t at = outcome.output.find("ERROR");
  return at == std::string::npos ? "" : outcome.output.substr(at, outcome.output.find('\n', at) - at);
}

// Each rank connects to the next one before it does to the one before: in a circle nobody would come first.
const Register kRing("ring", [](const Rank& rank) {
  const uint32_t next = (rank.rank + 1) % rank.ranks;
  const uint32_t before = (rank.rank + rank.ranks - 1) % rank.ranks;
  std::vector<HcclRootInfo> roots;  // of the pair of a rank and the next one
  for (uint32_t i = 0; i < rank.ranks; ++i) roots.push_back(rank.root_info(false));
  Array send(kType, kCount);
  Array recv(kType, kCount);
  send.write(values(rank.rank, kCount, 0, 1));
  const aclrtStream sends = make_stream();
  const aclrtStream recvs = make_stream();
  HcclComm to = pair_of(roots[rank.rank], rank.rank, next);
  require(HcclSend(send.data(), kCount, kType, rank_in_pair(rank.rank, next), to, sends) == HCCL_SUCCESS, "HcclSend");
  HcclComm from = pair_of(roots[before], rank.rank, before);
  require(HcclRecv(recv.data(), kCount, kType, rank_in_pair(rank.rank, before), from, recvs) == HCCL_SUCCESS,
          "HcclRecv");
  require(aclrtSynchronizeStream(recvs) == ACL_SUCCESS, "the receive");
  require(aclrtSynchronizeStream(sends) == ACL_SUCCESS, "the send");
  require(recv.read() == values(before, kCount, 0, 1), "the values of the rank before");
  require(HcclCommDestroy(to) == HCCL_SUCCESS && HcclCommDestroy(from) == HCCL_SUCCESS, "HcclCommDestroy");
});

TEST(BackgroundTest, ARingOfSendsBeforeReceives) {
  Job job("ring", 4);
  for (const Outcome& outcome : job.finish(std::chrono::seconds(30))) EXPECT_EQ(outcome.status, 0) << outcome.output;
}

// Collectives, too, are enqueued before the ranks have met.
const Register kCollectives("background_collectives", [](const Rank& rank) {
  const HcclRootInfo root = rank.root_info(false);
  std::vector<uint32_t> ids;
  for (uint32_t i = 0; i < rank.ranks; ++i) ids.push_back(i);
  HcclComm comm = nullptr;
  require(softnpuCommInitInBackground(rank.ranks, ids.data(), &root, rank.rank, nullptr, &comm) == HCCL_SUCCESS,
          "softnpuCommInitInBackground");
  HcclResult error = HCCL_E_INTERNAL;
  require(HcclGetCommAsyncError(comm, &error) == HCCL_SUCCESS && error == HCCL_SUCCESS, "no error yet");
  uint32_t size = 0;
  require(HcclGetRankSize(comm, &size) == HCCL_SUCCESS && size == rank.ranks, "HcclGetRankSize");
  Array array(kType, kCount);
  array.write(values(rank.rank, kCount, 0, 2));
  for (int i = 0; i < 3; ++i) {
    require(HcclBroadcast(array.data(), kCount, kType, 1, comm, nullptr) == HCCL_SUCCESS, "HcclBroadcast");
  }
  require(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS, "the broadcasts");
  require(array.read() == values(1, kCount, 0, 2), "the values of rank 1");
  require(HcclCommDestroy(comm) == HCCL_SUCCESS, "HcclCommDestroy");
});

TEST(BackgroundTest, CollectivesAreEnqueuedBeforeTheRanksHaveMet) {
  Job job("background_collectives", 3);
  for (const Outcome& outcome : job.finish(std::chrono::seconds(30))) EXPECT_EQ(outcome.status, 0) << outcome.output;
}

const Register kAbsent("absent", [](const Rank& rank) {
  const HcclRootInfo root = rank.root_info(false);
  Array array(kType, kCount);
  if (rank.rank == 1) pause();  // until the test ends it
  HcclComm comm = pair_of(root, 3, 7);
  require(HcclSend(array.data(), kCount, kType, 1, comm, nullptr) == HCCL_SUCCESS, "HcclSend");
  require(aclrtSynchronizeStream(nullptr) != ACL_SUCCESS, "a send to a rank that does not come");
  std::printf("ERROR %s\n", recent_error().c_str());
  require(HcclSend(array.data(), kCount, kType, 1, comm, nullptr) == HCCL_E_TIMEOUT, "later calls fail");
  std::printf("DONE\n");
});

TEST(BackgroundTest, ARankThatDoesNotComeIsNamedAfterTheTimeLimit) {
  Job job("absent", 2, "", {{"HCCL_EXEC_TIMEOUT", "1"}});
  ASSERT_TRUE(job.wait_for(0, "DONE"));
  kill(job.pid(1), SIGKILL);
  const auto outcomes = job.finish();
  EXPECT_EQ(outcomes[0].status, 0) << outcomes[0].output;
  EXPECT_NE(error_of(outcomes[0]).find("rank 7 has not connected within 1 s (HCCL_EXEC_TIMEOUT)"), std::string::npos)
      << outcomes[0].output;
}

// Each kind of operation that waits for the ranks to meet is ended by an abort.
const Register kAbortUnformed("abort_unformed", [](const Rank& rank) {
  const HcclRootInfo root = rank.root_info(false);
  HcclComm comm = pair_of(root, 0, 1);
  Array array(kType, kCount);
  const aclrtStream other = make_stream();
  require(HcclRecv(array.data(), kCount, kType, 1, comm, nullptr) == HCCL_SUCCESS, "HcclRecv");
  require(HcclBarrier(comm, other) == HCCL_SUCCESS, "HcclBarrier");
  require(softnpuCommAbort(comm) == HCCL_SUCCESS, "softnpuCommAbort");
  require(aclrtSynchronizeStream(nullptr) != ACL_SUCCESS, "the receive is over");
  require(aclrtSynchronizeStream(other) != ACL_SUCCESS, "the barrier is over");
  require(HcclCommDestroy(comm) == HCCL_SUCCESS, "HcclCommDestroy");
});

TEST(BackgroundTest, AnAbortEndsWhatWaitsForTheRanksToMeet) {
  Job job("abort_unformed", 1);
  const auto outcomes = job.finish(std::chrono::seconds(30));
  EXPECT_EQ(outcomes[0].status, 0) << outcomes[0].output;
}

void barrier(HcclComm comm) {
  require(HcclBarrier(comm, nullptr) == HCCL_SUCCESS, "HcclBarrier");
  require(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS, "the barrier");
}

// Rank 1 comes first and listens, rank 0 comes, rank 2 never does. A process connects in the order of its
// communicators, so that a barrier of a later one tells that the earlier has connected.
const Register kLeave("leave_unformed", [](const Rank& rank) {
  std::vector<HcclRootInfo> roots;
  for (int i = 0; i < 3; ++i) roots.push_back(rank.root_info(false));
  if (rank.rank == 2) pause();
  const std::array<uint32_t, 3> ids = {4, 5, 6};
  HcclComm trio = nullptr;
  const auto come = [&] {
    require(softnpuCommInitInBackground(3, ids.data(), &roots[0], rank.rank, nullptr, &trio) == HCCL_SUCCESS,
            "softnpuCommInitInBackground");
  };
  if (rank.rank == 1) come();
  barrier(pair_of(roots[1], rank.rank, 1 - rank.rank));
  if (rank.rank == 0) come();
  barrier(pair_of(roots[2], rank.rank, 1 - rank.rank));
  if (rank.rank == 1) {
    if (rank.argument == "process") raise(SIGKILL);
    require(HcclCommDestroy(trio) == HCCL_SUCCESS, "HcclCommDestroy");
    pause();
  }
  require(HcclBarrier(trio, nullptr) != HCCL_SUCCESS || aclrtSynchronizeStream(nullptr) != ACL_SUCCESS,
          "a barrier without rank 5");
  std::printf("ERROR %s\n", recent_error().c_str());
  std::printf("DONE\n");
});

class LeaveTest : public ::testing::TestWithParam<const char*> {};

TEST_P(LeaveTest, ARankThatGoesBeforeTheOthersComeIsNoticed) {
  Job job("leave_unformed", 3, GetParam());
  EXPECT_TRUE(job.wait_for(0, "DONE"));
  const std::string process = std::to_string(job.pid(1));
  for (const uint32_t rank : {1u, 2u}) kill(job.pid(rank), SIGKILL);
  const auto outcomes = job.finish();
  EXPECT_EQ(outcomes[0].status, 0) << outcomes[0].output;
  const std::string error = error_of(outcomes[0]);
  EXPECT_NE(error.find("before all ranks had come"), std::string::npos) << error;
  EXPECT_NE(error.find(process), std::string::npos) << error;
}

INSTANTIATE_TEST_SUITE_P(Of, LeaveTest, ::testing::Values("communicator", "process"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace ccl_test
