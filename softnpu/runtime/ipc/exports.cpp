#include "runtime/ipc/exports.h"

#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <span>
#include <utility>

#include "base/own_thread.h"
#include "base/text.h"
#include "runtime/ipc/export_messages.h"

namespace softnpu {
namespace {

// The pause after an error that the next poll() would report again at once, such as too many open files.
constexpr std::chrono::milliseconds kPause{10};

Status failed(const char* what) {
  return {ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, text("sharing with other processes: ", what, ": ", std::strerror(errno))};
}

template <typename T>
bool draw(T* out) {
  return getrandom(out, sizeof *out, 0) == static_cast<ssize_t>(sizeof *out);
}

bool is_ready(int fd) {
  pollfd watched{fd, POLLIN, 0};
  return poll(&watched, 1, 0) > 0;
}

constexpr uint32_t low_bits(unsigned count) { return (1U << count) - 1; }

}  // namespace

Status Exports::add(const Subject& subject, Grantor grantor, ExportTicket* out) {
  std::lock_guard lock(mutex_);
  SOFTNPU_RETURN_IF_ERROR(start());
  if (const auto known = tickets_.find(subject); known != tickets_.end()) {
    *out = known->second;
    return Status::ok();
  }
  purge();
  ExportTicket ticket;
  SOFTNPU_RETURN_IF_ERROR(draw_ticket(subject.kind, &ticket));
  const auto result = exports_.emplace(ticket, Export{subject, {}, std::move(grantor)}).first;
  try {
    tickets_.emplace(subject, ticket);
  } catch (const std::bad_alloc&) {
    exports_.erase(result);
    throw;
  }
  *out = ticket;
  return Status::ok();
}

Status Exports::draw_ticket(ExportTicket::Kind kind, ExportTicket* out) const {
  out->kind = kind;
  out->pid = static_cast<uint32_t>(getpid());
  out->tag = tag_;
  do {
    if (!draw(&out->high) || !draw(&out->low)) return failed("getrandom");
    if (kind != ExportTicket::Kind::kPhysical) continue;
    out->high = 0;
    out->low &= (uint64_t{1} << ExportTicket::kNumberBits) - 1;
  } while (exports_.contains(*out));
  return Status::ok();
}

bool Exports::allow(const ExportTicket& ticket, const int32_t* pids, size_t count) {
  std::lock_guard lock(mutex_);
  auto found = exports_.find(ticket);
  if (found == exports_.end()) return false;
  auto& known = found->second.pids;
  for (const int32_t pid : std::span(pids, count)) {
    if (std::ranges::find(known, pid) == known.end()) known.push_back(pid);
  }
  return true;
}

Status Exports::start() {
  if (thread_.joinable()) return Status::ok();
  if (wake_.fd() >= 0) return {ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "the process ends and shares nothing any more"};
  DescriptorSocket listener;
  ExportTicket name;
  name.pid = static_cast<uint32_t>(getpid());
  // Another process may have taken a name.
  Status status;
  for (uint32_t attempt = 0; attempt <= low_bits(ExportTicket::kTagBits); ++attempt) {
    if (attempt == 0 && !draw(&name.tag)) return failed("getrandom");
    name.tag = (name.tag + attempt) & low_bits(ExportTicket::kTagBits);
    status = DescriptorSocket::listen(name.socket_name(), &listener);
    if (status.is_ok()) break;
  }
  SOFTNPU_RETURN_IF_ERROR(status);
  File wake(eventfd(0, EFD_CLOEXEC));
  if (wake.fd() < 0) return failed("eventfd");
  tag_ = name.tag;
  listener_ = std::move(listener);
  wake_ = std::move(wake);
  try {
    thread_ = start_own_thread([this] { serve(); });
  } catch (...) {
    wake_ = File();
    throw;
  }
  listening_.store(listener_.fd());
  return Status::ok();
}

// Removes exports of memory and events that exist no longer, each time their number has doubled.
void Exports::purge() {
  if (exports_.size() < purge_at_) return;
  std::erase_if(exports_, [this](const auto& entry) {
    Grant unused;
    if (entry.second.grantor(&unused)) return false;
    tickets_.erase(entry.second.subject);
    return true;
  });
  purge_at_ = std::max<size_t>(64, 2 * exports_.size());
}

void Exports::stop() {
  std::thread thread;
  {
    std::lock_guard lock(mutex_);
    thread.swap(thread_);
  }
  if (!thread.joinable()) return;
  const uint64_t one = 1;
  (void)!write(wake_.fd(), &one, sizeof one);
  join(std::move(thread));
}

void Exports::leave_to_parent() noexcept {
  if (const int fd = listening_.exchange(-1); fd >= 0) close(fd);
}

void Exports::serve() {
  std::vector<pollfd> watched;
  while (true) {
    try {
      watch(&watched);
      bool is_well = poll(watched.data(), watched.size(), -1) >= 0 || errno == EINTR;
      if (watched[0].revents != 0) return;
      answer_all();
      if (watched[1].revents != 0) is_well = accept_next() && is_well;
      if (!is_well) std::this_thread::sleep_for(kPause);
    } catch (const std::bad_alloc&) {
      std::this_thread::sleep_for(kPause);
    }
  }
}

void Exports::watch(std::vector<pollfd>* out) {
  std::lock_guard lock(connections_mutex_);
  out->assign({{wake_.fd(), POLLIN, 0}, {listener_.fd(), POLLIN, 0}});
  for (const Connection& connection : connections_) out->push_back({connection.socket.fd(), POLLIN, 0});
}

bool Exports::accept_next() {
  DescriptorSocket accepted;
  const Status status = listener_.accept(&accepted);
  std::lock_guard lock(connections_mutex_);
  if (accepted.fd() >= 0) connections_.push_back({std::move(accepted), nullptr});
  return status.code() != ACL_ERROR_RT_RESOURCE_ALLOC_FAIL;
}

void Exports::answer_all() {
  std::lock_guard lock(connections_mutex_);
  std::erase_if(connections_,
                [this](Connection& connection) { return is_ready(connection.socket.fd()) && !answer(connection); });
}

bool Exports::end_leases() {
  if (listening_.load() < 0) return false;
  std::lock_guard lock(connections_mutex_);
  return std::erase_if(connections_, [](const Connection& connection) {
           return connection.lease && is_ready(connection.socket.fd());
         }) > 0;
}

bool Exports::may_open(const Export& entry, pid_t pid) const {
  return entry.subject.anybody || pid == getpid() || std::ranges::find(entry.pids, pid) != entry.pids.end();
}

bool Exports::answer(Connection& connection) try {
  if (connection.lease) return false;  // nothing follows a grant but the end
  ExportRequest request;
  size_t size = 0;
  std::vector<File> files;
  const Status status = connection.socket.receive(bytes_of(request), &size, &files);
  if (!status.is_ok() || size != sizeof request || request.magic != kExportMagic) return false;
  ExportReply reply;
  Grant grant;
  {
    std::lock_guard lock(mutex_);
    const auto found = exports_.find(request.ticket);
    if (found == exports_.end()) {
      reply.code = ExportReply::Code::kUnknown;
    } else if (!may_open(found->second, connection.socket.peer())) {
      reply.code = ExportReply::Code::kForbidden;
    } else if (found->second.grantor(&grant)) {
      reply.code = ExportReply::Code::kGranted;
      reply.offset = grant.offset;
      reply.size = grant.size;
    }
  }
  connection.lease = std::move(grant.lease);
  const bool is_granted = reply.code == ExportReply::Code::kGranted;
  const std::array fds = {grant.fd};
  return connection.socket.send(bytes_of(reply), is_granted ? std::span<const int>(fds) : std::span<const int>())
             .is_ok() &&
         is_granted;
} catch (const std::bad_alloc&) {
  return false;
}

}  // namespace softnpu
