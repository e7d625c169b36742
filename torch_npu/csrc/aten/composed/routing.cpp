// Rows of tokens in the order of experts, and back, by a map [T, E] of which experts a token has.

#include <ATen/Functions.h>
#include <ATen/core/Tensor.h>

#include "aten/composed/operands.h"
#include "custom_kernels.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

constexpr aclnn_check::Dtypes kRows = dtypes({at::kHalf, at::kBFloat16, at::kFloat, at::kDouble});
constexpr aclnn_check::Dtypes kMaps = dtypes({at::kBool, at::kChar, at::kByte});

bool has_values(const OptionalTensor& tensor) {
  return tensor.has_value() && tensor->defined() && tensor->dim() > 0 && tensor->sym_size(0) > 0;
}

// Places of `count` marked elements of a map in one dimension, in their order.
Tensor marked(const char* name, const Tensor& map, const c10::SymInt& count) {
  const Tensor flat = map.flatten().to(at::kByte);
  TORCH_CHECK(flat.is_meta() || count <= flat.to(at::kLong).sum().item().toLong(), name, ": routing_map marks ",
              flat.is_meta() ? 0 : flat.to(at::kLong).sum().item().toLong(), " rows: ", count, " are asked for");
  return std::get<1>(at::sort(flat, /*stable=*/true, 0, /*descending=*/true)).narrow_symint(0, 0, count);
}

// The first `capacity` tokens of each expert, those that it has before the others: [E, capacity].
Tensor by_capacity(const Tensor& map, const c10::SymInt& capacity) {
  return std::get<1>(at::sort(map.t().to(at::kByte).contiguous(), /*stable=*/true, -1, /*descending=*/true))
      .narrow_symint(1, 0, capacity);
}

// Of each expert's tokens [E capacity] their places in a map [E, T].
Tensor places_of(const Tensor& tokens, const c10::SymInt& experts, const c10::SymInt& count) {
  const Tensor first = at::arange(experts, tokens.options().dtype(at::kLong)) * count.guard_int(__FILE__, __LINE__);
  return (tokens.to(at::kLong).reshape_symint({experts, -1}) + first.unsqueeze(1)).flatten();
}

void check_map(const char* name, const Tensor& map) {
  TORCH_CHECK(map.dim() == 2, name, ": routing_map is of size ", map.sym_sizes(), ": [T, E] is taken");
}

// The weighted sums of a token's rows.
struct Sum {
  bool is_padded;
  Tensor ids;     // of rows: the row of each place of a token, or the token of each row
  Tensor places;  // of weights, in probs or in its transpose
  c10::SymIntArrayRef sizes;

  Tensor operator()(const Tensor& rows, const Tensor& probs) const {
    const Tensor taken = is_padded ? rows : rows.index_select(0, ids);
    Tensor weighted = taken;
    if (probs.defined()) {
      const Tensor weights = (is_padded ? probs.t() : probs).reshape({-1}).index_select(0, places);
      weighted = taken * weights.unsqueeze(1);
    }
    if (is_padded) return at::zeros_symint(sizes, rows.options()).index_add(0, ids, weighted.to(rows.scalar_type()));
    return weighted.reshape_symint({sizes[0], -1, rows.sym_size(1)}).sum(1).to(rows.scalar_type());
  }
};

Sum sum_of(const char* name, const Tensor& rows, const Tensor& ids, const OptionalTensor& map, bool has_probs,
           bool is_padded, c10::SymIntArrayRef sizes) {
  TORCH_CHECK(rows.dim() == 2 && ids.dim() == 1 && sizes.size() == 2 && sizes[0] > 0 && sizes[1] == rows.sym_size(1) &&
                  ids.sym_size(0) == rows.sym_size(0) && (is_padded || rows.sym_size(0) % sizes[0] == 0),
              name, ": rows of size ", rows.sym_sizes(), ", indices of size ", ids.sym_sizes(), ", restore_shape ",
              sizes, ": [M, H], [M] and [T, H] are taken, M a multiple of T without drop_and_pad");
  TORCH_CHECK(!has_probs || (map.has_value() && map->defined()), name,
              ": probs is given: routing_map is taken with it");
  Tensor places;
  if (has_probs) {
    check_map(name, *map);
    places = is_padded ? places_of(ids, map->sym_size(1), map->sym_size(0)) : marked(name, *map, rows.sym_size(0));
  }
  return {is_padded, ids.to(at::kLong), places, sizes};
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> npu_moe_token_permute_with_routing_map(const Tensor& tokens,
                                                                          const Tensor& routing_map,
                                                                          const OptionalTensor& probs,
                                                                          std::optional<int64_t> num_out_tokens,
                                                                          bool drop_and_pad) {
  constexpr const char* kName = "npu_moe_token_permute_with_routing_map";
  Operands(kName).take("tokens", tokens, kRows).take("routing_map", routing_map, kMaps).take("probs", probs, kRows);
  check_map(kName, routing_map);
  TORCH_CHECK(tokens.dim() == 2 && tokens.sym_size(0) == routing_map.sym_size(0) && tokens.sym_size(0) > 0 &&
                  routing_map.sym_size(1) > 0 && (!has_values(probs) || probs->sym_sizes() == routing_map.sym_sizes()),
              kName, ": tokens is of size ", tokens.sym_sizes(), ", routing_map of size ", routing_map.sym_sizes(),
              ": [T, H] and [T, E] are taken, probs has the size of routing_map");
  const c10::SymInt count = tokens.sym_size(0), experts = routing_map.sym_size(1);
  const c10::SymInt asked = num_out_tokens.has_value() ? c10::SymInt(*num_out_tokens) : count;
  const c10::SymInt divisor = drop_and_pad ? experts : count;
  const c10::SymInt rows = asked / divisor * divisor;
  TORCH_CHECK(rows >= 0 && rows <= count * experts, kName, ": num_out_tokens is ", asked, " for ", count,
              " tokens and ", experts, " experts");
  const Tensor ids = drop_and_pad ? by_capacity(routing_map, rows / experts).flatten() : Tensor();
  const Tensor places = drop_and_pad ? places_of(ids, experts, count) : marked(kName, routing_map.t(), rows);
  const Tensor owners = places.remainder(count.guard_int(__FILE__, __LINE__));
  const Tensor indices = drop_and_pad ? ids : std::get<1>(at::sort(owners, /*stable=*/true, 0, false));
  return {tokens.index_select(0, owners),
          has_values(probs) ? probs->t().reshape({-1}).index_select(0, places) : at::empty({0}, tokens.options()),
          indices.to(at::kInt)};
}

std::tuple<Tensor, Tensor> npu_moe_token_permute_with_routing_map_grad(
    const Tensor& permuted_token_out_grad, const OptionalTensor& probs_grad, const Tensor& sorted_indices,
    const Tensor& routing_map, c10::SymInt experts_num, c10::SymInt tokens_num, bool drop_and_pad) {
  constexpr const char* kName = "npu_moe_token_permute_with_routing_map_grad";
  const Tensor& grad = permuted_token_out_grad;
  Operands(kName)
      .take("permuted_token_out_grad", grad, kRows)
      .take("probs_grad", probs_grad, kRows)
      .take("sorted_indices", sorted_indices, kIndexes)
      .take("routing_map", routing_map, kMaps);
  check_map(kName, routing_map);
  TORCH_CHECK(grad.dim() == 2 && sorted_indices.dim() == 1 && sorted_indices.sym_size(0) == grad.sym_size(0) &&
                  routing_map.sym_size(0) == tokens_num && routing_map.sym_size(1) == experts_num,
              kName, ": permuted_token_out_grad is of size ", grad.sym_sizes(), ", sorted_indices of size ",
              sorted_indices.sym_sizes(), ", routing_map of size ", routing_map.sym_sizes(), " for ", tokens_num,
              " tokens and ", experts_num, " experts: [M, H], [M] and [T, E] are taken");
  const Tensor places = drop_and_pad ? places_of(sorted_indices, experts_num, tokens_num)
                                     : marked(kName, routing_map.t(), grad.sym_size(0));
  const Tensor owners = places.remainder(tokens_num.guard_int(__FILE__, __LINE__));
  const Tensor tokens = at::zeros_symint({tokens_num, grad.sym_size(1)}, grad.options()).index_add_(0, owners, grad);
  if (!has_values(probs_grad)) return {tokens, at::empty({0}, grad.options())};
  const Tensor probs = at::zeros_symint({experts_num * tokens_num}, probs_grad->options())
                           .index_add_(0, places, *probs_grad)
                           .reshape_symint({experts_num, tokens_num});
  return {tokens, probs.t().contiguous()};
}

// Beside the sums: the order of the rows by tokens and their tokens, with drop_and_pad; else sorted_indices twice.
std::tuple<Tensor, Tensor, Tensor, Tensor> _npu_moe_token_unpermute_with_routing_map(
    const Tensor& permuted_tokens, const Tensor& sorted_indices, at::IntArrayRef restore_shape,
    const OptionalTensor& probs, const OptionalTensor& routing_map, bool drop_and_pad) {
  constexpr const char* kName = "_npu_moe_token_unpermute_with_routing_map";
  Operands(kName)
      .take("permuted_tokens", permuted_tokens, kRows)
      .take("sorted_indices", sorted_indices, kIndexes)
      .take("probs", probs, kRows)
      .take("routing_map", routing_map, kMaps);
  const std::vector<c10::SymInt> sizes(restore_shape.begin(), restore_shape.end());
  const Sum sum = sum_of(kName, permuted_tokens, sorted_indices, routing_map, has_values(probs), drop_and_pad, sizes);
  const Tensor weights = has_values(probs) ? *probs : Tensor();
  const Tensor out = sum(permuted_tokens, weights);
  const auto [tokens, order] = at::sort(sorted_indices, /*stable=*/true, 0, /*descending=*/false);
  const Tensor used = weights.defined()
                          ? (drop_and_pad ? weights.t() : weights).reshape({-1}).index_select(0, sum.places)
                          : at::empty({0}, permuted_tokens.options());
  if (drop_and_pad) return {out, order.to(at::kInt), tokens, used};
  return {out, sorted_indices.clone(), sorted_indices.clone(), used};
}

std::tuple<Tensor, Tensor> npu_moe_token_unpermute_with_routing_map_grad(
    const Tensor& unpermuted_tokens_grad, const Tensor& out_index, const Tensor& permuted_token_id,
    const OptionalTensor& routing_map, const OptionalTensor& permuted_tokens, const OptionalTensor& probs,
    bool drop_and_pad, at::IntArrayRef restore_shape) {
  constexpr const char* kName = "npu_moe_token_unpermute_with_routing_map_grad";
  const Tensor& grad = unpermuted_tokens_grad;
  Operands(kName)
      .take("unpermuted_tokens_grad", grad, kRows)
      .take("out_index", out_index, kIndexes)
      .take("permuted_token_id", permuted_token_id, kIndexes)
      .take("routing_map", routing_map, kMaps)
      .take("permuted_tokens", permuted_tokens, kRows)
      .take("probs", probs, kRows);
  const bool has_probs = has_values(probs);
  TORCH_CHECK(!has_probs || has_values(permuted_tokens), kName, ": probs is given: permuted_tokens is taken with it");
  const std::vector<c10::SymInt> sizes(restore_shape.begin(), restore_shape.end());
  // The token of each row again.
  const Tensor ids = drop_and_pad
                         ? at::zeros_like(permuted_token_id).scatter_(0, out_index.to(at::kLong), permuted_token_id)
                         : out_index;
  const Tensor rows = has_values(permuted_tokens)
                          ? *permuted_tokens
                          : at::zeros_symint({ids.sym_size(0), grad.sym_size(1)}, grad.options());
  const Sum sum = sum_of(kName, rows, ids, routing_map, has_probs, drop_and_pad, sizes);
  const auto function = [&](const std::vector<Tensor>& inputs) {
    return std::vector<Tensor>{sum(inputs[0], has_probs ? inputs[1] : Tensor())};
  };
  const std::vector<Tensor> inputs = has_probs ? std::vector<Tensor>{rows, *probs} : std::vector<Tensor>{rows};
  const std::vector<Tensor> found = gradients_of(function, inputs, {grad});
  return {found[0], has_probs ? found[1] : at::empty({0}, grad.options())};
}

}  // namespace torch_npu::custom
