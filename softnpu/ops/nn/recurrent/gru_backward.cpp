#include <algorithm>

#include "ops/nn/recurrent/gru.h"
#include "ops/nn/recurrent/product.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

struct Layouts {
  LayerOperand x = input(0, "x");
  LayerOperand w_x = input(1, "weight_input");
  LayerOperand w_h = input(2, "weight_hidden");
  LayerOperand init_h = input(4, "init_h");
  LayerOperand h = input(5, "h");
  LayerOperand dy = input(6, "dy");
  LayerOperand dh = input(7, "dh");
  LayerOperand z = input(8, "update");
  LayerOperand r = input(9, "reset");
  LayerOperand n = input(10, "new");
  LayerOperand hidden_new = input(11, "hidden_new");
  LayerOperand dw_x = output(0, "dw_input");
  LayerOperand dw_h = output(1, "dw_hidden");
  LayerOperand db_x = output(2, "db_input");
  LayerOperand db_h = output(3, "db_hidden");
  LayerOperand dx = output(4, "dx");
  LayerOperand d_init_h = output(5, "dh_prev");
};

// Iterates backwards over the steps. The products with x and the states run at the end, over all steps at once.
class Run {
 public:
  Run(const GruProblem& problem, const Layouts& /*layouts*/)
      : p_(problem),
        threads_(threads_for(flops())),
        step_threads_(threads_for(flops() / static_cast<double>(std::max<int64_t>(1, p_.sizes.steps)))) {
    const auto& [steps, batch, inputs, hidden] = p_.sizes;
    const Checked rows = checked(steps) * batch;
    x_at_ = parts_.add(rows * inputs);
    before_at_ = parts_.add(rows * hidden);
    w_x_at_ = parts_.add(checked(inputs) * p_.width());
    w_h_at_ = parts_.add(checked(hidden) * p_.width());
    d_x_sums_at_ = parts_.add(rows * p_.width());
    d_h_sums_at_ = parts_.add(rows * p_.width());
    dh_at_ = parts_.add(checked(batch) * hidden);
    rows_at_ = parts_.add(checked(batch) * kRows * hidden);
    results_at_ = parts_.add(larger(rows * inputs, checked(std::max({inputs, hidden, int64_t{1}})) * p_.width()));
  }

  Status bind(std::span<void* const> operands, const Layouts& l) {
    const std::pair<const LayerOperand*, FloatRows*> all[] = {{&l.x, &x_},
                                                              {&l.w_x, &w_x_},
                                                              {&l.w_h, &w_h_},
                                                              {&l.init_h, &init_h_},
                                                              {&l.h, &h_},
                                                              {&l.dy, &dy_},
                                                              {&l.dh, &dh_},
                                                              {&l.z, &z_},
                                                              {&l.r, &r_},
                                                              {&l.n, &n_},
                                                              {&l.dw_x, &dw_x_},
                                                              {&l.dw_h, &dw_h_},
                                                              {&l.db_x, &db_x_},
                                                              {&l.db_h, &db_h_},
                                                              {&l.hidden_new, &hidden_new_},
                                                              {&l.dx, &dx_},
                                                              {&l.d_init_h, &d_init_h_}};
    for (const auto& [operand, rows] : all) SOFTNPU_RETURN_IF_ERROR(operand->bind(operands, rows));
    return Status::ok();
  }

  double flops() const {
    const auto& [steps, batch, inputs, hidden] = p_.sizes;
    constexpr double kFlopsPerCell = 16;
    return static_cast<double>(steps * batch) * static_cast<double>(p_.width()) *
           (4.0 * static_cast<double>(inputs + hidden) + kFlopsPerCell);
  }
  Checked workspace_bytes() const { return parts_.bytes(); }

  void run(float* space) const {
    const auto& [steps, batch, inputs, hidden] = p_.sizes;
    const int64_t width = p_.width();
    load(space);
    for (int64_t order = steps; order-- > 0;) {
      const int64_t first = p_.step(order) * batch;
      parallel_for(batch, 1, step_threads_, [&](int64_t begin, int64_t end) {
        for (int64_t at = begin; at < end; ++at) cell(first + at, at, space);
      });
      const FloatMatrix weights{space + w_h_at_, width};
      multiply({1, batch, hidden, width}, {space + d_h_sums_at_ + first * width, width}, weights.transposed(),
               {space + dh_at_, hidden}, true, step_threads_);
    }
    if (d_init_h_.is_given()) d_init_h_.write_all(space + dh_at_, 1);
    finish(space);
  }

 private:
  static constexpr int64_t kRows = 5;  // buffers of cell(), in addition to the workspace's matrices

  void load(float* space) const {
    const auto& [steps, batch, inputs, hidden] = p_.sizes;
    x_.read_all(space + x_at_, threads_);
    w_x_.read_all(space + w_x_at_, threads_);
    w_h_.read_all(space + w_h_at_, threads_);
    for (int64_t order = 0; order < steps; ++order) {
      for (int64_t at = 0; at < batch; ++at) {
        float* to = space + before_at_ + (p_.step(order) * batch + at) * hidden;
        if (order > 0) {
          h_.read(p_.step(order - 1) * batch + at, to);
        } else if (init_h_.is_given()) {
          init_h_.read(at, to);
        } else {
          std::fill_n(to, hidden, 0.0F);
        }
      }
    }
    std::fill_n(space + dh_at_, batch * hidden, 0.0F);
    if (dh_.is_given()) dh_.read_all(space + dh_at_, 1);
  }

  // From the gradient of one sequence's state after a step, computes those of both sums (of x and of the preceding
  // state) and the part that reaches the preceding state without the weights.
  void cell(int64_t row, int64_t at, float* space) const {
    const int64_t hidden = p_.sizes.hidden;
    float* dh = space + dh_at_ + at * hidden;
    float* from_x = space + d_x_sums_at_ + row * p_.width();
    float* from_h = space + d_h_sums_at_ + row * p_.width();
    const float* before = space + before_at_ + row * hidden;
    float* z = space + rows_at_ + at * kRows * hidden;
    float* r = z + hidden;
    float* n = r + hidden;
    float* hidden_new = n + hidden;
    float* dy = hidden_new + hidden;
    const std::pair<const FloatRows*, float*> reads[] = {
        {&z_, z}, {&r_, r}, {&n_, n}, {&hidden_new_, hidden_new}, {&dy_, dy}};
    for (const auto& [from, to] : reads) from->read(row, to);
    for (int64_t k = 0; k < hidden; ++k) {
      const float d = dh[k] + dy[k];
      const float d_n = d * (1 - z[k]) * (1 - n[k] * n[k]);
      const float d_r = d_n * hidden_new[k] * r[k] * (1 - r[k]);
      const float d_z = d * (before[k] - n[k]) * z[k] * (1 - z[k]);
      from_x[p_.gates.r * hidden + k] = from_h[p_.gates.r * hidden + k] = d_r;
      from_x[p_.gates.z * hidden + k] = from_h[p_.gates.z * hidden + k] = d_z;
      from_x[p_.gates.n * hidden + k] = d_n;
      from_h[p_.gates.n * hidden + k] = d_n * r[k];
      dh[k] = d * z[k];
    }
  }

  void finish(float* space) const {
    const auto& [steps, batch, inputs, hidden] = p_.sizes;
    const int64_t rows = steps * batch;
    const int64_t width = p_.width();
    const FloatMatrix from_x{space + d_x_sums_at_, width};
    const FloatMatrix from_h{space + d_h_sums_at_, width};
    float* results = space + results_at_;
    if (dx_.is_given()) {
      const FloatMatrix weights{space + w_x_at_, width};
      multiply({1, rows, inputs, width}, from_x, weights.transposed(), {results, inputs}, false, threads_);
      dx_.write_all(results, threads_);
    }
    const FloatMatrix x{space + x_at_, inputs};
    multiply({1, inputs, width, rows}, x.transposed(), from_x, {results, width}, false, threads_);
    if (dw_x_.is_given()) dw_x_.write_all(results, threads_);
    const FloatMatrix before{space + before_at_, hidden};
    multiply({1, hidden, width, rows}, before.transposed(), from_h, {results, width}, false, threads_);
    if (dw_h_.is_given()) dw_h_.write_all(results, threads_);
    put_sums(from_x, db_x_, results);
    put_sums(from_h, db_h_, results);
  }

  void put_sums(const FloatMatrix& gates, const FloatRows& to, float* sums) const {
    if (!to.is_given()) return;
    std::fill_n(sums, p_.width(), 0.0F);
    for (int64_t row = 0; row < p_.sizes.rows(); ++row) {
      for (int64_t k = 0; k < p_.width(); ++k) sums[k] += gates.data[row * p_.width() + k];
    }
    to.write(0, sums);
  }

  GruProblem p_;
  int threads_;
  int step_threads_;
  FloatRows x_, w_x_, w_h_, init_h_, h_, dy_, dh_, z_, r_, n_, hidden_new_;
  FloatRows dw_x_, dw_h_, db_x_, db_h_, dx_, d_init_h_;
  FloatParts parts_;
  int64_t x_at_, before_at_, w_x_at_, w_h_at_, d_x_sums_at_, d_h_sums_at_, dh_at_, rows_at_, results_at_;
};

using GruGrad = RecurrentOperator<GruProblem, Layouts, Run>;

}  // namespace

Status compile_gru_grad(const RegistryCall& call, const LayerAttributes& attributes,
                        std::unique_ptr<const CompiledOperator>* out) {
  SOFTNPU_RETURN_IF_ERROR(check_counts(call, 14, 6));
  GruProblem problem;
  SOFTNPU_RETURN_IF_ERROR(read_gru(call, attributes, &problem));
  const auto& [steps, batch, inputs, hidden] = problem.sizes;
  const int64_t width = problem.width();
  // A single number means no lengths and no mask.
  for (size_t location : {size_t{12}, size_t{13}}) {
    if (call.inputs[location].is_given && element_count(call.inputs[location].tensor) > 1) {
      return {ACL_ERROR_INVALID_PARAM, "sequences of their own lengths are not implemented"};
    }
  }
  Layouts l;
  SOFTNPU_RETURN_IF_ERROR(l.x.read(call, steps * batch, inputs, false));
  SOFTNPU_RETURN_IF_ERROR(l.w_x.read(call, inputs, width, false));
  SOFTNPU_RETURN_IF_ERROR(l.w_h.read(call, hidden, width, false));
  for (LayerOperand* operand : {&l.h, &l.dy, &l.z, &l.r, &l.n, &l.hidden_new}) {
    SOFTNPU_RETURN_IF_ERROR(operand->read(call, steps * batch, hidden, false));
  }
  for (LayerOperand* operand : {&l.init_h, &l.dh, &l.d_init_h}) {
    SOFTNPU_RETURN_IF_ERROR(operand->read(call, batch, hidden, true));
  }
  SOFTNPU_RETURN_IF_ERROR(l.dw_x.read(call, inputs, width, true));
  SOFTNPU_RETURN_IF_ERROR(l.dw_h.read(call, hidden, width, true));
  SOFTNPU_RETURN_IF_ERROR(l.db_x.read(call, 1, width, true));
  SOFTNPU_RETURN_IF_ERROR(l.db_h.read(call, 1, width, true));
  SOFTNPU_RETURN_IF_ERROR(l.dx.read(call, steps * batch, inputs, true));
  *out = std::make_unique<GruGrad>("DynamicGRUV2Grad", call, problem, std::move(l));
  return Status::ok();
}

}  // namespace softnpu
