#include <algorithm>
#include <cmath>
#include <memory>

#include "ops/norm/norms.h"
#include "ops/norm/operands.h"
#include "ops/norm/rows.h"
#include "ops/parallel.h"

namespace softnpu {
namespace {

constexpr int64_t kTile = 1024;
constexpr int64_t kGrain = 1 << 14;
constexpr double kFlopsPerValue = 32;

// x as [samples, channels, places]: a slice is what one sample has of one channel.
struct Channels {
  int64_t samples = 1;
  int64_t channels = 1;
  int64_t places = 1;
  int64_t last = -1;  // the dimension that is seen as the innermost one

  int64_t count() const { return samples * channels * places; }
  int64_t per_channel() const { return samples * places; }
  int64_t slice(int64_t sample, int64_t channel) const { return (sample * channels + channel) * places; }
};

// Calls body(first element, count) for tiles of one slice.
template <typename Body>
void for_tiles(int64_t first, int64_t places, Body&& body) {
  for (int64_t at = 0; at < places; at += kTile) body(first + at, std::min(kTile, places - at));
}

Status channels_of(const aclTensor& x, Channels* out) {
  if (x.dims.size() < 2) {
    return {ACLNN_ERR_PARAM_INVALID, text("the input is ", describe(x), "; it needs a dimension of channels: [N, C, ...]")};
  }
  out->samples = x.dims[0];
  out->channels = x.dims[1];
  for (size_t i = 2; i < x.dims.size(); ++i) out->places *= x.dims[i];
  if (out->places == 1 && x.dims.size() == 2) {
    // A channel's values, one from each sample, are the slice.
    std::swap(out->samples, out->places);
    out->last = 0;
  }
  return Status::ok();
}

template <typename T>
int threads_of(const Channels& shape) {
  return threads_for(kFlopsPerValue * static_cast<double>(shape.count()));
}

template <typename T>
class BatchNormTask {
 public:
  NormRows<T> kernel = norm_rows<T>();
  Channels shape;
  bool training = false;
  bool is_rstd = false;  // what is given as variance
  double momentum = 0;
  double eps = 0;
  std::optional<FlatReader<T>> x, weight, bias, old_mean, old_var;
  std::optional<FlatWriter<T>> y, new_mean, new_var, save_mean, save_rstd;

  void run() const {
    parallel_for(shape.channels, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, shape.per_channel())),
                 threads_of<T>(shape), [this](int64_t first, int64_t last) {
                   for (int64_t c = first; c < last; ++c) run_channel(c);
                 });
  }

 private:
  void run_channel(int64_t c) const {
    alignas(64) T values[kTile];
    double mean = static_cast<double>(value_of(old_mean, c, T(0)));
    double variance = static_cast<double>(value_of(old_var, c, T(1)));
    if (training) {
      Moment moment;
      for (int64_t n = 0; n < shape.samples; ++n) {
        for_tiles(shape.slice(n, c), shape.places, [&](int64_t first, int64_t count) {
          moment.add(kernel.moment(x->read(first, count, values), static_cast<size_t>(count)));
        });
      }
      put_value(new_mean, c, momentum * moment.mean + (1 - momentum) * mean);
      put_value(new_var, c, momentum * moment.squares / (moment.count - 1) + (1 - momentum) * variance);
      mean = moment.mean;
      variance = moment.squares / moment.count;
    }
    const double rstd = is_rstd ? variance : 1 / std::sqrt(variance + eps);
    put_value(save_mean, c, mean);
    put_value(save_rstd, c, rstd);
    if (!y) return;
    const T factor = static_cast<T>(rstd * static_cast<double>(value_of(weight, c, T(1))));
    const T offset = value_of(bias, c, T(0));
    for (int64_t n = 0; n < shape.samples; ++n) {
      for_tiles(shape.slice(n, c), shape.places, [&](int64_t first, int64_t count) {
        const T* v = x->read(first, count, values);
        T* to = y->place(first, count, values);
        kernel.affine(v, static_cast<size_t>(count), static_cast<T>(mean), factor, offset, to);
        y->put(first, count, to);
      });
    }
  }
};

// What both gradients do with one slice.
template <typename T>
struct SliceGradient {
  NormRows<T> kernel = norm_rows<T>();
  Channels shape;
  std::optional<FlatReader<T>> grad, x, weight;
  std::optional<FlatWriter<T>> dx, dweight, dbias;

  GradientSums sums(int64_t n, int64_t c, T mean, T rstd) const {
    alignas(64) T gs[kTile];
    alignas(64) T xs[kTile];
    GradientSums sum;
    for_tiles(shape.slice(n, c), shape.places, [&](int64_t first, int64_t count) {
      const GradientSums part = kernel.gradient_sums(grad->read(first, count, gs), x->read(first, count, xs),
                                                     static_cast<size_t>(count), mean, rstd, nullptr);
      sum.g += part.g;
      sum.gz += part.gz;
    });
    return sum;
  }

  void put(int64_t n, int64_t c, T mean, T rstd, T factor, T a, T b) const {
    alignas(64) T gs[kTile];
    alignas(64) T xs[kTile];
    for_tiles(shape.slice(n, c), shape.places, [&](int64_t first, int64_t count) {
      const T* g = grad->read(first, count, gs);
      const T* v = x->read(first, count, xs);
      T* to = dx->place(first, count, xs);
      kernel.gradient(g, v, static_cast<size_t>(count), mean, rstd, nullptr, factor, a, b, to);
      dx->put(first, count, to);
    });
  }

  Status open_all(const aclTensor& g, const aclTensor& in, const aclTensor* w, const aclTensor* gx,
                  const aclTensor* gw, const aclTensor* gb) {
    SOFTNPU_RETURN_IF_ERROR(open(&g, "the gradient", shape.count(), &grad, shape.last));
    SOFTNPU_RETURN_IF_ERROR(open(&in, "the input", shape.count(), &x, shape.last));
    SOFTNPU_RETURN_IF_ERROR(open(w, "the weight", shape.channels, &weight));
    SOFTNPU_RETURN_IF_ERROR(open(gx, "the input's gradient", shape.count(), &dx, shape.last));
    SOFTNPU_RETURN_IF_ERROR(open(gw, "the weight's gradient", shape.channels, &dweight));
    return open(gb, "the bias's gradient", shape.channels, &dbias);
  }
};

template <typename T>
class BatchNormGradientTask {
 public:
  SliceGradient<T> slices;
  bool training = false;
  double eps = 0;
  // The statistics: saved ones in training, else the running ones.
  std::optional<FlatReader<T>> mean, spread;

  void run() const {
    const Channels& shape = slices.shape;
    parallel_for(shape.channels, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, shape.per_channel())),
                 threads_of<T>(shape), [this](int64_t first, int64_t last) {
                   for (int64_t c = first; c < last; ++c) run_channel(c);
                 });
  }

 private:
  void run_channel(int64_t c) const {
    const Channels& shape = slices.shape;
    const T center = value_of(mean, c, T(0));
    T rstd = value_of(spread, c, T(1));
    if (!training) rstd = static_cast<T>(1 / std::sqrt(static_cast<double>(rstd) + eps));
    GradientSums sum;
    if (training || slices.dweight || slices.dbias) {
      for (int64_t n = 0; n < shape.samples; ++n) {
        const GradientSums part = slices.sums(n, c, center, rstd);
        sum.g += part.g;
        sum.gz += part.gz;
      }
    }
    put_value(slices.dweight, c, sum.gz);
    put_value(slices.dbias, c, sum.g);
    if (!slices.dx) return;
    const double values = static_cast<double>(shape.per_channel());
    const T a = training ? static_cast<T>(sum.g / values) : T(0);
    const T b = training ? static_cast<T>(sum.gz / values) : T(0);
    const T factor = rstd * value_of(slices.weight, c, T(1));
    for (int64_t n = 0; n < shape.samples; ++n) slices.put(n, c, center, rstd, factor, a, b);
  }
};

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
    const int64_t length = shape.channels / groups * shape.places;
    parallel_for(shape.samples * groups, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, length)),
                 threads_of<T>(shape), [this](int64_t first, int64_t last) {
                   for (int64_t i = first; i < last; ++i) run_group(i);
                 });
  }

 private:
  void run_group(int64_t group) const {
    alignas(64) T values[kTile];
    const int64_t channels = shape.channels / groups;
    const int64_t n = group / groups;
    const int64_t c0 = group % groups * channels;
    Moment moment;
    for_tiles(shape.slice(n, c0), channels * shape.places, [&](int64_t first, int64_t count) {
      moment.add(kernel.moment(x->read(first, count, values), static_cast<size_t>(count)));
    });
    const double scale = 1 / std::sqrt(moment.squares / moment.count + eps);
    put_value(mean, group, moment.mean);
    put_value(rstd, group, scale);
    for (int64_t c = c0; c < c0 + channels; ++c) {
      const T factor = static_cast<T>(scale * static_cast<double>(value_of(weight, c, T(1))));
      const T offset = value_of(bias, c, T(0));
      for_tiles(shape.slice(n, c), shape.places, [&](int64_t first, int64_t count) {
        const T* v = x->read(first, count, values);
        T* to = y->place(first, count, values);
        kernel.affine(v, static_cast<size_t>(count), static_cast<T>(moment.mean), factor, offset, to);
        y->put(first, count, to);
      });
    }
  }
};

template <typename T>
class GroupNormGradientTask {
 public:
  SliceGradient<T> slices;
  int64_t groups = 1;
  std::optional<FlatReader<T>> mean, rstd;

  // The sums of each slice.
  uint64_t workspace_bytes() const {
    return static_cast<uint64_t>(slices.shape.samples * slices.shape.channels) * sizeof(GradientSums);
  }

  void run(void* workspace) const {
    const Channels& shape = slices.shape;
    auto* sums = static_cast<GradientSums*>(workspace);
    const int64_t length = shape.channels / groups * shape.places;
    parallel_for(shape.samples * groups, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, length)),
                 threads_of<T>(shape), [&](int64_t first, int64_t last) {
                   for (int64_t i = first; i < last; ++i) run_group(i, sums);
                 });
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
    const double values = static_cast<double>(channels * shape.places);
    for (int64_t c = c0; c < c0 + channels; ++c) {
      // factor (g - a - z b) with the weight drawn out of the bracket would divide by it: it may be 0.
      put_weighted(n, c, center, scale, value_of(slices.weight, c, T(1)), static_cast<T>(all.g / values),
                   static_cast<T>(all.gz / values));
    }
  }

  void put_weighted(int64_t n, int64_t c, T center, T scale, T weight, T a, T b) const {
    alignas(64) T gs[kTile];
    alignas(64) T xs[kTile];
    alignas(64) T ws[kTile];
    std::fill_n(ws, kTile, weight);
    for_tiles(slices.shape.slice(n, c), slices.shape.places, [&](int64_t first, int64_t count) {
      const T* g = slices.grad->read(first, count, gs);
      const T* v = slices.x->read(first, count, xs);
      T* to = slices.dx->place(first, count, xs);
      slices.kernel.gradient(g, v, static_cast<size_t>(count), center, scale, ws, scale, a, b, to);
      slices.dx->put(first, count, to);
    });
  }
};

Status masks(const aclBoolArray& mask, const aclTensor** dx, const aclTensor** dweight, const aclTensor** dbias) {
  if (mask.size() != 3) return {ACLNN_ERR_PARAM_INVALID, text("outputMask has ", mask.size(), " elements; 3 are needed")};
  const aclTensor** const outputs[] = {dx, dweight, dbias};
  for (size_t i = 0; i < 3; ++i) {
    if (!mask[i]) {
      *outputs[i] = nullptr;
    } else {
      SOFTNPU_RETURN_IF_ERROR(not_null(*outputs[i], "a gradient that outputMask asks for"));
    }
  }
  return Status::ok();
}

template <typename Task>
void hand_out(std::shared_ptr<Task> task, const Channels& shape, const aclTensor& x, Plan* plan) {
  plan->is_small = kFlopsPerValue * static_cast<double>(shape.count()) < kSmallFlops;
  plan->describe = [said = describe(x)] { return "(" + said + ")"; };
  plan->run = [task = std::shared_ptr<const Task>(std::move(task))](void* workspace) {
    if constexpr (requires { task->run(workspace); }) {
      task->run(workspace);
    } else {
      (void)workspace;
      task->run();
    }
    return Status::ok();
  };
}

// Statistics that are not of each channel are not wanted: eager evaluation passes empty ones.
const aclTensor* if_of_channels(const aclTensor* tensor, const Channels& shape) {
  return tensor != nullptr && element_count(*tensor) == shape.channels ? tensor : nullptr;
}

template <typename T>
Status plan_batch_norm(const Channels& shape, const aclTensor& x, const aclTensor* weight, const aclTensor* bias,
                       const aclTensor* running_mean, const aclTensor* running_var, bool training, double momentum,
                       double eps, const aclTensor* y, const aclTensor* save_mean, const aclTensor* save_rstd,
                       Plan* plan) {
  auto task = std::make_shared<BatchNormTask<T>>();
  task->shape = shape;
  task->training = training;
  task->momentum = momentum;
  task->eps = eps;
  SOFTNPU_RETURN_IF_ERROR(open(&x, "the input", shape.count(), &task->x, shape.last));
  SOFTNPU_RETURN_IF_ERROR(open(weight, "the weight", shape.channels, &task->weight));
  SOFTNPU_RETURN_IF_ERROR(open(bias, "the bias", shape.channels, &task->bias));
  SOFTNPU_RETURN_IF_ERROR(open(running_mean, "the running mean", shape.channels, &task->old_mean));
  SOFTNPU_RETURN_IF_ERROR(open(running_var, "the running variance", shape.channels, &task->old_var));
  if (training) {
    SOFTNPU_RETURN_IF_ERROR(open(running_mean, "the running mean", shape.channels, &task->new_mean));
    SOFTNPU_RETURN_IF_ERROR(open(running_var, "the running variance", shape.channels, &task->new_var));
  }
  SOFTNPU_RETURN_IF_ERROR(open(y, "the result", shape.count(), &task->y, shape.last));
  SOFTNPU_RETURN_IF_ERROR(open(save_mean, "the saved mean", shape.channels, &task->save_mean));
  SOFTNPU_RETURN_IF_ERROR(open(save_rstd, "the saved rstd", shape.channels, &task->save_rstd));
  if (shape.count() == 0) return nothing_to_do(plan);
  hand_out(std::move(task), shape, x, plan);
  return Status::ok();
}

template <typename T>
Status plan_batch_gradient(const Channels& shape, const aclTensor& grad, const aclTensor& x, const aclTensor* weight,
                           const aclTensor* mean, const aclTensor* spread, bool training, double eps,
                           const aclTensor* dx, const aclTensor* dweight, const aclTensor* dbias, Plan* plan) {
  auto task = std::make_shared<BatchNormGradientTask<T>>();
  task->slices.shape = shape;
  task->training = training;
  task->eps = eps;
  SOFTNPU_RETURN_IF_ERROR(task->slices.open_all(grad, x, weight, dx, dweight, dbias));
  SOFTNPU_RETURN_IF_ERROR(open(mean, "the mean", shape.channels, &task->mean));
  SOFTNPU_RETURN_IF_ERROR(open(spread, training ? "the saved rstd" : "the running variance", shape.channels, &task->spread));
  hand_out(std::move(task), shape, x, plan);
  return Status::ok();
}

Status group_shape(const aclTensor& x, int64_t n, int64_t c, int64_t hw, int64_t groups, Channels* shape) {
  if (n >= 0 && c >= 0 && hw >= 0 && groups > 0 && c % groups == 0 && element_count(x) == n * c * hw) {
    shape->samples = n;
    shape->channels = c;
    shape->places = hw;
    return Status::ok();
  }
  return {ACLNN_ERR_PARAM_INVALID, text(describe(x), " is not ", n, " samples of ", c, " channels in ", groups,
                                        " groups of equal size with ", hw, " places")};
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
  if (shape.count() == 0) return nothing_to_do(plan);
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
  return is_double(x) ? plan_group_gradient<double>(shape, grad, x, mean, rstd, weight, groups, dx, dweight, dbias, plan)
                      : plan_group_gradient<float>(shape, grad, x, mean, rstd, weight, groups, dx, dweight, dbias, plan);
}

Status batch_norm(const aclTensor& x, const aclTensor* weight, const aclTensor* bias, const aclTensor* running_mean,
                  const aclTensor* running_var, bool training, double momentum, double eps, const aclTensor& y,
                  const aclTensor* save_mean, const aclTensor* save_rstd, Plan* plan) {
  Channels shape;
  SOFTNPU_RETURN_IF_ERROR(channels_of(x, &shape));
  if (!training) {
    SOFTNPU_RETURN_IF_ERROR(not_null(running_mean, "runningMean, which evaluation needs,"));
    SOFTNPU_RETURN_IF_ERROR(not_null(running_var, "runningVar, which evaluation needs,"));
    save_mean = if_of_channels(save_mean, shape);
    save_rstd = if_of_channels(save_rstd, shape);
  }
  const auto plan_as = is_double(x) ? &plan_batch_norm<double> : &plan_batch_norm<float>;
  return plan_as(shape, x, weight, bias, running_mean, running_var, training, momentum, eps, &y, save_mean, save_rstd, plan);
}

Status batch_norm_gradient(const aclTensor& grad, const aclTensor& x, const aclTensor* weight,
                           const aclTensor* running_mean, const aclTensor* running_var, const aclTensor* save_mean,
                           const aclTensor* save_rstd, bool training, double eps, const aclBoolArray& mask,
                           const aclTensor* dx, const aclTensor* dweight, const aclTensor* dbias, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(masks(mask, &dx, &dweight, &dbias));
  Channels shape;
  SOFTNPU_RETURN_IF_ERROR(channels_of(x, &shape));
  const aclTensor* mean = training ? save_mean : running_mean;
  const aclTensor* spread = training ? save_rstd : running_var;
  SOFTNPU_RETURN_IF_ERROR(not_null(mean, training ? "saveMean" : "runningMean"));
  SOFTNPU_RETURN_IF_ERROR(not_null(spread, training ? "saveInvstd" : "runningVar"));
  const auto plan_as = is_double(x) ? &plan_batch_gradient<double> : &plan_batch_gradient<float>;
  return plan_as(shape, grad, x, weight, mean, spread, training, eps, dx, dweight, dbias, plan);
}

Status batch_norm_stats(const aclTensor& x, double eps, const aclTensor& mean, const aclTensor& rstd, Plan* plan) {
  Channels shape;
  SOFTNPU_RETURN_IF_ERROR(channels_of(x, &shape));
  const auto plan_as = is_double(x) ? &plan_batch_norm<double> : &plan_batch_norm<float>;
  return plan_as(shape, x, nullptr, nullptr, nullptr, nullptr, true, 0, eps, nullptr, &mean, &rstd, plan);
}

Status batch_norm_elemt(const aclTensor& x, const aclTensor* weight, const aclTensor* bias, const aclTensor& mean,
                        const aclTensor& rstd, const aclTensor& y, Plan* plan) {
  Channels shape;
  SOFTNPU_RETURN_IF_ERROR(channels_of(x, &shape));
  if (!is_known(x.dtype) || !is_floating(x.dtype)) return check_operand(x, "the input", shape.count());
  const auto run = [&]<typename T>() -> Status {
    // Evaluation whose spread is given as rstd: y = (x - mean) rstd weight + bias.
    auto task = std::make_shared<BatchNormTask<T>>();
    task->shape = shape;
    task->is_rstd = true;
    SOFTNPU_RETURN_IF_ERROR(open(&x, "the input", shape.count(), &task->x, shape.last));
    SOFTNPU_RETURN_IF_ERROR(open(weight, "the weight", shape.channels, &task->weight));
    SOFTNPU_RETURN_IF_ERROR(open(bias, "the bias", shape.channels, &task->bias));
    SOFTNPU_RETURN_IF_ERROR(open(&mean, "the mean", shape.channels, &task->old_mean));
    SOFTNPU_RETURN_IF_ERROR(open(&rstd, "invstd", shape.channels, &task->old_var));
    SOFTNPU_RETURN_IF_ERROR(open(&y, "the result", shape.count(), &task->y, shape.last));
    if (shape.count() == 0) return nothing_to_do(plan);
    hand_out(std::move(task), shape, x, plan);
    return Status::ok();
  };
  return is_double(x) ? run.template operator()<double>() : run.template operator()<float>();
}

}  // namespace softnpu
