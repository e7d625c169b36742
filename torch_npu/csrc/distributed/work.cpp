#include "distributed/work.h"

#include <ATen/core/ivalue.h>
#include <c10/core/StreamGuard.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "core/allocator/caching_allocator.h"
#include "core/stream.h"
#include "core/wait.h"

namespace torch_npu {
namespace {

c10::DeviceIndex device_of(const Flight& flight) { return flight.ends.front().stream.device_index(); }

}  // namespace

WorkHCCL::WorkHCCL(std::shared_ptr<Flight> flight, std::vector<at::Tensor> inputs, std::vector<at::Tensor> outputs,
                   Settings settings)
    : Work(settings.rank, flight->op),
      flight_(std::move(flight)),
      kept_(std::move(inputs)),
      outputs_(std::move(outputs)),
      settings_(std::move(settings)) {
  kept_.insert(kept_.end(), outputs_.begin(), outputs_.end());
}

WorkHCCL::~WorkHCCL() {
  if (kept_.empty() || flight_->is_over()) return;
  try {
    for (const at::Tensor& tensor : kept_) {
      for (const FlightEnd& end : flight_->ends) {
        caching_allocator().recordStream(tensor.storage().data_ptr(), end.stream);
      }
    }
  } catch (const std::exception& error) {
    TORCH_WARN("memory of ", flight_->text, " may be reused too early: ", error.what());
  }
}

void WorkHCCL::rethrow() const {
  if (const std::exception_ptr error = flight_->error()) std::rethrow_exception(error);
}

void WorkHCCL::synchronize() {
  rethrow();
  const c10::Stream current = current_stream(device_of(*flight_));
  for (const FlightEnd& end : flight_->ends) {
    if (end.stream != current) end.event->block(current);
  }
  kept_.clear();
}

bool WorkHCCL::wait(std::chrono::milliseconds timeout) {
  if (settings_.blocks_host || timeout != kNoTimeout) {
    wait_on_host(timeout == kNoTimeout ? flight_->timeout : timeout);
  }
  synchronize();
  if (flight_->op == c10d::OpType::BARRIER) {
    wait_for_stream(current_stream(device_of(*flight_)));
    rethrow();
  }
  return true;
}

void WorkHCCL::wait_on_host(std::chrono::milliseconds timeout) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  while (!flight_->is_over()) {
    const auto waited = Clock::now() - start;
    if (waited > timeout) {
      flight_->fail(flight_->overdue_message());
      settings_.on_timeout(flight_->overdue_message());
      break;
    }
    constexpr Clock::duration kLongest = std::chrono::milliseconds(1);
    std::this_thread::sleep_for(std::clamp<Clock::duration>(waited / 16, std::chrono::microseconds(5), kLongest));
  }
  rethrow();
}

void WorkHCCL::abort() { settings_.on_timeout(c10::str(flight_->text, " was aborted")); }

c10::intrusive_ptr<c10::ivalue::Future> WorkHCCL::getFuture() {
  if (future_ != nullptr) return future_;
  const FlightEnd& first = flight_->ends.front();
  future_ = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()),
                                                     std::vector<c10::Device>{first.stream.device()});
  // It is complete at once: its users' streams wait for the stream that is current here.
  const c10::StreamGuard guard(first.stream);
  for (const FlightEnd& end : flight_->ends) {
    if (end.stream != first.stream) end.event->block(first.stream);
  }
  future_->markCompleted(c10::IValue(outputs_));
  return future_;
}

}  // namespace torch_npu
