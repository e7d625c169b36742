#include "tdt/channel.h"

#include <map>
#include <utility>

#include "base/no_destroy.h"
#include "base/text.h"

namespace softnpu {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::pair<uint32_t, std::string>, std::weak_ptr<Channel>> channels;
};

Registry& registry() {
  static NoDestroy<Registry> instance;
  return instance.get();
}

}  // namespace

Handles<acltdtChannelHandle>& channel_handles() {
  static NoDestroy<Handles<acltdtChannelHandle>> instance("channel");
  return instance.get();
}

std::shared_ptr<Channel> Channel::get(uint32_t device, const std::string& name, size_t capacity) {
  std::lock_guard lock(registry().mutex);
  std::erase_if(registry().channels, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<Channel>& known = registry().channels[{device, name}];
  std::shared_ptr<Channel> channel = known.lock();
  if (channel == nullptr) {
    channel = std::make_shared<Channel>(capacity);
    known = channel;
  }
  return channel;
}

template <typename Ready>
Status Channel::wait(std::unique_lock<std::mutex>& lock, std::chrono::milliseconds timeout, const bool& stopped,
                     aclError code, const char* state, Ready is_ready) {
  const auto is_over = [&] { return stopped || is_ready(); };
  if (timeout.count() < 0) {
    changed_.wait(lock, is_over);
  } else {
    changed_.wait_for(lock, timeout, is_over);
  }
  if (stopped) return {ACL_ERROR_FAILURE, "the channel was stopped"};
  if (is_ready()) return Status::ok();
  return {code, text("the channel was still ", state, " after ", timeout.count(), " ms")};
}

Status Channel::send(Items items, std::chrono::milliseconds timeout, const bool& stopped) {
  std::unique_lock lock(mutex_);
  SOFTNPU_RETURN_IF_ERROR(
      wait(lock, timeout, stopped, ACL_ERROR_RT_QUEUE_FULL, "full", [this] { return queue_.size() < capacity_; }));
  queue_.push_back(std::move(items));
  changed_.notify_all();
  return Status::ok();
}

Status Channel::receive(Items* items, std::chrono::milliseconds timeout, const bool& stopped) {
  std::unique_lock lock(mutex_);
  SOFTNPU_RETURN_IF_ERROR(
      wait(lock, timeout, stopped, ACL_ERROR_RT_QUEUE_EMPTY, "empty", [this] { return !queue_.empty(); }));
  *items = std::move(queue_.front());
  queue_.pop_front();
  changed_.notify_all();
  return Status::ok();
}

void Channel::stop(bool* stopped) {
  std::lock_guard lock(mutex_);
  *stopped = true;
  changed_.notify_all();
}

size_t Channel::size() const {
  std::lock_guard lock(mutex_);
  return queue_.size();
}

}  // namespace softnpu
