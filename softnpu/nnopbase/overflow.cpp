#include "nnopbase/overflow.h"

#include "softnpu/softnpu.h"

namespace softnpu {
namespace {

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
bool check_dims(Word* words, const CallTensor& output, size_t dim, const Bits<Word>& bits, bool saturates) {
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

// A complex tensor as one of real numbers, with one dimension more.
CallTensor parts_of(const CallTensor& complex, aclDataType dtype) {
  CallTensor parts = complex;
  parts.dtype = dtype;
  for (int64_t& stride : parts.strides) stride *= 2;
  parts.dims.push_back(2);
  parts.strides.push_back(1);
  return parts;
}

bool check(void* kernel, const CallTensor& output, bool saturates) {
  switch (output.dtype) {
    case ACL_COMPLEX64: return check(kernel, parts_of(output, ACL_FLOAT), saturates);
    case ACL_COMPLEX128: return check(kernel, parts_of(output, ACL_DOUBLE), saturates);
    case ACL_FLOAT16: return check_dims(static_cast<uint16_t*>(kernel), output, 0, kFloat16, saturates);
    case ACL_BF16: return check_dims(static_cast<uint16_t*>(kernel), output, 0, kBfloat16, saturates);
    case ACL_FLOAT: return check_dims(static_cast<uint32_t*>(kernel), output, 0, kFloat32, saturates);
    case ACL_DOUBLE: return check_dims(static_cast<uint64_t*>(kernel), output, 0, kFloat64, saturates);
    default: return false;
  }
}

}  // namespace

void check_overflow(const CallTensors& tensors, softnpuOverflowMode mode) {
  if (tensors.is_move) return;
  for (const CallTensor& output : tensors.outputs) {
    void* kernel = nullptr;
    const size_t bytes = static_cast<size_t>(output.span()) * aclDataTypeSize(output.dtype);
    // The memory may have been freed since: nothing reads it then.
    if (softnpuProbeAddress(output.data, bytes, &kernel) != ACL_SUCCESS) continue;
    if (check(kernel, output, mode == SOFTNPU_OVERFLOW_SATURATED)) softnpuRaiseOverflow(output.data);
  }
}

}  // namespace softnpu
