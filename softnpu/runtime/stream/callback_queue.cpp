#include "runtime/stream/callback_queue.h"

#include <pthread.h>

#include <utility>
#include <vector>

#include "base/text.h"

namespace softnpu {

Status CallbackQueue::subscribe(uint64_t thread, const void* stream) {
  std::lock_guard lock(mutex_);
  if (threads_.contains(stream)) {
    return {ACL_ERROR_RT_STREAM_SUBSCRIBE, text("stream ", stream, " is served by a thread already")};
  }
  Queue& queue = queues_[thread];
  threads_[stream] = thread;
  ++queue.streams;
  return Status::ok();
}

Status CallbackQueue::unsubscribe(uint64_t thread, const void* stream) {
  std::vector<Callback> dropped;
  {
    std::lock_guard lock(mutex_);
    auto found = threads_.find(stream);
    if (found == threads_.end() || found->second != thread) {
      return {ACL_ERROR_RT_THREAD_SUBSCRIBE, text("thread ", thread, " does not serve stream ", stream)};
    }
    threads_.erase(found);
    Queue& queue = queues_.at(thread);
    std::erase_if(queue.callbacks, [&](Callback& callback) {
      if (callback.stream != stream) return false;
      dropped.push_back(std::move(callback));
      return true;
    });
    --queue.streams;
    queue.posted.notify_all();
    if (queue.streams == 0 && queue.serving == 0) queues_.erase(thread);
  }
  for (Callback& callback : dropped) callback.function(false);
  return Status::ok();
}

void CallbackQueue::forget(const void* stream) {
  uint64_t thread = 0;
  {
    std::lock_guard lock(mutex_);
    auto found = threads_.find(stream);
    if (found == threads_.end()) return;
    thread = found->second;
  }
  (void)unsubscribe(thread, stream);  // the program may have unsubscribed it meanwhile
}

bool CallbackQueue::is_subscribed(const void* stream) const {
  std::lock_guard lock(mutex_);
  return threads_.contains(stream);
}

bool CallbackQueue::post(const void* stream, std::function<void(bool)> function) {
  std::lock_guard lock(mutex_);
  auto found = threads_.find(stream);
  if (found == threads_.end()) return false;
  Queue& queue = queues_.at(found->second);
  queue.callbacks.push_back({stream, std::move(function)});
  queue.posted.notify_all();
  return true;
}

Status CallbackQueue::serve(std::chrono::milliseconds timeout) {
  const auto thread = static_cast<uint64_t>(pthread_self());
  Callback callback;
  {
    std::unique_lock lock(mutex_);
    auto found = queues_.find(thread);
    if (found == queues_.end()) {
      return {ACL_ERROR_RT_THREAD_SUBSCRIBE, "this thread serves no stream: call aclrtSubscribeReport first"};
    }
    Queue& queue = found->second;
    ++queue.serving;
    auto awake = [&] { return !queue.callbacks.empty() || queue.streams == 0; };
    if (timeout.count() < 0) {
      queue.posted.wait(lock, awake);
    } else {
      queue.posted.wait_for(lock, timeout, awake);
    }
    --queue.serving;
    if (queue.callbacks.empty()) {
      const bool unsubscribed = queue.streams == 0;
      if (unsubscribed && queue.serving == 0) queues_.erase(found);
      if (unsubscribed) return {ACL_ERROR_RT_THREAD_SUBSCRIBE, "this thread was unsubscribed from its last stream"};
      return {ACL_ERROR_RT_REPORT_TIMEOUT, text("no stream launched a callback within ", timeout.count(), " ms")};
    }
    callback = std::move(queue.callbacks.front());
    queue.callbacks.pop_front();
  }
  callback.function(true);
  return Status::ok();
}

}  // namespace softnpu
