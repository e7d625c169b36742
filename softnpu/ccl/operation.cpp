#include "ccl/operation.h"

#include <cstdio>
#include <exception>
#include <new>
#include <utility>

#include "acl/acl_mdl.h"
#include "base/spin.h"
#include "base/text.h"
#include "ccl/acl_status.h"
#include "softnpu/steps.h"
#include "softnpu/trace.h"

namespace softnpu::ccl {
namespace {

// About twice what it takes to wake a thread: other ranks that are about to come are not slept for.
constexpr std::chrono::microseconds kSpin{50};

// A callback's result.
aclError to_callback(const Status& status, char* message, size_t size) {
  if (status.is_ok()) return ACL_SUCCESS;
  std::snprintf(message, size, "%s", status.message().c_str());
  return status.code();
}

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

void Operation::request_wakeup() noexcept {
  // Forming rings in any case.
  if (!waits_to_connect_) comm_->own().sleeps.store(1, std::memory_order_seq_cst);
}

bool Operation::is_over() noexcept {
  if (comm_->has_failed() || Clock::now() >= deadline_) return true;
  return waits_to_connect_ ? comm_->is_formed() : is_ready() || is_hopeless();
}

Status Operation::late_to_connect() const {
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
      waits_to_connect_ = !comm_->is_formed();
      if (!waits_to_connect_) {
        if (status = proceed(&done); !status.is_ok() || done) {
          if (const uint64_t task = softnpuTraceRunningTask(); task != 0) {
            softnpuTraceDetail(task, trace_detail().c_str());
          }
          break;
        }
        if (spin_until([this] { return is_ready(); }, kSpin)) continue;
      }
      const bool is_late = Clock::now() >= deadline_;
      if (is_late || (!waits_to_connect_ && is_hopeless())) {
        // What has come meanwhile counts.
        if (waits_to_connect_ ? comm_->is_formed() : is_ready()) continue;
        status = waits_to_connect_ ? late_to_connect() : explain(is_late);
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

std::string Operation::trace_detail_of(const Call& call, uint64_t number, int64_t other, int64_t ready) const {
  const auto type = static_cast<HcclDataType>(call.dtype);
  const uint64_t bytes = call.dtype == Call::kUnused ? 0 : call.count * size_of(type);
  return text("hccl|", comm_->name(), '|', comm_->rank(), '|', comm_->size(), '|',
              call.dtype == Call::kUnused ? "N/A" : name_of(type), '|', call.count, '|', bytes, '|', number, '|', other,
              '|', ready);
}

softnpuSteps Operation::steps_of(std::unique_ptr<Operation> operation) {
  softnpuSteps steps{};
  steps.name = name_of(operation->op_);
  steps.step = [](void* state, softnpuTurn* turn, int32_t* again, char* message, size_t size) -> aclError {
    bool waits = false;
    try {
      const Status status = static_cast<Operation*>(state)->step(turn, &waits);
      *again = waits ? 1 : 0;
      return to_callback(status, message, size);
    } catch (const std::exception& e) {
      std::snprintf(message, size, "%s", e.what());
      return ACL_ERROR_INTERNAL_ERROR;
    }
  };
  steps.release = [](void* state) { const std::unique_ptr<Operation> ended(static_cast<Operation*>(state)); };
  steps.state = operation.release();
  return steps;
}

Status Operation::make_one(const std::shared_ptr<Communicator>& comm, const Make& make,
                           std::unique_ptr<Operation>* out) {
  Status status = make(comm, out);
  if (!status.is_ok()) comm->fail(status);  // the other ranks wait for it
  return status;
}

Status Operation::launch(const std::shared_ptr<Communicator>& comm, Operator op, aclrtStream stream,
                         std::span<const softnpuRange> written, const Make& make) {
  aclmdlRICaptureStatus captured = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
  aclmdlRI model = nullptr;
  SOFTNPU_RETURN_IF_ERROR(from_acl([&] { return aclmdlRICaptureGetInfo(stream, &captured, &model); }));
  if (captured != ACL_MODEL_RI_CAPTURE_STATUS_NONE) return capture(comm, op, stream, written, make);
  std::lock_guard order(comm->order());
  std::unique_ptr<Operation> operation;
  SOFTNPU_RETURN_IF_ERROR(make_one(comm, make, &operation));
  softnpuSteps steps = steps_of(std::move(operation));
  steps.written = written.data();
  steps.writtenCount = written.size();
  return from_acl([&] { return softnpuLaunchSteps(stream, &steps); });
}

// A call in a captured graph. The graph does not keep the communicator.
struct Operation::Captured {
  std::weak_ptr<Communicator> comm;
  Make make;

  Status launch(softnpuSteps* steps) const {
    const std::shared_ptr<Communicator> alive = comm.lock();
    if (alive == nullptr) {
      return {ACL_ERROR_INVALID_PARAM, "the communicator of the captured call was destroyed: capture the graph again"};
    }
    if (const Status failure = alive->failure(); !failure.is_ok()) {
      return {failure.code(), text("communicator ", alive->name(), " has failed: ", failure.message())};
    }
    std::lock_guard order(alive->order());
    std::unique_ptr<Operation> operation;
    SOFTNPU_RETURN_IF_ERROR(make_one(alive, make, &operation));
    *steps = steps_of(std::move(operation));
    return Status::ok();
  }
};

Status Operation::capture(const std::shared_ptr<Communicator>& comm, Operator op, aclrtStream stream,
                          std::span<const softnpuRange> written, const Make& make) {
  auto call = std::make_unique<Captured>(Captured{comm, make});
  softnpuCapturedSteps steps{};
  steps.name = name_of(op);
  steps.make = [](void* state, softnpuSteps* result, char* message, size_t size) -> aclError {
    try {
      return to_callback(static_cast<const Captured*>(state)->launch(result), message, size);
    } catch (const std::bad_alloc&) {
      return ACL_ERROR_BAD_ALLOC;
    }
  };
  steps.release = [](void* state) { const std::unique_ptr<Captured> ended(static_cast<Captured*>(state)); };
  steps.state = call.get();
  steps.written = written.data();
  steps.writtenCount = written.size();
  int32_t is_captured = 0;
  SOFTNPU_RETURN_IF_ERROR(from_acl([&] { return softnpuCaptureSteps(stream, &steps, &is_captured); }));
  if (is_captured == 0) {
    return {ACL_ERROR_RT_STREAM_NOT_CAPTURED, text(name_of(op), ": the capture of its stream ended meanwhile")};
  }
  (void)call.release();  // the capture owns it
  return Status::ok();
}

}  // namespace softnpu::ccl
