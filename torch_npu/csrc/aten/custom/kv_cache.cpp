// Operators that write caches of keys and values, query and key, or a result, and give nothing.

#include <ATen/core/Tensor.h>
#include <ATen/ops/_to_copy.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <aclnnop/aclnn_apply_rotary_pos_emb_v2.h>
#include <aclnnop/aclnn_scatter_pa_kv_cache.h>
#include <torch/library.h>

#include <array>
#include <numeric>
#include <vector>

#include "aten/custom/infer_call.h"
#include "aten/custom/inputs.h"
#include "aten/custom/written_arguments.h"
#include "core/aclnn.h"
#include "core/device.h"
#include "custom_kernels.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

constexpr aclnn_check::Dtypes kCached = kUpToFloat | dtypes({at::kChar, at::kByte, at::kShort, at::kInt});

// `value` and `value_cache` are undefined for a cache of keys alone.
void write_cache(const char* name, const Tensor& key, const Tensor& value, const Tensor& key_cache,
                 const Tensor& value_cache, const Tensor& slots, std::string_view mode) {
  static const AclnnOp<decltype(aclnnScatterPaKvCacheGetWorkspaceSize)> function("aclnnScatterPaKvCache",
                                                                                 AclObject::kIntArray);
  Inputs inputs(name, "aclnnScatterPaKvCache", function.available());
  inputs.take("key", key, kCached);
  const auto same = aclnn_check::dtype_bit(key.scalar_type());
  inputs.take("key_cache", key_cache, same);
  if (value.defined()) {
    inputs.take("value", value, same);
    inputs.take("value_cache", value_cache, same);
    check_apart(value_cache, key, value, slots, key_cache);
  }
  inputs.take("slot_indices", slots, dtypes({at::kInt, at::kLong}));
  check_apart(key_cache, key, slots);
  bind_device(inputs.device());
  if (slots.numel() == 0 && key.numel() == 0) return;
  constexpr std::string_view kNone = "None";
  const Tensor absent;
  const std::array<int64_t, 2> strides = {1, 1}, offsets = {0, 0};
  function(inputs.device(), key, key_cache, slots, value, value_cache, absent, absent, absent, mode, kNone, strides,
           offsets);
}

void npu_scatter_pa_kv_cache(const Tensor& key, const Tensor& value, Tensor& key_cache, Tensor& value_cache,
                             const Tensor& slot_mapping, const OptionalTensor& compress_lens,
                             const OptionalTensor& compress_seq_offsets, const OptionalTensor& seq_lens,
                             std::optional<c10::string_view> cache_mode) {
  for (const OptionalTensor* tensor : {&compress_lens, &compress_seq_offsets, &seq_lens}) {
    TORCH_CHECK_NOT_IMPLEMENTED(!tensor->has_value() || !(*tensor)->defined(),
                                "npu_scatter_pa_kv_cache: compress_lens, compress_seq_offsets or seq_lens is given: "
                                "None is taken, compressed rows are not computed");
  }
  const auto mode = cache_mode.value_or("Norm");
  write_cache("npu_scatter_pa_kv_cache", key, value, key_cache, value_cache, slot_mapping,
              std::string_view(mode.data(), mode.size()));
}

void _npu_reshape_and_cache(const Tensor& key, const Tensor& value, Tensor& key_cache, Tensor& value_cache,
                            const Tensor& slot_indices) {
  write_cache("_npu_reshape_and_cache", key, value, key_cache, value_cache, slot_indices, "Norm");
}

void _npu_reshape_and_cache_siso(const Tensor& key, Tensor& key_cache, const Tensor& slot_indices) {
  write_cache("_npu_reshape_and_cache_siso", key, {}, key_cache, {}, slot_indices, "Norm");
}

Tensor& npu_scatter_pa_cache_value(const Tensor& key, const Tensor& slot_mapping, const OptionalTensor& compress_lens,
                                   const OptionalTensor& compress_seq_offsets, const OptionalTensor& seq_lens,
                                   Tensor& key_cache) {
  for (const OptionalTensor* tensor : {&compress_lens, &compress_seq_offsets, &seq_lens}) {
    TORCH_CHECK_NOT_IMPLEMENTED(
        !tensor->has_value() || !(*tensor)->defined(),
        "npu_scatter_pa_cache: compress_lens, compress_seq_offsets or seq_lens is given: None is "
        "taken, compressed rows are not computed");
  }
  write_cache("npu_scatter_pa_cache", key, {}, key_cache, {}, slot_mapping, "Norm");
  return key_cache;
}

// Lengths in a tensor of any device.
std::vector<int64_t> read_lengths(const char* name, const char* role, const Tensor& lengths) {
  TORCH_CHECK(lengths.dim() == 1 && (lengths.scalar_type() == at::kInt || lengths.scalar_type() == at::kLong), name,
              ": ", role, " is a tensor of ", lengths.scalar_type(), ", size ", lengths.sizes(),
              ": int32 and int64 of one dimension are taken");
  const Tensor values = at::_to_copy(lengths, lengths.options().dtype(at::kLong).device(at::kCPU)).contiguous();
  const auto* const from = values.const_data_ptr<int64_t>();
  return {from, from + values.numel()};
}

void _npu_paged_attention(const Tensor& query, const Tensor& key_cache, const Tensor& value_cache, int64_t num_kv_heads,
                          int64_t num_heads, double scale_value, const Tensor& block_table, const Tensor& context_lens,
                          Tensor& out, const OptionalTensor& /*workspace*/) {
  constexpr const char* kName = "_npu_paged_attention";
  TORCH_CHECK(query.dim() == 3 && key_cache.dim() == 4 && value_cache.dim() == 4, kName, ": query is of size ",
              query.sizes(), ", key_cache of size ", key_cache.sizes(), " and value_cache of size ",
              value_cache.sizes(), ": [T, N, D] and [pages, block_size, heads, D] are taken");
  TORCH_CHECK(key_cache.size(2) == num_kv_heads && value_cache.size(2) == num_kv_heads, kName, ": num_kv_heads is ",
              num_kv_heads, " for caches of ", key_cache.size(2), " and ", value_cache.size(2), " heads");
  const std::vector<int64_t> lengths = read_lengths(kName, "context_lens", context_lens);
  TORCH_CHECK(static_cast<int64_t>(lengths.size()) == query.size(0), kName, ": context_lens has ", lengths.size(),
              " numbers for ", query.size(0), " queries: each is a sequence of its own");
  std::vector<int64_t> ends(lengths.size());
  std::iota(ends.begin(), ends.end(), int64_t{1});
  if (query.numel() == 0) return;
  const Tensor keys = key_cache.flatten(2), values = value_cache.flatten(2);
  const InferCall call{.name = kName,
                       .query = query,
                       .key = keys,
                       .value = values,
                       .table = block_table,
                       .query_lengths = ends,
                       .key_lengths = lengths,
                       .heads = num_heads,
                       .key_heads = num_kv_heads,
                       .scale = scale_value,
                       .layout = "TND",
                       .page = key_cache.size(1)};
  const std::array<Tensor, 2> results = {out, Tensor(at::empty({0}, query.options().dtype(at::kFloat)))};
  infer_into(call, results);
}

// Rotates the first channels of each head in place.
void _npu_rotary_embedding(const Tensor& positions, Tensor& query, Tensor& key, int64_t head_size,
                           const Tensor& cos_sin_cache, bool is_neox_style) {
  constexpr const char* kName = "_npu_rotary_embedding";
  constexpr int64_t kPacked = 4;  // the number of a layout [T, N, D]
  static const AclnnOp<decltype(aclnnApplyRotaryPosEmbV2GetWorkspaceSize)> function("aclnnApplyRotaryPosEmbV2");
  Inputs inputs(kName, "aclnnApplyRotaryPosEmbV2", function.available());
  inputs.take("positions", positions, dtypes({at::kInt, at::kLong}));
  inputs.take("query", query, kUpToFloat);
  inputs.take("key", key, aclnn_check::dtype_bit(query.scalar_type()));
  inputs.take("cos_sin_cache", cos_sin_cache, kUpToFloat);
  check_apart(query, positions, cos_sin_cache, key);
  check_apart(key, positions, cos_sin_cache);
  const int64_t tokens = positions.numel();
  TORCH_CHECK(cos_sin_cache.dim() == 2 && cos_sin_cache.size(1) % 2 == 0 && cos_sin_cache.size(1) <= head_size, kName,
              ": cos_sin_cache is of size ", cos_sin_cache.sizes(), ": [positions, 2 R] with 2 R up to head_size, ",
              head_size, ", is taken");
  const auto in_heads = [&](const char* role, const Tensor& rows) {
    TORCH_CHECK(head_size > 0 && tokens > 0 && rows.numel() % (tokens * head_size) == 0 && rows.is_contiguous(), kName,
                ": ", role, " is of size ", rows.sizes(), ", strides ", rows.strides(), " for ", tokens,
                " positions: contiguous rows of heads of ", head_size, " channels are taken");
    return rows.view({tokens, -1, head_size}).slice(2, 0, cos_sin_cache.size(1));
  };
  if (tokens == 0) return;
  const Tensor queries = in_heads("query", query), keys = in_heads("key", key);
  bind_device(inputs.device());
  const Tensor angles = cos_sin_cache.index_select(0, positions.flatten()).unsqueeze(1);
  const int64_t half = cos_sin_cache.size(1) / 2;
  const auto spread = [&](const Tensor& part) {
    return is_neox_style ? at::cat({part, part}, -1) : part.repeat_interleave(2, -1);
  };
  const Tensor cos = spread(angles.slice(2, 0, half)), sin = spread(angles.slice(2, half));
  const std::string_view mode = is_neox_style ? "half" : "interleave";
  function(inputs.device(), queries, keys, cos, sin, kPacked, mode);
}

// Of meta tensors there is nothing to write.
void no_scatter(const Tensor&, const Tensor&, Tensor&, Tensor&, const Tensor&, const OptionalTensor&,
                const OptionalTensor&, const OptionalTensor&, std::optional<c10::string_view>) {}
Tensor& no_scatter_of_keys(const Tensor&, const Tensor&, const OptionalTensor&, const OptionalTensor&,
                           const OptionalTensor&, Tensor& key_cache) {
  return key_cache;
}
void no_cache(const Tensor&, const Tensor&, Tensor&, Tensor&, const Tensor&) {}
void no_cache_siso(const Tensor&, Tensor&, const Tensor&) {}
void no_attention(const Tensor&, const Tensor&, const Tensor&, int64_t, int64_t, double, const Tensor&, const Tensor&,
                  Tensor&, const OptionalTensor&) {}
void no_rotation(const Tensor&, Tensor&, Tensor&, int64_t, const Tensor&, bool) {}

// The functional operator's results, written to the caller's tensors.
void npu_gather_pa_kv_cache(const Tensor& key_cache, const Tensor& value_cache, const Tensor& block_tables,
                            const Tensor& seq_lens, Tensor& key, Tensor& value, const OptionalTensor& seq_offset,
                            bool is_seq_lens_cumsum) {
  check_apart(key, key_cache, block_tables, seq_lens, value);
  check_apart(value, value_cache, block_tables, seq_lens);
  const auto [keys, values] = npu_gather_pa_kv_cache_functional(key_cache, value_cache, block_tables, seq_lens, key,
                                                                value, seq_offset, is_seq_lens_cumsum);
  key.copy_(keys);
  value.copy_(values);
}

void no_gather(const Tensor&, const Tensor&, const Tensor&, const Tensor&, Tensor&, Tensor&, const OptionalTensor&,
               bool) {}

constexpr std::initializer_list<const char*> kScatter = {"npu_scatter_pa_kv_cache", "npu_gather_pa_kv_cache",
                                                         "npu_scatter_pa_cache.value"};
constexpr std::initializer_list<const char*> kAtb = {"_npu_reshape_and_cache", "_npu_reshape_and_cache_siso",
                                                     "_npu_paged_attention", "_npu_rotary_embedding"};

TORCH_LIBRARY_IMPL(npu, PrivateUse1, m) {
  m.impl("npu_scatter_pa_kv_cache", &npu_scatter_pa_kv_cache);
  m.impl("npu_gather_pa_kv_cache", &npu_gather_pa_kv_cache);
  m.impl("npu_scatter_pa_cache.value", &npu_scatter_pa_cache_value);
}
TORCH_LIBRARY_IMPL(npu, Meta, m) {
  m.impl("npu_scatter_pa_kv_cache", &no_scatter);
  m.impl("npu_gather_pa_kv_cache", &no_gather);
  m.impl("npu_scatter_pa_cache.value", &no_scatter_of_keys);
}
TORCH_LIBRARY_IMPL(npu, AutogradPrivateUse1, m) { refuse_derivatives(m, kScatter); }
TORCH_LIBRARY_IMPL(npu, AutogradMeta, m) { refuse_derivatives(m, kScatter); }
TORCH_LIBRARY_IMPL(npu, ADInplaceOrView, m) { count_written(m, kScatter); }

TORCH_LIBRARY_IMPL(atb, PrivateUse1, m) {
  m.impl("_npu_reshape_and_cache", &_npu_reshape_and_cache);
  m.impl("_npu_reshape_and_cache_siso", &_npu_reshape_and_cache_siso);
  m.impl("_npu_paged_attention", &_npu_paged_attention);
  m.impl("_npu_rotary_embedding", &_npu_rotary_embedding);
}
TORCH_LIBRARY_IMPL(atb, Meta, m) {
  m.impl("_npu_reshape_and_cache", &no_cache);
  m.impl("_npu_reshape_and_cache_siso", &no_cache_siso);
  m.impl("_npu_paged_attention", &no_attention);
  m.impl("_npu_rotary_embedding", &no_rotation);
}
TORCH_LIBRARY_IMPL(atb, AutogradPrivateUse1, m) { refuse_derivatives(m, kAtb); }
TORCH_LIBRARY_IMPL(atb, AutogradMeta, m) { refuse_derivatives(m, kAtb); }
TORCH_LIBRARY_IMPL(atb, ADInplaceOrView, m) { count_written(m, kAtb); }

}  // namespace
}  // namespace torch_npu::custom
