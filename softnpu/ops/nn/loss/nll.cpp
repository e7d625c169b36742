#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>

#include "base/text.h"
#include "ops/core/describe.h"
#include "ops/core/iterate/flat.h"
#include "ops/nn/loss/losses.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

constexpr int64_t kTile = 512;
constexpr int64_t kChunk = 16 * kTile;  // targets per piece
constexpr double kFlopsPerTarget = 128;
constexpr int64_t kCached = 1 << 11;   // elements of a gradient that are cleared and filled at a time
constexpr double kGradientFlops = 16;  // of a target, its row's zeros aside

// self as [samples, classes, spatial_size].
struct Shape {
  int64_t samples = 1;
  int64_t classes = 1;
  int64_t spatial_size = 1;
  int64_t targets() const { return samples * spatial_size; }
};

Status mismatch(const aclTensor& self, const aclTensor& target) {
  return {ACLNN_ERR_PARAM_INVALID,
          text("self ", describe(self), " and target ", describe(target),
               " do not belong together: they are [N, C, ...] and [N, ...], or [C] and one target")};
}

Status shape_of(const aclTensor& self, const aclTensor& target, Shape* shape) {
  const Dims& dims = self.dims;
  if (dims.empty()) return mismatch(self, target);
  if (dims.size() == 1) {
    shape->classes = dims[0];
    return element_count(target) == 1 && target.dims.size() <= 1 ? Status::ok() : mismatch(self, target);
  }
  Dims wanted;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i != 1) wanted.push_back(dims[i]);
    if (i > 1) shape->spatial_size *= dims[i];
  }
  shape->samples = dims[0];
  shape->classes = dims[1];
  return target.dims == wanted ? Status::ok() : mismatch(self, target);
}

struct Sums {
  double loss = 0;
  double weight = 0;
  int64_t bad = -1;  // first target that is not a class
};

// The inputs of both directions.
template <typename T>
struct Inputs {
  Shape shape;
  FlatTensor target;
  ElementReader target_reader;
  std::optional<FlatReader<T>> weight;
  int64_t ignore = 0;

  Status make(const aclTensor& self, const aclTensor& target_tensor, const aclTensor* weight_tensor,
              int64_t ignore_index) {
    ignore = ignore_index;
    SOFTNPU_RETURN_IF_ERROR(shape_of(self, target_tensor, &shape));
    SOFTNPU_RETURN_IF_ERROR(FlatTensor::make(target_tensor, -1, "target", &target));
    if (!is_integral(target.dtype()) || target.dtype() == ACL_BOOL) {
      return {ACLNN_ERR_PARAM_INVALID, text("target is ", describe(target_tensor), "; classes are integers")};
    }
    target_reader = ElementReader(target.dtype(), ACL_INT64);
    if (weight_tensor == nullptr) return Status::ok();
    if (element_count(*weight_tensor) != shape.classes) {
      return {ACLNN_ERR_PARAM_INVALID,
              text("weight is ", describe(*weight_tensor), " for ", shape.classes, " classes")};
    }
    FlatTensor flat;
    SOFTNPU_RETURN_IF_ERROR(FlatTensor::make(*weight_tensor, -1, "weight", &flat));
    weight.emplace(flat);
    return Status::ok();
  }

  void read_targets(int64_t first, int64_t count, int64_t* to) const {
    target.for_runs(first, count, [&](const char* from, ptrdiff_t stride, int64_t here) {
      target_reader.read(from, stride, static_cast<size_t>(here), to);
      to += here;
    });
  }
  bool is_class(int64_t value) const { return value >= 0 && value < shape.classes; }
  // The weights, if there are any and they are contiguous in type T; else null.
  const T* weights() const { return weight ? weight->find(0, shape.classes) : nullptr; }
  T weight_of(int64_t value) const {
    T buffer;
    return weight ? *weight->read(value, 1, &buffer) : T(1);
  }
};

// Calls body(first, last, element, step) for runs of `count` targets from `from` on: class c of target `from` + first +
// k is element `element` + k * step + c * spatial_size of self.
template <typename Body>
void for_target_runs(const Shape& shape, int64_t from, int64_t count, const Body& body) {
  if (shape.spatial_size == 1) return body(int64_t{0}, count, from * shape.classes, shape.classes);
  for (int64_t first = 0; first < count;) {
    const int64_t sample = (from + first) / shape.spatial_size;
    const int64_t location = (from + first) % shape.spatial_size;
    const int64_t last = std::min(count, first + shape.spatial_size - location);
    body(first, last, sample * shape.classes * shape.spatial_size + location, int64_t{1});
    first = last;
  }
}

Status no_class(int64_t value, int64_t classes) {
  return {ACLNN_ERR_PARAM_INVALID, text("target ", value, " is out of range: there are ", classes, " classes")};
}

template <typename T>
class NllTask {
 public:
  Inputs<T> in;
  FlatReader<T> self;
  FlatWriter<T> out;
  FlatWriter<T> total;
  int64_t reduction = 0;
  int threads = 1;

  int64_t pieces() const { return (in.shape.targets() + kChunk - 1) / kChunk; }

  Status run(void* workspace) const {
    auto* sums = static_cast<Sums*>(workspace);
    parallel_for(pieces(), 1, threads, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i)
        sums[i] = sum_of(i * kChunk, std::min(in.shape.targets(), (i + 1) * kChunk));
    });
    Sums all;
    for (int64_t i = 0; i < pieces(); ++i) {
      all.loss += sums[i].loss;
      all.weight += sums[i].weight;
      if (sums[i].bad >= 0 && all.bad < 0) all.bad = sums[i].bad;
    }
    if (all.bad >= 0) {
      int64_t value = 0;
      in.read_targets(all.bad, 1, &value);
      return no_class(value, in.shape.classes);
    }
    const T weight = reduction == 0 ? T(0) : static_cast<T>(all.weight);
    total.put(0, 1, &weight);
    if (reduction == 0) return Status::ok();
    const T loss = static_cast<T>(reduction == 1 ? all.loss / all.weight : all.loss);
    out.put(0, 1, &loss);
    return Status::ok();
  }

 private:
  Sums sum_of(int64_t first, int64_t last) const {
    Sums sums;
    int64_t targets[kTile];
    T losses[kTile];
    const T* const values = self.find(0, in.shape.targets() * in.shape.classes);
    const T* const weights = in.weights();
    const bool is_simple =
        values != nullptr && (weights != nullptr || !in.weight) && in.shape.spatial_size == 1 && reduction != 0;
    for (int64_t at = first; at < last; at += kTile) {
      const int64_t here = std::min(kTile, last - at);
      in.read_targets(at, here, targets);
      if (is_simple) {
        add_chosen(values + at * in.shape.classes, weights, targets, at, here, &sums);
        continue;
      }
      for_target_runs(in.shape, at, here, [&](int64_t begin, int64_t end, int64_t element, int64_t step) {
        const int64_t of_class = in.shape.spatial_size;
        for (int64_t i = begin; i < end; ++i, element += step) {
          losses[i] = 0;
          if (targets[i] == in.ignore) continue;
          if (!in.is_class(targets[i])) {
            if (sums.bad < 0) sums.bad = at + i;
            continue;
          }
          T buffer;
          const T weight = in.weight_of(targets[i]);
          const int64_t chosen = element + targets[i] * of_class;
          losses[i] = -weight * (values != nullptr ? values[chosen] : *self.read(chosen, 1, &buffer));
          sums.loss += static_cast<double>(losses[i]);
          sums.weight += static_cast<double>(weight);
        }
      });
      if (reduction == 0) out.put(at, here, losses);
    }
    return sums;
  }

  // Adds the chosen values of `count` contiguous rows. `weights`: null if all are 1; `from`: the first row's number.
  void add_chosen(const T* rows, const T* weights, const int64_t* targets, int64_t from, int64_t count,
                  Sums* sums) const {
    const int64_t classes = in.shape.classes;
    double loss = 0;
    double weight = 0;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t target = targets[i];
      if (target == in.ignore) continue;
      if (target < 0 || target >= classes) {
        if (sums->bad < 0) sums->bad = from + i;
        continue;
      }
      const T own = weights != nullptr ? weights[target] : T(1);
      loss -= static_cast<double>(own * rows[i * classes + target]);
      weight += static_cast<double>(own);
    }
    sums->loss += loss;
    sums->weight += weight;
  }
};

template <typename T>
class NllGradientTask {
 public:
  Inputs<T> in;
  FlatReader<T> grad;
  FlatReader<T> total;
  FlatWriter<T> out;
  int64_t reduction = 0;
  int threads = 1;

  Status run() const {
    const Shape& shape = in.shape;
    const int64_t row = shape.classes * shape.spatial_size;
    T buffer;
    const T factor = reduction == 1 ? -1 / *total.read(0, 1, &buffer) : T(-1);
    std::atomic<int64_t> bad{-1};  // any target that is not a class
    T* const whole = out.find(0, shape.samples * row);
    // One thread clears and fills a row.
    const int64_t rows = std::max<int64_t>(1, kCached / std::max<int64_t>(1, row));
    parallel_for(shape.samples, 8 * rows, threads, [&](int64_t first, int64_t last) {
      for (int64_t at = first; at < last; at += rows) {
        const int64_t end = std::min(last, at + rows);
        clear(at * row, end * row, whole);
        const int64_t wrong = fill(at * shape.spatial_size, end * shape.spatial_size, factor, whole);
        if (wrong >= 0) bad = wrong;
      }
    });
    if (bad < 0) return Status::ok();
    int64_t value = 0;
    in.read_targets(bad, 1, &value);
    return no_class(value, shape.classes);
  }

 private:
  // `whole`: the memory of the gradient if it is contiguous, else null.
  void clear(int64_t first, int64_t last, T* whole) const {
    if (whole != nullptr) {
      std::fill(whole + first, whole + last, T(0));
      return;
    }
    const T zeros[kTile] = {};
    for (int64_t i = first; i < last; i += kTile) out.put(i, std::min(kTile, last - i), zeros);
  }

  struct Factors {
    T mean;
    T grad;
  };
  // Writes the gradients of targets of contiguous rows; returns one that is not a class, -1 if all are.
  int64_t put_chosen(const int64_t* targets, int64_t count, const T* weights, Factors of, T* rows) const {
    const int64_t classes = in.shape.classes;
    int64_t bad = -1;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t target = targets[i];
      if (target == in.ignore) continue;
      if (target < 0 || target >= classes) {
        bad = i;
        continue;
      }
      rows[i * classes + target] = of.mean * (weights != nullptr ? weights[target] : T(1)) * of.grad;
    }
    return bad;
  }

  // Writes the gradients of the targets [first, last); returns one that is not a class, -1 if all are.
  int64_t fill(int64_t first, int64_t last, T factor, T* whole) const {
    int64_t targets[kTile];
    T buffer[kTile];
    const T* const weights = in.weights();
    int64_t bad = -1;
    for (int64_t at = first; at < last; at += kTile) {
      const int64_t here = std::min(kTile, last - at);
      in.read_targets(at, here, targets);
      const T* grads = reduction == 0 ? grad.read(at, here, buffer) : grad.read(0, 1, buffer);
      const int64_t next_grad = reduction == 0 ? 1 : 0;
      for_target_runs(in.shape, at, here, [&](int64_t begin, int64_t end, int64_t element, int64_t step) {
        const int64_t classes = in.shape.classes;
        const int64_t of_class = in.shape.spatial_size;
        const int64_t ignored = in.ignore;
        const bool is_simple = whole != nullptr && !in.weight;
        const bool has_one_value = whole != nullptr && next_grad == 0 && of_class == 1;
        if (has_one_value && (weights != nullptr || !in.weight)) {
          const int64_t wrong = put_chosen(targets, here, weights, {factor, grads[0]}, whole + element);
          if (wrong >= 0) bad = at + wrong;
          return;
        }
        for (int64_t i = begin; i < end; ++i, element += step) {
          const int64_t target = targets[i];
          if (target == ignored) continue;
          if (target < 0 || target >= classes) {
            bad = at + i;
          } else if (const int64_t chosen = element + target * of_class; is_simple) {
            whole[chosen] = factor * grads[i * next_grad];
          } else {
            const T result = factor * in.weight_of(target) * grads[i * next_grad];
            if (whole != nullptr) {
              whole[chosen] = result;
            } else {
              out.put(chosen, 1, &result);
            }
          }
        }
      });
    }
    return bad;
  }
};

Status check_reduction(int64_t reduction) {
  if (reduction >= 0 && reduction <= 2) return Status::ok();
  return {ACLNN_ERR_PARAM_INVALID, text("reduction ", reduction, " does not exist: it is 0, 1 (mean) or 2 (sum)")};
}

Status check_floating(std::initializer_list<const aclTensor*> tensors) {
  for (const aclTensor* tensor : tensors) {
    if (tensor == nullptr || (is_known(tensor->dtype) && is_floating(tensor->dtype))) continue;
    return {ACLNN_ERR_PARAM_INVALID, text("a loss is of floating-point numbers, not of ", describe(*tensor))};
  }
  return Status::ok();
}

Status check_count(const aclTensor& tensor, const char* role, int64_t count) {
  if (element_count(tensor) == count) return Status::ok();
  return {ACLNN_ERR_PARAM_INVALID, text(role, " is ", describe(tensor), " where ", count, " elements are needed")};
}

template <typename T>
Status plan_loss(const aclTensor& self, const aclTensor& target, const aclTensor* weight, int64_t reduction,
                 int64_t ignore_index, const aclTensor& out, const aclTensor& total, Plan* plan) {
  auto task = std::make_shared<NllTask<T>>();
  SOFTNPU_RETURN_IF_ERROR(task->in.make(self, target, weight, ignore_index));
  SOFTNPU_RETURN_IF_ERROR(check_count(out, "out", reduction == 0 ? task->in.shape.targets() : 1));
  SOFTNPU_RETURN_IF_ERROR(check_count(total, "totalWeight", 1));
  FlatTensor flat;
  SOFTNPU_RETURN_IF_ERROR(FlatTensor::make(self, -1, "self", &flat));
  task->self = FlatReader<T>(flat);
  SOFTNPU_RETURN_IF_ERROR(FlatTensor::make(out, -1, "out", &flat));
  task->out = FlatWriter<T>(flat);
  SOFTNPU_RETURN_IF_ERROR(FlatTensor::make(total, -1, "totalWeight", &flat));
  task->total = FlatWriter<T>(flat);
  task->reduction = reduction;
  plan->work = kFlopsPerTarget * static_cast<double>(task->in.shape.targets());
  task->threads = threads_for(plan->work);
  plan->workspace_bytes = checked(task->pieces()) * sizeof(Sums);
  plan->run = [task = std::shared_ptr<const NllTask<T>>(task)](void* workspace) { return task->run(workspace); };
  return Status::ok();
}

template <typename T>
Status plan_gradient(const aclTensor& grad, const aclTensor& self, const aclTensor& target, const aclTensor* weight,
                     int64_t reduction, int64_t ignore_index, const aclTensor& total, const aclTensor& out,
                     Plan* plan) {
  auto task = std::make_shared<NllGradientTask<T>>();
  SOFTNPU_RETURN_IF_ERROR(task->in.make(self, target, weight, ignore_index));
  if (out.dims != self.dims) {
    return {ACLNN_ERR_PARAM_INVALID, text("the gradient is ", describe(out), " where self is ", describe(self))};
  }
  SOFTNPU_RETURN_IF_ERROR(check_count(grad, "gradOutput", reduction == 0 ? task->in.shape.targets() : 1));
  SOFTNPU_RETURN_IF_ERROR(check_count(total, "totalWeight", 1));
  FlatTensor flat;
  SOFTNPU_RETURN_IF_ERROR(FlatTensor::make(grad, -1, "gradOutput", &flat));
  task->grad = FlatReader<T>(flat);
  SOFTNPU_RETURN_IF_ERROR(FlatTensor::make(total, -1, "totalWeight", &flat));
  task->total = FlatReader<T>(flat);
  SOFTNPU_RETURN_IF_ERROR(FlatTensor::make(out, -1, "the gradient", &flat));
  task->out = FlatWriter<T>(flat);
  task->reduction = reduction;
  plan->work =
      8 * static_cast<double>(element_count(self)) + kGradientFlops * static_cast<double>(task->in.shape.targets());
  task->threads = threads_for(plan->work);
  plan->run = [task = std::shared_ptr<const NllGradientTask<T>>(task)](void*) { return task->run(); };
  return Status::ok();
}

}  // namespace

Status nll_loss(const aclTensor& self, const aclTensor& target, const aclTensor* weight, int64_t reduction,
                int64_t ignore_index, const aclTensor& out, const aclTensor& total_weight, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(check_reduction(reduction));
  SOFTNPU_RETURN_IF_ERROR(check_floating({&self, weight, &out, &total_weight}));
  plan->describe = describe_later({&self, &target});
  return self.dtype == ACL_DOUBLE
             ? plan_loss<double>(self, target, weight, reduction, ignore_index, out, total_weight, plan)
             : plan_loss<float>(self, target, weight, reduction, ignore_index, out, total_weight, plan);
}

Status nll_loss_gradient(const aclTensor& grad, const aclTensor& self, const aclTensor& target, const aclTensor* weight,
                         int64_t reduction, int64_t ignore_index, const aclTensor& total_weight, const aclTensor& out,
                         Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(check_reduction(reduction));
  SOFTNPU_RETURN_IF_ERROR(check_floating({&grad, &self, weight, &total_weight, &out}));
  plan->describe = describe_later({&self, &target});
  return self.dtype == ACL_DOUBLE
             ? plan_gradient<double>(grad, self, target, weight, reduction, ignore_index, total_weight, out, plan)
             : plan_gradient<float>(grad, self, target, weight, reduction, ignore_index, total_weight, out, plan);
}

}  // namespace softnpu
