#include "core/sharing.h"

#include <ATen/MapAllocator.h>
#include <acl/acl.h>

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/acl.h"
#include "core/allocator/caching_allocator.h"
#include "core/device.h"
#include "core/storage.h"
#include "core/stream.h"

namespace torch_npu {
namespace {

constexpr std::size_t kCounters = 16384;
constexpr std::size_t kCounterBytes = kCounters * sizeof(std::int64_t);

// A file of counters in shared host memory; the last process that has it open removes it.
class CounterFile {
 public:
  static std::shared_ptr<CounterFile> create() {
    return std::make_shared<CounterFile>(at::NewProcessWideShmHandle(),
                                         at::ALLOCATOR_MAPPED_SHAREDMEM | at::ALLOCATOR_MAPPED_EXCLUSIVE);
  }
  static std::shared_ptr<CounterFile> open(const std::string& name) {
    return std::make_shared<CounterFile>(name, at::ALLOCATOR_MAPPED_SHAREDMEM | at::ALLOCATOR_MAPPED_NOCREATE);
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

// A storage of this process that others use: its memory and the place of its counter.
struct Sent {
  c10::DataPtr data;
  std::shared_ptr<CounterFile> file;
  std::size_t place = 0;
};

// Everything that this process has sent. Never destroyed: storages may die at the very end.
class Outbox {
 public:
  static Outbox& get() {
    static auto& instance = *std::make_unique<Outbox>().release();
    return instance;
  }

  Sent* add(c10::DataPtr data) {
    std::lock_guard lock(mutex_);
    free_unused();
    auto sent = std::make_unique<Sent>();
    if (free_places_.empty()) {
      file_ = CounterFile::create();
      for (std::size_t place = kCounters; place > 0; --place) free_places_.push_back(place - 1);
    }
    sent->file = file_;
    sent->place = free_places_.back();
    free_places_.pop_back();
    sent->file->at(sent->place).store(0);
    sent->data = std::move(data);
    return sent.release();
  }

  // This process's storage is gone; the memory stays while others use it.
  void drop(std::unique_ptr<Sent> sent) {
    std::lock_guard lock(mutex_);
    dropped_.push_back(std::move(sent));
    free_unused();
  }

  void collect() {
    std::lock_guard lock(mutex_);
    free_unused();
  }

  void close() {
    std::lock_guard lock(mutex_);
    file_.reset();
    free_places_.clear();
    for (auto& sent : dropped_) sent->file.reset();
    closed_ = true;
  }

 private:
  void free_unused() {
    if (closed_) return;
    std::erase_if(dropped_, [this](const std::unique_ptr<Sent>& sent) {
      if (sent->file->at(sent->place).load() > 0) return false;
      if (sent->file == file_) free_places_.push_back(sent->place);
      return true;
    });
  }

  std::mutex mutex_;  // guards all below
  std::shared_ptr<CounterFile> file_;
  std::vector<std::size_t> free_places_;  // in file_
  std::vector<std::unique_ptr<Sent>> dropped_;
  bool closed_ = false;
};

void delete_sent(void* context) {
  std::unique_ptr<Sent> sent(static_cast<Sent*>(context));
  if (in_bad_fork()) {
    (void)sent.release();  // the parent's
    return;
  }
  Outbox::get().drop(std::move(sent));
}

// A piece of another process's memory, mapped here as long as one storage lies in it.
class Import {
 public:
  // The one that is open already, or a new one.
  static std::shared_ptr<Import> open(c10::DeviceIndex device, const std::string& key) {
    static auto& opened = *std::make_unique<Opened>().release();
    std::lock_guard lock(opened.mutex);
    std::weak_ptr<Import>& known = opened.imports[key];
    if (auto import = known.lock()) return import;
    auto import = std::make_shared<Import>(device, key);
    known = import;
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
  ~Import() { acl_warn(aclrtIpcMemClose(key_.c_str()), "aclrtIpcMemClose"); }

  char* base() const { return base_; }
  c10::DeviceIndex device() const { return device_; }

 private:
  struct Opened {
    std::mutex mutex;  // guards imports
    std::map<std::string, std::weak_ptr<Import>> imports;
  };

  const c10::DeviceIndex device_;
  const std::string key_;
  char* base_ = nullptr;
};

struct Received {
  std::shared_ptr<Import> import;
  std::shared_ptr<CounterFile> file;
  std::size_t place = 0;
};

// What this process has opened, so that a process that ends with live tensors takes its names off the counters.
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
    if (live_.erase(received) > 0) received->file->at(received->place).fetch_sub(1);
  }

  void close() {
    std::lock_guard lock(mutex_);
    for (Received* received : live_) {
      received->file->at(received->place).fetch_sub(1);
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
    Inbox::get().remove(received.get());
  } catch (const std::exception& e) {
    TORCH_WARN("releasing a shared npu storage failed: ", e.what());
  }
}

}  // namespace

StorageTicket share_storage(const c10::Storage& storage) {
  TORCH_CHECK(storage.device_type() == c10::DeviceType::PrivateUse1, "only an npu storage is shared here, not one on ",
              storage.device());
  const c10::DataPtr& data = storage.data_ptr();
  TORCH_CHECK(data.get_deleter() != &delete_received,
              "Attempted to send NPU tensor received from another process; this is not currently supported. Consider "
              "cloning before sending.");
  StorageTicket shared;
  shared.device = storage.device().index();
  shared.nbytes = storage.nbytes();
  bind_device(shared.device);
  synchronize_stream(current_stream(shared.device));
  auto [base, size] = caching_allocator().shareable(shared.device, data.get());
  std::array<char, ACL_IPC_HANDLE_SIZE> key{};
  acl_check(
      aclrtIpcMemGetExportKey(base, size, key.data(), key.size(), ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION),
      "aclrtIpcMemGetExportKey");
  shared.key = key.data();
  shared.offset = static_cast<std::size_t>(static_cast<char*>(data.get()) - base);

  c10::StorageImpl* impl = storage.unsafeGetStorageImpl();
  if (data.get_deleter() != &delete_sent) {
    void* address = data.get();
    const c10::Device device = data.device();
    Sent* sent = Outbox::get().add(impl->set_data_ptr(c10::DataPtr(nullptr, device)));
    impl->set_data_ptr_noswap(c10::DataPtr(address, sent, &delete_sent, device));
  }
  Sent& sent = *static_cast<Sent*>(impl->data_ptr().get_context());
  sent.file->at(sent.place).fetch_add(1);
  shared.counter_file = sent.file->name();
  shared.counter = sent.place;
  return shared;
}

c10::Storage open_shared_storage(const StorageTicket& shared) {
  auto received = std::make_unique<Received>();
  received->import = Import::open(shared.device, shared.key);
  received->file = CounterFile::open(shared.counter_file);
  received->place = shared.counter;
  Inbox::get().add(received.get());
  char* address = received->import->base() + shared.offset;
  c10::DataPtr data(address, received.release(), &delete_received, npu_device(shared.device));
  return c10::Storage(make_storage(shared.nbytes, std::move(data)));
}

void release_shared(const StorageTicket& shared) {
  CounterFile::open(shared.counter_file)->at(shared.counter).fetch_sub(1);
}

void collect_shared() noexcept {
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
