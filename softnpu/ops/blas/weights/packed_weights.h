#pragma once
// A cache of weights in the layouts of primitives: packed once, valid until the originals are written or freed. The
// copies are device memory and count as such.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "ops/blas/weights/packed_layout.h"

namespace softnpu {

class PackedWeights {
 public:
  // The weights: device memory, and a byte string that identifies their layout.
  struct Source {
    const void* address = nullptr;
    size_t bytes = 0;
    std::string_view layout;
    int min_uses = 1;  // uses before a packed copy pays
  };

  // A copy in the cache: of which weights, and as what.
  struct CopyKey {
    const void* address = nullptr;
    std::string layout;
    PackedLayout packed;
  };
  using Copies = std::vector<CopyKey>;

  // While an instance lives, the copies that its thread adds to the cache are appended to `to`.
  class Recording {
   public:
    explicit Recording(Copies* to);
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;
    ~Recording();

   private:
    Copies* const previous_;
  };

  static PackedWeights& get();

  // The copy of `source` as `packed_layout()`, for the task of the calling thread. `pack(to)` packs it if it is not
  // cached. Null if there is no copy: too few uses since the last write, weights too small or about to be written, an
  // unknown write epoch, an empty packed_layout(), or no memory. `packed_layout` is called only if a copy would pay.
  std::shared_ptr<void> find(const Source& source, const std::function<PackedLayout()>& packed_layout,
                             const std::function<void(void* to)>& pack);

  // Removes copies that nothing will read again.
  void drop(const Copies& copies);

  // The size of the copies of weights in [base, base + size), in bytes.
  uint64_t packed_bytes(const void* base, size_t size) const;

 private:
  template <typename T>
  friend class NoDestroy;
  PackedWeights();

  struct Copy {
    PackedLayout layout;
    std::shared_ptr<void> memory;
  };
  // Weights that were used, and their copies.
  struct Weights {
    std::string layout;
    uint64_t epoch = 0;  // the write epoch of the bytes that the copies were packed from
    int use_count = 0;   // since then, up to the source's min_uses
    std::vector<Copy> copies;
  };

  // Counts a use. True if there were at least min_uses before. mutex_ is held.
  bool record_use(const Source& source, uint64_t epoch, std::vector<Copy>* stale);
  // Null if they were written or freed meanwhile. mutex_ is held.
  Weights* look_up(const Source& source, uint64_t epoch);
  void drop(const Copy& copy) { bytes_ -= copy.layout.bytes(); }
  void on_freed(const void* base, size_t bytes);
  void trim();

  mutable std::mutex mutex_;                             // guards all members below
  std::map<const void*, std::vector<Weights>> weights_;  // by address
  size_t bytes_ = 0;                                     // of all copies
  size_t budget_ = SIZE_MAX;                             // limit for bytes_; halved when memory is exhausted
  std::atomic<size_t> addresses_{0};                     // of weights_, read without the lock
};

}  // namespace softnpu
