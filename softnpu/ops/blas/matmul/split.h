#pragma once
// Splits float32 factors into numbers of eight significant bits: an upper and a lower one (the remainder). A product
// becomes three products of them; that of both lower ones is omitted. Each term then has an error below 2^-15 of its
// magnitude; with HF32 it is 2^-11. The three products are concatenated along the sum.

#include <cstdint>

#include "ops/blas/matmul/problem.h"

namespace softnpu {

// When products that may have lower precision than float32 are split, as SOFTNPU_SPLIT says. By default never, but
// timed against float32 where the CPU multiplies matrices of bfloat16 (AMX): splitting takes time and memory, which the
// faster products often do not make up for.
enum class Split : uint8_t { kNever, kTuned, kAlways };
Split split_mode();

// Whether this product of float32 is split: its planner asks for it (`splits`), and it is large enough.
bool is_split(const MatmulProblem& problem);

// The type of the parts: bfloat16, or float32 if oneDNN does not multiply bfloat16 on this CPU.
aclDataType split_dtype();

constexpr int64_t kSplitParts = 3;

enum class SplitFactor : uint8_t {
  kFirst,  // upper, upper, lower
  kSecond  // upper, lower, upper
};

// Writes the three parts of `from`, float32 and not in k_tiles, to `to`, of split_dtype(): the first part to `to`, the
// others at multiples of `between` elements. An infinite or NaN value is the first part, followed by zeros, so that the
// sum is the same as in float32.
void split_matrices(const Dims& batch, const GemmOperand& to, const GemmOperand& from, int64_t between,
                    SplitFactor factor, int threads);

}  // namespace softnpu
