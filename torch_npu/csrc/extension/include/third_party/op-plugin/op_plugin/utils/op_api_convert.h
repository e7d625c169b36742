#pragma once
// Arguments of aclnn functions: objects of the operator library, made of PyTorch's values and released by the caller.

#include <ATen/core/IListRef.h>
#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>
#include <c10/core/SymIntArrayRef.h>
#include <c10/util/OptionalArrayRef.h>

#include <optional>
#include <type_traits>

#include "third_party/acl/inc/acl/acl.h"
#include "torch_npu/csrc/core/npu/NPUMacros.h"

typedef struct aclOpExecutor aclOpExecutor;
typedef struct aclTensor aclTensor;
typedef struct aclScalar aclScalar;
typedef struct aclIntArray aclIntArray;
typedef struct aclFloatArray aclFloatArray;
typedef struct aclBoolArray aclBoolArray;
typedef struct aclTensorList aclTensorList;
typedef struct aclScalarList aclScalarList;

// Null for what is undefined or omitted. Throws for a tensor that is not an npu's, or if memory is out. A tensor in a
// private format is described by its sizes in memory.
TORCH_NPU_API aclTensor* ConvertType(const at::Tensor& tensor);
TORCH_NPU_API aclTensor* ConvertType(const std::optional<at::Tensor>& tensor);
TORCH_NPU_API aclTensorList* ConvertType(const at::TensorList& tensors);
TORCH_NPU_API aclTensorList* ConvertType(const at::ITensorListRef& tensors);
// Of the number's own type: bool, int64, double or complex128.
TORCH_NPU_API aclScalar* ConvertType(const at::Scalar& scalar);
TORCH_NPU_API aclScalar* ConvertType(const std::optional<at::Scalar>& scalar);
TORCH_NPU_API aclScalarList* ConvertType(const at::ArrayRef<at::Scalar>& scalars);
TORCH_NPU_API aclIntArray* ConvertType(const at::IntArrayRef& values);
TORCH_NPU_API aclIntArray* ConvertType(const at::ArrayRef<c10::SymInt>& values);
TORCH_NPU_API aclIntArray* ConvertType(const at::OptionalIntArrayRef& values);
TORCH_NPU_API aclIntArray* ConvertType(const std::optional<at::IntArrayRef>& values);
TORCH_NPU_API aclFloatArray* ConvertType(const at::ArrayRef<double>& values);
TORCH_NPU_API aclBoolArray* ConvertType(const at::ArrayRef<bool>& values);
// ACL_DT_UNDEFINED if CANN has no such type.
TORCH_NPU_API aclDataType ConvertType(at::ScalarType type);

// Destroys the object; null is allowed.
TORCH_NPU_API void Release(aclTensor* object);
TORCH_NPU_API void Release(aclScalar* object);
TORCH_NPU_API void Release(aclIntArray* object);
TORCH_NPU_API void Release(aclFloatArray* object);
TORCH_NPU_API void Release(aclBoolArray* object);
TORCH_NPU_API void Release(aclTensorList* object);
TORCH_NPU_API void Release(aclScalarList* object);
