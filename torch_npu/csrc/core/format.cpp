#include "core/format.h"

#include <aclnnop/aclnn_npu_format_cast.h>
#include <aclnnop/aclnn_npu_format_cast_calculate_size_and_format.h>
#include <c10/util/accumulate.h>

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <shared_mutex>

#include "core/acl.h"
#include "core/aclnn.h"
#include "core/allocator/caching_allocator.h"
#include "core/device.h"
#include "core/format_clone.h"
#include "core/memory_blocks.h"
#include "core/stream.h"

namespace torch_npu {
namespace {

constexpr std::array kBaseFormats = {ACL_FORMAT_ND,    ACL_FORMAT_NCHW, ACL_FORMAT_NHWC, ACL_FORMAT_NCDHW,
                                     ACL_FORMAT_NDHWC, ACL_FORMAT_HWCN, ACL_FORMAT_NCL,  ACL_FORMAT_NC};
constexpr std::array kPrivateFormats = {
    ACL_FORMAT_NC1HWC0,         ACL_FORMAT_FRACTAL_Z,       ACL_FORMAT_NC1HWC0_C04,      ACL_FORMAT_FRACTAL_NZ,
    ACL_FORMAT_NDC1HWC0,        ACL_FRACTAL_Z_3D,           ACL_FORMAT_FRACTAL_NZ_C0_16, ACL_FORMAT_FRACTAL_NZ_C0_32,
    ACL_FORMAT_FRACTAL_NZ_C0_2, ACL_FORMAT_FRACTAL_NZ_C0_4, ACL_FORMAT_FRACTAL_NZ_C0_8};

// Held exclusively while a storage changes between blocks and plain, and shared while calls pass blocks to the device.
std::shared_mutex& blocks_mutex() {
  static std::shared_mutex mutex;
  return mutex;
}

// The base format that names the dimensions, from which blocked formats are made.
aclFormat base_format(int64_t dims) {
  if (dims == 4) return ACL_FORMAT_NCHW;
  return dims == 5 ? ACL_FORMAT_NCDHW : ACL_FORMAT_ND;
}

DeviceElements plain_elements(const PrivateLayout& blocks, void* data) {
  return {blocks.sizes, blocks.dtype, base_format(static_cast<int64_t>(blocks.sizes.size())), blocks.sizes, data};
}

void cast(const DeviceElements& from, const DeviceElements& to, c10::DeviceIndex device) {
  static const AclnnOp<decltype(aclnnNpuFormatCastGetWorkspaceSize)> function("aclnnNpuFormatCast");
  TORCH_CHECK(function.available(), "the bound CANN has no aclnnNpuFormatCast: tensors cannot change their format");
  bind_device(device);
  function(device, from, to);
}

std::size_t private_bytes(const PrivateLayout& blocks) {
  return static_cast<std::size_t>(c10::multiply_integers(blocks.storage_shape)) * c10::elementSize(blocks.dtype);
}

// An uninitialised storage with these blocks.
c10::intrusive_ptr<StorageImpl> storage_for(std::unique_ptr<const PrivateLayout> blocks, int format,
                                            c10::DeviceIndex device) {
  const int64_t elements = c10::multiply_integers(blocks->sizes);
  auto storage = c10::make_intrusive<StorageImpl>(
      c10::StorageImpl::use_byte_size_t(),
      c10::SymInt(elements * static_cast<int64_t>(c10::elementSize(blocks->dtype))),
      caching_allocator().allocate_on(device, private_bytes(*blocks)), &caching_allocator(), true);
  storage->set_format(format);
  storage->set_private_layout(std::move(blocks));
  storage->set_private_layout_active(true);
  return storage;
}

// Changes the layout of the bytes of `storage` in place: streams and threads know its address. Other streams may use
// the bytes, and later users may use any stream: the change is complete when this returns. The blocks' mutex is held.
void change(StorageImpl& storage, const DeviceElements& from, DeviceElements to, std::size_t nbytes) {
  const c10::DeviceIndex device = storage.device().index();
  bind_device(device);
  synchronize_device(device);
  const NoAllocationSite locked;
  const c10::DataPtr beside = caching_allocator().allocate_on(device, nbytes);
  to.data = beside.get();
  cast(from, to, device);
  const c10::Stream stream = current_stream(device);
  acl_check(aclrtMemcpyAsync(mutable_bytes_of(storage, BytesLayout::kStored), nbytes, beside.get(), nbytes,
                             ACL_MEMCPY_DEVICE_TO_DEVICE, Enqueue(stream).handle()),
            "aclrtMemcpyAsync");
  synchronize_stream(stream);
}

void unpack(StorageImpl& storage) {
  if (!storage.has_private_layout()) return;
  change(storage, elements_of_blocked_storage(storage), plain_elements(*storage.private_layout(), nullptr),
         storage.nbytes());
  storage.set_private_layout_active(false);
}

}  // namespace

aclFormat checked_format(int64_t format) {
  const auto known = static_cast<aclFormat>(format);
  TORCH_CHECK(is_base_format(known) || std::ranges::count(kPrivateFormats, known) != 0, "unknown format type:", format,
              error_tail("ERR00001", "PTA invalid parameter"));
  return known;
}

bool is_base_format(aclFormat format) { return std::ranges::count(kBaseFormats, format) != 0; }

aclFormat format_of(const c10::StorageImpl& storage, int64_t dims) {
  const StorageImpl* own = own_storage(storage);
  const int given = own == nullptr ? StorageImpl::kNoFormat : own->format();
  return given == StorageImpl::kNoFormat ? base_format(dims) : static_cast<aclFormat>(given);
}

DeviceElements elements_of_blocked_storage(const StorageImpl& storage) {
  const PrivateLayout& blocks = *storage.private_layout();
  return {blocks.sizes, blocks.dtype, static_cast<aclFormat>(storage.format()), blocks.storage_shape,
          const_cast<void*>(bytes_of(storage, BytesLayout::kStored))};
}

PrivateLayoutInUse::PrivateLayoutInUse() : lock_(blocks_mutex()) {}

bool shows_all_blocks(const at::Tensor& tensor) {
  const StorageImpl* own = own_storage(*tensor.unsafeGetTensorImpl()->unsafe_storage().unsafeGetStorageImpl());
  return own != nullptr && own->has_private_layout() && tensor.storage_offset() == 0 && tensor.is_contiguous() &&
         tensor.scalar_type() == own->private_layout()->dtype &&
         tensor.sizes() == at::IntArrayRef(own->private_layout()->sizes);
}

c10::intrusive_ptr<StorageImpl> make_blocked_storage(c10::IntArrayRef sizes, c10::ScalarType dtype, aclFormat format,
                                                     aclDataType block_dtype, c10::DeviceIndex device) {
  static const auto calculate = reinterpret_cast<decltype(&aclnnNpuFormatCastCalculateSizeAndFormat)>(
      aclnn_symbol("aclnnNpuFormatCastCalculateSizeAndFormat"));
  TORCH_CHECK(calculate != nullptr,
              "the bound CANN has no aclnnNpuFormatCastCalculateSizeAndFormat: it says what "
              "private formats take");
  auto blocks = std::make_unique<PrivateLayout>();
  blocks->sizes.assign(sizes.begin(), sizes.end());
  blocks->dtype = dtype;
  const AclTensor like = acl_argument(plain_elements(*blocks, nullptr));
  int64_t* storage_shape = nullptr;
  uint64_t count = 0;
  int actual = 0;
  check_aclnn(calculate(like.get(), format, block_dtype, &storage_shape, &count, &actual),
              "aclnnNpuFormatCastCalculateSizeAndFormat");
  const std::unique_ptr<int64_t[]> owned(storage_shape);
  blocks->storage_shape.assign(storage_shape, storage_shape + count);
  return storage_for(std::move(blocks), actual, device);
}

c10::intrusive_ptr<StorageImpl> copy_blocks(const StorageImpl& storage) {
  const c10::DeviceIndex device = storage.device().index();
  const std::size_t bytes = private_bytes(*storage.private_layout());
  auto copy = storage_for(std::make_unique<const PrivateLayout>(*storage.private_layout()), storage.format(), device);
  bind_device(device);
  acl_check(
      aclrtMemcpyAsync(mutable_bytes_of(*copy, BytesLayout::kStored), bytes, bytes_of(storage, BytesLayout::kStored),
                       bytes, ACL_MEMCPY_DEVICE_TO_DEVICE, Enqueue(current_stream(device)).handle()),
      "aclrtMemcpyAsync");
  return copy;
}

c10::intrusive_ptr<c10::StorageImpl> clone_with_format(const c10::StorageImpl& storage) {
  StorageImpl* own = own_storage(storage);
  if (own == nullptr || own->format() == StorageImpl::kNoFormat) return nullptr;
  const c10::DeviceIndex device = storage.device().index();
  bind_device(device);
  const PrivateLayoutInUse in_use;
  if (own->has_private_layout()) return copy_blocks(*own);
  if (own->private_layout() != nullptr) {
    auto copy = storage_for(std::make_unique<const PrivateLayout>(*own->private_layout()), own->format(), device);
    fill_blocks(*copy, const_cast<void*>(bytes_of(storage, BytesLayout::kStored)));
    return copy;
  }
  auto copy = make_storage(storage.nbytes(), device);
  own_storage(*copy)->set_format(own->format());
  if (storage.nbytes() > 0) {
    acl_check(aclrtMemcpyAsync(mutable_bytes_of(*copy, BytesLayout::kStored), storage.nbytes(),
                               bytes_of(storage, BytesLayout::kStored), storage.nbytes(), ACL_MEMCPY_DEVICE_TO_DEVICE,
                               Enqueue(current_stream(device)).handle()),
              "aclrtMemcpyAsync");
  }
  return copy;
}

void fill_blocks(StorageImpl& storage, void* plain) {
  cast(plain_elements(*storage.private_layout(), plain), elements_of_blocked_storage(storage),
       storage.device().index());
}

void make_blocked(StorageImpl& storage) {
  if (storage.private_layout() == nullptr) return;
  const PrivateLayout& blocks = *storage.private_layout();
  const std::lock_guard lock(blocks_mutex());
  if (storage.has_private_layout() || storage.format() == StorageImpl::kNoFormat) return;
  change(storage, plain_elements(blocks, mutable_bytes_of(storage, BytesLayout::kStored)),
         elements_of_blocked_storage(storage), private_bytes(blocks));
  storage.set_private_layout_active(true);
}

void forget_format(const c10::StorageImpl& storage) {
  StorageImpl* own = own_storage(storage);
  if (own == nullptr) return;
  if (own->private_layout() == nullptr) return own->set_format(StorageImpl::kNoFormat);
  const std::lock_guard lock(blocks_mutex());
  unpack(*own);
  own->set_format(StorageImpl::kNoFormat);
}

void detail::unpack_blocks(const c10::StorageImpl& storage) {
  StorageImpl* own = own_storage(storage);
  if (own == nullptr || !own->has_private_layout()) return;
  const std::lock_guard lock(blocks_mutex());
  unpack(*own);
}

}  // namespace torch_npu
