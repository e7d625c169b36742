// How a collective gets its stream, its order and its Work.

#include <c10/core/DeviceGuard.h>
#include <c10/core/StreamGuard.h>
#include <c10/util/Exception.h>

#include <memory>
#include <utility>

#include "core/acl.h"
#include "core/device.h"
#include "core/stream.h"
#include "distributed/process_group.h"
#include "distributed/profiled_call.h"

namespace torch_npu {
namespace {

std::shared_ptr<c10::Event> record_event(c10::Stream stream) {
  auto event = std::make_shared<c10::Event>(c10::DeviceType::PrivateUse1);
  event->record(stream);
  return event;
}

std::string sizes_of(const std::vector<at::Tensor>& tensors) {
  if (tensors.empty()) return "no tensors";
  std::string text = c10::str(tensors.front().scalar_type(), tensors.front().sizes());
  if (tensors.size() > 1) text += c10::str(" and ", tensors.size() - 1, " more");
  return text;
}

}  // namespace

std::chrono::milliseconds ProcessGroupHCCL::timeout_of(std::chrono::milliseconds asked) const {
  return asked == c10d::kUnsetTimeout || asked == kNoTimeout ? options_->operation_timeout() : asked;
}

std::string ProcessGroupHCCL::describe(const Call& call, const Tensors& inputs, const Tensors& outputs) const {
  return c10::str("WorkHCCL(SeqNum=", sequence_.load(), ", OpType=", c10d::opTypeToString(call.op), ", ", call.name,
                  " of ", sizes_of(inputs.empty() ? outputs : inputs), call.peers, ", rank ", rank_, " of ", size_,
                  " in group '", pg_uid_, "')");
}

ProcessGroupHCCL::WorkPtr ProcessGroupHCCL::run(const Call& call, Tensors inputs, Tensors outputs,
                                                c10::function_ref<void(const Channel&)> enqueue) {
  const at::Tensor& first = inputs.empty() ? outputs.front() : inputs.front();
  const c10::DeviceIndex device = first.device().index();
  return run_on(device, call, std::move(inputs), std::move(outputs), enqueue);
}

ProcessGroupHCCL::WorkPtr ProcessGroupHCCL::run_on(c10::DeviceIndex device, const Call& call, Tensors inputs,
                                                   Tensors outputs, c10::function_ref<void(const Channel&)> enqueue) {
  check_usable();
  const ProfiledCall profiled(call.name, inputs);
  const c10::DeviceGuard device_guard(npu_device(device));
  const std::shared_ptr<Communicator> communicator = this->communicator(device);
  const c10::Stream caller = current_stream(device);
  // A batch is waited for as one.
  const c10::Stream stream = call.is_async || is_coalescing_ ? stream_of(device) : caller;
  if (stream != caller) record_event(caller)->block(stream);
  {
    const c10::StreamGuard stream_guard(stream);
    enqueue({*communicator, stream});
  }
  return finish(call, {{stream, record_event(stream)}}, std::move(inputs), std::move(outputs));
}

ProcessGroupHCCL::WorkPtr ProcessGroupHCCL::finish(const Call& call, std::vector<FlightEnd> ends, Tensors inputs,
                                                   Tensors outputs) {
  sequence_.fetch_add(1, std::memory_order_relaxed);
  auto flight = std::make_shared<Flight>(call.op, sequence_.load(), describe(call, inputs, outputs), call.timeout,
                                         std::move(ends));
  watchdog_->watch(flight);
  if (is_coalescing_) {
    std::lock_guard lock(mutex_);
    coalesced_ends_.insert(coalesced_ends_.end(), flight->ends.begin(), flight->ends.end());
    for (const Tensors* tensors : {&inputs, &outputs}) {
      coalesced_tensors_.insert(coalesced_tensors_.end(), tensors->begin(), tensors->end());
    }
  }
  // On the caller's stream nothing outlives the call.
  const bool is_own_stream = flight->ends.front().stream != current_stream(flight->ends.front().stream.device_index());
  if (!is_own_stream) inputs.clear();
  // A Work may outlive its group.
  c10::weak_intrusive_ptr<ProcessGroupHCCL> group(
      c10::intrusive_ptr<ProcessGroupHCCL>::unsafe_reclaim_from_nonowning(this));
  WorkHCCL::Settings settings{
      .rank = rank_,
      .blocks_host = settings_.blocking_wait,
      .on_timeout =
          [group](const std::string& failure) {
            if (const auto alive = group.lock()) alive->on_failure(failure);
          },
  };
  return c10::make_intrusive<WorkHCCL>(std::move(flight), std::move(inputs), std::move(outputs), std::move(settings));
}

}  // namespace torch_npu
