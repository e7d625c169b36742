// Products with a collective of an hccl group before or behind them.

#include <ATen/Functions.h>
#include <ATen/core/Tensor.h>

#include <numeric>
#include <string>

#include "aten/composed/exact_products.h"
#include "aten/composed/hccl_group.h"
#include "aten/composed/operands.h"
#include "aten/composed/scaled_products.h"
#include "aten/custom/dtype_number.h"
#include "custom_kernels.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

constexpr aclnn_check::Dtypes kPlain = dtypes({at::kHalf, at::kBFloat16, at::kFloat});
constexpr aclnn_check::Dtypes kFactors = dtypes({at::kFloat, at::kBFloat16, at::kLong});

bool is_set(const OptionalTensor& tensor) { return tensor.has_value() && tensor->defined(); }

// x1 x2 with factors, and how the call says so.
struct Product {
  const char* name;
  const Tensor &x1, &x2;
  const OptionalTensor &bias, &x1_scale, &x2_scale;
  std::optional<at::ScalarType> given_type;
  const char* left = "input";

  bool is_int8() const { return x1.scalar_type() == at::kChar; }

  void check() const {
    Operands(name)
        .take(left, x1, kPlain | dtypes({at::kChar}))
        .take("x2", x2, aclnn_check::dtype_bit(x1.scalar_type()))
        .take("bias", bias, kPlain | dtypes({at::kInt}))
        .take("x1_scale", x1_scale, dtypes({at::kFloat}))
        .take("x2_scale", x2_scale, kFactors);
    TORCH_CHECK(x1.dim() == 2 && x2.dim() == 2, "npu::", name, ": ", left, " is of size ", x1.sym_sizes(),
                ", x2 of size ", x2.sym_sizes(), ": two dimensions are taken");
    TORCH_CHECK(is_int8() == is_set(x2_scale) && (is_int8() || !is_set(x1_scale)), "npu::", name, ": x2_scale is ",
                is_set(x2_scale) ? "given" : "None", ", x1_scale ", is_set(x1_scale) ? "given" : "None", " for ", left,
                " of ", x1.scalar_type(), ": int8 has x2_scale, other types have none");
  }

  at::ScalarType type() const {
    if (!is_int8()) return x1.scalar_type();
    if (is_set(x2_scale) && x2_scale->scalar_type() == at::kLong && !is_set(x1_scale)) {
      return given_type.value_or(at::kHalf);
    }
    return given_type.value_or(at::kBFloat16);
  }

  // In float32 for int8, else in the operands' type. `rows` stand in for x1, `scales` for x1_scale.
  Tensor compute(const Tensor& rows, const OptionalTensor& scales) const {
    TORCH_CHECK(rows.size(-1) == x2.size(0), "npu::", name, ": rows of ", rows.size(-1), " numbers and x2 of size ",
                x2.sizes());
    if (!is_int8()) {
      const Tensor y = at::matmul(rows, x2);
      return is_set(bias) ? (y + *bias).to(rows.scalar_type()) : y;
    }
    Tensor y = exact_product(rows, x2);
    if (is_set(bias)) y = y + bias->to(at::kFloat);
    y = y * factors_of(*x2_scale).reshape({1, -1});
    return is_set(scales) ? y * scales->reshape({-1, 1}) : y;
  }
};

void check_sum(const char* name, std::string_view reduce_op) {
  TORCH_CHECK_NOT_IMPLEMENTED(reduce_op == "sum", "npu::", name, ": reduce_op is '", reduce_op, "': 'sum' is taken");
}

// Tokens of experts that are on all ranks.
struct Experts {
  const char* name;
  int64_t ranks;
  at::IntArrayRef sent, received;  // for each rank its experts' numbers

  void check(const Tensor& x, const Tensor& weight, bool is_transposed) const {
    Operands(name).take("gmm_x", x, kPlain).take("gmm_weight", weight, aclnn_check::dtype_bit(x.scalar_type()));
    TORCH_CHECK(x.dim() == 2 && weight.dim() == 3 && weight.sym_size(is_transposed ? 2 : 1) == x.sym_size(1),
                "npu::", name, ": gmm_x is of size ", x.sym_sizes(), ", gmm_weight of size ", weight.sym_sizes(),
                ": [rows, H] and [experts, H, N], or [experts, N, H] with trans_gmm_weight, are taken");
    const int64_t count = weight.sym_size(0).guard_int(__FILE__, __LINE__) * ranks;
    TORCH_CHECK(static_cast<int64_t>(sent.size()) == count && sent.size() == received.size(), "npu::", name,
                ": send_counts has ", sent.size(), " numbers, recv_counts ", received.size(), ": ", count,
                " are taken, one for each expert of each rank");
    TORCH_CHECK(total(sent) == x.sym_size(0), "npu::", name, ": send_counts has a sum of ", total(sent), " for ",
                x.sym_size(0), " rows");
  }

  static int64_t total(at::IntArrayRef counts) {
    for (const int64_t count : counts) TORCH_CHECK(count >= 0, "a count of rows is ", count);
    return std::accumulate(counts.begin(), counts.end(), int64_t{0});
  }

  std::vector<int64_t> by_rank(at::IntArrayRef counts) const {
    const std::size_t experts = counts.size() / static_cast<std::size_t>(ranks);
    std::vector<int64_t> sums;
    for (std::size_t r = 0; r < static_cast<std::size_t>(ranks); ++r) {
      sums.push_back(total(counts.slice(r * experts, experts)));
    }
    return sums;
  }

  // Where rows that are in the order of ranks, and of experts within a rank, are taken from to be in the order of
  // experts, and of ranks within an expert.
  Tensor to_experts(at::IntArrayRef counts, const Tensor& like) const {
    const std::size_t experts = counts.size() / static_cast<std::size_t>(ranks);
    std::vector<int64_t> begins(counts.size()), places;
    std::exclusive_scan(counts.begin(), counts.end(), begins.begin(), int64_t{0});
    for (std::size_t e = 0; e < experts; ++e) {
      for (std::size_t r = 0; r < static_cast<std::size_t>(ranks); ++r) {
        const std::size_t i = r * experts + e;
        for (int64_t k = 0; k < counts[i]; ++k) places.push_back(begins[i] + k);
      }
    }
    return at::tensor(places, at::TensorOptions().dtype(at::kLong)).to(like.device());
  }

  // Each expert's rows times its weight.
  Tensor product(const Tensor& rows, const Tensor& weight, bool is_transposed, at::IntArrayRef counts) const {
    const std::size_t experts = counts.size() / static_cast<std::size_t>(ranks);
    std::vector<Tensor> parts;
    int64_t begin = 0;
    for (std::size_t e = 0; e < experts; ++e) {
      int64_t count = 0;
      for (std::size_t r = 0; r < static_cast<std::size_t>(ranks); ++r) count += counts[r * experts + e];
      const Tensor own = weight.select(0, static_cast<int64_t>(e));
      parts.push_back(at::matmul(rows.slice(0, begin, begin + count), is_transposed ? own.t() : own));
      begin += count;
    }
    return at::cat(parts);
  }
};

// The product of an expert that all ranks have; undefined without one.
Tensor shared_product(const char* name, const OptionalTensor& x, const OptionalTensor& weight, bool is_transposed) {
  TORCH_CHECK(is_set(x) == is_set(weight), "npu::", name, ": one of mm_x and mm_weight is None");
  if (!is_set(x)) return {};
  Operands(name).take("mm_x", x, kPlain).take("mm_weight", weight, aclnn_check::dtype_bit(x->scalar_type()));
  return at::matmul(*x, is_transposed ? weight->t() : *weight);
}

void refuse_counts(const char* name, const OptionalTensor& sent, const OptionalTensor& received) {
  TORCH_CHECK_NOT_IMPLEMENTED(!is_set(sent) && !is_set(received), "npu::", name,
                              ": send_counts_tensor or recv_counts_tensor is given: None is taken");
}

c10::SymInt columns_of(const Tensor& weight, bool is_transposed) { return weight.sym_size(is_transposed ? 1 : 2); }

}  // namespace

std::tuple<Tensor, Tensor> npu_all_gather_base_mm(const Tensor& self, const Tensor& x2, std::string_view hcom,
                                                  int64_t world_size, const OptionalTensor& bias,
                                                  const OptionalTensor& x1_scale, const OptionalTensor& x2_scale,
                                                  int64_t gather_index, bool gather_output, int64_t /*comm_turn*/,
                                                  std::optional<at::ScalarType> output_dtype,
                                                  std::optional<std::string_view> /*comm_mode*/) {
  const Product p{"npu_all_gather_base_mm", self, x2, bias, x1_scale, x2_scale, output_dtype};
  p.check();
  TORCH_CHECK_NOT_IMPLEMENTED(gather_index == 0, "npu::", p.name, ": gather_index is ", gather_index, ": 0 is taken");
  const auto nothing = [&] { return at::empty({0}, self.options()); };
  if (self.is_meta()) {
    const c10::SymInt rows = self.sym_size(0) * world_size;
    return {at::empty_symint({rows, x2.sym_size(1)}, self.options().dtype(p.type())),
            gather_output ? at::empty_symint({rows, self.sym_size(1)}, self.options()) : nothing()};
  }
  const Group group(p.name, hcom, world_size);
  const Tensor rows = group.gathered(self);
  const OptionalTensor scales =
      is_set(x1_scale) ? OptionalTensor(group.gathered(x1_scale->reshape({-1}))) : OptionalTensor();
  return {p.compute(rows, scales).to(p.type()), gather_output ? rows : nothing()};
}

Tensor npu_mm_reduce_scatter_base(const Tensor& self, const Tensor& x2, std::string_view hcom, int64_t world_size,
                                  std::string_view reduce_op, const OptionalTensor& bias,
                                  const OptionalTensor& x1_scale, const OptionalTensor& x2_scale, int64_t /*comm_turn*/,
                                  std::optional<at::ScalarType> output_dtype,
                                  std::optional<std::string_view> /*comm_mode*/) {
  const Product p{"npu_mm_reduce_scatter_base", self, x2, bias, x1_scale, x2_scale, output_dtype};
  p.check();
  check_sum(p.name, reduce_op);
  if (self.is_meta()) {
    return at::empty_symint({self.sym_size(0) / world_size, x2.sym_size(1)}, self.options().dtype(p.type()));
  }
  return Group(p.name, hcom, world_size).scattered(p.compute(self, x1_scale)).to(p.type());
}

Tensor npu_mm_all_reduce_base(const Tensor& x1, const Tensor& x2, std::string_view hcom, std::string_view reduce_op,
                              const OptionalTensor& bias, const OptionalTensor& antiquant_scale,
                              const OptionalTensor& antiquant_offset, const OptionalTensor& x3,
                              const OptionalTensor& dequant_scale, const OptionalTensor& pertoken_scale,
                              const OptionalTensor& comm_quant_scale_1, const OptionalTensor& comm_quant_scale_2,
                              int64_t antiquant_group_size, int64_t /*comm_turn*/, at::OptionalIntArrayRef group_sizes,
                              std::optional<int64_t> y_dtype, std::optional<int64_t> /*x1_dtype*/,
                              std::optional<int64_t> /*x2_dtype*/, std::optional<int64_t> /*dequant_scale_dtype*/,
                              std::optional<int64_t> /*pertoken_scale_dtype*/, int64_t comm_quant_mode,
                              std::optional<std::string_view> /*comm_mode*/) {
  constexpr const char* kName = "npu_mm_all_reduce_base";
  const auto same = aclnn_check::dtype_bit(x1.scalar_type());
  const bool is_int8 = x1.scalar_type() == at::kChar, has_int_weights = !is_int8 && x2.scalar_type() == at::kChar;
  Operands(kName)
      .take("x1", x1, kPlain | dtypes({at::kChar}))
      .take("x2", x2, same | dtypes({at::kChar}))
      .take("bias", bias, kPlain | dtypes({at::kInt}))
      .take("antiquant_scale", antiquant_scale, kPlain)
      .take("antiquant_offset", antiquant_offset, kPlain)
      .take("x3", x3, kPlain)
      .take("dequant_scale", dequant_scale, kFactors)
      .take("pertoken_scale", pertoken_scale, dtypes({at::kFloat}))
      .take("comm_quant_scale_1", comm_quant_scale_1, kPlain)
      .take("comm_quant_scale_2", comm_quant_scale_2, kPlain);
  check_sum(kName, reduce_op);
  TORCH_CHECK_NOT_IMPLEMENTED(!is_set(comm_quant_scale_1) && !is_set(comm_quant_scale_2) && comm_quant_mode == 0 &&
                                  !group_sizes.has_value() && !y_dtype.has_value(),
                              "npu::", kName,
                              ": comm_quant_scale_1, comm_quant_scale_2, comm_quant_mode, group_sizes or y_dtype is "
                              "given: sums are exchanged as they are");
  TORCH_CHECK((x1.dim() == 2 || x1.dim() == 3) && x2.dim() == 2 && x1.sym_size(-1) == x2.sym_size(0), "npu::", kName,
              ": x1 is of size ", x1.sym_sizes(), ", x2 of size ", x2.sym_sizes(),
              ": [*, K] of two or three dimensions and [K, N] are taken");
  TORCH_CHECK(has_int_weights == is_set(antiquant_scale) && is_int8 == is_set(dequant_scale), "npu::", kName,
              ": antiquant_scale is ", is_set(antiquant_scale) ? "given" : "None", ", dequant_scale ",
              is_set(dequant_scale) ? "given" : "None", " for x1 of ", x1.scalar_type(), " and x2 of ",
              x2.scalar_type());
  at::ScalarType type = x1.scalar_type();
  if (is_int8) type = dequant_scale->scalar_type() == at::kBFloat16 ? at::kBFloat16 : at::kHalf;
  if (is_int8 && is_set(x3)) type = x3->scalar_type();
  std::vector<c10::SymInt> sizes = x1.sym_sizes().vec();
  sizes.back() = x2.sym_size(1);
  if (x1.is_meta()) return at::empty_symint(sizes, x1.options().dtype(type));
  const Group group(kName, hcom, std::nullopt);
  Tensor y;
  if (is_int8) {
    y = exact_product(x1, x2);
    if (is_set(bias)) y = y + bias->to(at::kFloat);
    y = y * factors_of(*dequant_scale).reshape({-1});
    if (is_set(pertoken_scale)) {
      std::vector<int64_t> rows = x1.sizes().vec();
      rows.back() = 1;
      y = y * pertoken_scale->reshape(rows);
    }
  } else {
    const Tensor weights =
        has_int_weights
            ? dequantized(kName, x2, *antiquant_scale, antiquant_offset, antiquant_group_size).to(x1.scalar_type())
            : x2;
    y = at::matmul(x1, weights);
    if (is_set(bias)) y = y + *bias;
  }
  if (is_set(x3)) y = y + *x3;
  return group.reduced(y.to(type));
}

std::tuple<Tensor, Tensor, Tensor> npu_alltoallv_gmm(
    const Tensor& gmm_x, const Tensor& gmm_weight, std::string_view hcom, int64_t ep_world_size,
    at::IntArrayRef send_counts, at::IntArrayRef recv_counts, const OptionalTensor& send_counts_tensor,
    const OptionalTensor& recv_counts_tensor, const OptionalTensor& mm_x, const OptionalTensor& mm_weight,
    bool trans_gmm_weight, bool trans_mm_weight, bool permute_out_flag, std::optional<std::string_view> /*comm_mode*/) {
  const Experts experts{"npu_alltoallv_gmm", ep_world_size, send_counts, recv_counts};
  refuse_counts(experts.name, send_counts_tensor, recv_counts_tensor);
  experts.check(gmm_x, gmm_weight, trans_gmm_weight);
  const Tensor shared = shared_product(experts.name, mm_x, mm_weight, trans_mm_weight);
  const auto nothing = [&] { return at::empty({0}, gmm_x.options()); };
  const Tensor shared_or_nothing = shared.defined() ? shared : nothing();
  if (gmm_x.is_meta()) {
    const c10::SymInt rows = Experts::total(recv_counts);
    return {at::empty_symint({rows, columns_of(gmm_weight, trans_gmm_weight)}, gmm_x.options()), shared_or_nothing,
            permute_out_flag ? at::empty_symint({rows, gmm_x.sym_size(1)}, gmm_x.options()) : nothing()};
  }
  const Group group(experts.name, hcom, ep_world_size);
  const Tensor received = group.exchanged(gmm_x, experts.by_rank(send_counts), experts.by_rank(recv_counts));
  const Tensor rows = received.index_select(0, experts.to_experts(recv_counts, received));
  return {experts.product(rows, gmm_weight, trans_gmm_weight, recv_counts), shared_or_nothing,
          permute_out_flag ? rows : nothing()};
}

std::tuple<Tensor, Tensor> npu_gmm_alltoallv(const Tensor& gmm_x, const Tensor& gmm_weight, std::string_view hcom,
                                             int64_t ep_world_size, at::IntArrayRef send_counts,
                                             at::IntArrayRef recv_counts, const OptionalTensor& send_counts_tensor,
                                             const OptionalTensor& recv_counts_tensor, const OptionalTensor& mm_x,
                                             const OptionalTensor& mm_weight, bool trans_gmm_weight,
                                             bool trans_mm_weight, std::optional<std::string_view> /*comm_mode*/) {
  const Experts experts{"npu_gmm_alltoallv", ep_world_size, send_counts, recv_counts};
  refuse_counts(experts.name, send_counts_tensor, recv_counts_tensor);
  experts.check(gmm_x, gmm_weight, trans_gmm_weight);
  const Tensor shared = shared_product(experts.name, mm_x, mm_weight, trans_mm_weight);
  const Tensor shared_or_nothing = shared.defined() ? shared : at::empty({0}, gmm_x.options());
  if (gmm_x.is_meta()) {
    const c10::SymInt rows = Experts::total(recv_counts);
    return {at::empty_symint({rows, columns_of(gmm_weight, trans_gmm_weight)}, gmm_x.options()), shared_or_nothing};
  }
  const Group group(experts.name, hcom, ep_world_size);
  const Tensor y = experts.product(gmm_x, gmm_weight, trans_gmm_weight, send_counts);
  const Tensor places = experts.to_experts(send_counts, y);
  const Tensor by_rank = at::empty_like(y).index_copy_(0, places, y);
  return {group.exchanged(by_rank, experts.by_rank(send_counts), experts.by_rank(recv_counts)), shared_or_nothing};
}

std::tuple<Tensor, Tensor> npu_all_to_all_matmul(const Tensor& x1, const Tensor& x2, std::string_view hcom,
                                                 int64_t world_size, const OptionalTensor& bias,
                                                 at::OptionalIntArrayRef all2all_axes, bool all2all_out_flag,
                                                 std::optional<std::string_view> /*comm_mode*/) {
  constexpr const char* kName = "npu_all_to_all_matmul";
  const auto same = aclnn_check::dtype_bit(x1.scalar_type());
  Operands(kName).take("x1", x1, kPlain).take("x2", x2, same).take("bias", bias, kPlain);
  TORCH_CHECK(x1.dim() == 2 && x2.dim() == 2 && world_size > 0 && x1.sym_size(0) % world_size == 0 &&
                  x2.sym_size(0) == x1.sym_size(1) * world_size,
              "npu::", kName, ": x1 is of size ", x1.sym_sizes(), ", x2 of size ", x2.sym_sizes(), ", world_size ",
              world_size, ": [R, H] with R a multiple of it and [world_size H, N] are taken");
  TORCH_CHECK_NOT_IMPLEMENTED(
      !all2all_axes.has_value() || all2all_axes->empty() || *all2all_axes == at::IntArrayRef({-2, -1}), "npu::", kName,
      ": all2all_axes is ", *all2all_axes, ": [-2, -1] is taken");
  const c10::SymInt rows = x1.sym_size(0) / world_size;
  const auto nothing = [&] { return at::empty({0}, x1.options()); };
  if (x1.is_meta()) {
    return {at::empty_symint({rows, x2.sym_size(1)}, x1.options()),
            all2all_out_flag ? at::empty_symint({rows, x2.sym_size(0)}, x1.options()) : nothing()};
  }
  const Tensor exchanged = Group(kName, hcom, world_size).exchanged(x1, {}, {});
  const Tensor widened = exchanged.reshape({world_size, -1, x1.size(1)}).transpose(0, 1).reshape({-1, x2.size(0)});
  Tensor y = at::matmul(widened, x2);
  if (is_set(bias)) y = (y + *bias).to(x1.scalar_type());
  return {y, all2all_out_flag ? widened.contiguous() : nothing()};
}

Tensor npu_matmul_all_to_all(const Tensor& x1, const Tensor& x2, std::string_view hcom, int64_t world_size,
                             const OptionalTensor& bias, at::OptionalIntArrayRef all2all_axes,
                             std::optional<std::string_view> /*comm_mode*/) {
  constexpr const char* kName = "npu_matmul_all_to_all";
  const auto same = aclnn_check::dtype_bit(x1.scalar_type());
  Operands(kName).take("x1", x1, kPlain).take("x2", x2, same).take("bias", bias, kPlain);
  TORCH_CHECK(x1.dim() == 2 && x2.dim() == 2 && world_size > 0 && x2.sym_size(1) % world_size == 0 &&
                  x2.sym_size(0) == x1.sym_size(1),
              "npu::", kName, ": x1 is of size ", x1.sym_sizes(), ", x2 of size ", x2.sym_sizes(), ", world_size ",
              world_size, ": [R, H] and [H, N] with N a multiple of it are taken");
  TORCH_CHECK_NOT_IMPLEMENTED(
      !all2all_axes.has_value() || all2all_axes->empty() || *all2all_axes == at::IntArrayRef({-1, -2}), "npu::", kName,
      ": all2all_axes is ", *all2all_axes, ": [-1, -2] is taken");
  if (x1.is_meta()) {
    return at::empty_symint({x1.sym_size(0) * world_size, x2.sym_size(1) / world_size}, x1.options());
  }
  Tensor y = at::matmul(x1, x2);
  if (is_set(bias)) y = (y + *bias).to(x1.scalar_type());
  const int64_t columns = x2.size(1) / world_size;
  const Tensor parts = y.reshape({-1, world_size, columns}).transpose(0, 1).reshape({-1, columns});
  return Group(kName, hcom, world_size).exchanged(parts, {}, {});
}

namespace {

// What both products of scaled types take.
struct QuantProduct {
  const char* name;
  const Tensor &x1, &x2;
  const OptionalTensor &bias, &x1_scale, &x2_scale;
  std::optional<int64_t> y_dtype;

  bool is_plain() const { return (aclnn_check::dtype_bit(x1.scalar_type()) & kPlain) != 0; }

  void check(const OptionalTensor& quant_scale, int64_t block_size, bool amax_output,
             at::OptionalIntArrayRef group_sizes,
             std::initializer_list<std::pair<const char*, std::optional<int64_t>>> types) const {
    check_scaled_types(name, group_sizes, types);
    TORCH_CHECK_NOT_IMPLEMENTED(!is_set(quant_scale) && block_size == 0 && !amax_output, "npu::", name,
                                ": quant_scale is given, block_size is ", block_size, " or amax_output is True: None, ",
                                "0 and False are taken");
    Operands(name)
        .take("input", x1, kPlain | kScaledTypes)
        .take("x2", x2, is_plain() ? aclnn_check::dtype_bit(x1.scalar_type()) : kScaledTypes)
        .take("bias", bias, dtypes({at::kFloat}) | kPlain);
    TORCH_CHECK(is_plain() ? !is_set(x1_scale) && !is_set(x2_scale) : is_set(x1_scale) && is_set(x2_scale),
                "npu::", name, ": x1_scale is ", is_set(x1_scale) ? "given" : "None", ", x2_scale ",
                is_set(x2_scale) ? "given" : "None", " for input of ", x1.scalar_type(),
                ": float8 and int8 have both, other types none");
    TORCH_CHECK(is_plain() || y_dtype.has_value(), "npu::", name, ": y_dtype is None for input of ", x1.scalar_type(),
                ": the number of a type is taken");
    if (is_plain()) {
      TORCH_CHECK(x1.dim() == 2 && x2.dim() == 2 && x1.sym_size(1) == x2.sym_size(0), "npu::", name,
                  ": input is of size ", x1.sym_sizes(), ", x2 of size ", x2.sym_sizes(),
                  ": [M, K] and [K, N] are taken");
    } else {
      check_scaled_product(name, "input", x1, x2, x1_scale, x2_scale);
    }
    TORCH_CHECK(!is_set(bias) || bias->sym_numel() == x2.sym_size(1), "npu::", name, ": bias is of size ",
                bias->sym_sizes(), " for x2 of size ", x2.sym_sizes());
    const auto result = dtypes({at::kHalf, at::kBFloat16, at::kFloat});
    TORCH_CHECK((aclnn_check::dtype_bit(type()) & result) != 0, "npu::", name, ": y_dtype is ", type(),
                ": float16, bfloat16 and float32 are taken");
  }

  at::ScalarType type() const { return y_dtype.has_value() ? dtype_of_number("y_dtype", *y_dtype) : x1.scalar_type(); }

  Tensor compute(const Tensor& rows, const OptionalTensor& scales) const {
    Tensor y = is_plain() ? at::matmul(rows, x2) : scaled_product(rows, x2, scales, x2_scale);
    return is_set(bias) ? y + *bias : y;
  }
};

// Bytes, of which collectives know no float8.
Tensor as_bytes(const Tensor& tensor) {
  return tensor.element_size() == 1 ? tensor.contiguous().view(at::kByte) : tensor.contiguous();
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> npu_all_gather_quant_mm(
    const Tensor& self, const Tensor& x2, std::string_view hcom, int64_t world_size, const OptionalTensor& bias,
    const OptionalTensor& x1_scale, const OptionalTensor& x2_scale, const OptionalTensor& quant_scale,
    int64_t block_size, int64_t gather_index, bool gather_output, int64_t /*comm_turn*/,
    at::OptionalIntArrayRef group_sizes, bool amax_output, std::optional<int64_t> y_dtype,
    std::optional<int64_t> x1_dtype, std::optional<int64_t> x2_dtype, std::optional<int64_t> x1_scale_dtype,
    std::optional<int64_t> x2_scale_dtype, std::optional<std::string_view> /*comm_mode*/) {
  const QuantProduct p{"npu_all_gather_quant_mm", self, x2, bias, x1_scale, x2_scale, y_dtype};
  p.check(quant_scale, block_size, amax_output, group_sizes,
          {{"x1_dtype", x1_dtype},
           {"x2_dtype", x2_dtype},
           {"x1_scale_dtype", x1_scale_dtype},
           {"x2_scale_dtype", x2_scale_dtype}});
  TORCH_CHECK_NOT_IMPLEMENTED(gather_index == 0, "npu::", p.name, ": gather_index is ", gather_index, ": 0 is taken");
  TORCH_CHECK(world_size > 0, "npu::", p.name, ": world_size is ", world_size);
  const auto nothing = [&](at::ScalarType type) { return at::empty({0}, self.options().dtype(type)); };
  if (self.is_meta()) {
    const c10::SymInt rows = self.sym_size(0) * world_size;
    return {at::empty_symint({rows, x2.sym_size(1)}, self.options().dtype(p.type())),
            gather_output ? at::empty_symint({rows, self.sym_size(1)}, self.options()) : nothing(self.scalar_type()),
            nothing(at::kFloat)};
  }
  const Group group(p.name, hcom, world_size);
  const Tensor rows = group.gathered(as_bytes(self)).view(self.scalar_type());
  OptionalTensor scales = x1_scale;
  if (is_set(x1_scale) && x1_scale->dim() == 3) {
    scales = group.gathered(as_bytes(*x1_scale));
  } else if (is_set(x1_scale)) {
    // One for each row, where a rank may have one for all.
    scales = group.gathered(x1_scale->reshape({-1}).expand({self.size(0)}));
  }
  return {p.compute(rows, scales).to(p.type()), gather_output ? rows : nothing(self.scalar_type()),
          nothing(at::kFloat)};
}

std::tuple<Tensor, Tensor> npu_quant_mm_reduce_scatter(
    const Tensor& self, const Tensor& x2, std::string_view hcom, int64_t world_size, std::string_view reduce_op,
    const OptionalTensor& bias, const OptionalTensor& x1_scale, const OptionalTensor& x2_scale,
    const OptionalTensor& quant_scale, int64_t block_size, int64_t /*comm_turn*/, at::OptionalIntArrayRef group_sizes,
    bool amax_output, std::optional<int64_t> y_dtype, std::optional<int64_t> x1_dtype, std::optional<int64_t> x2_dtype,
    std::optional<int64_t> x1_scale_dtype, std::optional<int64_t> x2_scale_dtype,
    std::optional<std::string_view> /*comm_mode*/) {
  const QuantProduct p{"npu_quant_mm_reduce_scatter", self, x2, bias, x1_scale, x2_scale, y_dtype};
  p.check(quant_scale, block_size, amax_output, group_sizes,
          {{"x1_dtype", x1_dtype},
           {"x2_dtype", x2_dtype},
           {"x1_scale_dtype", x1_scale_dtype},
           {"x2_scale_dtype", x2_scale_dtype}});
  check_sum(p.name, reduce_op);
  TORCH_CHECK(world_size > 0, "npu::", p.name, ": world_size is ", world_size);
  const Tensor nothing = at::empty({0}, self.options().dtype(at::kFloat));
  if (self.is_meta()) {
    return {at::empty_symint({self.sym_size(0) / world_size, x2.sym_size(1)}, self.options().dtype(p.type())), nothing};
  }
  return {Group(p.name, hcom, world_size).scattered(p.compute(self, x1_scale)).to(p.type()), nothing};
}

}  // namespace torch_npu::custom
