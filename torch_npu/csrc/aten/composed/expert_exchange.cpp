// Tokens that go to the ranks of their experts, and what the experts give back. Rank r of a group has experts r L up to
// (r + 1) L.

#include <ATen/Functions.h>
#include <ATen/core/Tensor.h>

#include <numeric>

#include "aten/composed/hccl_group.h"
#include "aten/composed/operands.h"
#include "aten/composed/quantized.h"
#include "aten/composed/sequences.h"
#include "custom_kernels.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;
using Integer = std::optional<int64_t>;
using SevenTensors = std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor>;

constexpr aclnn_check::Dtypes kTokens = dtypes({at::kHalf, at::kBFloat16, at::kFloat});
constexpr int64_t kAssist = 128;  // numbers of a row that combine_v2 takes

bool holds(const OptionalTensor& tensor) { return tensor.has_value() && tensor->defined(); }

// What dispatch and combine take alike.
struct Exchange {
  const char* name;
  const Tensor& ids;  // [BS, K]
  const OptionalTensor& mask;
  std::string_view hcom;
  int64_t ranks, rank, experts, tensor_ranks, shared_ranks, shard, special, global_rows;

  int64_t local() const { return experts / ranks; }

  void check(const Tensor& x, const char* role) const {
    Operands(name)
        .take(role, x, kTokens | dtypes({at::kChar}))
        .take("expert_ids", ids, dtypes({at::kInt}))
        .take("x_active_mask", mask, dtypes({at::kBool}));
    TORCH_CHECK_NOT_IMPLEMENTED(tensor_ranks <= 1 && shared_ranks == 0 && shard == 0 && special == 0, "npu::", name,
                                ": tp_world_size is ", tensor_ranks, ", shared_expert_rank_num ", shared_ranks,
                                ", expert_shard_type ", shard,
                                ", or there are zero, copy or const experts: up to 1, and zeros are taken");
    TORCH_CHECK(ranks > 0 && rank >= 0 && rank < ranks && experts > 0 && experts % ranks == 0 && global_rows >= 0,
                "npu::", name, ": ep_world_size is ", ranks, ", ep_rank_id ", rank, ", moe_expert_num ", experts,
                ", global_bs ", global_rows, ": a rank of the group and as many experts on each are taken");
    TORCH_CHECK(x.dim() == 2 && ids.dim() == 2, "npu::", name, ": ", role, " is of size ", x.sym_sizes(),
                ", expert_ids of size ", ids.sym_sizes(), ": two dimensions are taken");
    TORCH_CHECK(!holds(mask) || mask->sym_sizes() == ids.sym_sizes() ||
                    (mask->dim() == 1 && mask->sym_size(0) == ids.sym_size(0)),
                "npu::", name, ": x_active_mask is of size ", holds(mask) ? mask->sym_sizes() : ids.sym_sizes(),
                " for expert_ids of size ", ids.sym_sizes(), ": [BS] or [BS, K] is taken");
  }

  Group group() const {
    Group found(name, hcom, ranks);
    TORCH_CHECK(found.rank() == rank, "npu::", name, ": ep_rank_id is ", rank, " on rank ", found.rank());
    return found;
  }

  // The choices [BS K] that this rank sends, by expert and then by token, and how many each expert gets.
  struct Sent {
    Tensor choices;               // int64
    std::vector<int64_t> counts;  // [experts]
    Tensor experts;               // of each choice that is sent
    int64_t total() const { return std::accumulate(counts.begin(), counts.end(), int64_t{0}); }
  };
  Sent sent() const {
    const Tensor flat = ids.reshape({-1}).to(at::kLong);
    const bool is_in_range = flat.numel() == 0 || at::logical_and(flat >= 0, flat < experts).all().item<bool>();
    TORCH_CHECK(is_in_range, "npu::", name, ": expert_ids has a number that is none of ", experts, " experts");
    Tensor order;
    if (holds(mask)) {
      const Tensor active = (mask->dim() == 1 ? mask->unsqueeze(1).expand_as(ids) : *mask).reshape({-1});
      order = at::nonzero(active).reshape({-1});
    } else {
      order = at::arange(flat.numel(), flat.options());
    }
    const Tensor chosen = flat.index_select(0, order);
    const auto [sorted, by] = at::sort(chosen, /*stable=*/true, 0, /*descending=*/false);
    const Tensor counts = at::bincount(sorted, {}, experts);
    return {order.index_select(0, by), numbers_of(name, "expert_ids", counts), sorted};
  }

  // Sums of `counts` in `ranks` equal parts.
  std::vector<int64_t> by_rank(const std::vector<int64_t>& counts) const {
    const std::size_t each = counts.size() / static_cast<std::size_t>(ranks);
    std::vector<int64_t> sums;
    for (std::size_t begin = 0; begin < counts.size(); begin += each) {
      const auto from = counts.begin() + static_cast<std::ptrdiff_t>(begin);
      sums.push_back(std::accumulate(from, from + static_cast<std::ptrdiff_t>(each), int64_t{0}));
    }
    return sums;
  }

  // Where the rows of [ranks, experts here] come from in the order of experts, and of ranks within an expert.
  Tensor to_experts(const std::vector<int64_t>& counts, const Tensor& like) const {
    std::vector<int64_t> begins(counts.size()), places;
    std::exclusive_scan(counts.begin(), counts.end(), begins.begin(), int64_t{0});
    const auto each = static_cast<std::size_t>(local());
    for (std::size_t e = 0; e < each; ++e) {
      for (std::size_t r = 0; r < static_cast<std::size_t>(ranks); ++r) {
        const std::size_t i = r * each + e;
        for (int64_t k = 0; k < counts[i]; ++k) places.push_back(begins[i] + k);
      }
    }
    return at::tensor(places, at::TensorOptions().dtype(at::kLong)).to(like.device());
  }

  Tensor numbers(const std::vector<int64_t>& values, const Tensor& like, at::ScalarType type) const {
    return at::tensor(values, at::TensorOptions().dtype(at::kLong)).to(type).to(like.device());
  }
};

struct Dispatch {
  Exchange e;
  const Tensor& x;
  const OptionalTensor &scales, &expert_scales;
  int64_t quant_mode, count_type;
  bool is_second;  // whether combine gets three numbers a row, not one a choice

  SevenTensors run() const {
    e.check(x, "x");
    Operands(e.name)
        .take("x", x, kTokens)
        .take("scales", scales, dtypes({at::kFloat}))
        .take("expert_scales", expert_scales, dtypes({at::kFloat}));
    TORCH_CHECK_NOT_IMPLEMENTED(quant_mode == 2 || (quant_mode == 0 && !holds(scales)), "npu::", e.name,
                                ": quant_mode is ", quant_mode, ", scales ", holds(scales) ? "given" : "None",
                                ": 0 without scales, and 2, are taken");
    TORCH_CHECK(count_type == 0 || count_type == 1, "npu::", e.name, ": expert_token_nums_type is ", count_type,
                ": 0 and 1 are taken");
    TORCH_CHECK(x.sym_size(0) == e.ids.sym_size(0) &&
                    (!holds(scales) || (scales->dim() == 2 && scales->sym_size(0) == e.experts &&
                                        scales->sym_size(1) == x.sym_size(1))) &&
                    (!holds(expert_scales) || expert_scales->sym_sizes() == e.ids.sym_sizes()),
                "npu::", e.name, ": x is of size ", x.sym_sizes(), ", expert_ids of size ", e.ids.sym_sizes(),
                ", or scales is not of size [", e.experts, ", H], or expert_scales not of that of expert_ids");
    const c10::SymInt rows = x.sym_size(0), choices = e.ids.sym_size(1);
    const c10::SymInt all = e.global_rows == 0 ? rows * e.ranks : c10::SymInt(e.global_rows);
    const c10::SymInt most = all * choices.min(c10::SymInt(e.local()));  // rows of the result
    const auto type = quant_mode == 2 ? at::kChar : x.scalar_type();
    const c10::SymInt assist = is_second ? (rows * choices).max(most * kAssist) : rows * choices;
    const auto zeros = [&](std::vector<c10::SymInt> sizes, at::ScalarType of) {
      return x.is_meta() ? at::empty_symint(sizes, x.options().dtype(of))
                         : at::zeros_symint(sizes, x.options().dtype(of));
    };
    const Tensor expand_x = zeros({most, x.sym_size(1)}, type), dynamic_scales = zeros({most}, at::kFloat);
    const Tensor index = zeros({assist}, at::kInt);
    const Tensor expand_scales = zeros({holds(expert_scales) ? most : c10::SymInt(0)}, at::kFloat);
    const Tensor tensor_counts = zeros({e.tensor_ranks}, at::kInt);
    if (x.is_meta()) {
      return {
          expand_x,      dynamic_scales, index, zeros({e.local()}, at::kLong), zeros({e.ranks * e.local()}, at::kInt),
          tensor_counts, expand_scales};
    }
    const Group group = e.group();
    const Exchange::Sent sent = e.sent();
    const Tensor tokens = at::div(sent.choices, e.ids.size(1), "floor");
    Tensor values = x.index_select(0, tokens), factors;
    if (quant_mode == 2) {
      Tensor widened = values.to(at::kFloat);
      if (holds(scales)) widened = widened * scales->index_select(0, sent.experts);
      const ScaledRows scaled = rows_to_int8(widened);
      values = scaled.values;
      factors = scaled.scales;
    }
    const Tensor announced = group.exchanged(e.numbers(sent.counts, x, at::kLong), {}, {});
    const std::vector<int64_t> counts = numbers_of(e.name, "counts", announced);  // [ranks, experts here]
    const std::vector<int64_t> to = e.by_rank(sent.counts), from = e.by_rank(counts);
    const Tensor order = e.to_experts(counts, x);
    const int64_t total = order.numel();
    TORCH_CHECK(total <= expand_x.size(0), "npu::", e.name, ": ", total, " rows come for global_bs ", e.global_rows,
                ": it is the sum of all ranks' rows");
    const auto received = [&](const Tensor& own) { return group.exchanged(own, to, from).index_select(0, order); };
    expand_x.slice(0, 0, total).copy_(received(values));
    if (factors.defined()) dynamic_scales.slice(0, 0, total).copy_(received(factors));
    if (holds(expert_scales)) {
      expand_scales.slice(0, 0, total).copy_(received(expert_scales->reshape({-1}).index_select(0, sent.choices)));
    }
    const Tensor choice = sent.choices - tokens * e.ids.size(1);
    if (is_second) {
      const Tensor origin = at::stack({at::full_like(tokens, e.rank), tokens, choice}, 1).to(at::kInt);
      index.slice(0, 0, total * 3).copy_(received(origin).reshape({-1}));
    } else {
      // The number of a choice among those for its expert.
      std::vector<int64_t> begins(sent.counts.size());
      std::exclusive_scan(sent.counts.begin(), sent.counts.end(), begins.begin(), int64_t{0});
      const Tensor first = e.numbers(begins, x, at::kLong).index_select(0, sent.experts);
      index.index_copy_(0, sent.choices, (at::arange(sent.total(), first.options()) - first).to(at::kInt));
    }
    if (e.tensor_ranks > 0) tensor_counts.fill_(total);
    const Tensor by_expert = announced.reshape({e.ranks, e.local()}).t().contiguous();  // [experts here, ranks]
    const Tensor of_experts = by_expert.sum(1);
    return {expand_x,
            dynamic_scales,
            index,
            count_type == 0 ? of_experts.cumsum(0) : of_experts,
            by_expert.reshape({-1}).cumsum(0).to(at::kInt),
            tensor_counts,
            expand_scales};
  }
};

struct Combine {
  Exchange e;
  const Tensor &expand_x, &ends, &expert_scales;
  const OptionalTensor& shared;

  // [BS, H] in float32, or of the result's type for meta tensors.
  Tensor run() const {
    e.check(expand_x, "expand_x");
    Operands(e.name)
        .take("expand_x", expand_x, kTokens)
        .take("ep_send_counts", ends, dtypes({at::kInt}))
        .take("expert_scales", expert_scales, dtypes({at::kFloat}))
        .take("shared_expert_x", shared, aclnn_check::dtype_bit(expand_x.scalar_type()));
    const c10::SymInt rows = e.ids.sym_size(0), columns = expand_x.sym_size(1);
    TORCH_CHECK(
        expert_scales.sym_sizes() == e.ids.sym_sizes() && ends.dim() == 1 && ends.sym_size(0) >= e.ranks * e.local() &&
            (!holds(shared) || shared->sym_numel() == rows * columns),
        "npu::", e.name, ": expert_scales is of size ", expert_scales.sym_sizes(), ", ep_send_counts of size ",
        ends.sym_sizes(), ", expert_ids of size ", e.ids.sym_sizes(),
        ": that of expert_ids, and a number for each expert here and rank, are taken, and shared_expert_x of [BS, ",
        "H]");
    if (expand_x.is_meta()) return at::empty_symint({rows, columns}, expand_x.options());
    const Group group = e.group();
    const Exchange::Sent sent = e.sent();
    // Rows that each rank sent here: `ends` is in the order of experts, and of ranks within an expert.
    const std::vector<int64_t> sums = numbers_of(e.name, "ep_send_counts", ends.slice(0, 0, e.ranks * e.local()));
    std::vector<int64_t> counts(sums.size());
    int64_t before = 0;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      TORCH_CHECK(before <= sums[i] && sums[i] <= expand_x.size(0), "npu::", e.name, ": ep_send_counts has ", sums[i],
                  " behind ", before, " for ", expand_x.size(0), " rows: sums that do not fall are taken");
      const auto each = static_cast<std::size_t>(e.local()), all = static_cast<std::size_t>(e.ranks);
      counts[i % all * each + i / all] = sums[i] - before;
      before = sums[i];
    }
    const Tensor order = e.to_experts(counts, expand_x);
    const Tensor own = at::empty({before, expand_x.size(1)}, expand_x.options());
    own.index_copy_(0, order, expand_x.slice(0, 0, before));
    const std::vector<int64_t> to = e.by_rank(counts), from = e.by_rank(sent.counts);
    const Tensor received = group.exchanged(own, to, from).to(at::kFloat);
    const Tensor scaled = received * expert_scales.reshape({-1, 1}).index_select(0, sent.choices);
    const Tensor table = at::zeros({e.ids.numel(), expand_x.size(1)}, scaled.options());
    table.index_copy_(0, sent.choices, scaled);
    const Tensor sum = table.reshape({e.ids.size(0), e.ids.size(1), expand_x.size(1)}).sum(1);
    return holds(shared) ? sum + shared->reshape(sum.sizes()).to(at::kFloat) : sum;
  }
};

void refuse_unused(const char* name, std::initializer_list<const OptionalTensor*> tensors, int64_t comm_quant_mode,
                   int64_t out_dtype) {
  bool has_any = false;
  for (const OptionalTensor* tensor : tensors) has_any = has_any || holds(*tensor);
  TORCH_CHECK_NOT_IMPLEMENTED(!has_any && comm_quant_mode == 0 && out_dtype == 0, "npu::", name,
                              ": comm_quant_mode is ", comm_quant_mode, ", out_dtype ", out_dtype,
                              ", or a tensor of int8 experts, of special experts or of measurements is given: 0 and ",
                              "None are taken");
}

}  // namespace

SevenTensors npu_moe_distribute_dispatch(const Tensor& x, const Tensor& expert_ids, std::string_view group_ep,
                                         int64_t ep_world_size, int64_t ep_rank_id, int64_t moe_expert_num,
                                         const OptionalTensor& scales, const OptionalTensor& x_active_mask,
                                         const OptionalTensor& expert_scales, std::string_view /*group_tp*/,
                                         int64_t tp_world_size, int64_t /*tp_rank_id*/, int64_t expert_shard_type,
                                         int64_t /*shared_expert_num*/, int64_t shared_expert_rank_num,
                                         int64_t quant_mode, int64_t global_bs, int64_t expert_token_nums_type) {
  const Dispatch call{{"npu_moe_distribute_dispatch", expert_ids, x_active_mask, group_ep, ep_world_size, ep_rank_id,
                       moe_expert_num, tp_world_size, shared_expert_rank_num, expert_shard_type, 0, global_bs},
                      x,
                      scales,
                      expert_scales,
                      quant_mode,
                      expert_token_nums_type,
                      false};
  return call.run();
}

SevenTensors npu_moe_distribute_dispatch_v2(
    const Tensor& x, const Tensor& expert_ids, std::string_view group_ep, int64_t ep_world_size, int64_t ep_rank_id,
    int64_t moe_expert_num, const OptionalTensor& scales, const OptionalTensor& x_active_mask,
    const OptionalTensor& expert_scales, const OptionalTensor& elastic_info, const OptionalTensor& performance_info,
    std::string_view /*group_tp*/, int64_t tp_world_size, int64_t /*tp_rank_id*/, int64_t expert_shard_type,
    int64_t /*shared_expert_num*/, int64_t shared_expert_rank_num, int64_t quant_mode, int64_t global_bs,
    int64_t expert_token_nums_type, std::string_view /*comm_alg*/, int64_t zero_expert_num, int64_t copy_expert_num,
    int64_t const_expert_num, Integer y_dtype, Integer x_dtype, Integer scales_dtype) {
  constexpr const char* kName = "npu_moe_distribute_dispatch_v2";
  refuse_unused(kName, {&elastic_info, &performance_info}, 0, 0);
  TORCH_CHECK_NOT_IMPLEMENTED(!x_dtype.has_value() && !scales_dtype.has_value(), "npu::", kName,
                              ": x_dtype or scales_dtype is given: None is taken");
  if (y_dtype.has_value()) check_is_int8(kName, "y_dtype", y_dtype);
  TORCH_CHECK(!y_dtype.has_value() || quant_mode == 2, "npu::", kName, ": y_dtype is that of int8 with quant_mode ",
              quant_mode);
  const Dispatch call{
      {kName, expert_ids, x_active_mask, group_ep, ep_world_size, ep_rank_id, moe_expert_num, tp_world_size,
       shared_expert_rank_num, expert_shard_type, zero_expert_num + copy_expert_num + const_expert_num, global_bs},
      x,
      scales,
      expert_scales,
      quant_mode,
      expert_token_nums_type,
      true};
  return call.run();
}

Tensor npu_moe_distribute_combine(const Tensor& expand_x, const Tensor& expert_ids, const Tensor& expand_idx,
                                  const Tensor& ep_send_counts, const Tensor& expert_scales, std::string_view group_ep,
                                  int64_t ep_world_size, int64_t ep_rank_id, int64_t moe_expert_num,
                                  const OptionalTensor& /*tp_send_counts*/, const OptionalTensor& x_active_mask,
                                  const OptionalTensor& activation_scale, const OptionalTensor& weight_scale,
                                  const OptionalTensor& group_list, const OptionalTensor& /*expand_scales*/,
                                  const OptionalTensor& shared_expert_x, std::string_view /*group_tp*/,
                                  int64_t tp_world_size, int64_t /*tp_rank_id*/, int64_t expert_shard_type,
                                  int64_t /*shared_expert_num*/, int64_t shared_expert_rank_num, int64_t global_bs,
                                  int64_t out_dtype, int64_t comm_quant_mode, int64_t /*group_list_type*/) {
  constexpr const char* kName = "npu_moe_distribute_combine";
  refuse_unused(kName, {&activation_scale, &weight_scale, &group_list}, comm_quant_mode, out_dtype);
  Operands(kName).take("expand_x", expand_x).take("expand_idx", expand_idx, dtypes({at::kInt}));
  const Combine call{{kName, expert_ids, x_active_mask, group_ep, ep_world_size, ep_rank_id, moe_expert_num,
                      tp_world_size, shared_expert_rank_num, expert_shard_type, 0, global_bs},
                     expand_x,
                     ep_send_counts,
                     expert_scales,
                     shared_expert_x};
  return call.run().to(expand_x.scalar_type());
}

Tensor npu_moe_distribute_combine_v2(
    const Tensor& expand_x, const Tensor& expert_ids, const Tensor& assist_info_for_combine,
    const Tensor& ep_send_counts, const Tensor& expert_scales, std::string_view group_ep, int64_t ep_world_size,
    int64_t ep_rank_id, int64_t moe_expert_num, const OptionalTensor& /*tp_send_counts*/,
    const OptionalTensor& x_active_mask, const OptionalTensor& /*expand_scales*/, const OptionalTensor& shared_expert_x,
    const OptionalTensor& elastic_info, const OptionalTensor& ori_x, const OptionalTensor& const_expert_alpha_1,
    const OptionalTensor& const_expert_alpha_2, const OptionalTensor& const_expert_v,
    const OptionalTensor& performance_info, std::string_view /*group_tp*/, int64_t tp_world_size,
    int64_t /*tp_rank_id*/, int64_t expert_shard_type, int64_t /*shared_expert_num*/, int64_t shared_expert_rank_num,
    int64_t global_bs, int64_t comm_quant_mode, std::string_view /*comm_alg*/, int64_t zero_expert_num,
    int64_t copy_expert_num, int64_t const_expert_num) {
  constexpr const char* kName = "npu_moe_distribute_combine_v2";
  refuse_unused(
      kName, {&elastic_info, &ori_x, &const_expert_alpha_1, &const_expert_alpha_2, &const_expert_v, &performance_info},
      comm_quant_mode, 0);
  Operands(kName)
      .take("expand_x", expand_x)
      .take("assist_info_for_combine", assist_info_for_combine, dtypes({at::kInt}));
  const Combine call{
      {kName, expert_ids, x_active_mask, group_ep, ep_world_size, ep_rank_id, moe_expert_num, tp_world_size,
       shared_expert_rank_num, expert_shard_type, zero_expert_num + copy_expert_num + const_expert_num, global_bs},
      expand_x,
      ep_send_counts,
      expert_scales,
      shared_expert_x};
  return call.run().to(expand_x.scalar_type());
}

}  // namespace torch_npu::custom
