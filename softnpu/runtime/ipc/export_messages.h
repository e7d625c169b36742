#pragma once
// The messages between importer and exporter (import_export.h, exports.h).

#include <cstdint>
#include <span>

#include "runtime/ipc/export_ticket.h"

namespace softnpu {

constexpr uint64_t kExportMagic = 0x32767273'75706e73;

struct ExportRequest {
  uint64_t magic = kExportMagic;
  ExportTicket ticket;
};

struct ExportReply {
  enum class Code : uint32_t { kGranted, kUnknown, kForbidden };

  uint64_t magic = kExportMagic;
  Code code = Code::kUnknown;
  uint64_t offset = 0;
  uint64_t size = 0;
};

template <typename Message>
auto bytes_of(Message& message) {
  return std::span(reinterpret_cast<std::byte*>(&message), sizeof message);
}

}  // namespace softnpu
