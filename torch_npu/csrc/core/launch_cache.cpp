#include "core/launch_cache.h"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>

#include "core/acl.h"
#include "core/aclnn.h"
#include "core/allocator/caching_allocator.h"
#include "core/format.h"
#include "core/stream.h"
#include "core/task_queue.h"
#include "core/trace.h"

struct softnpuCachedLaunch;

namespace torch_npu::launch_cache {
namespace {

struct Functions {
  using Cache = aclError (*)(const aclOpExecutor*, const void* const*, const size_t*, size_t, softnpuCachedLaunch**);
  using CacheFixed = aclError (*)(const aclOpExecutor*, const void* const*, const size_t*, size_t, uint64_t*,
                                  softnpuCachedLaunch**);
  using Launch = aclError (*)(const softnpuCachedLaunch*, const void* const*, void*, aclrtStream);
  using Release = void (*)(softnpuCachedLaunch*);
  Cache cache = reinterpret_cast<Cache>(aclnn_symbol("softnpuCacheLaunch"));
  CacheFixed cache_fixed = reinterpret_cast<CacheFixed>(aclnn_symbol("softnpuCacheFixedLaunch"));
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

using Cached = std::unique_ptr<softnpuCachedLaunch, Releaser>;

// A call that differs from others of its key in its tensors' addresses.
struct Fixed {
  uint64_t hash = 0;  // of the key and the addresses; 0: unused
  Words words;
  std::array<const void*, Key::kMaxTensors> addresses;
  uint64_t workspace_bytes = 0;
  Cached cached;  // null: seen once, or not small

  bool is(const Key& key) const {
    return words == key.words() && std::equal(key.addresses(), key.addresses() + key.tensors(), addresses.begin());
  }
};

uint64_t hash_with_addresses(const Key& key) {
  uint64_t hash = key.words().hash();
  for (size_t i = 0; i < key.tensors(); ++i) {
    hash = std::rotl(hash ^ reinterpret_cast<uintptr_t>(key.addresses()[i]), 23) * 0x9E3779B97F4A7C15;
  }
  return hash | 1;
}

// The cached launches of one thread, by the hash of their keys.
class ThreadCache {
 public:
  struct Entry {
    Words words;    // empty: unused entry
    Cached cached;  // for all addresses; null: there is none
  };

  Entry& entry_of(const Key& key) { return entries_[key.words().hash() >> (64 - kBits)]; }
  Fixed& fixed_of(uint64_t hash) { return fixed_[hash >> (64 - kBits)]; }

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
  std::array<Fixed, size_t{1} << kBits> fixed_;
};
thread_local constinit ThreadCache* ThreadCache::of_thread_ = nullptr;

bool launch(const Key& key, const softnpuCachedLaunch& cached, uint64_t workspace_bytes) {
  const Enqueue enqueue(current_stream(key.device()), Enqueue::kFromQueue);
  // Freed when this returns, and reused only by later work of the same stream.
  c10::DataPtr workspace;
  if (workspace_bytes > 0) workspace = caching_allocator().allocate_on(key.device(), workspace_bytes);
  if (functions().launch(&cached, key.addresses(), workspace.get(), enqueue.handle()) != ACL_SUCCESS) return false;
  detail::count_launch();
  return true;
}

// The second call with the same addresses is cached: those of a program that repeats no addresses cost nothing.
void insert_fixed(const Key& key, const aclOpExecutor* executor, ThreadCache* cache) {
  const uint64_t hash = hash_with_addresses(key);
  Fixed& fixed = cache->fixed_of(hash);
  if (fixed.hash != hash) {
    fixed.hash = hash;
    fixed.words = Words();
    fixed.cached.reset();
    return;
  }
  if (fixed.is(key) && fixed.cached == nullptr) return;  // not small
  softnpuCachedLaunch* cached = nullptr;
  if (functions().cache_fixed(executor, key.addresses(), key.bytes(), key.tensors(), &fixed.workspace_bytes, &cached) !=
      ACL_SUCCESS) {
    return;
  }
  fixed.cached.reset(cached);
  fixed.words = key.words();
  std::copy_n(key.addresses(), key.tensors(), fixed.addresses.begin());
}

}  // namespace

void Key::add(const at::Tensor& tensor) {
  const c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
  if (!tensor.defined()) return add_word(~uint64_t{0});
  if (tensors_ == kMaxTensors || impl->numel() > kMaxElements || impl->numel() == 0) {
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
  if (!(entry.words == key.words())) return false;
  if (entry.cached != nullptr) return launch(key, *entry.cached, 0);
  const uint64_t hash = hash_with_addresses(key);
  const Fixed& fixed = cache->fixed_of(hash);
  return fixed.hash == hash && fixed.cached != nullptr && fixed.is(key) &&
         launch(key, *fixed.cached, fixed.workspace_bytes);
}

void insert(const Key& key, const aclOpExecutor* executor) {
  ThreadCache* cache = ThreadCache::of_thread();
  if (cache == nullptr) return;
  ThreadCache::Entry& entry = cache->entry_of(key);
  if (!(entry.words == key.words())) {
    softnpuCachedLaunch* cached = nullptr;
    if (functions().cache(executor, key.addresses(), key.bytes(), key.tensors(), &cached) != ACL_SUCCESS) return;
    entry.cached.reset(cached);
    entry.words = key.words();
  } else if (entry.cached == nullptr) {
    insert_fixed(key, executor, cache);
  }
}

}  // namespace torch_npu::launch_cache
