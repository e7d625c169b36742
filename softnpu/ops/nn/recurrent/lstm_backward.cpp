#include <algorithm>

#include "ops/nn/recurrent/lstm.h"
#include "ops/nn/recurrent/product.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

constexpr size_t kInputs = 21;

struct Layouts {
  std::vector<LayerOperand> weights;    // one or two, with consecutive rows
  std::vector<LayerOperand> d_weights;  // the same
  LayerOperand x = input(0, "x");
  LayerOperand init_h = input(4, "init_h");
  LayerOperand init_c = input(5, "init_c");
  LayerOperand h = input(6, "h");
  LayerOperand c = input(7, "c");
  LayerOperand dy = input(8, "dy");
  LayerOperand dh = input(9, "dh");
  LayerOperand dc = input(10, "dc");
  LayerOperand i = input(11, "i");
  LayerOperand j = input(12, "j");
  LayerOperand f = input(13, "f");
  LayerOperand o = input(14, "o");
  LayerOperand tanh_c = input(15, "tanhct");
  LayerOperand mask = input(16, "seq_length");
  LayerOperand db;
  LayerOperand dx;
  LayerOperand d_init_h;
  LayerOperand d_init_c;
};

// Iterates backwards over the steps. The products with x and h run at the end, over all steps at once.
class Run {
 public:
  Run(const LstmProblem& problem, const Layouts& layouts)
      : p_(problem),
        threads_(threads_for(flops())),
        step_threads_(threads_for(flops() / static_cast<double>(std::max<int64_t>(1, p_.sizes.steps)))),
        weights_(layouts.weights.size()),
        d_weights_(layouts.weights.size()) {
    const auto& [steps, batch, inputs, hidden] = p_.sizes;
    // x and the preceding step's h side by side, in the order of the weights' rows.
    inputs_at_ = parts_.add(checked(steps) * batch * (checked(inputs) + hidden));
    weights_at_ = parts_.add((checked(inputs) + hidden) * width());
    d_gates_at_ = parts_.add(checked(steps) * batch * width());
    dh_at_ = parts_.add(checked(batch) * hidden);
    dc_at_ = parts_.add(checked(batch) * hidden);
    rows_at_ = parts_.add(checked(batch) * kRows * hidden);
    results_at_ = parts_.add(larger(checked(steps) * batch * inputs, (checked(inputs) + hidden + 1) * width()));
  }

  Status bind(std::span<void* const> operands, const Layouts& l) {
    for (size_t i = 0; i < weights_.size(); ++i) {
      SOFTNPU_RETURN_IF_ERROR(l.weights[i].bind(operands, &weights_[i]));
      SOFTNPU_RETURN_IF_ERROR(l.d_weights[i].bind(operands, &d_weights_[i]));
    }
    const std::pair<const LayerOperand*, FloatRows*> all[] = {{&l.x, &x_},
                                                              {&l.init_h, &init_h_},
                                                              {&l.init_c, &init_c_},
                                                              {&l.h, &h_},
                                                              {&l.c, &c_},
                                                              {&l.dy, &dy_},
                                                              {&l.dh, &dh_},
                                                              {&l.dc, &dc_},
                                                              {&l.i, &i_},
                                                              {&l.j, &j_},
                                                              {&l.f, &f_},
                                                              {&l.o, &o_},
                                                              {&l.tanh_c, &tanh_c_},
                                                              {&l.mask, &mask_},
                                                              {&l.db, &db_},
                                                              {&l.dx, &dx_},
                                                              {&l.d_init_h, &d_init_h_},
                                                              {&l.d_init_c, &d_init_c_}};
    for (const auto& [operand, rows] : all) SOFTNPU_RETURN_IF_ERROR(operand->bind(operands, rows));
    return Status::ok();
  }

  double flops() const {
    const auto& [steps, batch, inputs, hidden] = p_.sizes;
    constexpr double kFlopsPerCell = 16;
    const auto width = static_cast<double>(kLstmGates * hidden);
    return static_cast<double>(steps * batch) * width * (4.0 * static_cast<double>(inputs + hidden) + kFlopsPerCell);
  }
  Checked workspace_bytes() const { return parts_.bytes(); }

  void run(float* space) const {
    const auto& [steps, batch, inputs, hidden] = p_.sizes;
    load(space);
    for (int64_t order = steps; order-- > 0;) {
      const int64_t first = p_.step(order) * batch;
      parallel_for(batch, 1, step_threads_, [&](int64_t begin, int64_t end) {
        for (int64_t n = begin; n < end; ++n) cell(order, n, space);
      });
      const FloatMatrix hidden_weights{space + weights_at_ + inputs * width(), width()};
      multiply({1, batch, hidden, width()}, {space + d_gates_at_ + first * width(), width()},
               hidden_weights.transposed(), {space + dh_at_, hidden}, true, step_threads_);
    }
    if (d_init_h_.is_given()) d_init_h_.write_all(space + dh_at_, 1);
    if (d_init_c_.is_given()) d_init_c_.write_all(space + dc_at_, 1);
    finish(space);
  }

 private:
  static constexpr int64_t kRows = 9;  // buffers of cell(), in addition to the workspace's matrices

  int64_t width() const { return kLstmGates * p_.sizes.hidden; }

  void load(float* space) const {
    const auto& [steps, batch, inputs, hidden] = p_.sizes;
    float* to = space + weights_at_;
    for (const FloatRows& part : weights_) {
      part.read_all(to, threads_);
      to += part.count() * width();
    }
    for (int64_t order = 0; order < steps; ++order) {
      for (int64_t n = 0; n < batch; ++n) {
        const int64_t row = p_.step(order) * batch + n;
        float* both = space + inputs_at_ + row * (inputs + hidden);
        if (x_.is_given()) x_.read(row, both);
        read_before(h_, init_h_, order, n, both + inputs);
      }
    }
    std::fill_n(space + dh_at_, batch * hidden, 0.0F);
    std::fill_n(space + dc_at_, batch * hidden, 0.0F);
    if (dh_.is_given()) dh_.read_all(space + dh_at_, 1);
    if (dc_.is_given()) dc_.read_all(space + dc_at_, 1);
  }

  // Reads the state of sequence `n` before step `order`.
  void read_before(const FloatRows& states, const FloatRows& initial, int64_t order, int64_t n, float* to) const {
    if (order > 0 && states.is_given()) {
      states.read(p_.step(order - 1) * p_.sizes.batch + n, to);
    } else if (initial.is_given()) {
      initial.read(n, to);
    } else {
      std::fill_n(to, p_.sizes.hidden, 0.0F);
    }
  }

  // From the gradients of one sequence's state after a step, computes those of the gates' sums and the part that
  // reaches the preceding state without the weights.
  void cell(int64_t order, int64_t n, float* space) const {
    const auto& [steps, batch, inputs, hidden] = p_.sizes;
    const int64_t row = p_.step(order) * batch + n;
    float* dh = space + dh_at_ + n * hidden;
    float* dc = space + dc_at_ + n * hidden;
    float* d_gates = space + d_gates_at_ + row * width();
    float* own = space + rows_at_ + n * kRows * hidden;
    float* i = own;
    float* j = own + hidden;
    float* f = own + 2 * hidden;
    float* o = own + 3 * hidden;
    float* tanh_c = own + 4 * hidden;
    float* before = own + 5 * hidden;
    float* dy = own + 6 * hidden;
    float* mask = own + 7 * hidden;
    const std::pair<const FloatRows*, float*> reads[] = {{&i_, i},           {&j_, j},   {&f_, f},      {&o_, o},
                                                         {&tanh_c_, tanh_c}, {&dy_, dy}, {&mask_, mask}};
    for (const auto& [from, to] : reads) {
      if (from->is_given()) from->read(row, to);
    }
    read_before(c_, init_c_, order, n, before);
    for (int64_t k = 0; k < hidden; ++k) {
      const float kept = mask_.is_given() ? mask[k] : 1.0F;
      const float d_h = kept * (dh[k] + dy[k]);
      const float d_c = kept * dc[k] + d_h * o[k] * (1 - tanh_c[k] * tanh_c[k]);
      d_gates[p_.gates.i * hidden + k] = d_c * j[k] * i[k] * (1 - i[k]);
      d_gates[p_.gates.j * hidden + k] = d_c * i[k] * (1 - j[k] * j[k]);
      d_gates[p_.gates.f * hidden + k] = d_c * before[k] * f[k] * (1 - f[k]);
      d_gates[p_.gates.o * hidden + k] = d_h * tanh_c[k] * o[k] * (1 - o[k]);
      dh[k] = (1 - kept) * dh[k];
      dc[k] = d_c * f[k] + (1 - kept) * dc[k];
    }
  }

  void finish(float* space) const {
    const auto& [steps, batch, inputs, hidden] = p_.sizes;
    const int64_t rows = steps * batch;
    const FloatMatrix d_gates{space + d_gates_at_, width()};
    float* results = space + results_at_;
    if (dx_.is_given()) {
      const FloatMatrix weights{space + weights_at_, width()};
      multiply({1, rows, inputs, width()}, d_gates, weights.transposed(), {results, inputs}, false, threads_);
      dx_.write_all(results, threads_);
    }
    const FloatMatrix both{space + inputs_at_, inputs + hidden};
    multiply({1, inputs + hidden, width(), rows}, both.transposed(), d_gates, {results, width()}, false, threads_);
    for (const FloatRows& part : d_weights_) {
      part.write_all(results, threads_);
      results += part.count() * width();
    }
    if (!db_.is_given()) return;
    std::fill_n(results, width(), 0.0F);
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t k = 0; k < width(); ++k) results[k] += d_gates.data[row * width() + k];
    }
    db_.write(0, results);
  }

  LstmProblem p_;
  int threads_;
  int step_threads_;
  std::vector<FloatRows> weights_, d_weights_;
  FloatRows x_, init_h_, init_c_, h_, c_, dy_, dh_, dc_, i_, j_, f_, o_, tanh_c_, mask_;
  FloatRows db_, dx_, d_init_h_, d_init_c_;
  FloatParts parts_;
  int64_t inputs_at_, weights_at_, d_gates_at_, dh_at_, dc_at_, rows_at_, results_at_;
};

using LstmGrad = RecurrentOperator<LstmProblem, Layouts, Run>;

Status compile(const char* name, const RegistryCall& call, const LayerAttributes& attributes, Layouts layouts,
               std::unique_ptr<const CompiledOperator>* out) {
  const size_t parts = layouts.weights.size();
  SOFTNPU_RETURN_IF_ERROR(check_counts(call, kInputs, parts + 4));
  LstmProblem problem;
  SOFTNPU_RETURN_IF_ERROR(read_lstm(call, attributes, &problem));
  const auto& [steps, batch, inputs, hidden] = problem.sizes;
  const int64_t rows = steps * batch;
  const int64_t width = kLstmGates * hidden;
  layouts.db = output(parts, "db");
  layouts.dx = output(parts + 1, "dx");
  layouts.d_init_h = output(parts + 2, "dh_prev");
  layouts.d_init_c = output(parts + 3, "dc_prev");
  for (auto* list : {&layouts.weights, &layouts.d_weights}) {
    for (size_t i = 0; i < parts; ++i) {
      const int64_t count = parts == 1 ? inputs + hidden : i == 0 ? inputs : hidden;
      SOFTNPU_RETURN_IF_ERROR((*list)[i].read(call, count, width, false));
    }
  }
  for (LayerOperand* operand :
       {&layouts.h, &layouts.c, &layouts.dy, &layouts.i, &layouts.j, &layouts.f, &layouts.o, &layouts.tanh_c}) {
    SOFTNPU_RETURN_IF_ERROR(operand->read(call, rows, hidden, false));
  }
  for (LayerOperand* operand :
       {&layouts.init_h, &layouts.init_c, &layouts.dh, &layouts.dc, &layouts.d_init_h, &layouts.d_init_c}) {
    SOFTNPU_RETURN_IF_ERROR(operand->read(call, batch, hidden, true));
  }
  SOFTNPU_RETURN_IF_ERROR(layouts.x.read(call, rows, inputs, false));
  SOFTNPU_RETURN_IF_ERROR(layouts.dx.read(call, rows, inputs, true));
  SOFTNPU_RETURN_IF_ERROR(layouts.db.read(call, 1, width, true));
  // A zero-dimensional tensor means no mask.
  if (!call.inputs[layouts.mask.location].tensor.dims.empty()) {
    SOFTNPU_RETURN_IF_ERROR(layouts.mask.read(call, rows, hidden, true));
  }
  *out = std::make_unique<LstmGrad>(name, call, problem, std::move(layouts));
  return Status::ok();
}

}  // namespace

Status compile_lstm_grad(const RegistryCall& call, const LayerAttributes& attributes,
                         std::unique_ptr<const CompiledOperator>* out) {
  Layouts layouts;
  layouts.weights = {input(1, "w")};
  layouts.d_weights = {output(0, "dw")};
  return compile("DynamicRNNGrad", call, attributes, std::move(layouts), out);
}

Status compile_lstm_v2_grad(const RegistryCall& call, const LayerAttributes& attributes,
                            std::unique_ptr<const CompiledOperator>* out) {
  Layouts layouts;
  layouts.weights = {input(1, "w_x"), input(2, "w_h")};
  layouts.d_weights = {output(0, "dw_x"), output(1, "dw_h")};
  return compile("DynamicRNNV2Grad", call, attributes, std::move(layouts), out);
}

}  // namespace softnpu
