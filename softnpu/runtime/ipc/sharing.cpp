#include "runtime/ipc/sharing.h"

#include <unistd.h>

#include <utility>

#include "base/text.h"
#include "runtime/ipc/import_export.h"
#include "runtime/memory/address.h"
#include "runtime/memory/heap_lease.h"
#include "runtime/process.h"

namespace softnpu {
namespace {

Status bad_key(const std::string& key, const std::string& why) {
  return {ACL_ERROR_RT_PARAM_INVALID, text("the key '", key, "' names no shared device memory: ", why)};
}

Status parse(const std::string& key, ExportTicket* out) {
  if (ExportTicket::parse(ExportTicket::Kind::kMemory, key, out)) return Status::ok();
  return bad_key(key, "it was not made by aclrtIpcMemGetExportKey");
}

}  // namespace

Status Sharing::export_range(Process& process, const void* address, size_t size, bool anybody, std::string* key) {
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
  const uint64_t id = device.heap().block_id(offset);
  const auto grant = [&device, offset, size, id](Exports::Grant* out) {
    *out = {device.region().fd(), offset, size, HeapLease::take(device.heap(), offset, id)};
    return out->lease != nullptr;
  };
  ExportTicket ticket;
  SOFTNPU_RETURN_IF_ERROR(
      process.exports().add({ExportTicket::Kind::kMemory, anybody, &device, id, offset, size}, grant, &ticket));
  *key = ticket.text();
  return Status::ok();
}

Status Sharing::allow(Process& process, const std::string& key, const int32_t* pids, size_t count) {
  ExportTicket ticket;
  SOFTNPU_RETURN_IF_ERROR(parse(key, &ticket));
  return process.exports().allow(ticket, pids, count) ? Status::ok() : bad_key(key, "it is no key of this process");
}

Status Sharing::import_key(Device& device, const std::string& key, void** out) {
  ExportTicket ticket;
  SOFTNPU_RETURN_IF_ERROR(parse(key, &ticket));
  ImportedRange range;
  if (Status status = import_export(ticket, &range); !status.is_ok()) {
    return {status.code(), bad_key(key, status.message()).message()};
  }
  std::lock_guard lock(mutex_);
  if (auto known = imports_.find(key); known != imports_.end()) {
    if (known->second.device != &device) return bad_key(key, "it is open on another device of this process");
    ++known->second.uses;
    *out = known->second.address;
    return Status::ok();
  }
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t into = range.offset % page;
  auto result = imports_.emplace(key, Import{&device, nullptr, nullptr, 1, std::move(range)}).first;
  Import& import = result->second;
  Status status = device.virtual_memory().import(import.range.file.fd(), import.range.offset - into,
                                                 import.range.size + into, &import.mapped);
  import.range.file = File();  // the mapping keeps the file
  if (!status.is_ok()) {
    imports_.erase(result);
    return status;
  }
  import.address = static_cast<char*>(import.mapped) + into;
  *out = import.address;
  return Status::ok();
}

Status Sharing::close(const std::string& key) {
  ExportTicket ticket;
  SOFTNPU_RETURN_IF_ERROR(parse(key, &ticket));
  std::lock_guard lock(mutex_);
  auto it = imports_.find(key);
  if (it == imports_.end()) {
    return ticket.pid == static_cast<uint32_t>(getpid()) ? Status::ok()
                                                         : bad_key(key, "it is not open in this process");
  }
  if (it->second.uses == 1) {
    SOFTNPU_RETURN_IF_ERROR(it->second.device->virtual_memory().forget(it->second.mapped));
    imports_.erase(it);
  } else {
    --it->second.uses;
  }
  return Status::ok();
}

Sharing::Imports Sharing::take(const Device& device) {
  Imports taken;
  std::lock_guard lock(mutex_);
  for (auto it = imports_.begin(); it != imports_.end();) {
    auto next = std::next(it);
    if (it->second.device == &device) taken.insert(imports_.extract(it));
    it = next;
  }
  return taken;
}

}  // namespace softnpu
