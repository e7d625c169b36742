#include "core/sent_storages.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <exception>

#include "core/device.h"
#include "core/format.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

namespace torch_npu {
namespace {

std::uint64_t draw() {
  std::uint64_t number = 0;
  TORCH_CHECK(getrandom(&number, sizeof number, 0) == sizeof number, "the system has no random numbers");
  return number;
}

bool is_ready(int fd) {
  pollfd watched{fd, POLLIN, 0};
  return fd >= 0 && ::poll(&watched, 1, 0) > 0;
}

}  // namespace

SentStorages& SentStorages::get() {
  static auto& instance = *std::make_unique<SentStorages>().release();
  return instance;
}

std::pair<std::string, std::uint64_t> SentStorages::add_user(c10::StorageImpl& storage,
                                                             const SharedLocation& location) {
  collect();
  std::lock_guard lock(mutex_);
  TORCH_CHECK(!closed_, "this process ends and shares no npu storage any more");
  start();
  if (storage.data_ptr().get_deleter() != &delete_sent) {
    auto sent = std::make_unique<Sent>();
    // Other threads may read the storage meanwhile: the address does not change.
    c10::DataPtr shared(mutable_bytes_of(storage, BytesLayout::kStored), sent.get(), &delete_sent, storage.device());
    sent->data = storage.set_data_ptr(std::move(shared));
    (void)sent.release();  // now owned by the storage
  }
  auto* sent = static_cast<Sent*>(storage.data_ptr().get_context());
  const std::uint64_t number = new_number();
  users_.emplace(number, User{sent, location, nullptr});
  ++sent->users;
  return {name_, number};
}

// Python's and C++'s signed integers hold it.
std::uint64_t SentStorages::new_number() const {
  std::uint64_t number = 0;
  do number = draw() >> 1;
  while (users_.contains(number));
  return number;
}

void SentStorages::delete_sent(void* context) {
  std::unique_ptr<Sent> sent(static_cast<Sent*>(context));
  if (in_bad_fork()) {
    (void)sent.release();  // owned by the parent
    return;
  }
  get().drop(std::move(sent));
}

void SentStorages::drop(std::unique_ptr<Sent> sent) {
  {
    std::lock_guard lock(mutex_);
    dropped_.push_back(std::move(sent));
  }
  collect();
}

// Frees outside of the lock, since freeing may take Python's.
void SentStorages::collect() {
  std::vector<std::unique_ptr<Sent>> unused;
  std::lock_guard lock(mutex_);
  if (closed_) return;
  answer_all();  // the thread may not have run since a receiver ended
  const auto first = std::partition(dropped_.begin(), dropped_.end(), [](const auto& sent) { return sent->users > 0; });
  unused.insert(unused.end(), std::make_move_iterator(first), std::make_move_iterator(dropped_.end()));
  dropped_.erase(first, dropped_.end());
}

void SentStorages::close() {
  std::thread thread;
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
    thread.swap(thread_);
  }
  if (!thread.joinable()) return;
  const std::uint64_t one = 1;
  (void)!::write(wake_.fd(), &one, sizeof one);
  thread.join();
  std::lock_guard lock(mutex_);
  connections_.clear();
  listener_ = {};
}

void SentStorages::start() {
  if (!name_.empty()) return;
  const std::string name = c10::str("torch-npu-", ::getpid(), "-", draw());
  PeerSocket listener = PeerSocket::listen(name);
  Descriptor wake(eventfd(0, EFD_CLOEXEC));
  TORCH_CHECK(wake.fd() >= 0, "an eventfd for shared npu storages: ", std::strerror(errno));
  // A forked child must not answer in this process's name.
  static const int registered = pthread_atfork([] { get().mutex_.lock(); }, [] { get().mutex_.unlock(); },
                                               [] {
                                                 get().leave_to_parent();
                                                 get().mutex_.unlock();
                                               });
  TORCH_CHECK(registered == 0, "out of memory");
  listener_ = std::move(listener);
  wake_ = std::move(wake);
  // Signal handlers of the program run on its own threads.
  sigset_t all{};
  sigset_t before{};
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { serve(); });
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  name_ = name;
}

void SentStorages::leave_to_parent() {
  listener_ = {};
  connections_.clear();
}

void SentStorages::serve() {
  constexpr std::chrono::milliseconds kPause{10};  // after an error that would come again at once
  std::vector<pollfd> watched;
  while (true) {
    try {
      {
        std::lock_guard lock(mutex_);
        if (closed_) return;
        watched.assign({{wake_.fd(), POLLIN, 0}, {listener_.fd(), POLLIN, 0}});
        for (const Connection& connection : connections_) {
          watched.push_back({connection.socket.fd(), POLLIN, 0});
          watched.push_back({connection.process.fd(), POLLIN, 0});
        }
      }
      ::poll(watched.data(), watched.size(), -1);
      std::lock_guard lock(mutex_);
      if (closed_) return;
      if (is_ready(listener_.fd())) {
        PeerSocket accepted = listener_.accept();
        if (accepted.fd() >= 0) {
          Descriptor process(static_cast<int>(syscall(SYS_pidfd_open, accepted.peer(), 0)));
          connections_.push_back({std::move(accepted), std::move(process), {}});
        } else {
          std::this_thread::sleep_for(kPause);
        }
      }
      answer_all();
    } catch (const std::exception&) {
      std::this_thread::sleep_for(kPause);
    }
  }
}

void SentStorages::answer_all() {
  for (auto it = connections_.begin(); it != connections_.end();) {
    bool is_over = false;
    while (!is_over && is_ready(it->socket.fd())) is_over = !answer(*it);
    if (!is_over && !is_ready(it->process.fd())) {
      ++it;
      continue;
    }
    const auto opened = std::move(it->opened);
    it = connections_.erase(it);
    for (const std::uint64_t number : opened) end_user(number);
  }
}

bool SentStorages::answer(Connection& connection) {
  UserRequest request;
  if (!connection.socket.receive(&request, sizeof request)) return false;
  UserReply reply;
  reply.user = request.user;
  const auto found = users_.find(request.user);
  const Connection* opener = found == users_.end() ? nullptr : found->second.opener;
  if (found != users_.end() && request.kind == UserRequest::Kind::kOpen && opener == nullptr) {
    connection.opened.insert(request.user);
    found->second.opener = &connection;
    reply.is_known = 1;
    reply.location = found->second.location;
  } else if (found != users_.end() && request.kind == UserRequest::Kind::kRelease &&
             (opener == nullptr || opener == &connection)) {
    connection.opened.erase(request.user);
    end_user(request.user);
    reply.is_known = 1;
  }
  return connection.socket.send(&reply, sizeof reply);
}

void SentStorages::end_user(std::uint64_t number) {
  const auto found = users_.find(number);
  --found->second.sent->users;
  users_.erase(found);
}

}  // namespace torch_npu
