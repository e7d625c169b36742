#include "ops/core/planes/planes.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "ops/core/planes/kernels.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

// Values of a plane, at most: kernels for rows are faster than gathering from larger ones.
constexpr int64_t kMaxValues = 600;
constexpr int64_t kMinPlanes = 8;
// Values of a step's result and source, about.
constexpr int64_t kStepValues = 512;
// The cost of a value, and of one of its taps.
constexpr double kValueCost = 16;
constexpr double kLookupCost = 12;
constexpr double kGatherCost = 100;

class PlanesTask {
 public:
  explicit PlanesTask(PlanesProblem problem) : p_(std::move(problem)) {
    const auto n = static_cast<int64_t>(plane_lanes());
    const int64_t source = p_.table.columns();
    const int64_t result = p_.table.rows();
    const bool is_looked_up = n > 1 && source <= 2 * n;
    at_once_ = std::max<int64_t>(1, is_looked_up ? 2 * n / source : 4 * n / result);
    at_once_ = std::clamp<int64_t>(kStepValues / std::max(source, result), 1, at_once_);
    step_.source = static_cast<size_t>(at_once_ * source);
    step_.result = static_cast<size_t>(at_once_ * result);
    step_.vectors = static_cast<size_t>((at_once_ * result + n - 1) / n);
    if (is_looked_up) {
      step_.lookup = at_once_ * source <= n ? PlaneLookup::kOneVector : PlaneLookup::kTwoVectors;
    }
    written_ = step_.vectors * static_cast<size_t>(n);
    read_ = is_looked_up ? static_cast<size_t>(step_.lookup == PlaneLookup::kOneVector ? n : 2 * n) : step_.source;
    lay_out();
  }

  double work() const {
    const double taps =
        static_cast<double>(step_.taps) * (step_.lookup == PlaneLookup::kGather ? kGatherCost : kLookupCost);
    const auto source = static_cast<double>(p_.table.columns());
    const auto result = static_cast<double>(p_.table.rows());
    return static_cast<double>(p_.planes) * (kValueCost * (source + result) + taps * result);
  }

  void run(int threads) const {
    constexpr int64_t kGrain = 1 << 14;  // values
    const int64_t steps = std::max<int64_t>(1, kGrain / static_cast<int64_t>(step_.source + step_.result));
    parallel_for(p_.planes, steps * at_once_, threads, [this](int64_t first, int64_t last) { run(first, last); });
  }

 private:
  // Repeats the table for each plane of a step.
  void lay_out() {
    const PlaneTable& table = p_.table;
    step_.op = p_.op;
    for (int64_t i = 0; i < table.rows(); ++i) step_.taps = std::max(step_.taps, table.row(i).size());
    step_.taps = std::max<size_t>(step_.taps, 1);
    index_.assign(step_.taps * written_, 0);
    weight_.assign(step_.taps * written_, 1);
    begin_.assign(written_, 0);
    bool is_weighted = false;
    for (int64_t i = 0; i < table.rows(); ++i) {
      const auto row = table.row(i);
      const auto weights = table.weights(i);
      is_weighted = is_weighted || std::ranges::any_of(weights, [](float weight) { return weight != 1; });
      for (int64_t plane = 0; plane < at_once_; ++plane) {
        const auto at = static_cast<size_t>(plane * table.rows() + i);
        const auto begin = static_cast<int32_t>(plane * table.columns());
        begin_[at] = begin;
        for (size_t k = 0; k < row.size(); ++k) {
          index_[k * written_ + at] = begin + row[k];
          weight_[k * written_ + at] = weights[k];
        }
        for (size_t k = row.size(); k < step_.taps; ++k) {
          // The last maximum again changes nothing.
          index_[k * written_ + at] = p_.op == PlaneOp::kMax ? begin + row.back() : kNoTap;
          step_.is_ragged = step_.is_ragged || p_.op == PlaneOp::kSum;
        }
      }
    }
    if (!is_weighted) weight_.clear();
    repeat(&p_.divisors, written_);
    repeat(&p_.source_divisors, std::max(read_, step_.source));
    const auto or_null = [](const auto& values) { return values.empty() ? nullptr : values.data(); };
    step_.index = index_.data();
    step_.plane_begin = begin_.data();
    step_.weight = or_null(weight_);
    step_.divisor = or_null(p_.divisors);
    step_.source_divisor = or_null(p_.source_divisors);
  }

  // The values of a plane for all planes of a step, then 1 up to `count` values.
  void repeat(std::vector<float>* values, size_t count) const {
    if (values->empty()) return;
    const std::vector<float> of_plane = std::exchange(*values, {});
    for (int64_t plane = 0; plane < at_once_; ++plane) values->insert(values->end(), of_plane.begin(), of_plane.end());
    values->resize(count, 1);
  }

  // Planes [first, last). Steps that would read or write beyond are computed aside.
  void run(int64_t first, int64_t last) const {
    const float* in = p_.source + first * p_.table.columns();
    float* out = p_.result + first * p_.table.rows();
    int64_t* indices = p_.indices == nullptr ? nullptr : p_.indices + first * p_.table.rows();
    const auto source_left = static_cast<size_t>((p_.planes - first) * p_.table.columns());
    auto result_left = static_cast<size_t>((last - first) * p_.table.rows());
    const auto steps_within = [](size_t values, size_t touched, size_t step) {
      return values < touched ? 0 : (values - touched) / step + 1;
    };
    const size_t steps =
        std::min(steps_within(source_left, read_, step_.source), steps_within(result_left, written_, step_.result));
    run_plane_steps(step_, in, out, indices, steps);
    in += steps * step_.source;
    out += steps * step_.result;
    if (indices != nullptr) indices += steps * step_.result;
    result_left -= steps * step_.result;
    auto source_here = static_cast<size_t>((last - first) * p_.table.columns()) - steps * step_.source;
    if (result_left > 0) run_aside(in, source_here, out, result_left, indices);
  }

  void run_aside(const float* in, size_t source, float* out, size_t result, int64_t* indices) const {
    std::vector<float> from(std::max(read_, step_.source));
    std::vector<float> to(written_);
    std::vector<int64_t> found(indices == nullptr ? 0 : written_);
    while (result > 0) {
      const size_t source_here = std::min(source, step_.source);
      const size_t here = std::min(result, step_.result);
      std::copy_n(in, source_here, from.begin());
      run_plane_steps(step_, from.data(), to.data(), indices == nullptr ? nullptr : found.data(), 1);
      out = std::copy_n(to.begin(), here, out);
      if (indices != nullptr) indices = std::copy_n(found.begin(), here, indices);
      in += source_here;
      source -= source_here;
      result -= here;
    }
  }

  PlanesProblem p_;
  int64_t at_once_ = 1;  // planes of a step
  PlaneStep step_;
  size_t read_ = 0;     // values that a step touches
  size_t written_ = 0;  // and writes
  std::vector<int32_t> index_, begin_;
  std::vector<float> weight_;
};

}  // namespace

bool fits_planes(int64_t planes, int64_t source, int64_t result) {
  const auto is_small = [](int64_t values) { return values > 0 && values <= kMaxValues; };
  return planes >= kMinPlanes && is_small(source) && is_small(result);
}

Plan plan_planes(PlanesProblem problem) {
  const auto task = std::make_shared<const PlanesTask>(std::move(problem));
  Plan plan;
  plan.work = task->work();
  plan.run = [task, threads = threads_for(plan.work)](void*) {
    task->run(threads);
    return Status::ok();
  };
  return plan;
}

}  // namespace softnpu
