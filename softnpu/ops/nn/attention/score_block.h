#pragma once
// Blocks of scores. Blocks of many queries are transposed: a row per key, a column per query, `width` floats per row, a
// multiple of kScoreColumns. So vectors run along the queries.

#include <cstddef>

#include "ops/math/elementwise/map_op.h"

namespace softnpu {

// A step of an online softmax over blocks of keys. `most` and `all`, per column: the greatest score so far and the sum
// of exponentials relative to it; both are updated. Scores become exponentials relative to the new greatest score;
// earlier sums must be multiplied by `rescale`.
void softmax_scores(float* scores, size_t keys, size_t width, float* most, float* all, float* rescale, MapKernel exp);

// scores = exp(scores - most) * inverse.
void weigh_scores(float* scores, size_t keys, size_t width, const float* most, const float* inverse, MapKernel exp);

// The same step for one query, whose scores are contiguous.
void softmax_row(float* scores, size_t keys, float* most, float* all, float* rescale, MapKernel exp);

// scores[i] = dot product of `query` and row i of `keys`; rows are `row` floats apart, of `channels` floats.
void dot_rows(const float* query, const float* keys, size_t row, size_t count, size_t channels, float* scores);

// gradients = weights * (gradients - delta).
void differentiate_scores(const float* weights, float* gradients, size_t keys, size_t width, const float* delta);

}  // namespace softnpu
