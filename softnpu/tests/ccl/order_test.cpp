// Many collectives at once: on several streams, of several communicators, of several jobs.

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "ccl/processes.h"
#include "ccl/values.h"

namespace ccl_test {
namespace {

// Calls of one round whose results have not been checked yet.
struct Pending {
  std::vector<std::unique_ptr<Array>> arrays;
  std::vector<std::function<void()>> checks;

  Array& add(HcclDataType type, size_t count) { return *arrays.emplace_back(std::make_unique<Array>(type, count)); }
};

void expect_equal(const std::string& what, const std::vector<double>& found, const std::vector<double>& wanted) {
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (found[i] != wanted[i]) fail(what + ": element " + std::to_string(i) + " of " + std::to_string(wanted.size()));
  }
}

// One collective, drawn from `random`, which is the same on all ranks.
void call_any(const Rank& rank, HcclComm comm, aclrtStream stream, uint64_t seed, std::mt19937& random,
              Pending* pending) {
  const auto draw = [&](size_t below) { return std::uniform_int_distribution<size_t>(0, below - 1)(random); };
  const HcclDataType type = kTypes[draw(kTypes.size())];
  const HcclReduceOp op = kOps[draw(kOps.size())];
  const size_t count = draw(size_t{1} << draw(17));
  const auto root = static_cast<uint32_t>(draw(rank.ranks));
  const size_t ranks = rank.ranks;
  const std::string what = "call " + std::to_string(seed);
  HcclResult result = HCCL_SUCCESS;
  switch (draw(5)) {
    case 0: {
      Array& array = pending->add(type, count);
      array.write(values(rank.rank, count, 0, seed));
      result = HcclAllReduce(array.data(), array.data(), count, type, op, comm, stream);
      pending->checks.push_back(
          [=, &array] { expect_equal(what + ", HcclAllReduce", array.read(), reduced(op, ranks, count, 0, seed)); });
      break;
    }
    case 1: {
      Array& array = pending->add(type, count);
      array.write(values(rank.rank, count, 0, seed));
      result = HcclBroadcast(array.data(), count, type, root, comm, stream);
      pending->checks.push_back(
          [=, &array] { expect_equal(what + ", HcclBroadcast", array.read(), values(root, count, 0, seed)); });
      break;
    }
    case 2: {
      Array& send = pending->add(type, count);
      Array& recv = pending->add(type, count * ranks);
      send.write(values(rank.rank, count, 0, seed));
      result = HcclAllGather(send.data(), recv.data(), count, type, comm, stream);
      pending->checks.push_back([=, &recv] {
        for (uint32_t other = 0; other < ranks; ++other) {
          expect_equal(what + ", HcclAllGather", recv.read(other * count, count), values(other, count, 0, seed));
        }
      });
      break;
    }
    case 3: {
      Array& send = pending->add(type, count * ranks);
      Array& recv = pending->add(type, count);
      send.write(values(rank.rank, count * ranks, 0, seed));
      result = HcclReduceScatter(send.data(), recv.data(), count, type, op, comm, stream);
      const uint32_t own = rank.rank;
      pending->checks.push_back([=, &recv] {
        expect_equal(what + ", HcclReduceScatter", recv.read(), reduced(op, ranks, count, own * count, seed));
      });
      break;
    }
    default: {
      Array& send = pending->add(type, count * ranks);
      Array& recv = pending->add(type, count * ranks);
      send.write(values(rank.rank, count * ranks, 0, seed));
      result = HcclAlltoAll(send.data(), count, type, recv.data(), count, type, comm, stream);
      const uint32_t own = rank.rank;
      pending->checks.push_back([=, &recv] {
        for (uint32_t other = 0; other < ranks; ++other) {
          expect_equal(what + ", HcclAlltoAll", recv.read(other * count, count),
                       values(other, count, own * count, seed));
        }
      });
    }
  }
  require(result == HCCL_SUCCESS, what);
}

const Register kRandom("random", [](const Rank& rank) {
  constexpr size_t kStreams = 3;
  constexpr uint64_t kRound = 25;
  HcclComm comm = rank.communicator();
  std::vector<aclrtStream> streams(kStreams);
  for (aclrtStream& stream : streams) require(aclrtCreateStream(&stream) == ACL_SUCCESS, "aclrtCreateStream");
  std::mt19937 random(7);
  const auto calls = static_cast<uint64_t>(std::stoull(rank.argument));
  for (uint64_t call = 0; call < calls;) {
    Pending pending;
    for (uint64_t i = 0; i < kRound && call < calls; ++i, ++call) {
      call_any(rank, comm, streams[random() % kStreams], call, random, &pending);
    }
    for (const aclrtStream stream : streams) require(aclrtSynchronizeStream(stream) == ACL_SUCCESS, "a stream");
    for (const auto& check : pending.checks) check();
  }
  require(HcclCommDestroy(comm) == HCCL_SUCCESS, "HcclCommDestroy");
});

// SOFTNPU_COLLECTIVES: how many, instead of 2,000.
std::string number_of_calls() {
  const char* asked = std::getenv("SOFTNPU_COLLECTIVES");
  return asked == nullptr ? "2000" : asked;
}

TEST(OrderTest, RandomCollectivesOnSeveralStreams) {
  Job job("random", 3, number_of_calls());
  for (const Outcome& outcome : job.finish()) EXPECT_EQ(outcome.status, 0) << outcome.output;
}

TEST(OrderTest, TwoJobsAtOnce) {
  Job one("random", 2, "100");
  Job other("random", 2, "100");
  for (const Outcome& outcome : one.finish()) EXPECT_EQ(outcome.status, 0) << outcome.output;
  for (const Outcome& outcome : other.finish()) EXPECT_EQ(outcome.status, 0) << outcome.output;
}

// Ranks use two communicators in opposite orders, and a third stream computes.
const Register kOpposite("opposite", [](const Rank& rank) {
  constexpr size_t kCount = 20'000;
  constexpr size_t kFilled = size_t{1} << 20;
  const std::vector<HcclComm> comms = {rank.communicator(), rank.communicator()};
  std::vector<aclrtStream> streams(3);
  for (aclrtStream& stream : streams) require(aclrtCreateStream(&stream) == ACL_SUCCESS, "aclrtCreateStream");
  Array one(HCCL_DATA_TYPE_FP32, kCount);
  Array other(HCCL_DATA_TYPE_FP32, kCount);
  Array computed(HCCL_DATA_TYPE_INT8, kFilled);
  one.write(std::vector<double>(kCount, 1));
  other.write(std::vector<double>(kCount, 1));
  const std::vector<Array*> arrays = {&one, &other};
  const int rounds = std::stoi(rank.argument);
  for (int i = 0; i < rounds; ++i) {
    require(aclrtMemsetAsync(computed.data(), kFilled, i % 100, kFilled, streams[2]) == ACL_SUCCESS,
            "aclrtMemsetAsync");
    for (size_t turn = 0; turn < 2; ++turn) {
      const size_t which = (turn + rank.rank) % 2;
      require(HcclAllReduce(arrays[which]->data(), arrays[which]->data(), kCount, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_MAX,
                            comms[which], streams[which]) == HCCL_SUCCESS,
              "HcclAllReduce");
    }
  }
  for (const aclrtStream stream : streams) require(aclrtSynchronizeStream(stream) == ACL_SUCCESS, "a stream");
  expect_equal("the first communicator", one.read(), std::vector<double>(kCount, 1));
  expect_equal("the second communicator", other.read(), std::vector<double>(kCount, 1));
  expect_equal("the filled memory", computed.read(), std::vector<double>(kFilled, (rounds - 1) % 100));
});

TEST(OrderTest, OppositeOrdersFinishOnOneCore) {
  Job job("opposite", 2, "200", {{"SOFTNPU_CORES", "1"}});
  for (const Outcome& outcome : job.finish()) EXPECT_EQ(outcome.status, 0) << outcome.output;
}

// A rank is not there yet: its stream waits, the device's other streams do not.
const Register kParked("parked", [](const Rank& rank) {
  HcclComm comm = rank.communicator();
  Array array(HCCL_DATA_TYPE_FP32, 100'000);
  if (rank.rank == 0) {
    aclrtStream waiting = nullptr;
    require(aclrtCreateStream(&waiting) == ACL_SUCCESS, "aclrtCreateStream");
    require(HcclAllReduce(array.data(), array.data(), array.count(), HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm,
                          waiting) == HCCL_SUCCESS,
            "HcclAllReduce");
    Array filled(HCCL_DATA_TYPE_INT8, size_t{1} << 22);
    require(aclrtMemsetAsync(filled.data(), filled.count(), 1, filled.count(), nullptr) == ACL_SUCCESS, "a fill");
    require(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS, "a stream beside one that waits");
    // Only now does the other rank go on.
    require(HcclSend(filled.data(), 1, HCCL_DATA_TYPE_INT8, 1, comm, nullptr) == HCCL_SUCCESS, "HcclSend");
    require(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS, "HcclSend");
    require(aclrtSynchronizeStream(waiting) == ACL_SUCCESS, "HcclAllReduce");
    return;
  }
  Array received(HCCL_DATA_TYPE_INT8, 1);
  require(HcclRecv(received.data(), 1, HCCL_DATA_TYPE_INT8, 0, comm, nullptr) == HCCL_SUCCESS, "HcclRecv");
  require(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS, "HcclRecv");
  require(HcclAllReduce(array.data(), array.data(), array.count(), HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm,
                        nullptr) == HCCL_SUCCESS,
          "HcclAllReduce");
  require(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS, "HcclAllReduce");
});

TEST(OrderTest, OtherStreamsRunWhileOneWaitsForARank) {
  Job job("parked", 2, "", {{"SOFTNPU_CORES", "1"}});
  for (const Outcome& outcome : job.finish()) EXPECT_EQ(outcome.status, 0) << outcome.output;
}

}  // namespace
}  // namespace ccl_test
