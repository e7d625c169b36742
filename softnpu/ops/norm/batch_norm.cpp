#include <algorithm>
#include <cmath>
#include <memory>

#include "ops/norm/channels.h"
#include "ops/norm/norms.h"

namespace softnpu {
namespace {

template <typename T>
class BatchNormTask {
 public:
  NormRows<T> kernel = norm_rows<T>();
  Channels shape;
  bool training = false;
  bool is_rstd = false;         // what is given as variance
  bool saves_variance = false;  // in place of rstd
  double momentum = 0;
  double eps = 0;
  std::optional<FlatReader<T>> x, weight, bias, old_mean, old_var;
  std::optional<FlatWriter<T>> y, new_mean, new_var, save_mean, save_rstd;

  void run() const {
    for_parts(shape, shape.channels, [this](int64_t c) { run_channel(c); });
  }

 private:
  void run_channel(int64_t c) const {
    alignas(64) T values[kNormTile];
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
    put_value(save_rstd, c, saves_variance ? variance : rstd);
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

template <typename T>
class BatchNormGradientTask {
 public:
  SliceGradient<T> slices;
  bool training = false;
  bool is_rstd = false;  // what the spread is; else a variance
  double eps = 0;
  // The statistics: saved ones in training, else the running ones.
  std::optional<FlatReader<T>> mean, spread;

  void run() const {
    const Channels& shape = slices.shape;
    for_parts(shape, shape.channels, [this](int64_t c) { run_channel(c); });
  }

 private:
  void run_channel(int64_t c) const {
    const Channels& shape = slices.shape;
    const T center = value_of(mean, c, T(0));
    T rstd = value_of(spread, c, T(1));
    if (!is_rstd) rstd = static_cast<T>(1 / std::sqrt(static_cast<double>(rstd) + eps));
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

// Statistics that are not of each channel are not wanted: eager evaluation passes empty ones.
const aclTensor* if_of_channels(const aclTensor* tensor, const Channels& shape) {
  return tensor != nullptr && element_count(*tensor) == shape.channels ? tensor : nullptr;
}

template <typename T>
Status plan_batch_norm(const Channels& shape, const aclTensor& x, const aclTensor* weight, const aclTensor* bias,
                       const aclTensor* running_mean, const aclTensor* running_var, bool training, double momentum,
                       double eps, const aclTensor* y, const aclTensor* save_mean, const aclTensor* save_rstd,
                       bool saves_variance, Plan* plan) {
  auto task = std::make_shared<BatchNormTask<T>>();
  task->shape = shape;
  task->training = training;
  task->saves_variance = saves_variance;
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
                           const aclTensor* mean, const aclTensor* spread, bool training, bool is_rstd, double eps,
                           const aclTensor* dx, const aclTensor* dweight, const aclTensor* dbias, Plan* plan) {
  auto task = std::make_shared<BatchNormGradientTask<T>>();
  task->slices.shape = shape;
  task->training = training;
  task->is_rstd = is_rstd;
  task->eps = eps;
  SOFTNPU_RETURN_IF_ERROR(task->slices.open_all(grad, x, weight, dx, dweight, dbias));
  SOFTNPU_RETURN_IF_ERROR(open(mean, "the mean", shape.channels, &task->mean));
  SOFTNPU_RETURN_IF_ERROR(open(spread, is_rstd ? "the saved rstd" : "the variance", shape.channels, &task->spread));
  hand_out(std::move(task), shape, x, plan);
  return Status::ok();
}

bool is_double(const aclTensor& x) { return x.dtype == ACL_DOUBLE; }

}  // namespace

Status channels_of(const aclTensor& x, Channels* out) {
  if (x.dims.size() < 2) {
    return {ACLNN_ERR_PARAM_INVALID,
            text("the input is ", describe(x), "; it needs a dimension of channels: [N, C, ...]")};
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
  return plan_as(shape, x, weight, bias, running_mean, running_var, training, momentum, eps, &y, save_mean, save_rstd,
                 false, plan);
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
  return plan_as(shape, grad, x, weight, mean, spread, training, training, eps, dx, dweight, dbias, plan);
}

Status batch_norm_of_batch(const aclTensor& x, const aclTensor& weight, const aclTensor& bias,
                           const aclTensor& running_mean, const aclTensor& running_var, double momentum, double eps,
                           const aclTensor& y, const aclTensor& mean, const aclTensor& variance, Plan* plan) {
  Channels shape;
  SOFTNPU_RETURN_IF_ERROR(channels_of(x, &shape));
  const auto plan_as = is_double(x) ? &plan_batch_norm<double> : &plan_batch_norm<float>;
  return plan_as(shape, x, &weight, &bias, &running_mean, &running_var, true, momentum, eps, &y, &mean, &variance, true,
                 plan);
}

Status batch_norm_of_batch_gradient(const aclTensor& grad, const aclTensor& x, const aclTensor* weight,
                                    const aclTensor& mean, const aclTensor& variance, double eps, const aclTensor* dx,
                                    const aclTensor* dweight, const aclTensor* dbias, Plan* plan) {
  Channels shape;
  SOFTNPU_RETURN_IF_ERROR(channels_of(x, &shape));
  const auto plan_as = is_double(x) ? &plan_batch_gradient<double> : &plan_batch_gradient<float>;
  return plan_as(shape, grad, x, weight, &mean, &variance, true, false, eps, dx, dweight, dbias, plan);
}

Status batch_norm_stats(const aclTensor& x, double eps, const aclTensor& mean, const aclTensor& rstd, Plan* plan) {
  Channels shape;
  SOFTNPU_RETURN_IF_ERROR(channels_of(x, &shape));
  const auto plan_as = is_double(x) ? &plan_batch_norm<double> : &plan_batch_norm<float>;
  return plan_as(shape, x, nullptr, nullptr, nullptr, nullptr, true, 0, eps, nullptr, &mean, &rstd, false, plan);
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
