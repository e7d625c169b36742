#include "ops/nn/attention/score_block.h"

#include <algorithm>

#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/nn/attention/score_block.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::CappedTag<float, 16>;

constexpr float kNone = -__builtin_inff();

void find_largest(const float* scores, size_t keys, size_t width, float* most) {
  const Tag tag;
  for (size_t j = 0; j < width; j += hn::Lanes(tag)) {
    auto largest = hn::LoadU(tag, most + j);
    for (size_t i = 0; i < keys; ++i) largest = hn::Max(hn::LoadU(tag, scores + i * width + j), largest);
    hn::StoreU(largest, tag, most + j);
  }
}

// If no key was visible yet the greatest score is -inf; exponentials relative to it are then 0.
void subtract(float* scores, size_t keys, size_t width, const float* most) {
  const Tag tag;
  for (size_t j = 0; j < width; j += hn::Lanes(tag)) {
    const auto largest = hn::LoadU(tag, most + j);
    const auto beside = hn::IfThenZeroElse(hn::Eq(largest, hn::Set(tag, kNone)), largest);
    for (size_t i = 0; i < keys; ++i) {
      float* at = scores + i * width + j;
      hn::StoreU(hn::Sub(hn::LoadU(tag, at), beside), tag, at);
    }
  }
}

void add_columns(const float* values, size_t keys, size_t width, const float* rescale, float* all) {
  const Tag tag;
  for (size_t j = 0; j < width; j += hn::Lanes(tag)) {
    auto sum = hn::Mul(hn::LoadU(tag, all + j), hn::LoadU(tag, rescale + j));
    for (size_t i = 0; i < keys; ++i) sum = hn::Add(sum, hn::LoadU(tag, values + i * width + j));
    hn::StoreU(sum, tag, all + j);
  }
}

void multiply(float* values, size_t keys, size_t width, const float* by) {
  const Tag tag;
  for (size_t j = 0; j < width; j += hn::Lanes(tag)) {
    const auto factor = hn::LoadU(tag, by + j);
    for (size_t i = 0; i < keys; ++i) {
      float* at = values + i * width + j;
      hn::StoreU(hn::Mul(hn::LoadU(tag, at), factor), tag, at);
    }
  }
}

void differentiate(const float* weights, float* gradients, size_t keys, size_t width, const float* delta) {
  const Tag tag;
  for (size_t j = 0; j < width; j += hn::Lanes(tag)) {
    const auto less = hn::LoadU(tag, delta + j);
    for (size_t i = 0; i < keys; ++i) {
      float* at = gradients + i * width + j;
      hn::StoreU(hn::Mul(hn::LoadU(tag, weights + i * width + j), hn::Sub(hn::LoadU(tag, at), less)), tag, at);
    }
  }
}

// Never reads past the end of a row.
float largest_of(const float* values, size_t count) {
  const Tag tag;
  const size_t lanes = hn::Lanes(tag);
  auto largest = hn::Set(tag, kNone);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) largest = hn::Max(hn::LoadU(tag, values + i), largest);
  float most = hn::GetLane(hn::MaxOfLanes(tag, largest));
  for (; i < count; ++i) most = values[i] > most ? values[i] : most;
  return most;
}

float sum_of(const float* values, size_t count) {
  const Tag tag;
  const size_t lanes = hn::Lanes(tag);
  auto sums = hn::Zero(tag);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) sums = hn::Add(hn::LoadU(tag, values + i), sums);
  float sum = hn::GetLane(hn::SumOfLanes(tag, sums));
  for (; i < count; ++i) sum += values[i];
  return sum;
}

template <size_t kRows>
HWY_INLINE void dots(const float* query, const float* keys, size_t row, size_t channels, float* scores) {
  const Tag tag;
  const size_t lanes = hn::Lanes(tag);
  hn::Vec<Tag> sums[kRows];
  for (size_t r = 0; r < kRows; ++r) sums[r] = hn::Zero(tag);
  size_t i = 0;
  for (; i + lanes <= channels; i += lanes) {
    const auto left = hn::LoadU(tag, query + i);
    for (size_t r = 0; r < kRows; ++r) sums[r] = hn::MulAdd(left, hn::LoadU(tag, keys + r * row + i), sums[r]);
  }
  for (size_t r = 0; r < kRows; ++r) {
    scores[r] = hn::GetLane(hn::SumOfLanes(tag, sums[r]));
    for (size_t at = i; at < channels; ++at) scores[r] += query[at] * keys[r * row + at];
  }
}

void dot_all(const float* query, const float* keys, size_t row, size_t count, size_t channels, float* scores) {
  size_t i = 0;
  for (; i + 4 <= count; i += 4) dots<4>(query, keys + i * row, row, channels, scores + i);
  for (; i < count; ++i) dots<1>(query, keys + i * row, row, channels, scores + i);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softnpu {
namespace {

HWY_EXPORT(find_largest);
HWY_EXPORT(subtract);
HWY_EXPORT(add_columns);
HWY_EXPORT(multiply);
HWY_EXPORT(differentiate);
HWY_EXPORT(largest_of);
HWY_EXPORT(sum_of);
HWY_EXPORT(dot_all);

void exponentials(MapKernel exp, float* values, size_t count) {
  const void* in[] = {values};
  exp(values, in, count, nullptr);
}

}  // namespace

void softmax_scores(float* scores, size_t keys, size_t width, float* most, float* all, float* rescale, MapKernel exp) {
  limit_simd_targets();
  for (size_t j = 0; j < width; ++j) rescale[j] = most[j];
  HWY_DYNAMIC_DISPATCH(find_largest)(scores, keys, width, most);
  HWY_DYNAMIC_DISPATCH(subtract)(rescale, 1, width, most);
  exponentials(exp, rescale, width);
  HWY_DYNAMIC_DISPATCH(subtract)(scores, keys, width, most);
  exponentials(exp, scores, keys * width);
  HWY_DYNAMIC_DISPATCH(add_columns)(scores, keys, width, rescale, all);
}

void softmax_row(float* scores, size_t keys, float* most, float* all, float* rescale, MapKernel exp) {
  limit_simd_targets();
  const float largest = std::max(*most, HWY_DYNAMIC_DISPATCH(largest_of)(scores, keys));
  const float beside = largest == -__builtin_inff() ? 0 : largest;
  *rescale = *most - beside;
  exponentials(exp, rescale, 1);
  for (size_t i = 0; i < keys; ++i) scores[i] -= beside;
  exponentials(exp, scores, keys);
  *all = *all * *rescale + HWY_DYNAMIC_DISPATCH(sum_of)(scores, keys);
  *most = largest;
}

void dot_rows(const float* query, const float* keys, size_t row, size_t count, size_t channels, float* scores) {
  limit_simd_targets();
  HWY_DYNAMIC_DISPATCH(dot_all)(query, keys, row, count, channels, scores);
}

void weigh_scores(float* scores, size_t keys, size_t width, const float* most, const float* inverse, MapKernel exp) {
  limit_simd_targets();
  HWY_DYNAMIC_DISPATCH(subtract)(scores, keys, width, most);
  exponentials(exp, scores, keys * width);
  HWY_DYNAMIC_DISPATCH(multiply)(scores, keys, width, inverse);
}

void differentiate_scores(const float* weights, float* gradients, size_t keys, size_t width, const float* delta) {
  limit_simd_targets();
  HWY_DYNAMIC_DISPATCH(differentiate)(weights, gradients, keys, width, delta);
}

}  // namespace softnpu
#endif
