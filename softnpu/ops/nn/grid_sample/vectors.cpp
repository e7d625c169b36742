#include "ops/nn/grid_sample/vectors.h"

#include <algorithm>

#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/nn/grid_sample/vectors.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
using Tag = hn::CappedTag<T, kSampledBlock>;
template <typename T>
using LocationTag = hn::RebindToSigned<Tag<T>>;
template <typename T>
using Lane = hn::Vec<Tag<T>>;
template <typename T>
using Location = hn::Vec<LocationTag<T>>;
template <typename T>
using LocationLane = hn::TFromD<LocationTag<T>>;

// The values of a tensor that belong to a block's positions, relative to the block's first image.
struct BlockPlaces {
  int64_t first = 0;
  int64_t step = 0;
  const int64_t* listed = nullptr;  // where the block has several images

  HWY_INLINE int64_t at(size_t i) const {
    return listed != nullptr ? listed[i] : first + static_cast<int64_t>(i) * step;
  }
};

template <typename T>
struct Block {
  int64_t image = 0;  // the first one
  size_t count = 0;
  BlockPlaces out;
  BlockPlaces grid_grad;
  HWY_ALIGN T coordinate[3][kSampledBlock];
  HWY_ALIGN LocationLane<T> in[kSampledBlock] = {};
  HWY_ALIGN LocationLane<T> in_grad[kSampledBlock] = {};
  int64_t out_list[kSampledBlock];
  int64_t grid_grad_list[kSampledBlock];
};

// Coordinates of `count` positions of an image, from lane `lane` on.
template <typename T>
HWY_INLINE void fill_coordinates(const GridSampleVectors<T>& s, const T* from, int64_t count, int64_t lane,
                                 Block<T>* block) {
  const int64_t step = s.grid.strides[2];
  for (size_t d = 0; d < s.dims; ++d) {
    const T* const at = from + static_cast<int64_t>(d) * s.grid.channel_stride;
    T* const to = block->coordinate[2 - d] + lane;
    for (int64_t k = 0; k < count; ++k) to[k] = at[k * step];
  }
}

// Lists the places of a block that has several images.
template <typename T>
void fill_images(const GridSampleVectors<T>& s, int64_t p, const T* grid, Block<T>* block) {
  const auto count = static_cast<int64_t>(block->count);
  int64_t image = 0;
  for (int64_t i = 0; i < count; ++image, p = 0) {
    const int64_t end = std::min(count, i + s.positions - p);
    fill_coordinates(s, grid + image * s.grid.batch_stride + p * s.grid.strides[2], end - i, i, block);
    const int64_t out = image * s.out.batch_stride + (p - i) * s.out.strides[2];
    const int64_t grad = image * s.grid_grad.batch_stride + (p - i) * s.grid_grad.strides[2];
    for (; i < end; ++i) {
      block->in[i] = static_cast<LocationLane<T>>(image * s.in.batch_stride);
      block->in_grad[i] = static_cast<LocationLane<T>>(image * s.in_grad.batch_stride);
      block->out_list[i] = out + i * s.out.strides[2];
      block->grid_grad_list[i] = grad + i * s.grid_grad.strides[2];
    }
  }
  const bool is_dense = s.channels == 1 && s.out.strides[2] == 1 && s.out.batch_stride == s.positions;
  block->out = {block->out_list[0], 1, is_dense ? nullptr : block->out_list};
  block->grid_grad = {0, 0, block->grid_grad_list};
}

// The next block of positions [first, last): of one image, or of several small ones.
template <typename T>
HWY_INLINE void fill_block(const GridSampleVectors<T>& s, int64_t first, int64_t last, Block<T>* block) {
  constexpr int64_t kSmall = 8;
  block->image = first / s.positions;
  const int64_t p = first % s.positions;
  int64_t count = std::min(kSampledBlock, last - first);
  if (s.positions >= kSmall) count = std::min(count, s.positions - p);
  block->count = static_cast<size_t>(count);
  const T* const grid = s.grid.data + block->image * s.grid.batch_stride;
  if (count <= s.positions - p) {
    fill_coordinates(s, grid + p * s.grid.strides[2], count, 0, block);
    block->out = {p * s.out.strides[2], s.out.strides[2], nullptr};
    block->grid_grad = {p * s.grid_grad.strides[2], s.grid_grad.strides[2], nullptr};
  } else {
    fill_images(s, p, grid, block);
  }
  // What lanes behind the last position read is in the first image.
  const auto lanes = static_cast<int64_t>(hn::Lanes(Tag<T>()));
  for (int64_t k = count; k % lanes != 0; ++k) {
    block->in[k] = 0;
    block->in_grad[k] = 0;
    for (size_t d = 3 - s.dims; d < 3; ++d) block->coordinate[d][k] = 0;
  }
}

// One dimension of the positions of a vector: indices of the first and second value, -1 outside, weights and slopes.
template <typename T>
struct Sides {
  // GCC compiles implicit constructors for aarch64 without the target's instructions.
  HWY_INLINE Sides() {}
  HWY_INLINE Sides(Location<T> first, Location<T> second, Lane<T> first_weight, Lane<T> second_weight,
                   Lane<T> of_second)
      : slope(of_second) {
    index[0] = first;
    index[1] = second;
    weight[0] = first_weight;
    weight[1] = second_weight;
  }

  Location<T> index[2];
  Lane<T> weight[2];
  Lane<T> slope;  // of weight[1]; that of weight[0] is its negative
};

template <typename T>
HWY_INLINE Location<T> inside(Lane<T> at, Lane<T> size) {
  const LocationTag<T> di;
  const Tag<T> d;
  const auto is_inside = hn::And(hn::Ge(at, hn::Zero(d)), hn::Lt(at, size));
  const auto index = hn::ConvertTo(di, hn::IfThenElseZero(is_inside, at));
  return hn::IfThenElse(hn::RebindMask(di, is_inside), index, hn::Set(di, -1));
}

template <typename T, bool kLinear>
HWY_INLINE Sides<T> locate(const GridSampleVectors<T>& s, size_t dim, Lane<T> coordinate) {
  const Tag<T> d;
  const auto set = [d](double value) HWY_ATTR { return hn::Set(d, static_cast<T>(value)); };
  const auto size = static_cast<T>(s.sizes[dim]);
  const Lane<T> length = set(static_cast<double>(s.align_corners ? s.sizes[dim] - 1 : s.sizes[dim]));
  const Lane<T> moved = hn::Add(coordinate, set(1));
  Lane<T> at = s.align_corners ? hn::Mul(hn::Mul(moved, set(0.5)), length)
                               : hn::Mul(hn::Sub(hn::Mul(moved, length), set(1)), set(0.5));
  Lane<T> slope = hn::Mul(length, set(0.5));
  if (s.padding == GridPadding::kReflection) {
    const Lane<T> low = set(s.align_corners ? 0 : -0.5);
    const Lane<T> from_low = hn::Sub(at, low);
    const Lane<T> distance = hn::Abs(from_low);
    const Lane<T> spans = hn::Floor(hn::Div(distance, length));
    const Lane<T> rest = hn::Sub(distance, hn::Mul(spans, length));
    const auto is_odd = hn::Ne(hn::Mul(hn::Floor(hn::Mul(spans, set(0.5))), set(2)), spans);
    const auto is_below = hn::Lt(from_low, hn::Zero(d));
    at = hn::Add(hn::IfThenElse(is_odd, hn::Sub(length, rest), rest), low);
    slope = hn::IfThenElse(hn::Xor(is_odd, is_below), hn::Neg(slope), slope);
    const auto is_one = hn::Eq(length, hn::Zero(d));  // one value, with its corners aligned
    at = hn::IfThenZeroElse(is_one, at);
    slope = hn::IfThenZeroElse(is_one, slope);
  }
  if (s.padding != GridPadding::kZeros) {
    const Lane<T> last = set(static_cast<double>(size) - 1);
    const auto is_positive = hn::Gt(at, hn::Zero(d));
    const auto is_free = hn::And(is_positive, hn::Lt(at, last));
    slope = hn::IfThenElseZero(is_free, slope);
    at = hn::Min(hn::IfThenElseZero(is_positive, at), last);  // NaN to 0
  }
  const Lane<T> sizes = hn::Set(d, size);
  if constexpr (!kLinear) {
    return {inside<T>(hn::Round(at), sizes), hn::Zero(LocationTag<T>()), set(1), set(0), hn::Zero(d)};
  }
  const Lane<T> first = hn::Floor(at);
  const Lane<T> t = hn::Sub(at, first);
  return {inside<T>(first, sizes), inside<T>(hn::Add(first, set(1)), sizes), hn::Sub(set(1), t), t, slope};
}

// The taps of a vector of positions: places in a plane, 0 for those outside, and weights.
template <typename T, size_t kTaps>
struct Taps {
  HWY_INLINE Taps() {}  // as in Sides

  Location<T> location[kTaps];
  hn::Mask<Tag<T>> is_inside[kTaps];
  Lane<T> weight[kTaps];
};

template <size_t kDims, bool kLinear>
constexpr size_t kTapsOf = kLinear ? size_t{1} << kDims : 1;

// Calls body(tap, which side of each dimension) for each tap, the last dimension's first.
template <size_t kDims, bool kLinear, typename Body>
HWY_INLINE void for_taps(const Body& body) {
  for (size_t tap = 0; tap < kTapsOf<kDims, kLinear>; ++tap) {
    size_t side[3] = {0, 0, 0};
    if constexpr (kLinear) {
      for (size_t d = 0; d < kDims; ++d) side[2 - d] = tap >> d & 1;
    }
    body(tap, side);
  }
}

template <typename T, size_t kDims, size_t kTaps>
HWY_INLINE void locate_tap(const Sides<T>* sides, const size_t* side, const Triple& strides, Location<T> base,
                           size_t tap, Taps<T, kTaps>* taps) {
  const LocationTag<T> di;
  const Location<T> outside = hn::Set(di, -1);
  auto is_inside = hn::Gt(sides[2].index[side[2]], outside);
  for (size_t d = 3 - kDims; d < 3; ++d) {
    const Location<T> index = sides[d].index[side[d]];
    is_inside = hn::And(is_inside, hn::Gt(index, outside));
    base = hn::Add(base, hn::Mul(index, hn::Set(di, static_cast<LocationLane<T>>(strides[d]))));
  }
  taps->location[tap] = hn::IfThenElseZero(is_inside, base);
  taps->is_inside[tap] = hn::RebindMask(Tag<T>(), is_inside);
}

template <typename T, size_t kDims, bool kLinear>
HWY_INLINE void locate_all(const GridSampleVectors<T>& s, const Block<T>& block, size_t at, Sides<T>* sides) {
  const Tag<T> d;
  for (size_t dim = 3 - kDims; dim < 3; ++dim) {
    sides[dim] = locate<T, kLinear>(s, dim, hn::Load(d, block.coordinate[dim] + at));
  }
}

template <typename T, size_t kDims>
HWY_INLINE Lane<T> weight_of(const Sides<T>* sides, const size_t* side) {
  Lane<T> weight = sides[3 - kDims].weight[side[3 - kDims]];
  for (size_t d = 4 - kDims; d < 3; ++d) weight = hn::Mul(weight, sides[d].weight[side[d]]);
  return weight;
}

// Values of lanes [at, at + count) to or from a tensor.
template <typename T>
HWY_INLINE void put(const BlockPlaces& places, size_t at, size_t count, Lane<T> values, T* to) {
  const Tag<T> d;
  if (places.listed == nullptr && places.step == 1) {
    return hn::BlendedStore(values, hn::FirstN(d, count), d, to + places.at(at));
  }
  HWY_ALIGN T room[kSampledBlock];
  hn::Store(values, d, room);
  for (size_t i = 0; i < count; ++i) to[places.at(at + i)] = room[i];
}

template <typename T>
HWY_INLINE Lane<T> get(const BlockPlaces& places, size_t at, size_t count, const T* from) {
  const Tag<T> d;
  if (places.listed == nullptr && places.step == 1) {
    return hn::MaskedLoad(hn::FirstN(d, count), d, from + places.at(at));
  }
  HWY_ALIGN T room[kSampledBlock] = {};
  for (size_t i = 0; i < count; ++i) room[i] = from[places.at(at + i)];
  return hn::Load(d, room);
}

template <typename T, size_t kDims, bool kLinear>
void forward(const GridSampleVectors<T>& s, const SampledPart& part) {
  constexpr size_t kTaps = kTapsOf<kDims, kLinear>;
  const Tag<T> d;
  Block<T> block;
  for (int64_t first = part.first; first < part.last; first += static_cast<int64_t>(block.count)) {
    fill_block(s, first, part.last, &block);
    const T* const in = s.in.data + block.image * s.in.batch_stride;
    T* const out = s.out.data + block.image * s.out.batch_stride;
    for (size_t at = 0; at < block.count; at += hn::Lanes(d)) {
      const size_t count = std::min(hn::Lanes(d), block.count - at);
      Sides<T> sides[3];
      locate_all<T, kDims, kLinear>(s, block, at, sides);
      Taps<T, kTaps> taps;
      const Location<T> base = hn::Load(LocationTag<T>(), block.in + at);
      for_taps<kDims, kLinear>([&](size_t tap, const size_t* side) HWY_ATTR {
        locate_tap<T, kDims>(sides, side, s.in.strides, base, tap, &taps);
        taps.weight[tap] = weight_of<T, kDims>(sides, side);
      });
      for (int64_t c = part.c_first; c < part.c_last; ++c) {
        const T* const plane = in + c * s.in.channel_stride;
        Lane<T> sum = hn::Zero(d);
        for (size_t tap = 0; tap < kTaps; ++tap) {
          // A place outside adds exactly 0, whatever its weight is.
          const Lane<T> value = hn::GatherIndex(d, plane, taps.location[tap]);
          sum = hn::IfThenElse(taps.is_inside[tap], hn::MulAdd(taps.weight[tap], value, sum), sum);
        }
        put(block.out, at, count, sum, out + c * s.out.channel_stride);
      }
    }
  }
}

// Adds the products of a vector's gradients, position by position, so that the order of additions depends on nothing
// else.
template <typename T, size_t kTaps>
HWY_INLINE void add_products(const Taps<T, kTaps>& taps, Lane<T> gradient, size_t count, T* plane) {
  const Tag<T> d;
  const LocationTag<T> di;
  HWY_ALIGN T products[kTaps][kSampledBlock];
  HWY_ALIGN LocationLane<T> places[kTaps][kSampledBlock];
  for (size_t tap = 0; tap < kTaps; ++tap) {
    hn::Store(hn::Mul(gradient, taps.weight[tap]), d, products[tap]);
    const auto is_inside = hn::RebindMask(di, taps.is_inside[tap]);
    hn::Store(hn::IfThenElse(is_inside, taps.location[tap], hn::Set(di, -1)), di, places[tap]);
  }
  for (size_t i = 0; i < count; ++i) {
    for (size_t tap = 0; tap < kTaps; ++tap) {
      if (places[tap][i] >= 0) plane[places[tap][i]] += products[tap][i];
    }
  }
}

// The derivatives of a channel's values by the grid's coordinates, times the gradient.
template <typename T, size_t kDims>
HWY_INLINE void add_slopes(const Sides<T>* sides, const Taps<T, kTapsOf<kDims, true>>& taps, const T* plane,
                           Lane<T> gradient, Lane<T>* sums) {
  const Tag<T> d;
  Lane<T> parts[3] = {hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  for_taps<kDims, true>([&](size_t tap, const size_t* side) HWY_ATTR {
    const Lane<T> value = hn::GatherIndex(d, plane, taps.location[tap]);
    for (size_t by = 3 - kDims; by < 3; ++by) {
      Lane<T> factor = side[by] == 0 ? hn::Neg(sides[by].slope) : sides[by].slope;
      for (size_t other = 3 - kDims; other < 3; ++other) {
        if (other != by) factor = hn::Mul(factor, sides[other].weight[side[other]]);
      }
      parts[by] = hn::IfThenElse(taps.is_inside[tap], hn::MulAdd(factor, value, parts[by]), parts[by]);
    }
  });
  for (size_t by = 3 - kDims; by < 3; ++by) sums[by] = hn::MulAdd(gradient, parts[by], sums[by]);
}

template <typename T, size_t kDims, bool kLinear>
void backward(const GridSampleVectors<T>& s, const SampledPart& part) {
  constexpr size_t kTaps = kTapsOf<kDims, kLinear>;
  const Tag<T> d;
  const LocationTag<T> di;
  const bool wants_in = s.in_grad.data != nullptr;
  const bool wants_grid = s.grid_grad.data != nullptr;
  Block<T> block;
  for (int64_t first = part.first; first < part.last; first += static_cast<int64_t>(block.count)) {
    fill_block(s, first, part.last, &block);
    const T* const in = s.in.data + block.image * s.in.batch_stride;
    const T* const out = s.out.data + block.image * s.out.batch_stride;
    T* const in_grad = s.in_grad.data + block.image * s.in_grad.batch_stride;
    for (size_t at = 0; at < block.count; at += hn::Lanes(d)) {
      const size_t count = std::min(hn::Lanes(d), block.count - at);
      Sides<T> sides[3];
      locate_all<T, kDims, kLinear>(s, block, at, sides);
      Taps<T, kTaps> read;
      Taps<T, kTaps> added;
      for_taps<kDims, kLinear>([&](size_t tap, const size_t* side) HWY_ATTR {
        locate_tap<T, kDims>(sides, side, s.in.strides, hn::Load(di, block.in + at), tap, &read);
        locate_tap<T, kDims>(sides, side, s.in_grad.strides, hn::Load(di, block.in_grad + at), tap, &added);
        added.weight[tap] = weight_of<T, kDims>(sides, side);
      });
      Lane<T> sums[3] = {hn::Zero(d), hn::Zero(d), hn::Zero(d)};
      for (int64_t c = part.c_first; c < part.c_last; ++c) {
        const Lane<T> gradient = get<T>(block.out, at, count, out + c * s.out.channel_stride);
        if (wants_in) add_products(added, gradient, count, in_grad + c * s.in_grad.channel_stride);
        if constexpr (kLinear) {
          if (wants_grid) add_slopes<T, kDims>(sides, read, in + c * s.in.channel_stride, gradient, sums);
        }
      }
      if (!wants_grid) continue;
      T* const grid_grad = s.grid_grad.data + block.image * s.grid_grad.batch_stride;
      for (size_t dim = 3 - kDims; dim < 3; ++dim) {
        put(block.grid_grad, at, count, sums[dim],
            grid_grad + static_cast<int64_t>(2 - dim) * s.grid_grad.channel_stride);
      }
    }
  }
}

template <typename T>
void forward_any(const GridSampleVectors<T>& s, const SampledPart& part) {
  if (s.dims == 2) return s.is_linear ? forward<T, 2, true>(s, part) : forward<T, 2, false>(s, part);
  return s.is_linear ? forward<T, 3, true>(s, part) : forward<T, 3, false>(s, part);
}

template <typename T>
void backward_any(const GridSampleVectors<T>& s, const SampledPart& part) {
  if (s.dims == 2) return s.is_linear ? backward<T, 2, true>(s, part) : backward<T, 2, false>(s, part);
  return s.is_linear ? backward<T, 3, true>(s, part) : backward<T, 3, false>(s, part);
}

void forward_f32(const GridSampleVectors<float>& s, const SampledPart& part) { forward_any(s, part); }
void forward_f64(const GridSampleVectors<double>& s, const SampledPart& part) { forward_any(s, part); }
void backward_f32(const GridSampleVectors<float>& s, const SampledPart& part) { backward_any(s, part); }
void backward_f64(const GridSampleVectors<double>& s, const SampledPart& part) { backward_any(s, part); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softnpu {
namespace {
HWY_EXPORT(forward_f32);
HWY_EXPORT(forward_f64);
HWY_EXPORT(backward_f32);
HWY_EXPORT(backward_f64);
}  // namespace

template <>
void sample_vectors(const GridSampleVectors<float>& s, const SampledPart& part) {
  limit_simd_targets();
  HWY_DYNAMIC_DISPATCH(forward_f32)(s, part);
}
template <>
void sample_vectors(const GridSampleVectors<double>& s, const SampledPart& part) {
  limit_simd_targets();
  HWY_DYNAMIC_DISPATCH(forward_f64)(s, part);
}
template <>
void sample_vectors_backward(const GridSampleVectors<float>& s, const SampledPart& part) {
  limit_simd_targets();
  HWY_DYNAMIC_DISPATCH(backward_f32)(s, part);
}
template <>
void sample_vectors_backward(const GridSampleVectors<double>& s, const SampledPart& part) {
  limit_simd_targets();
  HWY_DYNAMIC_DISPATCH(backward_f64)(s, part);
}

}  // namespace softnpu
#endif
