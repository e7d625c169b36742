#pragma once
// Whether an aclnn function can take a call: what it cannot goes on to the AI CPU, which also raises ATen's errors
// about arguments on several devices.

#include <ATen/core/IListRef.h>
#include <ATen/core/Tensor.h>

#include <initializer_list>
#include <optional>

#include "core/aclnn_argument.h"

namespace torch_npu::aclnn_check {

// A set of data types.
using Dtypes = uint64_t;

constexpr Dtypes dtype_bit(at::ScalarType type) { return Dtypes{1} << static_cast<unsigned>(type); }

constexpr Dtypes dtypes(std::initializer_list<at::ScalarType> types) {
  Dtypes set = 0;
  for (at::ScalarType type : types) set |= dtype_bit(type);
  return set;
}

// What has a name in aclnn and arithmetic in PyTorch, which has next to none for the wider unsigned integers and
// ComplexHalf.
constexpr Dtypes kFloating = dtypes({at::kFloat, at::kHalf, at::kBFloat16, at::kDouble});
constexpr Dtypes kAllDtypes =
    dtypes({at::kFloat, at::kHalf, at::kBFloat16, at::kDouble, at::kChar, at::kShort, at::kInt, at::kLong, at::kByte,
            at::kBool, at::kComplexFloat, at::kComplexDouble});

// What can be moved.
constexpr Dtypes kCopiedDtypes = kAllDtypes | dtypes({at::kUInt16, at::kUInt32, at::kUInt64});

// More dimensions no descriptor has, and few of PyTorch's operators take.
constexpr int64_t kMostDims = 64;

// The tensors of one call, looked at one by one.
class Check {
 public:
  // A dense npu tensor on the device of the others, with elements, of a type in `allowed`, without lazy bits.
  bool takes(const at::Tensor& tensor, Dtypes allowed) { return fits(tensor, allowed) && tensor.numel() > 0; }

  // An optional tensor may be absent, undefined or empty.
  bool takes(const std::optional<at::Tensor>& tensor, Dtypes allowed) {
    return !tensor.has_value() || !tensor->defined() || fits(*tensor, allowed);
  }

  // Of a list some may be without elements.
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

  // An output that the caller gives may still be empty, and has its type by the rule.
  bool takes_output(const at::Tensor& tensor) { return fits(tensor, kAllDtypes); }

  // Of the tensors so far.
  c10::DeviceIndex device() const { return device_; }

 private:
  bool fits(const at::Tensor& tensor, Dtypes allowed) {
    const c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
    const c10::DispatchKeySet keys = impl->key_set();
    constexpr c10::DispatchKeySet kLazy(
        {c10::DispatchKey::Conjugate, c10::DispatchKey::Negative, c10::DispatchKey::ZeroTensor});
    if (!keys.has(c10::DispatchKey::PrivateUse1) || keys.has_any(kLazy)) return false;
    if ((dtype_bit(tensor.scalar_type()) & allowed) == 0 || impl->dim() > kMostDims) return false;
    const c10::DeviceIndex device = impl->device().index();
    if (device_ < 0) device_ = device;
    return device == device_;
  }

  c10::DeviceIndex device_ = -1;
};

// Whether what is there of the others has the type of the first one.
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

// A Python number or another scalar in host memory.
inline bool is_number(const at::Tensor& tensor) { return tensor.defined() && tensor.is_cpu() && tensor.dim() == 0; }

// PyTorch refuses truth values in places, and complex numbers change the result's type.
inline bool is_real(const at::Scalar& number) {
  return number.isFloatingPoint() || number.isIntegral(/*includeBool=*/false);
}

// Its value in its own type.
at::Scalar number(const at::Tensor& tensor);

// Whether a float says all of `number` that a kernel for `type` has use for.
inline bool is_float(at::ScalarType type, double number) {
  return type != at::kDouble || static_cast<double>(static_cast<float>(number)) == number;
}

// Whether `number` lies in the range of `type`. ATen's kernels refuse most that do not, and are asked.
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
