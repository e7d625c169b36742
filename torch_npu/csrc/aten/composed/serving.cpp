// Operators of serving: choices among logits, rotations by positions, caches, partial attention.

#include <ATen/Functions.h>
#include <ATen/core/Tensor.h>
#include <aclnnop/aclnn_apply_top_k_top_p.h>
#include <aclnnop/aclnn_kv_rms_norm_rope_cache_v2.h>
#include <aclnnop/aclnn_rope_with_sin_cos_cache.h>

#include <limits>
#include <numeric>

#include "aten/composed/cache_pages.h"
#include "aten/composed/operands.h"
#include "aten/composed/quantized.h"
#include "aten/custom/inputs.h"
#include "aten/version_counters.h"
#include "core/aclnn.h"
#include "core/device.h"
#include "custom_kernels.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;
using Pair = std::tuple<Tensor, Tensor>;
using FourTensors = std::tuple<Tensor, Tensor, Tensor, Tensor>;

constexpr aclnn_check::Dtypes kServed = dtypes({at::kHalf, at::kBFloat16, at::kFloat});

bool is_given(const OptionalTensor& tensor) { return tensor.has_value() && tensor->defined(); }

// The first channels of [T, heads, channels], as many as twice those of cos and sin [T, 1, n], rotated.
Tensor rotated_heads(const Tensor& rows, const Tensor& cos, const Tensor& sin, bool by_halves) {
  const c10::SymInt half = cos.sym_size(-1), rest = rows.sym_size(-1) - half * 2;
  const Tensor turned = rows.narrow_symint(-1, 0, half * 2);
  const Tensor a = by_halves ? turned.narrow_symint(-1, 0, half) : turned.slice(-1, 0, std::nullopt, 2);
  const Tensor b = by_halves ? turned.narrow_symint(-1, half, half) : turned.slice(-1, 1, std::nullopt, 2);
  const Tensor first = a * cos - b * sin, second = b * cos + a * sin;
  const Tensor result = by_halves ? at::cat({first, second}, -1) : at::stack({first, second}, -1).flatten(-2);
  return at::cat({result, rows.narrow_symint(-1, half * 2, rest)}, -1);
}

// Query and key rotated by one kernel.
Pair rotate_by_kernel(const Tensor& positions, const Tensor& query, const Tensor& key, const Tensor& cos_sin_cache,
                      at::IntArrayRef section, int64_t head_size, bool by_halves) {
  static const AclnnOp<decltype(aclnnRopeWithSinCosCacheGetWorkspaceSize)> function("aclnnRopeWithSinCosCache");
  const Tensor queries = at::empty(query.sizes(), query.options()), keys = at::empty(key.sizes(), key.options());
  if (queries.numel() == 0 && keys.numel() == 0) return {queries, keys};
  bind_device(query.device().index());
  function(query.device().index(), positions, query, key, cos_sin_cache, section, head_size, by_halves, queries, keys);
  return {queries, keys};
}

struct KeyValue {
  Tensor key, value;                // as they are given back, [B, 1, S, channels]
  Tensor cached_key, cached_value;  // in the caches' types
};

struct CacheCall {
  const char* name;
  const Tensor &kv, &gamma, &cos, &sin, &index;
  const OptionalTensor &key_scale, &value_scale, &key_offset, &value_offset, &v;
  double epsilon;
  std::string_view mode;

  void check(const Tensor& key_cache, const Tensor& value_cache) const {
    const auto same = aclnn_check::dtype_bit(kv.scalar_type());
    const auto cached = same | dtypes({at::kChar});
    Operands(name)
        .take("kv", kv, kServed)
        .take("gamma", gamma, same)
        .take("cos", cos, same)
        .take("sin", sin, same)
        .take("index", index, kIndexes)
        .take("k_cache", key_cache, is_given(key_scale) ? cached : same)
        .take("ckv_cache", value_cache, is_given(value_scale) ? cached : same)
        .take("k_rope_scale", key_scale, dtypes({at::kFloat}))
        .take("c_kv_scale", value_scale, dtypes({at::kFloat}))
        .take("k_rope_offset", key_offset, dtypes({at::kFloat}))
        .take("c_kv_offset", value_offset, dtypes({at::kFloat}))
        .take("v", v, same);
    const bool fits = kv.dim() == 4 && kv.sym_size(1) == 1 && gamma.dim() == 1 && cos.dim() == 4 &&
                      cos.sym_sizes() == sin.sym_sizes() && cos.sym_size(0) == kv.sym_size(0) &&
                      cos.sym_size(2) == kv.sym_size(2) && cos.sym_size(3) % 2 == 0 && key_cache.dim() == 4 &&
                      value_cache.dim() == 4;
    const c10::SymInt channels = is_given(v) ? gamma.sym_size(0) : gamma.sym_size(0) + (fits ? cos.sym_size(3) : 0);
    TORCH_CHECK(fits && kv.sym_size(3) == channels, name, ": kv is of size ", kv.sym_sizes(), ", gamma of size ",
                gamma.sym_sizes(), ", cos of size ", cos.sym_sizes(), ", sin of size ", sin.sym_sizes(),
                ": [B, 1, S, D], [N], and twice [B, 1, S, R] are taken, where D is N with v, else N + R");
    TORCH_CHECK((key_cache.scalar_type() == at::kChar) == is_given(key_scale) &&
                    (value_cache.scalar_type() == at::kChar) == is_given(value_scale),
                name, ": caches of ", key_cache.scalar_type(), " and ", value_cache.scalar_type(),
                ": those of int8 have k_rope_scale and c_kv_scale, others have none");
  }

  KeyValue compute() const {
    const c10::SymInt rope = cos.sym_size(3);
    const Tensor widened = kv.to(at::kFloat);
    const Tensor normed = is_given(v) ? widened : widened.narrow_symint(-1, 0, gamma.sym_size(0));
    const Tensor y = normed * (normed.square().mean({-1}, true) + epsilon).rsqrt() * gamma.to(at::kFloat);
    const Tensor rows = is_given(v) ? y.narrow_symint(-1, 0, rope) : widened.narrow_symint(-1, gamma.sym_size(0), rope);
    Tensor key = rotated_pairs(rows, cos.to(at::kFloat), sin.to(at::kFloat));
    if (is_given(v)) key = at::cat({key, y.narrow_symint(-1, rope, y.sym_size(-1) - rope)}, -1);
    const Tensor value = is_given(v) ? v->to(at::kFloat) : y;
    const auto cached = [&](const Tensor& rows_of, const OptionalTensor& scale, const OptionalTensor& offset) {
      if (!is_given(scale)) return rows_of.to(kv.scalar_type());
      const Tensor scaled = rows_of * *scale;
      return rounded_to_int8(is_given(offset) ? scaled + *offset : scaled);
    };
    const Tensor given_back = apart_from(is_given(v) ? *v : kv, value.to(kv.scalar_type()));
    return {key.to(kv.scalar_type()), given_back, cached(key, key_scale, key_offset),
            cached(value, value_scale, value_offset)};
  }

  // The slot of each of B S tokens.
  Tensor slots(const Tensor& cache) const {
    const int64_t batch = kv.size(0), tokens = kv.size(2);
    if (mode == "PA" || mode == "PA_BNSD" || mode == "PA_NZ") {
      TORCH_CHECK(index.numel() == batch * tokens, name, ": index has ", index.numel(), " numbers for ", batch,
                  " sequences of ", tokens, " tokens: one a token is taken");
      return index.reshape({-1});
    }
    const int64_t page = cache.size(1), pages = (tokens + page - 1) / page;
    TORCH_CHECK(index.numel() == batch * pages, name, ": index has ", index.numel(), " numbers for ", batch,
                " sequences of ", pages, " pages: one a page is taken");
    const Tensor first = index.reshape({batch, pages, 1});
    const Tensor all = at::where(first < 0, first, first + at::arange(page, index.options()));
    return all.reshape({batch, pages * page}).narrow(1, 0, tokens).reshape({-1});
  }

  // Writes both caches, which are contiguous.
  void write(const KeyValue& result, const Tensor& key_cache, const Tensor& value_cache) const {
    for (const auto& [cache, rows] : {std::pair(key_cache, result.cached_key), {value_cache, result.cached_value}}) {
      TORCH_CHECK(cache.sym_size(-1) == rows.sym_size(-1) && cache.is_contiguous(), name, ": a cache of size ",
                  cache.sym_sizes(), " for rows of ", rows.sym_size(-1), " channels: it is contiguous and has as many");
      if (cache.is_meta()) continue;
      if (mode == "Norm") {
        TORCH_CHECK(index.sizes() == at::IntArrayRef({kv.size(0), kv.size(2)}) && cache.size(0) == kv.size(0), name,
                    ": index is of size ", index.sizes(), ", a cache of size ", cache.sizes(), " for kv of size ",
                    kv.sizes(), ": [B, S] and [B, 1, length, channels] are taken");
        const Tensor places = index.to(at::kLong).reshape({kv.size(0), 1, kv.size(2), 1}).expand_as(rows);
        cache.scatter_(2, places, rows);
        continue;
      }
      TORCH_CHECK(mode == "PA" || mode == "PA_BNSD" || mode == "PA_NZ" || mode == "PA_BLK_BNSD" || mode == "PA_BLK_NZ",
                  name, ": cache_mode is '", mode, "': Norm, PA, PA_BNSD, PA_NZ, PA_BLK_BNSD and PA_BLK_NZ are taken");
      Pages{cache, mode.ends_with("NZ"), name}.write(rows.reshape({-1, rows.size(-1)}), slots(cache));
    }
  }

  // The same by one kernel: keys and values as they are given back.
  std::pair<Tensor, Tensor> launch(const Tensor& key_cache, const Tensor& value_cache) const {
    static const AclnnOp<decltype(aclnnKvRmsNormRopeCacheV2GetWorkspaceSize)> function("aclnnKvRmsNormRopeCacheV2");
    TORCH_CHECK(key_cache.is_contiguous() && value_cache.is_contiguous(), name, ": caches of strides ",
                key_cache.strides(), " and ", value_cache.strides(), ": they are contiguous");
    check_apart(key_cache, value_cache, kv, gamma, cos, sin, index, v);
    check_apart(value_cache, kv, gamma, cos, sin, index, v);
    const auto rows = [&](int64_t channels) {
      return at::empty({kv.size(0), 1, kv.size(2), channels}, kv.options().memory_format(at::MemoryFormat::Contiguous));
    };
    const Tensor key = rows(is_given(v) ? gamma.size(0) : cos.size(3));
    const Tensor value = rows(is_given(v) ? v->size(-1) : gamma.size(0));
    bind_device(kv.device().index());
    constexpr bool kGivesBoth = true;
    function(kv.device().index(), kv, gamma, cos, sin, index, key_cache, value_cache, key_scale, value_scale,
             key_offset, value_offset, v, epsilon, mode, kGivesBoth, key, value);
    return {key, value};
  }

  // Both caches as written, in place or as copies; keys and values.
  FourTensors run(const Tensor& key_cache, const Tensor& value_cache, bool in_place) const {
    check(key_cache, value_cache);
    const auto target = [&](const Tensor& cache) {
      return in_place ? cache : cache.clone(at::MemoryFormat::Contiguous);
    };
    const Tensor keys = target(key_cache), values = target(value_cache);
    static const bool has_kernel = aclnn_symbol("aclnnKvRmsNormRopeCacheV2") != nullptr;
    if (has_kernel && kv.is_privateuseone() && kv.numel() > 0) {
      const auto [key, value] = launch(keys, values);
      if (in_place) raise_versions({keys, values});
      return {keys, values, key, value};
    }
    const KeyValue result = compute();
    write(result, keys, values);
    return {keys, values, result.key, result.value};
  }
};

}  // namespace

Tensor npu_top_k_top_p(const Tensor& logits, const OptionalTensor& p, const OptionalTensor& k) {
  constexpr const char* kName = "npu_top_k_top_p";
  const auto same = aclnn_check::dtype_bit(logits.scalar_type());
  Operands(kName).take("logits", logits, kServed).take("p", p, same).take("k", k, dtypes({at::kInt, at::kLong}));
  TORCH_CHECK(logits.dim() == 2, kName, ": logits is of size ", logits.sym_sizes(), ": [N, V] is taken");
  for (const auto& [role, tensor] : {std::pair("p", p), {"k", k}}) {
    TORCH_CHECK(!is_given(tensor) || (tensor->dim() == 1 && tensor->sym_size(0) == logits.sym_size(0)), kName, ": ",
                role, " is of size ", tensor->sym_sizes(), " for logits of size ", logits.sym_sizes(),
                ": one number a row is taken");
  }
  if (!is_given(p) && !is_given(k)) return logits.clone(at::MemoryFormat::Contiguous);
  static const AclnnOp<decltype(aclnnApplyTopKTopPGetWorkspaceSize)> function("aclnnApplyTopKTopP");
  if (logits.is_privateuseone() && function.available()) {
    const Tensor out = at::empty(logits.sizes(), logits.options());
    bind_device(logits.device().index());
    if (out.numel() > 0) function(logits.device().index(), logits, p, k, out);
    return out;
  }
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  auto [sorted, order] = at::sort(logits, /*stable=*/true, -1, false);
  if (is_given(k)) {
    const Tensor from = (-k->to(at::kLong) + logits.sym_size(1).guard_int(__FILE__, __LINE__)).unsqueeze(1);
    sorted = sorted.masked_fill(sorted < sorted.gather(1, from.clamp_min(0)), kNone);
  }
  if (is_given(p)) {
    const Tensor sums = at::softmax(sorted, -1, at::kFloat).cumsum(-1);
    Tensor is_left_out = sums <= 1 - p->to(at::kFloat).unsqueeze(1);
    is_left_out.select(1, -1).fill_(false);
    sorted = sorted.masked_fill(is_left_out, kNone);
  }
  return at::empty_like(sorted).scatter_(-1, order, sorted);
}

Pair npu_mrope(const Tensor& positions, const Tensor& query, const Tensor& key, const Tensor& cos_sin_cache,
               int64_t head_size, at::OptionalIntArrayRef mrope_section, std::optional<std::string_view> rotary_mode,
               std::optional<std::string_view> cache_mode) {
  constexpr const char* kName = "npu_mrope";
  const auto same = aclnn_check::dtype_bit(query.scalar_type());
  Operands(kName)
      .take("positions", positions, kIndexes)
      .take("query", query, kServed)
      .take("key", key, same)
      .take("cos_sin_cache", cos_sin_cache, same);
  const std::string_view mode = rotary_mode.value_or("half"), arrangement = cache_mode.value_or("default");
  TORCH_CHECK(mode == "half" || mode == "interleave", kName, ": rotary_mode is '", mode,
              "': 'half' and 'interleave' are taken");
  TORCH_CHECK(arrangement == "default" || arrangement == "interleave", kName, ": cache_mode is '", arrangement,
              "': 'default' and 'interleave' are taken");
  TORCH_CHECK(positions.dim() == 1 || positions.dim() == 2, kName, ": positions is of size ", positions.sym_sizes(),
              ": [T] or [m, T] is taken");
  const c10::SymInt tokens = positions.sym_size(-1);
  TORCH_CHECK(query.dim() == 2 && key.dim() == 2 && query.sym_size(0) == tokens && key.sym_size(0) == tokens &&
                  head_size > 0 && query.sym_size(1) % head_size == 0 && key.sym_size(1) % head_size == 0 &&
                  cos_sin_cache.dim() == 2 && cos_sin_cache.sym_size(1) % 2 == 0 &&
                  cos_sin_cache.sym_size(1) <= head_size,
              kName, ": query is of size ", query.sym_sizes(), ", key of size ", key.sym_sizes(),
              ", cos_sin_cache of size ", cos_sin_cache.sym_sizes(), ", head_size ", head_size, " for ", tokens,
              " tokens: [T, heads head_size], and [positions, up to head_size] are taken");
  const int64_t half = cos_sin_cache.sym_size(1).guard_int(__FILE__, __LINE__) / 2;
  const bool is_in_order = positions.dim() == 1 || arrangement == "default";
  static const bool has_kernel = aclnn_symbol("aclnnRopeWithSinCosCache") != nullptr;
  if (has_kernel && is_in_order && query.is_privateuseone()) {
    return rotate_by_kernel(positions, query, key, cos_sin_cache, mrope_section.value_or(at::IntArrayRef()), head_size,
                            mode == "half");
  }
  const auto row = [&](const Tensor& of) { return cos_sin_cache.index_select(0, of.flatten()).to(at::kFloat); };
  Tensor angles;  // [T, 2 half]
  if (positions.dim() == 1) {
    angles = row(positions);
  } else {
    const at::IntArrayRef section = mrope_section.value_or(at::IntArrayRef());
    TORCH_CHECK(positions.sym_size(0) == static_cast<int64_t>(section.size()) && !section.empty() &&
                    std::accumulate(section.begin(), section.end(), int64_t{0}) == half,
                kName, ": mrope_section is ", section, " for positions of size ", positions.sym_sizes(),
                ": a number for each row is taken, with the sum ", half);
    TORCH_CHECK_NOT_IMPLEMENTED(arrangement == "default" || section.size() == 3, kName,
                                ": cache_mode is 'interleave' for ", section.size(), " sections: 3 are taken");
    // Which row of positions each of `half` channels belongs to.
    std::vector<int64_t> owners;
    for (std::size_t i = 0; i < section.size() && arrangement == "default"; ++i) {
      owners.insert(owners.end(), static_cast<std::size_t>(section[i]), static_cast<int64_t>(i));
    }
    for (int64_t i = 0; i < half && arrangement != "default"; ++i) {
      owners.push_back(i < section[1] * 3 ? i % 3 : 0);
    }
    const Tensor all = row(positions).reshape_symint({positions.sym_size(0), tokens, 2, half});
    std::vector<Tensor> channels;
    for (std::size_t i = 0; i < owners.size(); ++i) {
      channels.push_back(all.select(0, owners[i]).select(-1, static_cast<int64_t>(i)));
    }
    angles = at::stack(channels, -1).flatten(1);
  }
  const Tensor cos = angles.narrow(1, 0, half).unsqueeze(1), sin = angles.narrow(1, half, half).unsqueeze(1);
  const auto rotate = [&](const Tensor& given) {
    const Tensor heads = given.to(at::kFloat).reshape_symint({tokens, -1, head_size});
    return rotated_heads(heads, cos, sin, mode == "half").reshape_symint(given.sym_sizes()).to(given.scalar_type());
  };
  return {rotate(query), rotate(key)};
}

// Writes k_cache and ckv_cache and gives them back, as the official operator does without saying so in its schema.
FourTensors npu_kv_rmsnorm_rope_cache(const Tensor& kv, const Tensor& gamma, const Tensor& cos, const Tensor& sin,
                                      const Tensor& index, const Tensor& k_cache, const Tensor& ckv_cache,
                                      const OptionalTensor& k_rope_scale, const OptionalTensor& c_kv_scale,
                                      const OptionalTensor& k_rope_offset, const OptionalTensor& c_kv_offset,
                                      const OptionalTensor& v, double epsilon, std::string_view cache_mode,
                                      bool /*is_output_kv*/) {
  const CacheCall call{"npu_kv_rmsnorm_rope_cache",
                       kv,
                       gamma,
                       cos,
                       sin,
                       index,
                       k_rope_scale,
                       c_kv_scale,
                       k_rope_offset,
                       c_kv_offset,
                       v,
                       epsilon,
                       cache_mode};
  return call.run(k_cache, ckv_cache, /*in_place=*/true);
}

FourTensors npu_kv_rmsnorm_rope_cache_v2_functional(
    const Tensor& kv, const Tensor& gamma, const Tensor& cos, const Tensor& sin, const Tensor& index,
    const Tensor& k_cache, const Tensor& ckv_cache, const OptionalTensor& k_rope_scale,
    const OptionalTensor& c_kv_scale, const OptionalTensor& k_rope_offset, const OptionalTensor& c_kv_offset,
    const OptionalTensor& v, double epsilon, std::string_view cache_mode, bool /*is_output_kv*/,
    std::optional<int64_t> /*k_cache_dtype*/, std::optional<int64_t> /*ckv_cache_dtype*/) {
  const CacheCall call{"npu_kv_rmsnorm_rope_cache_v2_functional",
                       kv,
                       gamma,
                       cos,
                       sin,
                       index,
                       k_rope_scale,
                       c_kv_scale,
                       k_rope_offset,
                       c_kv_offset,
                       v,
                       epsilon,
                       cache_mode};
  const auto [keys, values, key, value] = call.run(k_cache, ckv_cache, /*in_place=*/false);
  return {key, value, keys, values};
}

Pair npu_attention_update(at::TensorList lse, at::TensorList local_out, int64_t update_type) {
  constexpr const char* kName = "npu_attention_update";
  Operands(kName).take("lse", lse, dtypes({at::kFloat})).take("local_out", local_out, kServed);
  TORCH_CHECK(!lse.empty() && lse.size() == local_out.size() && (update_type == 0 || update_type == 1), kName, ": ",
              lse.size(), " tensors in lse, ", local_out.size(), " in local_out, update_type ", update_type,
              ": as many in both, and 0 or 1 are taken");
  for (std::size_t i = 0; i < lse.size(); ++i) {
    TORCH_CHECK(lse[i].dim() == 1 && local_out[i].dim() == 2 && lse[i].sym_size(0) == local_out[i].sym_size(0) &&
                    local_out[i].sym_sizes() == local_out[0].sym_sizes() &&
                    local_out[i].scalar_type() == local_out[0].scalar_type(),
                kName, ": lse[", i, "] is of size ", lse[i].sym_sizes(), ", local_out[", i, "] of size ",
                local_out[i].sym_sizes(), ": [N] and [N, H] of one type are taken");
  }
  const Tensor sums = at::stack(lse);
  const Tensor total = at::logsumexp(sums, {0});
  const Tensor weights = at::exp(sums - total.unsqueeze(0)).unsqueeze(-1);
  const Tensor out = (at::stack(local_out).to(at::kFloat) * weights).sum(0).to(local_out[0].scalar_type());
  return {out, update_type == 1 ? total : at::empty({0}, total.options())};
}

// Statistics of softmax are eight equal numbers each.
std::tuple<Tensor, Tensor, Tensor> npu_ring_attention_update(
    const Tensor& prev_attn_out, const Tensor& prev_softmax_max, const Tensor& prev_softmax_sum,
    const Tensor& cur_attn_out, const Tensor& cur_softmax_max, const Tensor& cur_softmax_sum,
    const OptionalTensor& actual_seq_qlen, std::string_view input_layout, std::string_view input_softmax_layout) {
  constexpr const char* kName = "npu_ring_attention_update";
  const auto same = aclnn_check::dtype_bit(prev_attn_out.scalar_type());
  const auto statistic = dtypes({at::kFloat});
  Operands(kName)
      .take("prev_attn_out", prev_attn_out, kServed)
      .take("prev_softmax_max", prev_softmax_max, statistic)
      .take("prev_softmax_sum", prev_softmax_sum, statistic)
      .take("cur_attn_out", cur_attn_out, same)
      .take("cur_softmax_max", cur_softmax_max, statistic)
      .take("cur_softmax_sum", cur_softmax_sum, statistic);
  TORCH_CHECK_NOT_IMPLEMENTED(input_layout == "SBH" && input_softmax_layout.empty() && !is_given(actual_seq_qlen),
                              kName, ": input_layout is '", input_layout, "', input_softmax_layout '",
                              input_softmax_layout,
                              "': 'SBH' is taken, without actual_seq_qlen and input_softmax_layout");
  TORCH_CHECK(prev_attn_out.dim() == 3 && prev_softmax_max.dim() == 4 &&
                  prev_attn_out.sym_sizes() == cur_attn_out.sym_sizes() &&
                  prev_softmax_max.sym_sizes() == cur_softmax_max.sym_sizes() &&
                  prev_softmax_sum.sym_sizes() == prev_softmax_max.sym_sizes() &&
                  cur_softmax_sum.sym_sizes() == prev_softmax_max.sym_sizes() &&
                  prev_softmax_max.sym_size(0) == prev_attn_out.sym_size(1) &&
                  prev_softmax_max.sym_size(2) == prev_attn_out.sym_size(0) &&
                  prev_attn_out.sym_size(2) % prev_softmax_max.sym_size(1) == 0,
              kName, ": attention of size ", prev_attn_out.sym_sizes(), " and ", cur_attn_out.sym_sizes(),
              ", statistics of size ", prev_softmax_max.sym_sizes(), ": [S, B, N D] twice and [B, N, S, 8] are taken");
  const Tensor most = at::maximum(prev_softmax_max, cur_softmax_max);
  const Tensor before = prev_softmax_sum * at::exp(prev_softmax_max - most);
  const Tensor now = cur_softmax_sum * at::exp(cur_softmax_max - most);
  const Tensor sum = before + now;
  const auto part = [&](const Tensor& attention, const Tensor& share) {
    const Tensor factor = (share / sum).select(-1, 0).permute({2, 0, 1}).unsqueeze(-1);  // [S, B, N, 1]
    std::vector<c10::SymInt> heads = {attention.sym_size(0), attention.sym_size(1), factor.sym_size(2), -1};
    return attention.to(at::kFloat).reshape_symint(heads) * factor;
  };
  const Tensor out = (part(prev_attn_out, before) + part(cur_attn_out, now)).reshape_symint(prev_attn_out.sym_sizes());
  return {out.to(prev_attn_out.scalar_type()), most, sum};
}

// The rows of sequences, one behind the other, from pages [pages, tokens, heads, channels].
Pair npu_gather_pa_kv_cache_functional(const Tensor& key_cache, const Tensor& value_cache, const Tensor& block_tables,
                                       const Tensor& seq_lens, const Tensor& key, const Tensor& value,
                                       const OptionalTensor& seq_offset, bool is_seq_lens_cumsum) {
  constexpr const char* kName = "npu_gather_pa_kv_cache_functional";
  Operands(kName)
      .take("key_cache", key_cache)
      .take("value_cache", value_cache)
      .take("block_tables", block_tables, kIndexes)
      .take("seq_lens", seq_lens, kIndexes)
      .take("key", key, aclnn_check::dtype_bit(key_cache.scalar_type()))
      .take("value", value, aclnn_check::dtype_bit(value_cache.scalar_type()))
      .take("seq_offset", seq_offset, kIndexes);
  const c10::SymInt batch = block_tables.sym_size(0);
  TORCH_CHECK(key_cache.dim() == 4 && value_cache.dim() == 4 && key.dim() == 3 && value.dim() == 3 &&
                  block_tables.dim() == 2 && seq_lens.dim() == 1 &&
                  seq_lens.sym_size(0) == (is_seq_lens_cumsum ? batch + 1 : batch) &&
                  key.sym_size(0) == value.sym_size(0) && key_cache.sym_size(0) == value_cache.sym_size(0) &&
                  key_cache.sym_size(1) == value_cache.sym_size(1) &&
                  key.sym_sizes().slice(1) == key_cache.sym_sizes().slice(2) &&
                  value.sym_sizes().slice(1) == value_cache.sym_sizes().slice(2),
              kName, ": caches of size ", key_cache.sym_sizes(), " and ", value_cache.sym_sizes(),
              ", block_tables of size ", block_tables.sym_sizes(), ", seq_lens of size ", seq_lens.sym_sizes(),
              ", key of size ", key.sym_sizes(), ", value of size ", value.sym_sizes(),
              ": [pages, tokens, heads, channels] twice, [B, most pages], [B] or cumulative [B + 1], and [T, heads, "
              "channels] twice are taken");
  const Tensor new_key = key.clone(at::MemoryFormat::Contiguous), new_value = value.clone(at::MemoryFormat::Contiguous);
  if (key.is_meta()) return {new_key, new_value};
  const int64_t page = key_cache.size(1), pages = key_cache.size(0);
  const Tensor ends = is_seq_lens_cumsum ? seq_lens.slice(0, 1).to(at::kLong) : seq_lens.to(at::kLong).cumsum(0);
  const Tensor rows = at::arange(key.size(0), ends.options());
  const Tensor sequence = at::searchsorted(ends.contiguous(), rows, false, true);
  const Tensor is_row = sequence < ends.size(0);
  const Tensor known = sequence.clamp_max(ends.size(0) - 1);
  const Tensor starts = at::cat({at::zeros({1}, ends.options()), ends.slice(0, 0, -1)});
  const Tensor location = rows - starts.index_select(0, known);
  Tensor column = at::div(location, page, "floor");
  if (is_given(seq_offset)) column = column + at::div(seq_offset->to(at::kLong), page, "floor").index_select(0, known);
  const Tensor is_column = column < block_tables.size(1);
  const Tensor table = block_tables.to(at::kLong);
  const Tensor found = table.index({known, column.clamp_max(table.size(1) - 1)});
  const Tensor is_page = at::logical_and(is_column, at::logical_and(found >= 0, found < pages));
  const Tensor slot = found.clamp(0, pages - 1) * page + location.remainder(page);
  for (const auto& [cache, out] : {std::pair(key_cache, new_key), {value_cache, new_value}}) {
    const Tensor taken = cache.reshape({pages * page, cache.size(2), cache.size(3)}).index_select(0, slot);
    const auto mask = [](const Tensor& truth) { return truth.reshape({-1, 1, 1}); };
    out.copy_(at::where(mask(is_row), at::where(mask(is_page), taken, at::zeros_like(taken)), out));
  }
  return {new_key, new_value};
}

}  // namespace torch_npu::custom
