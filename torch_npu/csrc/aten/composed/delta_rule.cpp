// Linear attention by the gated delta rule: S' = a S + b (v - a S k) k', o = S' q, one step of all sequences at a time.

#include "aten/composed/delta_rule.h"

#include <ATen/Functions.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "aten/composed/operands.h"
#include "aten/composed/sequences.h"
#include "custom_kernels.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

bool has_tensor(const OptionalTensor& tensor) { return tensor.has_value() && tensor->defined(); }

Tensor index_tensor(const std::vector<int64_t>& numbers, const Tensor& like) {
  return at::tensor(numbers, at::TensorOptions().dtype(at::kLong)).to(like.device());
}

}  // namespace

void DeltaRule::check() const {
  const auto same = aclnn_check::dtype_bit(query.scalar_type());
  constexpr aclnn_check::Dtypes kGated = dtypes({at::kHalf, at::kBFloat16, at::kFloat, at::kDouble});
  Operands(name)
      .take("query", query, kGated)
      .take("key", key, same)
      .take("value", value, same)
      .take("beta", beta, kGated)
      .take("g", g, dtypes({at::kFloat, at::kDouble}))
      .take("gk", gk, dtypes({at::kFloat, at::kDouble}))
      .take("actual_seq_lengths", lengths, kIndexes);
  const auto fits = [&](const OptionalTensor& gate, int64_t dims) {
    return !has_tensor(gate) ||
           (gate->dim() == dims && gate->sym_size(0) == value.sym_size(0) && gate->sym_size(1) == value.sym_size(1) &&
            (dims == 2 || gate->sym_size(2) == key.sym_size(2)));
  };
  TORCH_CHECK(query.dim() == 3 && key.sym_sizes() == query.sym_sizes() && value.dim() == 3 &&
                  value.sym_size(0) == query.sym_size(0) && value.sym_size(1) % query.sym_size(1) == 0 &&
                  fits(beta, 2) && fits(g, 2) && fits(gk, 3),
              "npu::", name, ": query is of size ", query.sym_sizes(), ", key of size ", key.sym_sizes(),
              ", value of size ", value.sym_sizes(),
              ": twice [T, Nk, Dk], [T, Nv, Dv] with Nv a multiple of Nk, and gates of [T, Nv] are taken");
  TORCH_CHECK(has_tensor(lengths), "npu::", name, ": actual_seq_lengths is None: the length of each sequence is taken");
}

Tensor DeltaRule::run(const std::vector<int64_t>& counts, Tensor state, const OnStates& on_states) const {
  const int64_t tokens = query.size(0), heads = value.size(1), groups = heads / query.size(1);
  int64_t total = 0, longest = 0;
  std::vector<int64_t> begins;
  for (const int64_t count : counts) {
    TORCH_CHECK(count >= 0, "npu::", name, ": actual_seq_lengths has ", count);
    begins.push_back(total);
    total += count;
    longest = std::max(longest, count);
  }
  TORCH_CHECK(total == tokens, "npu::", name, ": actual_seq_lengths has a sum of ", total, " for ", tokens, " tokens");
  const auto type = query.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const auto of_heads = [&](const Tensor& t) { return t.to(type).repeat_interleave(groups, 1); };
  const Tensor q = of_heads(query) * scale, k = of_heads(key), v = value.to(type);
  const Tensor b = has_tensor(beta) ? beta->to(type) : Tensor();
  Tensor decay;  // [T, Nv, 1, Dk or 1]
  if (has_tensor(g)) decay = g->to(type).exp().unsqueeze(2).unsqueeze(3);
  if (has_tensor(gk)) {
    const Tensor by_channel = gk->to(type).exp().unsqueeze(2);
    decay = decay.defined() ? decay * by_channel : by_channel;
  }
  const Tensor out = at::zeros(value.sizes(), query.options().dtype(type));
  for (int64_t step = 0; step < longest; ++step) {
    std::vector<int64_t> sequences, places;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (step >= counts[i]) continue;
      sequences.push_back(static_cast<int64_t>(i));
      places.push_back(begins[i] + step);
    }
    const bool are_all = sequences.size() == counts.size();
    const Tensor which = index_tensor(sequences, query), at_step = index_tensor(places, query);
    const auto taken = [&](const Tensor& t) { return t.index_select(0, at_step); };
    Tensor own = are_all ? state : state.index_select(0, which);
    if (decay.defined()) own = own * taken(decay);
    const Tensor key_column = taken(k).unsqueeze(3);
    Tensor change = taken(v) - at::matmul(own, key_column).squeeze(3);
    if (b.defined()) change = change * taken(b).unsqueeze(2);
    own = own + change.unsqueeze(3) * key_column.transpose(2, 3);
    out.index_copy_(0, at_step, at::matmul(own, taken(q).unsqueeze(3)).squeeze(3));
    state = are_all ? own : state.index_copy(0, which, own);
    on_states(places, own);
  }
  final_ = state;
  return out;
}

std::tuple<Tensor, Tensor> npu_recurrent_gated_delta_rule_functional(
    const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& state, const OptionalTensor& beta,
    std::optional<double> scale, const OptionalTensor& actual_seq_lengths, const OptionalTensor& ssm_state_indices,
    const OptionalTensor& num_accepted_tokens, const OptionalTensor& g, const OptionalTensor& gk) {
  constexpr const char* kName = "npu_recurrent_gated_delta_rule_functional";
  const double factor = scale.value_or(key.is_meta() ? 1 : 1 / std::sqrt(static_cast<double>(key.size(-1))));
  const DeltaRule rule{kName, query, key, value, beta, g, gk, actual_seq_lengths, factor};
  rule.check();
  Operands(kName)
      .take("query", query)
      .take("state", state, dtypes({at::kHalf, at::kBFloat16, at::kFloat, at::kDouble}))
      .take("ssm_state_indices", ssm_state_indices, kIndexes)
      .take("num_accepted_tokens", num_accepted_tokens, kIndexes);
  TORCH_CHECK(state.dim() == 4 && state.sym_size(1) == value.sym_size(1) && state.sym_size(2) == value.sym_size(2) &&
                  state.sym_size(3) == key.sym_size(2),
              "npu::", kName, ": state is of size ", state.sym_sizes(), " for a value of size ", value.sym_sizes(),
              ": [blocks, Nv, Dv, Dk] is taken");
  if (query.is_meta()) {
    return {at::empty_symint(value.sym_sizes(), value.options()), at::empty_symint(state.sym_sizes(), state.options())};
  }
  const std::vector<int64_t> counts = numbers_of(kName, "actual_seq_lengths", *actual_seq_lengths);
  std::vector<int64_t> places(static_cast<std::size_t>(query.size(0)));
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<int64_t>(i);
  if (has_tensor(ssm_state_indices)) places = numbers_of(kName, "ssm_state_indices", *ssm_state_indices);
  TORCH_CHECK(static_cast<int64_t>(places.size()) == query.size(0), "npu::", kName, ": ssm_state_indices has ",
              places.size(), " numbers for ", query.size(0), " tokens");
  for (const int64_t location : places) {
    TORCH_CHECK(location >= 0 && location < state.size(0), "npu::", kName, ": ssm_state_indices has ", location,
                " for ", state.size(0), " states");
  }
  std::vector<int64_t> accepted(counts.size(), 1);
  if (has_tensor(num_accepted_tokens)) accepted = numbers_of(kName, "num_accepted_tokens", *num_accepted_tokens);
  TORCH_CHECK(accepted.size() == counts.size(), "npu::", kName, ": num_accepted_tokens has ", accepted.size(),
              " numbers for ", counts.size(), " sequences");
  // A sequence begins with the state of its last accepted token.
  std::vector<int64_t> first;
  int64_t begin = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    TORCH_CHECK(accepted[i] >= 1 && accepted[i] <= counts[i], "npu::", kName, ": num_accepted_tokens has ", accepted[i],
                " for a sequence of ", counts[i]);
    first.push_back(places[static_cast<std::size_t>(begin + accepted[i] - 1)]);
    begin += counts[i];
  }
  const auto type = query.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  Tensor states = state.clone(at::MemoryFormat::Contiguous);
  const Tensor out = rule.run(counts, state.index_select(0, index_tensor(first, state)).to(type),
                              [&](const std::vector<int64_t>& tokens, const Tensor& own) {
                                std::vector<int64_t> written;
                                for (const int64_t token : tokens)
                                  written.push_back(places[static_cast<std::size_t>(token)]);
                                states.index_copy_(0, index_tensor(written, state), own.to(state.scalar_type()));
                              });
  return {out.to(value.scalar_type()), states};
}

std::tuple<Tensor, Tensor> npu_chunk_gated_delta_rule(const Tensor& query, const Tensor& key, const Tensor& value,
                                                      const OptionalTensor& beta, const OptionalTensor& initial_state,
                                                      const OptionalTensor& actual_seq_lengths,
                                                      std::optional<double> scale, const OptionalTensor& g) {
  constexpr const char* kName = "npu_chunk_gated_delta_rule";
  const OptionalTensor none;
  const DeltaRule rule{kName, query, key, value, beta, g, none, actual_seq_lengths, scale.value_or(1)};
  rule.check();
  Operands(kName)
      .take("query", query)
      .take("initial_state", initial_state, dtypes({at::kHalf, at::kBFloat16, at::kFloat, at::kDouble}));
  const auto sequences = actual_seq_lengths->sym_size(0);
  const std::vector<c10::SymInt> sizes = {sequences, value.sym_size(1), value.sym_size(2), key.sym_size(2)};
  const auto state_type = has_tensor(initial_state) ? initial_state->scalar_type() : value.scalar_type();
  TORCH_CHECK(!has_tensor(initial_state) || initial_state->sym_sizes() == c10::SymIntArrayRef(sizes), "npu::", kName,
              ": initial_state is not of size ", c10::SymIntArrayRef(sizes));
  if (query.is_meta()) {
    return {at::empty_symint(value.sym_sizes(), value.options()),
            at::empty_symint(sizes, value.options().dtype(state_type))};
  }
  const auto type = query.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const Tensor first =
      has_tensor(initial_state) ? initial_state->to(type) : at::zeros_symint(sizes, value.options().dtype(type));
  const std::vector<int64_t> counts = numbers_of(kName, "actual_seq_lengths", *actual_seq_lengths);
  const Tensor out = rule.run(counts, first, [](const std::vector<int64_t>&, const Tensor&) {});
  return {out.to(value.scalar_type()), rule.final_state().to(state_type).clone()};
}

}  // namespace torch_npu::custom
