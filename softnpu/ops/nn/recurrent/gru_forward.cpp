#include <algorithm>

#include "ops/math/elementwise/map_op.h"
#include "ops/nn/recurrent/gru.h"
#include "ops/nn/recurrent/product.h"
#include "workers/parallel.h"

namespace softnpu {

// "rzh" lists the gates in order; h is the new state's.
static Status read_gates(const std::string& order, GruGates* out) {
  const auto location = [&order](char gate) {
    const size_t at = order.find(gate);
    return at == std::string::npos ? -1 : static_cast<int64_t>(at);
  };
  *out = {location('r'), location('z'), location('h')};
  if (order.size() == kGruGates && std::min({out->r, out->z, out->n}) >= 0) return Status::ok();
  return {ACL_ERROR_INVALID_PARAM, text("the gate order ", order, ": it names r, z and h")};
}

Status read_gru(const RegistryCall& call, const LayerAttributes& attributes, GruProblem* out) {
  SOFTNPU_RETURN_IF_ERROR(read_sizes(call, 0, 1, kGruGates, &out->sizes));
  SOFTNPU_RETURN_IF_ERROR(read_direction(attributes, &out->reversed));
  if (!attributes.reset_after) {
    return {ACL_ERROR_INVALID_PARAM, "only the reset gate behind the product, reset_after, is taken"};
  }
  return read_gates(attributes.gate_order, &out->gates);
}

namespace {

// The layouts of the compiled operands.
struct Layouts {
  LayerOperand x = input(0, "x");
  LayerOperand w_x = input(1, "weight_input");
  LayerOperand w_h = input(2, "weight_hidden");
  LayerOperand b_x = input(3, "bias_input");
  LayerOperand b_h = input(4, "bias_hidden");
  LayerOperand init_h = input(6, "init_h");
  LayerOperand y = output(0, "y");
  LayerOperand h = output(1, "output_h");
  LayerOperand z = output(2, "update");
  LayerOperand r = output(3, "reset");
  LayerOperand n = output(4, "new");
  LayerOperand hidden_new = output(5, "hidden_new");
};

// The bound operands, the workspace, and the work.
class Run {
 public:
  Run(const GruProblem& problem, const Layouts& /*layouts*/)
      : p_(problem),
        threads_(threads_for(flops())),
        step_threads_(threads_for(flops() / static_cast<double>(std::max<int64_t>(1, p_.sizes.steps)))),
        sigmoid_(map_kernel(MapOp::kSigmoid, ComputeType::kF32)),
        tanh_(map_kernel(MapOp::kTanh, ComputeType::kF32)) {
    const auto& [steps, batch, inputs, hidden] = p_.sizes;
    x_at_ = parts_.add(checked(steps) * batch * inputs);
    w_x_at_ = parts_.add(checked(inputs) * p_.width());
    w_h_at_ = parts_.add(checked(hidden) * p_.width());
    bias_at_ = parts_.add(checked(p_.width()) * 2);
    from_x_at_ = parts_.add(checked(steps) * batch * p_.width());
    from_h_at_ = parts_.add(checked(batch) * p_.width());
    h_at_ = parts_.add(checked(batch) * hidden);
  }

  Status bind(std::span<void* const> operands, const Layouts& l) {
    const std::pair<const LayerOperand*, FloatRows*> all[] = {
        {&l.x, &x_}, {&l.w_x, &w_x_}, {&l.w_h, &w_h_}, {&l.b_x, &b_x_}, {&l.b_h, &b_h_}, {&l.init_h, &init_h_},
        {&l.y, &y_}, {&l.h, &h_},     {&l.z, &z_},     {&l.r, &r_},     {&l.n, &n_},     {&l.hidden_new, &hidden_new_}};
    for (const auto& [operand, rows] : all) SOFTNPU_RETURN_IF_ERROR(operand->bind(operands, rows));
    return Status::ok();
  }

  double flops() const {
    const auto& [steps, batch, inputs, hidden] = p_.sizes;
    constexpr double kFlopsPerCell = 64;  // of the activation functions
    return static_cast<double>(steps * batch) * static_cast<double>(p_.width()) *
           (2.0 * static_cast<double>(inputs + hidden) + kFlopsPerCell);
  }
  Checked workspace_bytes() const { return parts_.bytes(); }

  void run(float* space) const {
    const auto& [steps, batch, inputs, hidden] = p_.sizes;
    const int64_t width = p_.width();
    float* from_x = space + from_x_at_;
    load(space);
    for (int64_t row = 0; row < steps * batch; ++row) std::copy_n(space + bias_at_, width, from_x + row * width);
    multiply({1, steps * batch, width, inputs}, {space + x_at_, inputs}, {space + w_x_at_, width}, {from_x, width},
             true, threads_);
    for (int64_t order = 0; order < steps; ++order) {
      const int64_t first = p_.step(order) * batch;
      float* from_h = space + from_h_at_;
      for (int64_t n = 0; n < batch; ++n) std::copy_n(space + bias_at_ + width, width, from_h + n * width);
      multiply({1, batch, width, hidden}, {space + h_at_, hidden}, {space + w_h_at_, width}, {from_h, width}, true,
               step_threads_);
      parallel_for(batch, 1, step_threads_, [&](int64_t begin, int64_t end) {
        for (int64_t n = begin; n < end; ++n) cell(first + n, n, space);
      });
    }
  }

 private:
  void load(float* space) const {
    x_.read_all(space + x_at_, threads_);
    w_x_.read_all(space + w_x_at_, threads_);
    w_h_.read_all(space + w_h_at_, threads_);
    std::fill_n(space + bias_at_, 2 * p_.width(), 0.0F);
    if (b_x_.is_given()) b_x_.read(0, space + bias_at_);
    if (b_h_.is_given()) b_h_.read(0, space + bias_at_ + p_.width());
    std::fill_n(space + h_at_, p_.sizes.batch * p_.sizes.hidden, 0.0F);
    if (init_h_.is_given()) init_h_.read_all(space + h_at_, 1);
  }

  // Computes one sequence's state after one step; `row` is an index over all steps, `at` that of the sequence.
  void cell(int64_t row, int64_t at, float* space) const {
    const int64_t hidden = p_.sizes.hidden;
    float* from_x = space + from_x_at_ + row * p_.width();
    const float* from_h = space + from_h_at_ + at * p_.width();
    const float* hidden_new = from_h + p_.gates.n * hidden;
    float* r = from_x + p_.gates.r * hidden;
    float* z = from_x + p_.gates.z * hidden;
    float* n = from_x + p_.gates.n * hidden;
    float* h = space + h_at_ + at * hidden;
    for (int64_t k = 0; k < hidden; ++k) {
      r[k] += from_h[p_.gates.r * hidden + k];
      z[k] += from_h[p_.gates.z * hidden + k];
    }
    apply(sigmoid_, r);
    apply(sigmoid_, z);
    for (int64_t k = 0; k < hidden; ++k) n[k] += r[k] * hidden_new[k];
    apply(tanh_, n);
    for (int64_t k = 0; k < hidden; ++k) h[k] = (1 - z[k]) * n[k] + z[k] * h[k];
    const std::pair<const FloatRows*, const float*> results[] = {{&y_, h}, {&h_, h}, {&z_, z},
                                                                 {&r_, r}, {&n_, n}, {&hidden_new_, hidden_new}};
    for (const auto& [to, from] : results) {
      if (to->is_given()) to->write(row, from);
    }
  }

  void apply(MapKernel kernel, float* values) const {
    const void* inputs[] = {values};
    kernel(values, inputs, static_cast<size_t>(p_.sizes.hidden), nullptr);
  }

  GruProblem p_;
  int threads_;
  int step_threads_;
  MapKernel sigmoid_;
  MapKernel tanh_;
  FloatRows x_, w_x_, w_h_, b_x_, b_h_, init_h_, y_, h_, z_, r_, n_, hidden_new_;
  FloatParts parts_;
  int64_t x_at_, w_x_at_, w_h_at_, bias_at_, from_x_at_, from_h_at_, h_at_;
};

using Gru = RecurrentOperator<GruProblem, Layouts, Run>;

}  // namespace

Status compile_gru(const RegistryCall& call, const LayerAttributes& attributes,
                   std::unique_ptr<const CompiledOperator>* out) {
  SOFTNPU_RETURN_IF_ERROR(check_counts(call, 7, 6));
  if (call.inputs[5].is_given) return {ACL_ERROR_INVALID_PARAM, "sequences of their own lengths are not implemented"};
  GruProblem problem;
  SOFTNPU_RETURN_IF_ERROR(read_gru(call, attributes, &problem));
  const auto& [steps, batch, inputs, hidden] = problem.sizes;
  Layouts l;
  SOFTNPU_RETURN_IF_ERROR(l.x.read(call, steps * batch, inputs, false));
  SOFTNPU_RETURN_IF_ERROR(l.w_x.read(call, inputs, problem.width(), false));
  SOFTNPU_RETURN_IF_ERROR(l.w_h.read(call, hidden, problem.width(), false));
  SOFTNPU_RETURN_IF_ERROR(l.b_x.read(call, 1, problem.width(), true));
  SOFTNPU_RETURN_IF_ERROR(l.b_h.read(call, 1, problem.width(), true));
  SOFTNPU_RETURN_IF_ERROR(l.init_h.read(call, batch, hidden, true));
  for (LayerOperand* operand : {&l.y, &l.h, &l.z, &l.r, &l.n, &l.hidden_new}) {
    SOFTNPU_RETURN_IF_ERROR(operand->read(call, steps * batch, hidden, true));
  }
  *out = std::make_unique<Gru>("DynamicGRUV2", call, problem, std::move(l));
  return Status::ok();
}

}  // namespace softnpu
