// Ranks that end, hang, or make other calls: every surviving rank's call fails, and says whose fault it is.

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <ostream>
#include <string>

#include "acl/acl.h"
#include "base/no_destroy.h"
#include "ccl/processes.h"
#include "ccl/values.h"
#include "softnpu/collectives.h"

namespace ccl_test {
namespace {

constexpr size_t kCount = 100'000;

std::string recent_error() {
  const char* message = aclGetRecentErrMsg();
  return message == nullptr ? "" : message;
}

HcclResult all_reduce(HcclComm comm, const Array& array, size_t count = kCount) {
  return HcclAllReduce(array.data(), array.data(), count, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm, nullptr);
}

// Prints "ERROR <text>" of a call that has to fail.
void expect_failure(const char* what) {
  require(aclrtSynchronizeStream(nullptr) != ACL_SUCCESS, std::string(what) + " succeeded");
  std::printf("ERROR %s\n", recent_error().c_str());
}

HcclResult async_error(HcclComm comm) {
  HcclResult result = HCCL_SUCCESS;
  require(HcclGetCommAsyncError(comm, &result) == HCCL_SUCCESS, "HcclGetCommAsyncError");
  return result;
}

std::string line_of(const Outcome& outcome, const std::string& start) {
  const size_t at = outcome.output.find(start);
  return at == std::string::npos ? "" : outcome.output.substr(at, outcome.output.find('\n', at) - at);
}

const Register kWaitForKill("wait_for_kill", [](const Rank& rank) {
  HcclComm comm = rank.communicator();
  Array array(HCCL_DATA_TYPE_FP32, kCount);
  require(all_reduce(comm, array) == HCCL_SUCCESS, "HcclAllReduce");
  require(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS, "the first all-reduce");
  std::printf("READY\n");
  if (rank.rank == 1) pause();
  require(async_error(comm) == HCCL_SUCCESS, "no error before the call");
  require(all_reduce(comm, array) == HCCL_SUCCESS, "HcclAllReduce");
  expect_failure("an all-reduce without rank 1");
  require(async_error(comm) == HCCL_E_REMOTE, "HCCL_E_REMOTE");
  require(all_reduce(comm, array) == HCCL_E_REMOTE, "later calls fail");
  require(HcclCommDestroy(comm) == HCCL_SUCCESS, "HcclCommDestroy");
});

TEST(FaultTest, ARankIsKilledWhileOthersWaitForIt) {
  Job job("wait_for_kill", 3);
  for (uint32_t rank = 0; rank < 3; ++rank) ASSERT_TRUE(job.wait_for(rank, "READY"));
  kill(job.pid(1), SIGKILL);
  const std::string process = "(process " + std::to_string(job.pid(1)) + ")";
  const auto outcomes = job.finish(std::chrono::seconds(30));
  EXPECT_EQ(outcomes[1].status, -SIGKILL);
  for (const uint32_t rank : {0u, 2u}) {
    EXPECT_EQ(outcomes[rank].status, 0) << outcomes[rank].output;
    const std::string error = line_of(outcomes[rank], "ERROR");
    EXPECT_NE(error.find("HcclAllReduce(count 100000, FP32, sum)"), std::string::npos) << error;
    EXPECT_NE(error.find("rank 1 " + process + " has ended"), std::string::npos) << error;
  }
}

const Register kLoopUntilKill("loop_until_kill", [](const Rank& rank) {
  HcclComm comm = rank.communicator();
  Array array(HCCL_DATA_TYPE_FP32, kCount);
  for (int i = 0;; ++i) {
    if (all_reduce(comm, array) != HCCL_SUCCESS || aclrtSynchronizeStream(nullptr) != ACL_SUCCESS) break;
    if (i == 20) std::printf("READY\n");
  }
  std::printf("ERROR %s\n", recent_error().c_str());
  require(HcclCommDestroy(comm) == HCCL_SUCCESS, "HcclCommDestroy");
});

TEST(FaultTest, ARankIsKilledInTheMiddleOfAllReduces) {
  Job job("loop_until_kill", 4);
  ASSERT_TRUE(job.wait_for(2, "READY"));
  kill(job.pid(2), SIGKILL);
  const auto outcomes = job.finish(std::chrono::seconds(30));
  for (const uint32_t rank : {0u, 1u, 3u}) {
    EXPECT_EQ(outcomes[rank].status, 0) << outcomes[rank].output;
    EXPECT_NE(line_of(outcomes[rank], "ERROR").find("rank 2"), std::string::npos) << outcomes[rank].output;
  }
}

const Register kHang("hang", [](const Rank& rank) {
  HcclComm comm = rank.communicator();
  Array array(HCCL_DATA_TYPE_FP32, kCount);
  if (rank.rank == 0) {
    pause();  // until the test ends it
  }
  require(all_reduce(comm, array) == HCCL_SUCCESS, "HcclAllReduce");
  expect_failure("an all-reduce without rank 0");
  require(async_error(comm) == HCCL_E_TIMEOUT, "HCCL_E_TIMEOUT");
  std::printf("DONE\n");
});

TEST(FaultTest, ARankThatDoesNotCallIsNamedAfterTheTimeLimit) {
  Job job("hang", 2, "", {{"HCCL_EXEC_TIMEOUT", "1"}});
  ASSERT_TRUE(job.wait_for(1, "DONE"));
  kill(job.pid(0), SIGKILL);
  const auto outcomes = job.finish();
  const std::string error = line_of(outcomes[1], "ERROR");
  EXPECT_NE(error.find("rank 0"), std::string::npos) << error;
  EXPECT_NE(error.find("has not called it within 1 s (HCCL_EXEC_TIMEOUT); it has called no collective"),
            std::string::npos)
      << error;
}

const Register kMismatch("mismatch", [](const Rank& rank) {
  HcclComm comm = rank.communicator();
  Array array(HCCL_DATA_TYPE_FP32, kCount);
  const bool first = rank.rank == 0;
  const size_t count = first && rank.argument == "count" ? 10 : 12;
  const HcclReduceOp op = first && rank.argument == "op" ? HCCL_REDUCE_MAX : HCCL_REDUCE_SUM;
  const HcclDataType type = first && rank.argument == "dtype" ? HCCL_DATA_TYPE_INT32 : HCCL_DATA_TYPE_FP32;
  HcclResult result = HCCL_SUCCESS;
  if (rank.argument == "operator" && first) {
    result = HcclBroadcast(array.data(), count, type, 1, comm, nullptr);
  } else if (rank.argument == "root") {
    result = HcclBroadcast(array.data(), count, type, rank.rank % 2, comm, nullptr);
  } else if (rank.argument == "send") {
    const auto call = first ? HcclSend : HcclRecv;
    result = call(array.data(), first ? 5 : 6, type, first ? 1 : 0, comm, nullptr);
  } else {
    result = HcclAllReduce(array.data(), array.data(), count, type, op, comm, nullptr);
  }
  require(result == HCCL_SUCCESS, "the call");
  expect_failure("a call that differs");
  require(async_error(comm) != HCCL_SUCCESS, "an asynchronous error");
});

struct Mismatch {
  const char* name;
  const char* first;
  const char* second;
};

void PrintTo(const Mismatch& mismatch, std::ostream* out) { *out << mismatch.name; }

class MismatchTest : public ::testing::TestWithParam<Mismatch> {};

TEST_P(MismatchTest, EveryRankNamesBothCalls) {
  Job job("mismatch", 2, GetParam().name);
  for (const Outcome& outcome : job.finish(std::chrono::seconds(30))) {
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    const std::string error = line_of(outcome, "ERROR");
    EXPECT_NE(error.find(GetParam().first), std::string::npos) << error;
    EXPECT_NE(error.find(GetParam().second), std::string::npos) << error;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Of, MismatchTest,
    ::testing::Values(
        Mismatch{"count", "HcclAllReduce(count 10, FP32, sum)", "HcclAllReduce(count 12, FP32, sum)"},
        Mismatch{"op", "HcclAllReduce(count 12, FP32, max)", "HcclAllReduce(count 12, FP32, sum)"},
        Mismatch{"dtype", "HcclAllReduce(count 12, INT32, sum)", "HcclAllReduce(count 12, FP32, sum)"},
        Mismatch{"operator", "HcclBroadcast(count 12, FP32, root 1)", "HcclAllReduce(count 12, FP32, sum)"},
        Mismatch{"root", "HcclBroadcast(count 12, FP32, root 0)", "HcclBroadcast(count 12, FP32, root 1)"},
        Mismatch{"send", "HcclSend(count 5, FP32, to rank 1)", "HcclRecv(count 6, FP32, from rank 0)"}),
    [](const auto& info) { return std::string(info.param.name); });

const Register kLeave("leave", [](const Rank& rank) {
  HcclComm comm = rank.communicator();
  Array array(HCCL_DATA_TYPE_FP32, kCount);
  if (rank.rank == 1) {
    require(HcclCommDestroy(comm) == HCCL_SUCCESS, "HcclCommDestroy");
    pause();
  }
  require(all_reduce(comm, array) == HCCL_SUCCESS, "HcclAllReduce");
  expect_failure("an all-reduce without rank 1");
  std::printf("DONE\n");
});

TEST(FaultTest, ARankThatDestroyedItsCommunicatorIsNamed) {
  Job job("leave", 2);
  ASSERT_TRUE(job.wait_for(0, "DONE"));
  kill(job.pid(1), SIGKILL);
  const auto outcomes = job.finish();
  EXPECT_NE(line_of(outcomes[0], "ERROR").find("has destroyed its communicator"), std::string::npos)
      << outcomes[0].output;
}

const Register kExit("exit", [](const Rank& rank) {
  HcclComm comm = rank.communicator();
  static softnpu::NoDestroy<Array> kept(HCCL_DATA_TYPE_FP32, kCount);  // outlives main()
  const Array& array = kept.get();
  if (rank.rank == 0) {
    require(HcclRecv(array.data(), kCount, HCCL_DATA_TYPE_FP32, 1, comm, nullptr) == HCCL_SUCCESS, "HcclRecv");
    return;
  }
  require(all_reduce(comm, array) == HCCL_SUCCESS, "HcclAllReduce");
  expect_failure("an all-reduce without rank 0");
});

TEST(FaultTest, AProcessEndsWhileItsStreamWaits) {
  Job job("exit", 2);
  const auto outcomes = job.finish(std::chrono::seconds(30));
  for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_NE(line_of(outcomes[1], "ERROR").find("rank 0"), std::string::npos) << outcomes[1].output;
}

const Register kAbort("abort", [](const Rank& rank) {
  HcclComm comm = rank.communicator();
  Array array(HCCL_DATA_TYPE_FP32, kCount);
  if (rank.rank == 0) {
    std::printf("READY\n");
    require(all_reduce(comm, array) == HCCL_SUCCESS, "HcclAllReduce");
    expect_failure("an all-reduce of an aborted communicator");
    return;
  }
  if (rank.argument == "communicator") {
    require(softnpuCommAbort(comm) == HCCL_SUCCESS, "softnpuCommAbort");
    require(all_reduce(comm, array) != HCCL_SUCCESS, "calls after an abort fail");
  } else {  // a stream with a collective that waits: the collective is dropped
    Array other(HCCL_DATA_TYPE_FP32, kCount);
    require(HcclRecv(other.data(), kCount, HCCL_DATA_TYPE_FP32, 0, comm, nullptr) == HCCL_SUCCESS, "HcclRecv");
    aclrtStream stream = nullptr;
    require(aclrtCreateStream(&stream) == ACL_SUCCESS, "aclrtCreateStream");
    require(HcclRecv(other.data(), kCount, HCCL_DATA_TYPE_FP32, 0, comm, stream) == HCCL_SUCCESS, "HcclRecv");
    require(aclrtStreamAbort(stream) == ACL_SUCCESS, "aclrtStreamAbort");
    require(aclrtSynchronizeStream(nullptr) != ACL_SUCCESS, "a call of an aborted communicator");
  }
  require(HcclCommDestroy(comm) == HCCL_SUCCESS, "HcclCommDestroy");
});

class AbortTest : public ::testing::TestWithParam<const char*> {};

TEST_P(AbortTest, EndsTheCallsOfAllRanks) {
  Job job("abort", 2, GetParam());
  const auto outcomes = job.finish(std::chrono::seconds(30));
  for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_NE(line_of(outcomes[0], "ERROR").find("rank 1"), std::string::npos) << outcomes[0].output;
}

INSTANTIATE_TEST_SUITE_P(Of, AbortTest, ::testing::Values("communicator", "stream"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace ccl_test
