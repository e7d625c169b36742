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
    int patience = 1;  // how often it is met before a copy pays
  };

  static PackedWeights& get();

  // `source` as `wanted()`, for the task that the calling thread runs, made by `pack(to)` where it is not there. Null
  // where the task has to do without: it has not met these bytes often enough since they were written, they are few,
  // they are about to be written, nobody knows who writes them, nothing is wanted, or there is no memory. `wanted` is
  // asked where a copy would pay.
  std::shared_ptr<void> find(const Source& source, const std::function<dnnl::memory::desc()>& wanted,
                             const std::function<void(void* to)>& pack);

  // The bytes that the copies of weights in [base, base + size) take.
  uint64_t bytes_kept(const void* base, size_t size) const;

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
    uint64_t written = 0;  // by the write clock: the bytes that the copies were made from
    int meetings = 0;      // since then, up to the source's patience
    std::vector<Copy> copies;
  };

  // The weights, counted as met now. True where they were met often enough before. mutex_ is held.
  bool meet(const Source& source, uint64_t written, std::vector<Copy>* stale);
  // Null where they were written since, or freed. mutex_ is held.
  Weights* look_up(const Source& source, uint64_t written);
  void drop(const Copy& copy) { kept_ -= copy.desc.get_size(); }
  void forget(const void* base, size_t bytes);
  void press();

  mutable std::mutex mutex_;                             // guards all below
  std::map<const void*, std::vector<Weights>> weights_;  // by their address
  size_t kept_ = 0;                                      // bytes
  size_t budget_ = SIZE_MAX;          // for kept_: less each time that memory runs out, until half of it is free
  std::atomic<size_t> addresses_{0};  // of weights_, read without the lock
};

}  // namespace softnpu
