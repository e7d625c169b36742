// Recurrent networks of one layer and direction, step by step, with gradients by the steps' saved values.

#include <ATen/Functions.h>
#include <ATen/core/Tensor.h>

#include <array>
#include <span>

#include "aten/composed/operands.h"
#include "custom_kernels.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;
using FiveTensors = std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor>;
using SixTensors = std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor>;
using EightTensors = std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor>;

constexpr aclnn_check::Dtypes kStates = dtypes({at::kHalf, at::kFloat, at::kDouble});
constexpr std::size_t kSteps = 8;  // results of an LSTM

Tensor one_of(const OptionalTensor& tensor) { return tensor.value_or(Tensor()); }

// A gradient in the type that is computed in; zeros where there is none.
Tensor grad_or_zeros(const OptionalTensor& grad, const Tensor& like) {
  const Tensor given = one_of(grad);
  return given.defined() ? in_compute_type(given) : at::zeros_like(in_compute_type(like));
}

// Steps of an LSTM over x [T, B, I] by weights [I + H, 4 H] in the order i, f, j, o.
struct Lstm {
  const char* name;
  const Tensor &x, &weight, &bias, &h, &c;
  const char *h_name = "h", *c_name = "c";
  bool is_reverse = false;

  void check() const {
    const auto same = aclnn_check::dtype_bit(x.scalar_type());
    Operands(name).take("input", x, kStates).take("weight", weight, same).take("bias", bias, same);
    Operands(name).take("input", x, kStates).take(h_name, h, same).take(c_name, c, same);
    constexpr int64_t kGates = 4;
    const bool fits = x.dim() == 3 && weight.dim() == 2 && bias.dim() == 1 && weight.sym_size(1) == bias.sym_size(0) &&
                      bias.sym_size(0) % kGates == 0 &&
                      weight.sym_size(0) == x.sym_size(2) + bias.sym_size(0) / kGates &&
                      h.sym_numel() == x.sym_size(1) * (bias.sym_size(0) / kGates) && h.sym_sizes() == c.sym_sizes();
    TORCH_CHECK(fits, name, ": input is of size ", x.sym_sizes(), ", weight of size ", weight.sym_sizes(),
                ", bias of size ", bias.sym_sizes(), ", h of size ", h.sym_sizes(), ", c of size ", c.sym_sizes(),
                ": [T, B, I], [I + H, 4 H], [4 H] and twice [1, B, H] are taken");
  }

  c10::SymInt hidden() const { return bias.sym_size(0) / 4; }
  std::array<c10::SymInt, 3> sizes() const { return {x.sym_size(0), x.sym_size(1), hidden()}; }
  int64_t step(int64_t i, int64_t steps) const { return is_reverse ? steps - 1 - i : i; }
  // [B, H] of a state.
  Tensor rows(const Tensor& state) const { return in_compute_type(state).reshape({x.size(1), -1}); }

  // y, h, c, i, j, f, o and tanh of c. `kept` [T, B] says which rows have a step; the others keep their state and
  // give zeros.
  EightTensors forward(const Tensor& kept) const {
    check();
    std::array<Tensor, kSteps> results;
    if (x.is_meta()) {
      for (Tensor& result : results) result = at::empty_symint(sizes(), x.options());
    } else {
      run(kept, results);
    }
    return std::tuple_cat(results);
  }

  void check_saved(std::span<const char* const> names, const std::array<Tensor, kSteps>& saved,
                   const OptionalTensor& grady, const OptionalTensor& gradh, const OptionalTensor& gradc) const {
    const auto same = aclnn_check::dtype_bit(x.scalar_type());
    Operands operands(name);
    operands.take("input", x, kStates).take(names[0], grady, same).take(names[1], gradh, same);
    operands.take(names[2], gradc, same);
    for (std::size_t k = 0; k < kSteps; ++k) {
      operands.take(names[k + 3], saved[k], same);
      TORCH_CHECK(saved[k].sym_sizes() == c10::SymIntArrayRef(sizes()), name, ": ", names[k + 3], " is of size ",
                  saved[k].sym_sizes(), ": ", c10::SymIntArrayRef(sizes()), " is taken");
    }
  }

  // For x, weight, bias, h and c.
  FiveTensors backward(const OptionalTensor& grady, const OptionalTensor& gradh, const OptionalTensor& gradc,
                       const std::array<Tensor, kSteps>& saved, const Tensor& kept) const {
    check();
    if (x.is_meta()) {
      const auto empty_as = [](const Tensor& t) { return at::empty_symint(t.sym_sizes(), t.options()); };
      return {empty_as(x), empty_as(weight), empty_as(bias), empty_as(h), empty_as(c)};
    }
    return run_backward(grady, gradh, gradc, saved, kept);
  }

 private:
  void run(const Tensor& kept, std::array<Tensor, kSteps>& results) const {
    const int64_t steps = x.size(0), inputs = x.size(2);
    const Tensor w = in_compute_type(weight);
    // The inputs' share of all steps is one product.
    const Tensor gates = at::matmul(in_compute_type(x), w.slice(0, 0, inputs)) + in_compute_type(bias);
    const Tensor from_state = w.slice(0, inputs);
    Tensor state = rows(h), cell = rows(c);
    std::array<std::vector<Tensor>, kSteps> of_steps;
    for (auto& list : of_steps) list.resize(static_cast<std::size_t>(steps));
    for (int64_t s = 0; s < steps; ++s) {
      const int64_t t = step(s, steps);
      const std::vector<Tensor> g = (gates.select(0, t) + at::mm(state, from_state)).chunk(4, 1);
      const Tensor i = g[0].sigmoid(), f = g[1].sigmoid(), j = g[2].tanh(), o = g[3].sigmoid();
      Tensor next = f * cell + i * j;
      Tensor squashed = next.tanh();
      Tensor out = o * squashed, y = out;
      if (kept.defined()) {
        const Tensor is_kept = kept.select(0, t).unsqueeze(1);
        y = at::where(is_kept, out, 0);
        out = at::where(is_kept, out, state);
        next = at::where(is_kept, next, cell);
      }
      state = out;
      cell = next;
      std::size_t k = 0;
      for (const Tensor& part : {y, out, next, i, j, f, o, squashed}) of_steps[k++][static_cast<std::size_t>(t)] = part;
    }
    for (std::size_t k = 0; k < kSteps; ++k) {
      results[k] = steps > 0 ? at::stack(of_steps[k]).to(x.scalar_type()) : at::empty_symint(sizes(), x.options());
    }
  }

  FiveTensors run_backward(const OptionalTensor& grady, const OptionalTensor& gradh, const OptionalTensor& gradc,
                           const std::array<Tensor, kSteps>& saved, const Tensor& kept) const {
    enum : std::size_t { kY, kH, kC, kI, kJ, kF, kO, kTanh };
    const int64_t steps = x.size(0), inputs = x.size(2);
    std::array<Tensor, kSteps> v;
    for (std::size_t k = 0; k < kSteps; ++k) v[k] = in_compute_type(saved[k]);
    const Tensor w = in_compute_type(weight), to_state = w.slice(0, inputs).t();
    const Tensor dy = grad_or_zeros(grady, saved[kY]), dh = grad_or_zeros(gradh, saved[kH]);
    const Tensor dc = grad_or_zeros(gradc, saved[kC]);
    const Tensor first_h = rows(h), first_c = rows(c);
    Tensor next_h = at::zeros_like(first_h), next_c = at::zeros_like(first_c);
    std::vector<Tensor> gates(static_cast<std::size_t>(steps)), states(static_cast<std::size_t>(steps));
    for (int64_t s = steps - 1; s >= 0; --s) {
      const int64_t t = step(s, steps), before = s > 0 ? step(s - 1, steps) : 0;
      const auto at_step = [&](std::size_t k) { return v[k].select(0, t); };
      const Tensor state = s > 0 ? v[kH].select(0, before) : first_h;
      const Tensor cell = s > 0 ? v[kC].select(0, before) : first_c;
      const Tensor passed_h = dh.select(0, t) + next_h;
      Tensor of_h = dy.select(0, t) + passed_h, of_c = dc.select(0, t) + next_c;
      const Tensor passed_c = of_c;
      Tensor is_kept;
      if (kept.defined()) {
        is_kept = kept.select(0, t).unsqueeze(1);
        of_h = at::where(is_kept, of_h, 0);
        of_c = at::where(is_kept, of_c, 0);
      }
      const Tensor i = at_step(kI), j = at_step(kJ), f = at_step(kF), o = at_step(kO), squashed = at_step(kTanh);
      const Tensor d = of_c + of_h * o * (1 - squashed.square());
      const Tensor gate = at::cat(
          {d * j * i * (1 - i), d * cell * f * (1 - f), d * i * (1 - j.square()), of_h * squashed * o * (1 - o)}, 1);
      next_h = at::mm(gate, to_state);
      next_c = d * f;
      if (kept.defined()) {
        next_h = at::where(is_kept, next_h, passed_h);
        next_c = at::where(is_kept, next_c, passed_c);
      }
      gates[static_cast<std::size_t>(t)] = gate;
      states[static_cast<std::size_t>(t)] = state;
    }
    const auto as_given = [](const Tensor& grad, const Tensor& like) {
      return grad.reshape(like.sizes()).to(like.scalar_type());
    };
    if (steps == 0) {
      return {at::zeros_like(x), at::zeros_like(weight), at::zeros_like(bias), as_given(next_h, h),
              as_given(next_c, c)};
    }
    const Tensor of_gates = at::stack(gates);
    const Tensor flat = of_gates.flatten(0, 1);
    const Tensor taken = at::cat({in_compute_type(x), at::stack(states)}, 2).flatten(0, 1);
    return {as_given(at::matmul(of_gates, w.slice(0, 0, inputs).t()), x), as_given(at::mm(taken.t(), flat), weight),
            as_given(flat.sum(0), bias), as_given(next_h, h), as_given(next_c, c)};
  }
};

void check_plain(const char* name, int64_t num_layers, double dropout, bool bidirectional, bool batch_first) {
  TORCH_CHECK_NOT_IMPLEMENTED(num_layers == 1 && dropout == 0 && !bidirectional && !batch_first, name,
                              ": num_layers is ", num_layers, ", dropout ", dropout, ", bidirectional ", bidirectional,
                              ", batch_first ", batch_first,
                              ": 1, 0, False and False are taken; torch.nn has the rest");
}

// Which of the batch has a step, [T, B].
Tensor steps_of(const char* name, const Tensor& x, const Tensor& batch_sizes) {
  TORCH_CHECK(batch_sizes.dim() == 1 && x.dim() == 3 && batch_sizes.sym_size(0) == x.sym_size(0) &&
                  !batch_sizes.is_floating_point(),
              name, ": batch_sizes is a tensor of ", batch_sizes.scalar_type(), ", size ", batch_sizes.sym_sizes(),
              " for an input of size ", x.sym_sizes(), ": a number a step is taken");
  if (x.is_meta()) return {};
  const Tensor counts = batch_sizes.to(x.device(), at::kLong);
  return at::arange(x.size(1), counts.options()) < counts.unsqueeze(1);
}

// Steps of a GRU over x [T, B, I] by weights [I, 3 H] and [H, 3 H] in the order r, z, n.
struct Gru {
  const char* name;
  const Tensor &x, &h, &w_x, &w_h, &b_x, &b_h;

  void check() const {
    const auto same = aclnn_check::dtype_bit(x.scalar_type());
    Operands(name)
        .take("input", x, kStates)
        .take("hx", h, same)
        .take("weight_input", w_x, same)
        .take("weight_hidden", w_h, same)
        .take("bias_input", b_x, same)
        .take("bias_hidden", b_h, same);
    constexpr int64_t kGates = 3;
    const c10::SymInt count = b_x.dim() == 1 ? b_x.sym_size(0) : c10::SymInt(1);
    const bool fits = x.dim() == 3 && count % kGates == 0 && b_h.sym_sizes() == b_x.sym_sizes() && w_x.dim() == 2 &&
                      w_x.sym_size(0) == x.sym_size(2) && w_x.sym_size(1) == count && w_h.dim() == 2 &&
                      w_h.sym_size(0) == count / kGates && w_h.sym_size(1) == count &&
                      h.sym_numel() == x.sym_size(1) * (count / kGates);
    TORCH_CHECK(fits, name, ": input is of size ", x.sym_sizes(), ", hx of size ", h.sym_sizes(),
                ", weight_input of size ", w_x.sym_sizes(), ", weight_hidden of size ", w_h.sym_sizes(),
                ", bias_input of size ", b_x.sym_sizes(), ", bias_hidden of size ", b_h.sym_sizes(),
                ": [T, B, I], [B, H], [I, 3 H], [H, 3 H] and twice [3 H] are taken");
  }
};

}  // namespace

EightTensors npu_lstm(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& seq_mask,
                      const Tensor& h, const Tensor& c, bool /*has_biases*/, int64_t num_layers, double dropout,
                      bool /*train*/, bool bidirectional, bool batch_first, bool flag_seq, bool direction) {
  constexpr const char* kName = "npu_lstm";
  check_plain(kName, num_layers, dropout, bidirectional, batch_first);
  Operands(kName).take("input", input, kStates).take("seq_mask", seq_mask);
  TORCH_CHECK_NOT_IMPLEMENTED(!flag_seq && !direction, kName, ": flag_seq is ", flag_seq, ", direction ", direction,
                              ": False is taken; npu_lstm_data has sequences of different lengths and both directions");
  return Lstm{kName, input, weight, bias, h, c}.forward({});
}

FiveTensors npu_lstm_backward(const OptionalTensor& grady, const OptionalTensor& gradh, const OptionalTensor& gradc,
                              const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& hx,
                              const Tensor& cx, const Tensor& y_output, const Tensor& h_output, const Tensor& c_output,
                              const Tensor& i, const Tensor& j, const Tensor& f, const Tensor& o, const Tensor& tanhc) {
  constexpr std::array<const char*, kSteps + 3> kNames = {"grady", "gradh", "gradc", "y_output", "h_output", "c_output",
                                                          "i",     "j",     "f",     "o",        "tanhc"};
  const Lstm lstm{"npu_lstm_backward", input, weight, bias, hx, cx, "hx", "cx"};
  const std::array<Tensor, kSteps> saved = {y_output, h_output, c_output, i, j, f, o, tanhc};
  lstm.check_saved(kNames, saved, grady, gradh, gradc);
  return lstm.backward(grady, gradh, gradc, saved, {});
}

EightTensors npu_lstm_data(const Tensor& input, const Tensor& batch_sizes, const Tensor& weight, const Tensor& bias,
                           const Tensor& seq_mask, const Tensor& h, const Tensor& c, bool /*has_biases*/,
                           int64_t num_layers, double dropout, bool /*train*/, bool bidirectional, bool batch_first,
                           bool /*flag_seq*/, bool direction) {
  constexpr const char* kName = "npu_lstm_data";
  check_plain(kName, num_layers, dropout, bidirectional, batch_first);
  Operands(kName).take("input", input, kStates).take("batch_sizes", batch_sizes, kIndexes).take("seq_mask", seq_mask);
  return Lstm{kName, input, weight, bias, h, c, "h", "c", direction}.forward(steps_of(kName, input, batch_sizes));
}

FiveTensors npu_lstm_data_backward(const OptionalTensor& grady_opt, const OptionalTensor& gradh_opt,
                                   const OptionalTensor& gradc_opt, const Tensor& input, const Tensor& batch_sizes,
                                   const Tensor& weight, const Tensor& bias, const Tensor& init_h, const Tensor& init_c,
                                   const Tensor& y, const Tensor& h, const Tensor& c, const Tensor& i, const Tensor& j,
                                   const Tensor& f, const Tensor& o, const Tensor& tanhc, bool flag_direction) {
  constexpr const char* kName = "npu_lstm_data_backward";
  Operands(kName).take("input", input, kStates).take("batch_sizes", batch_sizes, kIndexes);
  constexpr std::array<const char*, kSteps + 3> kNames = {"grady_opt", "gradh_opt", "gradc_opt", "y", "h",    "c",
                                                          "i",         "j",         "f",         "o", "tanhc"};
  const Lstm lstm{kName, input, weight, bias, init_h, init_c, "init_h", "init_c", flag_direction};
  const std::array<Tensor, kSteps> saved = {y, h, c, i, j, f, o, tanhc};
  lstm.check_saved(kNames, saved, grady_opt, gradh_opt, gradc_opt);
  return lstm.backward(grady_opt, gradh_opt, gradc_opt, saved, steps_of(kName, input, batch_sizes));
}

EightTensors npu_lstm_cell(const Tensor& input, const Tensor& w_ih, const Tensor& w_hh, const Tensor& h,
                           const Tensor& c, const OptionalTensor& b_ih, const OptionalTensor& b_hh) {
  constexpr const char* kName = "npu_lstm_cell";
  const auto same = aclnn_check::dtype_bit(input.scalar_type());
  Operands(kName)
      .take("input", input, kStates)
      .take("w_ih", w_ih, same)
      .take("w_hh", w_hh, same)
      .take("h", h, same)
      .take("c", c, same)
      .take("b_ih", b_ih, same)
      .take("b_hh", b_hh, same);
  TORCH_CHECK(input.dim() == 2 && w_ih.dim() == 2 && w_hh.dim() == 2 && w_hh.sym_size(1) == w_hh.sym_size(0) * 4 &&
                  w_ih.sym_size(1) == w_hh.sym_size(1) && w_ih.sym_size(0) == input.sym_size(1) &&
                  one_of(b_ih).defined() == one_of(b_hh).defined(),
              kName, ": input is of size ", input.sym_sizes(), ", w_ih of size ", w_ih.sym_sizes(), ", w_hh of size ",
              w_hh.sym_sizes(), ": [B, I], [I, 4 H] and [H, 4 H] are taken, and both biases [4 H] or none");
  // PyTorch's order of gates: i, f, g, o.
  const Tensor weight = at::cat({w_ih, w_hh}, 0);
  const Tensor bias = one_of(b_ih).defined() ? *b_ih + *b_hh : at::zeros_symint({w_hh.sym_size(1)}, input.options());
  const Tensor x = input.unsqueeze(0);
  auto results = Lstm{kName, x, weight, bias, h, c}.forward({});
  std::get<1>(results) = std::get<1>(results).squeeze(0);
  std::get<2>(results) = std::get<2>(results).squeeze(0);
  return results;
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor> npu_lstm_cell_backward(
    const OptionalTensor& grady, const OptionalTensor& gradh, const OptionalTensor& gradc, const Tensor& input,
    const Tensor& w_ih, const Tensor& w_hh, const Tensor& h, const Tensor& c, const Tensor& y_output,
    const Tensor& h_output, const Tensor& c_output, const Tensor& i, const Tensor& j, const Tensor& f, const Tensor& o,
    const Tensor& tanhc) {
  constexpr const char* kName = "npu_lstm_cell_backward";
  const auto same = aclnn_check::dtype_bit(input.scalar_type());
  Operands(kName).take("input", input, kStates).take("w_ih", w_ih, same).take("w_hh", w_hh, same);
  TORCH_CHECK(input.dim() == 2 && w_ih.dim() == 2 && w_hh.dim() == 2, kName, ": input is of size ", input.sym_sizes(),
              ", w_ih of size ", w_ih.sym_sizes(), ", w_hh of size ", w_hh.sym_sizes(), ": matrices are taken");
  const Tensor weight = at::cat({w_ih, w_hh}, 0), bias = at::zeros_symint({w_hh.sym_size(1)}, input.options());
  const auto step = [](const OptionalTensor& grad) {
    return one_of(grad).defined() ? OptionalTensor(grad->unsqueeze(0)) : OptionalTensor();
  };
  constexpr std::array<const char*, kSteps + 3> kNames = {"grady", "gradh", "gradc", "y_output", "h_output", "c_output",
                                                          "i",     "j",     "f",     "o",        "tanhc"};
  const Tensor x = input.unsqueeze(0);
  const Lstm lstm{kName, x, weight, bias, h, c};
  const std::array<Tensor, kSteps> saved = {y_output, h_output.unsqueeze(0), c_output.unsqueeze(0), i, j, f, o, tanhc};
  lstm.check_saved(kNames, saved, grady, step(gradh), step(gradc));
  const auto [dx, dw, db, dh, dc] = lstm.backward(grady, step(gradh), step(gradc), saved, {});
  const c10::SymInt inputs = input.sym_size(1);
  return {dx.squeeze(0),
          dw.narrow_symint(0, 0, inputs).clone(),
          dw.narrow_symint(0, inputs, w_hh.sym_size(0)).clone(),
          db,
          db.clone(),
          dh,
          dc};
}

SixTensors npu_gru(const Tensor& input, const Tensor& hx, const Tensor& weight_input, const Tensor& weight_hidden,
                   const Tensor& bias_input, const Tensor& bias_hidden, const Tensor& seq_length, bool /*has_biases*/,
                   int64_t num_layers, double dropout, bool /*train*/, bool bidirectional, bool batch_first) {
  constexpr const char* kName = "npu_gru";
  check_plain(kName, num_layers, dropout, bidirectional, batch_first);
  Operands(kName).take("input", input, kStates).take("seq_length", seq_length);
  Gru{kName, input, hx, weight_input, weight_hidden, bias_input, bias_hidden}.check();
  constexpr std::size_t kCount = 6;
  std::array<Tensor, kCount> results;
  const c10::SymInt hidden = bias_input.sym_size(0) / 3;
  if (input.is_meta() || input.size(0) == 0) {
    for (Tensor& result : results) {
      result = at::empty_symint({input.sym_size(0), input.sym_size(1), hidden}, input.options());
    }
    return std::tuple_cat(results);
  }
  const int64_t steps = input.size(0);
  const Tensor gates = at::matmul(in_compute_type(input), in_compute_type(weight_input)) + in_compute_type(bias_input);
  const Tensor w = in_compute_type(weight_hidden), b = in_compute_type(bias_hidden);
  Tensor state = in_compute_type(hx).reshape({input.size(1), -1});
  std::array<std::vector<Tensor>, kCount> of_steps;
  for (int64_t t = 0; t < steps; ++t) {
    const std::vector<Tensor> x = gates.select(0, t).chunk(3, 1), s = at::addmm(b, state, w).chunk(3, 1);
    const Tensor r = (x[0] + s[0]).sigmoid(), z = (x[1] + s[1]).sigmoid(), n = (x[2] + r * s[2]).tanh();
    state = n + z * (state - n);
    std::size_t k = 0;
    for (const Tensor& part : {state, state, z, r, n, s[2]}) of_steps[k++].push_back(part);
  }
  for (std::size_t k = 0; k < kCount; ++k) results[k] = at::stack(of_steps[k]).to(input.scalar_type());
  return std::tuple_cat(results);
}

SixTensors npu_gru_backward(const OptionalTensor& grady, const OptionalTensor& gradh, const Tensor& input,
                            const Tensor& weight_input, const Tensor& weight_hidden, const Tensor& bias_input,
                            const Tensor& bias_hidden, const Tensor& seq_length, const Tensor& hx,
                            const Tensor& y_output, const Tensor& h_output, const Tensor& output_updata,
                            const Tensor& output_reset, const Tensor& output_new, const Tensor& hidden_new) {
  constexpr const char* kName = "npu_gru_backward";
  Gru{kName, input, hx, weight_input, weight_hidden, bias_input, bias_hidden}.check();
  const auto same = aclnn_check::dtype_bit(input.scalar_type());
  Operands(kName)
      .take("input", input, kStates)
      .take("grady", grady, same)
      .take("gradh", gradh, same)
      .take("seq_length", seq_length)
      .take("y_output", y_output, same)
      .take("h_output", h_output, same)
      .take("output_updata", output_updata, same)
      .take("output_reset", output_reset, same)
      .take("output_new", output_new, same)
      .take("hidden_new", hidden_new, same);
  if (input.is_meta() || input.size(0) == 0) {
    const auto empty_as = [](const Tensor& t) { return at::zeros_symint(t.sym_sizes(), t.options()); };
    return {empty_as(weight_input), empty_as(weight_hidden), empty_as(input),
            empty_as(bias_input),   empty_as(bias_hidden),   empty_as(hx)};
  }
  const int64_t steps = input.size(0);
  const Tensor dy = grad_or_zeros(grady, y_output), dh = grad_or_zeros(gradh, h_output);
  const Tensor states = in_compute_type(h_output), update = in_compute_type(output_updata);
  const Tensor reset = in_compute_type(output_reset), fresh = in_compute_type(output_new);
  const Tensor hidden = in_compute_type(hidden_new), to_state = in_compute_type(weight_hidden).t();
  const Tensor first = in_compute_type(hx).reshape({input.size(1), -1});
  Tensor next = at::zeros_like(first);
  std::vector<Tensor> of_inputs(static_cast<std::size_t>(steps)), of_states(static_cast<std::size_t>(steps));
  for (int64_t t = steps - 1; t >= 0; --t) {
    const Tensor before = t > 0 ? states.select(0, t - 1) : first;
    const Tensor d = dy.select(0, t) + dh.select(0, t) + next;
    const Tensor z = update.select(0, t), r = reset.select(0, t), n = fresh.select(0, t);
    const Tensor dn = d * (1 - z) * (1 - n.square()), dz = d * (before - n) * z * (1 - z);
    const Tensor dr = dn * hidden.select(0, t) * r * (1 - r);
    const auto s = static_cast<std::size_t>(t);
    of_inputs[s] = at::cat({dr, dz, dn}, 1);
    of_states[s] = at::cat({dr, dz, dn * r}, 1);
    next = d * z + at::mm(of_states[s], to_state);
  }
  const Tensor gates = at::stack(of_inputs), flat = gates.flatten(0, 1), from = at::cat(of_states);
  const Tensor before = at::cat({first.unsqueeze(0), states.slice(0, 0, steps - 1)}).flatten(0, 1);
  const auto as_given = [](const Tensor& grad, const Tensor& like) {
    return grad.reshape(like.sizes()).to(like.scalar_type());
  };
  return {as_given(at::mm(in_compute_type(input).flatten(0, 1).t(), flat), weight_input),
          as_given(at::mm(before.t(), from), weight_hidden),
          as_given(at::matmul(gates, in_compute_type(weight_input).t()), input),
          as_given(flat.sum(0), bias_input),
          as_given(from.sum(0), bias_hidden),
          as_given(next, hx)};
}

}  // namespace torch_npu::custom
