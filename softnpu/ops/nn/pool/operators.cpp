#include "ops/nn/pool/operators.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/text.h"
#include "ops/core/contiguous.h"
#include "ops/core/describe.h"
#include "ops/core/dtype.h"
#include "ops/core/format/nc1hwc0.h"
#include "ops/core/invalid.h"
#include "ops/core/listed.h"
#include "ops/core/nothing.h"
#include "ops/nn/conv/spatial.h"
#include "ops/nn/pool/argmax_bits.h"
#include "ops/nn/pool/pool.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

struct Sizes {
  Triple kernel, stride, padding, dilation;
};

WindowLine line_of(const Sizes& s, size_t i) { return {s.kernel[i], s.stride[i], s.padding[i], s.dilation[i]}; }

Status read_sizes(const PoolAttributes& a, Sizes* out) {
  SOFTNPU_RETURN_IF_ERROR(read_spatial(&a.kernel, "kernelSize", a.dims, 1, 1, &out->kernel));
  SOFTNPU_RETURN_IF_ERROR(read_spatial(a.stride.empty() ? &a.kernel : &a.stride, "stride", a.dims, 1, 1, &out->stride));
  SOFTNPU_RETURN_IF_ERROR(read_spatial(&a.padding, "padding", a.dims, 0, 0, &out->padding));
  SOFTNPU_RETURN_IF_ERROR(read_spatial(a.dilation, "dilation", a.dims, 1, 1, &out->dilation));
  for (size_t i = 0; i < 3; ++i) {
    if (2 * out->padding[i] > line_of(*out, i).extent().value()) {
      return invalid(text("the padding ", out->padding[i], " is more than half of the kernel ", out->kernel[i]));
    }
  }
  return Status::ok();
}

Range range_of(int64_t at, int64_t size, const Sizes& s, size_t i) {
  const int64_t begin = at * s.stride[i] - s.padding[i];
  Range range;
  range.begin = begin < 0 ? begin + (-begin + s.dilation[i] - 1) / s.dilation[i] * s.dilation[i] : begin;
  range.end = std::min(begin + (s.kernel[i] - 1) * s.dilation[i] + 1, size);
  range.padded = std::min(begin + s.kernel[i], size + s.padding[i]) - begin;
  range.end = std::max(range.end, range.begin);
  return range;
}

// Checks that the divisor of sums is not 0 and is representable in the compute type.
Status check_divisor(const PoolProblem& p) {
  if (p.kind != PoolKind::kAverage) return Status::ok();
  Checked most = 1;
  for (const std::vector<Range>& ranges : p.windows.ranges) {
    int64_t longest = 1;
    for (const Range& range : ranges) longest = std::max(longest, range.padded);
    most = most * longest;
  }
  if (p.divisor != 0) most = checked(p.divisor);
  const bool is_narrow = compute_type_of(p.dtype) == ComputeType::kI32;
  const auto is_divisor = [&](int64_t value) { return !is_narrow || static_cast<int32_t>(value) == value; };
  if (most.fits() && is_divisor(most.value())) return Status::ok();
  return invalid(text("averages of ", name_of(p.dtype), " over windows of more values than the type counts"));
}

Status fixed_windows(const PoolAttributes& a, PoolProblem* p) {
  Sizes s;
  SOFTNPU_RETURN_IF_ERROR(read_sizes(a, &s));
  p->windows.step = s.dilation;
  for (size_t i = 0; i < 3; ++i) {
    int64_t count = 0;
    SOFTNPU_RETURN_IF_ERROR(count_windows(p->in.sizes[i], line_of(s, i), a.ceil_mode, &count));
    if (count < 1 || p->out.sizes[i] != count) {
      return invalid(text("a size of the result is ", p->out.sizes[i], ", where windows of ", s.kernel[i],
                          " over an input of ", p->in.sizes[i], " are ", count));
    }
    SOFTNPU_RETURN_IF_ERROR(check_listed(checked(count), "windows"));
    for (int64_t at = 0; at < count; ++at) p->windows.ranges[i].push_back(range_of(at, p->in.sizes[i], s, i));
  }
  return check_divisor(*p);
}

Status even_windows(PoolProblem* p) {
  for (size_t i = 0; i < 3; ++i) {
    const int64_t size = p->in.sizes[i];
    const int64_t count = p->out.sizes[i];
    if (size < 1 && count > 0) return invalid("the input has a size of 0");
    SOFTNPU_RETURN_IF_ERROR(check_listed(checked(count), "windows"));
    for (int64_t at = 0; at < count; ++at) {
      const auto begin = static_cast<int64_t>(static_cast<__int128>(at) * size / count);
      const auto end = static_cast<int64_t>((static_cast<__int128>(at + 1) * size + count - 1) / count);
      p->windows.ranges[i].push_back({begin, end, end - begin});
    }
  }
  return check_divisor(*p);
}

// `in` and `out` are images of one dtype, with the same batch and channels.
Status read_images(PoolKind kind, size_t dims, const aclTensor& in, const aclTensor& out, PoolProblem* p) {
  for (const aclTensor* tensor : {&in, &out}) {
    if (!is_known(tensor->dtype) || is_complex(tensor->dtype) || tensor->dtype == ACL_BOOL ||
        tensor->dtype != in.dtype) {
      return invalid(text("no pooling is defined from ", describe(in), " to ", describe(out)));
    }
  }
  p->kind = kind;
  p->dtype = in.dtype;
  const bool is_blocked = is_blocked_format(in) || is_blocked_format(out);
  if (is_blocked) {  // each block is a batch of images with 16 channels
    SOFTNPU_RETURN_IF_ERROR(check_nc1hwc0(in, "the input"));
    SOFTNPU_RETURN_IF_ERROR(check_nc1hwc0(out, "the result"));
  }
  int64_t batch = 0;
  SOFTNPU_RETURN_IF_ERROR(read_image(is_blocked ? blocks_as_images(in) : in, dims, "the input", &p->batch, &p->in));
  SOFTNPU_RETURN_IF_ERROR(read_image(is_blocked ? blocks_as_images(out) : out, dims, "the result", &batch, &p->out));
  if (batch == p->batch && p->in.channels == p->out.channels && in.dims.size() == out.dims.size()) return Status::ok();
  return invalid(text("the input is ", describe(in), " and the result ", describe(out), ": batch and channels differ"));
}

Status read_indices(size_t dims, const aclTensor& indices, const aclTensor& out, PoolProblem* p) {
  int64_t batch = 0;
  if ((indices.dtype != ACL_INT32 && indices.dtype != ACL_INT64) || indices.dims != out.dims) {
    return invalid(text("the indices are ", describe(indices), ", where int32 or int64 ", "of the shape ",
                        describe_shape({out.dims.data(), out.dims.size()}), " is needed"));
  }
  if (!is_blocked_format(out)) return read_image(indices, dims, "the indices", &batch, &p->indices);
  if (out.dims[1] % kImageBlock != 0 || indices.strides[0] != indices.dims[1] * indices.strides[1]) {
    return invalid(text("the indices ", describe(indices), " of NC1HWC0 images are of part of a block"));
  }
  aclTensor blocks = indices;
  blocks.dims[0] = p->batch;
  blocks.dims[1] = kImageBlock;
  blocks.strides[0] = kImageBlock * indices.strides[1];
  return read_image(blocks, dims, "the indices", &batch, &p->indices);
}

Status not_blocked(const aclTensor& image) {
  if (!is_blocked_format(image)) return Status::ok();
  return invalid("a mask is of images without blocks");
}

Status read_mask(const PoolAttributes& a, const aclTensor& mask, PoolProblem* p) {
  Sizes s;
  SOFTNPU_RETURN_IF_ERROR(read_sizes(a, &s));
  const int64_t taps = s.kernel[1] * s.kernel[2];
  int64_t bytes = 0;
  SOFTNPU_RETURN_IF_ERROR(
      fit(checked(taps) * ((p->out.spatial_size() + 15) / 16 + 1) * 32, "the mask of a channel", &bytes));
  int64_t next = 1;
  bool contiguous = true;
  for (size_t i = mask.dims.size(); i-- > 0;) {
    contiguous = contiguous && (mask.dims[i] == 1 || mask.strides[i] == next);
    next *= mask.dims[i];
  }
  if (aclDataTypeSize(mask.dtype) != 1 || !contiguous || !(checked(p->batch) * p->in.channels * bytes).is(next)) {
    return invalid(
        text("the mask is ", describe(mask), ", where ", bytes, " contiguous int8 values for each channel are needed"));
  }
  if (taps == 1) return Status::ok();
  SOFTNPU_RETURN_IF_ERROR(memory_of(mask, "the mask", &p->indices.data));
  if (reinterpret_cast<uintptr_t>(p->indices.data) % sizeof(int32_t) != 0) {
    return invalid("the mask does not begin at a multiple of 4 bytes");
  }
  p->indices.dtype = ACL_INT32;
  p->indices.channels = p->in.channels;
  p->indices.channel_stride = bytes / 4;
  p->indices.batch_stride = p->in.channels * bytes / 4;
  p->indices.sizes = p->out.sizes;
  p->indices.strides = {0, p->out.sizes[2], 1};
  return Status::ok();
}

// Converts between `words` in memory, as in ArgmaxBits, and the plan's own indices.
struct BitsTask {
  std::mutex mutex;  // held by a launch: those of one plan share the indices
  ArgmaxBits bits;
  uint16_t* words = nullptr;
  std::vector<int32_t> indices;
  int64_t channels = 0;

  void for_channels(bool encodes) {
    const int threads = threads_for(32.0 * static_cast<double>(indices.size()));
    parallel_for(channels, 1, threads, [&](int64_t first, int64_t last) {
      for (int64_t c = first; c < last; ++c) {
        int32_t* own = indices.data() + c * bits.windows();
        uint16_t* from = words + c * bits.channel_words();
        encodes ? bits.encode(own, from) : bits.decode(from, own);
      }
    });
  }
};

Status read_bits(const PoolAttributes& a, const aclTensor& tensor, PoolProblem* p, std::shared_ptr<BitsTask>* out) {
  Sizes s;
  SOFTNPU_RETURN_IF_ERROR(read_sizes(a, &s));
  auto task = std::make_shared<BitsTask>();
  task->bits = {p->in.sizes, p->out.sizes, s.kernel, s.stride, s.padding, s.dilation};
  task->channels = p->batch * p->in.channels;
  int64_t words_of_channel = 0;
  int64_t needed = 0;
  SOFTNPU_RETURN_IF_ERROR(fit(task->bits.words(), "the mask of a channel", &words_of_channel));
  SOFTNPU_RETURN_IF_ERROR(fit(task->bits.words() * task->channels, "the mask", &needed));
  if (aclDataTypeSize(tensor.dtype) != 2 || element_count(tensor) < needed || !is_contiguous(tensor)) {
    return invalid(text("the mask is ", describe(tensor), ", where ", words_of_channel,
                        " contiguous words of 16 bits for each channel are needed"));
  }
  aclTensor words = tensor;
  words.format = ACL_FORMAT_ND;  // torch_npu declares a blocked format; the words are the operator's own
  char* memory = nullptr;
  SOFTNPU_RETURN_IF_ERROR(memory_of(words, "the mask", &memory));
  task->words = reinterpret_cast<uint16_t*>(memory);
  task->indices.resize(static_cast<size_t>(task->channels * task->bits.windows()));
  p->indices.data = reinterpret_cast<char*>(task->indices.data());
  p->indices.dtype = ACL_INT32;
  p->indices.channels = p->in.channels;
  p->indices.channel_stride = task->bits.windows();
  p->indices.batch_stride = p->in.channels * task->bits.windows();
  p->indices.sizes = p->out.sizes;
  p->indices.strides = {0, p->out.sizes[2], 1};
  *out = std::move(task);
  return Status::ok();
}

bool is_empty(const Image& image, int64_t batch) { return batch * image.channels * image.spatial_size() == 0; }

Status finish(PoolProblem problem, bool backward, const aclTensor& in, const aclTensor& out, Plan* plan) {
  if (is_empty(backward ? problem.in : problem.out, problem.batch)) {
    return plan_nothing(plan);
  }
  *plan = backward ? plan_pool_backward(std::move(problem)) : plan_pool(std::move(problem));
  plan->describe = describe_later({&in, &out});
  return Status::ok();
}

Status check_like(const aclTensor& gradient, const aclTensor& self) {
  if (gradient.dims == self.dims && gradient.dtype == self.dtype) return Status::ok();
  return invalid(text("the input is ", describe(self), " and its gradient ", describe(gradient)));
}

Status check_output_size(const aclIntArray& size, const aclTensor& out, size_t dims) {
  bool fits = size.size() == dims && out.dims.size() >= dims;
  for (size_t i = 0; fits && i < dims; ++i) fits = out.dims[out.dims.size() - dims + i] == size[i];
  return fits ? Status::ok() : invalid(text("outputSize is not that of the result ", describe(out)));
}

}  // namespace

Status max_pool(const PoolAttributes& a, const aclTensor& self, const aclTensor& out, const aclTensor& indices,
                Plan* plan) {
  PoolProblem p;
  SOFTNPU_RETURN_IF_ERROR(read_images(PoolKind::kMax, a.dims, self, out, &p));
  SOFTNPU_RETURN_IF_ERROR(fixed_windows(a, &p));
  SOFTNPU_RETURN_IF_ERROR(read_indices(a.dims, indices, out, &p));
  return finish(std::move(p), false, self, out, plan);
}

Status max_pool_values(const PaddedPool& a, const aclTensor& self, const aclTensor& out, Plan* plan) {
  aclIntArray padding;
  if (a.auto_pad != 0) return invalid(text("autoPad is ", a.auto_pad, ", where 0 is taken: the padding as stated"));
  if (a.pads.size() != 4) return invalid(text("pads hold ", a.pads.size(), " numbers, where 4 are needed"));
  for (size_t i = 0; i < a.pads.size(); i += 2) {
    if (a.pads[i] != a.pads[i + 1]) {
      return invalid(text("the padding before a dimension is ", a.pads[i], " and after it ", a.pads[i + 1],
                          "; they must be equal"));
    }
    padding.values.push_back(a.pads[i]);
  }
  const PoolAttributes attributes{2, a.kernel, a.stride, padding, &a.dilation, a.ceil_mode};
  PoolProblem p;
  SOFTNPU_RETURN_IF_ERROR(read_images(PoolKind::kMax, attributes.dims, self, out, &p));
  SOFTNPU_RETURN_IF_ERROR(fixed_windows(attributes, &p));
  return finish(std::move(p), false, self, out, plan);
}

Status max_pool_backward(const PoolAttributes& a, const aclTensor& grad, const aclTensor& self,
                         const aclTensor& indices, const aclTensor& grad_input, Plan* plan) {
  PoolProblem p;
  SOFTNPU_RETURN_IF_ERROR(check_like(grad_input, self));
  SOFTNPU_RETURN_IF_ERROR(read_images(PoolKind::kMax, a.dims, grad_input, grad, &p));
  SOFTNPU_RETURN_IF_ERROR(fixed_windows(a, &p));
  SOFTNPU_RETURN_IF_ERROR(read_indices(a.dims, indices, grad, &p));
  return finish(std::move(p), true, grad_input, grad, plan);
}

Status max_pool_mask(const PoolAttributes& a, const aclTensor& self, const aclTensor& out, const aclTensor& mask,
                     Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(not_blocked(self));
  PoolProblem p;
  SOFTNPU_RETURN_IF_ERROR(read_images(PoolKind::kMax, a.dims, self, out, &p));
  SOFTNPU_RETURN_IF_ERROR(fixed_windows(a, &p));
  SOFTNPU_RETURN_IF_ERROR(read_mask(a, mask, &p));
  return finish(std::move(p), false, self, out, plan);
}

Status max_pool_mask_backward(const PoolAttributes& a, const aclTensor& grad, const aclTensor& self,
                              const aclTensor& mask, const aclTensor& grad_input, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(not_blocked(self));
  PoolProblem p;
  SOFTNPU_RETURN_IF_ERROR(check_like(grad_input, self));
  SOFTNPU_RETURN_IF_ERROR(read_images(PoolKind::kMax, a.dims, grad_input, grad, &p));
  SOFTNPU_RETURN_IF_ERROR(fixed_windows(a, &p));
  SOFTNPU_RETURN_IF_ERROR(read_mask(a, mask, &p));
  return finish(std::move(p), true, grad_input, grad, plan);
}

Status max_pool_bits(const PoolAttributes& a, const aclTensor& self, const aclTensor& out, const aclTensor& bits,
                     Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(not_blocked(self));
  PoolProblem p;
  std::shared_ptr<BitsTask> task;
  SOFTNPU_RETURN_IF_ERROR(read_images(PoolKind::kMax, 2, self, out, &p));
  SOFTNPU_RETURN_IF_ERROR(fixed_windows(a, &p));
  SOFTNPU_RETURN_IF_ERROR(read_bits(a, bits, &p, &task));
  SOFTNPU_RETURN_IF_ERROR(finish(std::move(p), false, self, out, plan));
  plan->run = [task, pool = std::move(plan->run)](void* workspace) {
    std::lock_guard lock(task->mutex);
    SOFTNPU_RETURN_IF_ERROR(pool(workspace));
    task->for_channels(true);
    return Status::ok();
  };
  return Status::ok();
}

Status max_pool_bits_backward(const PoolAttributes& a, const aclTensor& grad, const aclTensor& self,
                              const aclTensor& bits, const aclTensor& grad_input, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(not_blocked(self));
  PoolProblem p;
  std::shared_ptr<BitsTask> task;
  SOFTNPU_RETURN_IF_ERROR(check_like(grad_input, self));
  SOFTNPU_RETURN_IF_ERROR(read_images(PoolKind::kMax, 2, grad_input, grad, &p));
  SOFTNPU_RETURN_IF_ERROR(fixed_windows(a, &p));
  SOFTNPU_RETURN_IF_ERROR(read_bits(a, bits, &p, &task));
  SOFTNPU_RETURN_IF_ERROR(finish(std::move(p), true, grad_input, grad, plan));
  plan->run = [task, pool = std::move(plan->run)](void* workspace) {
    std::lock_guard lock(task->mutex);
    task->for_channels(false);
    return pool(workspace);
  };
  return Status::ok();
}

Status avg_pool(const PoolAttributes& a, const aclTensor& self, bool counts_padding, int64_t divisor,
                const aclTensor& out, Plan* plan) {
  PoolProblem p;
  p.counts_padding = counts_padding;
  p.divisor = divisor;
  SOFTNPU_RETURN_IF_ERROR(read_images(PoolKind::kAverage, a.dims, self, out, &p));
  SOFTNPU_RETURN_IF_ERROR(fixed_windows(a, &p));
  return finish(std::move(p), false, self, out, plan);
}

Status avg_pool_backward(const PoolAttributes& a, const aclTensor& grad, const aclTensor& self, bool counts_padding,
                         int64_t divisor, const aclTensor& grad_input, Plan* plan) {
  PoolProblem p;
  p.counts_padding = counts_padding;
  p.divisor = divisor;
  SOFTNPU_RETURN_IF_ERROR(check_like(grad_input, self));
  SOFTNPU_RETURN_IF_ERROR(read_images(PoolKind::kAverage, a.dims, grad_input, grad, &p));
  SOFTNPU_RETURN_IF_ERROR(fixed_windows(a, &p));
  return finish(std::move(p), true, grad_input, grad, plan);
}

Status adaptive_max_pool(size_t dims, const aclTensor& self, const aclIntArray& output_size, const aclTensor& out,
                         const aclTensor& indices, Plan* plan) {
  PoolProblem p;
  SOFTNPU_RETURN_IF_ERROR(read_images(PoolKind::kMax, dims, self, out, &p));
  SOFTNPU_RETURN_IF_ERROR(check_output_size(output_size, out, dims));
  SOFTNPU_RETURN_IF_ERROR(even_windows(&p));
  SOFTNPU_RETURN_IF_ERROR(read_indices(dims, indices, out, &p));
  return finish(std::move(p), false, self, out, plan);
}

Status adaptive_max_pool_backward(size_t dims, const aclTensor& grad, const aclTensor& self, const aclTensor& indices,
                                  const aclTensor& grad_input, Plan* plan) {
  PoolProblem p;
  SOFTNPU_RETURN_IF_ERROR(check_like(grad_input, self));
  SOFTNPU_RETURN_IF_ERROR(read_images(PoolKind::kMax, dims, grad_input, grad, &p));
  SOFTNPU_RETURN_IF_ERROR(even_windows(&p));
  SOFTNPU_RETURN_IF_ERROR(read_indices(dims, indices, grad, &p));
  return finish(std::move(p), true, grad_input, grad, plan);
}

Status adaptive_avg_pool(size_t dims, const aclTensor& self, const aclIntArray& output_size, const aclTensor& out,
                         Plan* plan) {
  PoolProblem p;
  SOFTNPU_RETURN_IF_ERROR(read_images(PoolKind::kAverage, dims, self, out, &p));
  SOFTNPU_RETURN_IF_ERROR(check_output_size(output_size, out, dims));
  SOFTNPU_RETURN_IF_ERROR(even_windows(&p));
  return finish(std::move(p), false, self, out, plan);
}

Status adaptive_avg_pool_backward(size_t dims, const aclTensor& grad, const aclTensor& self,
                                  const aclTensor& grad_input, Plan* plan) {
  PoolProblem p;
  SOFTNPU_RETURN_IF_ERROR(check_like(grad_input, self));
  SOFTNPU_RETURN_IF_ERROR(read_images(PoolKind::kAverage, dims, grad_input, grad, &p));
  SOFTNPU_RETURN_IF_ERROR(even_windows(&p));
  return finish(std::move(p), true, grad_input, grad, plan);
}

}  // namespace softnpu
