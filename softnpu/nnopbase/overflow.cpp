#include "nnopbase/overflow.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "nnopbase/format.h"
#include "softnpu/softnpu.h"

namespace softnpu {
namespace {

struct Collected {
  FloatOutputs outputs;
  std::vector<aclDataType> read;
};
thread_local Collected collected;

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

// A format with one sign bit, an exponent and a fraction, in an integer.
template <typename Word>
struct Bits {
  Word exponent;  // all ones: an infinity, or NaN
  Word sign;

  bool overflows(Word word) const { return (word & exponent) == exponent; }
  Word saturated(Word word) const {
    const Word magnitude = word & static_cast<Word>(~sign);
    if (magnitude != exponent) return 0;  // NaN
    return static_cast<Word>((word & sign) | (exponent - 1));
  }
};
constexpr Bits<uint16_t> kFloat16{0x7c00, 0x8000};
constexpr Bits<uint16_t> kBfloat16{0x7f80, 0x8000};
constexpr Bits<uint32_t> kFloat32{0x7f800000, 0x80000000};
constexpr Bits<uint64_t> kFloat64{0x7ff0000000000000, 0x8000000000000000};

template <typename Word>
bool check_run(Word* words, int64_t count, int64_t stride, const Bits<Word>& bits, bool saturates) {
  bool overflows = false;
  if (stride == 1) {
    for (int64_t i = 0; i < count; ++i) overflows |= bits.overflows(words[i]);
  } else {
    for (int64_t i = 0; i < count; ++i) overflows |= bits.overflows(words[i * stride]);
  }
  if (!overflows || !saturates) return overflows;
  for (int64_t i = 0; i < count; ++i) {
    Word& word = words[i * stride];
    if (bits.overflows(word)) word = bits.saturated(word);
  }
  return true;
}

template <typename Word>
bool check_dims(Word* words, const FloatOutput& output, size_t dim, const Bits<Word>& bits, bool saturates) {
  if (dim == output.dims.size()) return check_run(words, 1, 1, bits, saturates);
  if (dim + 1 == output.dims.size()) {
    return check_run(words, output.dims[dim], output.strides[dim], bits, saturates);
  }
  bool overflows = false;
  for (int64_t i = 0; i < output.dims[dim]; ++i) {
    overflows |= check_dims(words + i * output.strides[dim], output, dim + 1, bits, saturates);
  }
  return overflows;
}

bool check(void* kernel, const FloatOutput& output, bool saturates) {
  switch (output.dtype) {
    case ACL_FLOAT16: return check_dims(static_cast<uint16_t*>(kernel), output, 0, kFloat16, saturates);
    case ACL_BF16: return check_dims(static_cast<uint16_t*>(kernel), output, 0, kBfloat16, saturates);
    case ACL_FLOAT: return check_dims(static_cast<uint32_t*>(kernel), output, 0, kFloat32, saturates);
    case ACL_DOUBLE: return check_dims(static_cast<uint64_t*>(kernel), output, 0, kFloat64, saturates);
    default: return false;
  }
}

int64_t span_of(const FloatOutput& output) {
  int64_t last = 0;
  for (size_t i = 0; i < output.dims.size(); ++i) last += (output.dims[i] - 1) * output.strides[i];
  return last + 1;
}

bool is_float(aclDataType dtype) {
  return dtype == ACL_FLOAT16 || dtype == ACL_BF16 || dtype == ACL_FLOAT || dtype == ACL_DOUBLE;
}

// The type of the elements of a complex type; else the type itself.
aclDataType part_of(aclDataType dtype) {
  if (dtype == ACL_COMPLEX64) return ACL_FLOAT;
  return dtype == ACL_COMPLEX128 ? ACL_DOUBLE : dtype;
}

}  // namespace

void collect_input(const aclTensor* tensor) {
  if (tensor != nullptr) collected.read.push_back(tensor->dtype);
}

void collect_output(const aclTensor* tensor) {
  if (tensor == nullptr || tensor->data == nullptr || element_count(*tensor) == 0) return;
  FloatOutput output;
  output.dtype = part_of(tensor->dtype);
  if (!is_float(output.dtype)) return;
  const auto* storage = static_cast<const char*>(tensor->data);
  if (is_blocked_format(tensor->format)) {
    int64_t count = 1;
    for (const int64_t size : tensor->storage_dims) count *= size;
    output.data = storage;
    output.dims.push_back(count);
    output.strides.push_back(1);
  } else {
    output.data = storage + static_cast<size_t>(tensor->offset) * aclDataTypeSize(tensor->dtype);
    const int64_t parts = output.dtype == tensor->dtype ? 1 : 2;
    for (const int64_t size : tensor->dims) output.dims.push_back(size);
    for (const int64_t stride : tensor->strides) output.strides.push_back(parts * stride);
    if (parts == 2) {
      output.dims.push_back(2);
      output.strides.push_back(1);
    }
  }
  collected.outputs.push_back(std::move(output));
}

std::shared_ptr<const FloatOutputs> take_outputs(const char* op) {
  if (collected.outputs.empty() && collected.read.empty()) return nullptr;
  Collected taken = std::exchange(collected, {});
  if (taken.outputs.empty()) return nullptr;
  const auto same_type = [&](aclDataType read) { return !is_float(read) || read == taken.outputs.front().dtype; };
  if (is_move(op) && std::ranges::all_of(taken.read, same_type)) return nullptr;
  return std::make_shared<const FloatOutputs>(std::move(taken.outputs));
}

void check_outputs(const FloatOutputs& outputs, softnpuOverflowMode mode) {
  for (const FloatOutput& output : outputs) {
    void* kernel = nullptr;
    const size_t bytes = static_cast<size_t>(span_of(output)) * aclDataTypeSize(output.dtype);
    // The memory may have been freed since: nothing reads it then.
    if (softnpuProbeAddress(output.data, bytes, &kernel) != ACL_SUCCESS) continue;
    if (check(kernel, output, mode == SOFTNPU_OVERFLOW_SATURATED)) softnpuRaiseOverflow(output.data);
  }
}

}  // namespace softnpu
