// Activations and softmax.

#include <cmath>
#include <numbers>

#include "graph/lower/rows.h"

namespace softnpu::graph {

// Hendrycks and Gimpel, 2016: x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
ValueId gelu_tanh(Builder& build, ValueId x) {
  const ValueId cube = build.mul(build.mul(x, x), x);
  const ValueId inner = build.scaled(build.add(x, build.scaled(cube, 0.044715)), std::sqrt(2 / std::numbers::pi));
  return build.mul(build.scaled(x, 0.5), build.shifted(build.emit("Tanh", {{inner}}), 1));
}

namespace {

ValueId limited(Builder& build, ValueId x, double low, double high) {
  x = build.emit("Maximum", {{x}, build.number(low)});
  return build.emit("Minimum", {{x}, build.number(high)});
}

Attributes attribute(const char* name, double value) { return {{name, static_cast<float>(value)}}; }

void relu(Call& call) { call.set(call.build().emit("Relu", {{call.in(0)}})); }
void sigmoid(Call& call) { call.set(call.build().emit("Sigmoid", {{call.in(0)}})); }
void mish(Call& call) { call.set(call.build().emit("Mish", {{call.in(0)}})); }
void softsign(Call& call) {
  Builder& build = call.build();
  call.set(build.div(call.in(0), build.shifted(build.emit("Abs", {{call.in(0)}}), 1)));
}
void softplus(Call& call) { call.set(call.build().emit("SoftplusV2", {{call.in(0)}})); }

void leaky_relu(Call& call) {
  call.set(call.build().emit("LeakyRelu", {{call.in(0)}}, attribute("negative_slope", call.real("alpha", 0.01))));
}

void elu(Call& call) { call.set(call.build().emit("Elu", {{call.in(0)}}, attribute("alpha", call.real("alpha", 1)))); }

void celu(Call& call) {
  call.set(call.build().emit("CeluV2", {{call.in(0)}}, attribute("alpha", call.real("alpha", 1))));
}

void selu(Call& call) {
  const auto scale = static_cast<float>(call.real("gamma", 1.05070102214813232421875));
  const auto alpha = static_cast<float>(call.real("alpha", 1.67326319217681884765625));
  call.set(call.build().emit("Elu", {{call.in(0)}}, {{"alpha", alpha}, {"scale", scale}}));
}

void prelu(Call& call) {
  Builder& build = call.build();
  const ValueId x = call.in(0);
  ValueId slope = call.in(1);
  // Before opset 7 the slopes are those of the channels.
  if (call.version() < 7 && build.count(slope) > 1) slope = along(build, slope, 1, build.rank(x));
  const ValueId is_negative = build.emit("Less", {{x}, build.number_for(x, 0)});
  call.set(build.emit("Select", {{is_negative}, {build.mul(x, slope)}, {x}}));
}

void hard_sigmoid(Call& call) {
  Builder& build = call.build();
  const ValueId x = build.shifted(build.scaled(call.in(0), call.real("alpha", 0.2)), call.real("beta", 0.5));
  call.set(limited(build, x, 0, 1));
}

void hard_swish(Call& call) { call.set(call.build().emit("HardSwish", {{call.in(0)}})); }

void thresholded_relu(Call& call) {
  Builder& build = call.build();
  const ValueId x = call.in(0);
  const ValueId is_kept = build.emit("Greater", {{x}, build.number(call.real("alpha", 1))});
  call.set(build.emit("Select", {{is_kept}, {x}, {build.emit("ZerosLike", {{x}})}}));
}

// y = x + bias below -lambda, x - bias above lambda, else 0.
void shrink(Call& call) {
  Builder& build = call.build();
  const ValueId x = call.in(0);
  const double lambda = call.real("lambd", 0.5);
  const double bias = call.real("bias", 0);
  const ValueId zero = build.emit("ZerosLike", {{x}});
  const ValueId low = build.emit("Less", {{x}, build.number(-lambda)});
  const ValueId high = build.emit("Greater", {{x}, build.number(lambda)});
  const ValueId y = build.emit("Select", {{high}, {build.shifted(x, -bias)}, {zero}});
  call.set(build.cast(build.emit("Select", {{low}, {build.shifted(x, bias)}, {y}}), build.dtype(x)));
}

void gelu(Call& call) {
  if (call.words("approximate", "none") == "tanh") {
    call.set(gelu_tanh(call.build(), call.in(0)));
  } else {
    call.set(call.build().emit("Gelu", {{call.in(0)}}));
  }
}

void swish(Call& call) {
  Builder& build = call.build();
  const double alpha = call.real("alpha", 1);
  const ValueId x = call.in(0);
  call.set(alpha == 1 ? build.emit("Swish", {{x}}) : build.mul(x, build.emit("Sigmoid", {{build.scaled(x, alpha)}})));
}

// Before opset 13 all dimensions from `axis` on are one.
template <bool log>
void softmax(Call& call) {
  Builder& build = call.build();
  ValueId x = call.in(0);
  const Ints sizes = build.sizes(x);
  int64_t axis = Builder::index(call.integer("axis", call.version() < 13 ? 1 : -1), build.rank(x));
  if (call.version() < 13) {
    int64_t rows = 1;
    for (int64_t i = 0; i < axis; ++i) rows *= sizes[i];
    x = build.view(x, {rows, rows == 0 ? 0 : build.count(x) / rows});
    axis = 1;
  }
  x = build.emit(log ? "LogSoftmaxV2" : "SoftmaxV2", {{x}}, {{"axes", Ints{axis}}});
  call.set(build.view(x, sizes));
}

// 1 at the largest element, the first of several.
void hardmax(Call& call) {
  Builder& build = call.build();
  ValueId x = call.in(0);
  const Ints sizes = build.sizes(x);
  int64_t axis = Builder::index(call.integer("axis", call.version() < 13 ? 1 : -1), build.rank(x));
  if (call.version() < 13) {
    int64_t rows = 1;
    for (int64_t i = 0; i < axis; ++i) rows *= sizes[i];
    x = build.view(x, {rows, build.count(x) / rows});
    axis = 1;
  }
  const ValueId where = build.emit("ArgMaxV2", {{x}, build.host_int(axis)});
  const ValueId marks = build.emit(
      "OneHot", {{where}, build.host_int(build.dims(x)[axis]), build.number(1), build.number(0)}, {{"axis", axis}});
  call.set(build.view(build.cast(marks, build.dtype(x)), sizes));
}

constexpr LowerRow kRows[] = {
    {"Relu", relu},
    {"Sigmoid", sigmoid},
    {"Mish", mish},
    {"Softsign", softsign},
    {"Softplus", softplus},
    {"LeakyRelu", leaky_relu},
    {"Elu", elu},
    {"Celu", celu},
    {"Selu", selu},
    {"PRelu", prelu},
    {"HardSigmoid", hard_sigmoid},
    {"HardSwish", hard_swish},
    {"ThresholdedRelu", thresholded_relu},
    {"Shrink", shrink},
    {"Gelu", gelu},
    {"Swish", swish},
    {"Softmax", softmax<false>},
    {"LogSoftmax", softmax<true>},
    {"Hardmax", hardmax},
};

}  // namespace

std::span<const LowerRow> activation_rows() { return kRows; }

}  // namespace softnpu::graph
