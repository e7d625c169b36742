// Launches as work of streams.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "acl/acl_mdl.h"
#include "acl/acl_rt.h"
#include "ascendc/launch/launch.h"
#include "ascendc/launch/trap.h"
#include "ascendc/sanitizer/run.h"
#include "base/border.h"
#include "base/no_destroy.h"
#include "base/spin.h"
#include "base/threads.h"
#include "softnpu/kernel_writes.h"
#include "softnpu/softnpu.h"
#include "softnpu/steps.h"
#include "softnpu_kernel/launch.h"

namespace softnpu::kernel {
namespace {

// The launches that run, to be stopped when their device is reset.
class Running {
 public:
  static Running& get() {
    static NoDestroy<Running> running;
    return running.get();
  }
  void add(const std::shared_ptr<Launch>& launch) {
    std::lock_guard lock(mutex_);
    launches_.push_back(launch);
  }
  void remove(const Launch* launch) {
    std::lock_guard lock(mutex_);
    std::erase_if(launches_, [launch](const auto& other) { return other.get() == launch; });
  }
  void stop(int32_t device) {
    std::vector<std::shared_ptr<Launch>> stopped;
    {
      std::lock_guard lock(mutex_);
      std::ranges::copy_if(launches_, std::back_inserter(stopped),
                           [device](const auto& launch) { return launch->device() == device; });
    }
    for (const auto& launch : stopped) launch->stop();
  }

 private:
  std::mutex mutex_;  // guards launches_
  std::vector<std::shared_ptr<Launch>> launches_;
};

// A launch in its stream.
class LaunchSteps {
 public:
  explicit LaunchSteps(std::shared_ptr<Launch> launch) : launch_(std::move(launch)) {}
  LaunchSteps(const LaunchSteps&) = delete;
  LaunchSteps& operator=(const LaunchSteps&) = delete;
  ~LaunchSteps() {
    if (!has_begun_) return;
    launch_->forget_turn();
    if (!launch_->has_ended()) launch_->stop();  // dropped with its stream's work
    Running::get().remove(launch_.get());
  }

  aclError step(softnpuTurn* turn, int32_t* again, char* message, size_t size) {
    // Parking a stream takes as long as short kernels do.
    constexpr std::chrono::microseconds kShort(50);
    if (!has_begun_) {
      has_begun_ = true;
      Running::get().add(launch_);
      softnpuBumpReachable(launch_->arguments().data(), launch_->arguments().size());
      launch_->start(turn);
    }
    if (!spin_until([this] { return launch_->has_ended(); }, kShort)) {
      *again = 1;
      return ACL_SUCCESS;
    }
    const std::string& failure = launch_->failure();
    if (failure.empty()) return ACL_SUCCESS;
    const size_t length = std::min(failure.size(), size - 1);
    std::memcpy(message, failure.data(), length);
    message[length] = '\0';
    return ACL_ERROR_RT_AICORE_EXCEPTION;
  }

 private:
  const std::shared_ptr<Launch> launch_;
  bool has_begun_ = false;
};

// Once, before the first launch.
bool prepare() {
  static const bool is_ready =
      install_trap() && softnpuOnDeviceReset([](int32_t device) { Running::get().stop(device); }) == ACL_SUCCESS;
  return is_ready;
}

aclError refuse(const char* sentence) {
  record_error("softnpuKernelEnqueue", ACL_ERROR_INVALID_PARAM, sentence);
  return ACL_ERROR_INVALID_PARAM;
}

aclError refuse_version(const softnpuKernel* kernel, const char* version) {
  char sentence[512];
  std::snprintf(
      sentence, sizeof sentence,
      "kernel %.256s was compiled with version %s of softnpu's kernel library, this is version %d: compile it "
      "again",
      kernel == nullptr || kernel->name == nullptr ? "?" : kernel->name, version,
      static_cast<int>(SOFTNPU_KERNEL_ENTRY_VERSION));
  return refuse(sentence);
}

// A call of a kernel.
struct Call {
  softnpuKernel kernel;
  uint32_t blocks;
  int32_t device;
  std::vector<unsigned char> arguments;

  // As a stream's steps, which own the launch.
  softnpuSteps launch() const {
    auto launch =
        std::make_shared<Launch>(kernel, blocks, softnpu::most_threads(), device, arguments.data(), arguments.size());
    auto owned = std::make_unique<LaunchSteps>(std::move(launch));
    softnpuSteps steps{};
    steps.name = kernel.name;
    steps.step = [](void* state, softnpuTurn* turn, int32_t* again, char* message, size_t size) {
      try {
        return static_cast<LaunchSteps*>(state)->step(turn, again, message, size);
      } catch (const std::bad_alloc&) {
        return aclError{ACL_ERROR_BAD_ALLOC};
      }
    };
    steps.release = [](void* state) { const std::unique_ptr<LaunchSteps> ended(static_cast<LaunchSteps*>(state)); };
    steps.state = owned.release();
    steps.computes = 1;
    softnpuBumpPointedTo(arguments.data(), arguments.size());
    return steps;
  }
};

aclError capture(const Call& call, aclrtStream stream) {
  auto owned = std::make_unique<Call>(call);
  softnpuCapturedSteps steps{};
  steps.name = call.kernel.name;
  steps.make = [](void* state, softnpuSteps* result, char*, size_t) -> aclError {
    try {
      *result = static_cast<const Call*>(state)->launch();
      return ACL_SUCCESS;
    } catch (const std::bad_alloc&) {
      return ACL_ERROR_BAD_ALLOC;
    }
  };
  steps.release = [](void* state) { const std::unique_ptr<Call> ended(static_cast<Call*>(state)); };
  steps.state = owned.get();
  int32_t is_captured = 0;
  const aclError error = softnpuCaptureSteps(stream, &steps, &is_captured);
  if (error != ACL_SUCCESS) return error;
  if (is_captured == 0) return refuse("the capture of the stream ended meanwhile");
  (void)owned.release();  // the capture owns it
  return ACL_SUCCESS;
}

}  // namespace
}  // namespace softnpu::kernel

int softnpuKernelEnqueue(uint32_t version, const softnpuKernel* kernel, uint32_t blocks, void* stream,
                         const void* arguments, size_t bytes) {
  using namespace softnpu::kernel;
  if (version != SOFTNPU_KERNEL_ENTRY_VERSION) {
    char text[16];
    std::snprintf(text, sizeof text, "%u", version);
    return refuse_version(kernel, text);
  }
  if (kernel == nullptr || kernel->run == nullptr) return refuse("the kernel is null");
  if (const char* error = check::settings_error()) return refuse(error);
  if (blocks == 0) return refuse("a kernel is launched with 0 blocks: at least 1 is needed");
  // Each has up to three cores, and signals between cores have numbers of their own.
  constexpr uint32_t kMostBlocks = uint32_t{1} << 28;
  if (blocks > kMostBlocks) return refuse("a kernel is launched with more than 268,435,456 blocks");
  int32_t device = 0;
  if (const aclError error = aclrtGetDevice(&device); error != ACL_SUCCESS) return error;
  try {
    if (!prepare()) return refuse("the handlers for faults of kernels cannot be installed");
    aclmdlRICaptureStatus captured = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    aclmdlRI model = nullptr;
    if (const aclError error = aclmdlRICaptureGetInfo(stream, &captured, &model); error != ACL_SUCCESS) return error;
    const auto* first = static_cast<const unsigned char*>(arguments);
    const Call call{*kernel, blocks, device, {first, first + bytes}};
    if (captured != ACL_MODEL_RI_CAPTURE_STATUS_NONE) return capture(call, stream);
    softnpuSteps steps = call.launch();
    return softnpuLaunchSteps(stream, &steps);
  } catch (const std::bad_alloc&) {
    softnpu::record_error("softnpuKernelEnqueue", ACL_ERROR_BAD_ALLOC, "out of host memory");
    return ACL_ERROR_BAD_ALLOC;
  }
}

// What kernels of versions 1 and 2 call, which say no version.
extern "C" __attribute__((visibility("default"))) int softnpuKernelLaunch(const softnpuKernel* kernel, uint32_t, void*,
                                                                          const void*, size_t) {
  return softnpu::kernel::refuse_version(kernel, "1 or 2");
}

namespace softnpu::kernel {

void* device_pointer(void* address) {
  const Block* block = current_block();
  if (address == nullptr || block == nullptr || block->launch == nullptr) return address;
  static const bool is_protected = [device = block->launch->device()] {
    ptrdiff_t offset = 0;
    return softnpuKernelOffset(device, &offset) == ACL_SUCCESS && offset != 0;
  }();
  if (!is_protected) return address;
  void* kernel = nullptr;
  // What is no device address is the host's, or memory that the kernel's access will report.
  return softnpuProbeAddress(address, 1, &kernel) == ACL_SUCCESS ? kernel : address;
}

}  // namespace softnpu::kernel
