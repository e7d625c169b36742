#include "ccl/member.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include "base/descriptor_socket.h"
#include "base/text.h"
#include "ccl/messages.h"
#include "ccl/own_files.h"
#include "ccl/watcher.h"

namespace softnpu::ccl {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

Status connect(const RootInfo& info, const RankConfig& self, DescriptorSocket* out) {
  // The one who listens gives up first and says why.
  constexpr std::chrono::seconds kMargin(10);
  const auto end = Clock::now() + self.timeout;
  while (true) {
    const Status status = DescriptorSocket::connect(info.name, self.timeout + kMargin, out);
    if (status.is_ok()) return status;
    if (!self.may_be_early || Clock::now() >= end) {
      return {status.code(), text("rank ", self.id, " does not reach the process that the ranks connect to (",
                                  status.message(), "): it has to live and to be in the same network namespace")};
    }
    std::this_thread::sleep_for(milliseconds(2));
  }
}

Status say_hello(const RootInfo& info, const RankConfig& self, const DescriptorSocket& socket) {
  softnpuMemoryFile memory{};
  SOFTNPU_RETURN_IF_ERROR(memory_of(self.device, &memory));
  OwnFiles files;
  SOFTNPU_RETURN_IF_ERROR(own_files(memory, &files));
  Hello hello;
  hello.secret = info.secret;
  hello.ranks = self.ranks;
  hello.rank = self.rank;
  hello.id = self.id;
  hello.token = Peer::own_token();
  hello.pid = static_cast<int32_t>(getpid());
  hello.device = self.device;
  hello.memory_bytes = memory.bytes;
  self.name.copy(hello.name.data(), hello.name.size() - 1);
  const std::array<int, Hello::kFiles> sent = {files.memory.fd(), Watcher::get().wakeup(), files.process.fd()};
  return socket.send(bytes_of(hello), sent);
}

// The next message, whole and with its files.
template <typename Message>
Status receive(const RankConfig& self, const DescriptorSocket& socket, Message* out, std::vector<File>* files) {
  size_t size = 0;
  const Status status = socket.receive(room_of(out), &size, files);
  if (status.is_ok() && size == sizeof *out) return status;
  return {ACL_ERROR_RT_SUSPECT_REMOTE_ERROR,
          text("rank ", self.id, ": the process that the ranks connect to (", socket.peer(),
               size == 0 && status.is_ok() ? ") ended before all ranks had come" : ") answers no more: ",
               status.message())};
}

Status to_member(const Introduction& introduction, std::vector<File> files, Member* out) {
  if (introduction.token == Peer::own_token()) {
    softnpuMemoryFile memory{};
    SOFTNPU_RETURN_IF_ERROR(memory_of(introduction.device, &memory));
    *out = Member::local(memory);
    return Status::ok();
  }
  std::shared_ptr<Peer> peer;
  std::shared_ptr<Mapping> memory;
  PeerFiles owned{std::move(files[0]), std::move(files[1]), std::move(files[2])};
  SOFTNPU_RETURN_IF_ERROR(Peer::join(introduction.token, introduction.pid, introduction.device,
                                     introduction.memory_bytes, std::move(owned), &peer, &memory));
  *out = Member::remote(std::move(peer), std::move(memory));
  return Status::ok();
}

}  // namespace

Member Member::local(const softnpuMemoryFile& memory) {
  Member result;
  result.memory_ = static_cast<const char*>(memory.kernel);
  result.bytes_ = memory.bytes;
  return result;
}

Member Member::remote(std::shared_ptr<Peer> peer, std::shared_ptr<Mapping> memory) {
  Member result;
  result.memory_ = memory->base();
  result.bytes_ = memory->bytes();
  result.mapped_ = std::move(memory);
  Watcher::get().watch(peer);
  result.peer_ = std::move(peer);
  return result;
}

Status Member::source(uint64_t offset, uint64_t bytes, const char** out) const {
  if (offset > bytes_ || bytes > bytes_ - offset) {
    return {ACL_ERROR_RT_INTERNAL_ERROR,
            text("it published ", bytes, " bytes at byte ", offset, " of a memory of ", bytes_)};
  }
  *out = memory_ + offset;
  return Status::ok();
}

void Member::ring() const {
  if (peer_ == nullptr) return Watcher::get().ring();
  peer_->ring();
}

Status join(const RootInfo& info, const RankConfig& self, Membership* out) {
  DescriptorSocket socket;
  SOFTNPU_RETURN_IF_ERROR(begin_join(info, self, &socket));
  return finish_join(self, socket, out);
}

Status begin_join(const RootInfo& info, const RankConfig& self, DescriptorSocket* out) {
  SOFTNPU_RETURN_IF_ERROR(connect(info, self, out));
  return say_hello(info, self, *out);
}

Status finish_join(const RankConfig& self, const DescriptorSocket& socket, Membership* out) {
  Admission admission;
  std::vector<File> files;
  SOFTNPU_RETURN_IF_ERROR(receive(self, socket, &admission, &files));
  if (admission.is_good != 1 || files.size() != kAdmissionFiles) {
    admission.reason.back() = '\0';
    return {ACL_ERROR_RT_SUSPECT_REMOTE_ERROR,
            text("rank ", self.id, " of ", self.ranks, ": ", admission.reason.data())};
  }
  admission.name.back() = '\0';
  out->name = admission.name.data();
  SOFTNPU_RETURN_IF_ERROR(ControlArea::open(std::move(files.front()), self.ranks, &out->control));
  out->control->close_file();
  for (uint32_t rank = 0; rank < self.ranks; ++rank) {
    Introduction introduction;
    SOFTNPU_RETURN_IF_ERROR(receive(self, socket, &introduction, &files));
    if (introduction.rank != rank || files.size() != Hello::kFiles) {
      return {ACL_ERROR_RT_INTERNAL_ERROR, text("the introduction of rank ", rank, " is wrong")};
    }
    out->members.emplace_back();
    SOFTNPU_RETURN_IF_ERROR(to_member(introduction, std::move(files), &out->members.back()));
  }
  return Status::ok();
}

}  // namespace softnpu::ccl
