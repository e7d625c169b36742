#pragma once
// The tensors of a recurrent layer: layouts at compilation, operands at planning.

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "nnopbase/written.h"
#include "ops/core/registry_call.h"
#include "ops/nn/recurrent/rows.h"
#include "workers/parallel.h"

namespace softnpu {

// One input or output, by its index in the call.
struct LayerOperand {
  std::string role;
  size_t location = 0;
  bool is_output = false;
  bool is_given = false;
  RowLayout layout;
  size_t operand = 0;  // its index among the call's operands

  // Checks that it has `rows` and `columns`; it may be omitted if `optional`.
  Status read(const RegistryCall& call, int64_t rows, int64_t columns, bool optional) {
    const RegistryTensor& typed = (is_output ? call.outputs : call.inputs)[location];
    if (optional && !typed.is_given) return Status::ok();
    SOFTNPU_RETURN_IF_ERROR(check_given(typed, role));
    is_given = true;
    operand = is_output ? call.inputs.size() + location : location;
    return read_rows(typed.tensor, role.c_str(), rows, columns, &layout);
  }

  Status bind(std::span<void* const> operands, FloatRows* out) const {
    if (!is_given) return Status::ok();
    return FloatRows::bind(layout, operands[operand], role.c_str(), out);
  }
};

inline LayerOperand input(size_t location, const char* role) { return {role, location, false, false, {}, 0}; }
inline LayerOperand output(size_t location, const char* role) { return {role, location, true, false, {}, 0}; }

// The sizes of `x`: [steps, batch, inputs], and the width of the hidden state.
struct RecurrentSizes {
  int64_t steps = 0;
  int64_t batch = 0;
  int64_t inputs = 0;
  int64_t hidden = 0;

  int64_t rows() const { return steps * batch; }
};

// In `weights` the gates are side by side, each as wide as the hidden state.
Status read_sizes(const RegistryCall& call, size_t x, size_t weights, int64_t gates, RecurrentSizes* out);

// The attributes of a call; a type without one of them has the value that the layer takes.
struct LayerAttributes {
  std::string direction;
  std::string activation;
  std::string gate_order;
  bool time_major = true;
  bool reset_after = true;    // of a gated recurrent unit
  bool use_peephole = false;  // the others: of long short-term memory
  double cell_clip = -1;
  int64_t num_proj = 0;
  double forget_bias = 0;
};

// Reads what all recurrent layers have in common; unsupported values are errors.
Status read_direction(const LayerAttributes& attributes, bool* reversed);

// Consecutive parts of one workspace, each aligned to a cache line.
class FloatParts {
 public:
  // Adds `count` floats and returns their offset.
  int64_t add(Checked count) {
    const int64_t at = count_.value();
    count_ = count_ + round_up(count, 16);
    return at;
  }
  Checked bytes() const { return count_ * sizeof(float); }

 private:
  Checked count_;
};

// A compiled layer. `Run` is constructed from problem and layouts, gets a call's operands by bind(), and has
// run(float* workspace).
template <typename Problem, typename Layouts, typename Run>
class RecurrentOperator final : public CompiledOperator {
 public:
  RecurrentOperator(const char* name, const RegistryCall& call, const Problem& problem, Layouts layouts)
      : name_(name),
        inputs_(call.inputs.size()),
        outputs_(call.outputs),
        problem_(problem),
        layouts_(std::move(layouts)) {}

  const char* name() const override { return name_; }

  Status rebind(std::span<void* const> operands, Plan* plan) const override {
    auto run = std::make_shared<Run>(problem_, layouts_);
    SOFTNPU_RETURN_IF_ERROR(run->bind(operands, layouts_));
    plan->workspace_bytes = run->workspace_bytes();
    plan->work = run->flops();
    plan->run = [run](void* workspace) {
      run->run(static_cast<float*>(workspace));
      return Status::ok();
    };
    for (size_t i = 0; i < outputs_.size(); ++i) {
      aclTensor output = outputs_[i].tensor;
      output.data = operands[inputs_ + i];
      add_written(&output, plan);
    }
    return Status::ok();
  }

 private:
  const char* name_;
  size_t inputs_;
  std::vector<RegistryTensor> outputs_;  // with addresses of the compiled call, which are not used
  Problem problem_;
  Layouts layouts_;
};

}  // namespace softnpu
