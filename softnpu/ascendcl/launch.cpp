// The runtime functions that softnpu's other libraries use.

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "ascendcl/api.h"
#include "ascendcl/written.h"
#include "base/text.h"
#include "runtime/config.h"
#include "runtime/memory/address.h"
#include "runtime/memory/kernel_writes.h"
#include "runtime/status_from_callback.h"
#include "softnpu/kernel_writes.h"
#include "softnpu/softnpu.h"

using softnpu::api;
using softnpu::Cost;
using softnpu::CpuCapability;
using softnpu::Device;
using softnpu::Process;
using softnpu::require;
using softnpu::Status;
using softnpu::Stream;
using softnpu::WriteEpochs;

namespace {

// Owns a task's state, which may be null, and releases it once.
class LaunchState {
 public:
  explicit LaunchState(const softnpuTask& task) : run_(task.run), release_(task.release), state_(task.state) {}
  LaunchState(LaunchState&& other) noexcept
      : run_(other.run_), release_(std::exchange(other.release_, nullptr)), state_(other.state_) {}
  LaunchState& operator=(LaunchState&&) = delete;
  ~LaunchState() {
    if (release_ != nullptr) release_(state_);
  }

  Status run() const {
    return softnpu::status_from_callback([this](char* message, size_t size) { return run_(state_, message, size); });
  }

 private:
  aclError (*run_)(void* state, char* message, size_t size);
  void (*release_)(void* state);
  void* state_;
};

Cost cost_of(int32_t cost) {
  if (cost == SOFTNPU_COST_SMALL) return Cost::kSmall;
  return cost == SOFTNPU_COST_SHORT ? Cost::kShort : Cost::kLarge;
}

Status kernel_address(const void* address, size_t bytes, void** kernel) {
  SOFTNPU_RETURN_IF_ERROR(require(kernel, "kernel"));
  softnpu::Location location;
  SOFTNPU_RETURN_IF_ERROR(softnpu::resolve(Process::get(), "the address", address, bytes, &location));
  if (!location.on_device && !Process::get().host_memory().contains(address, bytes)) {
    return {ACL_ERROR_RT_PARAM_INVALID,
            softnpu::text("address ", address, " is not a device's, and no registered host memory")};
  }
  *kernel = location.kernel;
  return Status::ok();
}

}  // namespace

aclError softnpuKernelAddress(const void* address, size_t bytes, void** kernel) {
  return api("softnpuKernelAddress", [&] { return kernel_address(address, bytes, kernel); });
}

aclError softnpuProbeAddress(const void* address, size_t bytes, void** kernel) {
  return softnpu::guarded(aclError{ACL_ERROR_RT_INTERNAL_ERROR},
                          [&] { return kernel_address(address, bytes, kernel).code(); });
}

uint64_t softnpuWriteEpoch(void) { return WriteEpochs::now(); }

void softnpuBumpWriteEpoch(const void* address, size_t bytes) {
  softnpu::guarded([&] { softnpu::raise_epoch(address, bytes); });
}

void softnpuBumpPointedTo(const void* words, size_t bytes) {
  softnpu::guarded([&] { softnpu::bump_pointed_to(Process::get(), words, bytes); });
}

void softnpuBumpReachable(const void* words, size_t bytes) {
  softnpu::guarded([&] { softnpu::bump_reachable(Process::get(), words, bytes); });
}

uint64_t softnpuLastWriteEpoch(const void* address, size_t bytes) {
  return softnpu::guarded(uint64_t{WriteEpochs::kUnknown}, [&] {
    uint64_t epoch = WriteEpochs::kUnknown;
    Device* device = Process::get().device_of(address);
    return device != nullptr && device->last_write_epoch(address, bytes, &epoch) ? epoch
                                                                                 : uint64_t{WriteEpochs::kUnknown};
  });
}

aclError softnpuListenToMemory(const softnpuMemoryListener* listener) {
  return api("softnpuListenToMemory", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(listener, "listener"));
    Process::get().memory_listeners().add({listener->freed, listener->on_out_of_memory});
    return Status::ok();
  });
}

void softnpuMemoryFreed(const void* address, size_t bytes) {
  softnpu::guarded([&] {
    if (Device* device = softnpu::clip(address, &bytes); device != nullptr) {
      Process::get().release_memory(*device, address, bytes);
    }
  });
}

void* softnpuTryMallocSameDevice(const void* address, size_t bytes) {
  return softnpu::guarded(static_cast<void*>(nullptr), [&] {
    Device* device = Process::get().device_of(address);
    void* result = nullptr;
    const bool is_created = device != nullptr && bytes > 0 && device->heap().allocate(bytes, &result).is_ok();
    return is_created ? result : nullptr;
  });
}

int32_t softnpuHasRoom(const void* address) {
  return softnpu::guarded(int32_t{0}, [&] {
    Device* device = Process::get().device_of(address);
    return device != nullptr && device->heap().used() <= device->heap().capacity() / 2 ? 1 : 0;
  });
}

int32_t softnpuKeepsPackedWeights(void) {
  return softnpu::guarded(int32_t{0}, [] { return softnpu::config().pack ? 1 : 0; });
}

int32_t softnpuSplitsProducts(void) {
  return softnpu::guarded(int32_t{-1}, [] {
    switch (softnpu::config().split) {
      case softnpu::SplitMode::kNever: return 0;
      case softnpu::SplitMode::kAlways: return 1;
      case softnpu::SplitMode::kTuned: return 2;
      case softnpu::SplitMode::kByCpu: break;
    }
    return -1;
  });
}

int32_t softnpuTunes(void) {
  return softnpu::guarded(int32_t{0}, [] {
    if (!softnpu::config().tune) return 0;
    softnpu::Context* context = nullptr;
    const bool has_context = Process::get().current(&context).is_ok();
    const softnpu::SystemOptions& options = has_context ? context->options : Process::get().options();
    int64_t deterministic = 0;
    return options.get(ACL_OPT_DETERMINISTIC, &deterministic).is_ok() && deterministic == 0 ? 1 : 0;
  });
}

softnpuCpuCapability softnpuGetCpuCapability(void) {
  switch (softnpu::guarded(CpuCapability::kDefault, [] { return softnpu::config().cpu_capability; })) {
    case CpuCapability::kAvx2: return SOFTNPU_CPU_AVX2;
    case CpuCapability::kAvx512: return SOFTNPU_CPU_AVX512;
    case CpuCapability::kDefault: break;
  }
  return SOFTNPU_CPU_DEFAULT;
}

aclError softnpuLaunch(aclrtStream stream, const softnpuTask* task) {
  return api("softnpuLaunch", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(task, "task"));
    LaunchState state(*task);
    std::shared_ptr<Stream> target;
    SOFTNPU_RETURN_IF_ERROR(Process::get().stream(stream, &target));
    const softnpu::TaskTraits traits{
        softnpu::config().fuse ? task->fusible : nullptr, WriteEpochs::now(), {task->written, task->writtenCount}};
    softnpu::raise_epochs(task->written, task->writtenCount);
    return target->submit(
        task->name, cost_of(task->cost), [state = std::move(state)] { return state.run(); }, traits);
  });
}

uint64_t softnpuLaunchEpoch(void) { return softnpu::launch_epoch(); }

aclError softnpuOutputDead(aclrtStream stream, const void* address, size_t bytes) {
  return api("softnpuOutputDead", [&]() -> Status {
    if (!softnpu::config().fuse) return Status::ok();
    std::shared_ptr<Stream> target;
    SOFTNPU_RETURN_IF_ERROR(Process::get().stream(stream, &target));
    target->output_dead(address, bytes);
    return Status::ok();
  });
}

void softnpuSetRecentError(const char* function, aclError code, const char* message) {
  softnpu::record_error(function, code, message);
}
