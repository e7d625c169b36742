// bincount, histc: counts of elements per bin.

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "base/text.h"
#include "ops/core/convert/element_rows.h"
#include "ops/core/convert/typed.h"
#include "ops/core/describe.h"
#include "ops/core/dtype.h"
#include "ops/core/iterate/walk.h"
#include "ops/tensor/index/table.h"
#include "ops/tensor/sort/operators.h"

namespace softnpu {
namespace {

// Adds 1, or the element's weight, to sums[bin] for each element of `from`. Fails if the bin does not exist.
template <typename Sum>
Status count_bins(const View& from, const View& weights, int64_t bins, Sum* sums) {
  constexpr int64_t kTile = 256;
  const ElementReader read_bin(from.dtype, ACL_INT64);
  const bool is_weighted = weights.data != nullptr;
  const ElementReader read_weight(is_weighted ? weights.dtype : ACL_DOUBLE, ACL_DOUBLE);
  int64_t bin[kTile];
  double weight[kTile];
  std::fill_n(sums, bins, Sum(0));
  for (int64_t i = 0; i < from.sizes[0]; i += kTile) {
    const int64_t here = std::min(kTile, from.sizes[0] - i);
    read_bin.read(from.data + i * from.strides[0], from.strides[0], static_cast<size_t>(here), bin);
    if (is_weighted) {
      read_weight.read(weights.data + i * weights.strides[0], weights.strides[0], static_cast<size_t>(here), weight);
    }
    for (int64_t k = 0; k < here; ++k) {
      if (bin[k] < 0 || bin[k] >= bins) return out_of_range(bin[k], 0, bins, false);
      sums[bin[k]] += is_weighted ? static_cast<Sum>(weight[k]) : Sum(1);
    }
  }
  return Status::ok();
}

}  // namespace

Status bincount(const aclTensor& self, const aclTensor* weights, int64_t minlength, const aclTensor& out, Plan* plan) {
  View from;
  View weight;
  View to;
  SOFTNPU_RETURN_IF_ERROR(view_of(self, "self", &from));
  SOFTNPU_RETURN_IF_ERROR(view_of(out, "out", &to));
  if (from.rank() != 1 || !is_integral(self.dtype) || self.dtype == ACL_BOOL) {
    return {ACLNN_ERR_PARAM_INVALID, text("self is ", describe(self), "; it is a vector of integers")};
  }
  if (to.rank() != 1 || to.sizes[0] < minlength || minlength < 0) {
    return {ACLNN_ERR_PARAM_INVALID,
            text("out is ", describe(out), "; it has minlength = ", minlength, " elements or more")};
  }
  if (weights != nullptr) {
    SOFTNPU_RETURN_IF_ERROR(view_of(*weights, "weights", &weight));
    SOFTNPU_RETURN_IF_ERROR(require_sizes(*weights, self.dims, "weights"));
    if (is_complex(weights->dtype) || !is_floating(out.dtype)) {
      const aclTensor* both[] = {weights, &out};
      return {ACLNN_ERR_PARAM_INVALID, text("weights and out are ", describe(both),
                                            "; weights are real, and their sums floating-point numbers")};
    }
  } else if (is_complex(out.dtype) || out.dtype == ACL_BOOL) {
    return {ACLNN_ERR_PARAM_INVALID, text("out is ", describe(out), "; it holds numbers of elements")};
  }
  plan->work = effort_of(2 * (static_cast<double>(from.count()) + static_cast<double>(to.count()))).work;
  const aclTensor* all[] = {&self, weights, &out};
  plan->describe = describe_later(all);
  plan->workspace_bytes = checked(to.sizes[0]) * sizeof(double);
  plan->run = [from, weight, to](void* workspace) {
    const int64_t bins = to.sizes[0];
    const auto write = [&]<typename Sum>(Sum* sums, aclDataType as) {
      SOFTNPU_RETURN_IF_ERROR(count_bins(from, weight, bins, sums));
      ElementWriter(as, to.dtype).write(sums, static_cast<size_t>(bins), to.data, to.strides[0]);
      return Status::ok();
    };
    if (weight.data == nullptr) return write(static_cast<int64_t*>(workspace), ACL_INT64);
    return write(static_cast<double*>(workspace), ACL_DOUBLE);
  };
  return Status::ok();
}

Status histc(const aclTensor& self, int64_t bins, const aclScalar& min, const aclScalar& max, const aclTensor& out,
             Plan* plan) {
  View from;
  View to;
  SOFTNPU_RETURN_IF_ERROR(view_of(self, "self", &from));
  SOFTNPU_RETURN_IF_ERROR(view_of(out, "out", &to));
  if (bins <= 0) return {ACLNN_ERR_PARAM_INVALID, text("the number of bins ", bins, " is not positive")};
  SOFTNPU_RETURN_IF_ERROR(require_sizes(out, {bins}, "out"));
  if (is_complex(self.dtype) || is_complex(out.dtype) || out.dtype == ACL_BOOL) {
    const aclTensor* both[] = {&self, &out};
    return {ACLNN_ERR_PARAM_INVALID, text("self and out are ", describe(both), "; a histogram is of real numbers")};
  }
  const double low = min.as_double();
  const double high = max.as_double();
  if (!std::isfinite(low) || !std::isfinite(high) || low > high) {
    return {ACLNN_ERR_PARAM_INVALID, text("there is no range from ", low, " to ", high)};
  }
  const int64_t count = from.count();
  plan->work = effort_of(2 * (static_cast<double>(count) + static_cast<double>(bins))).work;
  plan->workspace_bytes = checked(bins) * sizeof(int64_t);
  const aclTensor* both[] = {&self, &out};
  plan->describe = describe_later(both);
  plan->run = [=](void* workspace) {
    auto* counts = static_cast<int64_t*>(workspace);
    std::fill_n(counts, bins, 0);
    const Walk<1> walk = walk_of(from);
    Status status = Status::ok();
    with_real(from.dtype, [&]<typename Element>() {
      using T = std::conditional_t<std::is_same_v<typename Element::Computed, float>, float, double>;
      T first = static_cast<T>(low);
      T last = static_cast<T>(high);
      const auto value_at = [&](ptrdiff_t at) { return static_cast<T>(Element::load(from.data + at)); };
      if (first == last && count > 0) {
        // Without a range: the elements' minimum and maximum.
        first = last = value_at(0);
        bool finite = true;
        walk.for_each(0, count, [&](const Walk<1>::Offsets& at) {
          const T value = value_at(at[0]);
          finite = finite && std::isfinite(value);
          first = std::min(first, value);
          last = std::max(last, value);
        });
        if (!finite) {
          status = {ACLNN_ERR_PARAM_INVALID, "the range of the elements is not finite; give min and max"};
          return;
        }
      }
      if (first == last) {
        first -= 1;
        last += 1;
      }
      walk.for_each(0, count, [&](const Walk<1>::Offsets& at) {
        const T value = value_at(at[0]);
        if (!(value >= first && value <= last)) return;  // also skips NaN
        const auto bin = static_cast<int64_t>((value - first) * static_cast<T>(bins) / (last - first));
        ++counts[std::clamp<int64_t>(bin, 0, bins - 1)];
      });
    });
    SOFTNPU_RETURN_IF_ERROR(status);
    with_real(to.dtype, [&]<typename Element>() {
      for (int64_t i = 0; i < bins; ++i) {
        Element::store(to.data + i * to.strides[0], static_cast<typename Element::Computed>(counts[i]));
      }
    });
    return Status::ok();
  };
  return Status::ok();
}

}  // namespace softnpu
