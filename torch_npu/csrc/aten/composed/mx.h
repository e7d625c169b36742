#pragma once
// Formats of OCP's microscaling: elements, and the powers of two that blocks of them share.

#include <ATen/core/Tensor.h>

#include <optional>
#include <string_view>

namespace torch_npu::custom::mx {

constexpr int64_t kFloat4 = 296;  // torch_npu's number of float4_e2m1

// An element of a block: the exponent of its greatest power of two, and its maximum.
struct Element {
  std::optional<at::ScalarType> type;  // none: two float4_e2m1 in a byte
  int exponent;
  double most;
};

// Throws for a number of no such type.
Element element_of(const char* name, int64_t number);

struct Scaled {
  at::Tensor values, scales;
};

// Blocks along `axis`. Scales are exponents of two with the bias 127, in pairs: [..., ceil(blocks / 2), 2].
Scaled scaled(const char* name, const at::Tensor& input, int64_t axis, const Element& element, int64_t block);

// Throws unless these arguments of a call are computed here.
void check_scaling(const char* name, const at::Tensor& input, std::string_view round_mode, int64_t block,
                   int64_t scale_alg, double dst_type_max, double max_low_bound);

// The numbers [..., 2 n] in float32 of bytes [..., n] with two float4_e2m1 each.
at::Tensor numbers_of_float4(const at::Tensor& bytes);

// 2^(bits - 127) in float32.
at::Tensor powers_of(const at::Tensor& bits);

}  // namespace torch_npu::custom::mx
