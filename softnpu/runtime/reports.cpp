#include "runtime/reports.h"

#include <pthread.h>

#include <utility>
#include <vector>

#include "base/text.h"

namespace softnpu {

Status Reports::subscribe(uint64_t thread, const void* stream) {
  std::lock_guard lock(mutex_);
  if (threads_.contains(stream)) {
    return {ACL_ERROR_RT_STREAM_SUBSCRIBE, text("stream ", stream, " is served by a thread already")};
  }
  Queue& queue = queues_[thread];
  threads_[stream] = thread;
  ++queue.streams;
  return Status::ok();
}

Status Reports::unsubscribe(uint64_t thread, const void* stream) {
  std::vector<Report> dropped;
  {
    std::lock_guard lock(mutex_);
    auto found = threads_.find(stream);
    if (found == threads_.end() || found->second != thread) {
      return {ACL_ERROR_RT_THREAD_SUBSCRIBE, text("thread ", thread, " does not serve stream ", stream)};
    }
    threads_.erase(found);
    Queue& queue = queues_.at(thread);
    std::erase_if(queue.reports, [&](Report& report) {
      if (report.stream != stream) return false;
      dropped.push_back(std::move(report));
      return true;
    });
    --queue.streams;
    queue.posted.notify_all();
    if (queue.streams == 0 && queue.serving == 0) queues_.erase(thread);
  }
  for (Report& report : dropped) report.function(false);
  return Status::ok();
}

void Reports::forget(const void* stream) {
  uint64_t thread = 0;
  {
    std::lock_guard lock(mutex_);
    auto found = threads_.find(stream);
    if (found == threads_.end()) return;
    thread = found->second;
  }
  (void)unsubscribe(thread, stream);  // meanwhile the program may have done so itself
}

bool Reports::is_subscribed(const void* stream) const {
  std::lock_guard lock(mutex_);
  return threads_.contains(stream);
}

bool Reports::post(const void* stream, std::function<void(bool)> function) {
  std::lock_guard lock(mutex_);
  auto found = threads_.find(stream);
  if (found == threads_.end()) return false;
  Queue& queue = queues_.at(found->second);
  queue.reports.push_back({stream, std::move(function)});
  queue.posted.notify_all();
  return true;
}

Status Reports::serve(std::chrono::milliseconds timeout) {
  const auto thread = static_cast<uint64_t>(pthread_self());
  Report report;
  {
    std::unique_lock lock(mutex_);
    auto found = queues_.find(thread);
    if (found == queues_.end()) {
      return {ACL_ERROR_RT_THREAD_SUBSCRIBE, "this thread serves no stream: call aclrtSubscribeReport first"};
    }
    Queue& queue = found->second;
    ++queue.serving;
    auto awake = [&] { return !queue.reports.empty() || queue.streams == 0; };
    if (timeout.count() < 0) {
      queue.posted.wait(lock, awake);
    } else {
      queue.posted.wait_for(lock, timeout, awake);
    }
    --queue.serving;
    if (queue.reports.empty()) {
      const bool unsubscribed = queue.streams == 0;
      if (unsubscribed && queue.serving == 0) queues_.erase(found);
      if (unsubscribed) return {ACL_ERROR_RT_THREAD_SUBSCRIBE, "this thread was unsubscribed from its last stream"};
      return {ACL_ERROR_RT_REPORT_TIMEOUT, text("no stream launched a callback within ", timeout.count(), " ms")};
    }
    report = std::move(queue.reports.front());
    queue.reports.pop_front();
  }
  report.function(true);
  return Status::ok();
}

}  // namespace softnpu
