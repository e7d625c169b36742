#pragma once
// Whether an aclnn function can take a call. Otherwise the call falls back to the AI CPU route, which also raises
// ATen's errors about arguments on several devices.

#include <ATen/core/IListRef.h>
#include <ATen/core/Tensor.h>

#include <initializer_list>
#include <optional>

#include "core/aclnn_argument.h"
#include "core/format.h"

namespace torch_npu::aclnn_check {

// A set of data types.
using Dtypes = uint64_t;

constexpr Dtypes dtype_bit(at::ScalarType type) { return Dtypes{1} << static_cast<unsigned>(type); }

constexpr Dtypes dtypes(std::initializer_list<at::ScalarType> types) {
  Dtypes set = 0;
  for (at::ScalarType type : types) set |= dtype_bit(type);
  return set;
}

// The types that aclnn can name and PyTorch has arithmetic for; it has almost none for the wider unsigned integers and
// ComplexHalf.
constexpr Dtypes kFloating = dtypes({at::kFloat, at::kHalf, at::kBFloat16, at::kDouble});
constexpr Dtypes kAllDtypes =
    dtypes({at::kFloat, at::kHalf, at::kBFloat16, at::kDouble, at::kChar, at::kShort, at::kInt, at::kLong, at::kByte,
            at::kBool, at::kComplexFloat, at::kComplexDouble});

// Types that can be copied.
constexpr Dtypes kCopiedDtypes = kAllDtypes | dtypes({at::kUInt16, at::kUInt32, at::kUInt64});

// The maximum rank of descriptors, and of most of PyTorch's operators.
constexpr int64_t kMaxDims = 64;

// Checks the tensors of one call, one by one.
class Check {
 public:
  // Whether it is a non-empty dense npu tensor on the same device as the others, of a type in `allowed`, without lazy
  // conj or neg bits.
  bool takes(const at::Tensor& tensor, Dtypes allowed) { return fits(tensor, allowed) && tensor.numel() > 0; }

  // The same of a tensor that will be written.
  bool writes(const at::Tensor& tensor, Dtypes allowed) {
    if (!takes(tensor, allowed)) return false;
    materialize(tensor);
    return true;
  }

  // An optional tensor may be missing, undefined or empty.
  bool takes(const std::optional<at::Tensor>& tensor, Dtypes allowed) {
    return !tensor.has_value() || !tensor->defined() || fits(*tensor, allowed);
  }

  // Tensors of a list may be empty.
  template <typename List>
  bool takes_all(const List& tensors, Dtypes allowed) {
    bool has_elements = false;
    for (const at::Tensor& tensor : tensors) {
      if (!fits(tensor, allowed)) return false;
      has_elements |= tensor.numel() > 0;
    }
    return has_elements;
  }
  bool takes(at::TensorList tensors, Dtypes allowed) { return takes_all(tensors, allowed); }
  bool takes(const at::ITensorListRef& tensors, Dtypes allowed) { return takes_all(tensors, allowed); }

  // As takes(), of a tensor that may be empty.
  bool takes_empty(const at::Tensor& tensor, Dtypes allowed) { return fits(tensor, allowed); }

  // A tensor that will be written may be empty; the rule checks its type.
  bool takes_output(const at::Tensor& tensor) {
    if (!fits(tensor, kAllDtypes)) return false;
    materialize(tensor);
    return true;
  }

  // The device of the tensors checked so far.
  c10::DeviceIndex device() const { return device_; }

 private:
  bool fits(const at::Tensor& tensor, Dtypes allowed) {
    const c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
    const c10::DispatchKeySet keys = impl->key_set();
    constexpr c10::DispatchKeySet kLazy(
        {c10::DispatchKey::Conjugate, c10::DispatchKey::Negative, c10::DispatchKey::ZeroTensor});
    if (!keys.has(c10::DispatchKey::PrivateUse1) || keys.has_any(kLazy)) return false;
    if ((dtype_bit(tensor.scalar_type()) & allowed) == 0 || impl->dim() > kMaxDims) return false;
    const c10::DeviceIndex device = impl->device().index();
    if (device_ < 0) device_ = device;
    return device == device_;
  }

  c10::DeviceIndex device_ = -1;
};

// Whether `other`, if it is given, has the type of the first tensor.
inline bool has_type_of(const at::Tensor& first, const at::Tensor& other) {
  return !other.defined() || other.scalar_type() == first.scalar_type();
}
inline bool has_type_of(const at::Tensor& first, const std::optional<at::Tensor>& other) {
  return !other.has_value() || has_type_of(first, *other);
}
template <typename... Tensors>
bool are_of_one_type(const at::Tensor& first, const Tensors&... rest) {
  return (has_type_of(first, rest) && ...);
}

// Whether it is a Python number or another scalar in host memory.
inline bool is_number(const at::Tensor& tensor) { return tensor.defined() && tensor.is_cpu() && tensor.dim() == 0; }

// PyTorch rejects bools in places, and complex numbers change the result's type.
inline bool is_real(const at::Scalar& number) {
  return number.isFloatingPoint() || number.isIntegral(/*includeBool=*/false);
}

// Its value in its own type.
at::Scalar number(const at::Tensor& tensor);

// Whether converting `number` to float keeps all precision that a kernel for `type` uses.
inline bool is_float(at::ScalarType type, double number) {
  return type != at::kDouble || static_cast<double>(static_cast<float>(number)) == number;
}

// Whether `number` is in the range of `type`. ATen's kernels reject most numbers that are not: they handle these calls.
bool holds(at::ScalarType type, const at::Scalar& number);
inline bool holds(const at::Tensor& self, const at::Scalar& number) { return holds(self.scalar_type(), number); }
inline bool holds(const at::Tensor& self, const std::optional<at::Scalar>& number) {
  return !number.has_value() || holds(self, *number);
}
inline bool holds(at::TensorList self, const at::Scalar& number) { return holds(self[0], number); }
inline bool holds(at::TensorList self, at::ArrayRef<at::Scalar> numbers) {
  for (const at::Scalar& number : numbers) {
    if (!holds(self[0], number)) return false;
  }
  return true;
}

}  // namespace torch_npu::aclnn_check
