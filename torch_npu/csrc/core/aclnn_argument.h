#pragma once
// Converts an operator's argument to an aclnn function's: acl_argument(value).get(). The object lives on the stack for
// one call and borrows its source.

#include <ATen/core/IListRef.h>
#include <ATen/core/Tensor.h>
#include <aclnn/acl_meta.h>
#include <c10/core/Scalar.h>
#include <c10/core/SymIntArrayRef.h>
#include <c10/util/OptionalArrayRef.h>

#include <array>
#include <optional>
#include <string_view>
#include <type_traits>

typedef struct aclIntArray aclIntArray;
typedef struct aclFloatArray aclFloatArray;
typedef struct aclBoolArray aclBoolArray;
typedef struct aclTensorList aclTensorList;
typedef struct aclScalarList aclScalarList;

namespace torch_npu {

// Kinds of objects that an older operator library may lack.
enum class AclObject : uint8_t { kIntArray, kFloatArray, kBoolArray, kTensorList, kScalarList };

// Whether the bound CANN can create and destroy objects of this kind.
bool has_acl_object(AclObject kind);

// ACL_DT_UNDEFINED if CANN has no such type.
aclDataType acl_data_type(at::ScalarType type);

// A handle of libopapi that is destroyed at the end of the call.
template <typename Object>
class AclOwned {
 public:
  explicit AclOwned(Object* object) : object_(object) {}
  AclOwned(const AclOwned&) = delete;
  AclOwned& operator=(const AclOwned&) = delete;
  ~AclOwned();
  Object* get() const { return object_; }
  // Leaks the object: work that is not waited for still uses it.
  void give_up() { object_ = nullptr; }

 private:
  Object* object_;  // null: an omitted optional argument
};

using AclTensor = AclOwned<aclTensor>;
using AclScalar = AclOwned<aclScalar>;
using AclIntArray = AclOwned<aclIntArray>;
using AclFloatArray = AclOwned<aclFloatArray>;
using AclBoolArray = AclOwned<aclBoolArray>;
using AclTensorList = AclOwned<aclTensorList>;
using AclScalarList = AclOwned<aclScalarList>;

template <typename T>
concept Number = std::is_arithmetic_v<T>;

// Passed unchanged.
template <typename T>
class AclPlain {
 public:
  explicit AclPlain(T value) : value_(value) {}
  T get() const { return value_; }

 private:
  T value_;
};

// A short text with a terminating null character.
class AclText {
 public:
  explicit AclText(std::string_view text);
  const char* get() const { return text_.data(); }

 private:
  std::array<char, 32> text_{};
};

// The descriptor of an npu tensor; null for an undefined one.
AclTensor acl_argument(const at::Tensor& tensor);

// The same, in blocks if the tensor covers all of a storage in a private layout; other tensors' bytes become plain.
struct InStorageShape {
  at::Tensor tensor;
};
AclTensor acl_argument(const InStorageShape& argument);

// A tensor of int32 as eight 4-bit integers an element, along the dimension `packed`, whose elements are neighbours;
// tensors of other types as they are.
struct Int4Elements {
  at::Tensor tensor;
  int64_t packed;
};
AclTensor acl_argument(const Int4Elements& argument);

// Device memory and the layout of a tensor's elements in it.
struct DeviceElements {
  at::IntArrayRef sizes;
  at::ScalarType dtype;
  aclFormat format;
  at::IntArrayRef storage_shape;  // the sizes in memory
  void* data;
};
AclTensor acl_argument(const DeviceElements& elements);
inline AclTensor acl_argument(const std::optional<at::Tensor>& tensor) {
  return acl_argument(tensor.has_value() ? *tensor : at::Tensor());
}

// A number of the scalar's own type: bool, int64, double or complex128.
AclScalar acl_argument(const at::Scalar& scalar);
inline AclScalar acl_argument(const std::optional<at::Scalar>& scalar) {
  return scalar.has_value() ? acl_argument(*scalar) : AclScalar(nullptr);
}

AclIntArray acl_argument(at::IntArrayRef values);
AclIntArray acl_argument(c10::SymIntArrayRef values);
template <std::size_t N>
AclIntArray acl_argument(const std::array<int64_t, N>& values) {
  return acl_argument(at::IntArrayRef(values));
}
// Omitted dimensions become an empty array, which means all of them.
inline AclIntArray acl_argument(at::OptionalIntArrayRef values) {
  return acl_argument(values.has_value() ? *values : at::IntArrayRef());
}
AclFloatArray acl_argument(at::ArrayRef<double> values);
AclBoolArray acl_argument(at::ArrayRef<bool> values);
template <std::size_t N>
AclBoolArray acl_argument(const std::array<bool, N>& values) {
  return acl_argument(at::ArrayRef<bool>(values));
}
AclTensorList acl_argument(at::TensorList tensors);
AclTensorList acl_argument(const at::ITensorListRef& tensors);
AclScalarList acl_argument(at::ArrayRef<at::Scalar> scalars);

// A descriptor that its owner reads after the call.
inline AclPlain<aclTensor*> acl_argument(aclTensor* descriptor) { return AclPlain(descriptor); }

inline AclText acl_argument(std::string_view text) { return AclText(text); }
inline AclPlain<aclDataType> acl_argument(at::ScalarType type) { return AclPlain(acl_data_type(type)); }
inline AclPlain<std::nullptr_t> acl_argument(std::nullptr_t) { return AclPlain(nullptr); }
template <Number T>
AclPlain<T> acl_argument(T value) {
  return AclPlain<T>(value);
}

}  // namespace torch_npu
