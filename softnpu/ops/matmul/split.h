#pragma once
// float32 factors as numbers of eight digits in base two: a factor is an upper number and a lower one, what the upper
// one leaves, and a product is three products of them; that of the two lower ones is left out. Each term then loses
// less than 2^-15 of its magnitude, where HF32 loses 2^-11. The three stand behind one another in the sum.

#include <cstdint>

#include "ops/matmul/problem.h"

namespace softnpu {

// Whether what allows less than float32's precision goes that way: where the CPU multiplies matrices of bfloat16 (AMX),
// or as SOFTNPU_SPLIT says.
bool splits_products();

// Whether a product of float32 goes that way.
bool is_split(const MatmulProblem& problem);

// What the numbers are kept in: bfloat16, or float32 where oneDNN multiplies no bfloat16 on this CPU.
aclDataType split_dtype();

constexpr int64_t kSplitParts = 3;

enum class SplitFactor : uint8_t {
  kFirst,  // upper, upper, lower
  kSecond  // upper, lower, upper
};

// Writes the three parts of `from`, float32 and not in k_tiles, to `to`, of split_dtype(): the first part to where `to`
// lies, each other one `between` elements behind the one before. What is infinite or no number is the first part, with
// zeros behind it, so that the sum is what it is in float32.
void split_matrices(const Dims& batch, const GemmOperand& to, const GemmOperand& from, int64_t between,
                    SplitFactor factor, int threads);

}  // namespace softnpu
