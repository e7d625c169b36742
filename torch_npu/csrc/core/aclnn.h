#pragma once
// aclnn operators from PyTorch's side: looked up by name, fed with descriptors, launched on the current stream.

#include <ATen/core/Tensor.h>
#include <aclnn/acl_meta.h>
#include <c10/core/Scalar.h>

#include <utility>

namespace torch_npu {

// A function of the bound CANN's operator library; null where it has none of this name.
void* aclnn_symbol(const char* name);

// Throws c10::Error where `status` is not success: which function, and the library's own words.
void aclnn_check(aclnnStatus status, const char* name);

// aclnn operators that this process has launched.
uint64_t aclnn_launches() noexcept;

// ACL_DT_UNDEFINED where CANN has no such type.
aclDataType acl_data_type(at::ScalarType type);

// The descriptor of an npu tensor for one call. It borrows the tensor's memory.
class AclTensor {
 public:
  explicit AclTensor(const at::Tensor& tensor);
  AclTensor(const AclTensor&) = delete;
  AclTensor& operator=(const AclTensor&) = delete;
  ~AclTensor();
  aclTensor* get() const { return tensor_; }

 private:
  aclTensor* tensor_;
};

class AclScalar {
 public:
  explicit AclScalar(const c10::Scalar& scalar);
  AclScalar(const AclScalar&) = delete;
  AclScalar& operator=(const AclScalar&) = delete;
  ~AclScalar();
  aclScalar* get() const { return scalar_; }

 private:
  aclScalar* scalar_;
};

namespace detail {

using SecondPhase = aclnnStatus (*)(void*, uint64_t, aclOpExecutor*, aclrtStream);

// Phase two on the current stream of `device`, with a workspace from the caching allocator.
void launch(const char* name, SecondPhase phase, uint64_t workspace_bytes, aclOpExecutor* executor,
            c10::DeviceIndex device);

}  // namespace detail

// One operator: AclnnOp<decltype(&aclnnMmGetWorkspaceSize)> mm("aclnnMm", "aclnnMmGetWorkspaceSize").
template <typename FirstPhase>
class AclnnOp {
 public:
  AclnnOp(const char* name, const char* first_name)
      : name_(name),
        first_(reinterpret_cast<FirstPhase>(aclnn_symbol(first_name))),
        second_(reinterpret_cast<detail::SecondPhase>(aclnn_symbol(name))) {}

  // Whether the bound CANN has it.
  bool available() const { return first_ != nullptr && second_ != nullptr; }

  // Both phases; the arguments are those of the first one without its two results.
  template <typename... Args>
  void operator()(c10::DeviceIndex device, Args... args) const {
    uint64_t workspace_bytes = 0;
    aclOpExecutor* executor = nullptr;
    aclnn_check(first_(args..., &workspace_bytes, &executor), name_);
    detail::launch(name_, second_, workspace_bytes, executor, device);
  }

 private:
  const char* name_;
  FirstPhase first_;
  detail::SecondPhase second_;
};

}  // namespace torch_npu
