#include "ops/math/random/random.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>

#include "base/text.h"
#include "nnopbase/call_site.h"
#include "ops/core/describe.h"
#include "ops/core/dtype.h"
#include "ops/core/tensor_memory.h"
#include "ops/math/random/bernoulli.h"
#include "ops/math/random/draw.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

Status need(bool fits, const aclTensor& tensor, const char* types) {
  if (is_known(tensor.dtype) && fits) return Status::ok();
  return {ACLNN_ERR_PARAM_INVALID, text("the result is ", describe(tensor), "; ", types, " types are taken")};
}

Status need_floating(const aclTensor& tensor) { return need(is_floating(tensor.dtype), tensor, "floating-point"); }
Status need_real(const aclTensor& tensor) { return need(!is_complex(tensor.dtype), tensor, "real"); }

// The cost of one number in the operations of threads_for.
constexpr double kFlopsPerMaskNumber = 32;

// For contiguous elements: writes them directly.
template <typename T>
Status dense_bernoulli(const aclTensor& self, uint64_t limit, const RandomSeed& seed, Plan* plan) {
  RandomSource source;
  SOFTNPU_RETURN_IF_ERROR(RandomSource::make(seed, &source));
  void* data = nullptr;
  SOFTNPU_RETURN_IF_ERROR(tensor_memory(self, "selfRef", &data));
  const int64_t count = element_count(self);
  const double cost = kFlopsPerMaskNumber * static_cast<double>(count);
  plan->work = cost;
  plan->describe = [count] { return text("(", count, " elements)"); };
  plan->run = [source, limit, count, out = static_cast<T*>(data), threads = threads_for(cost)](void*) {
    const Bernoulli numbers{source.sequence(), limit};
    parallel_for(count, int64_t{1} << 14, threads, [&](int64_t first, int64_t last) {
      numbers.fill(static_cast<uint64_t>(first) / kNumbersPerBlock, static_cast<uint64_t>(last - first), out + first);
    });
    return Status::ok();
  };
  return Status::ok();
}

// Out of 2^32.
uint64_t share(double probability) { return static_cast<uint64_t>(std::ceil(std::ldexp(probability, 32))); }

// The bits of a float that the dtype keeps: numbers of [0, 1) are truncated to them, since rounding could yield 1.
uint32_t kept_bits(aclDataType dtype) {
  switch (dtype) {
    case ACL_FLOAT16: return ~uint32_t{0} << 13;
    case ACL_BF16: return ~uint32_t{0} << 16;
    default: return ~uint32_t{0};
  }
}

// The maximum of integers() without bounds.
uint64_t largest(aclDataType dtype) {
  switch (dtype) {
    case ACL_BOOL: return 1;
    case ACL_INT8: return INT8_MAX;
    case ACL_UINT8: return UINT8_MAX;
    case ACL_INT16: return INT16_MAX;
    case ACL_UINT16: return UINT16_MAX;
    case ACL_INT32: return INT32_MAX;
    case ACL_UINT32: return UINT32_MAX;
    case ACL_FLOAT16: return uint64_t{1} << 11;
    case ACL_BF16: return uint64_t{1} << 8;
    case ACL_FLOAT: return uint64_t{1} << 24;
    case ACL_DOUBLE: return uint64_t{1} << 53;
    default: return INT64_MAX;
  }
}

Status draw_integers(const aclTensor& self, int64_t from, uint64_t range, const RandomSeed& seed, Plan* plan) {
  Distribution integers{.as = ACL_INT64, .words_per_element = 2, .make = {}};
  integers.make = [from, range](const uint32_t* words, void* const* values, size_t count) {
    auto* out = static_cast<int64_t*>(values[0]);
    for (size_t i = 0; i < count; ++i) {
      out[i] = static_cast<int64_t>(static_cast<uint64_t>(from) + below(two_words(words + 2 * i), range));
    }
  };
  return plan_draw(seed, self, {}, std::move(integers), plan);
}

}  // namespace

Status bernoulli(const aclTensor& self, const aclScalar& prob, const RandomSeed& seed, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(need_real(self));
  const double p = prob.as_double();
  if (!(p >= 0 && p <= 1)) return {ACLNN_ERR_PARAM_INVALID, text("prob is ", p, ", not between 0 and 1")};
  const uint64_t limit = share(p);
  if (is_dense(self) && self.dtype == ACL_FLOAT) return dense_bernoulli<float>(self, limit, seed, plan);
  if (is_dense(self) && aclDataTypeSize(self.dtype) == 1) return dense_bernoulli<uint8_t>(self, limit, seed, plan);
  Distribution bits{.as = ACL_INT32, .words_per_element = 1, .make = {}};
  bits.make = [limit](const uint32_t* words, void* const* values, size_t count) {
    auto* out = static_cast<int32_t*>(values[0]);
    for (size_t i = 0; i < count; ++i) out[i] = words[i] < limit;
  };
  return plan_draw(seed, self, {}, std::move(bits), plan);
}

Status bernoulli(const aclTensor& self, const aclTensor& prob, const RandomSeed& seed, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(need_real(self));
  Distribution bits{.as = ACL_DOUBLE, .words_per_element = 1, .make = {}};
  bits.make = [](const uint32_t* words, void* const* values, size_t count) {
    auto* out = static_cast<double*>(values[0]);
    const auto* p = static_cast<const double*>(values[1]);
    for (size_t i = 0; i < count; ++i) out[i] = static_cast<double>(words[i]) * 0x1p-32 < p[i] ? 1 : 0;
  };
  // Written by several threads of a run; the next run begins anew.
  auto is_bad = std::make_shared<std::atomic<bool>>(false);
  bits.make = [is_bad, draw = std::move(bits.make)](const uint32_t* words, void* const* values, size_t count) {
    const auto* p = static_cast<const double*>(values[1]);
    if (!std::all_of(p, p + count, [](double x) { return x >= 0 && x <= 1; })) is_bad->store(true);
    draw(words, values, count);
  };
  const aclTensor* parameter = &prob;
  SOFTNPU_RETURN_IF_ERROR(plan_draw(seed, self, {&parameter, 1}, std::move(bits), plan));
  plan->describe = with_call_site(std::move(plan->describe));
  plan->run = [is_bad, draw = std::move(plan->run)](void* workspace) -> Status {
    SOFTNPU_RETURN_IF_ERROR(draw(workspace));
    if (!is_bad->exchange(false)) return Status::ok();
    return {ACLNN_ERR_PARAM_INVALID, "a probability is not between 0 and 1"};
  };
  return Status::ok();
}

Status uniform(const aclTensor& self, double from, double to, const RandomSeed& seed, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(need_floating(self));
  if (!(from <= to) || !std::isfinite(to - from)) {
    return {ACLNN_ERR_PARAM_INVALID, text("no numbers lie evenly from ", from, " to ", to)};
  }
  Distribution numbers;
  if (self.dtype == ACL_DOUBLE) {
    numbers.as = ACL_DOUBLE;
    numbers.words_per_element = 2;
    numbers.make = [from, range = to - from](const uint32_t* words, void* const* values, size_t count) {
      auto* out = static_cast<double*>(values[0]);
      for (size_t i = 0; i < count; ++i) out[i] = from + range * unit(two_words(words + 2 * i));
    };
  } else {
    numbers.make = [first = static_cast<float>(from), range = static_cast<float>(to - from),
                    kept = kept_bits(self.dtype)](const uint32_t* words, void* const* values, size_t count) {
      auto* out = static_cast<float*>(values[0]);
      for (size_t i = 0; i < count; ++i) {
        const float unit = static_cast<float>(static_cast<int32_t>(words[i] >> 8)) * 0x1p-24f;
        out[i] = first + range * std::bit_cast<float>(std::bit_cast<uint32_t>(unit) & kept);
      }
    };
  }
  return plan_draw(seed, self, {}, std::move(numbers), plan);
}

Status integers(const aclTensor& self, int64_t from, int64_t to, const RandomSeed& seed, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(need_real(self));
  if (from >= to) return {ACLNN_ERR_PARAM_INVALID, text("no integer lies from ", from, " on and below ", to)};
  return draw_integers(self, from, static_cast<uint64_t>(to) - static_cast<uint64_t>(from), seed, plan);
}

Status integers(const aclTensor& self, const RandomSeed& seed, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(need_real(self));
  return draw_integers(self, 0, largest(self.dtype) + 1, seed, plan);
}

}  // namespace softnpu
