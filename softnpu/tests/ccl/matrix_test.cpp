// Every collective with every data type and reduction, between processes.

#include <gtest/gtest.h>

#include <chrono>

#include "acl/acl.h"
#include "ccl/collectives.h"
#include "ccl/processes.h"
#include "ccl/values.h"

namespace ccl_test {
namespace {

// None, one; few of an odd number; more than are published with a call; several slices of a large all-reduce.
const std::vector<size_t> kCounts = {0, 1, 37, 4099, 70'001};

void check_reductions(const Side& side, HcclDataType type, size_t count, uint64_t seed) {
  for (const HcclReduceOp op : kOps) {
    for (const bool in_place : {false, true}) {
      check_all_reduce(side, type, op, count, in_place, seed);
      check_reduce(side, type, op, count, static_cast<uint32_t>(seed) % side.ranks, in_place, seed);
      check_reduce_scatter(side, type, op, count, in_place, seed);
    }
    check_reduce_scatter_v(side, type, op, count, seed);
  }
}

void check_moves(const Side& side, HcclDataType type, size_t count, uint64_t seed) {
  for (const bool in_place : {false, true}) {
    check_all_gather(side, type, count, in_place, seed);
    check_scatter(side, type, count, static_cast<uint32_t>(seed) % side.ranks, in_place, seed);
  }
  check_broadcast(side, type, count, static_cast<uint32_t>(seed) % side.ranks, seed);
  check_all_gather_v(side, type, count, seed);
  check_all_to_all(side, type, count, seed);
  check_all_to_all_v(side, type, count, seed);
  if (side.ranks > 1) check_ring(side, type, count, seed);
  check_batch(side, type, count, seed);
}

const Register kMatrix("matrix", [](const Rank& rank) {
  Side side{rank.communicator(), rank.rank, rank.ranks, nullptr};
  require(aclrtCreateStream(&side.stream) == ACL_SUCCESS, "aclrtCreateStream");
  uint64_t seed = 0;
  for (const HcclDataType type : kTypes) {
    for (const size_t count : kCounts) {
      check_reductions(side, type, count, seed);
      check_moves(side, type, count, seed);
      ++seed;
    }
  }
  check_barrier(side);
  require(HcclCommDestroy(side.comm) == HCCL_SUCCESS, "HcclCommDestroy");
});

// Results that are stored around the caches: of two ranks, more than 16 MiB.
const Register kLarge("large", [](const Rank& rank) {
  const Side side{rank.communicator(), rank.rank, rank.ranks, nullptr};
  constexpr size_t kPart = 1'300'003;
  constexpr HcclDataType kType = HCCL_DATA_TYPE_FP64;
  check_all_reduce(side, kType, HCCL_REDUCE_SUM, kPart, false, 1);
  // In several chunks, of which each rank has as many, in place or not.
  check_all_reduce(side, kType, HCCL_REDUCE_MAX, 2 * kPart, rank.rank == 0, 9);
  check_reduce_scatter(side, kType, HCCL_REDUCE_SUM, kPart, false, 2);
  check_reduce_scatter_v(side, kType, HCCL_REDUCE_MAX, kPart, 3);
  check_broadcast(side, kType, 2 * kPart, 1, 4);
  check_all_gather(side, kType, kPart, false, 5);
  check_all_to_all(side, kType, kPart, 6);
  check_all_to_all_v(side, kType, kPart, 7);
  require(HcclCommDestroy(side.comm) == HCCL_SUCCESS, "HcclCommDestroy");
});

TEST(LargeTest, ResultsAroundTheCachesAreComplete) {
  Job job("large", 2);
  for (const Outcome& outcome : job.finish()) EXPECT_EQ(outcome.status, 0) << outcome.output;
}

class MatrixTest : public ::testing::TestWithParam<uint32_t> {};

TEST_P(MatrixTest, EveryCollectiveTypeAndReduction) {
  Job job("matrix", GetParam());
  // Minutes under a sanitizer, beside other work.
  for (const Outcome& outcome : job.finish(std::chrono::minutes(10))) EXPECT_EQ(outcome.status, 0) << outcome.output;
}

INSTANTIATE_TEST_SUITE_P(Ranks, MatrixTest, ::testing::Values(1u, 2u, 3u, 4u));

}  // namespace
}  // namespace ccl_test
