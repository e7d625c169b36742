#pragma once
// The live objects of one kind, which a C program knows by handles.

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>

#include "base/status.h"
#include "base/text.h"

namespace softnpu {

// A handle is its object's address. Handles that are null, destroyed or were never made are detected without
// dereferencing them. The result of find() stays valid while another thread destroys the handle. Two threads that
// modify one object must lock it themselves.
template <typename T>
class Handles {
 public:
  // `kind` names the objects in errors: "tensor description".
  explicit Handles(const char* kind) : kind_(kind) {}

  T* add(std::shared_ptr<T> object) {
    T* handle = object.get();
    std::unique_lock lock(mutex_);
    live_[handle] = std::move(object);
    return handle;
  }

  Status find(const void* handle, std::shared_ptr<T>* out) const {
    std::shared_lock lock(mutex_);
    auto it = live_.find(handle);
    if (it == live_.end()) return unknown(handle);
    *out = it->second;
    return Status::ok();
  }

  Status remove(const void* handle) {
    std::shared_ptr<T> last;  // declared before the lock: its destructor runs after the unlock
    std::unique_lock lock(mutex_);
    auto it = live_.find(handle);
    if (it == live_.end()) return unknown(handle);
    last = std::move(it->second);
    live_.erase(it);
    return Status::ok();
  }

 private:
  Status unknown(const void* handle) const {
    if (handle == nullptr) return {ACL_ERROR_INVALID_PARAM, text("the ", kind_, " is null")};
    return {ACL_ERROR_INVALID_PARAM, text(handle, " is no live ", kind_, ": it was destroyed, or never made")};
  }

  const char* kind_;
  mutable std::shared_mutex mutex_;
  std::unordered_map<const void*, std::shared_ptr<T>> live_;
};

}  // namespace softnpu
