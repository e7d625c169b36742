#include "core/sharing.h"

#include <acl/acl.h>

#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>

#include "core/acl.h"
#include "core/allocator/caching_allocator.h"
#include "core/device.h"
#include "core/format.h"
#include "core/sent_storages.h"
#include "core/storage.h"
#include "core/storage_sender.h"

namespace torch_npu {
namespace {

// A piece of another process's memory, mapped here while a storage is in it.
class Import {
 public:
  // The open one, or a new one.
  static std::shared_ptr<Import> open(c10::DeviceIndex device, const std::string& key) {
    std::lock_guard lock(opened().mutex);
    auto& imports = opened().imports;
    if (auto known = imports.find(key); known != imports.end()) {
      if (auto import = known->second.lock()) return import;
    }
    auto import = std::make_shared<Import>(device, key);
    imports[key] = import;
    return import;
  }

  Import(c10::DeviceIndex device, const std::string& key) : device_(device), key_(key) {
    bind_device(device);
    void* address = nullptr;
    acl_check(aclrtIpcMemImportByKey(&address, key.c_str(), ACL_RT_IPC_MEM_IMPORT_FLAG_DEFAULT),
              "aclrtIpcMemImportByKey");
    base_ = static_cast<char*>(address);
  }
  Import(const Import&) = delete;
  Import& operator=(const Import&) = delete;
  ~Import() {
    acl_warn(aclrtIpcMemClose(key_.c_str()), "aclrtIpcMemClose");
    std::lock_guard lock(opened().mutex);
    auto known = opened().imports.find(key_);
    if (known != opened().imports.end() && known->second.expired()) opened().imports.erase(known);
  }

  char* base() const { return base_; }
  c10::DeviceIndex device() const { return device_; }

 private:
  struct Opened {
    std::mutex mutex;  // guards imports
    std::map<std::string, std::weak_ptr<Import>> imports;
  };
  static Opened& opened() {
    static auto& instance = *std::make_unique<Opened>().release();
    return instance;
  }

  const c10::DeviceIndex device_;
  const std::string key_;
  char* base_ = nullptr;
};

struct Received {
  std::shared_ptr<Import> import;
  std::shared_ptr<StorageSender> sender;
  std::uint64_t user = 0;

  // Until here the sender keeps the memory.
  void release() {
    import.reset();
    sender->release(user);
  }
};

void delete_received(void* context) {
  std::unique_ptr<Received> received(static_cast<Received*>(context));
  if (in_bad_fork()) {
    (void)received.release();
    return;
  }
  try {
    // Queued work may still use the memory.
    synchronize_device(received->import->device());
  } catch (const std::exception& e) {
    TORCH_WARN("work was queued when a shared npu storage was released, and failed: ", e.what());
  }
  received->release();
}

// The ticket comes from a message: what the sender has on record counts.
void check_location(const StorageTicket& shared, const SharedLocation& location) {
  TORCH_CHECK(shared.key == location.key.data() && shared.nbytes == location.nbytes && shared.offset == location.offset,
              "the message of an npu tensor of ", shared.nbytes, " bytes at byte ", shared.offset,
              " was changed on its way: the tensor has ", location.nbytes, " bytes at byte ", location.offset);
  TORCH_CHECK(location.offset <= location.chunk && location.nbytes <= location.chunk - location.offset,
              "an npu tensor of ", location.nbytes, " bytes at byte ", location.offset, " of an allocation of ",
              location.chunk, " bytes");
}

}  // namespace

StorageTicket share_storage(const c10::Storage& storage) {
  TORCH_CHECK(storage.device_type() == c10::DeviceType::PrivateUse1,
              "_share_npu_: only available on NPU, and the storage is on ", storage.device());
  forget_format(*storage.unsafeGetStorageImpl());
  const c10::DataPtr& data = storage.data_ptr();
  TORCH_CHECK(data.get_deleter() != &delete_received,
              "Attempted to send NPU tensor received from another process; this is not currently supported. Consider "
              "cloning before sending.");
  StorageTicket shared;
  shared.device = storage.device().index();
  shared.nbytes = storage.nbytes();
  bind_device(shared.device);
  synchronize_device(shared.device);  // queues pickle on a separate thread, whose current stream is unknown
  auto [base, size] = caching_allocator().shareable(shared.device, data.get());
  SharedLocation location;
  acl_check(aclrtIpcMemGetExportKey(base, size, location.key.data(), location.key.size(),
                                    ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION),
            "aclrtIpcMemGetExportKey");
  shared.key = location.key.data();
  shared.offset = static_cast<std::size_t>(static_cast<char*>(data.get()) - base);
  location.chunk = size;
  location.offset = shared.offset;
  location.nbytes = shared.nbytes;
  std::tie(shared.sender, shared.user) = SentStorages::get().add_user(*storage.unsafeGetStorageImpl(), location);
  return shared;
}

c10::Storage open_shared_storage(const StorageTicket& shared) {
  auto received = std::make_unique<Received>();
  received->sender = StorageSender::connect(shared.sender);
  received->user = shared.user;
  const SharedLocation location = received->sender->open(shared.user);
  try {
    check_location(shared, location);
    received->import = Import::open(shared.device, shared.key);
  } catch (...) {
    received->release();
    throw;
  }
  char* address = received->import->base() + shared.offset;
  c10::DataPtr data(address, received.release(), &delete_received, npu_device(shared.device));
  return c10::Storage(make_storage(shared.nbytes, std::move(data)));
}

void release_shared(const StorageTicket& shared) { StorageSender::connect(shared.sender)->release(shared.user); }

void collect_shared() noexcept {
  if (in_bad_fork()) return;
  try {
    SentStorages::get().collect();
  } catch (const std::exception& e) {
    TORCH_WARN("collecting shared npu memory failed: ", e.what());
  }
}

void close_shared() noexcept {
  if (in_bad_fork()) return;
  SentStorages::get().close();
}

}  // namespace torch_npu
