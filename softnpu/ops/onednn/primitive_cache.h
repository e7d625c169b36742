#pragma once
// The newest primitives by what they were made for. Making one costs up to milliseconds.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <list>
#include <memory>
#include <mutex>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>

namespace softnpu {

// Key: a struct of integers without padding, compared byte by byte. Value: what is shared by all that run it.
template <typename Key, typename Value>
class PrimitiveCache {
 public:
  explicit PrimitiveCache(size_t capacity) : capacity_(capacity) {}

  // The value for `key`; `make` is called where there is none, outside the lock.
  template <typename Make>
  std::shared_ptr<const Value> get(const Key& key, Make make) {
    if (auto found = find(key)) return found;
    std::shared_ptr<const Value> made = make();
    std::lock_guard lock(mutex_);
    auto [it, inserted] = index_.try_emplace(key, order_.end());
    if (!inserted) return it->second->second;  // another thread was first
    order_.emplace_front(key, made);
    it->second = order_.begin();
    if (order_.size() > capacity_) {
      index_.erase(order_.back().first);
      order_.pop_back();
    }
    return made;
  }

 private:
  using Entry = std::pair<Key, std::shared_ptr<const Value>>;

  struct Hash {
    size_t operator()(const Key& key) const {
      return std::hash<std::string_view>()({reinterpret_cast<const char*>(&key), sizeof key});
    }
  };

  struct Equal {
    bool operator()(const Key& x, const Key& y) const { return std::memcmp(&x, &y, sizeof x) == 0; }
  };
  static_assert(std::has_unique_object_representations_v<Key>);

  std::shared_ptr<const Value> find(const Key& key) {
    std::lock_guard lock(mutex_);
    auto it = index_.find(key);
    if (it == index_.end()) return nullptr;
    order_.splice(order_.begin(), order_, it->second);
    return it->second->second;
  }

  const size_t capacity_;
  std::mutex mutex_;        // guards all below
  std::list<Entry> order_;  // newest first
  std::unordered_map<Key, typename std::list<Entry>::iterator, Hash, Equal> index_;
};

}  // namespace softnpu
