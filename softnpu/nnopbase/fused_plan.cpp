#include "nnopbase/fused_plan.h"

#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"
#include "fusion/group.h"

namespace softnpu {
namespace {

// What a fused plan runs. The group refers to the plans' fusibles.
struct Fused {
  std::vector<std::shared_ptr<const LaunchTemplate>> plans;
  HostBlock workspace;  // of the first plan
  std::optional<FusionGroup> group;
};

Status allocate(const Plan& plan, HostBlock* out) {
  constexpr uint64_t kAlignment = 64;
  if (!plan.workspace_bytes.fits()) return {ACL_ERROR_BAD_ALLOC, "a workspace of more than 2^63 bytes"};
  const uint64_t bytes = (plan.workspace_bytes.bytes() + kAlignment - 1) / kAlignment * kAlignment;
  if (bytes == 0) return Status::ok();
  out->reset(std::aligned_alloc(kAlignment, bytes));
  return *out != nullptr ? Status::ok()
                         : Status(ACL_ERROR_BAD_ALLOC, text("no ", bytes, " bytes of host memory are left"));
}

}  // namespace

Status fuse_plans(std::span<const std::shared_ptr<const LaunchTemplate>> plans, std::span<const size_t> last_readers,
                  FusedPlan* out) {
  *out = {};
  size_t count = 0;
  while (count < plans.size() && count < kMaxFusedPlans && plans[count]->plan.fusible != nullptr) ++count;
  if (count < 2) return Status::ok();
  auto fused = std::make_shared<Fused>();
  SOFTNPU_RETURN_IF_ERROR(allocate(plans[0]->plan, &fused->workspace));
  std::vector<FusionStage> stages;
  for (size_t i = 0; i < count; ++i) {
    stages.push_back({plans[i]->plan.fusible.get(), i == 0 ? fused->workspace.get() : nullptr, last_readers[i]});
  }
  fused->group = FusionGroup::analyse(stages);
  if (!fused->group.has_value()) return Status::ok();
  out->count = fused->group->size();
  fused->plans.assign(plans.begin(), plans.begin() + static_cast<std::ptrdiff_t>(out->count));
  auto planned = std::make_shared<LaunchTemplate>(LaunchTemplate{plans[0]->op, {}});
  planned->plan.work = 0;
  for (const auto& one : fused->plans) {
    planned->plan.work += one->plan.work;
    for (const softnpuRange& range : one->plan.written) planned->plan.written.push_back(range);
  }
  planned->plan.run = [fused = std::move(fused)](void*) {
    fused->group->run();
    return Status::ok();
  };
  out->planned = std::move(planned);
  return Status::ok();
}

}  // namespace softnpu
