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

// Owns the state of softnpuCapturedSteps from keep() on.
class StepsTemplate {
 public:
  explicit StepsTemplate(const softnpuCapturedSteps& steps) : steps_(steps) {}
  StepsTemplate(const StepsTemplate&) = delete;
  StepsTemplate& operator=(const StepsTemplate&) = delete;
  ~StepsTemplate() {
    if (is_owner_ && steps_.release != nullptr) steps_.release(steps_.state);
  }

  void keep() { is_owner_ = true; }

  Status make(std::shared_ptr<softnpu::Steps>* out) const {
    softnpuSteps result{};
    SOFTNPU_RETURN_IF_ERROR(softnpu::status_from_callback(
        [&](char* message, size_t size) { return steps_.make(steps_.state, &result, message, size); }));
    *out = std::make_shared<CallbackSteps>(result);
    return Status::ok();
  }

 private:
  const softnpuCapturedSteps steps_;
  bool is_owner_ = false;
};

}  // namespace

aclError softnpuCaptureSteps(aclrtStream stream, const softnpuCapturedSteps* steps, int32_t* isCaptured) {
  return api("softnpuCaptureSteps", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(steps, "steps"));
    SOFTNPU_RETURN_IF_ERROR(require(isCaptured, "isCaptured"));
    std::shared_ptr<Stream> target;
    SOFTNPU_RETURN_IF_ERROR(Process::get().stream(stream, &target));
    auto kept = std::make_shared<StepsTemplate>(*steps);
    bool is_captured = false;
    const auto make = [kept](std::shared_ptr<softnpu::Steps>* out) { return kept->make(out); };
    SOFTNPU_RETURN_IF_ERROR(
        target->capture_steps(steps->name, make, {steps->written, steps->writtenCount}, &is_captured));
    *isCaptured = is_captured ? 1 : 0;
    if (is_captured) kept->keep();
    return Status::ok();
  });
}

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
