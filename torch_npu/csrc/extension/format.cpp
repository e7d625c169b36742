#include "core/format.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include "core/alias.h"
#include "core/storage.h"
#include "torch_npu/csrc/aten/CustomFunctions.h"
#include "torch_npu/csrc/core/npu/NPUFormat.h"

namespace at_npu::native {
namespace {

using MaybeInt = std::optional<int64_t>;

// The operator npu::`name`, looked up once by each caller.
template <typename Signature>
c10::TypedOperatorHandle<Signature> find(const char* name, const char* overload = "") {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, overload).typed<Signature>();
}

}  // namespace

int64_t custom_ops::get_npu_format(const at::Tensor& self) {
  static const auto op = find<int64_t(const at::Tensor&)>("npu::get_npu_format");
  return op.call(self);
}

int64_t custom_ops::get_storage_size(const at::Tensor& self) {
  static const auto op = find<int64_t(const at::Tensor&)>("npu::get_storage_size");
  return op.call(self);
}

at::Tensor custom_ops::npu_format_cast(const at::Tensor& self, int64_t acl_format, MaybeInt customize_dtype,
                                       MaybeInt input_dtype) {
  static const auto op = find<at::Tensor(const at::Tensor&, int64_t, MaybeInt, MaybeInt)>("npu::npu_format_cast");
  return op.call(self, acl_format, customize_dtype, input_dtype);
}

at::Tensor custom_ops::npu_format_cast(const at::Tensor& self, const at::Tensor& dst, MaybeInt customize_dtype,
                                       MaybeInt input_dtype) {
  static const auto op =
      find<at::Tensor(const at::Tensor&, const at::Tensor&, MaybeInt, MaybeInt)>("npu::npu_format_cast", "Tensor");
  return op.call(self, dst, customize_dtype, input_dtype);
}

at::Tensor& custom_ops::npu_format_cast_(at::Tensor& self, int64_t acl_format, MaybeInt customize_dtype,
                                         MaybeInt input_dtype) {
  static const auto op =
      find<at::Tensor&(at::Tensor&, int64_t, MaybeInt, MaybeInt)>("npu::npu_format_cast_", "acl_format");
  return op.call(self, acl_format, customize_dtype, input_dtype);
}

at::Tensor& custom_ops::npu_format_cast_(at::Tensor& self, const at::Tensor& src, MaybeInt customize_dtype,
                                         MaybeInt input_dtype) {
  static const auto op = find<at::Tensor&(at::Tensor&, const at::Tensor&, MaybeInt, MaybeInt)>("npu::npu_format_cast_");
  return op.call(self, src, customize_dtype, input_dtype);
}

at::Tensor custom_ops::empty_with_format(at::IntArrayRef size, std::optional<at::ScalarType> dtype,
                                         std::optional<at::Layout> layout, std::optional<at::Device> device,
                                         std::optional<bool> pin_memory, int64_t acl_format,
                                         MaybeInt base_addr_aligned_kb) {
  static const auto op =
      find<at::Tensor(at::IntArrayRef, std::optional<at::ScalarType>, std::optional<at::Layout>,
                      std::optional<at::Device>, std::optional<bool>, int64_t, MaybeInt)>("npu::empty_with_format");
  return op.call(size, dtype, layout, device, pin_memory, acl_format, base_addr_aligned_kb);
}

at::Tensor custom_ops::unsafe_empty_with_format(at::IntArrayRef size, std::optional<at::ScalarType> dtype,
                                                std::optional<at::Layout> layout, std::optional<at::Device> device,
                                                std::optional<bool> pin_memory, int64_t acl_format, bool keep_format) {
  static const auto op =
      find<at::Tensor(at::IntArrayRef, std::optional<at::ScalarType>, std::optional<at::Layout>,
                      std::optional<at::Device>, std::optional<bool>, int64_t, bool)>("npu::unsafe_empty_with_format");
  return op.call(size, dtype, layout, device, pin_memory, acl_format, keep_format);
}

int64_t custom_ops::npu_change_data_ptr(const at::Tensor& dst, const at::Tensor& src, int64_t index) {
  torch_npu::change_data_ptr(dst, src, index);
  return 0;
}

int64_t get_npu_format(const at::Tensor& self) { return custom_ops::get_npu_format(self); }

at::Tensor npu_format_cast(const at::Tensor& self, int64_t acl_format) {
  return custom_ops::npu_format_cast(self, acl_format);
}

at::Tensor empty_with_format(c10::IntArrayRef sizes, const c10::TensorOptions& options, int64_t format, bool) {
  return custom_ops::empty_with_format(sizes, c10::optTypeMetaToScalarType(options.dtype_opt()), options.layout_opt(),
                                       options.device_opt(), options.pinned_memory_opt(), format);
}

std::vector<int64_t> get_npu_storage_sizes(const at::Tensor& self) {
  const torch_npu::StorageImpl* own = torch_npu::own_storage(*self.storage().unsafeGetStorageImpl());
  TORCH_CHECK(own != nullptr, "get_npu_storage_sizes needs an npu tensor, not one of ", self.device());
  const bool is_blocked =
      own->private_layout() != nullptr && !torch_npu::is_base_format(torch_npu::format_of(*own, self.dim()));
  return is_blocked ? c10::IntArrayRef(own->private_layout()->storage_shape).vec() : self.sizes().vec();
}

}  // namespace at_npu::native
