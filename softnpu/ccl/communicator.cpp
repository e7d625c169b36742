#include "ccl/communicator.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/text.h"
#include "ccl/connector.h"
#include "ccl/watcher.h"

namespace softnpu::ccl {
namespace {

std::vector<uint32_t> first_numbers(size_t count) {
  std::vector<uint32_t> out(count);
  std::iota(out.begin(), out.end(), 0U);
  return out;
}

}  // namespace

Communicator::Communicator(Membership membership, RootInfo info, uint32_t rank, softnpuMemoryFile memory,
                           int32_t device, Settings settings)
    : pid_(static_cast<int32_t>(getpid())),
      name_(std::move(membership.name)),
      ids_(first_numbers(membership.members.size())),
      info_(std::move(info)),
      rank_(rank),
      device_(device),
      memory_(memory),
      settings_(settings),
      control_(std::move(membership.control)),
      members_(std::move(membership.members)),
      formed_(true),
      sends_(ids_.size()),
      recvs_(ids_.size()) {}

Communicator::Communicator(std::string name, std::vector<uint32_t> ids, RootInfo info, uint32_t rank,
                           softnpuMemoryFile memory, int32_t device, Settings settings)
    : pid_(static_cast<int32_t>(getpid())),
      name_(std::move(name)),
      ids_(std::move(ids)),
      info_(std::move(info)),
      rank_(rank),
      device_(device),
      memory_(memory),
      settings_(settings),
      sends_(ids_.size()),
      recvs_(ids_.size()) {}

Communicator::~Communicator() {
  if (!check_process().is_ok()) return;  // the parent's rank lives on
  if (!is_formed()) {
    Connector::get().ring();
    return;
  }
  auto joined = Condition::kJoined;
  own().condition.compare_exchange_strong(joined, Condition::kLeft);
  ring_all();
  // The watcher forgets the peers that nobody uses any more.
  Watcher::get().ring();
}

void Communicator::connect(Membership membership) {
  {
    std::lock_guard lock(failure_mutex_);
    control_ = std::move(membership.control);
    members_ = std::move(membership.members);
    formed_.store(true, std::memory_order_release);
    if (failed_.load(std::memory_order_relaxed)) publish_failure();
  }
  ring_all();
  Watcher::get().ring();
}

void Communicator::complete(uint64_t number) {
  completed_.store(number, std::memory_order_seq_cst);
  // A collective of another stream may wait for its turn.
  if (own().sleeps.load(std::memory_order_seq_cst) != 0) ring(rank_);
}

void Communicator::advance(uint64_t progress) {
  own().progress.store(progress, std::memory_order_seq_cst);
  ring_all();
}

void Communicator::ring(uint32_t rank) const {
  RankSlot& slot = control_->slot(rank);
  if (slot.sleeps.load(std::memory_order_seq_cst) != 0 && slot.sleeps.exchange(0) != 0) members_[rank].ring();
}

void Communicator::ring_all() const {
  for (uint32_t rank = 0; rank < size(); ++rank) {
    if (rank != rank_) ring(rank);
  }
}

void Communicator::fail(const Status& status) noexcept {
  {
    std::lock_guard lock(failure_mutex_);
    if (failed_.load(std::memory_order_relaxed)) return;
    try {
      failure_ = status;
    } catch (...) {
      failure_ = Status(status.code(), {});  // no memory for the text
    }
    if (is_formed()) publish_failure();
    failed_.store(true, std::memory_order_release);
  }
  if (!is_formed()) {
    Watcher::get().ring();
    Connector::get().ring();
    return;
  }
  ring_all();
  // Its own operations in other streams.
  ring(rank_);
}

void Communicator::publish_failure() noexcept {
  const std::string& reason = failure_.message();
  const size_t length = std::min(reason.size(), RankSlot::kReason - 1);
  std::copy_n(reason.data(), length, own().reason);
  own().reason[length] = '\0';
  own().condition.store(Condition::kFailed, std::memory_order_seq_cst);
}

Status Communicator::failure() const {
  if (!has_failed()) return Status::ok();
  std::lock_guard lock(failure_mutex_);
  return failure_;
}

Status Communicator::condition() const {
  if (Status own_failure = failure(); !own_failure.is_ok()) return own_failure;
  if (!is_formed()) return Status::ok();
  for (uint32_t other = 0; other < size(); ++other) {
    const bool has_failed = control_->slot(other).condition.load(std::memory_order_acquire) == Condition::kFailed;
    if (other != rank_ && has_failed) return why_gone(other);
  }
  return Status::ok();
}

Status Communicator::check_process() const {
  if (pid_ == static_cast<int32_t>(getpid())) return Status::ok();
  return {ACL_ERROR_INVALID_PARAM,
          text("communicator ", name_, " belongs to process ", pid_, ", from which this one was forked")};
}

bool Communicator::is_gone(uint32_t rank) const {
  return members_[rank].has_ended() ||
         control_->slot(rank).condition.load(std::memory_order_seq_cst) != Condition::kJoined;
}

Status Communicator::why_gone(uint32_t rank) const {
  const RankSlot& slot = control_->slot(rank);
  const auto gone = [](const std::string& sentence) { return Status(ACL_ERROR_RT_SUSPECT_REMOTE_ERROR, sentence); };
  switch (slot.condition.load(std::memory_order_acquire)) {
    case Condition::kJoined: break;
    case Condition::kLeft: return gone(text(name_rank(rank), " has destroyed its communicator"));
    case Condition::kFailed:
      return gone(
          text(name_rank(rank), " failed: ", std::string(slot.reason, strnlen(slot.reason, RankSlot::kReason))));
  }
  if (members_[rank].has_ended()) return gone(text(name_rank(rank), " has ended"));
  return Status::ok();
}

std::string Communicator::name_rank(uint32_t rank) const {
  const int32_t pid = members_[rank].pid();
  return pid == 0 ? text("rank ", id_of(rank)) : text("rank ", id_of(rank), " (process ", pid, ")");
}

std::string Communicator::last_call(uint32_t rank) const {
  const uint64_t number = control_->slot(rank).progress.load(std::memory_order_acquire) / kRounds;
  if (number == 0) return "it has called no collective";
  const Published last = control_->slot(rank).published[number % RankSlot::kParities];
  return text("its last one is ", last.call.describe(), ", collective ", number);
}

}  // namespace softnpu::ccl
