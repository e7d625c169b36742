// Communicators: made, named, divided, destroyed; ranks of one process; arguments that are refused.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "ccl/collectives.h"
#include "ccl/processes.h"
#include "ccl/values.h"

namespace ccl_test {
namespace {

// Ranks of this process, driven by one thread.
class CommunicatorTest : public ::testing::Test {
 protected:
  static constexpr uint32_t kRanks = 3;

  static void SetUpTestSuite() { (void)aclInit(nullptr); }
  void SetUp() override {
    std::vector<int32_t> devices(kRanks);
    for (uint32_t rank = 0; rank < kRanks; ++rank) devices[rank] = static_cast<int32_t>(rank);
    comms_.resize(kRanks);
    streams_.resize(kRanks);
    ASSERT_EQ(HcclCommInitAll(kRanks, devices.data(), comms_.data()), HCCL_SUCCESS);
    for (uint32_t rank = 0; rank < kRanks; ++rank) {
      ASSERT_EQ(aclrtSetDevice(devices[rank]), ACL_SUCCESS);
      ASSERT_EQ(aclrtCreateStream(&streams_[rank]), ACL_SUCCESS);
    }
  }
  void TearDown() override {
    for (const HcclComm comm : comms_) EXPECT_EQ(HcclCommDestroy(comm), HCCL_SUCCESS);
    for (uint32_t rank = 0; rank < kRanks; ++rank) {
      EXPECT_EQ(aclrtDestroyStream(streams_[rank]), ACL_SUCCESS);
      EXPECT_EQ(aclrtResetDevice(static_cast<int32_t>(rank)), ACL_SUCCESS);
    }
  }

  static std::string recent_error() {
    const char* message = aclGetRecentErrMsg();
    return message == nullptr ? "" : message;
  }

  std::vector<HcclComm> comms_;
  std::vector<aclrtStream> streams_;
};

TEST_F(CommunicatorTest, OneThreadDrivesAllRanks) {
  for (const size_t count : {size_t{100}, size_t{50'000}}) {
    std::vector<std::unique_ptr<Array>> arrays;
    for (uint32_t rank = 0; rank < kRanks; ++rank) {
      ASSERT_EQ(aclrtSetDevice(static_cast<int32_t>(rank)), ACL_SUCCESS);
      arrays.push_back(std::make_unique<Array>(HCCL_DATA_TYPE_FP32, count));
      arrays.back()->write(values(rank, count));
      ASSERT_EQ(HcclAllReduce(arrays[rank]->data(), arrays[rank]->data(), count, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM,
                              comms_[rank], streams_[rank]),
                HCCL_SUCCESS)
          << recent_error();
    }
    for (uint32_t rank = 0; rank < kRanks; ++rank) {
      ASSERT_EQ(aclrtSetDevice(static_cast<int32_t>(rank)), ACL_SUCCESS);
      ASSERT_EQ(aclrtSynchronizeStream(streams_[rank]), ACL_SUCCESS) << recent_error();
      EXPECT_EQ(arrays[rank]->read(), reduced(HCCL_REDUCE_SUM, kRanks, count));
    }
  }
}

TEST_F(CommunicatorTest, KnowsItsSizeRanksAndName) {
  std::vector<std::string> names;
  for (uint32_t rank = 0; rank < kRanks; ++rank) {
    uint32_t size = 0;
    uint32_t id = 99;
    char name[COMM_NAME_MAX_LENGTH];
    ASSERT_EQ(HcclGetRankSize(comms_[rank], &size), HCCL_SUCCESS);
    ASSERT_EQ(HcclGetRankId(comms_[rank], &id), HCCL_SUCCESS);
    ASSERT_EQ(HcclGetCommName(comms_[rank], name), HCCL_SUCCESS);
    EXPECT_EQ(size, kRanks);
    EXPECT_EQ(id, rank);
    names.emplace_back(name);
  }
  EXPECT_EQ(std::count(names.begin(), names.end(), names.front()), kRanks);
  EXPECT_FALSE(names.front().empty());
  EXPECT_GT(HcclGetCommConfigCapability(), static_cast<uint32_t>(HCCL_COMM_CONFIG_COMM_NAME));
}

TEST_F(CommunicatorTest, SettingsTakeDeterminism) {
  HcclConfigValue value{};
  value.value = 1;
  EXPECT_EQ(HcclSetConfig(HCCL_DETERMINISTIC, value), HCCL_SUCCESS);
  EXPECT_EQ(HcclSetConfig(static_cast<HcclConfig>(7), value), HCCL_E_PARA);
  EXPECT_NE(recent_error().find("HCCL_DETERMINISTIC"), std::string::npos);
  EXPECT_STREQ(HcclGetErrorString(HCCL_SUCCESS), "success");
  EXPECT_NE(std::string(HcclGetErrorString(HCCL_E_TIMEOUT)).find("rank"), std::string::npos);
}

TEST_F(CommunicatorTest, RefusesBadArgumentsAndStaysUsable) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  Array array(HCCL_DATA_TYPE_FP32, 64);
  char* data = array.data();
  const HcclComm comm = comms_.front();
  const aclrtStream stream = streams_.front();
  const auto refused = [&](HcclResult result, const std::string& sentence) {
    EXPECT_EQ(result, HCCL_E_PARA);
    const std::string error = recent_error();
    EXPECT_NE(error.find(sentence), std::string::npos) << error;
  };
  constexpr HcclDataType kFloat = HCCL_DATA_TYPE_FP32;
  constexpr HcclReduceOp kSum = HCCL_REDUCE_SUM;
  const auto wrong_type = static_cast<HcclDataType>(99);
  refused(HcclAllReduce(data, data, 8, wrong_type, kSum, comm, stream), "data type 99");
  refused(HcclAllReduce(data, data, 8, kFloat, static_cast<HcclReduceOp>(9), comm, stream), "reduction 9");
  refused(HcclAllReduce(nullptr, data, 8, kFloat, kSum, comm, stream), "sendBuf is null");
  refused(HcclAllReduce(data, nullptr, 8, kFloat, kSum, comm, stream), "recvBuf is null");
  refused(HcclAllReduce(data, data, 65, kFloat, kSum, comm, stream), "sendBuf");
  refused(HcclAllReduce(data, data, UINT64_MAX, kFloat, kSum, comm, stream), "more than there are addresses");
  refused(HcclAllReduce(data, data + 4, 8, kFloat, kSum, comm, stream), "overlap");
  refused(HcclAllReduce(&array, data, 8, kFloat, kSum, comm, stream), "is not a device's");
  refused(HcclAllReduce(data, data, 8, kFloat, kSum, nullptr, stream), "the communicator is null");
  refused(HcclAllReduce(data, data, 8, kFloat, kSum, &array, stream), "no live communicator");
  refused(HcclBroadcast(data, 8, kFloat, kRanks, comm, stream), "root is 3: the communicator has ranks 0 to 2");
  refused(HcclReduce(data, data, 8, kFloat, kSum, kRanks, comm, stream), "root is 3");
  refused(HcclScatter(data, data, 8, kFloat, kRanks, comm, stream), "root is 3");
  refused(HcclSend(data, 8, kFloat, kRanks, comm, stream), "destRank is 3");
  refused(HcclRecv(data, 8, kFloat, kRanks, comm, stream), "srcRank is 3");
  refused(HcclAlltoAll(data, 2, kFloat, data + 128, 3, kFloat, comm, stream), "differs in count or type");
  refused(HcclAlltoAll(data, 2, kFloat, data, 2, kFloat, comm, stream), "overlap");
  refused(HcclAlltoAllV(data, nullptr, nullptr, kFloat, data, nullptr, nullptr, kFloat, comm, stream), "are null");
  const std::vector<uint64_t> huge(kRanks, UINT64_MAX / 2);
  refused(HcclAlltoAllV(data, huge.data(), huge.data(), kFloat, data, huge.data(), huge.data(), kFloat, comm, stream),
          "more than there are addresses");
  refused(HcclBatchSendRecv(nullptr, 1, comm, stream), "sendRecvInfo is null");
  HcclSendRecvItem item{HCCL_SEND_RECV_RESERVED, data, 1, kFloat, 1};
  refused(HcclBatchSendRecv(&item, 1, comm, stream), "item 0: kind 2");
  refused(HcclGetRootInfo(nullptr), "rootInfo is null");
  refused(HcclGroupEnd(), "no HcclGroupStart");
  HcclComm created = nullptr;
  HcclRootInfo info{};
  refused(HcclCommInitRootInfo(1, &info, 0, &created), "rootInfo is none");
  refused(HcclCommInitRootInfo(0, &info, 0, &created), "rootInfo is none");
  ASSERT_EQ(HcclGetRootInfo(&info), HCCL_SUCCESS);
  refused(HcclCommInitRootInfo(2, &info, 2, &created), "rank 2 of 2");
  HcclCommConfig config{};
  refused(HcclCommInitRootInfoConfig(1, &info, 0, &config, &created), "HcclCommConfigInit");
  HcclResult failed = HCCL_E_INTERNAL;
  EXPECT_EQ(HcclGetCommAsyncError(comm, &failed), HCCL_SUCCESS);
  EXPECT_EQ(failed, HCCL_SUCCESS);
}

TEST_F(CommunicatorTest, RefusesTheRootInfoOfAnotherHost) {
  HcclRootInfo info{};
  ASSERT_EQ(HcclGetRootInfo(&info), HCCL_SUCCESS);
  std::string host;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> host;
  auto* found = std::search(info.internal, info.internal + sizeof info.internal, host.begin(), host.end());
  ASSERT_NE(found, info.internal + sizeof info.internal);
  *found = 'x';
  HcclComm created = nullptr;
  EXPECT_EQ(HcclCommInitRootInfo(1, &info, 0, &created), HCCL_E_NOT_SUPPORT);
  EXPECT_NE(recent_error().find("ranks on several hosts are not there yet"), std::string::npos);
}

TEST_F(CommunicatorTest, AForgedSecretIsNotAdmitted) {
  setenv("HCCL_CONNECT_TIMEOUT", "1", 1);
  HcclRootInfo info{};
  ASSERT_EQ(HcclGetRootInfo(&info), HCCL_SUCCESS);
  HcclRootInfo forged = info;
  forged.internal[16 + 64 + 64] = static_cast<char>(forged.internal[16 + 64 + 64] ^ 1);
  HcclComm created = nullptr;
  EXPECT_EQ(HcclCommInitRootInfo(1, &forged, 0, &created), HCCL_E_REMOTE);
  EXPECT_EQ(HcclCommInitRootInfo(1, &info, 0, &created), HCCL_SUCCESS) << recent_error();
  EXPECT_EQ(HcclCommDestroy(created), HCCL_SUCCESS);
  unsetenv("HCCL_CONNECT_TIMEOUT");
}

TEST_F(CommunicatorTest, RanksThatDoNotComeAreNamed) {
  setenv("HCCL_CONNECT_TIMEOUT", "1", 1);
  HcclRootInfo info{};
  ASSERT_EQ(HcclGetRootInfo(&info), HCCL_SUCCESS);
  HcclComm created = nullptr;
  EXPECT_EQ(HcclCommInitRootInfo(3, &info, 1, &created), HCCL_E_REMOTE);
  EXPECT_NE(recent_error().find("ranks 0 and 2 of 3 did not come within 1 s (HCCL_CONNECT_TIMEOUT)"),
            std::string::npos);
  setenv("HCCL_CONNECT_TIMEOUT", "soon", 1);
  EXPECT_EQ(HcclGetRootInfo(&info), HCCL_E_PARA);
  EXPECT_NE(recent_error().find("HCCL_CONNECT_TIMEOUT=soon is not understood: it takes 0 to 2147483"),
            std::string::npos);
  unsetenv("HCCL_CONNECT_TIMEOUT");
}

size_t open_files() {
  const auto files = std::filesystem::directory_iterator("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(files), end(files)));
}

size_t mappings() {
  std::ifstream maps("/proc/self/maps");
  return static_cast<size_t>(std::count(std::istreambuf_iterator<char>(maps), {}, '\n'));
}

const Register kMany("many", [](const Rank& rank) {
  const auto round = [&](uint64_t seed) {
    Side side{rank.communicator(), rank.rank, rank.ranks, nullptr};
    check_all_reduce(side, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, seed % 2 == 0 ? 10 : 10'000, true, seed);
    require(HcclCommDestroy(side.comm) == HCCL_SUCCESS, "HcclCommDestroy");
  };
  round(0);
  const size_t files = open_files();
  // Memory allocators, a sanitizer's above all, map some; a mapping of each communicator would be 100.
  const size_t maps = mappings() + 50;
  for (uint64_t i = 1; i <= 100; ++i) round(i);
  // The thread that watches the other ranks' processes lets go of them by itself.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while ((open_files() > files || mappings() > maps) && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  require(open_files() <= files, std::to_string(open_files()) + " open files, there were " + std::to_string(files));
  require(mappings() <= maps, std::to_string(mappings()) + " mappings, at most " + std::to_string(maps) + " are due");
});

TEST(CommunicatorsTest, AHundredLeaveNothingBehind) {
  Job job("many", 2);
  for (const Outcome& outcome : job.finish()) EXPECT_EQ(outcome.status, 0) << outcome.output;
}

const Register kDivide("divide", [](const Rank& rank) {
  HcclCommConfig config;
  HcclCommConfigInit(&config);
  std::strcpy(config.hcclCommName, "everybody");
  const HcclRootInfo info = rank.root_info();
  Side all{nullptr, rank.rank, rank.ranks, nullptr};
  require(HcclCommInitRootInfoConfig(rank.ranks, &info, rank.rank, &config, &all.comm) == HCCL_SUCCESS, "config");
  char name[COMM_NAME_MAX_LENGTH];
  require(HcclGetCommName(all.comm, name) == HCCL_SUCCESS && std::strcmp(name, "everybody") == 0, "the name");
  // Even and odd ranks; the odd ones in reverse.
  for (uint64_t id = 0; id < 3; ++id) {
    std::vector<uint32_t> members;
    for (uint32_t i = rank.rank % 2; i < rank.ranks; i += 2) members.push_back(i);
    if (rank.rank % 2 == 1) std::reverse(members.begin(), members.end());
    Side part{nullptr, 0, static_cast<uint32_t>(members.size()), nullptr};
    part.rank = static_cast<uint32_t>(std::find(members.begin(), members.end(), rank.rank) - members.begin());
    HcclCommConfigInit(&config);
    require(HcclCreateSubCommConfig(&all.comm, part.ranks, members.data(), id / 2, part.rank, &config, &part.comm) ==
                HCCL_SUCCESS,
            "HcclCreateSubCommConfig");
    check_all_reduce(part, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, 5000, false, id);
    check_broadcast(part, HCCL_DATA_TYPE_INT32, 100, part.ranks - 1, id);
    require(HcclCommDestroy(part.comm) == HCCL_SUCCESS, "HcclCommDestroy");
  }
  HcclComm none = all.comm;
  require(HcclCreateSubCommConfig(&all.comm, 0, nullptr, 9, 0, &config, &none) == HCCL_SUCCESS && none == nullptr,
          "a rank outside of the sub-communicator");
  uint32_t wrong = rank.ranks;
  require(HcclCreateSubCommConfig(&all.comm, 1, &wrong, 9, 0, &config, &none) == HCCL_E_PARA, "a rank that is none");
  check_barrier(all);
});

TEST(CommunicatorsTest, AreDividedAndNamed) {
  Job job("divide", 4);
  for (const Outcome& outcome : job.finish()) EXPECT_EQ(outcome.status, 0) << outcome.output;
}

}  // namespace
}  // namespace ccl_test
