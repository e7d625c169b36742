// Operators of namespace npu that write states of a program that serves, compositions of ATen's.

#include <ATen/Functions.h>
#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include "aten/composed/operands.h"
#include "aten/custom/written_arguments.h"
#include "custom_kernels.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

// The functional operator's states, written to the caller's tensor.
Tensor npu_recurrent_gated_delta_rule(const Tensor& query, const Tensor& key, const Tensor& value, Tensor& state,
                                      const OptionalTensor& beta, std::optional<double> scale,
                                      const OptionalTensor& actual_seq_lengths, const OptionalTensor& ssm_state_indices,
                                      const OptionalTensor& num_accepted_tokens, const OptionalTensor& g,
                                      const OptionalTensor& gk) {
  const auto [out, states] = npu_recurrent_gated_delta_rule_functional(
      query, key, value, state, beta, scale, actual_seq_lengths, ssm_state_indices, num_accepted_tokens, g, gk);
  if (!state.is_meta()) state.copy_(states);
  return out;
}

constexpr aclnn_check::Dtypes kNumbers = dtypes({at::kLong});

struct Step {
  Tensor &tokens, &positions, &lengths, &slots;
  const Tensor &sampled, &tables;
  int64_t sequences, queries, block;

  static constexpr const char* kName = "npu_advance_step_flashattn";

  void check(const OptionalTensor& spec_token, const OptionalTensor& accepted_num) const {
    Operands(kName)
        .take("input_tokens", tokens, kNumbers)
        .take("sampled_token_ids", sampled, kNumbers)
        .take("input_positions", positions, kNumbers)
        .take("seq_lens", lengths, kNumbers)
        .take("slot_mapping", slots, kNumbers)
        .take("block_tables", tables, kNumbers)
        .take("spec_token", spec_token, kNumbers)
        .take("accepted_num", accepted_num, kNumbers);
    TORCH_CHECK(sequences > 0 && queries > 0 && queries <= sequences && block > 0, "npu::", kName, ": num_seqs is ",
                sequences, ", num_queries ", queries, ", block_size ", block,
                ": positive numbers are taken, num_queries up to num_seqs");
  }

  // The slots of positions [queries] in the pages of rows [queries] of the table.
  Tensor slots_of(const Tensor& rows, const Tensor& at) const {
    const Tensor page = at::div(at, block, "floor");
    const bool fits = at::logical_and(page >= 0, page < tables.size(1)).all().item<bool>();
    TORCH_CHECK(fits, "npu::", kName, ": a sequence has more rows than block_tables of size ", tables.sizes(),
                " has pages of ", block);
    return tables.index({rows, page}) * block + at::remainder(at, block);
  }
};

void npu_advance_step_flashattn(Tensor& input_tokens, const Tensor& sampled_token_ids, Tensor& input_positions,
                                Tensor& seq_lens, Tensor& slot_mapping, const Tensor& block_tables, int64_t num_seqs,
                                int64_t num_queries, int64_t block_size, const OptionalTensor& spec_token,
                                const OptionalTensor& accepted_num) {
  const Step step{input_tokens, input_positions, seq_lens,    slot_mapping, sampled_token_ids,
                  block_tables, num_seqs,        num_queries, block_size};
  step.check(spec_token, accepted_num);
  const bool speculates = spec_token.has_value() && spec_token->defined();
  TORCH_CHECK_NOT_IMPLEMENTED(!speculates, "npu::", Step::kName, ": spec_token is given: None is taken");
  TORCH_CHECK(sampled_token_ids.numel() >= num_queries && input_tokens.numel() >= num_queries &&
                  input_positions.numel() >= num_queries && seq_lens.numel() >= num_queries &&
                  slot_mapping.numel() >= num_queries && block_tables.dim() == 2 && block_tables.size(0) >= num_queries,
              "npu::", Step::kName, ": tensors are of sizes ", input_tokens.sizes(), ", ", sampled_token_ids.sizes(),
              ", ", input_positions.sizes(), ", ", seq_lens.sizes(), ", ", slot_mapping.sizes(), " and ",
              block_tables.sizes(), " for ", num_queries, " queries");
  const auto first = [&](const Tensor& t) { return t.view({-1}).slice(0, 0, num_queries); };
  // The next token stands where the sequence ends so far.
  const Tensor position = first(seq_lens).clone();
  const Tensor slots = step.slots_of(at::arange(num_queries, position.options()), position);
  first(input_tokens).copy_(sampled_token_ids.reshape({-1}).slice(0, 0, num_queries));
  first(input_positions).copy_(position);
  first(seq_lens).add_(1);
  first(slot_mapping).copy_(slots);
}

void no_step(Tensor&, const Tensor&, Tensor&, Tensor&, Tensor&, const Tensor&, int64_t, int64_t, int64_t,
             const OptionalTensor&, const OptionalTensor&) {}

constexpr std::initializer_list<const char*> kWriters = {"npu_recurrent_gated_delta_rule",
                                                         "npu_advance_step_flashattn"};

TORCH_LIBRARY_IMPL(npu, PrivateUse1, m) {
  m.impl("npu_recurrent_gated_delta_rule", &npu_recurrent_gated_delta_rule);
  m.impl("npu_advance_step_flashattn", &npu_advance_step_flashattn);
}
TORCH_LIBRARY_IMPL(npu, Meta, m) {
  m.impl("npu_recurrent_gated_delta_rule", &npu_recurrent_gated_delta_rule);
  m.impl("npu_advance_step_flashattn", &no_step);
}
TORCH_LIBRARY_IMPL(npu, AutogradPrivateUse1, m) { refuse_derivatives(m, kWriters); }
TORCH_LIBRARY_IMPL(npu, AutogradMeta, m) { refuse_derivatives(m, kWriters); }
TORCH_LIBRARY_IMPL(npu, ADInplaceOrView, m) { count_written(m, kWriters); }

}  // namespace
}  // namespace torch_npu::custom
