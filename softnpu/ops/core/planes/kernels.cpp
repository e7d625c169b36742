#include "ops/core/planes/kernels.h"

#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/core/planes/kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Places = hn::RebindToSigned<Floats>;
using Float = hn::Vec<Floats>;
using Index = hn::Vec<Places>;

// A step's source.
template <PlaneLookup kLookup>
class Source {
 public:
  HWY_INLINE Source(const PlaneStep& step, const float* in, float* divided) : at_(in) {
    const Floats d;
    const size_t n = hn::Lanes(d);
    if constexpr (kLookup == PlaneLookup::kGather) {
      if (step.source_divisor == nullptr) return;
      for (size_t i = 0; i < step.source; ++i) divided[i] = in[i] / step.source_divisor[i];
      at_ = divided;
    } else {
      first_ = hn::LoadU(d, in);
      if (kLookup == PlaneLookup::kTwoVectors) second_ = hn::LoadU(d, in + n);
      if (step.source_divisor == nullptr) return;
      first_ = hn::Div(first_, hn::LoadU(d, step.source_divisor));
      if (kLookup == PlaneLookup::kTwoVectors) second_ = hn::Div(second_, hn::LoadU(d, step.source_divisor + n));
    }
  }

  // Places are not negative.
  HWY_INLINE Float at(Index location) const {
    const Floats d;
    const Places di;
    if constexpr (kLookup == PlaneLookup::kGather) {
      return hn::GatherIndex(d, at_, location);
    } else if constexpr (kLookup == PlaneLookup::kOneVector) {
      return hn::TableLookupLanes(first_, hn::IndicesFromVec(d, location));
    } else {
      const auto n = static_cast<int32_t>(hn::Lanes(d));
      const auto lanes = hn::IndicesFromVec(d, hn::And(location, hn::Set(di, n - 1)));
      const auto is_second = hn::RebindMask(d, hn::Gt(location, hn::Set(di, n - 1)));
      return hn::IfThenElse(is_second, hn::TableLookupLanes(second_, lanes), hn::TableLookupLanes(first_, lanes));
    }
  }

 private:
  const float* at_;
  Float first_ = hn::Zero(Floats());
  Float second_ = hn::Zero(Floats());
};

template <PlaneLookup kLookup, bool kWeighted, bool kRagged>
HWY_INLINE Float sum(const PlaneStep& step, const Source<kLookup>& source, size_t at) {
  const Floats d;
  const Places di;
  const size_t stride = step.vectors * hn::Lanes(d);
  const auto term = [&](size_t tap) HWY_ATTR {
    const Index location = hn::LoadU(di, step.index + tap * stride + at);
    if constexpr (!kRagged) return source.at(location);
    const Float value = source.at(hn::And(location, hn::Set(di, INT32_MAX)));
    return hn::IfThenZeroElse(hn::RebindMask(d, hn::Lt(location, hn::Zero(di))), value);
  };
  const auto weight = [&](size_t tap) HWY_ATTR { return hn::LoadU(d, step.weight + tap * stride + at); };
  Float sum = kWeighted ? hn::Mul(term(0), weight(0)) : term(0);
  for (size_t tap = 1; tap < step.taps; ++tap) {
    sum = kWeighted ? hn::MulAdd(term(tap), weight(tap), sum) : hn::Add(sum, term(tap));
  }
  return step.divisor == nullptr ? sum : hn::Div(sum, hn::LoadU(d, step.divisor + at));
}

template <PlaneLookup kLookup>
HWY_INLINE Float max(const PlaneStep& step, const Source<kLookup>& source, size_t at, int64_t* indices) {
  const Floats d;
  const Places di;
  const size_t n = hn::Lanes(d);
  const size_t stride = step.vectors * n;
  Index found = hn::LoadU(di, step.index + at);
  Float most = source.at(found);
  for (size_t tap = 1; tap < step.taps; ++tap) {
    const Index location = hn::LoadU(di, step.index + tap * stride + at);
    const Float value = source.at(location);
    const auto is_more = hn::Or(hn::Gt(value, most), hn::IsNaN(value));
    most = hn::IfThenElse(is_more, value, most);
    found = hn::IfThenElse(hn::RebindMask(di, is_more), location, found);
  }
  if (indices == nullptr) return most;
  HWY_ALIGN int32_t places[hn::MaxLanes(d)];
  hn::Store(hn::Sub(found, hn::LoadU(di, step.plane_begin + at)), di, places);
  for (size_t i = 0; i < n; ++i) indices[at + i] = places[i];
  return most;
}

template <PlaneLookup kLookup, typename Value>
HWY_INLINE void for_steps(const PlaneStep& step, const float* in, float* out, int64_t* indices, size_t steps,
                          const Value& value) {
  const Floats d;
  const size_t end = step.vectors * hn::Lanes(d);
  HWY_ALIGN float divided[kLookup == PlaneLookup::kGather ? kMaxDivided : 1];
  for (size_t i = 0; i < steps; ++i, in += step.source, out += step.result) {
    const Source<kLookup> source(step, in, divided);
    for (size_t at = 0; at < end; at += hn::Lanes(d)) hn::StoreU(value(source, at, indices), d, out + at);
    if (indices != nullptr) indices += step.result;
  }
}

template <PlaneLookup kLookup>
void run_with(const PlaneStep& step, const float* in, float* out, int64_t* indices, size_t steps) {
  const auto run = [&](const auto& value) HWY_ATTR { for_steps<kLookup>(step, in, out, indices, steps, value); };
  if (step.op == PlaneOp::kMax) {
    return run([&](const auto& source, size_t at, int64_t* found) HWY_ATTR { return max(step, source, at, found); });
  }
  const auto sums = [&]<bool kWeighted, bool kRagged>() HWY_ATTR {
    run([&](const auto& source, size_t at, int64_t*)
            HWY_ATTR { return sum<kLookup, kWeighted, kRagged>(step, source, at); });
  };
  const bool is_weighted = step.weight != nullptr;
  if (step.is_ragged)
    return is_weighted ? sums.template operator()<true, true>() : sums.template operator()<false, true>();
  return is_weighted ? sums.template operator()<true, false>() : sums.template operator()<false, false>();
}

void run(const PlaneStep& step, const float* in, float* out, int64_t* indices, size_t steps) {
  switch (step.lookup) {
    case PlaneLookup::kOneVector: return run_with<PlaneLookup::kOneVector>(step, in, out, indices, steps);
    case PlaneLookup::kTwoVectors: return run_with<PlaneLookup::kTwoVectors>(step, in, out, indices, steps);
    case PlaneLookup::kGather: return run_with<PlaneLookup::kGather>(step, in, out, indices, steps);
  }
}

size_t lanes() { return hn::Lanes(Floats()); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softnpu {
namespace {
HWY_EXPORT(run);
HWY_EXPORT(lanes);
}  // namespace

size_t plane_lanes() {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(lanes)();
}

void run_plane_steps(const PlaneStep& step, const float* in, float* out, int64_t* indices, size_t steps) {
  HWY_DYNAMIC_DISPATCH(run)(step, in, out, indices, steps);
}

}  // namespace softnpu
#endif
