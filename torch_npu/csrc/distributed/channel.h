#pragma once
// Where the body of a collective puts its calls: a communicator and a stream.

#include <c10/core/Stream.h>

#include "core/stream.h"
#include "core/trace.h"
#include "distributed/communicator.h"
#include "distributed/hccl.h"

namespace torch_npu {

struct Channel {
  Communicator& communicator;
  c10::Stream stream;

  // Calls `function` with communicator and stream after `args`.
  template <typename Function, typename... Args>
  void call(const HcclCollective<Function>& function, Args... args) const {
    const Enqueue enqueue(stream);
    const trace::Launch launch(function.name(), trace::Kind::kKernel, stream);
    function(args..., communicator.handle(), enqueue.handle());
  }
};

}  // namespace torch_npu
