#include <algorithm>
#include <cmath>
#include <memory>

#include "fusion/elementwise_loop.h"
#include "ops/nn/norm/channel_rows.h"
#include "ops/nn/norm/channels.h"
#include "ops/nn/norm/norms.h"

namespace softnpu {
namespace {

template <typename T>
class BatchNormTask {
 public:
  NormRows<T> kernel = norm_rows<T>();
  Channels shape;
  bool training = false;
  bool is_rstd = false;         // the "variance" input is rstd
  bool saves_variance = false;  // instead of rstd
  double momentum = 0;
  double eps = 0;
  std::optional<FlatReader<T>> x, weight, bias, old_mean, old_var;
  std::optional<FlatWriter<T>> y, new_mean, new_var, save_mean, save_rstd;
  bool by_rows = false;  // the channels of x and y are innermost

  void run() const {
    if (by_rows) return run_rows();
    const Whole whole = find_whole();
    for_parts(shape, shape.channels, [&](int64_t c) { run_channel(whole, c); });
  }

  // y = (x - mean) * factor + offset, per channel.
  struct Table {
    std::vector<T> mean, factor, offset;
  };

  // Writes the statistics of all channels.
  Table finalize_all_statistics() const {
    if (!training && !save_mean && !save_rstd) return from_running_statistics();
    const auto channels = static_cast<size_t>(shape.channels);
    std::vector<Moment> moments(channels);
    if (training && by_rows) moments = moments_of(ChannelRows(shape));
    if (training && !by_rows) {
      const Whole whole = find_whole();
      for_parts(shape, shape.channels, [&](int64_t c) { moments[static_cast<size_t>(c)] = moment_of(whole, c); });
    }
    Table table{std::vector<T>(channels), std::vector<T>(channels), std::vector<T>(channels)};
    for (size_t c = 0; c < channels; ++c) {
      const Affine affine = finalize_statistics(static_cast<int64_t>(c), moments[c]);
      table.mean[c] = affine.mean;
      table.factor[c] = affine.factor;
      table.offset[c] = affine.offset;
    }
    return table;
  }

  // Elements [first, last) of y, contiguous at `to`, from x at `from`.
  void apply(const Table& table, const T* from, T* to, int64_t first, int64_t last) const {
    for (int64_t at = first; at < last;) {
      const int64_t slice = by_rows ? 0 : at / shape.spatial_size;
      const auto c = static_cast<size_t>((by_rows ? at : slice) % shape.channels);
      const int64_t end = by_rows ? at + shape.channels - static_cast<int64_t>(c) : (slice + 1) * shape.spatial_size;
      const auto count = static_cast<size_t>(std::min(end, last) - at);
      if (by_rows) {
        kernel.channels.affine(from + at, count, table.mean.data() + c, table.factor.data() + c,
                               table.offset.data() + c, to + at);
      } else {
        kernel.affine(from + at, count, table.mean[c], table.factor[c], table.offset[c], to + at);
      }
      at = std::min(end, last);
    }
  }

 private:
  // y = (x - mean) * factor + offset.
  struct Affine {
    T mean, factor, offset;
  };

  // The addresses of all values, if the slices are short and memory has the values contiguously; else null.
  struct Whole {
    const T* x = nullptr;
    T* y = nullptr;
  };
  Whole find_whole() const {
    if (!shape.has_short_slices()) return {};
    return {x->find(0, shape.count()), y ? y->find(0, shape.count()) : nullptr};
  }

  // The values of all channels; `missing` without a tensor.
  std::vector<T> all_of(const std::optional<FlatReader<T>>& accessor, T missing) const {
    std::vector<T> values(static_cast<size_t>(shape.channels), missing);
    if (accessor) {
      const T* found = accessor->read(0, shape.channels, values.data());
      if (found != values.data()) std::copy_n(found, values.size(), values.data());
    }
    return values;
  }

  double rstd_of(double spread) const { return is_rstd ? spread : 1 / std::sqrt(spread + eps); }

  // Uses the given statistics and writes none.
  Table from_running_statistics() const {
    Table table{all_of(old_mean, T(0)), all_of(weight, T(1)), all_of(bias, T(0))};
    const std::vector<T> variance = all_of(old_var, T(1));
    for (size_t c = 0; c < variance.size(); ++c) {
      const double rstd = rstd_of(static_cast<double>(variance[c]));
      table.factor[c] = static_cast<T>(rstd * static_cast<double>(table.factor[c]));
    }
    return table;
  }

  Moment moment_of(const Whole& whole, int64_t c) const {
    if (!training) return {};
    if (whole.x != nullptr) return slice_kernels<T>().moment(shape.slices(), whole.x + shape.slice(0, c));
    alignas(64) T values[kNormTile];
    Moment moment;
    for (int64_t n = 0; n < shape.samples; ++n) {
      for_tiles(shape.slice(n, c), shape.spatial_size, [&](int64_t first, int64_t count) {
        moment.add(kernel.moment(x->read(first, count, values), static_cast<size_t>(count)));
      });
    }
    return moment;
  }

  void run_channel(const Whole& whole, int64_t c) const {
    alignas(64) T values[kNormTile];
    const Affine affine = finalize_statistics(c, moment_of(whole, c));
    if (whole.x != nullptr && whole.y != nullptr) {
      const int64_t at = shape.slice(0, c);
      return slice_kernels<T>().affine(shape.slices(), whole.x + at, affine.mean, affine.factor, affine.offset,
                                       whole.y + at);
    }
    for (int64_t n = 0; y && n < shape.samples; ++n) {
      for_tiles(shape.slice(n, c), shape.spatial_size, [&](int64_t first, int64_t count) {
        const T* v = x->read(first, count, values);
        T* to = y->location(first, count, values);
        kernel.affine(v, static_cast<size_t>(count), affine.mean, affine.factor, affine.offset, to);
        y->put(first, count, to);
      });
    }
  }

  void run_rows() const {
    const ChannelRows rows(shape);
    const Table table = finalize_all_statistics();
    if (!y) return;
    rows.for_pieces([&](int64_t chunk) {
      alignas(64) T values[kNormTile];
      rows.for_rows(chunk, [&](int64_t first, int64_t c, int64_t count) {
        const T* v = x->read(first, count, values);
        T* to = y->location(first, count, values);
        kernel.channels.affine(v, static_cast<size_t>(count), table.mean.data() + c, table.factor.data() + c,
                               table.offset.data() + c, to);
        y->put(first, count, to);
      });
    });
  }

  // Per channel: the moments of the pieces, combined in order.
  std::vector<Moment> moments_of(const ChannelRows& rows) const {
    const auto channels = static_cast<size_t>(shape.channels);
    std::vector<double> means(static_cast<size_t>(rows.pieces()) * channels);
    std::vector<double> squares(means.size());
    rows.for_pieces([&](int64_t chunk) {
      alignas(64) T values[kNormTile];
      double* mean = means.data() + static_cast<size_t>(chunk) * channels;
      double* square = squares.data() + static_cast<size_t>(chunk) * channels;
      rows.for_rows(chunk, [&](int64_t first, int64_t c, int64_t count) {
        kernel.channels.sum(x->read(first, count, values), static_cast<size_t>(count), mean + c);
      });
      for (size_t c = 0; c < channels; ++c) mean[c] /= static_cast<double>(rows.rows_in(chunk));
      rows.for_rows(chunk, [&](int64_t first, int64_t c, int64_t count) {
        kernel.channels.squares(x->read(first, count, values), static_cast<size_t>(count), mean + c, square + c);
      });
    });
    std::vector<Moment> moments(channels);
    for (int64_t chunk = 0; chunk < rows.pieces(); ++chunk) {
      const size_t at = static_cast<size_t>(chunk) * channels;
      for (size_t c = 0; c < channels; ++c) {
        moments[c].add({static_cast<double>(rows.rows_in(chunk)), means[at + c], squares[at + c]});
      }
    }
    return moments;
  }

  // Writes the statistics of channel `c`: in training those of `moment`.
  Affine finalize_statistics(int64_t c, const Moment& moment) const {
    double mean = static_cast<double>(value_of(old_mean, c, T(0)));
    double variance = static_cast<double>(value_of(old_var, c, T(1)));
    if (training) {
      put_value(new_mean, c, momentum * moment.mean + (1 - momentum) * mean);
      put_value(new_var, c, momentum * moment.squares / (moment.count - 1) + (1 - momentum) * variance);
      mean = moment.mean;
      variance = moment.squares / moment.count;
    }
    const double rstd = rstd_of(variance);
    put_value(save_mean, c, mean);
    put_value(save_rstd, c, saves_variance ? variance : rstd);
    return {static_cast<T>(mean), static_cast<T>(rstd * static_cast<double>(value_of(weight, c, T(1)))),
            value_of(bias, c, T(0))};
  }
};

// A normalization as a loop, so that fused stages (an activation, a sum) read its result from the cache.
template <typename T>
class BatchNormLoop final : public ElementwiseLoop {
 public:
  using Task = BatchNormTask<T>;

  // Null unless each tensor of the task is contiguous and in its compute type.
  static std::shared_ptr<const ElementwiseLoop> make(std::shared_ptr<const Task> task) {
    auto loop = std::make_shared<BatchNormLoop>(std::move(task));
    return loop->is_found_ ? std::shared_ptr<const ElementwiseLoop>(std::move(loop)) : nullptr;
  }

  explicit BatchNormLoop(std::shared_ptr<const Task> task) : task_(std::move(task)) {
    const Channels& shape = task_->shape;
    is_found_ = task_->x.has_value() && task_->y.has_value();
    if (is_found_) {
      from_ = task_->x->find(0, shape.count());
      to_ = task_->y->find(0, shape.count());
    }
    add(task_->x, shape.count(), sizeof(T), false);
    if (task_->training) add(task_->x, shape.count(), 0, false);
    add(task_->y, shape.count(), sizeof(T), true);
    for (const auto* each : {&task_->weight, &task_->bias}) add(*each, shape.channels, 0, false);
    for (const auto* each : {&task_->old_mean, &task_->old_var}) {
      if (!task_->training) add(*each, shape.channels, 0, false);  // in training they are new_mean and new_var
    }
    for (const auto* each : {&task_->new_mean, &task_->new_var, &task_->save_mean, &task_->save_rstd}) {
      add(*each, shape.channels, 0, true);
    }
  }

  int64_t count() const override { return task_->shape.count(); }
  void add_accesses(std::vector<MemoryAccess>* to) const override {
    to->insert(to->end(), memory_.begin(), memory_.end());
  }
  std::unique_ptr<const ElementwiseLoop> prologue() const override {
    auto result = std::make_unique<BatchNormLoop>(*this);
    result->table_ = task_->finalize_all_statistics();
    return result;
  }
  void run(int64_t first, int64_t last) const override { task_->apply(table_, from_, to_, first, last); }
  bool can_rebind() const override { return true; }
  std::unique_ptr<const ElementwiseLoop> rebind(const BufferRebinding& rebinding) const override {
    auto result = std::make_unique<BatchNormLoop>(*this);
    if (rebinding.input == from_) result->from_ = reinterpret_cast<const T*>(rebinding.new_input);
    if (rebinding.new_output != nullptr) result->to_ = reinterpret_cast<T*>(rebinding.new_output);
    for (MemoryAccess& memory : result->memory_) {
      if (memory.element_bytes == 0) continue;
      const auto* begin = reinterpret_cast<const char*>(memory.is_written ? result->to_ : result->from_);
      memory.end += begin - memory.begin;
      memory.begin = begin;
    }
    return result;
  }
  double cost_per_element() const override { return kNormFlops; }

 private:
  template <typename Accessor>
  void add(const std::optional<Accessor>& accessor, int64_t count, uint32_t element_bytes, bool is_written) {
    if (!accessor) return;
    const auto* begin = reinterpret_cast<const char*>(accessor->find(0, count));
    if (begin == nullptr) is_found_ = false;
    memory_.push_back({begin, begin + count * static_cast<int64_t>(sizeof(T)), element_bytes, is_written});
  }

  std::shared_ptr<const Task> task_;
  std::vector<MemoryAccess> memory_;
  const T* from_ = nullptr;  // x
  T* to_ = nullptr;          // y
  bool is_found_ = false;
  typename Task::Table table_;
};

// Makes the task's plan.
template <typename T>
void hand_out_loop(std::shared_ptr<BatchNormTask<T>> task, const Channels& shape, const aclTensor& x, Plan* plan) {
  const std::shared_ptr<const BatchNormTask<T>> shared = task;
  hand_out(std::move(task), shape, x, plan);
  if (shape.count() >= kMinLoopElements) plan->fusible = BatchNormLoop<T>::make(shared);
}

template <typename T>
class BatchNormGradientTask {
 public:
  SliceGradient<T> slices;
  bool training = false;
  bool is_rstd = false;  // whether `spread` is rstd; else a variance
  double eps = 0;
  // Saved statistics in training, else the running ones.
  std::optional<FlatReader<T>> mean, spread;
  bool by_rows = false;  // the channels are innermost

  void run() const {
    if (by_rows) return run_rows();
    const auto whole = slices.find_whole();
    for_parts(slices.shape, slices.shape.channels, [&](int64_t c) { run_channel(whole, c); });
  }

 private:
  bool needs_sums() const { return training || slices.dweight || slices.dbias; }

  T rstd_of(int64_t c) const {
    const T given = value_of(spread, c, T(1));
    return is_rstd ? given : static_cast<T>(1 / std::sqrt(static_cast<double>(given) + eps));
  }

  // dx = factor * (g - a - z * b).
  struct Slope {
    T factor, a, b;
  };

  // Writes the gradients of weight and bias of channel `c`.
  Slope finalize_statistics(int64_t c, T rstd, const GradientSums& sum) const {
    put_value(slices.dweight, c, sum.gz);
    put_value(slices.dbias, c, sum.g);
    const double values = static_cast<double>(slices.shape.per_channel());
    return {rstd * value_of(slices.weight, c, T(1)), training ? static_cast<T>(sum.g / values) : T(0),
            training ? static_cast<T>(sum.gz / values) : T(0)};
  }

  void run_channel(const typename SliceGradient<T>::Whole& whole, int64_t c) const {
    const T center = value_of(mean, c, T(0));
    const T rstd = rstd_of(c);
    const GradientSums sums = needs_sums() ? slices.sums_of_channel(whole, c, center, rstd) : GradientSums();
    const Slope slope = finalize_statistics(c, rstd, sums);
    if (slices.dx) slices.put_channel(whole, c, center, rstd, slope.factor, slope.a, slope.b);
  }

  void run_rows() const {
    const ChannelRows rows(slices.shape);
    const auto channels = static_cast<size_t>(slices.shape.channels);
    std::vector<T> centers(channels), scales(channels), factors(channels), a(channels), b(channels);
    for (size_t c = 0; c < channels; ++c) {
      centers[c] = value_of(mean, static_cast<int64_t>(c), T(0));
      scales[c] = rstd_of(static_cast<int64_t>(c));
    }
    const std::vector<GradientSums> sums = needs_sums() ? sums_of(rows, centers) : std::vector<GradientSums>(channels);
    for (size_t c = 0; c < channels; ++c) {
      const GradientSums sum{sums[c].g, sums[c].gz * static_cast<double>(scales[c])};
      const Slope slope = finalize_statistics(static_cast<int64_t>(c), scales[c], sum);
      factors[c] = slope.factor;
      a[c] = slope.a;
      b[c] = slope.b;
    }
    if (!slices.dx) return;
    rows.for_pieces([&](int64_t chunk) {
      alignas(64) T gs[kNormTile];
      alignas(64) T xs[kNormTile];
      rows.for_rows(chunk, [&](int64_t first, int64_t c, int64_t count) {
        const T* g = slices.grad->read(first, count, gs);
        const T* v = slices.x->read(first, count, xs);
        T* to = slices.dx->location(first, count, xs);
        slices.kernel.channels.gradient(g, v, static_cast<size_t>(count), centers.data() + c, scales.data() + c,
                                        factors.data() + c, a.data() + c, b.data() + c, to);
        slices.dx->put(first, count, to);
      });
    });
  }

  // Per channel: the sums of the pieces, combined in order; gz is not scaled yet.
  std::vector<GradientSums> sums_of(const ChannelRows& rows, const std::vector<T>& centers) const {
    const size_t channels = centers.size();
    std::vector<double> slopes(static_cast<size_t>(rows.pieces()) * channels);
    std::vector<double> products(slopes.size());
    rows.for_pieces([&](int64_t chunk) {
      alignas(64) T gs[kNormTile];
      alignas(64) T xs[kNormTile];
      const size_t at = static_cast<size_t>(chunk) * channels;
      rows.for_rows(chunk, [&](int64_t first, int64_t c, int64_t count) {
        const auto location = at + static_cast<size_t>(c);
        slices.kernel.channels.gradient_sums(slices.grad->read(first, count, gs), slices.x->read(first, count, xs),
                                             static_cast<size_t>(count), centers.data() + c, slopes.data() + location,
                                             products.data() + location);
      });
    });
    std::vector<GradientSums> sums(channels);
    for (size_t i = 0; i < slopes.size(); ++i) {
      sums[i % channels].g += slopes[i];
      sums[i % channels].gz += products[i];
    }
    return sums;
  }
};

// Null for statistics without one value per channel: in eager evaluation they are empty.
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
  task->by_rows = has_channel_rows(x);
  task->training = training;
  task->saves_variance = saves_variance;
  task->momentum = momentum;
  task->eps = eps;
  if (task->by_rows) task->shape.last = kChannelDim;
  SOFTNPU_RETURN_IF_ERROR(open_image(&x, "the input", task->shape, &task->x));
  SOFTNPU_RETURN_IF_ERROR(open(weight, "the weight", shape.channels, &task->weight));
  SOFTNPU_RETURN_IF_ERROR(open(bias, "the bias", shape.channels, &task->bias));
  SOFTNPU_RETURN_IF_ERROR(open(running_mean, "the running mean", shape.channels, &task->old_mean));
  SOFTNPU_RETURN_IF_ERROR(open(running_var, "the running variance", shape.channels, &task->old_var));
  if (training) {
    SOFTNPU_RETURN_IF_ERROR(open(running_mean, "the running mean", shape.channels, &task->new_mean));
    SOFTNPU_RETURN_IF_ERROR(open(running_var, "the running variance", shape.channels, &task->new_var));
  } else {
    for (const aclTensor* statistics : {running_mean, running_var}) plan->unchanged.push_back(statistics);
  }
  SOFTNPU_RETURN_IF_ERROR(open_image(y, "the result", task->shape, &task->y));
  SOFTNPU_RETURN_IF_ERROR(open(save_mean, "the saved mean", shape.channels, &task->save_mean));
  SOFTNPU_RETURN_IF_ERROR(open(save_rstd, "the saved rstd", shape.channels, &task->save_rstd));
  if (shape.count() == 0) return plan_nothing(plan);
  hand_out_loop(std::move(task), shape, x, plan);
  return Status::ok();
}

template <typename T>
Status plan_batch_gradient(const Channels& shape, const aclTensor& grad, const aclTensor& x, const aclTensor* weight,
                           const aclTensor* mean, const aclTensor* spread, bool training, bool is_rstd, double eps,
                           const aclTensor* dx, const aclTensor* dweight, const aclTensor* dbias, Plan* plan) {
  auto task = std::make_shared<BatchNormGradientTask<T>>();
  task->slices.shape = shape;
  task->by_rows = has_channel_rows(x);
  if (task->by_rows) task->slices.shape.last = kChannelDim;
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
  for (size_t i = 2; i < x.dims.size(); ++i) out->spatial_size *= x.dims[i];
  if (out->spatial_size == 1 && x.dims.size() == 2) {
    // The slice is a channel's values, one per sample.
    std::swap(out->samples, out->spatial_size);
    out->last = 0;
  }
  out->threads = threads_of(*out);
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
    // Evaluation with rstd as the spread: y = (x - mean) * rstd * weight + bias.
    auto task = std::make_shared<BatchNormTask<T>>();
    task->shape = shape;
    task->by_rows = has_channel_rows(x);
    task->is_rstd = true;
    if (task->by_rows) task->shape.last = kChannelDim;
    SOFTNPU_RETURN_IF_ERROR(open_image(&x, "the input", task->shape, &task->x));
    SOFTNPU_RETURN_IF_ERROR(open(weight, "the weight", shape.channels, &task->weight));
    SOFTNPU_RETURN_IF_ERROR(open(bias, "the bias", shape.channels, &task->bias));
    SOFTNPU_RETURN_IF_ERROR(open(&mean, "the mean", shape.channels, &task->old_mean));
    SOFTNPU_RETURN_IF_ERROR(open(&rstd, "invstd", shape.channels, &task->old_var));
    SOFTNPU_RETURN_IF_ERROR(open_image(&y, "the result", task->shape, &task->y));
    if (shape.count() == 0) return plan_nothing(plan);
    hand_out_loop(std::move(task), shape, x, plan);
    return Status::ok();
  };
  return is_double(x) ? run.template operator()<double>() : run.template operator()<float>();
}

}  // namespace softnpu
