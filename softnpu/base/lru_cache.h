#pragma once
// A cache of the most recently used values.

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace softnpu {

// A value is shared by its users: it may outlive its cache entry.
template <typename Key, typename Value, typename Hash = std::hash<Key>, typename Equal = std::equal_to<Key>>
class LruCache {
 public:
  explicit LruCache(size_t capacity) : capacity_(capacity) {}

  // The value for `key`. If there is none, calls `make` without the lock. A null result is returned and not cached.
  template <typename Make>
  std::shared_ptr<const Value> get(const Key& key, Make make) {
    if (auto found = find(key)) return found;
    std::shared_ptr<const Value> result = make();
    if (result == nullptr) return result;
    std::lock_guard lock(mutex_);
    auto [it, inserted] = index_.try_emplace(key, order_.end());
    if (!inserted) return it->second->second;  // another thread was first
    order_.emplace_front(key, result);
    it->second = order_.begin();
    if (order_.size() > capacity_) {
      index_.erase(order_.back().first);
      order_.pop_back();
    }
    return result;
  }

  size_t size() const {
    std::lock_guard lock(mutex_);
    return order_.size();
  }

 private:
  using Entry = std::pair<Key, std::shared_ptr<const Value>>;

  std::shared_ptr<const Value> find(const Key& key) {
    std::lock_guard lock(mutex_);
    auto it = index_.find(key);
    if (it == index_.end()) return nullptr;
    order_.splice(order_.begin(), order_, it->second);
    return it->second->second;
  }

  const size_t capacity_;
  mutable std::mutex mutex_;  // guards all below
  std::list<Entry> order_;    // newest first
  std::unordered_map<Key, typename std::list<Entry>::iterator, Hash, Equal> index_;
};

}  // namespace softnpu
