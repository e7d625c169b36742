#include "runtime/shared_mark.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/file.h"
#include "base/text.h"

namespace softnpu {
namespace {

constexpr size_t kBytes = 4096;

Status failed(const char* what) {
  return {ACL_ERROR_RT_NO_EVENT_RESOURCE, text("an event for several processes: ", what, ": ", std::strerror(errno))};
}

unsigned long long inode_of(int fd) {
  struct stat file {};
  return fstat(fd, &file) == 0 ? static_cast<unsigned long long>(file.st_ino) : 0;
}

}  // namespace

Status SharedMark::create(std::shared_ptr<SharedMark>* out) {
  File file(memfd_create("softnpu-event", MFD_CLOEXEC));
  if (file.fd() < 0) return failed("memfd_create");
  if (ftruncate(file.fd(), kBytes) != 0) return failed("ftruncate");
  const int fd = file.fd();
  SOFTNPU_RETURN_IF_ERROR(map(fd, static_cast<unsigned>(getpid()), static_cast<unsigned>(fd), out));
  (void)file.release();
  return Status::ok();
}

Status SharedMark::open(const std::string& key, std::shared_ptr<SharedMark>* out) {
  unsigned owner = 0;
  unsigned owner_fd = 0;
  unsigned long long inode = 0;
  int end = 0;
  if (std::sscanf(key.c_str(), "softnpu-event-%x-%x-%llx%n", &owner, &owner_fd, &inode, &end) != 3 ||
      static_cast<size_t>(end) != key.size()) {
    return {ACL_ERROR_RT_PARAM_INVALID, "the handle was not made by aclrtIpcGetEventHandle"};
  }
  File file(::open(text("/proc/", owner, "/fd/", owner_fd).c_str(), O_RDWR | O_CLOEXEC));
  if (file.fd() < 0) {
    return {ACL_ERROR_RT_PARAM_INVALID,
            text("the event of process ", owner, " cannot be reached (", std::strerror(errno),
                 "): it has to live, belong to the same user and see the same /proc")};
  }
  if (inode_of(file.fd()) != inode) {
    return {ACL_ERROR_RT_PARAM_INVALID, text("the event of process ", owner, " exists no longer")};
  }
  SOFTNPU_RETURN_IF_ERROR(map(file.fd(), owner, owner_fd, out));
  (void)file.release();
  return Status::ok();
}

Status SharedMark::map(int fd, unsigned owner, unsigned owner_fd, std::shared_ptr<SharedMark>* out) {
  void* page = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (page == MAP_FAILED) return failed("mmap");
  // Not make_shared: the constructor is private, so that every mark has its page.
  try {
    out->reset(new SharedMark(fd, owner, owner_fd, static_cast<State*>(page)));
  } catch (...) {
    munmap(page, kBytes);
    throw;
  }
  return Status::ok();
}

SharedMark::~SharedMark() {
  munmap(state_, kBytes);
  ::close(fd_);
}

std::string SharedMark::key() const {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "softnpu-event-%x-%x-%llx", owner_, owner_fd_, inode_of(fd_));
  return text.data();
}

void SharedMark::complete(uint64_t generation, int64_t nanoseconds) {
  state_->nanoseconds.store(nanoseconds);
  uint64_t known = state_->completed.load();
  while (known < generation && !state_->completed.compare_exchange_weak(known, generation)) {
  }
}

}  // namespace softnpu
