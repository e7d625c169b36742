#include "ccl/peer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/no_destroy.h"
#include "base/round.h"
#include "base/text.h"

namespace softnpu::ccl {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

struct Registry {
  std::mutex mutex;  // guards the following
  std::map<uint64_t, std::weak_ptr<Peer>> peers;
};

Registry& registry() {
  static NoDestroy<Registry> result;
  return result.get();
}

uint64_t random_token() {
  uint64_t token = 0;
  if (getrandom(&token, sizeof token, 0) != sizeof token) token = static_cast<uint64_t>(getpid());
  return token;
}

}  // namespace

Status Mapping::map(int file, size_t bytes, std::shared_ptr<Mapping>* out) {
  struct stat found {};
  const int seals = fcntl(file, F_GET_SEALS);
  if (fstat(file, &found) != 0 || static_cast<size_t>(found.st_size) < bytes || seals < 0 ||
      (seals & F_SEAL_SHRINK) == 0) {
    return {ACL_ERROR_RT_PARAM_INVALID, text("what another process sent is no device memory of ", bytes, " bytes")};
  }
  // Aligned, so that huge pages of the file are huge pages here.
  void* space = mmap(nullptr, bytes + kHugePage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (space != MAP_FAILED) {
    auto* first = static_cast<char*>(space);
    auto* base = reinterpret_cast<char*>(round_up(reinterpret_cast<uintptr_t>(first), kHugePage));
    if (base > first) munmap(first, static_cast<size_t>(base - first));
    const size_t rest = static_cast<size_t>(first + bytes + kHugePage - (base + bytes));
    if (rest > 0) munmap(base + bytes, rest);
    if (mmap(base, bytes, PROT_READ, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file, 0) != MAP_FAILED) {
      out->reset(new Mapping(base, bytes));
      return Status::ok();
    }
    munmap(base, bytes);
  }
  return {ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
          text("mapping ", bytes, " bytes of another device's memory: ", std::strerror(errno))};
}

Mapping::~Mapping() { munmap(const_cast<char*>(base_), bytes_); }

Status Peer::join(uint64_t token, int32_t pid, int32_t device, size_t bytes, PeerFiles files,
                  std::shared_ptr<Peer>* out, std::shared_ptr<Mapping>* memory) {
  {
    std::lock_guard lock(registry().mutex);
    std::erase_if(registry().peers, [](const auto& entry) { return entry.second.expired(); });
    std::weak_ptr<Peer>& known = registry().peers[token];
    *out = known.lock();
    if (*out == nullptr) {
      out->reset(new Peer(pid, std::move(files.wakeup), std::move(files.process)));
      known = *out;
    }
  }
  Peer& peer = **out;
  std::lock_guard lock(peer.mutex_);
  std::weak_ptr<Mapping>& known = peer.memory_[device];
  *memory = known.lock();
  if (*memory != nullptr && (*memory)->bytes() == bytes) return Status::ok();
  SOFTNPU_RETURN_IF_ERROR(Mapping::map(files.memory.fd(), bytes, memory));
  known = *memory;
  return Status::ok();
}

uint64_t Peer::own_token() {
  static const uint64_t token = random_token();
  return token;
}

void Peer::ring() const { send_wakeup(wakeup_.fd()); }

void send_wakeup(int eventfd) {
  const uint64_t one = 1;
  // It fails only if the counter is full: the watcher is awake then.
  [[maybe_unused]] const auto written = ::write(eventfd, &one, sizeof one);
}

}  // namespace softnpu::ccl
