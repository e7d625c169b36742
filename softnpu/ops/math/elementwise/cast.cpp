// Casts between data types, in one pass over memory.

#include <array>
#include <memory>

#include "base/text.h"
#include "ops/core/convert/element_rows.h"
#include "ops/core/copy/strided_copy.h"
#include "ops/core/describe.h"
#include "ops/core/format/nc1hwc0.h"
#include "ops/core/iterate/space.h"
#include "ops/core/operand_run.h"
#include "ops/math/elementwise/map.h"
#include "ops/math/elementwise/operators.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

// The cost of one element in the operations of threads_for: memory dominates.
constexpr double kElementFlops = 16;
// The smallest piece for a thread.
constexpr int64_t kGrain = int64_t{1} << 14;

// A cast of contiguous elements. Stored in the plan, without heap memory.
struct ContiguousCast {
  ElementCast cast;
  int64_t count;
  ptrdiff_t from_bytes;
  ptrdiff_t to_bytes;
  std::array<void*, 2> operands;  // the result, the source
  int threads = 1;

  static size_t operand_count() { return 2; }

  Status operator()(void* /*workspace*/) const {
    const auto run = [this](int64_t first, int64_t last) {
      cast.run(static_cast<const char*>(operands[1]) + first * from_bytes, from_bytes,
               static_cast<size_t>(last - first), static_cast<char*>(operands[0]) + first * to_bytes, to_bytes);
    };
    parallel_for(count, kGrain, threads, run);
    return Status::ok();
  }

  void put(Plan* plan) const {
    plan->work = cost() < kSmallWork ? 0 : cost();
    ContiguousCast run = *this;
    run.threads = threads_for(cost());
    plan->run = run;
    plan->rebindable = &RebindableRun<ContiguousCast>::make;
  }

 private:
  double cost() const { return kElementFlops * static_cast<double>(count); }
};

// A cast of elements at any strides, run by run along the innermost dimension.
Plan strided_cast(const ElementCast& cast, Space space) {
  const double cost = kElementFlops * static_cast<double>(space.count());
  const auto shared = std::make_shared<const Space>(std::move(space));
  return {0, cost, [cast, shared, threads = threads_for(cost)](void*) {
            const size_t inner = shared->dims() - 1;
            parallel_for(shared->count(), kGrain, threads, [&](int64_t first, int64_t last) {
              shared->for_all_runs(first, last - first, [&](const Space::Addresses& at, int64_t count) {
                cast.run(at[1], shared->stride(1, inner), static_cast<size_t>(count), at[0], shared->stride(0, inner));
              });
            });
            return Status::ok();
          }};
}

bool overlap(const Space& space) {
  const auto [out_begin, out_end] = space.extent(0);
  const auto [in_begin, in_end] = space.extent(1);
  return in_begin < out_end && out_begin < in_end;
}

}  // namespace

Status cast(const aclTensor& self, const aclTensor& out, Plan* plan) {
  if (self.dtype == out.dtype) return plan_copy(self, out, plan);
  const bool is_plain =
      is_known(self.dtype) && is_known(out.dtype) && !is_blocked_format(self) && !is_blocked_format(out);
  if (!is_plain) return unary(MapOp::kIdentity, self, out, plan);
  Space space;
  const std::array<const aclTensor*, 2> tensors{&out, &self};
  SOFTNPU_RETURN_IF_ERROR(Space::make(tensors, 1, &space));
  if (space.count() == 0) return plan_nothing(plan);
  if (overlap(space)) return unary(MapOp::kIdentity, self, out, plan);  // reads a tile before it writes one
  const ElementCast cast(self.dtype, out.dtype);
  if (space.is_contiguous(0) && space.is_contiguous(1)) {
    const auto bytes = [&](size_t k) { return static_cast<ptrdiff_t>(aclDataTypeSize(space.operand(k).dtype)); };
    ContiguousCast{cast, space.count(), bytes(1), bytes(0), {space.operand(0).data, space.operand(1).data}}.put(plan);
  } else {
    *plan = strided_cast(cast, std::move(space));
  }
  plan->describe = describe_later({&out, &self});
  return Status::ok();
}

Status cast_to(const aclTensor& self, aclDataType dtype, const aclTensor& out, Plan* plan) {
  if (out.dtype == dtype) return cast(self, out, plan);
  return {ACLNN_ERR_PARAM_INVALID, text("out is of ", name_of(out.dtype), " where dtype says ", name_of(dtype))};
}

}  // namespace softnpu
