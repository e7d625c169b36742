// Normalizations.

#include <algorithm>

#include "base/text.h"
#include "graph/lower/rows.h"

namespace softnpu::graph {
namespace {

// (x - mean) / sqrt(variance + epsilon) over `axes`.
ValueId standardized(Builder& build, ValueId x, const Ints& axes, double epsilon) {
  const ValueId centered = build.sub(x, build.reduce("ReduceMean", x, axes, true));
  const ValueId variance = build.reduce("ReduceMean", build.emit("Square", {{centered}}), axes, true);
  return build.mul(centered, build.emit("Rsqrt", {{build.shifted(variance, epsilon)}}));
}

// Of an evaluation; in training also the new statistics.
void batch_norm(Call& call) {
  Builder& build = call.build();
  const ValueId x = call.in(0);
  const double epsilon = call.real("epsilon", 1e-5);
  if (build.rank(x) < 2) throw Refused("an image [N, C, spatial] is needed");
  if (call.integer("training_mode", 0) == 0) {
    if (call.version() < 9 && call.integer("spatial", 1) == 0) throw Refused("spatial=0 is not implemented");
    const bool has_one_type = build.dtype(call.in(1)) == build.dtype(x) && build.dtype(call.in(3)) == build.dtype(x);
    if (has_one_type) {
      return call.set(build.emit("BNInfer", {{x}, {call.in(1)}, {call.in(2)}, {call.in(3)}, {call.in(4)}},
                                 {{"epsilon", static_cast<float>(epsilon)}}));
    }
  }
  const int64_t rank = build.rank(x);
  const aclDataType dtype = build.dtype(x);
  const auto channel = [&](ValueId one) { return along(build, build.cast(one, dtype), 1, rank); };
  ValueId mean = channel(call.in(3));
  ValueId variance = channel(call.in(4));
  if (call.integer("training_mode", 0) != 0) {
    Ints axes = {0};
    for (int64_t i = 2; i < rank; ++i) axes.push_back(i);
    mean = build.reduce("ReduceMean", x, axes, true);
    variance = build.reduce("ReduceMean", build.emit("Square", {{build.sub(x, mean)}}), axes, true);
    const double momentum = call.real("momentum", 0.9);
    const auto moved = [&](ValueId running, ValueId current) {
      const ValueId now = build.cast(build.view(current, {-1}), build.dtype(running));
      return build.add(build.scaled(running, momentum), build.scaled(now, 1 - momentum));
    };
    if (call.wants(1)) call.set(1, moved(call.in(3), mean));
    if (call.wants(2)) call.set(2, moved(call.in(4), variance));
  }
  const ValueId factor = build.mul(channel(call.in(1)), build.emit("Rsqrt", {{build.shifted(variance, epsilon)}}));
  call.set(0, build.add(build.mul(build.sub(x, mean), factor), channel(call.in(2))));
}

void instance_norm(Call& call) {
  Builder& build = call.build();
  const ValueId x = call.in(0);
  const int64_t rank = build.rank(x);
  if (rank < 3) throw Refused("an image [N, C, spatial] is needed");
  const ValueId y = standardized(build, x, iota(rank - 2, 2), call.real("epsilon", 1e-5));
  call.set(build.add(build.mul(y, along(build, call.in(1), 1, rank)), along(build, call.in(2), 1, rank)));
}

void group_norm(Call& call) {
  Builder& build = call.build();
  const ValueId x = call.in(0);
  const Ints sizes = build.sizes(x);
  const int64_t groups = call.integer("num_groups", 1);
  if (sizes.size() < 2 || groups < 1 || sizes[1] % groups != 0) throw Refused("the groups do not divide the channels");
  const int64_t rank = build.rank(x);
  ValueId y = standardized(build, build.view(x, {sizes[0], groups, -1}), {2}, call.real("epsilon", 1e-5));
  y = build.view(y, sizes);
  // Before opset 21 the scale is one number per group.
  const auto channel = [&](ValueId one) {
    if (build.count(one) == sizes[1]) return along(build, one, 1, rank);
    const ValueId spread = build.broadcast(build.view(one, {groups, 1}), {groups, sizes[1] / groups});
    return along(build, build.view(spread, {-1}), 1, rank);
  };
  call.set(build.add(build.mul(y, channel(call.in(1))), channel(call.in(2))));
}

void layer_norm(Call& call) {
  Builder& build = call.build();
  const ValueId x = call.in(0);
  const Ints sizes = build.sizes(x);
  const int64_t axis = Builder::index(call.integer("axis", -1), build.rank(x));
  const Ints inner(sizes.begin() + axis, sizes.end());
  const aclDataType dtype = build.dtype(x);
  const ValueId scale = build.broadcast(call.in(1), inner);
  const ValueId bias =
      call.has(2) ? build.broadcast(call.in(2), inner) : build.broadcast(build.scalar(0, dtype), inner);
  const std::vector<ValueId> results = build.emit_all("LayerNormV3", {{x}, {scale}, {bias}},
                                                      {{"epsilon", static_cast<float>(call.real("epsilon", 1e-5))}});
  for (size_t i = 0; i < 3; ++i) call.set(i, results[i]);
}

void rms_norm(Call& call) {
  Builder& build = call.build();
  const ValueId x = call.in(0);
  const int64_t axis = Builder::index(call.integer("axis", -1), build.rank(x));
  const ValueId widened = build.cast(x, build.dtype(x) == ACL_DOUBLE ? ACL_DOUBLE : ACL_FLOAT);
  const ValueId square =
      build.reduce("ReduceMean", build.emit("Square", {{widened}}), iota(build.rank(x) - axis, axis), true);
  const ValueId factor = build.emit("Rsqrt", {{build.shifted(square, call.real("epsilon", 1e-5))}});
  call.set(build.mul(build.cast(build.mul(widened, factor), build.dtype(x)), call.in(1)));
}

void lp_norm(Call& call) {
  Builder& build = call.build();
  const ValueId x = call.in(0);
  const int64_t axis = Builder::index(call.integer("axis", -1), build.rank(x));
  const bool is_l1 = call.integer("p", 2) == 1;
  ValueId norm = build.reduce("ReduceSum", build.emit(is_l1 ? "Abs" : "Square", {{x}}), {axis}, true);
  if (!is_l1) norm = build.emit("Sqrt", {{norm}});
  // 0 / 0 is 0 here.
  const ValueId is_zero = build.emit("Equal", {{norm}, build.number(0)});
  norm = build.emit("Select", {{is_zero}, {build.emit("OnesLike", {{norm}})}, {norm}});
  call.set(build.div(x, norm));
}

void mean_variance_norm(Call& call) {
  Builder& build = call.build();
  const ValueId x = call.in(0);
  Ints axes;
  for (const int64_t axis : call.has_attribute("axes") ? call.ints("axes") : Ints{0, 2, 3}) {
    axes.push_back(Builder::index(axis, build.rank(x)));
  }
  const ValueId centered = build.sub(x, build.reduce("ReduceMean", x, axes, true));
  const ValueId variance = build.reduce("ReduceMean", build.emit("Square", {{centered}}), axes, true);
  call.set(build.div(centered, build.shifted(build.emit("Sqrt", {{variance}}), 1e-9)));
}

// x / (bias + alpha / size * sum of the squares of `size` channels)^beta.
void lrn(Call& call) {
  Builder& build = call.build();
  const ValueId x = call.in(0);
  const int64_t size = call.integer("size", 1);
  const int64_t channels = build.dims(x)[1];
  Ints before(static_cast<size_t>(build.rank(x)), 0);
  Ints after = before;
  before[1] = (size - 1) / 2;
  after[1] = size / 2;
  const ValueId squares = padded(build, build.emit("Square", {{x}}), before, after, 0);
  ValueId sum = build.slice(squares, 1, 0, channels);
  for (int64_t i = 1; i < size; ++i) sum = build.add(sum, build.slice(squares, 1, i, i + channels));
  sum = build.shifted(build.scaled(sum, call.real("alpha", 1e-4) / static_cast<double>(size)), call.real("bias", 1));
  call.set(build.div(x, build.emit("Pow", {{sum}, build.number(call.real("beta", 0.75))})));
}

constexpr LowerRow kRows[] = {
    {"BatchNormalization", batch_norm},
    {"InstanceNormalization", instance_norm},
    {"GroupNormalization", group_norm},
    {"LayerNormalization", layer_norm},
    {"RMSNormalization", rms_norm},
    {"LpNormalization", lp_norm},
    {"MeanVarianceNormalization", mean_variance_norm},
    {"LRN", lrn},
};

}  // namespace

std::span<const LowerRow> norm_rows() { return kRows; }

}  // namespace softnpu::graph
