#include "runtime/sharing.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/file.h"
#include "base/text.h"
#include "runtime/address.h"
#include "runtime/process.h"

namespace softnpu {
namespace {

// The inode of the file shows whether the process with that id is still the one that made the key.
struct Range {
  unsigned pid = 0;
  unsigned fd = 0;
  unsigned long long inode = 0;
  unsigned long long offset = 0;
  unsigned long long size = 0;
};

constexpr const char* kFormat = "softnpu-%x-%x-%llx-%llx-%llx";
constexpr const char* kParse = "softnpu-%x-%x-%llx-%llx-%llx%n";

Status bad_key(const std::string& key, const std::string& why) {
  return {ACL_ERROR_RT_PARAM_INVALID, text("the key '", key, "' names no shared device memory: ", why)};
}

Status parse(const std::string& key, Range* out) {
  int end = 0;
  const int fields = std::sscanf(key.c_str(), kParse, &out->pid, &out->fd, &out->inode, &out->offset, &out->size, &end);
  if (fields != 5 || static_cast<size_t>(end) != key.size() || out->size == 0) {
    return bad_key(key, "it was not made by aclrtIpcMemGetExportKey");
  }
  return Status::ok();
}

}  // namespace

Status Sharing::export_range(Process& process, const void* address, size_t size, std::string* key) {
  Location location;
  SOFTNPU_RETURN_IF_ERROR(resolve(process, "the address", address, size, &location));
  if (!location.on_device || size == 0) {
    return {ACL_ERROR_RT_PARAM_INVALID, text(address, " with ", size, " bytes is no device memory to share")};
  }
  Device& device = *process.device_of(address);
  Region& region = device.region();
  auto offset = static_cast<size_t>(static_cast<const char*>(address) - region.base());
  if (offset >= region.size() && !device.virtual_memory().locate(address, size, &offset)) {
    return {ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
            text("the ", size, " bytes at ", address, " are mapped from several pieces of memory, or from another ",
                 "process's: share memory that one aclrtMalloc gave")};
  }
  device.write_epochs().share(address, size);
  device.virtual_memory().share(address, size);
  struct stat file {};
  if (fstat(region.fd(), &file) != 0) return {ACL_ERROR_RT_INTERNAL_ERROR, "fstat of device memory failed"};
  std::array<char, kKeySize> made{};
  std::snprintf(made.data(), made.size(), kFormat, static_cast<unsigned>(getpid()), static_cast<unsigned>(region.fd()),
                static_cast<unsigned long long>(file.st_ino), static_cast<unsigned long long>(offset),
                static_cast<unsigned long long>(size));
  *key = made.data();
  return Status::ok();
}

Status Sharing::import_key(Device& device, const std::string& key, void** out) {
  Range range;
  SOFTNPU_RETURN_IF_ERROR(parse(key, &range));
  std::lock_guard lock(mutex_);
  if (auto known = imports_.find(key); known != imports_.end()) {
    if (known->second.device != &device) return bad_key(key, "it is open on another device of this process");
    ++known->second.uses;
    *out = known->second.address;
    return Status::ok();
  }
  File file(open(text("/proc/", range.pid, "/fd/", range.fd).c_str(), O_RDWR | O_CLOEXEC));
  struct stat found {};
  if (file.fd() < 0 || fstat(file.fd(), &found) != 0) {
    return bad_key(key, text("process ", range.pid, " cannot be reached (", std::strerror(errno), "): it has to live, ",
                             "belong to the same user and see the same /proc"));
  }
  if (found.st_ino != range.inode || range.offset > static_cast<size_t>(found.st_size) ||
      range.size > static_cast<size_t>(found.st_size) - range.offset) {
    return bad_key(key, text("process ", range.pid, " is another one by now"));
  }
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t into = range.offset % page;
  auto made = imports_.emplace(key, Import{&device, nullptr, nullptr, 1}).first;
  Import& import = made->second;
  Status status = device.virtual_memory().import(file.fd(), range.offset - into, range.size + into, &import.mapped);
  if (!status.is_ok()) {
    imports_.erase(made);
    return status;
  }
  import.address = static_cast<char*>(import.mapped) + into;
  *out = import.address;
  return Status::ok();
}

Status Sharing::close(const std::string& key) {
  Range range;
  SOFTNPU_RETURN_IF_ERROR(parse(key, &range));
  std::lock_guard lock(mutex_);
  auto it = imports_.find(key);
  if (it == imports_.end()) {
    return range.pid == static_cast<unsigned>(getpid()) ? Status::ok() : bad_key(key, "it is not open in this process");
  }
  if (it->second.uses == 1) {
    SOFTNPU_RETURN_IF_ERROR(it->second.device->virtual_memory().forget(it->second.mapped));
    imports_.erase(it);
  } else {
    --it->second.uses;
  }
  return Status::ok();
}

void Sharing::drop(const Device& device) {
  std::lock_guard lock(mutex_);
  std::erase_if(imports_, [&](const auto& entry) { return entry.second.device == &device; });
}

}  // namespace softnpu
