// Operators of the domain com.microsoft that exporters emit.

#include "graph/lower/rows.h"

namespace softnpu::graph {
namespace {

void gelu(Call& call) { call.set(call.build().emit("Gelu", {{call.in(0)}})); }

// Gelu(x + bias), by tanh.
void fast_gelu(Call& call) {
  Builder& build = call.build();
  const ValueId x = call.has(1) ? build.add(call.in(0), call.in(1)) : call.in(0);
  call.set(gelu_tanh(build, x));
}

void bias_gelu(Call& call) { call.set(call.build().emit("Gelu", {{call.build().add(call.in(0), call.in(1))}})); }

void quick_gelu(Call& call) {
  Builder& build = call.build();
  const ValueId x = call.in(0);
  call.set(build.mul(x, build.emit("Sigmoid", {{build.scaled(x, call.real("alpha", 1.702))}})));
}

constexpr LowerRow kRows[] = {
    {"Gelu", gelu},
    {"FastGelu", fast_gelu},
    {"BiasGelu", bias_gelu},
    {"QuickGelu", quick_gelu},
};

}  // namespace

std::span<const LowerRow> contrib_rows() { return kRows; }

}  // namespace softnpu::graph
