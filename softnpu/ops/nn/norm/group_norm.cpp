#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "ops/nn/norm/channels.h"
#include "ops/nn/norm/norms.h"
#include "ops/nn/norm/short_groups.h"

namespace softnpu {
namespace {

// Slices of fewer values are computed together.
constexpr int64_t kShortSlice = 32;

template <typename T>
class GroupNormTask {
 public:
  NormRows<T> kernel = norm_rows<T>();
  Channels shape;
  int64_t groups = 1;
  double eps = 0;
  std::optional<FlatReader<T>> x, weight, bias;
  std::optional<FlatWriter<T>> y, mean, rstd;

  void run() const {
    if (run_short_groups()) return;
    for_parts(shape, shape.samples * groups, [this](int64_t group) { run_group(group); });
  }

 private:
  // Weights or biases for each value of an image.
  std::vector<T> for_values(const std::optional<FlatReader<T>>& of_channels) const {
    std::vector<T> values;
    if (!of_channels) return values;
    values.reserve(static_cast<size_t>(shape.channels * shape.spatial_size));
    for (int64_t c = 0; c < shape.channels; ++c) {
      values.insert(values.end(), static_cast<size_t>(shape.spatial_size), value_of(of_channels, c, T{}));
    }
    return values;
  }

  // False if groups are long, or their memory is not contiguous.
  bool run_short_groups() const {
    const int64_t size = shape.channels / groups * shape.spatial_size;
    const T* const from = size > kMaxShortGroup ? nullptr : x->find(0, shape.count());
    T* const to = from == nullptr ? nullptr : y->find(0, shape.count());
    if (to == nullptr) return false;
    const std::vector<T> weights = for_values(weight);
    const std::vector<T> biases = for_values(bias);
    const ShortGroups<T> all{from,
                             to,
                             static_cast<size_t>(size),
                             static_cast<size_t>(groups),
                             eps,
                             weights.empty() ? nullptr : weights.data(),
                             biases.empty() ? nullptr : biases.data()};
    const int64_t grain = std::max<int64_t>(1, kNormGrain / size);
    parallel_for(shape.samples * groups, grain, shape.threads, [&](int64_t first, int64_t last) {
      constexpr int64_t kAtOnce = 64;
      T means[kAtOnce];
      T scales[kAtOnce];
      for (int64_t group = first; group < last; group += kAtOnce) {
        const int64_t count = std::min(kAtOnce, last - group);
        normalize_short_groups(all, static_cast<size_t>(group), static_cast<size_t>(group + count), means, scales);
        if (mean) mean->put(group, count, means);
        if (rstd) rstd->put(group, count, scales);
      }
    });
    return true;
  }

  void run_group(int64_t group) const {
    alignas(64) T values[kNormTile];
    const int64_t channels = shape.channels / groups;
    const int64_t n = group / groups;
    const int64_t c0 = group % groups * channels;
    Moment moment;
    for_tiles(shape.slice(n, c0), channels * shape.spatial_size, [&](int64_t first, int64_t count) {
      moment.add(kernel.moment(x->read(first, count, values), static_cast<size_t>(count)));
    });
    const double scale = 1 / std::sqrt(moment.squares / moment.count + eps);
    put_value(mean, group, moment.mean);
    put_value(rstd, group, scale);
    if (shape.spatial_size < kShortSlice) return put_short(n, c0, static_cast<T>(moment.mean), static_cast<T>(scale));
    for (int64_t c = c0; c < c0 + channels; ++c) {
      const T factor = static_cast<T>(scale * static_cast<double>(value_of(weight, c, T(1))));
      const T offset = value_of(bias, c, T(0));
      for_tiles(shape.slice(n, c), shape.spatial_size, [&](int64_t first, int64_t count) {
        const T* v = x->read(first, count, values);
        T* to = y->location(first, count, values);
        kernel.affine(v, static_cast<size_t>(count), static_cast<T>(moment.mean), factor, offset, to);
        y->put(first, count, to);
      });
    }
  }

  // Slices of a few values: all channels of a tile at once, each value with its channel's weight and bias.
  void put_short(int64_t n, int64_t c0, T mean_value, T scale) const {
    alignas(64) T values[kNormTile];
    alignas(64) T weights[kNormTile];
    alignas(64) T offsets[kNormTile];
    const int64_t start = shape.slice(n, c0);
    for_tiles(start, shape.channels / groups * shape.spatial_size, [&](int64_t first, int64_t count) {
      int64_t c = c0 + (first - start) / shape.spatial_size;
      int64_t left = shape.spatial_size - (first - start) % shape.spatial_size;
      for (int64_t i = 0; i < count; ++c, left = shape.spatial_size) {
        const int64_t end = std::min(count, i + left);
        std::fill(weights + i, weights + end, value_of(weight, c, T(1)));
        std::fill(offsets + i, offsets + end, value_of(bias, c, T(0)));
        i = end;
      }
      const T* v = x->read(first, count, values);
      T* to = y->location(first, count, values);
      kernel.normalize(v, static_cast<size_t>(count), mean_value, scale, weights, offsets, to);
      y->put(first, count, to);
    });
  }
};

template <typename T>
class GroupNormGradientTask {
 public:
  SliceGradient<T> slices;
  int64_t groups = 1;
  std::optional<FlatReader<T>> mean, rstd;

  // For the sums of each slice.
  Checked workspace_bytes() const {
    return checked(slices.shape.samples) * slices.shape.channels * sizeof(GradientSums);
  }

  void run(void* workspace) const {
    const Channels& shape = slices.shape;
    auto* sums = static_cast<GradientSums*>(workspace);
    for_parts(shape, shape.samples * groups, [&](int64_t group) { run_group(group, sums); });
    for (int64_t c = 0; c < shape.channels; ++c) {
      GradientSums all;
      for (int64_t n = 0; n < shape.samples; ++n) {
        all.g += sums[n * shape.channels + c].g;
        all.gz += sums[n * shape.channels + c].gz;
      }
      put_value(slices.dweight, c, all.gz);
      put_value(slices.dbias, c, all.g);
    }
  }

 private:
  void run_group(int64_t group, GradientSums* sums) const {
    const Channels& shape = slices.shape;
    const int64_t channels = shape.channels / groups;
    const int64_t n = group / groups;
    const int64_t c0 = group % groups * channels;
    const T center = value_of(mean, group, T(0));
    const T scale = value_of(rstd, group, T(1));
    GradientSums all;
    for (int64_t c = c0; c < c0 + channels; ++c) {
      GradientSums& own = sums[n * shape.channels + c];
      own = slices.sums(n, c, center, scale);
      const double w = static_cast<double>(value_of(slices.weight, c, T(1)));
      all.g += w * own.g;
      all.gz += w * own.gz;
    }
    if (!slices.dx) return;
    const double values = static_cast<double>(channels * shape.spatial_size);
    for (int64_t c = c0; c < c0 + channels; ++c) {
      // The weight may be 0, so that factor * (g - a - z * b) with the weight in `factor` is not possible.
      put_weighted(n, c, center, scale, value_of(slices.weight, c, T(1)), static_cast<T>(all.g / values),
                   static_cast<T>(all.gz / values));
    }
  }

  void put_weighted(int64_t n, int64_t c, T center, T scale, T weight, T a, T b) const {
    alignas(64) T gs[kNormTile];
    alignas(64) T xs[kNormTile];
    alignas(64) T ws[kNormTile];
    std::fill_n(ws, std::min(kNormTile, slices.shape.spatial_size), weight);
    for_tiles(slices.shape.slice(n, c), slices.shape.spatial_size, [&](int64_t first, int64_t count) {
      const T* g = slices.grad->read(first, count, gs);
      const T* v = slices.x->read(first, count, xs);
      T* to = slices.dx->location(first, count, xs);
      slices.kernel.gradient(g, v, static_cast<size_t>(count), center, scale, ws, scale, a, b, to);
      slices.dx->put(first, count, to);
    });
  }
};

Status group_shape(const aclTensor& x, int64_t n, int64_t c, int64_t hw, int64_t groups, Channels* shape) {
  if (n >= 0 && c >= 0 && hw >= 0 && groups > 0 && c % groups == 0 && (checked(n) * c * hw).is(element_count(x))) {
    shape->samples = n;
    shape->channels = c;
    shape->spatial_size = hw;
    shape->threads = threads_of(*shape);
    return Status::ok();
  }
  return {ACLNN_ERR_PARAM_INVALID, text(describe(x), " is not ", n, " samples of ", c, " channels in ", groups,
                                        " groups of equal size with ", hw, " spatial positions")};
}

template <typename T>
Status plan_group_norm(const Channels& shape, const aclTensor& x, const aclTensor* weight, const aclTensor* bias,
                       int64_t groups, double eps, const aclTensor& y, const aclTensor* mean, const aclTensor* rstd,
                       Plan* plan) {
  auto task = std::make_shared<GroupNormTask<T>>();
  task->shape = shape;
  task->groups = groups;
  task->eps = eps;
  SOFTNPU_RETURN_IF_ERROR(open(&x, "the input", shape.count(), &task->x));
  SOFTNPU_RETURN_IF_ERROR(open(weight, "the weight", shape.channels, &task->weight));
  SOFTNPU_RETURN_IF_ERROR(open(bias, "the bias", shape.channels, &task->bias));
  SOFTNPU_RETURN_IF_ERROR(open(&y, "the result", shape.count(), &task->y));
  SOFTNPU_RETURN_IF_ERROR(open(mean, "the mean", shape.samples * groups, &task->mean));
  SOFTNPU_RETURN_IF_ERROR(open(rstd, "rstd", shape.samples * groups, &task->rstd));
  if (shape.count() == 0) return plan_nothing(plan);
  hand_out(std::move(task), shape, x, plan);
  return Status::ok();
}

template <typename T>
Status plan_group_gradient(const Channels& shape, const aclTensor& grad, const aclTensor& x, const aclTensor& mean,
                           const aclTensor& rstd, const aclTensor* weight, int64_t groups, const aclTensor* dx,
                           const aclTensor* dweight, const aclTensor* dbias, Plan* plan) {
  auto task = std::make_shared<GroupNormGradientTask<T>>();
  task->slices.shape = shape;
  task->groups = groups;
  SOFTNPU_RETURN_IF_ERROR(task->slices.open_all(grad, x, weight, dx, dweight, dbias));
  SOFTNPU_RETURN_IF_ERROR(open(&mean, "the mean", shape.samples * groups, &task->mean));
  SOFTNPU_RETURN_IF_ERROR(open(&rstd, "rstd", shape.samples * groups, &task->rstd));
  plan->workspace_bytes = task->workspace_bytes();
  hand_out(std::move(task), shape, x, plan);
  return Status::ok();
}

bool is_double(const aclTensor& x) { return x.dtype == ACL_DOUBLE; }

}  // namespace

Status group_norm(const aclTensor& x, const aclTensor* weight, const aclTensor* bias, int64_t n, int64_t c, int64_t hw,
                  int64_t groups, double eps, const aclTensor& y, const aclTensor* mean, const aclTensor* rstd,
                  Plan* plan) {
  Channels shape;
  SOFTNPU_RETURN_IF_ERROR(group_shape(x, n, c, hw, groups, &shape));
  return is_double(x) ? plan_group_norm<double>(shape, x, weight, bias, groups, eps, y, mean, rstd, plan)
                      : plan_group_norm<float>(shape, x, weight, bias, groups, eps, y, mean, rstd, plan);
}

Status group_norm_gradient(const aclTensor& grad, const aclTensor& x, const aclTensor& mean, const aclTensor& rstd,
                           const aclTensor* weight, int64_t n, int64_t c, int64_t hw, int64_t groups,
                           const aclBoolArray& mask, const aclTensor* dx, const aclTensor* dweight,
                           const aclTensor* dbias, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(masks(mask, &dx, &dweight, &dbias));
  Channels shape;
  SOFTNPU_RETURN_IF_ERROR(group_shape(x, n, c, hw, groups, &shape));
  return is_double(x)
             ? plan_group_gradient<double>(shape, grad, x, mean, rstd, weight, groups, dx, dweight, dbias, plan)
             : plan_group_gradient<float>(shape, grad, x, mean, rstd, weight, groups, dx, dweight, dbias, plan);
}

}  // namespace softnpu
