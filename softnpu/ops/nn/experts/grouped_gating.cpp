// The choice of experts within groups (DeepSeek-AI, DeepSeek-V3, 2024), and its gradient.

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/nn/experts/experts.h"
#include "ops/nn/experts/largest.h"
#include "ops/nn/experts/rows.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

enum : int64_t { kSoftmax = 0, kSigmoid = 1 };     // normType
enum : int64_t { kMaximum = 0, kTwoLargest = 1 };  // groupSelectMode

constexpr double kFlopsPerScore = 32;

int64_t slice_of(int64_t length) { return std::max<int64_t>(1, (int64_t{1} << 12) / std::max<int64_t>(1, length)); }

template <typename T>
struct GroupedTask {
  ExpertRows<T> x, bias, y, p;
  IndexList experts;
  int64_t k = 1, kept_groups = 1, groups = 1, group_mode = kMaximum, norm = kSoftmax;
  T factor = 1, eps = 0;

  Status run() const {
    std::vector<int64_t> chosen(static_cast<size_t>(x.rows * k));
    const double work = kFlopsPerScore * static_cast<double>(x.rows) * static_cast<double>(x.length);
    parallel_for(x.rows, slice_of(x.length), threads_for(work), [&](int64_t from, int64_t to) {
      std::vector<T> values(static_cast<size_t>(x.length)), scores(values.size()), kept(static_cast<size_t>(k));
      std::vector<int64_t> order;
      for (int64_t row = from; row < to; ++row) {
        normalize(row, &values);
        p.write(row, values.data());
        add_bias(values, &scores);
        if (groups > 1) keep_groups(&scores);
        select_largest(scores, k, &order);
        std::copy_n(order.begin(), k, chosen.begin() + row * k);
        scale(values, order, &kept);
        y.write(row, kept.data());
      }
    });
    experts.write(chosen);
    return Status::ok();
  }

 private:
  void normalize(int64_t row, std::vector<T>* values) const {
    const T* v = x.read(row, values->data());
    if (v != values->data()) std::copy_n(v, x.length, values->data());
    if (norm == kSigmoid) {
      for (T& value : *values) value = 1 / (1 + std::exp(-value));
      return;
    }
    const T most = *std::ranges::max_element(*values);
    T sum = 0;
    for (T& value : *values) sum += value = std::exp(value - most);
    for (T& value : *values) value /= sum;
  }

  void add_bias(const std::vector<T>& values, std::vector<T>* scores) const {
    *scores = values;
    if (!bias.is_there) return;
    std::vector<T> buffer(values.size());
    const T* b = bias.read(0, buffer.data());
    for (size_t i = 0; i < scores->size(); ++i) (*scores)[i] += b[i];
  }

  // Scores of the other groups become -infinity.
  void keep_groups(std::vector<T>* scores) const {
    const int64_t size = x.length / groups;
    std::vector<T> of_group;
    for (int64_t g = 0; g < groups; ++g) {
      std::vector<T> own(scores->begin() + g * size, scores->begin() + (g + 1) * size);
      std::vector<int64_t> order;
      select_largest(own, group_mode == kTwoLargest ? 2 : 1, &order);
      T score = own[static_cast<size_t>(order[0])];
      if (group_mode == kTwoLargest) score += own[static_cast<size_t>(order[1])];
      of_group.push_back(score);
    }
    std::vector<int64_t> order;
    select_largest(of_group, kept_groups, &order);
    for (int64_t g = 0; g < groups; ++g) {
      if (std::ranges::find(order, g) != order.end()) continue;
      std::fill_n(scores->begin() + g * size, size, -std::numeric_limits<T>::infinity());
    }
  }

  void scale(const std::vector<T>& values, const std::vector<int64_t>& order, std::vector<T>* kept) const {
    T sum = eps;
    for (size_t j = 0; j < kept->size(); ++j) sum += (*kept)[j] = values[static_cast<size_t>(order[j])];
    for (T& value : *kept) value = (norm == kSigmoid ? value / sum : value) * factor;
  }
};

template <typename T>
struct GroupedGradientTask {
  ExpertRows<T> p, grad, dx;
  IndexList experts;
  int64_t norm = kSoftmax;
  T factor = 1, eps = 0;

  Status run() const {
    const std::vector<int64_t> chosen = experts.read();
    SOFTNPU_RETURN_IF_ERROR(check_indices(chosen, p.length, "expertIdx"));
    const double work = kFlopsPerScore * static_cast<double>(p.rows) * static_cast<double>(p.length);
    parallel_for(p.rows, slice_of(p.length), threads_for(work), [&](int64_t from, int64_t to) {
      std::vector<T> values(static_cast<size_t>(p.length)), slopes(values.size());
      std::vector<T> given(static_cast<size_t>(grad.length));
      for (int64_t row = from; row < to; ++row) {
        const T* v = p.read(row, values.data());
        const T* g = grad.read(row, given.data());
        compute(v, g, chosen.data() + row * grad.length, &slopes);
        dx.write(row, slopes.data());
      }
    });
    return Status::ok();
  }

 private:
  // With S = eps + the sum of the chosen p: d(p_j / S) / dp_i = delta_ij / S - p_j / S^2.
  void compute(const T* v, const T* g, const int64_t* chosen, std::vector<T>* slopes) const {
    std::ranges::fill(*slopes, T{0});
    T sum = eps, product = 0;
    for (int64_t j = 0; j < grad.length; ++j) {
      sum += v[chosen[j]];
      product += g[j] * v[chosen[j]];
    }
    for (int64_t j = 0; j < grad.length; ++j) {
      const T slope = norm == kSigmoid ? g[j] / sum - product / (sum * sum) : g[j];
      (*slopes)[static_cast<size_t>(chosen[j])] += factor * slope;
    }
    T whole = 0;
    if (norm == kSoftmax) {
      for (size_t i = 0; i < slopes->size(); ++i) whole += (*slopes)[i] * v[i];
    }
    for (size_t i = 0; i < slopes->size(); ++i) {
      (*slopes)[i] = norm == kSigmoid ? (*slopes)[i] * v[i] * (1 - v[i]) : v[i] * ((*slopes)[i] - whole);
    }
  }
};

Status check_norm(int64_t renorm, int64_t norm) {
  if (renorm != 0) return bad_experts(text("renorm is ", renorm, ": 0 is taken"));
  if (norm == kSoftmax || norm == kSigmoid) return Status::ok();
  return bad_experts(text("normType is ", norm, ": 0, softmax, and 1, sigmoid, are taken"));
}

Status check_groups(const GatingTopK& o, int64_t length) {
  const bool fits = o.groups >= 1 && length % o.groups == 0 && o.kept_groups >= 1 && o.kept_groups <= o.groups &&
                    o.k >= 1 && o.k <= o.kept_groups * (length / o.groups);
  if (!fits) {
    return bad_experts(text("k is ", o.k, ", kGroup ", o.kept_groups, " and groupCount ", o.groups, " for ", length,
                            " experts: k is up to the experts of kGroup groups of one size"));
  }
  const bool known = o.group_mode == kMaximum || (o.group_mode == kTwoLargest && length / o.groups >= 2);
  if (o.groups == 1 || known) return Status::ok();
  return bad_experts(text("groupSelectMode is ", o.group_mode, ": 0 is taken, and 1 for groups of two and more"));
}

template <typename T>
Status plan_grouped(const GatingTopK& o, Plan* plan) {
  auto task = std::make_shared<GroupedTask<T>>();
  SOFTNPU_RETURN_IF_ERROR(task->x.make(&o.x, "x"));
  SOFTNPU_RETURN_IF_ERROR(task->bias.make(o.bias, "bias", task->x.length));
  SOFTNPU_RETURN_IF_ERROR(check_groups(o, task->x.length));
  SOFTNPU_RETURN_IF_ERROR(task->y.make(&o.y, "y", o.k));
  SOFTNPU_RETURN_IF_ERROR(task->p.make(&o.p, "out", task->x.length));
  SOFTNPU_RETURN_IF_ERROR(task->experts.make(o.experts, "expertIdx"));
  const int64_t rows = task->x.rows;
  if (task->y.rows != rows || task->p.rows != rows || task->experts.count() != rows * o.k ||
      (task->bias.is_there && task->bias.rows != 1)) {
    return bad_experts(text("x is ", describe(o.x), ", y ", describe(o.y), ", expertIdx ", describe(o.experts),
                            " and out ", describe(o.p),
                            ": [N, E], [N, k], [N, k] and [N, E] are taken, and a bias [E]"));
  }
  task->k = o.k;
  task->kept_groups = o.kept_groups;
  task->groups = o.groups;
  task->group_mode = o.group_mode;
  task->norm = o.norm;
  task->factor = static_cast<T>(o.factor);
  task->eps = static_cast<T>(o.eps);
  plan_experts(std::move(task), 4 * static_cast<double>(element_count(o.x)), {&o.x}, plan);
  return Status::ok();
}

template <typename T>
Status plan_grouped_gradient(const aclTensor& p, const aclTensor& grad, const aclTensor& experts,
                             const GatingScale& scale, const aclTensor& dx, Plan* plan) {
  auto task = std::make_shared<GroupedGradientTask<T>>();
  SOFTNPU_RETURN_IF_ERROR(task->p.make(&p, "xNorm"));
  SOFTNPU_RETURN_IF_ERROR(task->grad.make(&grad, "gradY"));
  SOFTNPU_RETURN_IF_ERROR(task->dx.make(&dx, "the gradient", task->p.length));
  SOFTNPU_RETURN_IF_ERROR(task->experts.make(experts, "expertIdx"));
  if (task->grad.rows != task->p.rows || task->dx.rows != task->p.rows ||
      task->experts.count() != element_count(grad)) {
    return bad_experts(text("xNorm is ", describe(p), ", gradY ", describe(grad), " and expertIdx ", describe(experts),
                            ": [N, E], [N, k] and [N, k] are taken"));
  }
  task->norm = scale.norm;
  task->factor = static_cast<T>(scale.factor);
  task->eps = static_cast<T>(scale.eps);
  plan_experts(std::move(task), 4 * static_cast<double>(element_count(p)), {&p, &grad}, plan);
  return Status::ok();
}

}  // namespace

Status gating_top_k(const GatingTopK& o, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(check_norm(o.renorm, o.norm));
  return o.x.dtype == ACL_DOUBLE ? plan_grouped<double>(o, plan) : plan_grouped<float>(o, plan);
}

Status gating_top_k_gradient(const aclTensor& p, const aclTensor& grad, const aclTensor& experts,
                             const GatingScale& scale, const aclTensor& dx, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(check_norm(scale.renorm, scale.norm));
  return p.dtype == ACL_DOUBLE ? plan_grouped_gradient<double>(p, grad, experts, scale, dx, plan)
                               : plan_grouped_gradient<float>(p, grad, experts, scale, dx, plan);
}

}  // namespace softnpu
