#include "ccl/call.h"

#include <array>
#include <iterator>

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

enum class Counts : uint8_t {
  kEqual,     // of all ranks
  kOwn,       // ranks contribute as many elements as they like
  kOneByOne,  // compared rank by rank
};

struct OperatorRow {
  Operator op;
  const char* name;
  Counts counts = Counts::kEqual;
  const char* other_rank = ", root ";  // what Call::root is
  bool has_elements = true;
};

// In the order of Operator.
constexpr OperatorRow kOperators[] = {
    {Operator::kNone, "no call", Counts::kEqual, "", false},
    {Operator::kAllReduce, "HcclAllReduce"},
    {Operator::kBroadcast, "HcclBroadcast"},
    {Operator::kReduce, "HcclReduce"},
    {Operator::kReduceScatter, "HcclReduceScatter"},
    {Operator::kReduceScatterV, "HcclReduceScatterV", Counts::kOneByOne},
    {Operator::kAllGather, "HcclAllGather"},
    {Operator::kAllGatherV, "HcclAllGatherV", Counts::kOwn},
    {Operator::kScatter, "HcclScatter"},
    {Operator::kAllToAll, "HcclAlltoAll"},
    {Operator::kAllToAllV, "HcclAlltoAllV", Counts::kOwn},
    {Operator::kBarrier, "HcclBarrier", Counts::kEqual, "", false},
    {Operator::kSend, "HcclSend", Counts::kEqual, ", to rank "},
    {Operator::kRecv, "HcclRecv", Counts::kEqual, ", from rank "},
    {Operator::kBatch, "HcclBatchSendRecv"},
};
static_assert([] {
  for (size_t i = 0; i < std::size(kOperators); ++i) {
    if (static_cast<size_t>(kOperators[i].op) != i) return false;
  }
  return std::size(kOperators) == static_cast<size_t>(Operator::kBatch) + 1;
}());

// Null for a number that is none: another process may have written it.
const OperatorRow* row_of(Operator op) {
  const auto index = static_cast<size_t>(op);
  return index < std::size(kOperators) ? &kOperators[index] : nullptr;
}

}  // namespace

const char* name_of(Operator op) {
  const OperatorRow* row = row_of(op);
  return row == nullptr ? "an unknown call" : row->name;
}

bool Call::agrees_with(const Call& other) const {
  const OperatorRow* row = row_of(op);
  const bool same_count = (row != nullptr && row->counts != Counts::kEqual) || count == other.count;
  return op == other.op && dtype == other.dtype && reduce == other.reduce && root == other.root && same_count;
}

std::string Call::describe() const {
  const OperatorRow* row = row_of(op);
  if (row == nullptr || !row->has_elements) return name_of(op);
  std::string out = text(name_of(op), "(count ", count, ", ", name_of(static_cast<HcclDataType>(dtype)));
  if (reduce < kReductions.size()) out += text(", ", kReductions[reduce]);
  if (root != kUnused) out += text(row->other_rank, root);
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
