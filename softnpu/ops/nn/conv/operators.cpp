#include "ops/nn/conv/operators.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "nnopbase/written.h"
#include "ops/core/cube_math.h"
#include "ops/core/describe.h"
#include "ops/core/dtype.h"
#include "ops/core/format/nc1hwc0.h"
#include "ops/core/invalid.h"
#include "ops/core/tensor_memory.h"
#include "ops/core/view/view.h"
#include "ops/nn/conv/algorithms.h"
#include "ops/nn/conv/spatial.h"
#include "ops/nn/conv/step.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

Status check_dtype(const aclTensor& tensor, aclDataType dtype, const char* role) {
  if (!is_known(tensor.dtype) || tensor.dtype == ACL_BOOL) {
    return invalid(text(role, " is ", describe(tensor), "; no convolution is defined for it"));
  }
  if (tensor.dtype == dtype) return Status::ok();
  return invalid(text(role, " is ", describe(tensor), ", where ", name_of(dtype), " is needed"));
}

Status read_filter(const aclTensor& tensor, const char* role, Filter* out) {
  const size_t dims = tensor.dims.size() - 2;
  SOFTNPU_RETURN_IF_ERROR(memory_of(tensor, role, &out->data));
  out->dtype = tensor.dtype;
  out->source = device_bytes(tensor);
  out->out_stride = tensor.strides[0];
  out->in_stride = tensor.strides[1];
  for (size_t i = 0; i < dims; ++i) {
    out->sizes[3 - dims + i] = tensor.dims[2 + i];
    out->strides[3 - dims + i] = tensor.strides[2 + i];
  }
  return Status::ok();
}

// Checks that the sizes of both images and of `weight` match.
Status check_sizes(const ConvProblem& p, const aclTensor& weight, bool transposed, const Triple& output_padding) {
  const auto misfit = [&](const char* what, int64_t given, int64_t needed) {
    return invalid(text(what, " is ", given, ", where ", needed, " is needed for the weight ", describe(weight), " in ",
                        p.groups, " groups"));
  };
  if (p.out.channels != weight.dims[0]) {
    return misfit(transposed ? "the input's number of channels" : "the result's number of channels", p.out.channels,
                  weight.dims[0]);
  }
  int64_t in_channels = 0;
  SOFTNPU_RETURN_IF_ERROR(fit(checked(weight.dims[1]) * p.groups, "the number of channels", &in_channels));
  if (p.in.channels != in_channels) {
    return misfit(transposed ? "the result's number of channels" : "the input's number of channels", p.in.channels,
                  in_channels);
  }
  if (p.out.channels % p.groups != 0) {
    return invalid(text(p.out.channels, " channels cannot be split into ", p.groups, " groups"));
  }
  for (size_t i = 3 - p.dims; i < 3; ++i) {
    const WindowLine line{p.filter.sizes[i], p.stride[i], p.padding[i], p.dilation[i]};
    if (p.filter.sizes[i] < 1) return invalid(text("the weight ", describe(weight), " has an empty kernel"));
    if (transposed) {
      int64_t needed = 0;
      SOFTNPU_RETURN_IF_ERROR(fit(
          (checked(p.out.sizes[i]) - 1) * p.stride[i] - checked(p.padding[i]) * 2 + line.extent() + output_padding[i],
          "a size of the result", &needed));
      if (p.in.sizes[i] != needed) return misfit("a size of the result", p.in.sizes[i], needed);
      if (output_padding[i] >= std::max(p.stride[i], p.dilation[i])) {
        return invalid(text("the output padding ", output_padding[i], " is not less than stride or dilation"));
      }
    } else {
      int64_t count = 0;
      SOFTNPU_RETURN_IF_ERROR(count_windows(p.in.sizes[i], line, false, &count));
      if (count == 0) {
        return invalid(text("the kernel's extent ", line.extent().value(), " is more than the padded input's"));
      }
      if (p.out.sizes[i] != count) return misfit("a size of the result", p.out.sizes[i], count);
    }
  }
  return Status::ok();
}

// `image` is the convolution's input, `result` its output.
Status read_problem(const aclTensor& image, const aclTensor& weight, const aclTensor& result,
                    const ConvAttributes& attributes, int8_t cube_math_type, ConvProblem* p) {
  SOFTNPU_RETURN_IF_ERROR(check_cube_math_type(cube_math_type));
  if (weight.dims.size() < 3 || weight.dims.size() > 5) {
    return invalid(text("the weight is ", describe(weight), ", where 3 to 5 dimensions are needed"));
  }
  if (attributes.groups < 1) return invalid(text("groups is ", attributes.groups, "; it is 1 or more"));
  p->dtype = image.dtype;
  p->allows_less = image.dtype == ACL_FLOAT && allows_less(cube_math_type);
  p->dims = weight.dims.size() - 2;
  p->groups = attributes.groups;
  SOFTNPU_RETURN_IF_ERROR(check_dtype(image, image.dtype, "the input"));
  SOFTNPU_RETURN_IF_ERROR(check_dtype(weight, image.dtype, "the weight"));
  SOFTNPU_RETURN_IF_ERROR(check_dtype(result, image.dtype, "the result"));
  Triple output_padding{};
  SOFTNPU_RETURN_IF_ERROR(read_spatial(&attributes.stride, "stride", p->dims, 1, 1, &p->stride));
  SOFTNPU_RETURN_IF_ERROR(read_spatial(&attributes.padding, "padding", p->dims, 0, 0, &p->padding));
  SOFTNPU_RETURN_IF_ERROR(read_spatial(&attributes.dilation, "dilation", p->dims, 1, 1, &p->dilation));
  SOFTNPU_RETURN_IF_ERROR(read_spatial(attributes.output_padding, "outputPadding", p->dims, 0, 0, &output_padding));
  int64_t result_batch = 0;
  Image* read = attributes.transposed ? &p->out : &p->in;
  Image* output = attributes.transposed ? &p->in : &p->out;
  SOFTNPU_RETURN_IF_ERROR(read_any_image(image, p->dims, "the input", &p->batch, read));
  SOFTNPU_RETURN_IF_ERROR(read_any_image(result, p->dims, "the result", &result_batch, output));
  SOFTNPU_RETURN_IF_ERROR(read_filter(weight, "the weight", &p->filter));
  if (result_batch != p->batch || image.dims.size() != result.dims.size()) {
    return invalid(
        text("the input is ", describe(image), " and the result ", describe(result), ": their batches differ"));
  }
  return check_sizes(*p, weight, attributes.transposed, output_padding);
}

// Adds no step for an empty result.
Status add_step(const ConvProblem& p, std::vector<Step>* steps) {
  const bool empty = p.kind == ConvKind::kFilterGradient
                         ? p.out.channels * p.in_channels() == 0
                         : p.batch * p.output().channels * p.output().spatial_size() == 0;
  if (empty) return Status::ok();
  Attempt<Step> step = choose_convolution(p);
  if (!step) return invalid(text("no convolution is defined for ", describe(p), ": ", step.why()));
  steps->push_back(*std::move(step));
  return Status::ok();
}

// The sums of the channels of `image`.
void add_channel_sums(const Image& image, int64_t batch, char* to, int64_t stride, aclDataType dtype,
                      std::vector<Step>* steps) {
  if (!image.is_blocked) return steps->push_back(channel_sums(image, batch, to, stride, dtype));
  const int64_t blocks = (image.channels + kImageBlock - 1) / kImageBlock;
  const int64_t block = image.spatial_size() * kImageBlock;
  for (int64_t i = 0; i < blocks; ++i) {
    Image part = image;
    part.data += static_cast<size_t>(i * block) * aclDataTypeSize(image.dtype);
    part.channels = std::min(kImageBlock, image.channels - i * kImageBlock);
    part.batch_stride = blocks * block;
    part.channel_stride = 1;
    part.strides = {0, image.sizes[2] * kImageBlock, kImageBlock};
    const int64_t first = i * kImageBlock * stride * static_cast<int64_t>(aclDataTypeSize(dtype));
    steps->push_back(channel_sums(part, batch, to + first, stride, dtype));
  }
}

Plan plan_of(std::vector<Step> steps, std::string message) {
  Plan plan;
  double flops = 0;
  for (const Step& step : steps) {
    flops += step.flops;
    plan.workspace_bytes = larger(plan.workspace_bytes, step.workspace_bytes);
  }
  // Larger work is always large: tasks queued meanwhile can be fused with it.
  if (flops < kSmallWork) plan.work = flops;
  if (steps.size() == 1) plan.fusible = steps[0].fusible;
  plan.run = [steps = std::move(steps)](void* workspace) {
    for (const Step& step : steps) step.run(static_cast<char*>(workspace));
    return Status::ok();
  };
  plan.describe = [message = std::move(message)] { return message; };
  return plan;
}

Status read_bias(const aclTensor* bias, ConvProblem* p) {
  if (bias == nullptr) return Status::ok();
  const int64_t channels = p->output().channels;
  SOFTNPU_RETURN_IF_ERROR(check_dtype(*bias, p->dtype, "the bias"));
  if (bias->dims.size() != 1 || bias->dims[0] != channels) {
    return invalid(
        text("the bias is ", describe(*bias), ", where one value for each of ", channels, " channels is needed"));
  }
  char* data = nullptr;
  SOFTNPU_RETURN_IF_ERROR(memory_of(*bias, "the bias", &data));
  p->bias = data;
  p->bias_stride = bias->strides[0];
  p->bias_dtype = bias->dtype;
  return Status::ok();
}

Status check_like(const aclTensor* gradient, const aclTensor& of, const char* role) {
  SOFTNPU_RETURN_IF_ERROR(not_null(gradient, role));
  SOFTNPU_RETURN_IF_ERROR(check_dtype(*gradient, of.dtype, role));
  if (gradient->dims == of.dims) return Status::ok();
  return invalid(text(role, " is ", describe(*gradient), ", where the shape ",
                      describe_shape({of.dims.data(), of.dims.size()}), " is needed"));
}

}  // namespace

Status convolution(const aclTensor& input, const aclTensor& weight, const aclTensor* bias,
                   const ConvAttributes& attributes, const aclTensor& out, int8_t cube_math_type, Plan* plan) {
  ConvProblem problem;
  SOFTNPU_RETURN_IF_ERROR(read_problem(input, weight, out, attributes, cube_math_type, &problem));
  problem.kind = attributes.transposed ? ConvKind::kInputGradient : ConvKind::kForward;
  SOFTNPU_RETURN_IF_ERROR(read_bias(bias, &problem));
  std::vector<Step> steps;
  SOFTNPU_RETURN_IF_ERROR(add_step(problem, &steps));
  *plan = plan_of(std::move(steps), describe(problem));
  return Status::ok();
}

Status convolution_backward(const aclTensor& grad, const aclTensor& input, const aclTensor& weight,
                            const ConvAttributes& attributes, const aclBoolArray& mask, int8_t cube_math_type,
                            const aclTensor* grad_input, const aclTensor* grad_weight, const aclTensor* grad_bias,
                            Plan* plan) {
  if (is_known(grad.dtype) && is_complex(grad.dtype)) {
    return invalid(
        text("the gradient is ", describe(grad), "; complex convolutions have gradients by their real parts"));
  }
  if (mask.size() != 3) return invalid(text("outputMask has ", mask.size(), " values, where 3 are needed"));
  ConvProblem problem;
  SOFTNPU_RETURN_IF_ERROR(read_problem(input, weight, grad, attributes, cube_math_type, &problem));
  const bool transposed = attributes.transposed;
  std::vector<Step> steps;
  if (mask[0]) {
    SOFTNPU_RETURN_IF_ERROR(check_like(grad_input, input, "gradInput"));
    ConvProblem p = problem;
    p.kind = transposed ? ConvKind::kForward : ConvKind::kInputGradient;
    SOFTNPU_RETURN_IF_ERROR(read_any_image(*grad_input, p.dims, "gradInput", &p.batch, transposed ? &p.out : &p.in));
    SOFTNPU_RETURN_IF_ERROR(add_step(p, &steps));
  }
  if (mask[1]) {
    SOFTNPU_RETURN_IF_ERROR(check_like(grad_weight, weight, "gradWeight"));
    ConvProblem p = problem;
    p.kind = ConvKind::kFilterGradient;
    SOFTNPU_RETURN_IF_ERROR(read_filter(*grad_weight, "gradWeight", &p.filter));
    SOFTNPU_RETURN_IF_ERROR(add_step(p, &steps));
  }
  if (mask[2]) {
    const Image& image = transposed ? problem.in : problem.out;
    SOFTNPU_RETURN_IF_ERROR(not_null(grad_bias, "gradBias"));
    SOFTNPU_RETURN_IF_ERROR(check_dtype(*grad_bias, grad.dtype, "gradBias"));
    if (grad_bias->dims.size() != 1 || grad_bias->dims[0] != image.channels) {
      return invalid(text("gradBias is ", describe(*grad_bias), ", where one value for each of ", image.channels,
                          " channels is needed"));
    }
    char* to = nullptr;
    SOFTNPU_RETURN_IF_ERROR(memory_of(*grad_bias, "gradBias", &to));
    add_channel_sums(image, problem.batch, to, grad_bias->strides[0], grad_bias->dtype, &steps);
  }
  *plan = plan_of(std::move(steps), describe(problem));
  return Status::ok();
}

Status conv_depthwise2d(const aclTensor& input, const aclTensor& weight, const aclIntArray& kernel_size,
                        const aclTensor* bias, const ConvAttributes& attributes, const aclTensor& out,
                        int8_t cube_math_type, Plan* plan) {
  if (weight.dims.size() != 4 || weight.dims[1] != 1 || input.dims.size() < 3) {
    return invalid(text("the input is ", describe(input), " and the weight ", describe(weight),
                        ", where [N, C, H, W] and [C * multiplier, 1, kH, kW] are needed"));
  }
  if (kernel_size.size() != 2 || kernel_size[0] != weight.dims[2] || kernel_size[1] != weight.dims[3]) {
    return invalid(text("kernelSize is not that of the weight ", describe(weight)));
  }
  const int64_t channels = input.dims[input.dims.size() - 3];
  const ConvAttributes all{
      attributes.stride, attributes.padding, attributes.dilation, false, nullptr, std::max<int64_t>(1, channels)};
  return convolution(input, weight, bias, all, out, cube_math_type, plan);
}

Status conv_tbc(const aclTensor& input, const aclTensor& weight, const aclTensor& bias, int64_t padding,
                const aclTensor& out, int8_t cube_math_type, Plan* plan) {
  for (const aclTensor* tensor : {&input, &weight, &out}) {
    if (tensor->dims.size() != 3) return invalid(text(describe(*tensor), " has not 3 dimensions"));
  }
  aclIntArray one;
  aclIntArray pad;
  one.values.push_back(1);
  pad.values.push_back(padding);
  return convolution(permute(input, {1, 2, 0}), permute(weight, {2, 1, 0}), &bias, {one, pad, one},
                     permute(out, {1, 2, 0}), cube_math_type, plan);
}

Status conv_tbc_backward(const aclTensor& grad, const aclTensor& input, const aclTensor& weight, int64_t padding,
                         int8_t cube_math_type, const aclTensor& grad_input, const aclTensor& grad_weight,
                         const aclTensor& grad_bias, Plan* plan) {
  for (const aclTensor* tensor : {&grad, &input, &weight, &grad_input, &grad_weight}) {
    if (tensor->dims.size() != 3) return invalid(text(describe(*tensor), " has not 3 dimensions"));
  }
  aclIntArray one;
  aclIntArray pad;
  aclBoolArray all;
  one.values.push_back(1);
  pad.values.push_back(padding);
  all.values = {true, true, true};
  const aclTensor input_gradient = permute(grad_input, {1, 2, 0});
  const aclTensor weight_gradient = permute(grad_weight, {2, 1, 0});
  return convolution_backward(permute(grad, {1, 2, 0}), permute(input, {1, 2, 0}), permute(weight, {2, 1, 0}),
                              {one, pad, one}, all, cube_math_type, &input_gradient, &weight_gradient, &grad_bias,
                              plan);
}

}  // namespace softnpu
