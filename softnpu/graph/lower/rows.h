#pragma once
// The families of operators of ONNX, one file each.

#include <span>

#include "graph/lower/call.h"

namespace softnpu::graph {

std::span<const LowerRow> elementwise_rows();
std::span<const LowerRow> activation_rows();
std::span<const LowerRow> shape_rows();
std::span<const LowerRow> index_rows();
std::span<const LowerRow> reduce_rows();
std::span<const LowerRow> matmul_rows();
std::span<const LowerRow> conv_rows();
std::span<const LowerRow> pool_rows();
std::span<const LowerRow> norm_rows();
std::span<const LowerRow> attention_rows();
std::span<const LowerRow> recurrent_rows();
std::span<const LowerRow> loss_rows();
std::span<const LowerRow> resize_rows();
std::span<const LowerRow> quantize_rows();
std::span<const LowerRow> detection_rows();
std::span<const LowerRow> sample_rows();
std::span<const LowerRow> signal_rows();
std::span<const LowerRow> text_rows();
std::span<const LowerRow> control_rows();
std::span<const LowerRow> contrib_rows();  // of the domain com.microsoft

// What several families use.

bool is_integral(aclDataType dtype);
bool is_floating(aclDataType dtype);
// Refuses a constant of more elements than are made while a model is lowered; takes the product of `sizes`.
void check_constant(const Ints& sizes, double times = 1);
// [dim, dim + 1, ..) and the like.
Ints iota(int64_t count, int64_t first = 0);
// Indices in [-size, size) as indices in [0, size).
ValueId wrapped(Builder& build, ValueId indices, int64_t size);
// `x`, of one dimension, so that it broadcasts along dimension `dim` of `rank` dimensions.
ValueId along(Builder& build, ValueId x, int64_t dim, int64_t rank);
// Pads before and after each dimension; negative ones crop.
ValueId padded(Builder& build, ValueId x, const Ints& before, const Ints& after, double value);
// Along the dimensions from `axis` on; over float32 where the type is of 16 bits is left to the operators.
ValueId gelu_tanh(Builder& build, ValueId x);

// Windows of a convolution or pooling: [spatial] each.
struct Windows {
  Ints kernel, strides, dilations, before, after;
  bool ceil_mode = false;

  // The attributes of a node; `auto_pad` needs the sizes of the image.
  static Windows read(Call& call, const Ints& image, const Ints& kernel);
  int64_t outputs(size_t dim, int64_t size) const;
  // The index in the image of each element of each of `counts` windows: [windows, elements], -1 in the padding.
  Ints positions(const Ints& image, const Ints& counts, bool is_column_major) const;
};

// Values of x [N, C, spatial] at real coordinates, one tensor [N, G, P] per dimension, where G is 1 or C: [N, C, P].
// Between pixels they are interpolated linearly; pixels outside of the image are 0. With `combine` "Maximum" the
// largest of the weighted pixels counts in place of their sum.
ValueId sampled(Builder& build, ValueId x, const std::vector<ValueId>& coordinates, const char* combine = "Add");

// The convolution of an image [N, C, spatial] by a filter, of 1 to 3 dimensions, with any paddings.
ValueId convolved(Builder& build, ValueId x, ValueId filter, ValueId bias, const Windows& windows, int64_t groups);

}  // namespace softnpu::graph
