#pragma once
// Finds the elements of a line that may be among its first ones.

#include <cstdint>

namespace softnpu {

// Elements per comparison.
constexpr int64_t kCandidateBlock = 32;

// The first block of kCandidateBlock elements, `first` + a multiple of it on, that has a value above `bound` (below it
// if `smaller`) or a NaN: its position, with a bit in *found for each such value; otherwise `count`. The last block may
// be shorter.
template <typename T>
using FindCandidates = int64_t (*)(const T* values, int64_t first, int64_t count, T bound, bool smaller,
                                   uint32_t* found);

FindCandidates<float> find_float_candidates();
FindCandidates<int32_t> find_int_candidates();

}  // namespace softnpu
