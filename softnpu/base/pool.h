#pragma once
// Objects that a C program knows by handles, made and destroyed in a few ns.

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

// The memory of a destroyed object stays the pool's and is reused, so that a dead handle can be asked about for ever.
// It holds as much as lived at once at most. A pool is one static object of its kind for the process that is never
// destroyed (NoDestroy): free slots wait in chains on each thread, which all pools of one T would share.
template <typename T>
class Pool {
 public:
  Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // Throws std::bad_alloc where host memory is out, and what T's constructor throws.
  template <typename... Args>
  T* make(Args&&... args) {
    Slot* slot = pop();
    try {
      if constexpr (sizeof...(Args) == 0) {
        ::new (static_cast<void*>(slot->object)) T;  // nothing is set to zero that T itself leaves as it is
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

  // False for what is no live object: null, destroyed, of another kind, never made. An address that was given to a
  // new object since is that object's.
  bool is_live(const void* handle) const {
    const Slot* slot = find(handle);
    return slot != nullptr && (slot->state.load(std::memory_order_acquire) & kLive) != 0;
  }

  // False, and nothing happens, where is_live() is. Of two calls at once one destroys.
  bool destroy(const void* handle) {
    Slot* slot = find(handle);
    if (slot == nullptr || !end(slot, slot->state.load(std::memory_order_acquire))) return false;
    recycle(object(slot));
    return true;
  }

  // A name of a live object that is never used again: unlike the address it tells the object's death for certain.
  uint64_t name(const T* made) const {
    const Slot* slot = reinterpret_cast<const Slot*>(made);
    return slot->state.load(std::memory_order_relaxed) / kGeneration << kIndexBits | slot->index;
  }

  // Whether the object at the handle is live, and still the one of this name.
  bool is_live_as(const T* handle, uint64_t known) const { return is_live(handle) && name(handle) == known; }

  // Ends the name: one caller gets the object, which it ends by recycle(), or gives back by give_back() or share().
  // Null for everybody else, and where the object is shared.
  T* claim(uint64_t name) { return claim(name, kLive); }

  // Makes a claimed object's name live again.
  void give_back(T* claimed) { reinterpret_cast<Slot*>(claimed)->state.fetch_or(kLive, std::memory_order_acq_rel); }

  // The same, for the functions below; who calls them keeps them apart by a lock.
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
  static constexpr uint32_t kChain = 32;  // slots that move between a thread and the pool at once

  struct Slot {
    alignas(T) unsigned char object[sizeof(T)];  // first, so that the object's address is the slot's
    std::atomic<uint64_t> state{0};              // flags, and behind them the generation
    Slot* next = nullptr;                        // in a chain of free slots
    Slot* next_chain = nullptr;                  // the chain behind the one that this slot begins
    uint32_t chained = 0;                        // the slots of that one
    uint32_t index = 0;
  };

  // What a thread keeps for itself: up to two chains, so that neither making nor destroying in turns takes the lock.
  struct Local {
    Slot* chain = nullptr;
    Slot* spare = nullptr;  // a full chain
    uint32_t length = 0;    // of `chain`
    bool is_known = false;  // its chains are given back when the thread ends
    bool is_over = false;   // the thread ends: everything goes to the pool at once
  };
  // Gives the thread's chains back when it ends. What is destroyed after it finds `is_over`; Local itself has no
  // destructor and stays readable.
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

  std::array<std::unique_ptr<Slot[]>, kChunks> chunks_;  // written under mutex_, read up to chunk_count_ without
  std::atomic<size_t> chunk_count_{0};
  std::mutex mutex_;  // guards the rest
  Slot* free_chains_ = nullptr;
};

template <typename T>
constinit thread_local typename Pool<T>::Local Pool<T>::local_{};

}  // namespace softnpu
