#include "extension/typed_call.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/scalar_tensor.h>
#include <acl/acl_op_compiler.h>
#include <dlfcn.h>

#include <algorithm>
#include <utility>

#include "core/acl.h"
#include "core/aclnn.h"
#include "core/aclnn_argument.h"
#include "core/bound_library.h"
#include "core/device.h"
#include "core/format.h"
#include "core/stream.h"
#include "core/task_queue.h"
#include "core/trace.h"

namespace torch_npu {
namespace {

using CompileAndExecute = decltype(&aclopCompileAndExecute);

CompileAndExecute compile_and_execute() {
  static void* library = bound_library("libacl_op_compiler.so");
  static const auto function =
      reinterpret_cast<CompileAndExecute>(library == nullptr ? nullptr : dlsym(library, "aclopCompileAndExecute"));
  TORCH_CHECK(function != nullptr, "the bound CANN has no libacl_op_compiler.so, which runs operators by their name");
  return function;
}

template <typename T>
T* found(T* result, const char* call) {
  if (result == nullptr) acl_check(ACL_ERROR_BAD_ALLOC, call);
  return result;
}

}  // namespace

RegistryAttributes::RegistryAttributes() : attributes_(found(aclopCreateAttr(), "aclopCreateAttr")) {}
void RegistryAttributes::Destroy::operator()(aclopAttr* attributes) const { aclopDestroyAttr(attributes); }

void RegistryAttributes::set(const std::string& name, bool value) {
  acl_check(aclopSetAttrBool(attributes_.get(), name.c_str(), value ? 1 : 0), "aclopSetAttrBool");
}
void RegistryAttributes::set(const std::string& name, int64_t value) {
  acl_check(aclopSetAttrInt(attributes_.get(), name.c_str(), value), "aclopSetAttrInt");
}
void RegistryAttributes::set(const std::string& name, float value) {
  acl_check(aclopSetAttrFloat(attributes_.get(), name.c_str(), value), "aclopSetAttrFloat");
}
void RegistryAttributes::set(const std::string& name, const std::string& value) {
  acl_check(aclopSetAttrString(attributes_.get(), name.c_str(), value.c_str()), "aclopSetAttrString");
}
void RegistryAttributes::set(const std::string& name, at::ScalarType value) {
  acl_check(aclopSetAttrDataType(attributes_.get(), name.c_str(), acl_data_type(value)), "aclopSetAttrDataType");
}
void RegistryAttributes::set(const std::string& name, c10::IntArrayRef value) {
  acl_check(aclopSetAttrListInt(attributes_.get(), name.c_str(), static_cast<int>(value.size()), value.data()),
            "aclopSetAttrListInt");
}
void RegistryAttributes::set(const std::string& name, c10::ArrayRef<float> value) {
  acl_check(aclopSetAttrListFloat(attributes_.get(), name.c_str(), static_cast<int>(value.size()), value.data()),
            "aclopSetAttrListFloat");
}
void RegistryAttributes::set(const std::string& name, c10::ArrayRef<uint8_t> value) {
  acl_check(aclopSetAttrListBool(attributes_.get(), name.c_str(), static_cast<int>(value.size()), value.data()),
            "aclopSetAttrListBool");
}

void RegistryOperand::Destroy::operator()(aclTensorDesc* description) const { aclDestroyTensorDesc(description); }
void RegistryOperand::Destroy::operator()(aclDataBuffer* buffer) const {
  acl_warn(aclDestroyDataBuffer(buffer), "aclDestroyDataBuffer");
}

RegistryOperand::RegistryOperand()
    : description_(
          found(aclCreateTensorDesc(ACL_DT_UNDEFINED, 0, nullptr, ACL_FORMAT_UNDEFINED), "aclCreateTensorDesc")),
      buffer_(found(aclCreateDataBuffer(nullptr, 0), "aclCreateDataBuffer")) {}

RegistryOperand::RegistryOperand(at::Tensor tensor, const std::string& name, std::optional<aclFormat> format)
    : tensor_(std::move(tensor)) {
  const bool is_host = tensor_.is_cpu();
  const aclFormat plain = is_host ? ACL_FORMAT_ND : format_of(*tensor_.storage().unsafeGetStorageImpl(), tensor_.dim());
  description_.reset(
      found(aclCreateTensorDesc(acl_data_type(tensor_.scalar_type()), static_cast<int>(tensor_.dim()),
                                tensor_.sizes().data(), format.value_or(is_base_format(plain) ? plain : ACL_FORMAT_ND)),
            "aclCreateTensorDesc"));
  if (!name.empty()) aclSetTensorDescName(description_.get(), name.c_str());
  if (is_host) acl_check(aclSetTensorPlaceMent(description_.get(), ACL_MEMTYPE_HOST), "aclSetTensorPlaceMent");
  buffer_.reset(
      found(aclCreateDataBuffer(const_cast<void*>(plain_data(tensor_)), tensor_.nbytes()), "aclCreateDataBuffer"));
}

void RegistryCall::add_input(const at::Tensor& tensor, const std::string& name, std::optional<aclFormat> format) {
  if (!tensor.defined()) return add_omitted_input();
  TORCH_CHECK(tensor.is_privateuseone() || tensor.dim() == 0, "input ", inputs_.size(),
              " has to be an npu tensor, not one of ", tensor.device());
  inputs_.emplace_back(tensor.contiguous(), name, format);
}

void RegistryCall::add_host_input(c10::IntArrayRef values, at::ScalarType type, const std::string& name) {
  at::Tensor numbers = at::empty({static_cast<int64_t>(values.size())}, at::TensorOptions(at::kLong));
  std::copy(values.begin(), values.end(), static_cast<int64_t*>(mutable_plain_data(numbers)));
  inputs_.emplace_back(numbers.to(type), name, std::nullopt);
}

void RegistryCall::add_host_input(c10::ArrayRef<double> values, at::IntArrayRef sizes, at::ScalarType type) {
  at::Tensor numbers = at::empty(sizes, at::TensorOptions(at::kDouble));
  TORCH_CHECK(numbers.numel() == static_cast<int64_t>(values.size()), "input ", inputs_.size(), " has ", values.size(),
              " numbers for sizes ", sizes);
  std::copy(values.begin(), values.end(), static_cast<double*>(mutable_plain_data(numbers)));
  inputs_.emplace_back(numbers.to(type), "", std::nullopt);
}

void RegistryCall::add_host_input(const c10::Scalar& value, at::ScalarType type) {
  inputs_.emplace_back(at::scalar_tensor(value, at::TensorOptions(type)), "", std::nullopt);
}

void RegistryCall::add_output(const at::Tensor& tensor, const std::string& name, std::optional<aclFormat> format) {
  TORCH_CHECK(tensor.is_privateuseone() && tensor.is_contiguous(), "output ", outputs_.size(),
              " has to be a contiguous npu tensor; it is on ", tensor.device(), ", with sizes ", tensor.sizes(),
              " and strides ", tensor.strides());
  outputs_.emplace_back(tensor, name, format);
}

void RegistryCall::run(const char* type, c10::Stream stream) const {
  std::vector<aclTensorDesc*> descriptions[2];
  std::vector<aclDataBuffer*> buffers[2];
  for (const auto* operands : {&inputs_, &outputs_}) {
    const std::size_t side = operands == &inputs_ ? 0 : 1;
    for (const RegistryOperand& operand : *operands) {
      descriptions[side].push_back(operand.description());
      buffers[side].push_back(operand.buffer());
    }
  }
  bind_device(stream.device_index());
  check_launches(stream.device_index());
  const trace::Launch launch(type, trace::Kind::kKernel, stream);
  detail::count_launch();
  acl_check(
      compile_and_execute()(type, static_cast<int>(inputs_.size()), descriptions[0].data(), buffers[0].data(),
                            static_cast<int>(outputs_.size()), descriptions[1].data(), buffers[1].data(),
                            attributes_.get(), ACL_ENGINE_SYS, ACL_COMPILE_SYS, nullptr, Enqueue(stream).handle()),
      "aclopCompileAndExecute");
}

}  // namespace torch_npu
