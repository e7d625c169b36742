// Work of softnpu's other libraries that waits in between.

#include "softnpu/steps.h"

#include <memory>
#include <utility>

#include "ascendcl/api.h"
#include "ascendcl/written.h"
#include "runtime/status_from_callback.h"
#include "runtime/stream/steps.h"

using softnpu::api;
using softnpu::Process;
using softnpu::require;
using softnpu::Status;
using softnpu::Stream;

namespace {

// Owns the state, which may be null, and releases it once.
class CallbackSteps final : public softnpu::Steps {
 public:
  explicit CallbackSteps(const softnpuSteps& steps) : steps_(steps) {}
  ~CallbackSteps() override {
    if (steps_.release != nullptr) steps_.release(steps_.state);
  }

  Status step(bool* again) override {
    int32_t waits = 0;
    Status status = softnpu::status_from_callback([&](char* message, size_t size) {
      return steps_.step(steps_.state, reinterpret_cast<softnpuTurn*>(this), &waits, message, size);
    });
    *again = waits != 0;
    return status;
  }

  bool computes() const override { return steps_.computes != 0; }

 private:
  const softnpuSteps steps_;
};

}  // namespace

aclError softnpuLaunchSteps(aclrtStream stream, const softnpuSteps* steps) {
  return api("softnpuLaunchSteps", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(steps, "steps"));
    auto owned = std::make_shared<CallbackSteps>(*steps);
    std::shared_ptr<Stream> target;
    SOFTNPU_RETURN_IF_ERROR(Process::get().stream(stream, &target));
    softnpu::raise_epochs(steps->written, steps->writtenCount);
    return target->submit_steps(steps->name, std::move(owned));
  });
}

void softnpuResume(softnpuTurn* turn) {
  softnpu::guarded([&] { reinterpret_cast<CallbackSteps*>(turn)->resume(); });
}
