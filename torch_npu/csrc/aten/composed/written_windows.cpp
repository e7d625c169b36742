// A causal convolution over sequences whose last rows a program keeps from call to call.

#include <ATen/Functions.h>
#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include <algorithm>

#include "aten/composed/operands.h"
#include "aten/composed/sequences.h"
#include "aten/custom/written_arguments.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;
using OptionalText = std::optional<std::string_view>;

constexpr const char* kWindows = "npu_fused_causal_conv1d";

struct Windows {
  const Tensor &x, &weight, &states;
  const OptionalTensor &starts, &lines, &bias, &accepted, &computed;
  int64_t unused_line;
  bool adds_input, resets;

  static bool has(const OptionalTensor& tensor) { return tensor.has_value() && tensor->defined(); }

  void check() const {
    const auto floating = dtypes({at::kHalf, at::kBFloat16, at::kFloat});
    const auto same = aclnn_check::dtype_bit(x.scalar_type());
    Operands(kWindows)
        .take("x", x, floating)
        .take("weight", weight, same)
        .take("conv_states", states, same)
        .take("query_start_loc", starts, kIndexes)
        .take("cache_indices", lines, kIndexes)
        .take("bias", bias, same)
        .take("num_accepted_tokens", accepted, kIndexes)
        .take("num_computed_tokens", computed, kIndexes);
    TORCH_CHECK(
        (x.dim() == 2 || x.dim() == 3) && weight.dim() == 2 && states.dim() == 3 &&
            weight.sym_size(1) == x.sym_size(-1) && states.sym_size(2) == x.sym_size(-1) &&
            states.sym_size(1) >= weight.sym_size(0) - 1 && (x.dim() == 3 || has(starts)) &&
            (!has(bias) || bias->sym_numel() == x.sym_size(-1)),
        "npu::", kWindows, ": x is of size ", x.sym_sizes(), ", weight of size ", weight.sym_sizes(),
        ", conv_states of size ", states.sym_sizes(), ", query_start_loc ", has(starts) ? "given" : "None",
        ": [T, dim] with query_start_loc or [B, S, dim], [taps, dim] and [lines, at least taps - 1, dim] are taken");
    TORCH_CHECK(!resets || has(computed), "npu::", kWindows, ": num_computed_tokens is None with conv_mode 'pangu'");
  }

  std::vector<Span> sequences() const {
    std::vector<Span> found;
    if (!has(starts)) {
      for (int64_t b = 0; b < x.size(0); ++b) found.push_back({b * x.size(1), x.size(1)});
      return found;
    }
    const std::vector<int64_t> begins = numbers_of(kWindows, "query_start_loc", *starts);
    const int64_t rows = x.numel() / std::max<int64_t>(1, x.size(-1));
    for (std::size_t i = 0; i + 1 < begins.size(); ++i) {
      TORCH_CHECK(0 <= begins[i] && begins[i] <= begins[i + 1] && begins[i + 1] <= rows, "npu::", kWindows,
                  ": query_start_loc has ", begins[i + 1], " behind ", begins[i], " for ", rows,
                  " rows: numbers that do not fall are taken");
      found.push_back({begins[i], begins[i + 1] - begins[i]});
    }
    return found;
  }

  // A number for each sequence, `otherwise` without a tensor.
  std::vector<int64_t> numbers(const char* role, const OptionalTensor& given, std::size_t count,
                               int64_t otherwise) const {
    if (!has(given)) return std::vector<int64_t>(count, otherwise);
    std::vector<int64_t> found = numbers_of(kWindows, role, *given);
    TORCH_CHECK(found.size() >= count, "npu::", kWindows, ": ", role, " has ", found.size(), " numbers for ", count,
                " sequences");
    return found;
  }

  Tensor run() const {
    check();
    if (x.is_meta()) return at::empty_symint(x.sym_sizes(), x.options());
    const Tensor rows = x.reshape({-1, x.size(-1)}), out = at::zeros_like(rows), widened = weight.to(at::kFloat);
    const std::vector<Span> spans = sequences();
    const int64_t taps = weight.size(0), kept = states.size(1);
    const std::vector<int64_t> own = numbers("cache_indices", lines, spans.size(), 0);
    const std::vector<int64_t> taken = numbers("num_accepted_tokens", accepted, spans.size(), 0);
    const std::vector<int64_t> done = numbers("num_computed_tokens", computed, spans.size(), 1);
    for (std::size_t b = 0; b < spans.size(); ++b) {
      const Span& span = spans[b];
      const int64_t line = has(lines) ? own[b] : static_cast<int64_t>(b);
      if (line == unused_line) continue;
      TORCH_CHECK(line >= 0 && line < states.size(0), "npu::", kWindows, ": cache_indices has ", line, " for ",
                  states.size(0), " lines of conv_states");
      TORCH_CHECK(!has(accepted) || (taken[b] >= 1 && taken[b] - 1 + taps - 1 <= kept), "npu::", kWindows,
                  ": num_accepted_tokens has ", taken[b], " for ", kept, " rows of a state and ", taps, " taps");
      const Tensor sequence = rows.slice(0, span.begin, span.end()), state = states.select(0, line);
      const bool is_first = done[b] == 0;
      const int64_t offset = is_first ? 0 : (has(accepted) ? taken[b] - 1 : kept - (taps - 1));
      const Tensor before =
          is_first ? at::zeros({taps - 1, rows.size(1)}, rows.options()) : state.slice(0, 0, offset + taps - 1);
      const Tensor padded = at::cat({before, sequence});
      const int64_t count = std::min(kept, padded.size(0));
      state.slice(0, kept - count, kept).copy_(padded.slice(0, padded.size(0) - count, padded.size(0)));
      const Tensor window = padded.slice(0, offset).to(at::kFloat);
      Tensor y = at::zeros({span.count, rows.size(1)}, window.options());
      for (int64_t k = 0; k < taps; ++k) y = y + window.slice(0, k, k + span.count) * widened.select(0, k);
      if (has(bias)) y = y + bias->to(at::kFloat);
      if (resets) y.slice(0, 0, std::clamp<int64_t>(taps - 1 - done[b], 0, span.count)).zero_();
      out.slice(0, span.begin, span.end()).copy_(adds_input ? y + sequence.to(at::kFloat) : y);
    }
    return out.reshape(x.sizes());
  }
};

Tensor npu_fused_causal_conv1d(
    const Tensor& x, const Tensor& weight, Tensor& conv_states, const OptionalTensor& query_start_loc,
    const OptionalTensor& cache_indices, const OptionalTensor& initial_state_mode, const OptionalTensor& bias,
    const OptionalTensor& num_accepted_tokens, OptionalText activation, std::optional<int64_t> pad_slot_id,
    std::optional<int64_t> /*run_mode*/, std::optional<int64_t> residual_connection,
    std::optional<int64_t> /*max_query_len*/, const OptionalTensor& num_computed_tokens,
    const OptionalTensor& block_idx_first_scheduled_token, const OptionalTensor& block_idx_last_scheduled_token,
    const OptionalTensor& initial_state_idx, std::optional<int64_t> /*block_size*/, OptionalText conv_mode) {
  const std::string_view mode = conv_mode.value_or("default"), function = activation.value_or("None");
  TORCH_CHECK_NOT_IMPLEMENTED(
      !Windows::has(initial_state_mode) && !Windows::has(block_idx_first_scheduled_token) &&
          !Windows::has(block_idx_last_scheduled_token) && !Windows::has(initial_state_idx) && function == "None",
      "npu::", kWindows, ": activation is '", function,
      "', or initial_state_mode, block_idx_first_scheduled_token, block_idx_last_scheduled_token ",
      "or initial_state_idx is given: 'None' and None are taken");
  TORCH_CHECK(mode == "default" || mode == "pangu", "npu::", kWindows, ": conv_mode is '", mode,
              "': 'default' and 'pangu' are taken");
  const Windows windows{x,
                        weight,
                        conv_states,
                        query_start_loc,
                        cache_indices,
                        bias,
                        num_accepted_tokens,
                        num_computed_tokens,
                        pad_slot_id.value_or(-1),
                        residual_connection.value_or(0) != 0,
                        mode == "pangu"};
  return windows.run();
}

TORCH_LIBRARY_IMPL(npu, PrivateUse1, m) { m.impl(kWindows, &npu_fused_causal_conv1d); }
TORCH_LIBRARY_IMPL(npu, Meta, m) { m.impl(kWindows, &npu_fused_causal_conv1d); }
TORCH_LIBRARY_IMPL(npu, AutogradPrivateUse1, m) { refuse_derivatives(m, {kWindows}); }
TORCH_LIBRARY_IMPL(npu, AutogradMeta, m) { refuse_derivatives(m, {kWindows}); }
TORCH_LIBRARY_IMPL(npu, ADInplaceOrView, m) { count_written(m, {kWindows}); }

}  // namespace
}  // namespace torch_npu::custom
