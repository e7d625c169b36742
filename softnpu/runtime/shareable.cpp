#include "runtime/shareable.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/text.h"
#include "runtime/device.h"

namespace softnpu {
namespace {

constexpr uint64_t kMagic = 0x76727320'75706e73;
constexpr size_t kMostPids = 1024;

// The record that the importer reads.
struct Record {
  uint64_t magic = kMagic;
  int32_t fd = -1;  // the exporter's device memory
  uint32_t anybody = 0;
  uint64_t inode = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
  uint32_t pid_count = 0;
  std::array<int32_t, kMostPids> pids{};
};

constexpr int kPidShift = 32;

Status failed(const char* what) {
  return {ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, text("exporting memory: ", what, ": ", std::strerror(errno))};
}

Status unknown(uint64_t number, const std::string& why) {
  return {ACL_ERROR_RT_PARAM_INVALID, text("the shareable handle ", number, " names no memory: ", why)};
}

uint64_t inode_of(int fd) {
  struct stat file {};
  return fstat(fd, &file) == 0 ? static_cast<uint64_t>(file.st_ino) : 0;
}

bool read_record(int fd, Record* out) { return pread(fd, out, sizeof *out, 0) == sizeof *out && out->magic == kMagic; }
bool write_record(int fd, const Record& record) { return pwrite(fd, &record, sizeof record, 0) == sizeof record; }

File open_of(int32_t pid, int32_t fd, int mode) {
  return File(open(text("/proc/", pid, "/fd/", fd).c_str(), mode | O_CLOEXEC));
}

bool may_import(const Record& record) {
  const auto end = record.pids.begin() + std::min<size_t>(record.pid_count, kMostPids);
  return record.anybody != 0 || std::find(record.pids.begin(), end, static_cast<int32_t>(getpid())) != end;
}

}  // namespace

Status Shareables::export_physical(Device& device, void* handle, bool anybody, uint64_t* number) {
  Record record;
  SOFTNPU_RETURN_IF_ERROR(device.virtual_memory().locate_physical(handle, &record.offset, &record.size));
  record.fd = device.region().fd();
  record.inode = inode_of(record.fd);
  record.anybody = anybody ? 1 : 0;
  File file(memfd_create("softnpu-shareable", MFD_CLOEXEC));
  if (file.fd() < 0) return failed("memfd_create");
  if (!write_record(file.fd(), record)) return failed("write");
  device.virtual_memory().share(handle);
  *number = static_cast<uint64_t>(getpid()) << kPidShift | static_cast<uint64_t>(file.fd());
  std::lock_guard lock(mutex_);
  exports_[*number] = {std::move(file), handle};
  return Status::ok();
}

Status Shareables::allow(uint64_t number, const int32_t* pids, size_t count) {
  std::lock_guard lock(mutex_);
  auto found = exports_.find(number);
  if (found == exports_.end()) return unknown(number, "it is no export of this process");
  const int fd = found->second.record.fd();
  Record record;
  if (!read_record(fd, &record)) return unknown(number, "its record cannot be read");
  if (count > kMostPids - record.pid_count) {
    return {ACL_ERROR_RT_PARAM_INVALID, text("more than ", kMostPids, " processes for one shareable handle")};
  }
  std::copy_n(pids, count, record.pids.begin() + record.pid_count);
  record.pid_count += static_cast<uint32_t>(count);
  return write_record(fd, record) ? Status::ok() : failed("write");
}

Status Shareables::import(uint64_t number, Device& device, void** handle) {
  const auto pid = static_cast<int32_t>(number >> kPidShift);
  const auto fd = static_cast<int32_t>(number & ((uint64_t{1} << kPidShift) - 1));
  const File found = open_of(pid, fd, O_RDONLY);
  Record record;
  if (found.fd() < 0) return unknown(number, text("process ", pid, " cannot be reached (", std::strerror(errno), ")"));
  if (!read_record(found.fd(), &record)) return unknown(number, text("process ", pid, " exports nothing by it"));
  if (!may_import(record)) {
    return {ACL_ERROR_RT_NO_PERMISSION,
            text("process ", pid, " has not named process ", getpid(), " by aclrtMemSetPidToShareableHandle")};
  }
  File memory = open_of(pid, record.fd, O_RDWR);
  if (memory.fd() < 0 || inode_of(memory.fd()) != record.inode) {
    return unknown(number, text("the memory of process ", pid, " cannot be reached"));
  }
  return device.virtual_memory().adopt(std::move(memory), record.offset, record.size, handle);
}

void Shareables::forget(const void* handle) {
  std::lock_guard lock(mutex_);
  std::erase_if(exports_, [&](const auto& entry) { return entry.second.handle == handle; });
}

}  // namespace softnpu
