#pragma once
// Splits float32 factors into numbers of eight significant bits: an upper and a lower one (the remainder). A product
// becomes three products of them; that of both lower ones is omitted. Each term then has an error below 2^-15 of its
// magnitude; with HF32 it is 2^-11. The three products are concatenated along the sum.

#include <cstdint>

#include "ops/matmul/problem.h"

namespace softnpu {

// Whether products that may have lower precision than float32 are split: if the CPU multiplies matrices of bfloat16
// (AMX), or as SOFTNPU_SPLIT says.
bool splits_products();

// Whether this product of float32 is split.
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
