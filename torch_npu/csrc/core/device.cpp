#include "core/device.h"

#include <c10/core/AutogradState.h>
#include <c10/util/Exception.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>

#include "core/acl.h"
#include "core/configuration.h"
#include "core/overflow.h"
#include "core/program_lines.h"
#include "core/stream.h"
#include "core/task_queue.h"
#include "core/wait.h"

namespace torch_npu {
namespace {

struct DeviceState {
  std::atomic<bool> ready{false};
  std::atomic<bool> was_reset{false};
  char* base = nullptr;  // written once before `ready`
  std::size_t size = 0;
  std::ptrdiff_t kernel_offset = 0;
};

struct RuntimeState {
  std::mutex mutex;  // guards the start of the runtime and of each device
  std::atomic<bool> initialized{false};
  std::atomic<bool> bad_fork{false};
  std::array<DeviceState, kMaxDevices> devices;
};

// What aclInit gets.
struct Configuration {
  std::string file;   // empty: none
  std::string error;  // why the file cannot be used
};

// Written at import, before the runtime starts.
Configuration& configuration() {
  static auto& instance = *std::make_unique<Configuration>().release();  // used until the end of the process
  return instance;
}

// Constant-initialised and never destroyed: used until the end of the process.
RuntimeState& state() {
  static constinit RuntimeState instance;
  static_assert(std::is_trivially_destructible_v<RuntimeState>);
  return instance;
}

struct CountResult {
  c10::DeviceIndex count = 0;
  std::string error;
};

// The result of count_result(); 0 before.
std::atomic<c10::DeviceIndex> known_count{0};

const CountResult& count_result() {
  static const CountResult result = [] {
    CountResult r;
    uint32_t count = 0;
    if (aclrtGetDeviceCount(&count) != ACL_SUCCESS) {
      const char* message = aclGetRecentErrMsg();
      r.error = message == nullptr ? "aclrtGetDeviceCount failed" : message;
    } else {
      r.count = static_cast<c10::DeviceIndex>(std::min<uint32_t>(count, kMaxDevices));
      if (count == 0) r.error = "the runtime reports 0 devices (SOFTNPU_DEVICE_COUNT, ASCEND_RT_VISIBLE_DEVICES)";
    }
    known_count.store(r.count, std::memory_order_relaxed);
    return r;
  }();
  return result;
}

thread_local c10::DeviceIndex current = 0;
thread_local c10::DeviceIndex bound = -1;  // the device that the runtime has bound to this thread

void start_runtime() {
  auto& s = state();
  if (s.initialized.load(std::memory_order_acquire)) return;
  std::lock_guard lock(s.mutex);
  if (s.initialized) return;
  TORCH_CHECK(configuration().error.empty(), configuration().error);
  const std::string& file = configuration().file;
  aclError code = aclInit(file.empty() ? nullptr : file.c_str());
  if (code != ACL_ERROR_REPEAT_INITIALIZE) acl_check(code, "aclInit");
  pthread_atfork(nullptr, nullptr, [] { state().bad_fork = true; });
  using OnResetFn = aclError (*)(void (*)(int32_t));
  if (auto on_reset = reinterpret_cast<OnResetFn>(bound_symbol("softnpuOnDeviceReset")); on_reset != nullptr) {
    auto remember = [](int32_t device) {
      DeviceState& d = state().devices[static_cast<std::size_t>(device)];
      if (d.ready) d.was_reset = true;
    };
    acl_check(on_reset(remember), "softnpuOnDeviceReset");
  }
  s.initialized.store(true, std::memory_order_release);
}

// Runs backward passes on the calling thread, as on the CPU: the host computes in both cases, and the hand-over to
// autograd's device thread costs more than a small pass. That thread might also own Python objects when the interpreter
// ends, which aborts the process. Users can revert it per thread (torch.autograd.set_multithreading_enabled).
void run_backward_on_this_thread() {
  static thread_local const bool done = [] {
    if (is_host_addressable()) c10::AutogradState::get_tls_state().set_multithreading_enabled(false);
    return true;
  }();
  (void)done;
}

void set_up(c10::DeviceIndex device) {
  DeviceState& d = state().devices[static_cast<std::size_t>(device)];
  std::lock_guard lock(state().mutex);
  if (d.ready) return;
  using OffsetFn = aclError (*)(int32_t, std::ptrdiff_t*);
  using RangeFn = aclError (*)(int32_t, void**, std::size_t*);
  auto offset = reinterpret_cast<OffsetFn>(bound_symbol("softnpuKernelOffset"));
  auto range = reinterpret_cast<RangeFn>(bound_symbol("softnpuDeviceRange"));
  if (offset != nullptr && range != nullptr) {
    void* base = nullptr;
    acl_check(offset(device, &d.kernel_offset), "softnpuKernelOffset");
    acl_check(range(device, &base, &d.size), "softnpuDeviceRange");
    d.base = static_cast<char*>(base);
  }
  apply_overflow_check();
  d.ready.store(true, std::memory_order_release);
}

}  // namespace

c10::DeviceIndex device_count() noexcept { return count_result().count; }
const char* device_count_error() noexcept { return count_result().error.c_str(); }

c10::DeviceIndex current_device() noexcept { return current; }

c10::DeviceIndex checked_device(c10::DeviceIndex device) {
  if (device == -1) device = current_device();
  if (C10_LIKELY(device >= 0 && device < known_count.load(std::memory_order_relaxed))) return device;
  TORCH_CHECK(device >= 0 && device < device_count(), "Invalid NPU device index npu:", static_cast<int>(device), ": ",
              device_count() == 0 ? c10::str("there is no device: ", device_count_error())
                                  : c10::str("the valid indices are 0 to ", device_count() - 1),
              error_tail("ERR00001", "PTA invalid parameter"));
  return device;
}

void throw_mixed_devices(c10::Device first, c10::Device second, const std::string& op) {
  TORCH_CHECK(false, "Expected all tensors to be on the same device, but found at least two devices, ", first, " and ",
              second, "!", op.empty() ? "" : c10::str(" (when checking the arguments of ", op, ")"));
}

void set_device(c10::DeviceIndex device) {
  device = checked_device(device);
  bind_device(device);
  current = device;
}

void set_device_lazily(c10::DeviceIndex device) noexcept { current = device; }

void check_not_reset(c10::DeviceIndex device) {
  const DeviceState& d = state().devices[static_cast<std::size_t>(device)];
  TORCH_CHECK(!d.was_reset.load(std::memory_order_relaxed), npu_device(device),
              " was reset by aclrtResetDevice while PyTorch used it: its tensors, streams and events are gone. Restart "
              "the process to use the device again",
              error_tail("ERR00009", "PTA resource unavailable"));
}

void bind_device(c10::DeviceIndex device) {
  if (C10_LIKELY(bound == device && !in_bad_fork())) return check_not_reset(device);
  TORCH_CHECK(!in_bad_fork(),
              "Cannot re-initialize NPU in forked subprocess. To use NPU with multiprocessing, you must use the "
              "'spawn' start method");
  device = checked_device(device);
  check_not_reset(device);
  start_runtime();
  acl_check(aclrtSetDevice(device), "aclrtSetDevice");
  if (!is_device_initialized(device)) set_up(device);
  run_backward_on_this_thread();
  bound = device;
}

void set_configuration(const std::string& file, const std::string& error) { configuration() = {file, error}; }

bool is_initialized() noexcept { return state().initialized.load(std::memory_order_acquire); }

bool is_device_initialized(c10::DeviceIndex device) noexcept {
  return device >= 0 && device < kMaxDevices &&
         state().devices[static_cast<std::size_t>(device)].ready.load(std::memory_order_acquire);
}

bool in_bad_fork() noexcept { return state().bad_fork.load(std::memory_order_relaxed); }

void synchronize_device(c10::DeviceIndex device) {
  bind_device(device);
  check_launches(device);
  wait_for_device(device);
}

void wait_for_device(c10::DeviceIndex device) {
  count_synchronization();
  const program_lines::Waiting waiting;
  drain_launches(device);
  acl_check(aclrtSynchronizeDeviceWithTimeout(device_wait_limit()), "aclrtSynchronizeDevice");
}

void wait_for_all_work(c10::DeviceIndex device) {
  bind_device(device);
  check_launches(device);
  count_synchronization();
  const program_lines::Waiting waiting;
  wait_interruptibly("aclrtSynchronizeDevice", device_wait_limit(),
                     [](int32_t ms) { return aclrtSynchronizeDeviceWithTimeout(ms); });
}

bool is_host_addressable() noexcept {
  static const bool value = bound_symbol("softnpuKernelOffset") != nullptr;
  return value;
}

std::ptrdiff_t kernel_offset(c10::DeviceIndex device) noexcept {
  return state().devices[static_cast<std::size_t>(device)].kernel_offset;
}

std::pair<const void*, std::size_t> device_range(c10::DeviceIndex device) noexcept {
  const DeviceState& d = state().devices[static_cast<std::size_t>(device)];
  return {d.base, d.size};
}

namespace {

c10::DeviceIndex find_device(const void* p, bool kernel_view) noexcept {
  const auto* address = static_cast<const char*>(p);
  for (c10::DeviceIndex i = 0; i < kMaxDevices; ++i) {
    const DeviceState& d = state().devices[static_cast<std::size_t>(i)];
    if (!d.ready.load(std::memory_order_acquire)) continue;
    const char* base = d.base + (kernel_view ? d.kernel_offset : 0);
    if (address >= base && address < base + d.size) return i;
  }
  return -1;
}

}  // namespace

c10::DeviceIndex device_of_kernel_address(const void* p) noexcept { return find_device(p, true); }
c10::DeviceIndex device_of_address(const void* p) noexcept { return find_device(p, false); }

void shutdown() noexcept {
  if (!is_initialized() || in_bad_fork()) return;
  for (c10::DeviceIndex i = 0; i < kMaxDevices; ++i) {
    if (!is_device_initialized(i) || state().devices[static_cast<std::size_t>(i)].was_reset) continue;
    drain_launches(i);
    if (aclrtSetDevice(i) == ACL_SUCCESS && aclrtSynchronizeDevice() != ACL_SUCCESS) keep_final_failure();
  }
  bound = -1;
}

}  // namespace torch_npu
