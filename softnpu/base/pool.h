#pragma once
// A pool of objects that a C program knows by handles; creating and destroying one takes a few ns.

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

namespace softnpu {

// The pool keeps the memory of destroyed objects and reuses it, so that a dead handle can always be checked. Its memory
// is at most that of the largest number of objects that lived at once. There is one static, never destroyed pool per T
// (NoDestroy): each thread caches chains of free slots, which all pools of a T would share.
template <typename T>
class Pool {
 public:
  Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // Throws std::bad_alloc if host memory is exhausted, and exceptions of T's constructor.
  template <typename... Args>
  T* make(Args&&... args) {
    Slot* slot = pop();
    try {
      if constexpr (sizeof...(Args) == 0) {
        ::new (static_cast<void*>(slot->object)) T;  // default-initialised: T may leave members unset
      } else {
        ::new (static_cast<void*>(slot->object)) T(std::forward<Args>(args)...);
      }
    } catch (...) {
      push(slot);
      throw;
    }
    slot->state.store(((slot->state.load(std::memory_order_relaxed) / kGeneration + 1) * kGeneration) | kLive,
                      std::memory_order_release);
    return object(slot);
  }

  // False if the handle is no live object: null, destroyed, of another kind, never made. If the address was reused, the
  // result is for the new object.
  bool is_live(const void* handle) const {
    const Slot* slot = find(handle);
    return slot != nullptr && (slot->state.load(std::memory_order_acquire) & kLive) != 0;
  }

  // Returns false and does nothing if is_live() is false. Of two concurrent calls one destroys the object.
  bool destroy(const void* handle) {
    Slot* slot = find(handle);
    if (slot == nullptr || !end(slot, slot->state.load(std::memory_order_acquire))) return false;
    recycle(object(slot));
    return true;
  }

  // A name of a live object that is never reused: unlike the address, it identifies a destroyed object reliably.
  uint64_t name(const T* result) const {
    const Slot* slot = reinterpret_cast<const Slot*>(result);
    return slot->state.load(std::memory_order_relaxed) / kGeneration << kIndexBits | slot->index;
  }

  // Whether the handle's object is live and still has this name.
  bool is_live_as(const T* handle, uint64_t known) const { return is_live(handle) && name(handle) == known; }

  // Ends the name. One caller gets the object and must end it by recycle(), or return it by give_back() or share().
  // Null for all other callers, and if the object is shared.
  T* claim(uint64_t name) { return claim(name, kLive); }

  // Makes a claimed object's name live again.
  void give_back(T* claimed) { reinterpret_cast<Slot*>(claimed)->state.fetch_or(kLive, std::memory_order_acq_rel); }

  // Like give_back(), but for the two functions below; their callers must hold a common lock.
  void share(T* claimed) {
    reinterpret_cast<Slot*>(claimed)->state.fetch_or(kLive | kShared, std::memory_order_acq_rel);
  }
  T* find_shared(uint64_t name) const {
    Slot* slot = named(name);
    return slot != nullptr && is_named(slot->state.load(std::memory_order_acquire), name, kLive | kShared)
               ? object(slot)
               : nullptr;
  }
  T* claim_shared(uint64_t name) { return claim(name, kLive | kShared); }

  // Destroys a claimed object.
  void recycle(T* claimed) {
    claimed->~T();
    push(reinterpret_cast<Slot*>(claimed));
  }

 private:
  static constexpr uint64_t kLive = 1;
  static constexpr uint64_t kShared = 2;
  static constexpr uint64_t kGeneration = 4;
  static constexpr int kIndexBits = 28;
  static constexpr size_t kFirstChunk = 64;  // slots; each further chunk has twice as many
  static constexpr size_t kChunks = 22;
  static constexpr uint32_t kChain = 32;  // slots that are moved between a thread and the pool at once

  struct Slot {
    alignas(T) unsigned char object[sizeof(T)];  // first, so that the object and the slot have the same address
    std::atomic<uint64_t> state{0};              // flags in the low bits, the generation above them
    Slot* next = nullptr;                        // in a chain of free slots
    Slot* next_chain = nullptr;                  // the next chain, if this slot is the first of one
    uint32_t chained = 0;                        // the length of the next chain
    uint32_t index = 0;
  };

  // A thread's cache of up to two chains, so that alternating creation and destruction takes no lock.
  struct Local {
    Slot* chain = nullptr;
    Slot* spare = nullptr;  // a full chain
    uint32_t length = 0;    // of `chain`
    bool is_known = false;  // registered: its chains are returned when the thread ends
    bool is_over = false;   // the thread is ending: slots are returned to the pool at once
  };
  // Returns the thread's chains when it ends. Objects destroyed after it see `is_over`; Local has no destructor and
  // stays readable.
  struct Returner {
    Pool* pool = nullptr;
    ~Returner() {
      if (pool != nullptr) pool->close(&local_);
    }
  };

  static T* object(Slot* slot) { return std::launder(reinterpret_cast<T*>(slot->object)); }

  static bool end(Slot* slot, uint64_t state) {
    return (state & kLive) != 0 &&
           slot->state.compare_exchange_strong(state, state & ~(kLive | kShared), std::memory_order_acq_rel,
                                               std::memory_order_relaxed);
  }

  static bool is_named(uint64_t state, uint64_t name, uint64_t flags) {
    return state % kGeneration == flags && (state / kGeneration) << kIndexBits == name >> kIndexBits << kIndexBits;
  }

  T* claim(uint64_t name, uint64_t flags) {
    Slot* slot = named(name);
    if (slot == nullptr) return nullptr;
    const uint64_t state = slot->state.load(std::memory_order_acquire);
    return is_named(state, name, flags) && end(slot, state) ? object(slot) : nullptr;
  }

  Slot* find(const void* handle) const {
    const size_t chunks = chunk_count_.load(std::memory_order_acquire);
    const auto address = reinterpret_cast<uintptr_t>(handle);
    for (size_t i = 0; i < chunks; ++i) {
      const uintptr_t offset = address - reinterpret_cast<uintptr_t>(chunks_[i].get());
      if (offset < (kFirstChunk << i) * sizeof(Slot)) {
        return offset % sizeof(Slot) == 0 ? &chunks_[i][offset / sizeof(Slot)] : nullptr;
      }
    }
    return nullptr;
  }

  Slot* named(uint64_t name) const {
    const uint64_t index = (name & ((uint64_t{1} << kIndexBits) - 1)) + kFirstChunk;
    const auto chunk = static_cast<size_t>(std::bit_width(index) - std::bit_width(kFirstChunk));
    if (chunk >= chunk_count_.load(std::memory_order_acquire)) return nullptr;
    return &chunks_[chunk][index - (kFirstChunk << chunk)];
  }

  Slot* pop() {
    Local& local = local_;
    if (local.chain == nullptr) {
      if (local.spare != nullptr) {
        local.chain = std::exchange(local.spare, nullptr);
        local.length = kChain;
      } else {
        fill(&local);
      }
    }
    Slot* slot = local.chain;
    local.chain = slot->next;
    --local.length;
    if (local.is_over) close(&local);
    return slot;
  }

  void push(Slot* slot) {
    Local& local = local_;
    if (!local.is_known) return_at_end(&local);
    if (local.length == kChain) {
      if (local.spare != nullptr) {
        std::lock_guard lock(mutex_);
        give_back(local.spare, kChain);
      }
      local.spare = std::exchange(local.chain, nullptr);
      local.length = 0;
    }
    slot->next = local.chain;
    local.chain = slot;
    ++local.length;
    if (local.is_over) close(&local);
  }

  void return_at_end(Local* local) {
    static thread_local Returner returner;
    returner.pool = this;
    local->is_known = true;
  }

  void fill(Local* local) {
    if (!local->is_known) return_at_end(local);
    std::lock_guard lock(mutex_);
    if (free_chains_ == nullptr) add_chunk();
    local->chain = free_chains_;
    free_chains_ = local->chain->next_chain;
    local->length = local->chain->chained;
  }

  void close(Local* local) {
    std::lock_guard lock(mutex_);
    if (local->chain != nullptr) give_back(local->chain, local->length);
    if (local->spare != nullptr) give_back(local->spare, kChain);
    *local = {nullptr, nullptr, 0, true, true};
  }

  // mutex_ is held.
  void give_back(Slot* chain, uint32_t length) {
    chain->next_chain = free_chains_;
    chain->chained = length;
    free_chains_ = chain;
  }

  // mutex_ is held.
  void add_chunk() {
    const size_t chunk = chunk_count_.load(std::memory_order_relaxed);
    if (chunk == kChunks) throw std::bad_alloc();
    const size_t count = kFirstChunk << chunk;
    chunks_[chunk] = std::make_unique<Slot[]>(count);
    for (size_t i = 0; i < count; ++i) {
      Slot& slot = chunks_[chunk][i];
      slot.index = static_cast<uint32_t>(count - kFirstChunk + i);
      if (i % kChain != kChain - 1) slot.next = &chunks_[chunk][i + 1];
      if (i % kChain == 0) give_back(&slot, kChain);
    }
    chunk_count_.store(chunk + 1, std::memory_order_release);
  }

  static thread_local Local local_;

  std::array<std::unique_ptr<Slot[]>, kChunks> chunks_;  // written under mutex_; read without it up to chunk_count_
  std::atomic<size_t> chunk_count_{0};
  std::mutex mutex_;  // guards all members below
  Slot* free_chains_ = nullptr;
};

template <typename T>
constinit thread_local typename Pool<T>::Local Pool<T>::local_{};

}  // namespace softnpu
