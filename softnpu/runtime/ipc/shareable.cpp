#include "runtime/ipc/shareable.h"

#include <utility>

#include "base/text.h"
#include "runtime/ipc/import_export.h"
#include "runtime/memory/heap_lease.h"
#include "runtime/process.h"

namespace softnpu::shareable {
namespace {

Status unknown(uint64_t number, const std::string& why) {
  return {ACL_ERROR_RT_PARAM_INVALID, text("the shareable handle ", number, " names no memory: ", why)};
}

}  // namespace

Status export_physical(Process& process, Device& device, void* handle, bool anybody, uint64_t* number) {
  uint64_t offset = 0;
  uint64_t size = 0;
  SOFTNPU_RETURN_IF_ERROR(device.virtual_memory().locate_physical(handle, &offset, &size));
  device.virtual_memory().share(handle);
  const uint64_t id = device.heap().block_id(offset);
  const auto grant = [&device, handle, offset, size, id](Exports::Grant* out) {
    *out = {device.region().fd(), offset, size, HeapLease::take(device.heap(), offset, id)};
    // A freed handle opens nothing, even while a mapping keeps its memory.
    return out->lease != nullptr && device.virtual_memory().owns(handle);
  };
  ExportTicket ticket;
  SOFTNPU_RETURN_IF_ERROR(
      process.exports().add({ExportTicket::Kind::kPhysical, anybody, &device, id, offset, size}, grant, &ticket));
  *number = ticket.number();
  return Status::ok();
}

Status allow(Process& process, uint64_t number, const int32_t* pids, size_t count) {
  const bool is_known = process.exports().allow(ExportTicket::from_number(number), pids, count);
  return is_known ? Status::ok() : unknown(number, "it is no export of this process");
}

Status import(uint64_t number, Device& device, void** handle) {
  ImportedRange range;
  if (Status status = import_export(ExportTicket::from_number(number), &range); !status.is_ok()) {
    return {status.code(), unknown(number, status.message()).message()};
  }
  return device.virtual_memory().adopt(std::move(range), handle);
}

}  // namespace softnpu::shareable
