#pragma once
// A cache of recently used primitives. Creating one takes up to milliseconds.

#include <cstddef>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "base/lru_cache.h"

namespace softnpu {

// Key: a struct of integers without padding, compared byte by byte.
template <typename Key>
struct KeyBytes {
  static_assert(std::has_unique_object_representations_v<Key>);
  size_t operator()(const Key& key) const {
    return std::hash<std::string_view>()({reinterpret_cast<const char*>(&key), sizeof key});
  }
  bool operator()(const Key& x, const Key& y) const { return std::memcmp(&x, &y, sizeof x) == 0; }
};

template <typename Key, typename Value>
using PrimitiveCache = LruCache<Key, Value, KeyBytes<Key>, KeyBytes<Key>>;

}  // namespace softnpu
