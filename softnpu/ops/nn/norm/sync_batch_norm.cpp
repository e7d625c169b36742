#include <cmath>
#include <vector>

#include "ops/nn/norm/channels.h"
#include "ops/nn/norm/norms.h"

namespace softnpu {
namespace {

// Counts of values, in any data type: their sum, or one by one.
struct Counts {
  FlatTensor tensor;
  ElementReader reader;
  int64_t size = 0;

  Status make(const aclTensor& counts, const char* role) {
    SOFTNPU_RETURN_IF_ERROR(FlatTensor::make(counts, -1, role, &tensor));
    if (is_complex(tensor.dtype())) return {ACLNN_ERR_PARAM_INVALID, text(role, " are ", describe(counts))};
    reader = ElementReader(tensor.dtype(), ACL_DOUBLE);
    size = element_count(counts);
    return Status::ok();
  }
  double at(int64_t i) const {
    double value = 0;
    tensor.for_runs(i, 1, [&](const char* from, ptrdiff_t stride, int64_t) { reader.read(from, stride, 1, &value); });
    return value;
  }
  double total() const {
    double sum = 0;
    for (int64_t i = 0; i < size; ++i) sum += at(i);
    return sum;
  }
};

template <typename Work>
Status run_now(Plan* plan, Work work) {
  plan->work = 0;
  plan->run = [work = std::move(work)](void*) {
    work();
    return Status::ok();
  };
  return Status::ok();
}

// Combines the statistics [ranks, channels] of several processes, and updates the running ones.
struct Gather {
  std::optional<FlatReader<double>> first, second, old_mean, old_var;
  std::optional<FlatWriter<double>> new_mean, new_var, mean, rstd;
  Counts counts;
  int64_t channels = 0;
  double momentum = 0;
  double eps = 0;
  bool are_sums = false;  // of values and of squares; else means and rstd

  void run() const {
    for (int64_t c = 0; c < channels; ++c) {
      Moment all;
      for (int64_t r = 0; r < counts.size; ++r) all.add(part(r, c));
      put_value(new_mean, c, momentum * all.mean + (1 - momentum) * value_of(old_mean, c, 0.0));
      put_value(new_var, c, momentum * all.squares / (all.count - 1) + (1 - momentum) * value_of(old_var, c, 0.0));
      put_value(mean, c, all.mean);
      put_value(rstd, c, 1 / std::sqrt(all.squares / all.count + eps));
    }
  }

 private:
  Moment part(int64_t rank, int64_t c) const {
    const double a = value_of(first, rank * channels + c, 0.0);
    const double b = value_of(second, rank * channels + c, 0.0);
    Moment moment;
    moment.count = counts.at(rank);
    if (are_sums) {
      moment.mean = moment.count == 0 ? 0 : a / moment.count;
      moment.squares = std::max(0.0, b - a * moment.mean);
    } else {
      moment.mean = a;
      moment.squares = (1 / (b * b) - eps) * moment.count;
    }
    return moment;
  }
};

}  // namespace

Status batch_norm_gather(bool are_sums, const aclTensor& first, const aclTensor& second, const aclTensor* running_mean,
                         const aclTensor* running_var, double momentum, double eps, const aclTensor& counts,
                         const aclTensor& mean, const aclTensor& rstd, Plan* plan) {
  auto gather = std::make_shared<Gather>();
  SOFTNPU_RETURN_IF_ERROR(gather->counts.make(counts, "the counts"));
  const int64_t channels = element_count(mean);
  const int64_t all = gather->counts.size * channels;
  SOFTNPU_RETURN_IF_ERROR(open(&first, are_sums ? "the sums" : "the means", all, &gather->first));
  SOFTNPU_RETURN_IF_ERROR(open(&second, are_sums ? "the sums of squares" : "the deviations", all, &gather->second));
  SOFTNPU_RETURN_IF_ERROR(open(running_mean, "the running mean", channels, &gather->old_mean));
  SOFTNPU_RETURN_IF_ERROR(open(running_mean, "the running mean", channels, &gather->new_mean));
  SOFTNPU_RETURN_IF_ERROR(open(running_var, "the running variance", channels, &gather->old_var));
  SOFTNPU_RETURN_IF_ERROR(open(running_var, "the running variance", channels, &gather->new_var));
  SOFTNPU_RETURN_IF_ERROR(open(&mean, "the mean", channels, &gather->mean));
  SOFTNPU_RETURN_IF_ERROR(open(&rstd, "invstd", channels, &gather->rstd));
  gather->are_sums = are_sums;
  gather->channels = channels;
  gather->momentum = momentum;
  gather->eps = eps;
  return run_now(plan, [gather] { gather->run(); });
}

namespace {

template <typename T>
Status plan_sums(const aclTensor& x, const Channels& shape, const aclTensor& sum, const aclTensor& squares,
                 Plan* plan) {
  struct Task {
    NormRows<T> kernel = norm_rows<T>();
    Channels shape;
    std::optional<FlatReader<T>> x;
    std::optional<FlatWriter<T>> sum, squares;
    void run() const {
      for_parts(shape, shape.channels, [this](int64_t c) {
        alignas(64) T values[kNormTile];
        Moment all;
        for (int64_t n = 0; n < shape.samples; ++n) {
          for_tiles(shape.slice(n, c), shape.spatial_size, [&](int64_t first, int64_t count) {
            all.add(kernel.moment(x->read(first, count, values), static_cast<size_t>(count)));
          });
        }
        put_value(sum, c, all.mean * all.count);
        put_value(squares, c, all.squares + all.mean * all.mean * all.count);
      });
    }
  };
  auto task = std::make_shared<Task>();
  task->shape = shape;
  SOFTNPU_RETURN_IF_ERROR(open(&x, "the input", shape.count(), &task->x, shape.last));
  SOFTNPU_RETURN_IF_ERROR(open(&sum, "the sums", shape.channels, &task->sum));
  SOFTNPU_RETURN_IF_ERROR(open(&squares, "the sums of squares", shape.channels, &task->squares));
  hand_out(std::move(task), shape, x, plan);
  return Status::ok();
}

// Sums over a channel's gradient, or the gradient from such sums.
template <typename T>
struct PartTask {
  SliceGradient<T> slices;
  std::optional<FlatReader<T>> mean, rstd, sum_dy, sum_dy_xmu;
  std::optional<FlatWriter<T>> new_sum_dy, new_sum_dy_xmu;
  Counts counts;

  void run() const {
    const double total = counts.size == 0 ? 1 : counts.total();
    for_parts(slices.shape, slices.shape.channels, [&](int64_t c) { slices.dx ? spread(c, total) : reduce(c); });
  }

  void reduce(int64_t c) const {
    GradientSums all;
    for (int64_t n = 0; n < slices.shape.samples; ++n) {
      // A scale of 1 keeps the deviations from the mean unscaled.
      const GradientSums part = slices.sums(n, c, value_of(mean, c, T(0)), T(1));
      all.g += part.g;
      all.gz += part.gz;
    }
    put_value(new_sum_dy, c, all.g);
    put_value(new_sum_dy_xmu, c, all.gz);
    put_value(slices.dweight, c, all.gz * static_cast<double>(value_of(rstd, c, T(1))));
    put_value(slices.dbias, c, all.g);
  }

  void spread(int64_t c, double total) const {
    const T scale = value_of(rstd, c, T(1));
    const T a = static_cast<T>(static_cast<double>(value_of(sum_dy, c, T(0))) / total);
    const T b = static_cast<T>(static_cast<double>(value_of(sum_dy_xmu, c, T(0))) * static_cast<double>(scale) / total);
    const T factor = scale * value_of(slices.weight, c, T(1));
    for (int64_t n = 0; n < slices.shape.samples; ++n) slices.put(n, c, value_of(mean, c, T(0)), scale, factor, a, b);
  }
};

template <typename T>
Status plan_reduce_gradient(const Channels& shape, const BatchNormPart& part, Plan* plan) {
  auto task = std::make_shared<PartTask<T>>();
  task->slices.shape = shape;
  SOFTNPU_RETURN_IF_ERROR(task->slices.open_all(*part.grad, *part.x, part.weight, part.dx, part.dweight, part.dbias));
  SOFTNPU_RETURN_IF_ERROR(open(part.mean, "the mean", shape.channels, &task->mean));
  SOFTNPU_RETURN_IF_ERROR(open(part.rstd, "invstd", shape.channels, &task->rstd));
  if (part.dx != nullptr) {
    SOFTNPU_RETURN_IF_ERROR(open(part.sum_dy, "sumDy", shape.channels, &task->sum_dy));
    SOFTNPU_RETURN_IF_ERROR(open(part.sum_dy_xmu, "sumDyXmu", shape.channels, &task->sum_dy_xmu));
    SOFTNPU_RETURN_IF_ERROR(task->counts.make(*part.counts, "the counts"));
  } else {
    SOFTNPU_RETURN_IF_ERROR(open(part.sum_dy, "sumDy", shape.channels, &task->new_sum_dy));
    SOFTNPU_RETURN_IF_ERROR(open(part.sum_dy_xmu, "sumDyXmu", shape.channels, &task->new_sum_dy_xmu));
  }
  hand_out(std::move(task), shape, *part.x, plan);
  return Status::ok();
}

}  // namespace

Status batch_norm_sums(const aclTensor& x, const aclTensor& sum, const aclTensor& squares, Plan* plan) {
  Channels shape;
  SOFTNPU_RETURN_IF_ERROR(channels_of(x, &shape));
  return x.dtype == ACL_DOUBLE ? plan_sums<double>(x, shape, sum, squares, plan)
                               : plan_sums<float>(x, shape, sum, squares, plan);
}

Status batch_norm_part(const BatchNormPart& part, Plan* plan) {
  Channels shape;
  SOFTNPU_RETURN_IF_ERROR(channels_of(*part.x, &shape));
  return part.x->dtype == ACL_DOUBLE ? plan_reduce_gradient<double>(shape, part, plan)
                                     : plan_reduce_gradient<float>(shape, part, plan);
}

}  // namespace softnpu
