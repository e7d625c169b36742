// Recurrent layers, one step after the other. Definitions: the specification of ONNX.

#include <algorithm>
#include <functional>

#include "base/text.h"
#include "graph/lower/rows.h"

namespace softnpu::graph {
namespace {

// The weights of one direction, and how it runs.
struct Direction {
  ValueId w, r, bias_w, bias_r, lengths;  // biases and lengths may be missing
  ValueId peephole = kNoValue;
  bool is_reverse = false;
  std::vector<std::string> activations;
};

class Layer {
 public:
  Layer(Call& call, int64_t gates) : call_(call), build_(call.build()), gates_(gates) {
    is_batch_first_ = call.integer("layout", 0) != 0;
    x_ = is_batch_first_ ? build_.transpose(call.in(0), {1, 0, 2}) : call.in(0);
    steps_ = build_.dims(x_)[0];
    batch_ = build_.dims(x_)[1];
    hidden_ = build_.dims(call.in(2))[2];
    directions_ = build_.dims(call.in(1))[0];
    clip_ = call.real("clip", 0);
  }

  int64_t hidden() const { return hidden_; }
  int64_t directions() const { return directions_; }
  Builder& build() { return build_; }

  Direction direction(int64_t d, const std::vector<std::string>& defaults) {
    const auto row = [&](size_t i) { return part(call_.in(i), d); };
    Direction created{row(1), row(2), kNoValue, kNoValue, call_.maybe(4), kNoValue, false, {}};
    if (call_.has(3)) {
      const ValueId bias = row(3);
      created.bias_w = build_.slice(bias, 0, 0, gates_ * hidden_);
      created.bias_r = build_.slice(bias, 0, gates_ * hidden_, 2 * gates_ * hidden_);
    }
    if (call_.has(7)) created.peephole = row(7);
    const std::string way = call_.words("direction", "forward");
    created.is_reverse = way == "reverse" || d == 1;
    const onnx::Attribute* named = call_.attribute("activations");
    for (size_t i = 0; i < defaults.size(); ++i) {
      const size_t at = static_cast<size_t>(d) * defaults.size() + i;
      created.activations.push_back(named != nullptr && at < named->strings.size() ? named->strings[at] : defaults[i]);
    }
    return created;
  }

  // The initial state of a direction from input `i`, [B, H].
  ValueId initial(size_t i, int64_t d) {
    if (!call_.has(i)) return build_.broadcast(build_.scalar(0, build_.dtype(x_)), {batch_, hidden_});
    const ValueId states = is_batch_first_ ? build_.transpose(call_.in(i), {1, 0, 2}) : call_.in(i);
    return part(states, d);
  }

  // The inputs of all steps times their weights, [S, B, gates H].
  ValueId projected(const Direction& of) {
    const int64_t width = build_.dims(x_)[2];
    const ValueId rows = build_.view(x_, {steps_ * batch_, width});
    std::vector<Operand> inputs = {{rows}, {of.w}};
    if (of.bias_w != kNoValue) inputs.push_back({of.bias_w});
    const ValueId y = build_.emit("MatMulV2", std::move(inputs), {{"transpose_x2", true}});
    return build_.view(y, {steps_, batch_, gates_ * hidden_});
  }

  ValueId at_step(ValueId all, int64_t step) {
    return build_.view(build_.slice(all, 0, step, step + 1), {batch_, gates_ * hidden_});
  }
  ValueId times(ValueId state, ValueId weights, ValueId bias) {
    std::vector<Operand> inputs = {{state}, {weights}};
    if (bias != kNoValue) inputs.push_back({bias});
    return build_.emit("MatMulV2", std::move(inputs), {{"transpose_x2", true}});
  }
  ValueId gate(ValueId all, int64_t number) {
    return build_.slice(all, build_.rank(all) - 1, number * hidden_, (number + 1) * hidden_);
  }

  ValueId activated(const std::string& name, ValueId x) {
    if (clip_ > 0) {
      x = build_.emit("Minimum", {{build_.emit("Maximum", {{x}, build_.number(-clip_)})}, build_.number(clip_)});
    }
    if (name == "Sigmoid" || name == "Tanh" || name == "Relu") return build_.emit(name, {{x}});
    throw Refused(text("the activation ", name, " is not implemented"));
  }

  // Runs `step` for each time step in the direction's order. `states` are updated while a sequence goes on; returns the
  // first state of each step, [S, B, H].
  ValueId run(const Direction& of, std::vector<ValueId>* states,
              const std::function<void(int64_t step, std::vector<ValueId>* states)>& step) {
    std::vector<Operand> created(static_cast<size_t>(steps_));
    const ValueId zero = build_.scalar(0, build_.dtype(x_));
    for (int64_t i = 0; i < steps_; ++i) {
      const int64_t t = of.is_reverse ? steps_ - 1 - i : i;
      std::vector<ValueId> next = *states;
      step(t, &next);
      if (of.lengths == kNoValue) {
        created[t] = {next[0]};
        *states = std::move(next);
        continue;
      }
      const ValueId lengths = build_.view(build_.cast(of.lengths, ACL_INT64), {batch_, 1});
      const ValueId goes_on = build_.emit("Greater", {{lengths}, build_.host_int(t)});
      for (size_t k = 0; k < next.size(); ++k) {
        (*states)[k] = build_.emit("Select", {{goes_on}, {next[k]}, {(*states)[k]}});
      }
      created[t] = {build_.emit("Select", {{goes_on}, {next[0]}, {zero}})};
    }
    return build_.emit("Pack", std::move(created), {{"axis", int64_t{0}}});
  }

  // Results of the directions: all steps as output 0, last states as the others.
  void set(const std::vector<ValueId>& all, const std::vector<std::vector<ValueId>>& last) {
    std::vector<Operand> parts;
    parts.reserve(all.size());
    for (const ValueId one : all) parts.push_back({one});
    ValueId y = build_.emit("Pack", std::move(parts), {{"axis", int64_t{1}}});  // [S, D, B, H]
    if (is_batch_first_) y = build_.transpose(y, {2, 0, 1, 3});
    call_.set(0, y);
    for (size_t k = 0; k < last[0].size(); ++k) {
      std::vector<Operand> states;
      states.reserve(last.size());
      for (const auto& one : last) states.push_back({one[k]});
      ValueId state = build_.emit("Pack", std::move(states), {{"axis", int64_t{0}}});
      if (is_batch_first_) state = build_.transpose(state, {1, 0, 2});
      call_.set(k + 1, state);
    }
  }

 private:
  // Row `d` without its dimension.
  ValueId part(ValueId x, int64_t d) {
    Ints sizes = build_.sizes(x);
    sizes.erase(sizes.begin());
    return build_.view(build_.slice(x, 0, d, d + 1), sizes);
  }

  Call& call_;
  Builder& build_;
  int64_t gates_;
  bool is_batch_first_ = false;
  ValueId x_ = kNoValue;
  int64_t steps_ = 0;
  int64_t batch_ = 0;
  int64_t hidden_ = 0;
  int64_t directions_ = 1;
  double clip_ = 0;
};

void rnn(Call& call) {
  Layer layer(call, 1);
  std::vector<ValueId> all;
  std::vector<std::vector<ValueId>> last;
  for (int64_t d = 0; d < layer.directions(); ++d) {
    const Direction of = layer.direction(d, {"Tanh"});
    const ValueId inputs = layer.projected(of);
    std::vector<ValueId> states = {layer.initial(5, d)};
    all.push_back(layer.run(of, &states, [&](int64_t t, std::vector<ValueId>* h) {
      const ValueId sum = layer.build().add(layer.at_step(inputs, t), layer.times((*h)[0], of.r, of.bias_r));
      (*h)[0] = layer.activated(of.activations[0], sum);
    }));
    last.push_back(states);
  }
  layer.set(all, last);
}

// Gates z, r, h.
void gru(Call& call) {
  Layer layer(call, 3);
  Builder& build = call.build();
  const bool is_linear_first = call.integer("linear_before_reset", 0) != 0;
  const int64_t hidden = layer.hidden();
  std::vector<ValueId> all;
  std::vector<std::vector<ValueId>> last;
  for (int64_t d = 0; d < layer.directions(); ++d) {
    const Direction of = layer.direction(d, {"Sigmoid", "Tanh"});
    const ValueId inputs = layer.projected(of);
    std::vector<ValueId> states = {layer.initial(5, d)};
    const ValueId r_gates = build.slice(of.r, 0, 0, 2 * hidden);
    const ValueId r_new = build.slice(of.r, 0, 2 * hidden, 3 * hidden);
    const auto bias = [&](int64_t first, int64_t end) {
      return of.bias_r == kNoValue ? kNoValue : build.slice(of.bias_r, 0, first * hidden, end * hidden);
    };
    const ValueId bias_gates = bias(0, 2);
    const ValueId bias_new = bias(2, 3);
    all.push_back(layer.run(of, &states, [&](int64_t t, std::vector<ValueId>* state) {
      const ValueId h = (*state)[0];
      const ValueId x = layer.at_step(inputs, t);
      const ValueId gates = layer.times(h, r_gates, bias_gates);
      const ValueId z = layer.activated(of.activations[0], build.add(layer.gate(x, 0), layer.gate(gates, 0)));
      const ValueId r = layer.activated(of.activations[0], build.add(layer.gate(x, 1), layer.gate(gates, 1)));
      const ValueId inner = is_linear_first ? build.mul(r, layer.times(h, r_new, bias_new))
                                            : layer.times(build.mul(r, h), r_new, bias_new);
      const ValueId created = layer.activated(of.activations[1], build.add(layer.gate(x, 2), inner));
      // (1 - z) new + z h
      (*state)[0] = build.add(created, build.mul(z, build.sub(h, created)));
    }));
    last.push_back(states);
  }
  layer.set(all, last);
}

// Gates i, o, f, c.
void lstm(Call& call) {
  Layer layer(call, 4);
  Builder& build = call.build();
  const bool couples = call.integer("input_forget", 0) != 0;
  std::vector<ValueId> all;
  std::vector<std::vector<ValueId>> last;
  for (int64_t d = 0; d < layer.directions(); ++d) {
    const Direction of = layer.direction(d, {"Sigmoid", "Tanh", "Tanh"});
    const ValueId inputs = layer.projected(of);
    std::vector<ValueId> states = {layer.initial(5, d), layer.initial(6, d)};
    const auto peeped = [&](ValueId sum, ValueId cell, int64_t number) {
      return of.peephole == kNoValue ? sum : build.add(sum, build.mul(layer.gate(of.peephole, number), cell));
    };
    all.push_back(layer.run(of, &states, [&](int64_t t, std::vector<ValueId>* state) {
      const ValueId cell = (*state)[1];
      const ValueId sum = build.add(layer.at_step(inputs, t), layer.times((*state)[0], of.r, of.bias_r));
      const ValueId i = layer.activated(of.activations[0], peeped(layer.gate(sum, 0), cell, 0));
      const ValueId f = couples ? build.sub(build.scalar(1, build.dtype(i)), i)
                                : layer.activated(of.activations[0], peeped(layer.gate(sum, 2), cell, 2));
      const ValueId c = layer.activated(of.activations[1], layer.gate(sum, 3));
      const ValueId next = build.add(build.mul(f, cell), build.mul(i, c));
      const ValueId o = layer.activated(of.activations[0], peeped(layer.gate(sum, 1), next, 1));
      (*state)[0] = build.mul(o, layer.activated(of.activations[2], next));
      (*state)[1] = next;
    }));
    last.push_back(states);
  }
  layer.set(all, last);
}

constexpr LowerRow kRows[] = {
    {"RNN", rnn},
    {"GRU", gru},
    {"LSTM", lstm},
};

}  // namespace

std::span<const LowerRow> recurrent_rows() { return kRows; }

}  // namespace softnpu::graph
