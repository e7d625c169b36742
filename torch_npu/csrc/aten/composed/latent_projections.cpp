// What stands before multi-head latent attention: queries and a compressed key by products, norms and rotations, and
// the key's way to its caches. In float32.

#include <ATen/Functions.h>
#include <ATen/core/Tensor.h>

#include "aten/composed/cache_pages.h"
#include "aten/composed/exact_products.h"
#include "aten/composed/operands.h"
#include "aten/composed/quantized.h"
#include "aten/composed/sequences.h"
#include "aten/custom/written_arguments.h"
#include "custom_kernels.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;
using FiveTensors = std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor>;

constexpr aclnn_check::Dtypes kLatentTypes = dtypes({at::kHalf, at::kBFloat16, at::kFloat});
constexpr aclnn_check::Dtypes kInt8 = dtypes({at::kChar});
constexpr aclnn_check::Dtypes kScale = dtypes({at::kFloat});

bool has_one(const OptionalTensor& tensor) { return tensor.has_value() && tensor->defined(); }

// Which operands are int8.
struct Modes {
  int64_t weights;     // 0 none; 1 weight_uq_qr; 2 token_x and all weights but weight_uk
  int64_t caches;      // 0 none; 1 kv_cache by one scale; 2 both by a scale a channel
  bool query = false;  // with a scale for each token and head
};

struct Projection {
  const char* name;
  const Tensor &x, &down_q, &up_q, &up_k, &down_kv, &gamma_q, &gamma_kv, &sin, &cos;
  const OptionalTensor &index, &scale_x, &scale_down_q, &scale_up_q, &scale_down_kv, &scale_kv, &scale_kr, &smooth;
  double epsilon_q, epsilon_kv;
  std::string_view layout;
  double factor_q = 1, factor_kv = 1;
  OptionalTensor ends = {};

  struct Result {
    Tensor query, query_rope, query_scale, norm, norm_scale;
    Tensor key, key_rope;  // rows [T, channels] for the caches
  };

  c10::SymInt heads() const { return up_k.sym_size(0); }
  c10::SymInt plain() const { return up_k.sym_size(1); }
  c10::SymInt latent() const { return up_k.sym_size(2); }
  c10::SymInt rope() const { return sin.sym_size(-1); }
  bool in_pages() const { return layout.starts_with("PA"); }

  // The modes of the operators whose tensors tell them.
  Modes modes_of(const Tensor& kv_cache) const {
    const int64_t weights = x.scalar_type() == at::kChar ? 2 : (up_q.scalar_type() == at::kChar ? 1 : 0);
    const bool is_int8 = kv_cache.scalar_type() == at::kChar;
    return {weights, is_int8 ? (weights == 2 ? 1 : 2) : 0, weights == 2 && is_int8};
  }

  void check(const Modes& m, const Tensor& kv_cache, const Tensor& kr_cache) const {
    const auto plain_type = aclnn_check::dtype_bit(sin.scalar_type()) & kLatentTypes;
    const auto full = m.weights == 2 ? kInt8 : plain_type;
    Operands(name)
        .take("rope_sin", sin, kLatentTypes)
        .take("token_x", x, full)
        .take("weight_dq", down_q, full)
        .take("weight_uq_qr", up_q, m.weights > 0 ? kInt8 : plain_type)
        .take("weight_uk", up_k, plain_type)
        .take("weight_dkv_kr", down_kv, full)
        .take("rmsnorm_gamma_cq", gamma_q, plain_type)
        .take("rmsnorm_gamma_ckv", gamma_kv, plain_type)
        .take("rope_cos", cos, plain_type)
        .take("kv_cache", kv_cache, m.caches > 0 ? kInt8 : plain_type)
        .take("kr_cache", kr_cache, m.caches == 2 ? kInt8 : plain_type)
        .take("cache_index", index, kIndexes)
        .take("dequant_scale_x", scale_x, kScale)
        .take("dequant_scale_w_dq", scale_down_q, kScale)
        .take("dequant_scale_w_uq_qr", scale_up_q, kScale)
        .take("dequant_scale_w_dkv_kr", scale_down_kv, kScale)
        .take("quant_scale_ckv", scale_kv, kScale)
        .take("quant_scale_ckr", scale_kr, kScale)
        .take("smooth_scales_cq", smooth, kScale)
        .take("actual_seq_len", ends, kIndexes);
    const bool has_dims = (x.dim() == 2 || x.dim() == 3) && sin.dim() == x.dim() && down_q.dim() == 2 &&
                          up_q.dim() == 2 && up_k.dim() == 3 && down_kv.dim() == 2;
    TORCH_CHECK(
        has_dims && sin.sym_sizes() == cos.sym_sizes() && sin.sym_numel() * x.sym_size(-1) == x.sym_numel() * rope() &&
            rope() % 2 == 0 && down_q.sym_size(0) == x.sym_size(-1) && down_kv.sym_size(0) == x.sym_size(-1) &&
            up_q.sym_size(0) == down_q.sym_size(1) && up_q.sym_size(1) == heads() * (plain() + rope()) &&
            down_kv.sym_size(1) == latent() + rope() && gamma_q.sym_numel() == down_q.sym_size(1) &&
            gamma_kv.sym_numel() == latent(),
        "npu::", name, ": token_x is of size ", x.sym_sizes(), ", weight_dq ", down_q.sym_sizes(), ", weight_uq_qr ",
        up_q.sym_sizes(), ", weight_uk ", up_k.sym_sizes(), ", weight_dkv_kr ", down_kv.sym_sizes(), ", rope_sin ",
        sin.sym_sizes(), ", rope_cos ", cos.sym_sizes(), ", rmsnorm_gamma_cq ", gamma_q.sym_sizes(),
        ", rmsnorm_gamma_ckv ", gamma_kv.sym_sizes(),
        ": [*, He], [He, Hcq], [Hcq, N (D + Dr)], [N, D, Hckv], [He, Hckv + Dr], twice [*, Dr], [Hcq] and [Hckv] are "
        "taken");
    for (const auto& [cache, channels, role] :
         {std::tuple(kv_cache, latent(), "kv_cache"), {kr_cache, rope(), "kr_cache"}}) {
      TORCH_CHECK(cache.dim() >= 2 && cache.sym_size(-1) == channels && cache.is_contiguous(), "npu::", name, ": ",
                  role, " is of size ", cache.sym_sizes(), ": a contiguous tensor with ", channels,
                  " channels is taken");
    }
    const auto require = [&](bool is_needed, const OptionalTensor& tensor, const char* role) {
      TORCH_CHECK(!is_needed || has_one(tensor), "npu::", name, ": ", role, " is None with int8 operands that need it");
    };
    require(m.weights == 2, scale_x, "dequant_scale_x");
    require(m.weights == 2, scale_down_q, "dequant_scale_w_dq");
    require(m.weights > 0, scale_up_q, "dequant_scale_w_uq_qr");
    require(m.weights == 2, scale_down_kv, "dequant_scale_w_dkv_kr");
    require(m.caches > 0, scale_kv, "quant_scale_ckv");
    require(m.caches == 2, scale_kr, "quant_scale_ckr");
    TORCH_CHECK(layout == "PA_BSND" || layout == "PA_NZ" || layout == "PA_BLK_BSND" || layout == "PA_BLK_NZ" ||
                    layout == "BSND" || layout == "TND",
                "npu::", name, ": cache_mode is '", layout,
                "': PA_BSND, PA_NZ, PA_BLK_BSND, PA_BLK_NZ, BSND and TND are taken");
    TORCH_CHECK(!in_pages() || has_one(index), "npu::", name, ": cache_index is None with cache_mode '", layout, "'");
  }

  // [T, He] times a weight, which is int8 together with it.
  Tensor product(const Tensor& rows, const Tensor& weight, const OptionalTensor& row_scale,
                 const OptionalTensor& column_scale) const {
    if (rows.scalar_type() != at::kChar) return at::matmul(rows.to(at::kFloat), weight.to(at::kFloat));
    return exact_product(rows, weight) * row_scale->reshape({-1, 1}) * column_scale->reshape({1, -1});
  }

  static Tensor normed(const Tensor& rows, const Tensor& gamma, double epsilon, double factor) {
    return rows * (rows.square().mean({-1}, true) + epsilon).rsqrt() * gamma.to(at::kFloat) * factor;
  }

  Result compute(const Modes& m) const {
    const Tensor rows = x.reshape_symint({-1, x.sym_size(-1)});
    const Tensor cosines = cos.reshape_symint({-1, rope()}).to(at::kFloat);
    const Tensor sines = sin.reshape_symint({-1, rope()}).to(at::kFloat);
    Result r;
    r.norm = normed(product(rows, down_q, scale_x, scale_down_q), gamma_q, epsilon_q, factor_q);
    OptionalTensor norm_scale;
    if (m.weights > 0) {
      const ScaledRows scaled = rows_to_int8(has_one(smooth) ? r.norm * smooth->reshape({1, -1}) : r.norm);
      r.norm = scaled.values;
      r.norm_scale = scaled.scales.reshape({-1, 1});
      norm_scale = r.norm_scale;
    }
    const Tensor heads_of =
        product(r.norm, up_q, norm_scale, scale_up_q).reshape_symint({-1, heads(), plain() + rope()});
    const Tensor latents =
        at::bmm(heads_of.narrow_symint(-1, 0, plain()).transpose(0, 1), up_k.to(at::kFloat)).transpose(0, 1);
    r.query_rope = rotated_pairs(heads_of.narrow_symint(-1, plain(), rope()), cosines.unsqueeze(1), sines.unsqueeze(1));
    r.query = latents;
    if (m.query) {
      const ScaledRows scaled = rows_to_int8(latents);
      r.query = scaled.values;
      r.query_scale = scaled.scales.unsqueeze(-1);
      r.query_rope = r.query_rope * scale_kv->reshape({-1}).slice(0, 0, 1) / r.query_scale;
    }
    const Tensor both = product(rows, down_kv, scale_x, scale_down_kv);
    r.key = normed(both.narrow_symint(-1, 0, latent()), gamma_kv, epsilon_kv, factor_kv);
    r.key_rope = rotated_pairs(both.narrow_symint(-1, latent(), rope()), cosines, sines);
    if (m.caches > 0) r.key = rounded_to_int8(r.key * scale_kv->reshape({1, -1}));
    if (m.caches == 2) r.key_rope = rounded_to_int8(r.key_rope * scale_kr->reshape({1, -1}));
    const auto sized = [&](const Tensor& rows_of, at::ScalarType type) {
      std::vector<c10::SymInt> sizes = x.sym_sizes().slice(0, static_cast<std::size_t>(x.dim() - 1)).vec();
      for (const c10::SymInt& size : rows_of.sym_sizes().slice(1)) sizes.push_back(size);
      return rows_of.reshape_symint(sizes).to(type).contiguous();
    };
    r.query = sized(r.query, m.query ? at::kChar : sin.scalar_type());
    r.query_rope = sized(r.query_rope, sin.scalar_type());
    r.norm = sized(r.norm, m.weights > 0 ? at::kChar : sin.scalar_type());
    return r;
  }

  // The slot of each token in pages of `page` tokens.
  Tensor slots(int64_t page) const {
    const int64_t tokens = sin.numel() / std::max<int64_t>(1, sin.size(-1));
    if (layout == "PA_BSND" || layout == "PA_NZ") {
      TORCH_CHECK(index->numel() == tokens, "npu::", name, ": cache_index has ", index->numel(), " numbers for ",
                  tokens, " tokens: one a token is taken");
      return index->reshape({-1}).to(at::kLong);
    }
    // Numbers of pages, which sequences begin anew.
    std::vector<int64_t> counts;
    if (sin.dim() == 3) {
      counts.assign(static_cast<std::size_t>(sin.size(0)), sin.size(1));
    } else {
      TORCH_CHECK(has_one(ends), "npu::", name, ": actual_seq_len is None with cache_mode '", layout, "' and [T, He]");
      int64_t begin = 0;
      for (const int64_t end : numbers_of(name, "actual_seq_len", *ends)) {
        TORCH_CHECK(begin <= end && end <= tokens, "npu::", name, ": actual_seq_len has ", end, " behind ", begin,
                    " for ", tokens, " tokens: ends that do not fall are taken");
        counts.push_back(end - begin);
        begin = end;
      }
      TORCH_CHECK(begin == tokens, "npu::", name, ": actual_seq_len ends with ", begin, " for ", tokens, " tokens");
    }
    const Tensor pages = index->reshape({-1}).to(at::kLong);
    std::vector<Tensor> all = {at::empty({0}, pages.options())};
    int64_t first = 0;
    for (const int64_t count : counts) {
      const int64_t number = (count + page - 1) / page;
      TORCH_CHECK(first + number <= pages.numel(), "npu::", name, ": cache_index has ", pages.numel(),
                  " numbers of pages: a sequence of ", count, " tokens needs ", number, " behind ", first);
      const Tensor own = pages.slice(0, first, first + number).unsqueeze(1);
      const Tensor slots_of = at::where(own < 0, own, own * page + at::arange(page, pages.options()));
      all.push_back(slots_of.flatten().slice(0, 0, count));
      first += number;
    }
    return at::cat(all);
  }

  void write(const Result& r, const Tensor& kv_cache, const Tensor& kr_cache) const {
    for (const auto& [cache, rows] : {std::pair(kv_cache, r.key), {kr_cache, r.key_rope}}) {
      if (cache.is_meta() || cache.numel() == 0 || rows.numel() == 0) continue;
      const Tensor typed = rows.to(cache.scalar_type());
      if (in_pages()) {
        Pages{cache, layout.ends_with("NZ"), name}.write(typed, slots(cache.size(1)));
        continue;
      }
      TORCH_CHECK(cache.numel() == rows.numel(), "npu::", name, ": a cache is of size ", cache.sizes(), " for ",
                  rows.size(0), " tokens of ", rows.size(1), " channels with cache_mode '", layout, "'");
      cache.view({-1, cache.size(-1)}).copy_(typed);
    }
  }

  Tensor nothing(at::ScalarType type, int64_t size) const { return at::empty({size}, sin.options().dtype(type)); }
};

constexpr const char *kFirst = "npu_mla_prolog", *kSecond = "npu_mla_prolog_v2";
constexpr char kThird[] = "npu_mla_prolog_v3";
constexpr char kFunctional[] = "npu_mla_prolog_v3_functional";

// What v3 takes, for both of its operators.
struct ThirdCall {
  const Projection& p;
  Modes modes;
  bool gives_norm;

  Projection::Result run(const Tensor& kv_cache, const Tensor& kr_cache) const {
    p.check(modes, kv_cache, kr_cache);
    Projection::Result r = p.compute(modes);
    if (!modes.query) r.query_scale = p.nothing(at::kFloat, 0);
    if (!gives_norm) r.norm = p.nothing(p.up_q.scalar_type(), 0);
    if (!gives_norm || modes.weights == 0) r.norm_scale = p.nothing(at::kFloat, 0);
    p.write(r, kv_cache, kr_cache);
    return r;
  }
};

Modes third_modes(const char* name, int64_t weights, int64_t caches, int64_t query, int64_t repo, int64_t scale_repo,
                  const OptionalTensor& clip, std::initializer_list<std::optional<int64_t>> types) {
  bool has_type = false;
  for (const auto& type : types) has_type = has_type || type.has_value();
  TORCH_CHECK_NOT_IMPLEMENTED(weights >= 0 && weights <= 2 && caches >= 0 && caches <= 2 && repo == 0 &&
                                  scale_repo == 0 && !has_one(clip) && !has_type,
                              "npu::", name, ": weight_quant_mode is ", weights, ", kv_cache_quant_mode ", caches,
                              ", ckvkr_repo_mode ", repo, ", quant_scale_repo_mode ", scale_repo,
                              ", or k_nope_clip_alpha or a dtype is given: modes up to 2, and caches that are stored "
                              "apart from each other and from scales are taken");
  TORCH_CHECK(
      (query == 1) == (weights == 2 && caches == 1) && (caches != 1 || weights == 2) && (caches != 2 || weights == 1),
      "npu::", name, ": weight_quant_mode is ", weights, ", kv_cache_quant_mode ", caches, ", query_quant_mode ", query,
      ": (0, 0, 0), (1, 0, 0), (1, 2, 0), (2, 0, 0) and (2, 1, 1) are taken");
  return {weights, caches, query == 1};
}

// Of operator `kName`, which writes the caches.
template <const char* kName>
FiveTensors third_version(const Tensor& token_x, const Tensor& weight_dq, const Tensor& weight_uq_qr,
                          const Tensor& weight_uk, const Tensor& weight_dkv_kr, const Tensor& rmsnorm_gamma_cq,
                          const Tensor& rmsnorm_gamma_ckv, const Tensor& rope_sin, const Tensor& rope_cos,
                          const Tensor& kv_cache, const Tensor& kr_cache, const OptionalTensor& cache_index,
                          const OptionalTensor& dequant_scale_x, const OptionalTensor& dequant_scale_w_dq,
                          const OptionalTensor& dequant_scale_w_uq_qr, const OptionalTensor& dequant_scale_w_dkv_kr,
                          const OptionalTensor& quant_scale_ckv, const OptionalTensor& quant_scale_ckr,
                          const OptionalTensor& smooth_scales_cq, const OptionalTensor& actual_seq_len,
                          const OptionalTensor& k_nope_clip_alpha, double rmsnorm_epsilon_cq,
                          double rmsnorm_epsilon_ckv, std::string_view cache_mode, bool query_norm_flag,
                          int64_t weight_quant_mode, int64_t kv_cache_quant_mode, int64_t query_quant_mode,
                          int64_t ckvkr_repo_mode, int64_t quant_scale_repo_mode, int64_t /*tile_size*/,
                          double qc_qr_scale, double kc_scale, std::optional<int64_t> token_x_dtype,
                          std::optional<int64_t> weight_dq_dtype, std::optional<int64_t> weight_uq_qr_dtype,
                          std::optional<int64_t> weight_dkv_kr_dtype, std::optional<int64_t> kv_cache_dtype) {
  const Projection p{kName,
                     token_x,
                     weight_dq,
                     weight_uq_qr,
                     weight_uk,
                     weight_dkv_kr,
                     rmsnorm_gamma_cq,
                     rmsnorm_gamma_ckv,
                     rope_sin,
                     rope_cos,
                     cache_index,
                     dequant_scale_x,
                     dequant_scale_w_dq,
                     dequant_scale_w_uq_qr,
                     dequant_scale_w_dkv_kr,
                     quant_scale_ckv,
                     quant_scale_ckr,
                     smooth_scales_cq,
                     rmsnorm_epsilon_cq,
                     rmsnorm_epsilon_ckv,
                     cache_mode,
                     qc_qr_scale,
                     kc_scale,
                     actual_seq_len};
  const ThirdCall call{
      p,
      third_modes(kName, weight_quant_mode, kv_cache_quant_mode, query_quant_mode, ckvkr_repo_mode,
                  quant_scale_repo_mode, k_nope_clip_alpha,
                  {token_x_dtype, weight_dq_dtype, weight_uq_qr_dtype, weight_dkv_kr_dtype, kv_cache_dtype}),
      query_norm_flag};
  const Projection::Result r = call.run(kv_cache, kr_cache);
  return {r.query, r.query_rope, r.query_scale, r.norm, r.norm_scale};
}

}  // namespace

// Both versions write kv_cache and kr_cache and give them back, as the official operators do without saying so in
// their schemas.
std::tuple<Tensor, Tensor, Tensor, Tensor> npu_mla_prolog(
    const Tensor& token_x, const Tensor& weight_dq, const Tensor& weight_uq_qr, const Tensor& weight_uk,
    const Tensor& weight_dkv_kr, const Tensor& rmsnorm_gamma_cq, const Tensor& rmsnorm_gamma_ckv,
    const Tensor& rope_sin, const Tensor& rope_cos, const Tensor& cache_index, const Tensor& kv_cache,
    const Tensor& kr_cache, const OptionalTensor& dequant_scale_x, const OptionalTensor& dequant_scale_w_dq,
    const OptionalTensor& dequant_scale_w_uq_qr, const OptionalTensor& dequant_scale_w_dkv_kr,
    const OptionalTensor& quant_scale_ckv, const OptionalTensor& quant_scale_ckr,
    const OptionalTensor& smooth_scales_cq, double rmsnorm_epsilon_cq, double rmsnorm_epsilon_ckv,
    std::string_view cache_mode) {
  const OptionalTensor index = cache_index;
  const Projection p{kFirst,
                     token_x,
                     weight_dq,
                     weight_uq_qr,
                     weight_uk,
                     weight_dkv_kr,
                     rmsnorm_gamma_cq,
                     rmsnorm_gamma_ckv,
                     rope_sin,
                     rope_cos,
                     index,
                     dequant_scale_x,
                     dequant_scale_w_dq,
                     dequant_scale_w_uq_qr,
                     dequant_scale_w_dkv_kr,
                     quant_scale_ckv,
                     quant_scale_ckr,
                     smooth_scales_cq,
                     rmsnorm_epsilon_cq,
                     rmsnorm_epsilon_ckv,
                     cache_mode};
  const Modes modes = p.modes_of(kv_cache);
  TORCH_CHECK(modes.weights < 2, "npu::", kFirst, ": token_x is int8: npu_mla_prolog_v2 takes that");
  p.check(modes, kv_cache, kr_cache);
  const Projection::Result r = p.compute(modes);
  p.write(r, kv_cache, kr_cache);
  return {r.query, r.query_rope, kv_cache, kr_cache};
}

FiveTensors npu_mla_prolog_v2(const Tensor& token_x, const Tensor& weight_dq, const Tensor& weight_uq_qr,
                              const Tensor& weight_uk, const Tensor& weight_dkv_kr, const Tensor& rmsnorm_gamma_cq,
                              const Tensor& rmsnorm_gamma_ckv, const Tensor& rope_sin, const Tensor& rope_cos,
                              const Tensor& cache_index, const Tensor& kv_cache, const Tensor& kr_cache,
                              const OptionalTensor& dequant_scale_x, const OptionalTensor& dequant_scale_w_dq,
                              const OptionalTensor& dequant_scale_w_uq_qr, const OptionalTensor& dequant_scale_w_dkv_kr,
                              const OptionalTensor& quant_scale_ckv, const OptionalTensor& quant_scale_ckr,
                              const OptionalTensor& smooth_scales_cq, double rmsnorm_epsilon_cq,
                              double rmsnorm_epsilon_ckv, std::string_view cache_mode) {
  const OptionalTensor index = cache_index;
  const Projection p{kSecond,
                     token_x,
                     weight_dq,
                     weight_uq_qr,
                     weight_uk,
                     weight_dkv_kr,
                     rmsnorm_gamma_cq,
                     rmsnorm_gamma_ckv,
                     rope_sin,
                     rope_cos,
                     index,
                     dequant_scale_x,
                     dequant_scale_w_dq,
                     dequant_scale_w_uq_qr,
                     dequant_scale_w_dkv_kr,
                     quant_scale_ckv,
                     quant_scale_ckr,
                     smooth_scales_cq,
                     rmsnorm_epsilon_cq,
                     rmsnorm_epsilon_ckv,
                     cache_mode};
  const Modes modes = p.modes_of(kv_cache);
  p.check(modes, kv_cache, kr_cache);
  Projection::Result r = p.compute(modes);
  if (!modes.query) r.query_scale = p.nothing(at::kFloat, 1).zero_();
  p.write(r, kv_cache, kr_cache);
  return {r.query, r.query_rope, kv_cache, kr_cache, r.query_scale};
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor> npu_mla_prolog_v3_functional(
    const Tensor& token_x, const Tensor& weight_dq, const Tensor& weight_uq_qr, const Tensor& weight_uk,
    const Tensor& weight_dkv_kr, const Tensor& rmsnorm_gamma_cq, const Tensor& rmsnorm_gamma_ckv,
    const Tensor& rope_sin, const Tensor& rope_cos, const Tensor& kv_cache, const Tensor& kr_cache,
    const OptionalTensor& cache_index, const OptionalTensor& dequant_scale_x, const OptionalTensor& dequant_scale_w_dq,
    const OptionalTensor& dequant_scale_w_uq_qr, const OptionalTensor& dequant_scale_w_dkv_kr,
    const OptionalTensor& quant_scale_ckv, const OptionalTensor& quant_scale_ckr,
    const OptionalTensor& smooth_scales_cq, const OptionalTensor& actual_seq_len,
    const OptionalTensor& k_nope_clip_alpha, double rmsnorm_epsilon_cq, double rmsnorm_epsilon_ckv,
    std::string_view cache_mode, bool query_norm_flag, int64_t weight_quant_mode, int64_t kv_cache_quant_mode,
    int64_t query_quant_mode, int64_t ckvkr_repo_mode, int64_t quant_scale_repo_mode, int64_t tile_size,
    double qc_qr_scale, double kc_scale, std::optional<int64_t> token_x_dtype, std::optional<int64_t> weight_dq_dtype,
    std::optional<int64_t> weight_uq_qr_dtype, std::optional<int64_t> weight_dkv_kr_dtype,
    std::optional<int64_t> kv_cache_dtype) {
  const Tensor keys = kv_cache.clone(at::MemoryFormat::Contiguous),
               ropes = kr_cache.clone(at::MemoryFormat::Contiguous);
  return std::tuple_cat(
      third_version<kFunctional>(
          token_x, weight_dq, weight_uq_qr, weight_uk, weight_dkv_kr, rmsnorm_gamma_cq, rmsnorm_gamma_ckv, rope_sin,
          rope_cos, keys, ropes, cache_index, dequant_scale_x, dequant_scale_w_dq, dequant_scale_w_uq_qr,
          dequant_scale_w_dkv_kr, quant_scale_ckv, quant_scale_ckr, smooth_scales_cq, actual_seq_len, k_nope_clip_alpha,
          rmsnorm_epsilon_cq, rmsnorm_epsilon_ckv, cache_mode, query_norm_flag, weight_quant_mode, kv_cache_quant_mode,
          query_quant_mode, ckvkr_repo_mode, quant_scale_repo_mode, tile_size, qc_qr_scale, kc_scale, token_x_dtype,
          weight_dq_dtype, weight_uq_qr_dtype, weight_dkv_kr_dtype, kv_cache_dtype),
      std::make_tuple(keys, ropes));
}

namespace {

TORCH_LIBRARY_IMPL(npu, PrivateUse1, m) { m.impl(kThird, &third_version<kThird>); }
TORCH_LIBRARY_IMPL(npu, Meta, m) { m.impl(kThird, &third_version<kThird>); }
TORCH_LIBRARY_IMPL(npu, AutogradPrivateUse1, m) { refuse_derivatives(m, {"npu_mla_prolog_v3"}); }
TORCH_LIBRARY_IMPL(npu, AutogradMeta, m) { refuse_derivatives(m, {"npu_mla_prolog_v3"}); }
TORCH_LIBRARY_IMPL(npu, ADInplaceOrView, m) { count_written(m, {"npu_mla_prolog_v3"}); }

}  // namespace
}  // namespace torch_npu::custom
