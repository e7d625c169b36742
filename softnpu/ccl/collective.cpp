#include "ccl/collective.h"

#include <cstring>
#include <utility>

#include "base/copy_bytes.h"
#include "base/text.h"
#include "simd/non_temporal.h"
#include "softnpu/trace.h"

namespace softnpu::ccl {

Collective::Collective(const std::shared_ptr<Communicator>& comm, Call call, Buffer send, Buffer recv)
    : Operation(comm, call.op),
      recv_(recv),
      call_(call),
      send_(send),
      number_(comm->next_collective()),
      theirs_(comm->size()) {}

Status Collective::prepare() {
  if (send_.bytes() == 0 || is_small() || send_.is_shared() || size() == 1) return Status::ok();
  Buffer copy;
  SOFTNPU_RETURN_IF_ERROR(send_.stage(comm(), &copy, &staged_));
  original_ = send_.data();
  send_ = copy;
  return Status::ok();
}

Status Collective::proceed(bool* done) {
  if (!is_ready()) return Status::ok();
  switch (stage_) {
    case Stage::kTurn:
      publish();
      awaited_ = round_of(number_, 1);
      stage_ = Stage::kCalled;
      return Status::ok();
    case Stage::kCalled:
      if (softnpuTraceRunningTask() != 0) all_called_at_ = softnpuTraceNow();
      SOFTNPU_RETURN_IF_ERROR(check_calls());
      [[fallthrough]];
    case Stage::kReading: {
      bool more = false;
      SOFTNPU_RETURN_IF_ERROR(read(round_, &more));
      ++round_;
      if (is_small() && !more) return finish(), *done = true, Status::ok();
      awaited_ = round_of(number_, 1 + round_);
      comm().advance(awaited_);
      stage_ = more ? Stage::kReading : Stage::kEnding;
      return Status::ok();
    }
    case Stage::kEnding:
      finish();
      *done = true;
      return Status::ok();
  }
  return Status::ok();
}

void Collective::finish() { comm().complete(number_); }

void Collective::publish() {
  RankSlot& slot = comm().own();
  Published& mine = slot.published[parity()];
  mine.call = call_;
  mine.send = send_.offset();
  mine.recv = second_source() == nullptr ? 0 : second_source()->offset();
  if (send_.bytes() > 0 && is_small()) {
    std::memcpy(slot.payload[parity()], send_.data(), send_.bytes());
  } else if (original_ != nullptr) {
    std::memcpy(send_.data(), original_, send_.bytes());
  }
  publish_numbers();
  comm().advance(round_of(number_, 1));
}

Status Collective::check_calls() {
  for (uint32_t other = 0; other < size(); ++other) {
    theirs_[other] = comm().control().slot(other).published[parity()];
    if (!call_.agrees_with(theirs_[other].call)) return mismatch(other, theirs_[other]);
  }
  for (uint32_t other = 0; other < size(); ++other) SOFTNPU_RETURN_IF_ERROR(check(other, theirs_[other]));
  return Status::ok();
}

Status Collective::check(uint32_t, const Published&) { return Status::ok(); }

Status Collective::mismatch(uint32_t other, const Published& theirs) const {
  return {ACL_ERROR_INVALID_PARAM, text(describe(), ": ranks make different calls: rank ", rank(), " ",
                                        call_.describe(), ", rank ", other, " ", theirs.call.describe())};
}

Status Collective::source(uint32_t other, uint64_t offset, uint64_t bytes, const char** out, bool from_recv) const {
  if (is_small()) {
    *out = reinterpret_cast<const char*>(comm().control().slot(other).payload[parity()]) + offset;
    return Status::ok();
  }
  if (other == rank()) {
    *out = (from_recv ? second_source()->data() : send_.data()) + offset;
    return Status::ok();
  }
  const uint64_t start = from_recv ? theirs_[other].recv : theirs_[other].send;
  const Status status = offset <= UINT64_MAX - start ? comm().member(other).source(start + offset, bytes, out)
                                                     : comm().member(other).source(UINT64_MAX, bytes, out);
  return status.is_ok() ? status : Status(status.code(), text(comm().name_rank(other), ": ", status.message()));
}

void Collective::copy(const char* from, uint64_t offset, uint64_t bytes) const {
  char* to = recv_.data() + offset;
  if (to == from || bytes == 0) return;
  if (!exceeds_caches()) {
    copy_bytes(to, from, bytes);
    return;
  }
  non_temporal_copy()(to, from, bytes, from + kAheadBytes);
  fence_non_temporal_stores();
}

bool Collective::exceeds_caches() const {
  const bool is_in_place = send_.data() == recv_.data();
  const uint64_t bytes = recv_.bytes() + (is_in_place ? 0 : send_.bytes());
  return bytes >= static_cast<uint64_t>(kNonTemporalBytes) / size();
}

bool Collective::awaits(uint32_t other) const noexcept {
  return other != rank() && (stage_ != Stage::kEnding || waits_for_reader(other));
}

bool Collective::is_behind(uint32_t other) const noexcept {
  return comm().control().slot(other).progress.load(std::memory_order_seq_cst) < awaited_;
}

bool Collective::is_ready() const noexcept {
  if (stage_ == Stage::kTurn) return comm().completed() == number_ - 1;
  for (uint32_t other = 0; other < size(); ++other) {
    if (awaits(other) && is_behind(other)) return false;
  }
  return true;
}

bool Collective::is_hopeless() const noexcept {
  if (stage_ == Stage::kTurn) return false;
  for (uint32_t other = 0; other < size(); ++other) {
    if (awaits(other) && is_behind(other) && comm().is_gone(other) && is_behind(other)) return true;
  }
  return false;
}

Status Collective::explain(bool is_late) const {
  for (uint32_t other = 0; other < size() && stage_ != Stage::kTurn; ++other) {
    if (!awaits(other) || !is_behind(other)) continue;
    if (const Status gone = comm().why_gone(other); !gone.is_ok()) {
      return {gone.code(), text(describe(), " waits for a rank that is gone: ", gone.message())};
    }
    if (!is_late) continue;
    const char* missing = stage_ == Stage::kCalled ? " has not called it" : " has not finished it";
    return {ACL_ERROR_RT_TASK_TIMEOUT,
            text(describe(), ": ", comm().name_rank(other), missing, " within ", comm().settings().execute.count(),
                 " s (HCCL_EXEC_TIMEOUT); ", comm().last_call(other))};
  }
  return {ACL_ERROR_RT_TASK_TIMEOUT, text(describe(), " did not get its turn within ",
                                          comm().settings().execute.count(), " s (HCCL_EXEC_TIMEOUT)")};
}

std::string Collective::describe() const {
  return text(call_.describe(), " of rank ", rank(), ", collective ", number_, " of communicator ", comm().name());
}

}  // namespace softnpu::ccl
