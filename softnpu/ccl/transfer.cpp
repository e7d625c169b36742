#include "ccl/transfer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/copy_bytes.h"
#include "base/text.h"

namespace softnpu::ccl {

Transfers::Transfers(const std::shared_ptr<Communicator>& comm, Operator op, const std::vector<Transfer>& transfers)
    : Operation(comm, op) {
  items_.reserve(transfers.size());
  for (const Transfer& transfer : transfers) {
    const uint64_t number = transfer.is_send ? comm->next_send(transfer.other) : comm->next_recv(transfer.other);
    items_.push_back({transfer, number, Stage::kBefore, nullptr, nullptr});
  }
}

Status Transfers::prepare() {
  for (Item& item : items_) {
    Buffer& buffer = item.transfer.buffer;
    if (!item.transfer.is_send || buffer.bytes() == 0 || buffer.is_shared()) continue;
    Buffer copy;
    SOFTNPU_RETURN_IF_ERROR(buffer.stage(comm(), &copy, &item.staged));
    item.original = buffer.data();
    buffer = copy;
  }
  return Status::ok();
}

Channel& Transfers::channel(const Item& item) const {
  const uint32_t other = item.transfer.other;
  return item.transfer.is_send ? comm().control().channel(comm().rank(), other)
                               : comm().control().channel(other, comm().rank());
}

bool Transfers::can_proceed(const Item& item) const noexcept {
  const Channel& shared = channel(item);
  if (item.stage == Stage::kDone) return false;
  if (!item.transfer.is_send) return shared.posted.load(std::memory_order_seq_cst) >= item.number;
  // A sender posts after the transfer before was taken.
  const uint64_t taken = shared.taken.load(std::memory_order_seq_cst);
  return taken >= (item.stage == Stage::kBefore ? item.number - 1 : item.number);
}

bool Transfers::is_ready() const noexcept {
  return std::ranges::any_of(items_, [this](const Item& item) { return can_proceed(item); });
}

bool Transfers::is_hopeless() const noexcept {
  return std::ranges::any_of(items_, [this](const Item& item) {
    return item.stage != Stage::kDone && comm().is_gone(item.transfer.other) && !can_proceed(item);
  });
}

Status Transfers::proceed(bool* done) {
  for (bool moved = true; moved;) {
    moved = false;
    for (Item& item : items_) {
      if (!can_proceed(item)) continue;
      SOFTNPU_RETURN_IF_ERROR(proceed(&item));
      moved = true;
    }
  }
  *done = std::ranges::all_of(items_, [](const Item& item) { return item.stage == Stage::kDone; });
  return Status::ok();
}

Status Transfers::proceed(Item* item) {
  Channel& shared = channel(*item);
  if (!item->transfer.is_send) {
    SOFTNPU_RETURN_IF_ERROR(receive(*item, &shared));
    item->stage = Stage::kDone;
  } else if (item->stage == Stage::kPosted) {
    item->stage = Stage::kDone;
    return Status::ok();
  } else {
    const Buffer& buffer = item->transfer.buffer;
    if (item->original != nullptr) std::memcpy(buffer.data(), item->original, buffer.bytes());
    shared.call = item->transfer.call;
    shared.offset = buffer.offset();
    shared.posted.store(item->number, std::memory_order_seq_cst);
    item->stage = Stage::kPosted;
  }
  comm().ring(item->transfer.other);
  return Status::ok();
}

Status Transfers::receive(const Item& item, Channel* shared) const {
  const Call theirs = shared->call;
  const Call& mine = item.transfer.call;
  if (theirs.op != Operator::kSend || theirs.dtype != mine.dtype || theirs.count != mine.count) {
    return {ACL_ERROR_INVALID_PARAM,
            text(describe(item), ": rank ", comm().id_of(item.transfer.other), " calls ", theirs.describe())};
  }
  const Buffer& buffer = item.transfer.buffer;
  if (buffer.bytes() > 0) {
    const char* from = nullptr;
    if (const Status status = comm().member(item.transfer.other).source(shared->offset, buffer.bytes(), &from);
        !status.is_ok()) {
      return {status.code(), text(describe(item), ": ", comm().name_rank(item.transfer.other), ": ", status.message())};
    }
    copy_bytes(buffer.data(), from, buffer.bytes());
  }
  shared->taken.store(item.number, std::memory_order_seq_cst);
  return Status::ok();
}

Status Transfers::explain(bool is_late) const {
  for (const Item& item : items_) {
    if (item.stage == Stage::kDone || can_proceed(item)) continue;
    if (const Status gone = comm().why_gone(item.transfer.other); !gone.is_ok()) {
      return {gone.code(), text(describe(item), " waits for a rank that is gone: ", gone.message())};
    }
    if (!is_late) continue;
    const char* missing = item.transfer.is_send ? " has not received it within " : " has not sent it within ";
    return {ACL_ERROR_RT_TASK_TIMEOUT, text(describe(item), ": ", comm().name_rank(item.transfer.other), missing,
                                            comm().settings().execute.count(), " s (HCCL_EXEC_TIMEOUT)")};
  }
  return {ACL_ERROR_RT_TASK_TIMEOUT, text(describe(), " is late")};
}

std::string Transfers::describe() const {
  if (items_.size() == 1) return describe(items_.front());
  return text(name_of(op()), " of communicator ", comm().name());
}

std::string Transfers::describe(const Item& item) const {
  return text(item.transfer.call.describe(), " of rank ", comm().id_of(comm().rank()), ", transfer ", item.number,
              " between the two in communicator ", comm().name());
}

std::string Transfers::trace_detail() const {
  if (items_.size() != 1) return trace_detail_of({.op = op()}, 0, -1, 0);
  const Item& item = items_.front();
  return trace_detail_of(item.transfer.call, item.number, item.transfer.other, 0);
}

}  // namespace softnpu::ccl
