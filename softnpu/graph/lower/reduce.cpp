// Reductions.

#include <algorithm>
#include <limits>

#include "graph/lower/rows.h"

namespace softnpu::graph {
namespace {

struct Reduction {
  ValueId x;
  Ints axes;
  bool keep;
  bool is_noop;  // no axes are given, and that means none
};

Reduction read(Call& call) {
  Builder& build = call.build();
  Reduction result{call.in(0), {}, call.integer("keepdims", 1) != 0, false};
  const int64_t rank = build.rank(result.x);
  if (call.has_ints_at(1, "axes")) {
    for (const int64_t axis : call.ints_at(1, "axes")) result.axes.push_back(Builder::index(axis, rank));
  }
  if (result.axes.empty()) {
    result.is_noop = call.integer("noop_with_empty_axes", 0) != 0;
    result.axes = iota(rank);
  }
  return result;
}

ValueId sum(Builder& build, const Reduction& of) { return build.reduce("ReduceSum", of.x, of.axes, of.keep); }

// Integers are divided in double precision.
ValueId mean(Builder& build, const Reduction& of) {
  const aclDataType dtype = build.dtype(of.x);
  if (is_floating(dtype)) return build.reduce("ReduceMean", of.x, of.axes, of.keep);
  return build.cast(build.reduce("ReduceMean", build.cast(of.x, ACL_DOUBLE), of.axes, of.keep), dtype);
}

// One dimension after the other.
ValueId product(Builder& build, const Reduction& of) {
  ValueId y = of.x;
  Ints axes = of.axes;
  std::ranges::sort(axes, std::greater<>());
  for (const int64_t axis : axes) y = build.reduce("ReduceProd", y, {axis}, of.keep);
  return y;
}

// Of no elements: the type's smallest or largest number.
template <bool is_max>
ValueId empty_extreme(Builder& build, const Reduction& of) {
  const aclDataType dtype = build.dtype(of.x);
  if (!is_floating(dtype)) throw Refused("the extreme of no integers");
  Ints sizes;
  for (int64_t i = 0; i < build.rank(of.x); ++i) {
    const bool is_reduced = std::ranges::find(of.axes, i) != of.axes.end();
    if (!is_reduced || of.keep) sizes.push_back(is_reduced ? 1 : build.dims(of.x)[i]);
  }
  const double infinity = std::numeric_limits<double>::infinity();
  return build.broadcast(build.scalar(is_max ? -infinity : infinity, dtype), sizes);
}

template <bool is_max>
ValueId extreme(Builder& build, const Reduction& of) {
  if (build.dtype(of.x) == ACL_BOOL) {
    return build.reduce(is_max ? "ReduceAny" : "ReduceAll", of.x, of.axes, of.keep);
  }
  if (build.count(of.x) == 0) return empty_extreme<is_max>(build, of);
  return build.reduce(is_max ? "ReduceMax" : "ReduceMin", of.x, of.axes, of.keep);
}

ValueId log_sum_exp(Builder& build, const Reduction& of) {
  const aclDataType dtype = build.dtype(of.x);
  const ValueId x = is_floating(dtype) ? of.x : build.cast(of.x, ACL_DOUBLE);
  return build.cast(build.reduce("ReduceLogSumExp", x, of.axes, of.keep), dtype);
}

template <ValueId (*reduce)(Builder&, const Reduction&)>
void plain(Call& call) {
  const Reduction of = read(call);
  call.set(of.is_noop ? of.x : reduce(call.build(), of));
}

// A function before the sum and one behind it.
template <const char* const& before, const char* const& after>
void around_sum(Call& call) {
  Builder& build = call.build();
  Reduction of = read(call);
  const aclDataType dtype = build.dtype(of.x);
  if (before[0] != '\0') of.x = build.emit(before, {{of.x}});
  ValueId y = of.is_noop ? of.x : sum(build, of);
  if (after[0] != '\0') y = build.emit(after, {{y}});
  call.set(build.cast(y, dtype));
}

constexpr const char* kNothing = "";
constexpr const char* kAbs = "Abs";
constexpr const char* kSquare = "Square";
constexpr const char* kSqrt = "Sqrt";
constexpr const char* kLog = "Log";

constexpr LowerRow kRows[] = {
    {"ReduceSum", plain<sum>},
    {"ReduceMean", plain<mean>},
    {"ReduceProd", plain<product>},
    {"ReduceMax", plain<extreme<true>>},
    {"ReduceMin", plain<extreme<false>>},
    {"ReduceLogSumExp", plain<log_sum_exp>},
    {"ReduceL1", around_sum<kAbs, kNothing>},
    {"ReduceL2", around_sum<kSquare, kSqrt>},
    {"ReduceSumSquare", around_sum<kSquare, kNothing>},
    {"ReduceLogSum", around_sum<kNothing, kLog>},
};

}  // namespace

std::span<const LowerRow> reduce_rows() { return kRows; }

}  // namespace softnpu::graph
