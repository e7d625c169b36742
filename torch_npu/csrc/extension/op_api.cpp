#include "core/aclnn.h"
#include "core/device.h"
#include "core/format.h"
#include "op_plugin/include/ops.h"
#include "op_plugin/utils/op_api_common_base.h"

namespace {

using torch_npu::acl_argument;
using torch_npu::AclOwned;

// To be released by the caller.
template <typename Object>
Object* handed_over(AclOwned<Object> result) {
  Object* object = result.get();
  result.give_up();
  return object;
}

const at::Tensor& checked(const at::Tensor& tensor) {
  TORCH_CHECK(!tensor.defined() || tensor.is_privateuseone(), "an aclnn function takes npu tensors, not one of ",
              tensor.device(), ": copy it with .to(\"npu\")");
  return tensor;
}

template <typename Tensors>
aclTensorList* list_of(const Tensors& tensors) {
  for (const at::Tensor& tensor : tensors) checked(tensor);
  return handed_over(acl_argument(tensors));
}

}  // namespace

void* GetOpApiFuncAddr(const char* name) { return torch_npu::aclnn_symbol(name); }

aclTensor* ConvertType(const at::Tensor& tensor) {
  return handed_over(acl_argument(torch_npu::InStorageShape{checked(tensor)}));
}
aclTensor* ConvertType(const std::optional<at::Tensor>& tensor) {
  return tensor.has_value() ? ConvertType(*tensor) : nullptr;
}
aclTensorList* ConvertType(const at::TensorList& tensors) { return list_of(tensors); }
aclTensorList* ConvertType(const at::ITensorListRef& tensors) { return list_of(tensors); }
aclScalar* ConvertType(const at::Scalar& scalar) { return handed_over(acl_argument(scalar)); }
aclScalar* ConvertType(const std::optional<at::Scalar>& scalar) {
  return scalar.has_value() ? ConvertType(*scalar) : nullptr;
}
aclScalarList* ConvertType(const at::ArrayRef<at::Scalar>& scalars) { return handed_over(acl_argument(scalars)); }
aclIntArray* ConvertType(const at::IntArrayRef& values) { return handed_over(acl_argument(values)); }
aclIntArray* ConvertType(const at::ArrayRef<c10::SymInt>& values) { return handed_over(acl_argument(values)); }
aclIntArray* ConvertType(const at::OptionalIntArrayRef& values) {
  return values.has_value() ? ConvertType(*values) : nullptr;
}
aclIntArray* ConvertType(const std::optional<at::IntArrayRef>& values) {
  return values.has_value() ? ConvertType(*values) : nullptr;
}
aclFloatArray* ConvertType(const at::ArrayRef<double>& values) { return handed_over(acl_argument(values)); }
aclBoolArray* ConvertType(const at::ArrayRef<bool>& values) { return handed_over(acl_argument(values)); }
aclDataType ConvertType(at::ScalarType type) { return torch_npu::acl_data_type(type); }

void Release(aclTensor* object) { AclOwned<aclTensor>{object}; }
void Release(aclScalar* object) { AclOwned<aclScalar>{object}; }
void Release(aclIntArray* object) { AclOwned<aclIntArray>{object}; }
void Release(aclFloatArray* object) { AclOwned<aclFloatArray>{object}; }
void Release(aclBoolArray* object) { AclOwned<aclBoolArray>{object}; }
void Release(aclTensorList* object) { AclOwned<aclTensorList>{object}; }
void Release(aclScalarList* object) { AclOwned<aclScalarList>{object}; }

namespace at_npu::native {

op_api::Function::Function(const char* name)
    : name_(name), first_(torch_npu::detail::first_phase(name)), second_(GetOpApiFuncAddr(name)) {}

void* op_api::Function::first_phase() const {
  TORCH_CHECK(available(), name_, " or ", name_, "GetWorkspaceSize is not in the bound CANN's libopapi.so",
              OPS_ERROR(ErrCode::NOT_FOUND));
  return first_;
}

void op_api::Function::launch(int status, uint64_t workspace_bytes, aclOpExecutor* executor) const {
  torch_npu::check_aclnn(status, name_);
  torch_npu::detail::launch(name_, reinterpret_cast<torch_npu::SecondPhase>(second_), workspace_bytes, executor,
                            torch_npu::current_device());
}

void op_api::make_plain(const at::Tensor& tensor) {
  if (tensor.defined()) torch_npu::make_plain(*checked(tensor).storage().unsafeGetStorageImpl());
}

at::Tensor npu_dropout_gen_mask(const at::Tensor& self, at::IntArrayRef size, double p, int64_t seed, int64_t offset,
                                std::optional<bool> parallel, std::optional<bool> sync) {
  return custom_ops::_npu_dropout_gen_mask(self, size, p, seed, offset, parallel, sync);
}

}  // namespace at_npu::native
