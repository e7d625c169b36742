#include "aten/aicpu/copying.h"

#include <ATen/record_function.h>
#include <c10/util/Exception.h>
#include <torch/library.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_set>

#include "aten/aicpu/cpu_view.h"
#include "aten/aicpu/fallback.h"
#include "core/acl.h"
#include "core/device.h"
#include "core/environment.h"
#include "core/route_stats.h"

namespace torch_npu::aicpu {
namespace {

// Registers the fallback over the wrappers; PyTorch's dispatcher restores them when it is destroyed.
class Override {
 public:
  Override() : library_(torch::Library::IMPL, "aten", c10::DispatchKey::PrivateUse1, __FILE__, __LINE__) {
    struct Silent final : c10::WarningHandler {
      void process(const c10::Warning&) override {}  // "overriding a previously registered kernel" is intended
    } silent;
    c10::WarningUtils::WarningHandlerGuard guard(&silent);
    for (const char* name : wrapped_operators()) {
      library_.impl(name, torch::CppFunction::makeFromBoxedFunction<&fallback>());
    }
  }

 private:
  torch::Library library_;
};

std::atomic<bool> copies{false};

// Programs that tune for the device search the output for operators that leave it: `target` is in the official words.
void warn_once(const c10::OperatorName& name, const char* target) {
  static std::mutex mutex;  // guards warned
  static std::unordered_set<c10::OperatorName> warned;
  {
    const std::lock_guard lock(mutex);
    if (!warned.insert(name).second) return;
  }
  TORCH_WARN("The operator '", name, "' will fall back to ", target, ", on copies of its arguments.");
}

void check_fallback(const c10::OperatorHandle& op) {
  static const bool forbidden = value_or_warn(environment::flag("TORCH_NPU_FALLBACK_CPU_DISABLE"));
  TORCH_CHECK_NOT_IMPLEMENTED(!forbidden, op.operator_name(),
                              " would run on the CPU, which TORCH_NPU_FALLBACK_CPU_DISABLE=1 forbids",
                              error_tail("ERR01007", "OPS feature not supported"));
}

}  // namespace

bool copies_arguments() { return copies.load(std::memory_order_relaxed) || !is_host_addressable(); }

void set_copies_arguments(bool on) {
  static std::mutex mutex;  // guards override
  static std::unique_ptr<Override> override;
  std::lock_guard lock(mutex);
  if (on && override == nullptr && is_host_addressable()) override = std::make_unique<Override>();
  if (!on) override.reset();
  copies = on;
}

void copying_fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  run_on_copies(op, stack, "run on the CPU");
}

void run_on_copies(const c10::OperatorHandle& op, torch::jit::Stack* stack, const char* target) {
  check_fallback(op);
  if (copies.load(std::memory_order_relaxed)) warn_once(op.operator_name(), target);
  std::optional<at::RecordFunctionGuard> silent;
  if (route_stats::counts()) {
    route_stats::mark(route_stats::Route::kCpuFallback);
    silent.emplace(false);
  }
  run_on_host(op, stack, Bytes::kCopied);
}

}  // namespace torch_npu::aicpu
