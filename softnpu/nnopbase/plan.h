#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/checked.h"
#include "base/inline_function.h"
#include "base/small_vector.h"
#include "base/status.h"
#include "base/work.h"
#include "fusion/fusible.h"
#include "nnopbase/rebindable.h"
#include "softnpu/launch.h"

struct aclTensor;

namespace softnpu {

struct Plan;
class ShapeRecord;
using MakeRebindable = std::unique_ptr<const RebindablePlan> (*)(const Plan& plan);

// Describes the arguments of a call: "(float32[2, 3], float32[3, 4])".
using Describe = InlineFunction<std::string(), 64>;

// The result of phase one for one call. Captures of up to the sizes below need no heap.
struct Plan {
  Checked workspace_bytes = {};                           // phase one rejects a plan whose size does not fit
  double work = std::numeric_limits<double>::infinity();  // cost in the units of base/work.h; 0: negligible
  // Does the work. `workspace` is its address for host kernels. Called on any thread and any number of times, which may
  // overlap.
  InlineFunction<Status(void* workspace), 256> run;
  // For the error message of a failed run. May be empty.
  Describe describe = nullptr;
  // The same work in fusible form: it may run fused with the tasks after it. A loop must not fail then.
  std::shared_ptr<const Fusible> fusible = nullptr;
  // The written ranges; a launch raises their write epochs.
  SmallVector<softnpuRange, 2> written = {};
  // Operands that the call could write, and only reads: planners add them, `written` omits them.
  SmallVector<const aclTensor*, 2> unchanged = {};
  // Makes the call of a plan. Set if the work depends only on its tensors' descriptions and addresses: the operands are
  // then each one's first element, as kernels address it, and the caller sets `written` of what rebind() makes.
  MakeRebindable rebindable = nullptr;
  // Of an operator called by its type: for each output the sizes that the run determines, or null. Empty: all are
  // known.
  std::vector<std::shared_ptr<ShapeRecord>> sizes = {};

  bool is_small() const { return work < kSmallWork; }
};

}  // namespace softnpu
