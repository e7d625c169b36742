#pragma once
// Every collective, against what the host computes.

#include <cstdint>

#include "hccl/hccl.h"

namespace ccl_test {

// One rank's end.
struct Side {
  HcclComm comm = nullptr;
  uint32_t rank = 0;
  uint32_t ranks = 0;
  aclrtStream stream = nullptr;
};

// Each calls one collective and checks its result; `seed` changes the data. They end the process where it is wrong.
void check_all_reduce(const Side& side, HcclDataType type, HcclReduceOp op, size_t count, bool in_place, uint64_t seed);
void check_reduce(const Side& side, HcclDataType type, HcclReduceOp op, size_t count, uint32_t root, bool in_place,
                  uint64_t seed);
void check_reduce_scatter(const Side& side, HcclDataType type, HcclReduceOp op, size_t count, bool in_place,
                          uint64_t seed);
void check_reduce_scatter_v(const Side& side, HcclDataType type, HcclReduceOp op, size_t count, uint64_t seed);
void check_broadcast(const Side& side, HcclDataType type, size_t count, uint32_t root, uint64_t seed);
void check_all_gather(const Side& side, HcclDataType type, size_t count, bool in_place, uint64_t seed);
void check_all_gather_v(const Side& side, HcclDataType type, size_t count, uint64_t seed);
void check_scatter(const Side& side, HcclDataType type, size_t count, uint32_t root, bool in_place, uint64_t seed);
void check_all_to_all(const Side& side, HcclDataType type, size_t count, uint64_t seed);
void check_all_to_all_v(const Side& side, HcclDataType type, size_t count, uint64_t seed);
// From each rank to the next one.
void check_ring(const Side& side, HcclDataType type, size_t count, uint64_t seed);
void check_batch(const Side& side, HcclDataType type, size_t count, uint64_t seed);
void check_barrier(const Side& side);

}  // namespace ccl_test
