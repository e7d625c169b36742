#include "runtime/ipc/import_export.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "runtime/ipc/export_messages.h"

namespace softnpu {
namespace {

constexpr std::chrono::seconds kTimeout{10};

Status refused(const ExportTicket& ticket, const std::string& why) {
  return {ACL_ERROR_RT_PARAM_INVALID, text("process ", ticket.pid, " shares nothing by it: ", why)};
}

Status unreachable(const ExportTicket& ticket, std::string_view why) {
  return {ACL_ERROR_RT_PARAM_INVALID,
          text("process ", ticket.pid, " cannot be reached (", why, "): it has to live and belong to the same user")};
}

// The range is in the file, now and later: no access to its mapping ends in SIGBUS.
bool contains(int fd, uint64_t offset, uint64_t size) {
  struct stat file {};
  const int seals = fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || fstat(fd, &file) != 0 || !S_ISREG(file.st_mode)) return false;
  const auto end = static_cast<uint64_t>(file.st_size);
  return size > 0 && offset <= end && size <= end - offset;
}

}  // namespace

Status import_export(const ExportTicket& ticket, ImportedRange* out) {
  DescriptorSocket socket;
  if (Status status = DescriptorSocket::connect(ticket.socket_name(), kTimeout, &socket); !status.is_ok()) {
    return unreachable(ticket, status.message());
  }
  if (static_cast<uint32_t>(socket.peer()) != ticket.pid) {
    return refused(ticket, text("process ", socket.peer(), " answers in its place"));
  }
  ExportRequest request;
  request.ticket = ticket;
  if (Status status = socket.send(bytes_of(request)); !status.is_ok()) return unreachable(ticket, status.message());
  ExportReply reply;
  size_t size = 0;
  std::vector<File> files;
  SOFTNPU_RETURN_IF_ERROR(socket.receive(bytes_of(reply), &size, &files));
  if (size == 0) return unreachable(ticket, "it ended before it answered");
  if (size != sizeof reply || reply.magic != kExportMagic) return refused(ticket, "its answer is no answer");
  if (reply.code == ExportReply::Code::kForbidden) {
    return {ACL_ERROR_RT_NO_PERMISSION,
            text("process ", ticket.pid, " has not named process ", getpid(), " among those that may open it")};
  }
  if (reply.code != ExportReply::Code::kGranted) return refused(ticket, "it was freed or never shared");
  if (files.size() != 1 || !contains(files[0].fd(), reply.offset, reply.size)) {
    return refused(ticket, "its file may shrink, or is smaller than what it shares");
  }
  *out = {std::move(socket), std::move(files[0]), reply.offset, reply.size};
  return Status::ok();
}

}  // namespace softnpu
