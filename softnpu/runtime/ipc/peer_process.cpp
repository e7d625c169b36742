#include "runtime/ipc/peer_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

namespace softnpu {

uint64_t PeerProcess::start_time(pid_t pid) {
  const File file(::open(("/proc/" + std::to_string(pid) + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 1024> line{};
  if (file.fd() < 0 || ::read(file.fd(), line.data(), line.size() - 1) <= 0) return 0;
  // The process's name is in brackets and may hold anything: 19 fields lie between its end and the time.
  constexpr int kFieldsBetween = 20;
  const char* at = std::strrchr(line.data(), ')');
  for (int field = 0; field < kFieldsBetween && at != nullptr; ++field) at = std::strchr(at + 1, ' ');
  return at == nullptr ? 0 : std::strtoull(at + 1, nullptr, 10);
}

PeerProcess::PeerProcess(pid_t pid, uint64_t start_time)
    : pid_(pid), file_(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))) {
  is_known_dead_ = file_.fd() < 0 && errno == ESRCH;
  // The descriptor names this process for good: if it started at another time, the one that is meant has ended.
  const uint64_t found = PeerProcess::start_time(pid);
  if (start_time != 0 && found != 0 && found != start_time) is_known_dead_ = true;
}

bool PeerProcess::is_alive() const {
  if (is_known_dead_) return false;
  // Without a descriptor (too many open files) the number has to do.
  if (file_.fd() < 0) return kill(pid_, 0) == 0 || errno != ESRCH;
  pollfd ended{file_.fd(), POLLIN, 0};
  return poll(&ended, 1, 0) <= 0;
}

}  // namespace softnpu
