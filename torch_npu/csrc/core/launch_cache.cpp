#include "core/launch_cache.h"

#include <array>
#include <memory>

#include "core/acl.h"
#include "core/aclnn.h"
#include "core/format.h"
#include "core/stream.h"
#include "core/task_queue.h"
#include "core/trace.h"

struct softnpuCachedLaunch;

namespace torch_npu::launch_cache {
namespace {

struct Functions {
  using Cache = aclError (*)(const aclOpExecutor*, const void* const*, const size_t*, size_t, softnpuCachedLaunch**);
  using Launch = aclError (*)(const softnpuCachedLaunch*, const void* const*, aclrtStream);
  using Release = void (*)(softnpuCachedLaunch*);
  Cache cache = reinterpret_cast<Cache>(aclnn_symbol("softnpuCacheLaunch"));
  Launch launch = reinterpret_cast<Launch>(aclnn_symbol("softnpuLaunchCached"));
  Release release = reinterpret_cast<Release>(aclnn_symbol("softnpuReleaseCachedLaunch"));
};

const Functions& functions() {
  static const Functions found;
  return found;
}

struct Releaser {
  void operator()(softnpuCachedLaunch* cached) const { functions().release(cached); }
};

// The cached launches of one thread, by the hash of their keys.
class ThreadCache {
 public:
  struct Entry {
    Words words;                                            // empty: unused entry
    std::unique_ptr<softnpuCachedLaunch, Releaser> cached;  // null: the call must be planned each time
  };

  Entry& entry_of(const Key& key) { return entries_[key.words().hash() >> (64 - kBits)]; }

  // The calling thread's; null if there is none yet.
  static ThreadCache* find() { return of_thread_; }
  // Creates it if there is none; null when the thread is ending.
  static ThreadCache* of_thread() {
    static thread_local const Owner owner;
    return of_thread_;
  }

 private:
  static constexpr int kBits = 7;
  // Creates it, and destroys it with the thread.
  struct Owner {
    Owner() { of_thread_ = cache.get(); }
    ~Owner() { of_thread_ = nullptr; }
    std::unique_ptr<ThreadCache> cache = std::make_unique<ThreadCache>();
  };

  static thread_local constinit ThreadCache* of_thread_;
  std::array<Entry, size_t{1} << kBits> entries_;
};
thread_local constinit ThreadCache* ThreadCache::of_thread_ = nullptr;

}  // namespace

void Key::add(const at::Tensor& tensor) {
  const c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
  if (tensors_ == kMostTensors || !tensor.defined() || impl->numel() > kMostElements || impl->numel() == 0) {
    fits_ = false;
    return;
  }
  const c10::StorageImpl* storage = impl->unsafe_storage().unsafeGetStorageImpl();
  const void* bytes = bytes_of(*storage, BytesLayout::kPlain);
  const auto item = static_cast<int64_t>(impl->itemsize());
  const void* address = static_cast<const char*>(bytes) + impl->storage_offset() * item;
  size_t same = 0;  // the first tensor at this address
  while (same < tensors_ && addresses_[same] != address) ++same;
  const bool is_contiguous = impl->is_contiguous();
  const at::IntArrayRef sizes = impl->sizes();
  add_word(static_cast<uint64_t>(tensor.scalar_type()) | same << 8 | sizes.size() << 16 |
           uint64_t{is_contiguous} << 32);
  for (const int64_t size : sizes) add_word(static_cast<uint64_t>(size));
  int64_t extent = impl->numel();
  if (!is_contiguous) {
    extent = 1;
    for (size_t i = 0; i < sizes.size(); ++i) {
      const int64_t stride = impl->strides()[i];
      add_word(static_cast<uint64_t>(stride));
      extent += (sizes[i] - 1) * stride;
    }
  }
  addresses_[tensors_] = address;
  bytes_[tensors_++] = static_cast<size_t>(extent * item);
}

void Key::add(const at::Scalar& scalar) {
  if (scalar.isComplex() || scalar.isSymbolic()) {
    fits_ = false;
  } else if (scalar.isFloatingPoint()) {
    add_word('d');
    add(scalar.toDouble());
  } else {
    add_word(scalar.isBoolean() ? 'b' : 'i');
    add(scalar.toLong());
  }
}

void Key::add(at::TensorList tensors) { add(at::ITensorListRef(tensors)); }

void Key::add(const at::ITensorListRef& tensors) {
  add_word(tensors.size());
  for (const at::Tensor& tensor : tensors) {
    add(tensor);
    if (!fits_) return;
  }
}

bool is_on() {
  static const bool is_available = functions().cache != nullptr;
  return is_available && task_queue_level() == 0 && !trace::detail::is_watched();
}

bool launch(const Key& key) {
  ThreadCache* cache = ThreadCache::find();
  if (cache == nullptr) return false;
  const ThreadCache::Entry& entry = cache->entry_of(key);
  if (entry.cached == nullptr || !(entry.words == key.words())) return false;
  const Enqueue enqueue(current_stream(key.device()), Enqueue::kFromQueue);
  if (functions().launch(entry.cached.get(), key.addresses(), enqueue.handle()) != ACL_SUCCESS) return false;
  detail::count_launch();
  return true;
}

void insert(const Key& key, const aclOpExecutor* executor) {
  ThreadCache* cache = ThreadCache::of_thread();
  if (cache == nullptr) return;
  ThreadCache::Entry& entry = cache->entry_of(key);
  if (entry.words == key.words()) return;  // the call must be planned each time
  softnpuCachedLaunch* cached = nullptr;
  if (functions().cache(executor, key.addresses(), key.bytes(), key.tensors(), &cached) != ACL_SUCCESS) return;
  entry.cached.reset(cached);
  entry.words = key.words();
}

}  // namespace torch_npu::launch_cache
