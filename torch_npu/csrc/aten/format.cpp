// Formats of tensors: npu_format_cast and related operators. Schemas: the rows with the word by_hand in aten/schemas.

#include <ATen/EmptyTensor.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/native/TensorFactories.h>
#include <ATen/ops/clone_compositeexplicitautograd_dispatch.h>
#include <ATen/ops/empty_like.h>
// apply() reserves one word in a new vector<bool>; g++ 14 warns that copying the empty old contents might need a second
// word.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Warray-bounds"
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#include <torch/csrc/autograd/custom_function.h>
#pragma GCC diagnostic pop
#include <torch/library.h>

#include "aten/format.h"

#include "aten/empty.h"
#include "aten/version_counters.h"
#include "core/aclnn_argument.h"
#include "core/alias.h"
#include "core/device.h"
#include "core/format.h"
#include "core/options.h"
#include "core/storage.h"

namespace torch_npu {
namespace {

StorageImpl& storage_of(const at::Tensor& tensor) {
  StorageImpl* own = own_storage(*tensor.storage().unsafeGetStorageImpl());
  TORCH_CHECK(own != nullptr, "the tensor's storage was not made by torch_npu: clone it to give it a format");
  return *own;
}

aclFormat format_of(const at::Tensor& tensor) {
  return torch_npu::format_of(*tensor.storage().unsafeGetStorageImpl(), tensor.dim());
}

// The data type of FRACTAL_NZ's blocks; torch_npu passes aclDataTypes as dtypes from 256 on.
aclDataType block_dtype(std::optional<int64_t> customize) {
  constexpr int64_t kFirst = 256;
  if (!customize.has_value()) return ACL_DT_UNDEFINED;
  return static_cast<aclDataType>(*customize >= kFirst ? *customize - kFirst : *customize);
}

// Private formats must be enabled by the program.
bool may_have(aclFormat format) {
  if (is_base_format(format) || allow_internal_format()) return true;
  TORCH_WARN_ONCE(
      "Cannot create tensor with internal format while allow_internal_format=False, tensor will be created with base "
      "format.");
  return false;
}

// Always a new tensor.
at::Tensor cast_to(const at::Tensor& input, aclFormat format, aclDataType blocks) {
  if (!may_have(format)) return input.clone(at::MemoryFormat::Contiguous);
  if (!is_base_format(format) && input.numel() > 0) return cast_to_blocked_format(input, format, blocks);
  return empty_in_format(input.sizes(), input.scalar_type(), format, blocks, input.device().index()).copy_(input);
}

// Whether the tensor has the format, or the format is only a name for its dimensions.
bool has_format(const at::Tensor& input, aclFormat format) {
  const aclFormat current = format_of(input);
  if (current == format) {
    make_blocked(storage_of(input));
    return true;
  }
  if (!is_base_format(current) || !is_base_format(format)) return false;
  storage_of(input).set_format(format);
  return true;
}

// Clones a blocked tensor with preserved memory order to a blocked one.
at::Tensor clone(const at::Tensor& self, std::optional<at::MemoryFormat> order) {
  const bool keeps = order.value_or(at::MemoryFormat::Preserve) == at::MemoryFormat::Preserve;
  if (C10_UNLIKELY(StorageImpl::count_private_storage() != 0) && keeps) {
    const PrivateLayoutInUse in_use;
    if (shows_all_blocks(self)) {
      at::Tensor result = make_tensor_on(c10::Storage(copy_blocks(storage_of(self))), self.scalar_type());
      result.unsafeGetTensorImpl()->set_sizes_contiguous(self.sizes());
      return result;
    }
  }
  return at::compositeexplicitautograd::clone(self, order);
}

class FormatCast : public torch::autograd::Function<FormatCast> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext*, const at::Tensor& input, aclFormat format,
                            aclDataType blocks) {
    const at::AutoDispatchBelowADInplaceOrView below;
    return cast_to(input, format, blocks);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                 const torch::autograd::variable_list& grads) {
    return {grads[0], at::Tensor(), at::Tensor()};
  }
};

at::Tensor cast(const at::Tensor& input, int64_t acl_format, std::optional<int64_t> customize_dtype,
                std::optional<int64_t>) {
  const aclFormat format = checked_format(acl_format);
  if (!customize_dtype.has_value() && has_format(input, format)) return input;
  return FormatCast::apply(input, format, block_dtype(customize_dtype));
}

at::Tensor cast_like(const at::Tensor& input, const at::Tensor& dst, std::optional<int64_t> customize_dtype,
                     std::optional<int64_t> input_dtype) {
  return cast(input, format_of(dst), customize_dtype, input_dtype);
}

at::Tensor& cast_in_place(at::Tensor& input, int64_t acl_format, std::optional<int64_t> customize_dtype,
                          std::optional<int64_t>) {
  const aclFormat format = checked_format(acl_format);
  if (customize_dtype.has_value() || !has_format(input, format)) {
    const at::AutoDispatchBelowADInplaceOrView below;
    input.set_(cast_to(input, format, block_dtype(customize_dtype)));
  }
  raise_versions(input);
  return input;
}

// Copies the values of `src`, in the format of `input`.
at::Tensor& take_in_place(at::Tensor& input, const at::Tensor& src, std::optional<int64_t>, std::optional<int64_t>) {
  input.copy_(src);
  make_blocked(storage_of(input));
  return input;
}

int64_t get_format(const at::Tensor& input) { return format_of(input); }

int64_t get_storage_size(const at::Tensor& input) {
  const StorageImpl& storage = storage_of(input);
  if (storage.private_layout() != nullptr && !is_base_format(format_of(input)))
    return c10::multiply_integers(storage.private_layout()->storage_shape);
  return static_cast<int64_t>(storage.nbytes() / input.dtype().itemsize());
}

// Whether the format names that many dimensions in an order other than the default.
bool names(aclFormat format, std::size_t dims) {
  switch (format) {
    case ACL_FORMAT_NHWC:
    case ACL_FORMAT_HWCN: return dims == 4;
    case ACL_FORMAT_NDHWC: return dims == 5;
    default: return false;
  }
}

at::Tensor empty_with_format(at::IntArrayRef size, std::optional<at::ScalarType> dtype,
                             std::optional<at::Layout> layout, std::optional<at::Device> device,
                             std::optional<bool> pin_memory, int64_t acl_format, std::optional<int64_t>) {
  at::detail::check_size_nonnegative(size);
  TORCH_CHECK(!device.has_value() || device->is_privateuseone(), "empty_with_format makes npu tensors, not on ",
              *device);
  const c10::DeviceIndex index = factory_device(layout, device, pin_memory);
  const aclFormat asked = checked_format(acl_format);
  const aclFormat format = may_have(asked) ? asked : ACL_FORMAT_ND;
  const at::ScalarType type = c10::dtype_or_default(dtype);
  at::Tensor result = is_base_format(format) ? make_tensor(size, type, index)
                                             : empty_in_format(size, type, format, ACL_DT_UNDEFINED, index);
  if (names(format, size.size())) storage_of(result).set_format(format);
  if (C10_UNLIKELY(fills_uninitialized())) at::native::fill_empty_deterministic_(result);
  return result;
}

at::Tensor unsafe_empty_with_format(at::IntArrayRef size, std::optional<at::ScalarType> dtype,
                                    std::optional<at::Layout> layout, std::optional<at::Device> device,
                                    std::optional<bool> pin_memory, int64_t acl_format, bool) {
  return empty_with_format(size, dtype, layout, device, pin_memory, acl_format, std::nullopt);
}

int64_t change_data_of(const at::Tensor& dst, const at::Tensor& src, int64_t index) {
  change_data_ptr(dst, src, index);
  return 0;
}

at::Tensor cast_meta(const at::Tensor& input, int64_t, std::optional<int64_t>, std::optional<int64_t>) {
  return at::empty_like(input, at::MemoryFormat::Contiguous);
}

TORCH_LIBRARY_IMPL(npu, PrivateUse1, m) {
  m.impl("npu_format_cast", &cast);
  m.impl("npu_format_cast.Tensor", &cast_like);
  m.impl("npu_format_cast_", &take_in_place);
  m.impl("npu_format_cast_.acl_format", &cast_in_place);
  m.impl("get_npu_format", &get_format);
  m.impl("get_storage_size", &get_storage_size);
  m.impl("npu_change_data_ptr", &change_data_of);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { m.impl("clone", &clone); }

TORCH_LIBRARY_IMPL(npu, AutogradPrivateUse1, m) {
  m.impl("npu_format_cast", &cast);
  m.impl("npu_format_cast.Tensor", &cast_like);
}

TORCH_LIBRARY_IMPL(npu, Meta, m) { m.impl("npu_format_cast", &cast_meta); }

TORCH_LIBRARY_IMPL(npu, CompositeExplicitAutograd, m) {
  m.impl("empty_with_format", &empty_with_format);
  m.impl("unsafe_empty_with_format", &unsafe_empty_with_format);
}

}  // namespace

at::Tensor empty_in_format(at::IntArrayRef sizes, at::ScalarType dtype, aclFormat format, aclDataType blocks,
                           c10::DeviceIndex device) {
  bind_device(device);
  if (is_base_format(format) || c10::multiply_integers(sizes) == 0) {
    at::Tensor result = make_tensor(sizes, dtype, device);
    storage_of(result).set_format(format);
    return result;
  }
  at::Tensor result = make_tensor_on(c10::Storage(make_blocked_storage(sizes, dtype, format, blocks, device)), dtype);
  result.unsafeGetTensorImpl()->set_sizes_contiguous(sizes);
  return result;
}

at::Tensor cast_to_blocked_format(const at::Tensor& input, aclFormat format, aclDataType blocks) {
  at::Tensor result = empty_in_format(input.sizes(), input.scalar_type(), format, blocks, input.device().index());
  const at::Tensor plain = input.contiguous();
  fill_blocks(storage_of(result), mutable_plain_data(plain));
  return result;
}
}  // namespace torch_npu
