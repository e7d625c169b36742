// Losses.

#include "base/text.h"
#include "graph/lower/rows.h"

namespace softnpu::graph {
namespace {

// The negative logarithms at the targets, weighted. `x`, [N, C, ..], has logarithms of probabilities.
ValueId likelihood_loss(Call& call, ValueId x, ValueId target, ValueId weight) {
  Builder& build = call.build();
  const aclDataType dtype = build.dtype(x);
  const Ints sizes = build.sizes(target);
  target = build.cast(target, ACL_INT64);
  const bool ignores = call.has_attribute("ignore_index");
  const int64_t ignored = call.integer("ignore_index", 0);
  ValueId is_ignored = kNoValue;
  if (ignores) {
    is_ignored = build.emit("Equal", {{target}, build.host_int(ignored)});
    target = build.emit("Select", {{is_ignored}, {build.ints({0}, {})}, {target}});
  }
  Ints column = sizes;
  column.insert(column.begin() + 1, 1);
  ValueId loss = build.emit("GatherElements", {{x}, {build.view(target, column)}}, {{"dim", int64_t{1}}});
  loss = build.emit("Neg", {{build.view(loss, sizes)}});
  ValueId weights = kNoValue;
  if (weight != kNoValue) {
    weights = build.emit("GatherV2", {{weight}, {target}, build.host({0})});
  } else if (ignores) {
    weights = build.broadcast(build.scalar(1, dtype), sizes);
  }
  if (ignores) weights = build.emit("Select", {{is_ignored}, {build.scalar(0, dtype)}, {weights}});
  if (weights != kNoValue) loss = build.mul(loss, weights);
  const std::string reduction = call.words("reduction", "mean");
  const Ints all = iota(static_cast<int64_t>(sizes.size()));
  if (reduction == "none") return loss;
  if (reduction == "sum") return build.reduce("ReduceSum", loss, all, false);
  if (reduction != "mean") throw Refused(text("the reduction ", reduction, " is not known"));
  if (weights == kNoValue) return build.reduce("ReduceMean", loss, all, false);
  return build.div(build.reduce("ReduceSum", loss, all, false), build.reduce("ReduceSum", weights, all, false));
}

void negative_log_likelihood(Call& call) { call.set(likelihood_loss(call, call.in(0), call.in(1), call.maybe(2))); }

void softmax_cross_entropy(Call& call) {
  Builder& build = call.build();
  const ValueId logarithms = build.emit("LogSoftmaxV2", {{call.in(0)}}, {{"axes", Ints{1}}});
  call.set(0, likelihood_loss(call, logarithms, call.in(1), call.maybe(2)));
  call.set(1, logarithms);
}

constexpr LowerRow kRows[] = {
    {"NegativeLogLikelihoodLoss", negative_log_likelihood},
    {"SoftmaxCrossEntropyLoss", softmax_cross_entropy},
};

}  // namespace

std::span<const LowerRow> loss_rows() { return kRows; }

}  // namespace softnpu::graph
