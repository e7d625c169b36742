// Values in formats of OCP's microscaling: blocks that share a power of two.

#include <ATen/Functions.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/core/Tensor.h>

#include <array>

#include "aten/composed/mx.h"
#include "aten/composed/operands.h"
#include "aten/custom/dtype_number.h"
#include "custom_kernels.h"

namespace torch_npu::custom {
namespace mx {

using at::Tensor;

Element element_of(const char* name, int64_t number) {
  if (number == kFloat4) return {std::nullopt, 2, 6};
  const at::ScalarType type = dtype_of_number("dst_type", number);
  if (type == at::kFloat8_e4m3fn) return {type, 8, 448};
  if (type == at::kFloat8_e5m2) return {type, 15, 57344};
  TORCH_CHECK_NOT_IMPLEMENTED(false, name, ": dst_type is ", number,
                              ": float8_e4m3fn, float8_e5m2 and float4_e2m1 (296) are taken");
}

namespace {

// Codes of float4_e2m1, two in a byte, the first one lower. `values` are within [-6, 6]; ties go to even codes.
Tensor as_float4(const Tensor& values) {
  constexpr std::array<double, 7> kMiddles = {0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5};
  constexpr int64_t kSign = 8, kSecond = 16;
  const Tensor size = values.abs();
  Tensor codes = at::signbit(values).to(at::kByte) * kSign;
  for (std::size_t i = 0; i < kMiddles.size(); ++i) {
    codes = codes + (i % 2 == 1 ? size >= kMiddles[i] : size > kMiddles[i]).to(at::kByte);
  }
  return codes.slice(-1, 0, std::nullopt, 2) + codes.slice(-1, 1, std::nullopt, 2) * kSecond;
}

// What blocks share, by their maxima: exponents of two with the bias 127, and what values are multiplied by.
struct Block {
  Tensor bits, factors;
};
Block block_of(const Tensor& most, const Element& element) {
  constexpr int64_t kBias = 127, kMaxBits = 254;
  const Tensor exponents = std::get<1>(at::frexp(most)) - (1 + element.exponent);  // of floor(log2(most))
  const Tensor bits = at::where(most > 0, exponents + kBias, 0).clamp(0, kMaxBits).to(at::kLong);
  // Powers of two are exact in float64, their reciprocals are those of float32.
  return {bits.to(at::kByte), at::exp2((kBias - bits).to(at::kDouble)).to(at::kFloat)};
}

}  // namespace

Scaled scaled(const char* name, const Tensor& input, int64_t axis, const Element& element, int64_t block) {
  constexpr int64_t kPair = 2;
  const int64_t d = at::maybe_wrap_dim(axis, input.dim());
  TORCH_CHECK(element.type.has_value() || input.sym_size(-1) % 2 == 0, name, ": input is of size ", input.sym_sizes(),
              ": an even last dimension is taken for float4");
  const Tensor last = input.to(at::kFloat).movedim(d, -1);
  const c10::SymInt count = last.sym_size(-1);
  const c10::SymInt pairs = (count + block * kPair - 1) / (block * kPair);
  std::vector<c10::SymInt> blocks = last.sym_sizes().vec();
  blocks.back() = pairs * kPair;
  blocks.push_back(block);
  const Tensor padded = at::constant_pad_nd_symint(last, {0, pairs * kPair * block - count}, 0).reshape_symint(blocks);
  const Block own = block_of(padded.abs().amax({-1}), element);
  const Tensor fitted = (padded * own.factors.unsqueeze(-1)).clamp(-element.most, element.most);
  std::vector<c10::SymInt> flat = last.sym_sizes().vec();
  flat.back() = pairs * kPair * block;
  const Tensor values = fitted.reshape_symint(flat).narrow_symint(-1, 0, count).movedim(-1, d).contiguous();
  std::vector<c10::SymInt> paired = last.sym_sizes().vec();
  paired.back() = pairs;
  paired.push_back(kPair);
  return {element.type.has_value() ? values.to(*element.type) : as_float4(values),
          own.bits.reshape_symint(paired).movedim(-2, d).contiguous()};
}

void check_scaling(const char* name, const Tensor& input, std::string_view round_mode, int64_t block, int64_t scale_alg,
                   double dst_type_max, double max_low_bound) {
  Operands(name).take("input", input, dtypes({at::kHalf, at::kBFloat16, at::kFloat}));
  TORCH_CHECK(input.dim() > 0 && block > 0 && block % 32 == 0 && block <= 1024, name, ": input is of size ",
              input.sym_sizes(), ", blocks of ", block, ": a multiple of 32 up to 1024 is taken");
  TORCH_CHECK_NOT_IMPLEMENTED(round_mode == "rint" && scale_alg == 0 && dst_type_max == 0 && max_low_bound == 0, name,
                              ": round_mode is '", round_mode, "', scale_alg ", scale_alg, ", dst_type_max ",
                              dst_type_max, ", max_low_bound ", max_low_bound, ": 'rint' and zeros are taken");
}

Tensor numbers_of_float4(const Tensor& bytes) {
  constexpr int64_t kLow = 15, kBits = 4, kSign = 8;
  const Tensor whole = bytes.to(at::kInt);
  const Tensor codes = at::stack({at::bitwise_and(whole, kLow), at::bitwise_and(whole.__rshift__(kBits), kLow)}, -1);
  const Tensor size = at::bitwise_and(codes, kSign - 1).to(at::kFloat);
  // Codes from 2 on are (2 + c % 2) 2^(c / 2 - 2): 1, 1.5, 2, 3, 4, 6; below them half the code.
  const Tensor exponent = at::floor(size / 2), fraction = size - exponent * 2;
  const Tensor number = at::where(size < 2, size / 2, (fraction + 2) * at::exp2(exponent - 2));
  return at::where(codes >= kSign, -number, number).flatten(-2);
}

Tensor powers_of(const Tensor& bits) {
  constexpr int64_t kBias = 127;
  // Powers of two are exact in float64.
  return at::exp2((bits.to(at::kLong) - kBias).to(at::kDouble)).to(at::kFloat);
}

}  // namespace mx

using at::Tensor;

std::tuple<Tensor, Tensor> npu_dynamic_mx_quant(const Tensor& self, int64_t axis, std::string_view round_mode,
                                                int64_t dst_type, int64_t block_size, std::optional<int64_t> scale_alg,
                                                double dst_type_max, double max_low_bound) {
  constexpr const char* kName = "npu_dynamic_mx_quant";
  mx::check_scaling(kName, self, round_mode, block_size, scale_alg.value_or(0), dst_type_max, max_low_bound);
  const mx::Scaled result = mx::scaled(kName, self, axis, mx::element_of(kName, dst_type), block_size);
  return {result.values, result.scales};
}

// Along the last dimension, and along the one before it.
std::tuple<Tensor, Tensor, Tensor, Tensor> npu_dynamic_mx_quant_with_dual_axis(const Tensor& self,
                                                                               std::string_view round_mode,
                                                                               int64_t dst_type, int64_t scale_alg,
                                                                               std::optional<double> dst_type_max) {
  constexpr const char* kName = "npu_dynamic_mx_quant_with_dual_axis";
  constexpr int64_t kBlock = 32;
  mx::check_scaling(kName, self, round_mode, kBlock, scale_alg, dst_type_max.value_or(0), 0);
  TORCH_CHECK(self.dim() > 1, kName, ": input is of size ", self.sym_sizes(), ": two dimensions or more are taken");
  const mx::Element element = mx::element_of(kName, dst_type);
  const mx::Scaled first = mx::scaled(kName, self, -1, element, kBlock),
                   second = mx::scaled(kName, self, -2, element, kBlock);
  return {first.values, first.scales, second.values, second.scales};
}

// Blocks of 32 by 32 share a power of two, which both results of scales have.
std::tuple<Tensor, Tensor, Tensor> npu_dynamic_block_mx_quant(const Tensor& self, std::string_view round_mode,
                                                              int64_t dst_type, int64_t scale_alg,
                                                              double dst_type_max) {
  constexpr const char* kName = "npu_dynamic_block_mx_quant";
  constexpr int64_t kBlock = 32, kPair = 2;
  mx::check_scaling(kName, self, round_mode, kBlock, scale_alg, dst_type_max, 0);
  TORCH_CHECK(self.dim() == 2 || self.dim() == 3, kName, ": input is of size ", self.sym_sizes(),
              ": two or three dimensions are taken");
  const mx::Element element = mx::element_of(kName, dst_type);
  const c10::SymInt rows = self.sym_size(-2), columns = self.sym_size(-1);
  const c10::SymInt down = (rows + kBlock * kPair - 1) / (kBlock * kPair);
  const c10::SymInt across = (columns + kBlock * kPair - 1) / (kBlock * kPair);
  TORCH_CHECK(element.type.has_value() || columns % 2 == 0, kName, ": input is of size ", self.sym_sizes(),
              ": an even last dimension is taken for float4");
  const std::vector<c10::SymInt> padding = {0, across * kPair * kBlock - columns, 0, down * kPair * kBlock - rows};
  const Tensor padded = at::constant_pad_nd_symint(self.to(at::kFloat), padding, 0);
  const Tensor blocks = padded.reshape_symint({-1, down * kPair, kBlock, across * kPair, kBlock});
  const mx::Block block = mx::block_of(blocks.abs().amax({2, 4}, true), element);
  const Tensor fitted = (blocks * block.factors).clamp(-element.most, element.most).reshape_symint(padded.sym_sizes());
  const Tensor values = fitted.narrow_symint(-2, 0, rows).narrow_symint(-1, 0, columns).contiguous();
  const Tensor bits = block.bits.squeeze(4).squeeze(2);  // [batch, blocks down, blocks across]
  const auto sized = [&](const Tensor& scales, const c10::SymInt& first, const c10::SymInt& second) {
    std::vector<c10::SymInt> sizes = self.sym_sizes().slice(0, static_cast<std::size_t>(self.dim() - 2)).vec();
    sizes.insert(sizes.end(), {first, second, c10::SymInt(kPair)});
    return scales.reshape_symint(sizes).contiguous();
  };
  const Tensor by_row = bits.repeat_interleave(kBlock, 1).narrow_symint(1, 0, rows);
  const Tensor by_column = bits.repeat_interleave(kBlock, 2)
                               .narrow_symint(2, 0, columns)
                               .reshape_symint({-1, down, kPair, columns})
                               .transpose(2, 3);
  return {element.type.has_value() ? values.to(*element.type) : mx::as_float4(values), sized(by_row, rows, across),
          sized(by_column, down, columns)};
}

}  // namespace torch_npu::custom
