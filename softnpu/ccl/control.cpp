#include "ccl/control.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/text.h"

namespace softnpu::ccl {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
constexpr size_t kVectors = 2;  // counts and displacements

size_t vectors_at(size_t ranks) { return ranks * sizeof(RankSlot) + ranks * ranks * sizeof(Channel); }

size_t size_for(size_t ranks) {
  return vectors_at(ranks) + ranks * RankSlot::kParities * kVectors * ranks * sizeof(uint64_t);
}

Status failed(const char* call) {
  return {ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, text("a communicator's shared memory: ", call, ": ", std::strerror(errno))};
}

}  // namespace

Status ControlArea::create(uint32_t ranks, std::shared_ptr<ControlArea>* out) {
  File file(memfd_create("softnpu-hccl", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (file.fd() < 0) return failed("memfd_create");
  if (ftruncate(file.fd(), static_cast<off_t>(size_for(ranks))) != 0) return failed("ftruncate");
  if (fcntl(file.fd(), F_ADD_SEALS, kSeals) != 0) return failed("F_ADD_SEALS");
  return map(std::move(file), ranks, out);
}

Status ControlArea::open(File file, uint32_t ranks, std::shared_ptr<ControlArea>* out) {
  struct stat found {};
  if (fstat(file.fd(), &found) != 0) return failed("fstat");
  if (static_cast<size_t>(found.st_size) != size_for(ranks) || fcntl(file.fd(), F_GET_SEALS) != kSeals) {
    return {ACL_ERROR_RT_PARAM_INVALID, text("what another process sent is no shared memory of a communicator of ",
                                             ranks, " ranks: do all ranks use the same version of softnpu?")};
  }
  return map(std::move(file), ranks, out);
}

Status ControlArea::map(File file, uint32_t ranks, std::shared_ptr<ControlArea>* out) {
  const size_t bytes = size_for(ranks);
  void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.fd(), 0);
  if (base == MAP_FAILED) return failed("mmap");
  out->reset(new ControlArea(std::move(file), static_cast<char*>(base), bytes, ranks));
  return Status::ok();
}

ControlArea::~ControlArea() { munmap(base_, bytes_); }

uint64_t* ControlArea::numbers(uint32_t rank, uint64_t parity, size_t which) const {
  auto* first = reinterpret_cast<uint64_t*>(base_ + vectors_at(ranks_));
  return first + ((rank * RankSlot::kParities + parity) * kVectors + which) * ranks_;
}

}  // namespace softnpu::ccl
