#include "core/aclnn.h"

#include <c10/util/Exception.h>
#include <dlfcn.h>

#include <atomic>
#include <string>

#include "core/acl.h"
#include "core/allocator/caching_allocator.h"
#include "core/allocator/settings.h"
#include "core/bound_library.h"
#include "core/stream.h"
#include "core/task_queue.h"
#include "core/trace.h"

namespace torch_npu {
namespace {

std::atomic<uint64_t> launches{0};
std::atomic<uint64_t> refusals{0};

// Codes for unsupported arguments: 161001 to 161999.
constexpr aclnnStatus kRefusals = 161;

}  // namespace

void* aclnn_symbol(const char* name) {
  static void* library = bound_library("libopapi.so");
  return library == nullptr ? nullptr : dlsym(library, name);
}

void aclnn_fail(const char* name) {
  const char* message = aclGetRecentErrMsg();
  TORCH_CHECK(false, message != nullptr ? message : c10::str(name, " failed"),
              error_tail("ERR01100", "OPS call acl api failed"));
}

void check_aclnn(aclnnStatus status, const char* name) {
  if (C10_UNLIKELY(status != ACLNN_SUCCESS)) aclnn_fail(name);
}

uint64_t aclnn_refusals() noexcept { return refusals.load(std::memory_order_relaxed); }

void detail::count_refusal(aclnnStatus status, const char* name) {
  if (status / 1000 != kRefusals) aclnn_fail(name);
  refusals.fetch_add(1, std::memory_order_relaxed);
}

void detail::count_launch() noexcept { launches.fetch_add(1, std::memory_order_relaxed); }

uint64_t aclnn_launches() noexcept { return launches.load(std::memory_order_relaxed); }

void* detail::first_phase(const char* name) { return aclnn_symbol((std::string(name) + "GetWorkspaceSize").c_str()); }

void detail::launch(const char* name, SecondPhase phase, uint64_t workspace_bytes, aclOpExecutor* executor,
                    c10::DeviceIndex device) {
  const c10::Stream stream = current_stream(device);
  LaunchTask task{name, phase, workspace_bytes, executor, stream, nullptr};
  // A recording needs the launch on this thread.
  const bool is_queued = task_queue_level() != 0 && !trace::detail::is_watched();
  // Freed when this returns, and reused only by later work of the same stream, after this launch.
  c10::DataPtr workspace;
  if (workspace_bytes > 0 && is_queued && task_queue_level() == 2 && !saves_memory()) {
    task.workspace = stream_workspace(stream, workspace_bytes);
  } else if (workspace_bytes > 0) {
    workspace = caching_allocator().allocate_on(device, workspace_bytes);
    task.workspace = workspace.get();
  }
  count_launch();
  if (is_queued) return queue_launch(task);
  drain_launches(device);
  trace::Launch launch(name, trace::Kind::kKernel, stream);
  launch_now(task);
}

}  // namespace torch_npu
