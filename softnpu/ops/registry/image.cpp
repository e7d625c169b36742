// Convolution, pooling and interpolation invoked by type name. Attributes of images [N, C, H, W] have a value for each
// of the four dimensions, paddings two for each of the last two.

#include "base/text.h"
#include "ops/nn/conv/operators.h"
#include "ops/nn/conv/spatial.h"
#include "ops/nn/grid_sample/operators.h"
#include "ops/nn/pool/argmax_bits.h"
#include "ops/nn/pool/operators.h"
#include "ops/nn/upsample/operators.h"
#include "ops/registry/infer.h"
#include "ops/registry/invalid_call.h"
#include "ops/registry/registry.h"

namespace softnpu {
namespace {

// The values for the dimensions after batch and channels; `fallback` for each if the attribute is missing.
aclIntArray spatial(const aclIntArray& values, size_t dims, int64_t fallback) {
  aclIntArray some;
  for (size_t i = 0; i < dims; ++i) {
    some.values.push_back(values.size() < dims ? fallback : values[values.size() - dims + i]);
  }
  return some;
}

Status halves(const aclIntArray& pads, size_t dims, aclIntArray* out) {
  for (size_t i = 0; i < dims; ++i) {
    const int64_t before = pads.size() < 2 * dims ? 0 : pads[2 * i];
    const int64_t after = pads.size() < 2 * dims ? 0 : pads[2 * i + 1];
    if (before != after) return invalid_call("paddings that are the same on both sides are implemented");
    out->values.push_back(before);
  }
  return Status::ok();
}

// The attributes of a convolution.
struct ConvReading {
  aclIntArray stride, padding, dilation, output_padding;
  int64_t groups = 1;

  Status read(Operands& of, size_t dims) {
    const std::string format = of.words("data_format");
    if (format != "NCHW" && format != "NCDHW") return invalid_call("images [N, C, spatial] are implemented");
    stride = spatial(of.integers("strides"), dims, 1);
    dilation = spatial(of.integers("dilations"), dims, 1);
    output_padding = spatial(of.integers("output_padding"), dims, 0);
    // ONNX calls it group, and onnxruntime passes that name.
    groups = of.has("group") ? of.integer("group") : of.integer("groups");
    return halves(of.integers("pads"), dims, &padding);
  }
  ConvAttributes attributes(bool transposed) const {
    return {stride, padding, dilation, transposed, transposed ? &output_padding : nullptr, groups};
  }
};

constexpr int8_t kKeepType = 0;   // compute in the operands' type
constexpr int8_t kAllowHf32 = 3;  // float32 with the precision of HF32

size_t spatial_dims(const aclTensor& image) { return image.dims.size() < 3 ? 0 : image.dims.size() - 2; }

aclBoolArray only(size_t which) {
  aclBoolArray mask;
  for (size_t i = 0; i < 3; ++i) mask.values.push_back(i == which);
  return mask;
}

// (x, filter, bias?)
Status plan_convolution(Operands& of, Plan* plan) {
  ConvReading conv;
  SOFTNPU_RETURN_IF_ERROR(conv.read(of, spatial_dims(of.in(0))));
  const int8_t precision = of.flag("allow_hf32") ? kAllowHf32 : kKeepType;
  return convolution(of.in(0), of.in(1), of.maybe(2), conv.attributes(false), of.out(), precision, plan);
}

// (sizes of the result, x, filter, bias?)
Status plan_transposed(Operands& of, Plan* plan) {
  ConvReading conv;
  (void)of.numbers(0);
  SOFTNPU_RETURN_IF_ERROR(conv.read(of, spatial_dims(of.in(1))));
  return convolution(of.in(1), of.in(2), of.maybe(3), conv.attributes(true), of.out(), kKeepType, plan);
}

// (sizes of the result, filter, gradient)
Status plan_input_gradient(Operands& of, Plan* plan) {
  ConvReading conv;
  (void)of.numbers(0);
  SOFTNPU_RETURN_IF_ERROR(conv.read(of, spatial_dims(of.in(2))));
  return convolution_backward(of.in(2), of.out(), of.in(1), conv.attributes(false), only(0), kKeepType, &of.out(),
                              nullptr, nullptr, plan);
}

// (x, sizes of the result, gradient)
Status plan_filter_gradient(Operands& of, Plan* plan) {
  ConvReading conv;
  (void)of.numbers(1);
  SOFTNPU_RETURN_IF_ERROR(conv.read(of, spatial_dims(of.in(0))));
  return convolution_backward(of.in(2), of.in(0), of.out(), conv.attributes(false), only(1), kKeepType, nullptr,
                              &of.out(), nullptr, plan);
}

// The attributes of pooling in two dimensions.
struct PoolReading {
  aclIntArray kernel, stride, padding, dilation;
  bool ceil_mode = false;

  PoolAttributes attributes() const { return {2, kernel, stride, padding, &dilation, ceil_mode}; }
};

aclIntArray inner(const aclIntArray& values, int64_t fallback) {
  aclIntArray pair;
  for (size_t i = 1; i < 3; ++i) pair.values.push_back(values.size() == 4 ? values[i] : fallback);
  return pair;
}

// The values are [1, H, W, 1]. The forward operator's attribute for dilations is in the singular.
PoolReading read_max_pool(Operands& of, const char* dilations) {
  return {inner(of.integers("ksize"), 1), inner(of.integers("strides"), 1), inner(of.integers("pads"), 0),
          inner(of.integers(dilations), 1), of.flag("ceil_mode")};
}

// The values are [1, 1, H, W]. With ceil_mode the paddings already include the extension after the image.
PoolReading read_average_pool(Operands& of) {
  const aclIntArray pads = of.integers("pads");
  PoolReading pool{
      spatial(of.integers("ksize"), 2, 1), spatial(of.integers("strides"), 2, 1), {}, {}, of.flag("ceil_mode")};
  for (size_t i : {size_t{0}, size_t{2}}) pool.padding.values.push_back(pads.size() == 4 ? pads[i] : 0);
  pool.dilation.values = {1, 1};
  return pool;
}

Status check_average_pool(Operands& of) {
  if (of.words("data_format") != "NCHW") return invalid_call("images [N, C, H, W] are implemented");
  if (of.words("padding_mode") != "CALCULATED") return invalid_call("paddings that are given are implemented");
  return Status::ok();
}

Status plan_average_pool(Operands& of, Plan* plan) {
  if (of.flag("global_pooling")) return adaptive_avg_pool(2, of.in(0), ints({1, 1}), of.out(), plan);
  SOFTNPU_RETURN_IF_ERROR(check_average_pool(of));
  return avg_pool(read_average_pool(of).attributes(), of.in(0), !of.flag("exclusive"), of.integer("divisor_override"),
                  of.out(), plan);
}

// (sizes of the result, gradient)
Status plan_average_pool_gradient(Operands& of, Plan* plan) {
  if (of.flag("global_pooling")) return invalid_call("its gradient is AdaptiveAvgPool2dGrad");
  (void)of.numbers(0);
  SOFTNPU_RETURN_IF_ERROR(check_average_pool(of));
  return avg_pool_backward(read_average_pool(of).attributes(), of.in(1), of.out(), !of.flag("exclusive"), 0, of.out(),
                           plan);
}

Status plan_grid_sampler(Operands& of, Plan* plan) {
  const std::string mode = of.words("interpolation_mode");
  const std::string padding = of.words("padding_mode");
  const int64_t modes = mode == "bilinear" ? 0 : mode == "nearest" ? 1 : mode == "bicubic" ? 2 : -1;
  const int64_t paddings = padding == "zeros" ? 0 : padding == "border" ? 1 : padding == "reflection" ? 2 : -1;
  if (modes < 0 || paddings < 0) return invalid_call("the interpolation or padding mode is not known");
  const GridAttributes attributes{2, modes, paddings, of.flag("align_corners")};
  if (of.count() == 2) return grid_sampler(attributes, of.in(0), of.in(1), of.out(), plan);
  aclBoolArray both;
  for (int i = 0; i < 2; ++i) both.values.push_back(true);
  return grid_sampler_backward(attributes, of.in(0), of.in(1), of.in(2), both, &of.out(0), &of.out(1), plan);
}

// The sizes from dimension `first` on.
aclIntArray sizes_of(const aclTensor& image, size_t first) {
  aclIntArray sizes;
  for (size_t i = first; i < image.dims.size(); ++i) sizes.values.push_back(image.dims[i]);
  return sizes;
}

// Without aligned corners: nearest takes floor(i / scale), linear uses half-pixel centers.
Status read_positions(Interpolation mode, Operands& of, bool* align) {
  *align = of.flag("align_corners");
  const bool has_centers = of.flag("half_pixel_centers");
  if (has_centers == (mode == Interpolation::kLinear && !*align) && !(*align && mode == Interpolation::kNearest)) {
    return Status::ok();
  }
  return invalid_call("positions as torch.nn.functional.interpolate has them are implemented");
}

Status plan_resize(Interpolation mode, Operands& of, Plan* plan) {
  bool align = false;
  (void)of.numbers(1);
  if (of.out().dims.size() != 4) return invalid_call("images [N, C, H, W] are implemented");
  SOFTNPU_RETURN_IF_ERROR(read_positions(mode, of, &align));
  return upsample({mode, sizes_of(of.out(), 2), align, {}}, 2, of.in(0), of.out(), plan);
}

Status plan_resize_gradient(Interpolation mode, Operands& of, Plan* plan) {
  bool align = false;
  if (of.out().dims.size() != 4 || of.in(0).dims.size() != 4)
    return invalid_call("images [N, C, H, W] are implemented");
  SOFTNPU_RETURN_IF_ERROR(read_positions(mode, of, &align));
  const aclIntArray input = sizes_of(of.out(), 0);
  return upsample_backward({mode, sizes_of(of.in(0), 2), align, {}}, 2, of.in(0), input, of.out(), plan);
}

Status plan_max_pool(Operands& of, Plan* plan) {
  return max_pool_bits(read_max_pool(of, "dilation").attributes(), of.in(0), of.out(0), of.out(1), plan);
}

// Without the positions of the maxima.
Status plan_max_values(Operands& of, Plan* plan) {
  const aclIntArray kernel = of.integers("ksize");
  const aclIntArray stride = of.integers("strides");
  const aclIntArray pads = of.integers("pads");
  const aclIntArray dilation = of.integers("dilations");
  return max_pool_values({kernel, stride, 0, pads, dilation, false}, of.in(0), of.out(), plan);
}

// Maxima over windows [1, 1, H, W], or over whole images.
struct MaxPoolReading {
  aclIntArray kernel, stride, pads;
  bool ceil_mode = false;

  Status read(Operands& of, const aclTensor& x) {
    if (of.words("data_format") != "NCHW" || x.dims.size() != 4) {
      return invalid_call("images [N, C, H, W] are implemented");
    }
    if (of.flag("global_pooling")) {
      kernel = stride = ints({x.dims[2], x.dims[3]});
      pads = ints({0, 0, 0, 0});
      return Status::ok();
    }
    const std::string mode = of.words("padding_mode");
    if (mode != "CALCULATED" && mode != "VALID") return invalid_call("paddings that are given are implemented");
    kernel = spatial(of.integers("ksize"), 2, 1);
    stride = spatial(of.integers("strides"), 2, 1);
    const aclIntArray given = of.integers("pads");
    pads = mode == "VALID" || given.size() != 4 ? ints({0, 0, 0, 0}) : given;
    ceil_mode = of.flag("ceil_mode");
    return Status::ok();
  }
};

Status plan_max_pool_v3(Operands& of, Plan* plan) {
  MaxPoolReading pool;
  SOFTNPU_RETURN_IF_ERROR(pool.read(of, of.in(0)));
  const aclIntArray dilation = ints({1, 1});
  return max_pool_values({pool.kernel, pool.stride, 0, pool.pads, dilation, pool.ceil_mode}, of.in(0), of.out(), plan);
}

// (x, gradient, bits)
Status plan_max_pool_gradient(Operands& of, Plan* plan) {
  return max_pool_bits_backward(read_max_pool(of, "dilations").attributes(), of.in(1), of.in(0), of.in(2), of.out(),
                                plan);
}

// [N, C, spatial] with the number of windows of each dimension.
Status windows(const aclTensor& x, int64_t channels, const aclIntArray& kernel, const aclIntArray& stride,
               const aclIntArray& padding, const aclIntArray& dilation, bool ceil_mode, aclTensor& y) {
  const size_t dims = kernel.size();
  if (x.dims.size() < dims + 1) return invalid_call("images [N, C, spatial] are needed");
  Dims sizes;
  for (size_t i = 0; i + dims + 1 < x.dims.size(); ++i) sizes.push_back(x.dims[i]);
  sizes.push_back(channels);
  for (size_t i = 0; i < dims; ++i) {
    int64_t count = 0;
    const int64_t size = x.dims[x.dims.size() - dims + i];
    SOFTNPU_RETURN_IF_ERROR(count_windows(size, {kernel[i], stride[i], padding[i], dilation[i]}, ceil_mode, &count));
    sizes.push_back(count);
  }
  y.dims = sizes;
  y.dtype = x.dtype;
  return Status::ok();
}

Status convolved(Operands& of, const aclTensor& x, const aclTensor& filter, aclTensor& y) {
  const size_t dims = spatial_dims(x);
  ConvReading conv;
  SOFTNPU_RETURN_IF_ERROR(conv.read(of, dims));
  if (dims == 0 || filter.dims.size() != x.dims.size() || filter.dims[1] * conv.groups != x.dims[1]) {
    return invalid_call("the image's channels and the filter's do not match");
  }
  aclIntArray kernel;
  for (size_t i = 2; i < filter.dims.size(); ++i) kernel.values.push_back(filter.dims[i]);
  return windows(x, filter.dims[0], kernel, conv.stride, conv.padding, conv.dilation, false, y);
}

Status pooled(const PoolReading& pool, const aclTensor& x, aclTensor& y) {
  if (x.dims.size() < 3) return invalid_call("images [N, C, H, W] are needed");
  return windows(x, x.dims[x.dims.size() - 3], pool.kernel, pool.stride, pool.padding, pool.dilation, pool.ceil_mode,
                 y);
}

Status average_pooled(Operands& of, const aclTensor& x, aclTensor& y) {
  return of.flag("global_pooling") ? with_spatial(x, ints({1, 1}), y) : pooled(read_average_pool(of), x, y);
}

Status max_pooled(Operands& of, const aclTensor& x, aclTensor& y) {
  MaxPoolReading pool;
  SOFTNPU_RETURN_IF_ERROR(pool.read(of, x));
  aclIntArray padding;
  SOFTNPU_RETURN_IF_ERROR(halves(pool.pads, 2, &padding));
  return windows(x, x.dims[1], pool.kernel, pool.stride, padding, ints({1, 1}), pool.ceil_mode, y);
}

Status max_values(Operands& of, const aclTensor& x, aclTensor& y) {
  const aclIntArray kernel = of.integers("ksize");
  const aclIntArray stride = of.integers("strides");
  const aclIntArray dilation = of.integers("dilations");
  aclIntArray padding;
  SOFTNPU_RETURN_IF_ERROR(halves(of.integers("pads"), 2, &padding));
  if (x.dims.size() != 4 || kernel.size() != 2 || stride.size() != 2 || dilation.size() != 2) {
    return invalid_call("images [N, C, H, W] and two values per attribute are needed");
  }
  return windows(x, x.dims[1], kernel, stride, padding, dilation, false, y);
}

Status pooled_with_bits(const PoolReading& pool, const aclTensor& x, aclTensor& y, aclTensor& argmax) {
  SOFTNPU_RETURN_IF_ERROR(pooled(pool, x, y));
  const size_t rank = y.dims.size();
  if (rank != 4) return invalid_call("images [N, C, H, W] are needed");
  ArgmaxBits bits;
  bits.out = {1, y.dims[2], y.dims[3]};
  bits.kernel = {1, pool.kernel[0], pool.kernel[1]};
  return sized(ints({y.dims[0], y.dims[1], bits.taps(), bits.row_words()}), ACL_UINT16, argmax);
}

// An image [N, C, ..] at the positions of `grid` [N, H, W, 2].
Status sampled(const aclTensor& x, const aclTensor& grid, aclTensor& y) {
  if (x.dims.size() != 4 || grid.dims.size() != 4)
    return invalid_call("images and grids of four dimensions are needed");
  return sized(ints({x.dims[0], x.dims[1], grid.dims[1], grid.dims[2]}), x.dtype, y);
}

}  // namespace

}  // namespace softnpu

#include "opgen/rows_image.inc"
