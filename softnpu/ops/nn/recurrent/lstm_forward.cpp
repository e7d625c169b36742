#include <algorithm>
#include <cmath>

#include "ops/math/elementwise/map_op.h"
#include "ops/nn/recurrent/lstm.h"
#include "ops/nn/recurrent/product.h"
#include "workers/parallel.h"

namespace softnpu {

// "ifjo" lists the gates in order; some callers write c for j.
static Status read_gates(const std::string& order, LstmGates* out) {
  const auto location = [&order](char gate) {
    const size_t at = order.find(gate);
    return at == std::string::npos ? -1 : static_cast<int64_t>(at);
  };
  *out = {location('i'), std::max(location('j'), location('c')), location('f'), location('o')};
  if (order.size() == kLstmGates && std::min({out->i, out->j, out->f, out->o}) >= 0) return Status::ok();
  return {ACL_ERROR_INVALID_PARAM, text("the gate order ", order, ": it names i, j, f and o")};
}

Status read_lstm(const RegistryCall& call, const LayerAttributes& attributes, LstmProblem* out) {
  SOFTNPU_RETURN_IF_ERROR(read_sizes(call, 0, 1, kLstmGates, &out->sizes));
  SOFTNPU_RETURN_IF_ERROR(read_direction(attributes, &out->reversed));
  // The attribute cell_type is ignored: the official plug-in sets it to a string in one place, to a bool in another.
  out->forget_bias = static_cast<float>(attributes.forget_bias);
  return read_gates(attributes.gate_order, &out->gates);
}

namespace {

// The layouts of the compiled operands.
struct Layouts {
  LayerOperand x = input(0, "x");
  std::vector<LayerOperand> weights;  // one or two, with consecutive rows
  LayerOperand bias;
  LayerOperand mask;
  LayerOperand init_h;
  LayerOperand init_c;
  LayerOperand y = output(0, "y");
  LayerOperand h = output(1, "h");
  LayerOperand c = output(2, "c");
  LayerOperand i = output(3, "i");
  LayerOperand j = output(4, "j");
  LayerOperand f = output(5, "f");
  LayerOperand o = output(6, "o");
  LayerOperand tanh_c = output(7, "tanhc");
};

// The bound operands, the workspace, and the work.
class Run {
 public:
  Run(const LstmProblem& problem, const Layouts& layouts)
      : p_(problem),
        threads_(threads_for(flops())),
        step_threads_(threads_for(flops() / static_cast<double>(std::max<int64_t>(1, p_.sizes.steps)))),
        sigmoid_(map_kernel(MapOp::kSigmoid, ComputeType::kF32)),
        tanh_(map_kernel(MapOp::kTanh, ComputeType::kF32)),
        weights_(layouts.weights.size()) {
    const auto& [steps, batch, inputs, hidden] = p_.sizes;
    x_at_ = parts_.add(checked(steps) * batch * inputs);
    weights_at_ = parts_.add((checked(inputs) + hidden) * width());
    bias_at_ = parts_.add(checked(width()));
    gates_at_ = parts_.add(checked(steps) * batch * width());
    h_at_ = parts_.add(checked(batch) * hidden);
    c_at_ = parts_.add(checked(batch) * hidden);
    rows_at_ = parts_.add(checked(batch) * 3 * hidden);
  }

  Status bind(std::span<void* const> operands, const Layouts& l) {
    for (size_t i = 0; i < weights_.size(); ++i) SOFTNPU_RETURN_IF_ERROR(l.weights[i].bind(operands, &weights_[i]));
    const std::pair<const LayerOperand*, FloatRows*> all[] = {
        {&l.x, &x_}, {&l.bias, &bias_}, {&l.mask, &mask_},    {&l.init_h, &init_h_}, {&l.init_c, &init_c_},
        {&l.y, &y_}, {&l.h, &h_},       {&l.c, &c_},          {&l.i, &i_},           {&l.j, &j_},
        {&l.f, &f_}, {&l.o, &o_},       {&l.tanh_c, &tanh_c_}};
    for (const auto& [operand, rows] : all) SOFTNPU_RETURN_IF_ERROR(operand->bind(operands, rows));
    return Status::ok();
  }

  double flops() const {
    const auto& [steps, batch, inputs, hidden] = p_.sizes;
    constexpr double kFlopsPerCell = 64;  // of the activation functions
    const auto width = static_cast<double>(kLstmGates * hidden);
    return static_cast<double>(steps * batch) * width * (2.0 * static_cast<double>(inputs + hidden) + kFlopsPerCell);
  }
  Checked workspace_bytes() const { return parts_.bytes(); }

  void run(float* space) const {
    const auto& [steps, batch, inputs, hidden] = p_.sizes;
    float* weights = space + weights_at_;
    float* gates = space + gates_at_;
    load(space);
    for (int64_t row = 0; row < steps * batch; ++row) std::copy_n(space + bias_at_, width(), gates + row * width());
    multiply({1, steps * batch, width(), inputs}, {space + x_at_, inputs}, {weights, width()}, {gates, width()}, true,
             threads_);
    for (int64_t order = 0; order < steps; ++order) {
      const int64_t first = p_.step(order) * batch;
      multiply({1, batch, width(), hidden}, {space + h_at_, hidden}, {weights + inputs * width(), width()},
               {gates + first * width(), width()}, true, step_threads_);
      parallel_for(batch, 1, step_threads_, [&](int64_t begin, int64_t end) {
        for (int64_t n = begin; n < end; ++n) cell(first + n, n, space);
      });
    }
  }

 private:
  int64_t width() const { return kLstmGates * p_.sizes.hidden; }

  void load(float* space) const {
    const auto& [steps, batch, inputs, hidden] = p_.sizes;
    x_.read_all(space + x_at_, threads_);
    float* to = space + weights_at_;
    for (const FloatRows& part : weights_) {
      part.read_all(to, threads_);
      to += part.count() * width();
    }
    float* bias = space + bias_at_;
    std::fill_n(bias, width(), 0.0F);
    if (bias_.is_given()) bias_.read(0, bias);
    for (int64_t k = 0; k < hidden; ++k) bias[p_.gates.f * hidden + k] += p_.forget_bias;
    std::fill_n(space + h_at_, batch * hidden, 0.0F);
    std::fill_n(space + c_at_, batch * hidden, 0.0F);
    if (init_h_.is_given()) init_h_.read_all(space + h_at_, 1);
    if (init_c_.is_given()) init_c_.read_all(space + c_at_, 1);
  }

  // Computes one sequence's state after one step; `row` is an index over all steps, `n` that of the sequence.
  void cell(int64_t row, int64_t n, float* space) const {
    const int64_t hidden = p_.sizes.hidden;
    float* gates = space + gates_at_ + row * width();
    float* i = gates + p_.gates.i * hidden;
    float* j = gates + p_.gates.j * hidden;
    float* f = gates + p_.gates.f * hidden;
    float* o = gates + p_.gates.o * hidden;
    float* h = space + h_at_ + n * hidden;
    float* c = space + c_at_ + n * hidden;
    float* tanh_c = space + rows_at_ + n * 3 * hidden;
    float* y = tanh_c + hidden;
    float* mask = y + hidden;
    for (float* gate : {i, f, o}) apply(sigmoid_, gate, gate);
    apply(tanh_, j, j);
    if (mask_.is_given()) mask_.read(row, mask);
    const auto kept = [&](int64_t k) { return mask_.is_given() ? mask[k] : 1.0F; };
    for (int64_t k = 0; k < hidden; ++k) {
      const float next = f[k] * c[k] + i[k] * j[k];
      tanh_c[k] = next;  // tanh() is applied below
      c[k] = kept(k) * next + (1 - kept(k)) * c[k];
    }
    apply(tanh_, tanh_c, tanh_c);
    for (int64_t k = 0; k < hidden; ++k) {
      const float next = o[k] * tanh_c[k];
      y[k] = kept(k) * next;
      h[k] = y[k] + (1 - kept(k)) * h[k];
    }
    const std::pair<const FloatRows*, const float*> results[] = {{&y_, y}, {&h_, h}, {&c_, c}, {&i_, i},
                                                                 {&j_, j}, {&f_, f}, {&o_, o}, {&tanh_c_, tanh_c}};
    for (const auto& [to, from] : results) {
      if (to->is_given()) to->write(row, from);
    }
  }

  void apply(MapKernel kernel, float* out, const float* in) const {
    const void* inputs[] = {in};
    kernel(out, inputs, static_cast<size_t>(p_.sizes.hidden), nullptr);
  }

  LstmProblem p_;
  int threads_;
  int step_threads_;
  MapKernel sigmoid_;
  MapKernel tanh_;
  std::vector<FloatRows> weights_;
  FloatRows x_, bias_, mask_, init_h_, init_c_;
  FloatRows y_, h_, c_, i_, j_, f_, o_, tanh_c_;
  FloatParts parts_;
  int64_t x_at_, weights_at_, bias_at_, gates_at_, h_at_, c_at_, rows_at_;
};

using Lstm = RecurrentOperator<LstmProblem, Layouts, Run>;

// `first` is the index of the bias; the inputs after it are the same for both types.
Status compile(const char* name, const RegistryCall& call, const LayerAttributes& attributes, size_t first,
               Layouts layouts, std::unique_ptr<const CompiledOperator>* out) {
  SOFTNPU_RETURN_IF_ERROR(check_counts(call, first + 4, 8));
  LstmProblem problem;
  SOFTNPU_RETURN_IF_ERROR(read_lstm(call, attributes, &problem));
  const auto& [steps, batch, inputs, hidden] = problem.sizes;
  const int64_t width = kLstmGates * hidden;
  layouts.bias = input(first, "b");
  layouts.mask = input(first + 1, "seq_length");
  layouts.init_h = input(first + 2, "init_h");
  layouts.init_c = input(first + 3, "init_c");
  SOFTNPU_RETURN_IF_ERROR(layouts.x.read(call, steps * batch, inputs, false));
  if (layouts.weights.size() == 1) {
    SOFTNPU_RETURN_IF_ERROR(layouts.weights[0].read(call, inputs + hidden, width, false));
  } else {
    SOFTNPU_RETURN_IF_ERROR(layouts.weights[0].read(call, inputs, width, false));
    SOFTNPU_RETURN_IF_ERROR(layouts.weights[1].read(call, hidden, width, false));
  }
  SOFTNPU_RETURN_IF_ERROR(layouts.bias.read(call, 1, width, true));
  SOFTNPU_RETURN_IF_ERROR(layouts.mask.read(call, steps * batch, hidden, true));
  SOFTNPU_RETURN_IF_ERROR(layouts.init_h.read(call, batch, hidden, true));
  SOFTNPU_RETURN_IF_ERROR(layouts.init_c.read(call, batch, hidden, true));
  for (LayerOperand* result :
       {&layouts.y, &layouts.h, &layouts.c, &layouts.i, &layouts.j, &layouts.f, &layouts.o, &layouts.tanh_c}) {
    SOFTNPU_RETURN_IF_ERROR(result->read(call, steps * batch, hidden, true));
  }
  *out = std::make_unique<Lstm>(name, call, problem, std::move(layouts));
  return Status::ok();
}

}  // namespace

Status compile_lstm(const RegistryCall& call, const LayerAttributes& attributes,
                    std::unique_ptr<const CompiledOperator>* out) {
  Layouts layouts;
  layouts.weights = {input(1, "w")};
  return compile("DynamicRNN", call, attributes, 2, std::move(layouts), out);
}

Status compile_lstm_v2(const RegistryCall& call, const LayerAttributes& attributes,
                       std::unique_ptr<const CompiledOperator>* out) {
  Layouts layouts;
  layouts.weights = {input(1, "weight_input"), input(2, "weight_hidden")};
  return compile("DynamicRNNV2", call, attributes, 3, std::move(layouts), out);
}

}  // namespace softnpu
