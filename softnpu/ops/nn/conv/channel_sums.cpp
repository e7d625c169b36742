#include <complex>
#include <memory>
#include <type_traits>

#include "ops/core/dtype.h"
#include "ops/nn/conv/rows.h"
#include "ops/nn/conv/step.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

// The accumulator type for T: double for float32, so that the result's error does not depend on the sum's length.
template <typename T>
struct SumType {
  using type = T;
};
template <>
struct SumType<float> {
  using type = double;
};
template <>
struct SumType<std::complex<float>> {
  using type = std::complex<double>;
};

template <typename T>
T sum_of_channel(const ConvProblem& p, const ImageRows& rows, int64_t channel) {
  T values[ImageRows::kMaxPositions];
  typename SumType<T>::type sum{};
  for (int64_t batch = 0; batch < p.batch; ++batch) {
    const int64_t positions = p.out.spatial_size();
    for (int64_t at = 0; at < positions; at += ImageRows::kMaxPositions) {
      const int64_t here = std::min(ImageRows::kMaxPositions, positions - at);
      rows.out(batch, channel, at, here, reinterpret_cast<char*>(values));
      for (int64_t i = 0; i < here; ++i) sum += values[i];
    }
  }
  return static_cast<T>(sum);
}

}  // namespace

Step channel_sums(const Image& image, int64_t batch, char* to, int64_t stride, aclDataType dtype) {
  ConvProblem problem;
  problem.dtype = image.dtype;
  problem.batch = batch;
  problem.out = image;
  problem.in = image;
  const double flops = static_cast<double>(batch * image.channels) * static_cast<double>(image.spatial_size());
  const int threads = threads_for(flops);
  return {0, flops, [p = std::make_shared<const ConvProblem>(problem), to, stride, dtype, threads](char*) {
            const ImageRows rows(*p);
            const ElementWriter writer(p->dtype, dtype);
            const auto size = static_cast<int64_t>(aclDataTypeSize(dtype));
            parallel_for(p->out.channels, 1, threads, [&](int64_t first, int64_t last) {
              with_compute_type(compute_type_of(p->dtype), [&]<typename T>() {
                for (int64_t channel = first; channel < last; ++channel) {
                  const T sum = sum_of_channel<T>(*p, rows, channel);
                  writer.write(&sum, 1, to + channel * stride * size, size);
                }
              });
            });
          }};
}

}  // namespace softnpu
