#include "ops/nn/recurrent/product.h"

namespace softnpu {
namespace {

// `along` is the distance between values of one sum, `side` that between sums.
class Source final : public GemmSource {
 public:
  Source(const float* data, int64_t along, int64_t side) : data_(data), along_(along), side_(side) {}

  void pack(int64_t /*batch*/, int64_t k, int64_t depth, int64_t j, int64_t count, void* to,
            int64_t pitch) const override {
    auto* out = static_cast<float*>(to);
    const float* from = data_ + k * along_ + j * side_;
    if (side_ <= along_) {
      for (int64_t x = 0; x < depth; ++x) {
        for (int64_t y = 0; y < count; ++y) out[x * pitch + y] = from[x * along_ + y * side_];
      }
      return;
    }
    for (int64_t y = 0; y < count; ++y) {
      for (int64_t x = 0; x < depth; ++x) out[x * pitch + y] = from[x * along_ + y * side_];
    }
  }

 private:
  const float* data_;
  int64_t along_;
  int64_t side_;
};

class Sink final : public GemmSink {
 public:
  Sink(const FloatMatrix& c, bool adds) : c_(c), adds_(adds) {}

  void store(int64_t /*batch*/, int64_t i, int64_t j, int64_t count, void* sums) const override {
    const auto* from = static_cast<const float*>(sums);
    float* to = c_.data + i * c_.row + j * c_.column;
    for (int64_t x = 0; x < count; ++x) {
      to[x * c_.column] = adds_ ? to[x * c_.column] + from[x] : from[x];
    }
  }

 private:
  FloatMatrix c_;
  bool adds_;
};

}  // namespace

void multiply(const GemmSizes& sizes, const FloatMatrix& a, const FloatMatrix& b, const FloatMatrix& c, bool adds,
              int threads) {
  gemm(ComputeType::kF32, sizes, Source(a.data, a.column, a.row), Source(b.data, b.row, b.column), Sink(c, adds),
       threads);
}

}  // namespace softnpu
