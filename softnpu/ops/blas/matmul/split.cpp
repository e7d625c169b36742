#include "ops/blas/matmul/split.h"

#include <algorithm>
#include <array>
#include <bit>

#include "opgen/onednn_present.h"
#include "ops/blas/onednn/cpu.h"
#include "softnpu/softnpu.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

// Elements of the smallest piece for a thread.
constexpr int64_t kGrain = 1 << 14;
// Splitting pays if each number is used in at least this many products.
constexpr int64_t kMinSplit = 64;
constexpr uint32_t kExponent = 0x7f800000, kQuiet = 0x00400000, kUpper = 0xffff0000;

// Rounds to eight bits, ties to even; the largest numbers become infinite.
uint32_t rounded(uint32_t bits) { return (bits + 0x7fff + (bits >> 16 & 1)) & kUpper; }

struct Numbers {
  uint32_t upper, middle, lower;  // middle: a copy of upper if the number is finite
};

Numbers numbers_of(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  const bool finite = (bits & kExponent) != kExponent;
  const uint32_t special = (bits & kUpper) | ((bits & ~(kExponent | 0x80000000)) != 0 ? kQuiet : 0);
  // The largest numbers are truncated instead, in both parts, so that their sum stays finite.
  const bool fits = (rounded(bits) & kExponent) != kExponent;
  const uint32_t upper = fits ? rounded(bits) : bits & kUpper;
  const auto rest = std::bit_cast<uint32_t>(x - std::bit_cast<float>(upper));
  const uint32_t lower = fits ? rounded(rest) : rest & kUpper;
  return {finite ? upper : special, finite ? upper : 0, finite ? lower : 0};
}

uint16_t narrowed(uint32_t bits, uint16_t /*as*/) { return static_cast<uint16_t>(bits >> 16); }
float narrowed(uint32_t bits, float /*as*/) { return std::bit_cast<float>(bits); }

template <typename T>
struct Row {
  const float* from;
  int64_t from_stride;
  std::array<T*, kSplitParts> to;
  int64_t to_stride;
  int64_t count;
};

template <typename T>
void split_row(const Row<T>& row, SplitFactor factor) {
  T* const first = row.to[0];
  T* const second = row.to[factor == SplitFactor::kFirst ? 1 : 2];  // receives the middle part
  T* const third = row.to[factor == SplitFactor::kFirst ? 2 : 1];
  const auto run = [&](int64_t from_stride, int64_t to_stride) {
    for (int64_t i = 0; i < row.count; ++i) {
      const Numbers n = numbers_of(row.from[i * from_stride]);
      first[i * to_stride] = narrowed(n.upper, T{});
      second[i * to_stride] = narrowed(n.middle, T{});
      third[i * to_stride] = narrowed(n.lower, T{});
    }
  };
  if (row.from_stride == 1 && row.to_stride == 1) return run(1, 1);
  run(row.from_stride, row.to_stride);
}

template <typename T>
void split(const Dims& batch, const GemmOperand& to, const GemmOperand& from, int64_t between, SplitFactor factor,
           int threads) {
  int64_t count = 1;
  for (int64_t size : batch) count *= size;
  // Along the contiguous dimension of the source.
  const bool along_rows = from.rows > 1 && from.row_stride < from.k_stride;
  const int64_t rows = along_rows ? from.k : from.rows;
  const int64_t length = along_rows ? from.rows : from.k;
  const auto row_stride = [&](const GemmOperand& m) { return along_rows ? m.k_stride : m.row_stride; };
  const auto stride = [&](const GemmOperand& m) { return along_rows ? m.row_stride : m.k_stride; };
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, length));
  parallel_for(count * rows, grain, threads, [&](int64_t first, int64_t last) {
    for (int64_t at = first; at < last; ++at) {
      const int64_t index = at / rows;
      const int64_t row = at % rows;
      const int64_t source = batch_offset(batch, from.batch_strides, index) + row * row_stride(from);
      const int64_t target = batch_offset(batch, to.batch_strides, index) + row * row_stride(to);
      auto* location = reinterpret_cast<T*>(to.at(target));
      const Row<T> here{reinterpret_cast<const float*>(from.at(source)),
                        stride(from),
                        {location, location + between, location + 2 * between},
                        stride(to),
                        length};
      split_row(here, factor);
    }
  });
}

}  // namespace

Split split_mode() {
  if (SOFTNPU_HAS_ONEDNN == 0) return Split::kNever;  // only oneDNN multiplies the parts
  static const Split mode = [] {
    switch (softnpuSplitsProducts()) {
      case 0: return Split::kNever;
      case 1: return Split::kAlways;
      case 2: return Split::kTuned;
      default: return onednn_has_tiles() ? Split::kTuned : Split::kNever;
    }
  }();
  return mode;
}

bool is_split(const MatmulProblem& p) {
  const bool is_large = std::min({p.a.rows, p.b.rows, p.a.k}) >= kMinSplit;
  return p.allows_less && p.splits && is_large && !p.a.is_tiled() && !p.b.is_tiled() &&
         onednn_counts({p.a.k * kSplitParts});
}

aclDataType split_dtype() { return onednn_multiplies(ACL_BF16) ? ACL_BF16 : ACL_FLOAT; }

void split_matrices(const Dims& batch, const GemmOperand& to, const GemmOperand& from, int64_t between,
                    SplitFactor factor, int threads) {
  if (split_dtype() == ACL_BF16) return split<uint16_t>(batch, to, from, between, factor, threads);
  split<float>(batch, to, from, between, factor, threads);
}

}  // namespace softnpu
