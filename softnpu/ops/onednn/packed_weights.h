#pragma once
// A cache of weights in the layouts that primitives compute with: packed once, valid until the originals are written or
// freed. The packed copies are device memory, and count as such.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace softnpu {

class PackedWeights {
 public:
  // What is packed: device memory, and how it lies there, as any bytes that say so.
  struct Source {
    const void* address = nullptr;
    size_t bytes = 0;
    std::string_view layout;
    int min_uses = 1;  // uses before a packed copy pays
  };

  static PackedWeights& get();

  // `source` as `packed_md()`, for the task that the calling thread runs; `pack(to)` packs it where the cache has no
  // copy. Null where the task has to do without: these bytes were not used often enough since they were written, they
  // are few, they are about to be written, their write epoch is unknown, packed_md() is empty, or there is no memory.
  // `packed_md` is called only where a copy would pay.
  std::shared_ptr<void> find(const Source& source, const std::function<dnnl::memory::desc()>& packed_md,
                             const std::function<void(void* to)>& pack);

  // The bytes that the copies of weights in [base, base + size) take.
  uint64_t packed_bytes(const void* base, size_t size) const;

 private:
  template <typename T>
  friend class NoDestroy;
  PackedWeights();

  struct Copy {
    dnnl::memory::desc desc;
    std::shared_ptr<void> memory;
  };
  // Weights that were read, and their copies.
  struct Weights {
    std::string layout;
    uint64_t epoch = 0;  // the write epoch of the bytes that the copies were packed from
    int use_count = 0;   // since then, up to the source's min_uses
    std::vector<Copy> copies;
  };

  // Counts a use. True where there were enough before. mutex_ is held.
  bool record_use(const Source& source, uint64_t epoch, std::vector<Copy>* stale);
  // Null where they were written since, or freed. mutex_ is held.
  Weights* look_up(const Source& source, uint64_t epoch);
  void drop(const Copy& copy) { bytes_ -= copy.desc.get_size(); }
  void on_freed(const void* base, size_t bytes);
  void trim();

  mutable std::mutex mutex_;                             // guards all below
  std::map<const void*, std::vector<Weights>> weights_;  // by their address
  size_t bytes_ = 0;                                     // of all copies
  size_t budget_ = SIZE_MAX;          // for bytes_: less each time that memory runs out, until half of it is free
  std::atomic<size_t> addresses_{0};  // of weights_, read without the lock
};

}  // namespace softnpu
