// A Python module that moves tensors by CANN's runtime: device memory of its own, copies and waits on a stream of its
// own, and what is between the copies as operators of PyTorch on that memory.

#include <ATen/ops/empty.h>
#include <torch/csrc/utils/pybind.h>

#include "acl/acl.h"
#include "torch_npu/csrc/aten/common/from_blob.h"
#include "torch_npu/csrc/core/npu/NPUException.h"
#include "torch_npu/csrc/core/npu/NPUFunctions.h"
#include "torch_npu/csrc/core/npu/NPUGuard.h"
#include "torch_npu/csrc/core/npu/NPUStream.h"

namespace {

// Device memory that aclrtMalloc gives: not of PyTorch's cache, and not counted by torch.npu.memory_allocated().
class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t bytes) : bytes_(bytes) {
    NPU_CHECK_ERROR(aclrtMalloc(&data_, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory() { NPU_CHECK_WARN(aclrtFree(data_)); }

  void copy_from(const at::Tensor& host, aclrtStream stream) {
    NPU_CHECK_ERROR(
        aclrtMemcpyAsync(data_, bytes_, host.const_data_ptr(), host.nbytes(), ACL_MEMCPY_HOST_TO_DEVICE, stream));
  }
  void copy_to(const at::Tensor& host, aclrtStream stream) const {
    NPU_CHECK_ERROR(
        aclrtMemcpyAsync(host.mutable_data_ptr(), host.nbytes(), data_, bytes_, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  }
  at::Tensor as_tensor_like(const at::Tensor& host) const {
    return at_npu::native::from_blob(data_, host.sizes(), at::TensorOptions(host.scalar_type()));
  }

 private:
  std::size_t bytes_;
  void* data_ = nullptr;
};

class Stream {
 public:
  Stream() { NPU_CHECK_ERROR(aclrtCreateStream(&handle_)); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { NPU_CHECK_WARN(aclrtDestroyStream(handle_)); }
  aclrtStream handle() const { return handle_; }

 private:
  aclrtStream handle_ = nullptr;
};

// a + b, computed on the device; all three are contiguous tensors of the CPU.
at::Tensor add(const at::Tensor& a, const at::Tensor& b) {
  TORCH_CHECK(a.is_cpu() && b.is_cpu() && a.is_contiguous() && b.is_contiguous(), "add takes contiguous CPU tensors");
  TORCH_CHECK(a.sizes() == b.sizes() && a.scalar_type() == b.scalar_type(), "add takes tensors of one shape and dtype");
  c10_npu::set_device(0);  // aclInit and aclrtSetDevice, once for the process and for this thread
  const Stream stream;
  DeviceMemory device_a(a.nbytes());
  DeviceMemory device_b(b.nbytes());
  device_a.copy_from(a, stream.handle());
  device_b.copy_from(b, stream.handle());
  {
    // PyTorch's operators run on the current stream.
    const c10_npu::NPUStreamGuard guard(c10_npu::getStreamFromExternal(stream.handle(), 0));
    device_a.as_tensor_like(a).add_(device_b.as_tensor_like(b));
  }
  at::Tensor out = at::empty(a.sizes(), a.options());
  device_a.copy_to(out, stream.handle());
  NPU_CHECK_ERROR(aclrtSynchronizeStream(stream.handle()));
  return out;
}

}  // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("add", &add, "a + b, computed on the device"); }
