#include "runtime/ipc/shared_mark.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "runtime/ipc/exports.h"
#include "runtime/ipc/import_export.h"

namespace softnpu {
namespace {

constexpr size_t kBytes = 4096;
constexpr unsigned kPidBits = 22;  // of Linux's greatest process number

Status failed(const char* what) {
  return {ACL_ERROR_RT_NO_EVENT_RESOURCE, text("an event for several processes: ", what, ": ", std::strerror(errno))};
}

uint64_t own_start_time() {
  static const uint64_t time = PeerProcess::start_time(getpid());
  return time;
}

}  // namespace

Status SharedMark::create(std::shared_ptr<SharedMark>* out) {
  File file(memfd_create("softnpu-event", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (file.fd() < 0) return failed("memfd_create");
  if (ftruncate(file.fd(), kBytes) != 0) return failed("ftruncate");
  if (fcntl(file.fd(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) return failed("F_ADD_SEALS");
  return map(std::move(file), out);
}

Status SharedMark::open(const std::string& key, std::shared_ptr<SharedMark>* out) {
  ExportTicket ticket;
  if (!ExportTicket::parse(ExportTicket::Kind::kEvent, key, &ticket)) {
    return {ACL_ERROR_RT_PARAM_INVALID, "the handle was not made by aclrtIpcGetEventHandle"};
  }
  ImportedRange range;
  if (Status status = import_export(ticket, &range); !status.is_ok()) {
    return {status.code(), text("the event's handle: ", status.message())};
  }
  if (range.offset != 0 || range.size != kBytes) {
    return {ACL_ERROR_RT_PARAM_INVALID, text("process ", ticket.pid, " shares no event by this handle")};
  }
  SOFTNPU_RETURN_IF_ERROR(map(std::move(range.file), out));
  (*out)->ticket_ = ticket;
  return Status::ok();
}

Status SharedMark::map(File file, std::shared_ptr<SharedMark>* out) {
  static_assert(sizeof(State) <= kBytes);
  void* page = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.fd(), 0);
  if (page == MAP_FAILED) return failed("mmap");
  // Not make_shared: the constructor is private, so that every mark has its page.
  try {
    out->reset(new SharedMark(std::move(file), static_cast<State*>(page)));
  } catch (...) {
    munmap(page, kBytes);
    throw;
  }
  return Status::ok();
}

uint64_t SharedMark::next_id() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

SharedMark::~SharedMark() { munmap(state_, kBytes); }

Status SharedMark::key(Exports& exports, std::string* out) {
  std::lock_guard lock(mutex_);
  if (ticket_.pid == 0) {
    const auto grant = [weak = weak_from_this()](Exports::Grant* result) {
      const auto mark = weak.lock();
      *result = {mark ? mark->file_.fd() : -1, 0, kBytes, mark};
      return mark != nullptr;
    };
    SOFTNPU_RETURN_IF_ERROR(exports.add({ExportTicket::Kind::kEvent, true, this, id_, 0, kBytes}, grant, &ticket_));
  }
  *out = ticket_.text();
  return Status::ok();
}

// The entry is written before its generation can be waited for, and again after: another recorder that tried for the
// same generation may have written it meanwhile.
uint64_t SharedMark::begin_record() {
  uint64_t known = state_->recorded.load();
  do {
    write_recorder(known + 1);
  } while (!state_->recorded.compare_exchange_weak(known, known + 1));
  write_recorder(known + 1);
  return known + 1;
}

void SharedMark::write_recorder(uint64_t generation) {
  Recorder& entry = state_->recorders[generation % kRecorders];
  entry.start_time.store(own_start_time());
  entry.generation_and_pid.store(generation << kPidBits | static_cast<uint64_t>(getpid()));
}

void SharedMark::complete(uint64_t generation, int64_t nanoseconds) {
  state_->nanoseconds.store(nanoseconds);
  uint64_t known = state_->completed.load();
  while (known < generation && !state_->completed.compare_exchange_weak(known, generation)) {
  }
}

std::unique_ptr<PeerProcess> SharedMark::recorder(uint64_t generation) const {
  const Recorder& entry = state_->recorders[generation % kRecorders];
  const uint64_t written = entry.generation_and_pid.load();
  const uint64_t start_time = entry.start_time.load();
  const auto pid = static_cast<pid_t>(written & ((uint64_t{1} << kPidBits) - 1));
  if (written >> kPidBits != generation << kPidBits >> kPidBits || pid == getpid()) return nullptr;
  if (entry.generation_and_pid.load() != written) return nullptr;  // a later record has taken the entry meanwhile
  return std::make_unique<PeerProcess>(pid, start_time);
}

}  // namespace softnpu
