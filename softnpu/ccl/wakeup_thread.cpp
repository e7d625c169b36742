#include "ccl/wakeup_thread.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/own_thread.h"
#include "base/text.h"
#include "ccl/peer.h"

namespace softnpu::ccl {

Status WakeupThread::start(std::function<void()> run) {
  std::lock_guard lock(mutex_);
  if (stopping_) return {ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "the process ends"};
  if (thread_.joinable()) return Status::ok();
  if (wakeup_.fd() < 0) wakeup_ = File(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (wakeup_.fd() < 0) return {ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, text("eventfd: ", std::strerror(errno))};
  try {
    thread_ = start_own_thread(std::move(run));
  } catch (const std::system_error& e) {
    return {ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, text("the thread that ", purpose_, " cannot be started: ", e.what())};
  }
  pid_ = static_cast<int32_t>(getpid());
  return Status::ok();
}

void WakeupThread::stop() {
  std::thread thread;
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    if (pid_ != static_cast<int32_t>(getpid())) return;
    thread.swap(thread_);
  }
  ring();
  join(std::move(thread));
}

bool WakeupThread::is_stopping() const {
  std::lock_guard lock(mutex_);
  return stopping_;
}

void WakeupThread::ring() const { send_wakeup(wakeup_.fd()); }

bool WakeupThread::sleep(std::vector<pollfd>* files, int milliseconds) {
  files->push_back({wakeup_.fd(), POLLIN, 0});
  const bool is_woken = ::poll(files->data(), files->size(), milliseconds) > 0;
  if (is_woken && files->back().revents != 0) {
    uint64_t rings = 0;
    [[maybe_unused]] const auto count = ::read(wakeup_.fd(), &rings, sizeof rings);
  }
  files->pop_back();
  return is_woken;
}

}  // namespace softnpu::ccl
