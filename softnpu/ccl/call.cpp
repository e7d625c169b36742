#include "ccl/call.h"

#include <array>

#include "base/text.h"

namespace softnpu::ccl {
namespace {

struct TypeRow {
  const char* name;
  size_t size;
};

// By value of HcclDataType.
constexpr std::array<TypeRow, 12> kTypes = {{{"INT8", 1},
                                             {"INT16", 2},
                                             {"INT32", 4},
                                             {"FP16", 2},
                                             {"FP32", 4},
                                             {"INT64", 8},
                                             {"UINT64", 8},
                                             {"UINT8", 1},
                                             {"UINT16", 2},
                                             {"UINT32", 4},
                                             {"FP64", 8},
                                             {"BFP16", 2}}};
constexpr std::array<const char*, 4> kReductions = {"sum", "prod", "max", "min"};

// Ranks contribute as many elements as they like.
bool counts_differ(Operator op) { return op == Operator::kAllToAllV || op == Operator::kAllGatherV; }

}  // namespace

const char* name_of(Operator op) {
  switch (op) {
    case Operator::kNone: return "no call";
    case Operator::kAllReduce: return "HcclAllReduce";
    case Operator::kBroadcast: return "HcclBroadcast";
    case Operator::kReduce: return "HcclReduce";
    case Operator::kReduceScatter: return "HcclReduceScatter";
    case Operator::kReduceScatterV: return "HcclReduceScatterV";
    case Operator::kAllGather: return "HcclAllGather";
    case Operator::kAllGatherV: return "HcclAllGatherV";
    case Operator::kScatter: return "HcclScatter";
    case Operator::kAllToAll: return "HcclAlltoAll";
    case Operator::kAllToAllV: return "HcclAlltoAllV";
    case Operator::kBarrier: return "HcclBarrier";
    case Operator::kSend: return "HcclSend";
    case Operator::kRecv: return "HcclRecv";
    case Operator::kBatch: return "HcclBatchSendRecv";
  }
  return "an unknown call";
}

bool Call::agrees_with(const Call& other) const {
  // The counts of a reduce-scatter with counts are compared one by one.
  const bool same_count = counts_differ(op) || op == Operator::kReduceScatterV || count == other.count;
  return op == other.op && dtype == other.dtype && reduce == other.reduce && root == other.root && same_count;
}

std::string Call::describe() const {
  if (op == Operator::kNone || op == Operator::kBarrier) return name_of(op);
  std::string out = text(name_of(op), "(count ", count, ", ", name_of(static_cast<HcclDataType>(dtype)));
  if (reduce < kReductions.size()) out += text(", ", kReductions[reduce]);
  if (root != kUnused) {
    const char* role = op == Operator::kSend ? ", to rank " : op == Operator::kRecv ? ", from rank " : ", root ";
    out += text(role, root);
  }
  return out + ")";
}

size_t size_of(HcclDataType type) {
  const auto index = static_cast<size_t>(type);
  return index < kTypes.size() ? kTypes[index].size : 0;
}

bool is_reduction(HcclReduceOp op) { return static_cast<size_t>(op) < kReductions.size(); }

const char* name_of(HcclDataType type) {
  const auto index = static_cast<size_t>(type);
  return index < kTypes.size() ? kTypes[index].name : "an unknown type";
}

}  // namespace softnpu::ccl
