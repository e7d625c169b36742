#include "core/sharing.h"

#include <ATen/MapAllocator.h>
#include <acl/acl.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/acl.h"
#include "core/allocator/caching_allocator.h"
#include "core/device.h"
#include "core/format.h"
#include "core/storage.h"

namespace torch_npu {
namespace {

constexpr std::size_t kCounters = 16384;
constexpr std::size_t kCounterBytes = kCounters * sizeof(std::int64_t);

// A file of counters in shared host memory; the last process that has it open removes it.
class CounterFile {
 public:
  static std::unique_ptr<CounterFile> create() {
    return std::make_unique<CounterFile>(at::NewProcessWideShmHandle(),
                                         at::ALLOCATOR_MAPPED_SHAREDMEM | at::ALLOCATOR_MAPPED_EXCLUSIVE);
  }
  static std::unique_ptr<CounterFile> open(const std::string& name) {
    return std::make_unique<CounterFile>(name, at::ALLOCATOR_MAPPED_SHAREDMEM | at::ALLOCATOR_MAPPED_NOCREATE);
  }
  CounterFile(const std::string& name, int flags) : name_(name), file_(name.c_str(), flags, kCounterBytes) {}

  const std::string& name() const { return name_; }
  std::atomic_ref<std::int64_t> at(std::size_t place) {
    TORCH_CHECK(place < kCounters, "counter ", place, " of a shared npu storage does not exist");
    return std::atomic_ref<std::int64_t>(static_cast<std::int64_t*>(file_.data())[place]);
  }

 private:
  const std::string name_;
  at::RefcountedMapAllocator file_;
};

// A counter, and its file.
struct Place {
  CounterFile* file = nullptr;
  std::size_t index = 0;

  std::atomic_ref<std::int64_t> counter() const { return file->at(index); }
};

// A storage of this process that others use: its memory, and the number of users.
struct Sent {
  c10::DataPtr data;
  Place place;
};

void delete_sent(void* context);

// All storages that this process has sent. Never destroyed: storages may be freed at the end of the process.
class Outbox {
 public:
  static Outbox& get() {
    static auto& instance = *std::make_unique<Outbox>().release();
    return instance;
  }

  // Adds a user of `storage` and returns its counter. Its bytes do not move.
  std::pair<std::string, std::size_t> add_user(c10::StorageImpl& storage) {
    collect();
    std::lock_guard lock(mutex_);
    TORCH_CHECK(!closed_, "this process ends and shares no npu storage any more");
    if (storage.data_ptr().get_deleter() != &delete_sent) {
      auto sent = std::make_unique<Sent>();
      sent->place = new_place();
      sent->place.counter().store(0);
      // Other threads may read the storage meanwhile: the address does not change.
      c10::DataPtr shared(mutable_bytes_of(storage, BytesLayout::kStored), sent.get(), &delete_sent, storage.device());
      sent->data = storage.set_data_ptr(std::move(shared));
      (void)sent.release();  // now owned by the storage
    }
    const Place& place = static_cast<Sent*>(storage.data_ptr().get_context())->place;
    place.counter().fetch_add(1);
    return {place.file->name(), place.index};
  }

  // This process's storage is destroyed; the memory stays while others use it.
  void drop(std::unique_ptr<Sent> sent) {
    {
      std::lock_guard lock(mutex_);
      dropped_.push_back(std::move(sent));
    }
    collect();
  }

  // Frees memory without users; outside of the lock, since freeing may take Python's.
  void collect() {
    std::vector<std::unique_ptr<Sent>> unused;
    std::lock_guard lock(mutex_);
    if (closed_) return;
    auto first = std::partition(dropped_.begin(), dropped_.end(),
                                [](const auto& sent) { return sent->place.counter().load() > 0; });
    for (auto it = first; it != dropped_.end(); ++it) {
      free_.push_back((*it)->place);
      unused.push_back(std::move(*it));
    }
    dropped_.erase(first, dropped_.end());
  }

  // Stops reading counters: the files belong to the other processes.
  void close() {
    std::lock_guard lock(mutex_);
    closed_ = true;
    free_.clear();
    files_.clear();
  }

 private:
  Place new_place() {
    if (free_.empty()) {
      files_.push_back(CounterFile::create());
      for (std::size_t index = kCounters; index > 0; --index) free_.push_back({files_.back().get(), index - 1});
    }
    const Place place = free_.back();
    free_.pop_back();
    return place;
  }

  std::mutex mutex_;  // guards all members below
  std::vector<std::unique_ptr<CounterFile>> files_;
  std::vector<Place> free_;
  std::vector<std::unique_ptr<Sent>> dropped_;
  bool closed_ = false;
};

void delete_sent(void* context) {
  std::unique_ptr<Sent> sent(static_cast<Sent*>(context));
  if (in_bad_fork()) {
    (void)sent.release();  // owned by the parent
    return;
  }
  Outbox::get().drop(std::move(sent));
}

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
  std::unique_ptr<CounterFile> file;
  std::size_t place = 0;

  void release() { file->at(place).fetch_sub(1); }
};

// The storages that this process has opened: a process that ends with live tensors decrements their counters.
class Inbox {
 public:
  static Inbox& get() {
    static auto& instance = *std::make_unique<Inbox>().release();
    return instance;
  }

  void add(Received* received) {
    std::lock_guard lock(mutex_);
    live_.insert(received);
  }

  void remove(Received* received) {
    std::lock_guard lock(mutex_);
    if (live_.erase(received) > 0) received->release();
  }

  void close() {
    std::lock_guard lock(mutex_);
    for (Received* received : live_) {
      received->release();
      received->file.reset();
    }
    live_.clear();
  }

 private:
  std::mutex mutex_;  // guards live_
  std::unordered_set<Received*> live_;
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
  Inbox::get().remove(received.get());
}

}  // namespace

StorageTicket share_storage(const c10::Storage& storage) {
  TORCH_CHECK(storage.device_type() == c10::DeviceType::PrivateUse1, "only an npu storage is shared here, not one on ",
              storage.device());
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
  std::array<char, ACL_IPC_HANDLE_SIZE> key{};
  acl_check(
      aclrtIpcMemGetExportKey(base, size, key.data(), key.size(), ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION),
      "aclrtIpcMemGetExportKey");
  shared.key = key.data();
  shared.offset = static_cast<std::size_t>(static_cast<char*>(data.get()) - base);

  std::tie(shared.counter_file, shared.counter) = Outbox::get().add_user(*storage.unsafeGetStorageImpl());
  return shared;
}

c10::Storage open_shared_storage(const StorageTicket& shared) {
  auto received = std::make_unique<Received>();
  received->file = CounterFile::open(shared.counter_file);
  received->place = shared.counter;
  try {
    received->import = Import::open(shared.device, shared.key);
  } catch (...) {
    received->release();
    throw;
  }
  Inbox::get().add(received.get());
  char* address = received->import->base() + shared.offset;
  c10::DataPtr data(address, received.release(), &delete_received, npu_device(shared.device));
  return c10::Storage(make_storage(shared.nbytes, std::move(data)));
}

void release_shared(const StorageTicket& shared) {
  CounterFile::open(shared.counter_file)->at(shared.counter).fetch_sub(1);
}

void collect_shared() noexcept {
  if (in_bad_fork()) return;
  try {
    Outbox::get().collect();
  } catch (const std::exception& e) {
    TORCH_WARN("collecting shared npu memory failed: ", e.what());
  }
}

void close_shared() noexcept {
  if (in_bad_fork()) return;
  Inbox::get().close();
  Outbox::get().close();
}

}  // namespace torch_npu
