#include "ccl/operation.h"

#include <cstdio>
#include <exception>
#include <new>
#include <utility>

#include "base/spin.h"
#include "base/text.h"
#include "ccl/acl_status.h"

namespace softnpu::ccl {
namespace {

// About twice what it takes to wake a thread: other ranks that are about to come are not slept for.
constexpr std::chrono::microseconds kSpin{50};

}  // namespace

Operation::~Operation() {
  if (was_parked_) Watcher::get().forget(this);
  if (has_ended_) return;
  try {
    comm_->fail({ACL_ERROR_RT_STREAM_ABORT,
                 text(name_of(op_), " was dropped with its stream's work: abort, reset, or the process's end")});
  } catch (...) {
    comm_->fail({ACL_ERROR_RT_STREAM_ABORT, {}});
  }
}

void Operation::ask_for_bell() noexcept {
  // Forming rings in any case.
  if (!waits_to_form_) comm_->own().sleeps.store(1, std::memory_order_seq_cst);
}

bool Operation::is_over() noexcept {
  if (comm_->has_failed() || Clock::now() >= deadline_) return true;
  return waits_to_form_ ? comm_->is_formed() : is_ready() || is_hopeless();
}

Status Operation::late_to_form() const {
  std::string absent;
  for (uint32_t other = 0; other < comm_->size(); ++other) {
    if (other != comm_->rank()) absent += text(absent.empty() ? "rank " : " or rank ", comm_->id_of(other));
  }
  return {ACL_ERROR_RT_TASK_TIMEOUT, text(describe(), ": ", absent, " has not connected within ",
                                          comm_->settings().execute.count(), " s (HCCL_EXEC_TIMEOUT)")};
}

Status Operation::step(softnpuTurn* turn, bool* again) {
  if (was_parked_) Watcher::get().forget(this);  // a stream may go on by itself
  if (!has_begun_) {
    has_begun_ = true;
    const auto limit = comm_->settings().execute;
    if (limit != Settings::kForever) deadline_ = Clock::now() + limit;
  }
  Status status;
  try {
    bool done = false;
    while (status.is_ok() && !done) {
      if (const Status failure = comm_->failure(); !failure.is_ok()) {
        status = {failure.code(), text(describe(), " has ended: ", failure.message())};
        break;
      }
      waits_to_form_ = !comm_->is_formed();
      if (!waits_to_form_) {
        if (status = proceed(&done); !status.is_ok() || done) break;
        if (spin_until([this] { return is_ready(); }, kSpin)) continue;
      }
      const bool is_late = Clock::now() >= deadline_;
      if (is_late || (!waits_to_form_ && is_hopeless())) {
        // What has come meanwhile counts.
        if (waits_to_form_ ? comm_->is_formed() : is_ready()) continue;
        status = waits_to_form_ ? late_to_form() : explain(is_late);
        break;
      }
      *again = true;
      was_parked_ = true;
      Watcher::get().park(this, turn);
      return Status::ok();
    }
  } catch (const std::bad_alloc&) {
    status = {ACL_ERROR_BAD_ALLOC, "out of host memory"};
  }
  has_ended_ = true;
  if (!status.is_ok()) comm_->fail(status);
  return status;
}

Status Operation::launch(std::unique_ptr<Operation> operation, aclrtStream stream,
                         std::span<const softnpuRange> written) {
  softnpuSteps steps{};
  steps.name = name_of(operation->op_);
  steps.step = [](void* state, softnpuTurn* turn, int32_t* again, char* message, size_t size) -> aclError {
    bool waits = false;
    try {
      const Status status = static_cast<Operation*>(state)->step(turn, &waits);
      *again = waits ? 1 : 0;
      if (status.is_ok()) return ACL_SUCCESS;
      std::snprintf(message, size, "%s", status.message().c_str());
      return status.code();
    } catch (const std::exception& e) {
      std::snprintf(message, size, "%s", e.what());
      return ACL_ERROR_INTERNAL_ERROR;
    }
  };
  steps.release = [](void* state) { const std::unique_ptr<Operation> ended(static_cast<Operation*>(state)); };
  steps.state = operation.release();
  steps.written = written.data();
  steps.writtenCount = written.size();
  return from_acl([&] { return softnpuLaunchSteps(stream, &steps); });
}

}  // namespace softnpu::ccl
