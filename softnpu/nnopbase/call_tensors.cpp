#include "nnopbase/call_tensors.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "nnopbase/format.h"

namespace softnpu {
namespace {

thread_local CallTensors collected;

// Operators that move elements, or store numbers that the program wrote: their results are no results of computations.
// A conversion to another type computes.
constexpr std::array<std::string_view, 56> kMoves = {"Arange",
                                                     "Cat",
                                                     "ChannelShuffle",
                                                     "ConcatD",
                                                     "ConstantPadNd",
                                                     "Copy",
                                                     "Embedding",
                                                     "Expand",
                                                     "Eye",
                                                     "Fill",
                                                     "FillDiagonal",
                                                     "FillScalar",
                                                     "FillTensor",
                                                     "Flip",
                                                     "ForeachCopy",
                                                     "ForeachZeroInplace",
                                                     "Gather",
                                                     "GatherV2",
                                                     "GatherV3",
                                                     "Identity",
                                                     "Index",
                                                     "IndexCopy",
                                                     "IndexFill",
                                                     "IndexFillTensor",
                                                     "IndexPutImpl",
                                                     "IndexSelect",
                                                     "MaskedFill",
                                                     "MaskedFillScalar",
                                                     "MaskedFillTensor",
                                                     "MaskedScatter",
                                                     "MaskedSelect",
                                                     "NPUAllocFloatStatus",
                                                     "NPUClearFloatStatus",
                                                     "NPUGetFloatStatus",
                                                     "NanToNum",
                                                     "Normal",
                                                     "NpuFormatCast",
                                                     "One",
                                                     "OnesLike",
                                                     "Permute",
                                                     "Put",
                                                     "Repeat",
                                                     "Roll",
                                                     "SWhere",
                                                     "Scatter",
                                                     "ScatterNdUpdate",
                                                     "ScatterValue",
                                                     "Select",
                                                     "Slice",
                                                     "SplitWithSize",
                                                     "Stack",
                                                     "Take",
                                                     "Tril",
                                                     "Triu",
                                                     "Uniform",
                                                     "Zero"};
static_assert(std::ranges::is_sorted(kMoves));

bool is_move(std::string_view op) {
  for (const std::string_view prefix : {"aclnn", "Inplace"}) {
    if (op.starts_with(prefix)) op.remove_prefix(prefix.size());
  }
  return std::ranges::binary_search(kMoves, op);
}

bool is_float(aclDataType dtype) {
  return dtype == ACL_FLOAT16 || dtype == ACL_BF16 || dtype == ACL_FLOAT || dtype == ACL_DOUBLE;
}

void collect(const aclTensor* tensor, std::vector<CallTensor>* into) {
  if (tensor == nullptr || tensor->data == nullptr || element_count(*tensor) == 0) return;
  CallTensor found;
  found.dtype = tensor->dtype;
  found.format = tensor->format;
  const auto* storage = static_cast<const char*>(tensor->data);
  if (is_blocked_format(tensor->format)) {
    found.data = storage;
    found.dims = tensor->storage_dims;
    int64_t stride = 1;
    found.strides = tensor->storage_dims;
    for (size_t i = found.dims.size(); i-- > 0; stride *= found.dims[i]) found.strides[i] = stride;
  } else {
    found.data = storage + static_cast<size_t>(tensor->offset) * aclDataTypeSize(tensor->dtype);
    found.dims = tensor->dims;
    found.strides = tensor->strides;
  }
  into->push_back(std::move(found));
}

}  // namespace

int64_t CallTensor::span() const {
  int64_t last = 0;
  for (size_t i = 0; i < dims.size(); ++i) last += (dims[i] - 1) * strides[i];
  return last + 1;
}

void collect_input(const aclTensor* tensor) { collect(tensor, &collected.inputs); }
void collect_output(const aclTensor* tensor) { collect(tensor, &collected.outputs); }

std::shared_ptr<const CallTensors> take_call_tensors(const char* op) {
  if (collected.outputs.empty() && collected.inputs.empty()) return nullptr;
  auto taken = std::make_shared<CallTensors>(std::exchange(collected, {}));
  const auto same_type = [&](const CallTensor& read) {
    return !is_float(read.dtype) || taken->outputs.empty() || read.dtype == taken->outputs.front().dtype;
  };
  taken->is_move = is_move(op) && std::ranges::all_of(taken->inputs, same_type);
  return taken;
}

}  // namespace softnpu
