#pragma once
// What a rank calls, as the others see it.

#include <cstdint>
#include <string>

#include "hccl/hccl_types.h"

namespace softnpu::ccl {

enum class Operator : uint32_t {
  kNone,
  kAllReduce,
  kBroadcast,
  kReduce,
  kReduceScatter,
  kReduceScatterV,
  kAllGather,
  kAllGatherV,
  kScatter,
  kAllToAll,
  kAllToAllV,
  kBarrier,
  kSend,
  kRecv,
  kBatch,
};

// The function of the ABI: "HcclAllReduce".
const char* name_of(Operator op);

struct Call {
  static constexpr uint32_t kUnused = UINT32_MAX;

  Operator op = Operator::kNone;
  uint32_t dtype = kUnused;   // a HcclDataType
  uint32_t reduce = kUnused;  // a HcclReduceOp
  uint32_t root = kUnused;    // or the other rank of a send or receive
  uint64_t count = 0;         // in elements, as the function takes it

  // Whether two ranks that make these calls mean the same operation.
  bool agrees_with(const Call& other) const;
  // "HcclAllReduce(count 4, FP32, sum)".
  std::string describe() const;
};

// Checks of arguments; a type that is none has size 0.
size_t size_of(HcclDataType type);
bool is_reduction(HcclReduceOp op);
// "FP32", "BFP16".
const char* name_of(HcclDataType type);

}  // namespace softnpu::ccl
