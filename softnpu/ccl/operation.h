#pragma once
// What a call does on its stream: steps that park the stream while it waits for other ranks.

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <span>

#include "acl/acl_base.h"
#include "base/status.h"
#include "ccl/communicator.h"
#include "ccl/watcher.h"
#include "softnpu/steps.h"

namespace softnpu::ccl {

class Operation : public Waiting {
 public:
  Operation(std::shared_ptr<Communicator> comm, Operator op) : comm_(std::move(comm)), op_(op) {}
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  // An operation that was dropped before its end makes the communicator fail: the other ranks wait for it.
  ~Operation() override;

  // Makes an operation of the communicator for one launch; comm->order() is held.
  using Make = std::function<Status(const std::shared_ptr<Communicator>&, std::unique_ptr<Operation>*)>;

  // Gives what `make` makes to `stream`; it writes `written`. If the stream is captured, each replay makes its own.
  static Status launch(const std::shared_ptr<Communicator>& comm, Operator op, aclrtStream stream,
                       std::span<const softnpuRange> written, const Make& make);

 protected:
  Communicator& comm() const { return *comm_; }
  Operator op() const { return op_; }

  // Goes on until the end (`*done`) or until is_ready() is false. An error is the operation's.
  virtual Status proceed(bool* done) = 0;
  // Whether proceed() can go on. Any thread, while the stream is parked; does not change until other ranks do.
  virtual bool is_ready() const noexcept = 0;
  // Whether a rank that it waits for is gone, so that is_ready() will stay false.
  virtual bool is_hopeless() const noexcept = 0;
  // Why it waits no longer, where it is_hopeless(), or where `is_late`.
  virtual Status explain(bool is_late) const = 0;

  // "HcclAllReduce(count 4, FP32, sum), collective 7 of communicator x".
  virtual std::string describe() const = 0;
  // What profilers show of it after its end, as softnpuTraceDetail takes it.
  virtual std::string trace_detail() const = 0;
  std::string trace_detail_of(const Call& call, uint64_t number, int64_t other, int64_t ready) const;

 private:
  // Waiting.
  void request_wakeup() noexcept override;
  bool is_over() noexcept override;
  Clock::time_point deadline() const noexcept override { return deadline_; }

  struct Captured;
  static Status make_one(const std::shared_ptr<Communicator>& comm, const Make& make, std::unique_ptr<Operation>* out);
  // The operation as a stream's steps, which own it.
  static softnpuSteps steps_of(std::unique_ptr<Operation> operation);
  static Status capture(const std::shared_ptr<Communicator>& comm, Operator op, aclrtStream stream,
                        std::span<const softnpuRange> written, const Make& make);
  Status step(softnpuTurn* turn, bool* again);
  // Why it waits no longer for the ranks to meet.
  Status late_to_connect() const;

  const std::shared_ptr<Communicator> comm_;
  const Operator op_;
  // The following are written by the stream's steps; the watcher reads them while the stream is parked.
  Clock::time_point deadline_ = Clock::time_point::max();
  bool has_begun_ = false;
  bool has_ended_ = false;
  bool was_parked_ = false;
  bool waits_to_connect_ = false;  // for the ranks to meet
};

}  // namespace softnpu::ccl
