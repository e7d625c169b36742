#pragma once
// The handle of a collective that the program gets. Its wait() makes the current stream wait, not the host.

#include <c10/core/Stream.h>

#include <torch/csrc/distributed/c10d/Work.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "distributed/flight.h"

namespace torch_npu {

class WorkHCCL final : public c10d::Work {
 public:
  struct Settings {
    int rank;
    bool blocks_host;                                    // each wait() does
    std::function<void(const std::string&)> on_timeout;  // of a wait of the host: aborts what is in flight
  };

  // `inputs` and `outputs` stay alive until wait(); without it, until the device has finished.
  WorkHCCL(std::shared_ptr<Flight> flight, std::vector<at::Tensor> inputs, std::vector<at::Tensor> outputs,
           Settings settings);
  ~WorkHCCL() override;

  bool isCompleted() override { return flight_->is_over(); }
  bool isSuccess() const override { return flight_->error() == nullptr && flight_->is_over(); }
  std::exception_ptr exception() const override { return flight_->error(); }
  std::vector<at::Tensor> result() override { return outputs_; }
  uint64_t getSequencenumber() const override { return flight_->sequence; }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override;

  // A time-out makes the host wait until the end, at most so long.
  bool wait(std::chrono::milliseconds timeout) override;
  // The current stream waits.
  void synchronize() override;
  void abort() override;

 private:
  void wait_on_host(std::chrono::milliseconds timeout);
  void rethrow() const;

  std::shared_ptr<Flight> flight_;
  std::vector<at::Tensor> kept_;  // until wait()
  std::vector<at::Tensor> outputs_;
  Settings settings_;
  c10::intrusive_ptr<c10::ivalue::Future> future_;
};

}  // namespace torch_npu
