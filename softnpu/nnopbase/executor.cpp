#include "nnopbase/executor.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "base/no_destroy.h"
#include "base/small_vector.h"
#include "base/text.h"
#include "base/threads.h"
#include "fusion/group.h"
#include "nnopbase/dump.h"
#include "nnopbase/errors.h"
#include "nnopbase/launch_planned.h"
#include "nnopbase/overflow.h"
#include "nnopbase/plan_operator.h"
#include "nnopbase/planned.h"
#include "nnopbase/trace_operands.h"
#include "softnpu/softnpu.h"
#include "softnpu/trace.h"

namespace softnpu {
namespace {

// Writes the reason for the failure of `plan` into `message`, of `size` bytes.
void put_message(const Plan& plan, const std::string& reason, char* message, size_t size) {
  const std::string described = plan.describe ? text(plan.describe(), ": ", reason) : reason;
  described.copy(message, size - 1);
  message[std::min(size - 1, described.size())] = '\0';
}

aclError run_launch(void* opaque, char* message, size_t size) {
  const auto& planned = *static_cast<const Planned*>(opaque);
  Status status = run(planned.launched(), planned.context);
  if (!status.is_ok()) put_message(planned.launched().plan, status.message(), message, size);
  return status.code();
}

Status check_launch(const char* op, const LaunchTemplate& launched, void* workspace, uint64_t workspace_size,
                    void** kernel_workspace) {
  if (op != launched.op && std::strcmp(op, launched.op) != 0) {
    return {ACLNN_ERR_PARAM_INVALID, text("the executor was made by ", launched.op, "GetWorkspaceSize")};
  }
  if (launched.lacks_memory) {
    return {ACLNN_ERR_PARAM_NULLPTR,
            "phase one got tensors without an address: call aclSetAclOpExecutorRepeatable and set the address of each "
            "with aclSetTensorAddr, or call phase one again"};
  }
  const uint64_t needed = launched.plan.workspace_bytes.bytes();
  if (workspace_size < needed) {
    return {ACLNN_ERR_PARAM_INVALID, text("a workspace of ", workspace_size, " bytes, where ", needed, " are needed")};
  }
  return find_workspace(launched.plan, workspace, kernel_workspace);
}

Status check_workspace(const Plan& plan) {
  if (plan.workspace_bytes.fits() && plan.workspace_bytes.value() >= 0) return Status::ok();
  const std::string described = plan.describe ? plan.describe() : "the call";
  return {ACLNN_ERR_PARAM_INVALID, described + " needs a workspace of more than 2^63 bytes"};
}

// The workspace of a launch without an executor, in host memory; null if the plan needs none.
Status make_workspace(const Plan& plan, HostBlock* out) {
  constexpr int64_t kAlignment = 64;
  SOFTNPU_RETURN_IF_ERROR(check_workspace(plan));
  const uint64_t bytes = round_up(plan.workspace_bytes, kAlignment).bytes();
  if (bytes == 0) return Status::ok();
  out->reset(std::aligned_alloc(kAlignment, bytes));
  if (*out != nullptr) return Status::ok();
  return {ACL_ERROR_BAD_ALLOC, text("no ", bytes, " bytes of host memory are left")};
}

size_t analyse_group(void* const* states, const size_t* last_readers, size_t count, void** group) noexcept {
  try {
    std::vector<FusionStage> stages(count);
    for (size_t i = 0; i < count; ++i) {
      const auto& planned = *static_cast<const Planned*>(states[i]);
      stages[i] = {planned.launched().plan.fusible.get(), planned.context.workspace, last_readers[i]};
    }
    std::optional<FusionGroup> fused = FusionGroup::analyse(stages);
    if (!fused.has_value()) return 1;
    const size_t size = fused->size();
    *group = std::make_unique<FusionGroup>(*std::move(fused)).release();
    return size;
  } catch (const std::bad_alloc&) {
    return 1;  // running them one by one needs no memory
  }
}

aclError run_group(void* group, void* first_state, char* message, size_t size) {
  const auto& first = *static_cast<const Planned*>(first_state);
  const LauncherThreads threads(first.context.threads);
  try {
    static_cast<const FusionGroup*>(group)->run();
    return ACL_SUCCESS;
  } catch (const std::exception& e) {
    put_message(first.launched().plan, e.what(), message, size);
    return kOperatorError;
  }
}

const softnpuFusion kFusion = {&analyse_group, &run_group, [](void* group) {
                                 std::unique_ptr<FusionGroup>(static_cast<FusionGroup*>(group)).reset();
                               }};

softnpuCost cost_of(const Plan& plan) {
  if (plan.work < kSmallWork) return SOFTNPU_COST_SMALL;
  return plan.work < kShortWork ? SOFTNPU_COST_SHORT : SOFTNPU_COST_LARGE;
}

// What the next launch runs; planned again if an address was replaced.
Status current_launch(const char* op, Repeatable* repeatable, std::shared_ptr<const LaunchTemplate>* out) {
  std::lock_guard lock(repeatable->mutex);
  if (repeatable->is_stale) {
    auto launched = std::make_shared<LaunchTemplate>(LaunchTemplate{op, {}, nullptr, repeatable->launched->operands});
    SOFTNPU_RETURN_IF_ERROR(repeatable->call->rebind(repeatable->addresses, &launched->plan));
    SOFTNPU_RETURN_IF_ERROR(check_workspace(launched->plan));
    launched->tensors = take_call_tensors(op);
    repeatable->launched = std::move(launched);
    repeatable->is_stale = false;
  }
  *out = repeatable->launched;
  return Status::ok();
}

Status launch_repeatable(const char* op, void* workspace, uint64_t workspace_size, const aclOpExecutor* handle,
                         aclrtStream stream) {
  const char* created_by = nullptr;
  const std::shared_ptr<Repeatable> repeatable = find_repeatable(handle, &created_by);
  if (repeatable == nullptr) return unknown_executor(handle);
  std::shared_ptr<const LaunchTemplate> launched;
  SOFTNPU_RETURN_IF_ERROR(current_launch(created_by, repeatable.get(), &launched));
  void* kernel_workspace = nullptr;
  SOFTNPU_RETURN_IF_ERROR(check_launch(op, *launched, workspace, workspace_size, &kernel_workspace));
  Planned* launch = make_launch(created_by);
  launch->context.workspace = kernel_workspace;
  launch->shared = std::move(launched);
  return submit(launch, stream);
}

// Sets what watches the launch.
Status watch(const char* op, aclrtStream stream, LaunchContext* context) {
  context->overflow = softnpuGetOverflowMode(stream);
  context->dump = softnpuDumps(op);
  if (context->dump == 0) return Status::ok();
  return aclrtStreamGetId(stream, &context->stream_id) == ACL_SUCCESS
             ? Status::ok()
             : Status(ACLNN_ERR_PARAM_INVALID, "the stream has no number for the dump");
}

Status run_watched(const LaunchTemplate& launched, const LaunchContext& context) {
  DumpedCall dumped(*launched.tensors, context.dump);
  SOFTNPU_RETURN_IF_ERROR(dumped.copy_inputs());
  SOFTNPU_RETURN_IF_ERROR(launched.plan.run(context.workspace));
  if (context.overflow != SOFTNPU_OVERFLOW_IGNORED) check_overflow(*launched.tensors, context.overflow);
  return context.dump == 0 ? Status::ok() : dumped.write(launched.op, context.stream_id);
}

}  // namespace

Status run(const LaunchTemplate& launched, const LaunchContext& context) {
  const LauncherThreads threads(context.threads);
  try {
    return context.is_watched() ? run_watched(launched, context) : launched.plan.run(context.workspace);
  } catch (const std::exception& e) {
    return {kOperatorError, e.what()};
  }
}

Status find_workspace(const Plan& plan, const void* workspace, void** kernel) {
  const uint64_t needed = plan.workspace_bytes.bytes();
  if (needed == 0) return Status::ok();
  SOFTNPU_RETURN_IF_ERROR(not_null(workspace, "workspace"));
  if (softnpuProbeAddress(workspace, needed, kernel) == ACL_SUCCESS) return Status::ok();
  return {ACLNN_ERR_PARAM_INVALID,
          text("the workspace ", workspace, " does not lie in one allocation of ", needed, " bytes of device memory")};
}

Pool<Planned>& executors() {
  static NoDestroy<Pool<Planned>> instance;
  return instance.get();
}

Status submit(Planned* planned, aclrtStream stream) {
  const auto& [op, plan, tensors, traced_operands, lacks_memory] = planned->launched();
  if (tensors != nullptr) SOFTNPU_RETURN_IF_ERROR(watch(op, stream, &planned->context));
  // What is watched runs alone.
  const bool is_fusible = plan.fusible != nullptr && !planned->context.is_watched();
  planned->context.threads = plan.is_small() && plan.fusible == nullptr ? 1 : most_threads();
  if (is_fusible) {
    const bool has_output = !plan.written.empty();
    const void* output =
        has_output ? std::ranges::max_element(plan.written, {}, &softnpuRange::bytes)->address : nullptr;
    planned->fusible = {&kFusion, planned, output};
  }
  const softnpuTask task{op,
                         cost_of(plan),
                         &run_launch,
                         [](void* opaque) { executors().recycle(static_cast<Planned*>(opaque)); },
                         planned,
                         is_fusible ? &planned->fusible : nullptr,
                         plan.written.data(),
                         plan.written.size()};
  aclError code = ACL_SUCCESS;
  if (!traces_launches()) [[likely]] {
    code = softnpuLaunch(stream, &task);
  } else {
    // The launch may end `planned`.
    const std::string operands =
        traced_operands == nullptr ? "" : text(*traced_operands, '|', planned->context.threads);
    const int64_t begin = softnpuTraceNow();
    code = softnpuLaunch(stream, &task);
    if (code == ACL_SUCCESS && !operands.empty()) softnpuTraceDetail(softnpuTraceRecentTask(), operands.c_str());
    softnpuTraceCall(op, begin);
  }
  if (code == ACL_SUCCESS) return Status::ok();
  const char* reason = aclGetRecentErrMsg();
  return {kLaunchError, reason == nullptr ? "the launch failed" : reason};
}

Status unknown_executor(const aclOpExecutor* handle) {
  if (handle == nullptr) return {ACLNN_ERR_PARAM_NULLPTR, "executor is null"};
  return {ACLNN_ERR_PARAM_INVALID,
          text("executor ", handle, " was launched before, destroyed or never made; one executor serves one launch ",
               "unless aclSetAclOpExecutorRepeatable was called")};
}

Status dead_argument(size_t position) {
  return {ACLNN_ERR_PARAM_INVALID,
          text("argument ", position, " is no live object: it, or one in its list, was destroyed or never made")};
}

// What an earlier call collected, and then failed, is dropped.
PendingPlan::PendingPlan(const char* op) : planned_(executors().make(op)) { (void)take_call_tensors(op); }

PendingPlan::~PendingPlan() {
  if (planned_ != nullptr) executors().destroy(planned_);
}

Plan* PendingPlan::plan() { return &planned_->own.plan; }

void* PendingPlan::arguments(Keep keep) {
  planned_->keep = keep;
  return planned_->arguments;
}

Status PendingPlan::hand_out(uint64_t* workspace_size, aclOpExecutor** executor) {
  const Plan& plan = planned_->own.plan;
  SOFTNPU_RETURN_IF_ERROR(check_workspace(plan));
  if (traces_operands()) planned_->own.operands = operands_of(*planned_);
  *workspace_size = plan.workspace_bytes.bytes();
  planned_->own.tensors = take_call_tensors(planned_->own.op);
  *executor = reinterpret_cast<aclOpExecutor*>(executors().name(std::exchange(planned_, nullptr)));
  return Status::ok();
}

Status make_executor(const char* op, Plan plan, uint64_t* workspace_size, aclOpExecutor** executor) {
  PendingPlan pending(op);
  *pending.plan() = std::move(plan);
  return pending.hand_out(workspace_size, executor);
}

Status launch_executor(const char* op, void* workspace, uint64_t workspace_size, aclOpExecutor* executor,
                       aclrtStream stream) {
  Planned* planned = executors().claim(name_of(executor));
  if (planned == nullptr) return launch_repeatable(op, workspace, workspace_size, executor, stream);
  Status status = check_launch(op, planned->launched(), workspace, workspace_size, &planned->context.workspace);
  if (!status.is_ok()) {
    executors().give_back(planned);
    return status;
  }
  return submit(planned, stream);
}

Status launch_plan(const char* op, Plan plan, aclrtStream stream) {
  HostBlock workspace;
  SOFTNPU_RETURN_IF_ERROR(make_workspace(plan, &workspace));
  Planned* planned = make_launch(op);
  planned->own.plan = std::move(plan);
  planned->own.tensors = take_call_tensors(op);
  planned->context.workspace = workspace.get();
  planned->context.own_workspace = std::move(workspace);
  return submit(planned, stream);
}

Status launch_planned(std::shared_ptr<const LaunchTemplate> planned, aclrtStream stream) {
  HostBlock workspace;
  SOFTNPU_RETURN_IF_ERROR(make_workspace(planned->plan, &workspace));
  Planned* launch = make_launch(planned->op);
  launch->shared = std::move(planned);
  launch->context.workspace = workspace.get();
  launch->context.own_workspace = std::move(workspace);
  return submit(launch, stream);
}

}  // namespace softnpu
