#pragma once
// Weights in the layouts that primitives want, made once and kept until the originals are written or freed. The copies
// are device memory, and count as such.

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
  };

  static PackedWeights& get();

  // `source` as `wanted`, for the task that the calling thread runs, made by `pack(to)` where it is not there. Null
  // where the task has to pack for itself: it meets these bytes for the first time, they are few, they are about to be
  // written, nobody knows who writes them, or there is no memory.
  std::shared_ptr<void> find(const Source& source, const dnnl::memory::desc& wanted,
                             const std::function<void(void* to)>& pack);

  // The bytes that the copies of weights in [base, base + size) take.
  uint64_t bytes_kept(const void* base, size_t size) const;

 private:
  template <typename T>
  friend class NoDestroy;
  PackedWeights();

  struct Copy {
    std::string layout;
    dnnl::memory::desc wanted;
    uint64_t written = 0;          // by the write clock: the bytes that it was made from
    std::shared_ptr<void> memory;  // null: they were met once
  };
  using Copies = std::vector<Copy>;  // of one address

  // The copy of these bytes, or null. mutex_ is held.
  Copy* look_up(const Source& source, const dnnl::memory::desc& wanted);
  void drop(const Copy& copy);
  void forget(const void* base, size_t bytes);
  void press();

  mutable std::mutex mutex_;              // guards all below
  std::map<const void*, Copies> copies_;  // by the address of the original
  size_t kept_ = 0;                       // bytes
  size_t budget_ = SIZE_MAX;              // for kept_: less each time that memory runs out
  std::atomic<size_t> addresses_{0};      // of copies_, read without the lock
};

}  // namespace softnpu
