#include "ops/nn/conv/problem.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/text.h"
#include "ops/core/convert/element_rows.h"
#include "ops/core/describe.h"
#include "ops/core/dtype.h"
#include "ops/core/format/nc1hwc0.h"
#include "ops/core/invalid.h"
#include "ops/core/tensor_memory.h"
#include "ops/core/view/view.h"

namespace softnpu {
namespace {

std::string shape(int64_t first, int64_t second, const Triple& sizes, size_t dims) {
  Dims all = {first, second};
  for (size_t i = 3 - dims; i < 3; ++i) all.push_back(sizes[i]);
  return describe_shape(std::span<const int64_t>(all.data(), all.size()));
}

}  // namespace

Status memory_of(const aclTensor& tensor, const char* role, char** out) {
  void* data = nullptr;
  SOFTNPU_RETURN_IF_ERROR(tensor_memory(tensor, role, &data));
  *out = static_cast<char*>(data);
  return Status::ok();
}

Status read_image(const aclTensor& tensor, size_t dims, const char* role, int64_t* batch, Image* out) {
  if (tensor.dims.size() != dims + 2 && tensor.dims.size() != dims + 1) {
    return invalid(
        text(role, " is ", describe(tensor), ", where ", dims + 1, " or ", dims + 2, " dimensions are needed"));
  }
  const aclTensor whole = tensor.dims.size() == dims + 1 ? unsqueeze(tensor, 0) : tensor;
  SOFTNPU_RETURN_IF_ERROR(memory_of(whole, role, &out->data));
  out->dtype = whole.dtype;
  *batch = whole.dims[0];
  out->batch_stride = whole.strides[0];
  out->channels = whole.dims[1];
  out->channel_stride = whole.strides[1];
  for (size_t i = 0; i < dims; ++i) {
    out->sizes[3 - dims + i] = whole.dims[2 + i];
    out->strides[3 - dims + i] = whole.strides[2 + i];
  }
  return Status::ok();
}

Status read_any_image(const aclTensor& tensor, size_t dims, const char* role, int64_t* batch, Image* out) {
  if (!is_blocked_format(tensor)) return read_image(tensor, dims, role, batch, out);
  SOFTNPU_RETURN_IF_ERROR(check_nc1hwc0(tensor, role));
  if (dims != 2)
    return invalid(text(role, " is ", describe(tensor), " where ", dims, " spatial dimensions are needed"));
  SOFTNPU_RETURN_IF_ERROR(memory_of(elements_in_memory_order(tensor), role, &out->data));
  out->is_blocked = true;
  out->dtype = tensor.dtype;
  *batch = tensor.dims[0];
  out->channels = tensor.dims[1];
  out->sizes = {1, tensor.dims[2], tensor.dims[3]};
  return Status::ok();
}

double ConvProblem::flops() const {
  return 2.0 * static_cast<double>(batch * out.channels) * static_cast<double>(out.spatial_size()) *
         static_cast<double>(in_channels() * filter.taps() + 1);
}

bool has_dense_planes(const Image& image, int64_t batch) {
  if (image.is_blocked) return false;
  const Triple& sizes = image.sizes;
  const std::array<std::pair<int64_t, int64_t>, 5> dims{{{batch, image.batch_stride},
                                                         {image.channels, image.channel_stride},
                                                         {sizes[0], image.strides[0]},
                                                         {sizes[1], image.strides[1]},
                                                         {sizes[2], image.strides[2]}}};
  int64_t next = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    const auto [size, stride] = dims[i];
    if (size != 1 && stride != next) return false;
    next *= size;
  }
  return true;
}

int64_t images_at_once(int64_t batch, int64_t bytes) {
  constexpr int64_t kBytes = int64_t{2} << 20;
  for (int64_t parts = 1; parts <= batch; ++parts) {
    const int64_t images = batch / parts;
    if (batch % parts != 0 || images * bytes > kBytes) continue;
    // If no divisor fits well, runs of a few small images would cost more than memory traffic.
    return images * bytes >= kBytes / 4 ? images : batch;
  }
  return 1;
}

Extents extents_of(const Image& image, int64_t batch) {
  if (image.is_blocked) return {{batch * image.channels * image.spatial_size(), 1}};
  Extents all = {{batch, image.batch_stride}, {image.channels, image.channel_stride}};
  for (size_t i = 0; i < 3; ++i) all.push_back({image.sizes[i], image.strides[i]});
  return all;
}

Extents extents_of(const Filter& filter, int64_t out_channels, int64_t in_channels) {
  Extents all = {{out_channels, filter.out_stride}, {in_channels, filter.in_stride}};
  for (size_t i = 0; i < 3; ++i) all.push_back({filter.sizes[i], filter.strides[i]});
  return all;
}

MemoryAccess memory_of(const Extents& extents, const char* data, size_t element_bytes) {
  int64_t last = 0;
  for (const Extent& extent : extents) last += (extent.size - 1) * extent.stride;
  return {data, data + (last + 1) * static_cast<int64_t>(element_bytes), 0, false};
}

MemoryAccess bias_access(const ConvProblem& p) {
  return memory_of({{p.output().channels, p.bias_stride}}, p.bias, aclDataTypeSize(p.bias_dtype));
}

void read_bias(const ConvProblem& p, float* to) {
  const ElementReader reader(p.bias_dtype, ACL_FLOAT);
  reader.read(p.bias, p.bias_stride * static_cast<ptrdiff_t>(aclDataTypeSize(p.bias_dtype)),
              static_cast<size_t>(p.output().channels), reinterpret_cast<char*>(to));
}

bool is_dense(const Extents& extents) {
  Extents order;
  for (const Extent& extent : extents) {
    if (extent.size != 1) order.push_back(extent);
  }
  std::sort(order.begin(), order.end(), [](const Extent& a, const Extent& b) { return a.stride < b.stride; });
  int64_t next = 1;
  for (const Extent& extent : order) {
    if (extent.stride != next) return false;
    next *= extent.size;
  }
  return true;
}

std::string describe(const ConvProblem& p) {
  const char* name = name_of(p.dtype);
  return text("(", name, shape(p.batch, p.in.channels, p.in.sizes, p.dims), " and ", name,
              shape(p.batch, p.out.channels, p.out.sizes, p.dims), " by ", name,
              shape(p.out.channels, p.in_channels(), p.filter.sizes, p.dims), ", groups ", p.groups, ")");
}

}  // namespace softnpu
