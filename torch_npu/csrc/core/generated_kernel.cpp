#include "core/generated_kernel.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <softnpu/launch.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <memory>
#include <string_view>
#include <utility>

#include "core/acl.h"
#include "core/device.h"
#include "core/format.h"
#include "core/route_stats.h"
#include "core/stream.h"
#include "core/trace.h"

namespace torch_npu {
namespace {

// In units of softnpu's Plan::work (softnpu/base/work.h): below the first one thread and no hand-over; below the
// second, a millisecond, no hand-over while the executor is idle.
constexpr double kSmallWork = 1 << 22;
constexpr double kShortWork = 1 << 25;
constexpr double kWorkOfAccess = 8;  // reading or writing an element

std::atomic<uint64_t> kernel_launches{0};

// The most threads of the regions of the kernel that this thread runs.
thread_local unsigned most_threads = 1;

// The part of OpenMP's ABI that softnpu's workers export.
struct Workers {
  void* library = dlopen("libsoftnpu_workers.so", RTLD_NOW | RTLD_NOLOAD);
  template <typename F>
  F find(const char* name) const {
    return library == nullptr ? nullptr : reinterpret_cast<F>(dlsym(library, name));
  }
  using Start = void (*)(void (*)(void*), void*, unsigned);
  Start start = find<Start>("softnpu_GOMP_parallel_start");
  void (*end)() = find<void (*)()>("softnpu_GOMP_parallel_end");
  void (*barrier)() = find<void (*)()>("softnpu_GOMP_barrier");
  int (*thread)() = find<int (*)()>("softnpu_omp_get_thread_num");
  int (*threads)() = find<int (*)()>("softnpu_omp_get_num_threads");
};

const Workers& workers() {
  static const Workers found;
  return found;
}

void parallel(void (*body)(void*), void* data, unsigned threads) {
  workers().start(body, data, std::min(threads, most_threads));
  body(data);
  workers().end();
}

// An exception's text without the place in generated code that precedes it ("kernel, FILE:LINE, text").
std::string_view readable(std::string_view text) {
  for (const std::string_view ending : {".cpp:", ".h:"}) {
    const std::size_t file = text.rfind(ending);
    const std::size_t comma = file == std::string_view::npos ? file : text.find(", ", file);
    if (comma != std::string_view::npos) text.remove_prefix(comma + 2);
  }
  return text;
}

aclError run(void* state, char* message, std::size_t size) {
  const auto& call = *static_cast<const KernelCall*>(state);
  const unsigned previous = std::exchange(most_threads, static_cast<unsigned>(call.threads));
  aclError code = ACL_SUCCESS;
  try {
    call.kernel->run(call.arguments.data());
  } catch (const std::exception& error) {
    const std::string_view text = readable(error.what());
    std::snprintf(message, size, "%.*s", static_cast<int>(text.size()), text.data());
    const bool is_index = text.find("index out of bounds") != std::string_view::npos;  // Inductor's own text
    code = is_index ? SOFTNPU_INDEX_ERROR : ACL_ERROR_RT_AICORE_EXCEPTION;
  } catch (...) {
    std::snprintf(message, size, "the generated kernel threw something that is no std::exception");
    code = ACL_ERROR_RT_AICORE_EXCEPTION;
  }
  most_threads = previous;
  return code;
}

void release(void* state) { std::unique_ptr<KernelCall>(static_cast<KernelCall*>(state)).reset(); }

}  // namespace

const KernelThreads* kernel_threads() {
  const Workers& found = workers();
  TORCH_CHECK(is_host_addressable() && found.start && found.end && found.barrier && found.thread && found.threads,
              "torch.compile generates kernels for the host's processor, which cannot read the memory of this NPU; use "
              "softnpu (TORCH_NPU_CANN=softnpu), or compile with backend=\"aot_eager\"");
  static const KernelThreads functions{parallel, found.barrier, found.thread, found.threads};
  return &functions;
}

void add_argument(KernelCall& call, const at::Tensor& tensor, bool is_written, c10::DeviceIndex device) {
  if (C10_UNLIKELY(!tensor.is_privateuseone())) {
    TORCH_CHECK(tensor.is_cpu() && !is_written, "the generated kernel ", call.kernel->name, " of ", npu_device(device),
                is_written ? " cannot write" : " cannot read", " a tensor on ", tensor.device());
    call.kept.push_back(tensor.clone());
    call.arguments.push_back({.pointer = call.kept.back().data_ptr()});
    return;
  }
  if (C10_UNLIKELY(tensor.device().index() != device)) throw_mixed_devices(npu_device(device), tensor.device());
  c10::StorageImpl& storage = *tensor.storage().unsafeGetStorageImpl();
  const std::size_t offset = static_cast<std::size_t>(tensor.storage_offset()) * tensor.itemsize();
  char* bytes = static_cast<char*>(is_written ? mutable_bytes_of(storage, BytesLayout::kPlain)
                                              : const_cast<void*>(bytes_of(storage, BytesLayout::kPlain)));
  if (is_written && storage.nbytes() > offset) call.written.push_back({bytes + offset, storage.nbytes() - offset});
  call.arguments.push_back({.pointer = bytes == nullptr ? nullptr : bytes + offset + kernel_offset(device)});
  const auto elements = static_cast<double>(tensor.numel());
  call.elements += elements;
  call.largest = std::max(call.largest, elements);
}

void launch_generated(KernelCall call, c10::Stream stream) {
  using Launch = aclError (*)(aclrtStream, const softnpuTask*);
  static const auto launch = reinterpret_cast<Launch>(bound_symbol("softnpuLaunch"));
  TORCH_CHECK(launch != nullptr, "generated kernels run on softnpu only");
  const char* name = call.kernel->name.c_str();
  const double work = call.elements * kWorkOfAccess + call.largest * call.kernel->work;
  const int32_t cost = work < kSmallWork   ? SOFTNPU_COST_SMALL
                       : work < kShortWork ? SOFTNPU_COST_SHORT
                                           : SOFTNPU_COST_LARGE;
  call.threads = cost == SOFTNPU_COST_SMALL ? 1 : at::get_num_threads();
  kernel_launches.fetch_add(1, std::memory_order_relaxed);
  route_stats::add_generated(name);
  const Enqueue enqueue(stream);
  const trace::Launch traced(name, trace::Kind::kKernel, stream);
  const std::vector<softnpuRange> written = std::move(call.written);
  // Released by softnpuLaunch, too, where it fails.
  const softnpuTask task{
      name,    cost,           run,           release, std::make_unique<KernelCall>(std::move(call)).release(),
      nullptr, written.data(), written.size()};
  acl_check(launch(enqueue.handle(), &task), "softnpuLaunch");
}

uint64_t generated_launches() noexcept { return kernel_launches.load(std::memory_order_relaxed); }

}  // namespace torch_npu
