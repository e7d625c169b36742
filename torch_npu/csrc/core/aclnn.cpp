#include "core/aclnn.h"

#include <c10/util/Exception.h>
#include <dlfcn.h>

#include <atomic>

#include "core/acl.h"
#include "core/allocator/caching_allocator.h"
#include "core/stream.h"
#include "core/trace.h"

namespace torch_npu {
namespace {

// The object functions, which every CANN has that has operators.
struct Meta {
  decltype(&aclCreateTensor) create_tensor = find<decltype(&aclCreateTensor)>("aclCreateTensor");
  decltype(&aclDestroyTensor) destroy_tensor = find<decltype(&aclDestroyTensor)>("aclDestroyTensor");
  decltype(&aclCreateScalar) create_scalar = find<decltype(&aclCreateScalar)>("aclCreateScalar");
  decltype(&aclDestroyScalar) destroy_scalar = find<decltype(&aclDestroyScalar)>("aclDestroyScalar");

  template <typename Function>
  static Function find(const char* name) {
    void* symbol = aclnn_symbol(name);
    TORCH_CHECK(symbol != nullptr, "libopapi.so of the bound CANN has no ", name);
    return reinterpret_cast<Function>(symbol);
  }
};

const Meta& meta() {
  static const Meta functions;
  return functions;
}

std::atomic<uint64_t> launches{0};

[[noreturn]] void fail(const char* name) {
  const char* message = aclGetRecentErrMsg();
  TORCH_CHECK(false, message != nullptr ? message : c10::str(name, " failed"),
              error_tail("ERR01100", "OPS call acl api failed"));
}

}  // namespace

void* aclnn_symbol(const char* name) {
  // Loaded by torch_npu._load from the folder of the CANN that is bound; its names are not global, since libdnnl's,
  // which come with it, must not meet those of another oneDNN.
  static void* library = dlopen("libopapi.so", RTLD_NOW | RTLD_NOLOAD);
  return library == nullptr ? nullptr : dlsym(library, name);
}

void aclnn_check(aclnnStatus status, const char* name) {
  if (C10_UNLIKELY(status != ACLNN_SUCCESS)) fail(name);
}

uint64_t aclnn_launches() noexcept { return launches.load(std::memory_order_relaxed); }

aclDataType acl_data_type(at::ScalarType type) {
  switch (type) {
    case at::kFloat: return ACL_FLOAT;
    case at::kHalf: return ACL_FLOAT16;
    case at::kBFloat16: return ACL_BF16;
    case at::kDouble: return ACL_DOUBLE;
    case at::kChar: return ACL_INT8;
    case at::kShort: return ACL_INT16;
    case at::kInt: return ACL_INT32;
    case at::kLong: return ACL_INT64;
    case at::kByte: return ACL_UINT8;
    case at::kUInt16: return ACL_UINT16;
    case at::kUInt32: return ACL_UINT32;
    case at::kUInt64: return ACL_UINT64;
    case at::kBool: return ACL_BOOL;
    case at::kComplexHalf: return ACL_COMPLEX32;
    case at::kComplexFloat: return ACL_COMPLEX64;
    case at::kComplexDouble: return ACL_COMPLEX128;
    default: return ACL_DT_UNDEFINED;
  }
}

AclTensor::AclTensor(const at::Tensor& tensor) {
  const auto storage_elements = static_cast<int64_t>(tensor.storage().nbytes() / tensor.itemsize());
  tensor_ = meta().create_tensor(tensor.sizes().data(), tensor.sizes().size(), acl_data_type(tensor.scalar_type()),
                                 tensor.strides().data(), tensor.storage_offset(), ACL_FORMAT_ND, &storage_elements, 1,
                                 const_cast<void*>(tensor.storage().data()));
  if (tensor_ == nullptr) fail("aclCreateTensor");
}

AclTensor::~AclTensor() { meta().destroy_tensor(tensor_); }

AclScalar::AclScalar(const c10::Scalar& scalar) {
  if (scalar.isBoolean()) {
    bool value = scalar.toBool();
    scalar_ = meta().create_scalar(&value, ACL_BOOL);
  } else if (scalar.isIntegral(false)) {
    int64_t value = scalar.toLong();
    scalar_ = meta().create_scalar(&value, ACL_INT64);
  } else {
    double value = scalar.toDouble();
    scalar_ = meta().create_scalar(&value, ACL_DOUBLE);
  }
  if (scalar_ == nullptr) fail("aclCreateScalar");
}

AclScalar::~AclScalar() { meta().destroy_scalar(scalar_); }

void detail::launch(const char* name, SecondPhase phase, uint64_t workspace_bytes, aclOpExecutor* executor,
                    c10::DeviceIndex device) {
  // Freed when this returns, and given only to later work of the same stream: that is after this launch's end.
  c10::DataPtr workspace = caching_allocator().allocate_on(device, workspace_bytes);
  const c10::Stream stream = current_stream(device);
  trace::Launch launch(name, trace::Kind::kKernel, stream);
  Enqueue enqueue(stream);
  aclnn_check(phase(workspace.get(), workspace_bytes, executor, enqueue.handle()), name);
  launches.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace torch_npu
