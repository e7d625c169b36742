#pragma once
// Blocks of scores. Those of many queries are transposed: a row for each key, a column for each query, `width` floats
// from row to row, which is a multiple of kGemmColumns; what is done for each query goes along the vectors.

#include <cstddef>

#include "ops/elementwise/map_op.h"

namespace softnpu {

// A step of a softmax that meets its keys block by block. `most` and `all`, of each column: the greatest score so far
// and the sum of exponentials beside it; both are brought up to date. Scores become exponentials beside the new
// greatest score; what was summed beside the old one is to be multiplied with `rescale`.
void softmax_scores(float* scores, size_t keys, size_t width, float* most, float* all, float* rescale, MapKernel exp);

// Scores become exp(score - most) inverse.
void weigh_scores(float* scores, size_t keys, size_t width, const float* most, const float* inverse, MapKernel exp);

// The same step for one query, whose scores lie behind one another.
void softmax_row(float* scores, size_t keys, float* most, float* all, float* rescale, MapKernel exp);

// scores[i] = the product of `query` and row i of `keys`, `row` floats apart, of `channels` floats.
void dot_rows(const float* query, const float* keys, size_t row, size_t count, size_t channels, float* scores);

// gradients = weights (gradients - delta).
void differentiate_scores(const float* weights, float* gradients, size_t keys, size_t width, const float* delta);

}  // namespace softnpu
