// PyTorch's queries about tensors of a device.

#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include "core/allocator/caching_allocator.h"

namespace torch_npu {
namespace {

// True allows Module.to() to swap the data of a Parameter in place, so that an optimizer created before stays valid.
bool has_compatible_shallow_copy_type(const at::Tensor& self, const at::Tensor& from) {
  auto plain = [](const at::Tensor& t) { return t.layout() == at::kStrided && (t.is_cpu() || t.is_privateuseone()); };
  return (plain(self) && plain(from)) || self.key_set() == from.key_set();
}

void record_stream(at::Tensor& self, c10::Stream stream) {
  caching_allocator().recordStream(self.storage().data_ptr(), stream);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_has_compatible_shallow_copy_type", &has_compatible_shallow_copy_type);
  m.impl("record_stream", &record_stream);
}

}  // namespace
}  // namespace torch_npu
