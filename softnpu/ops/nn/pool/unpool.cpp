#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "base/text.h"
#include "ops/core/convert/element_rows.h"
#include "ops/core/describe.h"
#include "ops/core/dtype.h"
#include "ops/core/element.h"
#include "ops/core/invalid.h"
#include "ops/nn/conv/problem.h"
#include "ops/nn/pool/operators.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

// Values of a row per step.
constexpr int64_t kAtATime = 256;

class Unpool {
 public:
  Unpool(const Image& in, const Image& indices, const Image& out)
      : in_(in), indices_(indices), out_(out), reader_(indices.dtype, ACL_INT64) {}

  // Clears a channel and writes its values; for equal indices the last value wins. Ignores indices out of range.
  template <typename T>
  void run(int64_t n, int64_t c) const {
    T* const to = channel<T>(out_, n, c);
    each_row(out_, [&](int64_t, int64_t row) {
      for (int64_t x = 0; x < out_.sizes[2]; ++x) to[row + x * out_.strides[2]] = T{};
    });
    const T* const from = channel<T>(in_, n, c);
    const int64_t positions = out_.spatial_size();
    const bool is_dense = out_.strides[2] == 1 && out_.strides[1] == out_.sizes[2] &&
                          (out_.sizes[0] == 1 || out_.strides[0] == out_.sizes[1] * out_.sizes[2]);
    const char* const indices = channel<char>(indices_, n, c);
    const auto bytes = static_cast<int64_t>(aclDataTypeSize(indices_.dtype));
    each_row(in_, [&](int64_t index_row, int64_t row) {
      int64_t at[kAtATime];
      for (int64_t x = 0; x < in_.sizes[2]; x += kAtATime) {
        const int64_t count = std::min(kAtATime, in_.sizes[2] - x);
        reader_.read(indices + (index_row + x * indices_.strides[2]) * bytes, indices_.strides[2] * bytes,
                     static_cast<size_t>(count), at);
        for (int64_t i = 0; i < count; ++i) {
          if (at[i] < 0 || at[i] >= positions) continue;
          to[is_dense ? at[i] : location(at[i])] = from[row + (x + i) * in_.strides[2]];
        }
      }
    });
  }

 private:
  template <typename T>
  static T* channel(const Image& image, int64_t n, int64_t c) {
    const auto bytes = static_cast<int64_t>(aclDataTypeSize(image.dtype));
    return reinterpret_cast<T*>(image.data + (n * image.batch_stride + c * image.channel_stride) * bytes);
  }

  // Calls body(first element of the indices' row, first element of the image's row).
  template <typename Body>
  void each_row(const Image& image, const Body& body) const {
    for (int64_t z = 0; z < image.sizes[0]; ++z) {
      for (int64_t y = 0; y < image.sizes[1]; ++y) {
        body(z * indices_.strides[0] + y * indices_.strides[1], z * image.strides[0] + y * image.strides[1]);
      }
    }
  }

  int64_t location(int64_t index) const {
    const Triple& sizes = out_.sizes;
    return index % sizes[2] * out_.strides[2] + index / sizes[2] % sizes[1] * out_.strides[1] +
           index / (sizes[1] * sizes[2]) * out_.strides[0];
  }

  Image in_, indices_, out_;
  ElementReader reader_;
};

}  // namespace

Status max_unpool(size_t dims, const aclTensor& self, const aclTensor& indices, const aclIntArray& output_size,
                  const aclTensor& out, Plan* plan) {
  if (!is_known(self.dtype) || is_complex(self.dtype) || self.dtype == ACL_BOOL || self.dtype != out.dtype) {
    return invalid(text("no unpooling is defined from ", describe(self), " to ", describe(out)));
  }
  if ((indices.dtype != ACL_INT32 && indices.dtype != ACL_INT64) || indices.dims != self.dims) {
    return invalid(text("the indices are ", describe(indices), " of values ", describe(self),
                        ": int32 or int64 of one shape are needed"));
  }
  Image from;
  Image where;
  Image to;
  int64_t batch = 0;
  int64_t batch_out = 0;
  SOFTNPU_RETURN_IF_ERROR(read_image(self, dims, "the input", &batch, &from));
  SOFTNPU_RETURN_IF_ERROR(read_image(indices, dims, "the indices", &batch, &where));
  SOFTNPU_RETURN_IF_ERROR(read_image(out, dims, "the result", &batch_out, &to));
  if (batch != batch_out || from.channels != to.channels || self.dims.size() != out.dims.size()) {
    return invalid(
        text("the input is ", describe(self), " and the result ", describe(out), ": batch and channels differ"));
  }
  const size_t n = out.dims.size();
  if (output_size.size() != dims ||
      !std::equal(output_size.begin(), output_size.end(), out.dims.begin() + (n - dims))) {
    return invalid(text("outputSize is not that of ", describe(out)));
  }
  const int64_t count = batch * to.channels;
  const double flops = 8 * static_cast<double>(element_count(out) + element_count(self));
  const int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, to.spatial_size()));
  plan->work = flops;
  plan->describe = describe_later({&self, &out});
  plan->run = [unpool = std::make_shared<const Unpool>(from, where, to), count, grain, channels = to.channels,
               size = aclDataTypeSize(out.dtype), threads = threads_for(flops)](void*) {
    parallel_for(count, grain, threads, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        with_element(size, [&]<typename T>() { unpool->template run<T>(i / channels, i % channels); });
      }
    });
    return Status::ok();
  };
  return Status::ok();
}

}  // namespace softnpu
