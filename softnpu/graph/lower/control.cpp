// Control flow that is known when the model is compiled: branches are chosen, loops unrolled.

#include <algorithm>

#include "base/text.h"
#include "graph/lower/import.h"
#include "graph/lower/rows.h"

namespace softnpu::graph {
namespace {

constexpr int64_t kMaxIterations = 10000;

const onnx::GraphDef& graph_of(Call& call, const char* name) {
  const onnx::Attribute* found = call.attribute(name);
  if (found == nullptr || found->graph == nullptr) throw Refused(text("the graph ", name, " is missing"));
  return *found->graph;
}

void branch(Call& call) {
  const bool condition = call.build().int_of(call.in(0)) != 0;
  const std::vector<ValueId> results =
      call.importer().inline_graph(graph_of(call, condition ? "then_branch" : "else_branch"), {});
  for (size_t i = 0; i < results.size(); ++i) call.set(i, results[i]);
}

// (count?, condition?, carried...); the body: (iteration, condition, carried...) to (condition, carried..., scanned...)
void loop(Call& call) {
  Builder& build = call.build();
  const onnx::GraphDef& body = graph_of(call, "body");
  const int64_t most = call.has(0) ? build.int_of(call.in(0)) : kMaxIterations + 1;
  bool goes_on = !call.has(1) || build.int_of(call.in(1)) != 0;
  std::vector<ValueId> carried;
  for (size_t i = 2; i < call.count(); ++i) carried.push_back(call.in(i));
  std::vector<std::vector<ValueId>> scanned(call.node().outputs.size() -
                                            std::min(call.node().outputs.size(), carried.size()));
  ValueId condition = build.reals({1}, ACL_BOOL, {});
  for (int64_t i = 0; i < most && goes_on; ++i) {
    if (i == kMaxIterations) throw Refused(text("a loop of more than ", kMaxIterations, " iterations"));
    std::vector<ValueId> inputs = {build.ints({i}, {}), condition};
    inputs.insert(inputs.end(), carried.begin(), carried.end());
    const std::vector<ValueId> results = call.importer().inline_graph(body, inputs);
    if (results.size() < carried.size() + 1) throw Refused("the body has too few outputs");
    condition = results[0];
    goes_on = build.int_of(condition) != 0;
    for (size_t k = 0; k < carried.size(); ++k) carried[k] = results[1 + k];
    for (size_t k = 0; k < scanned.size() && 1 + carried.size() + k < results.size(); ++k) {
      scanned[k].push_back(results[1 + carried.size() + k]);
    }
  }
  for (size_t k = 0; k < carried.size(); ++k) call.set(k, carried[k]);
  for (size_t k = 0; k < scanned.size(); ++k) {
    if (scanned[k].empty()) throw Refused("a loop without iterations has results of unknown type");
    std::vector<Operand> parts;
    for (const ValueId one : scanned[k]) parts.push_back({one});
    call.set(carried.size() + k, build.emit("Pack", std::move(parts), {{"axis", int64_t{0}}}));
  }
}

// Opset 8: (lengths?, state..., scanned...); the first dimension of all is the batch, the second of what is scanned the
// step.
void scan_of_batches(Call& call) {
  Builder& build = call.build();
  if (call.has(0)) throw Refused("lengths of sequences are not implemented");
  if (call.has_attribute("directions")) throw Refused("directions of scans of opset 8 are not implemented");
  const onnx::GraphDef& body = graph_of(call, "body");
  const auto inputs = static_cast<size_t>(call.integer("num_scan_inputs", 0));
  if (inputs == 0 || inputs >= call.count()) throw Refused("num_scan_inputs is wrong");
  const size_t states = call.count() - 1 - inputs;
  const int64_t batch = build.dims(call.in(1))[0];
  const int64_t steps = build.sizes(call.in(1 + states)).at(1);
  const size_t results = call.node().outputs.size();
  if (results < states) throw Refused("the states are outputs");
  // One element of a dimension, without it.
  const auto at = [&](ValueId x, int64_t index) {
    Ints sizes = build.sizes(x);
    sizes.erase(sizes.begin());
    return build.view(build.slice(x, 0, index, index + 1), sizes);
  };
  const auto stacked = [&](const std::vector<ValueId>& parts) {
    std::vector<Operand> operands;
    operands.reserve(parts.size());
    for (const ValueId one : parts) operands.push_back({one});
    return build.emit("Pack", std::move(operands), {{"axis", int64_t{0}}});
  };
  if (batch < 1 || steps < 1) throw Refused("a scan of nothing has results of unknown type");
  std::vector<std::vector<ValueId>> all(results);
  for (int64_t image = 0; image < batch; ++image) {
    std::vector<ValueId> state;
    for (size_t k = 0; k < states; ++k) state.push_back(at(call.in(1 + k), image));
    std::vector<std::vector<ValueId>> created(results - states);
    for (int64_t step = 0; step < steps; ++step) {
      std::vector<ValueId> given = state;
      for (size_t k = 0; k < inputs; ++k) given.push_back(at(at(call.in(1 + states + k), image), step));
      const std::vector<ValueId> outputs = call.importer().inline_graph(body, given);
      if (outputs.size() < results) throw Refused("the body has too few outputs");
      std::copy_n(outputs.begin(), states, state.begin());
      for (size_t k = 0; k < created.size(); ++k) created[k].push_back(outputs[states + k]);
    }
    for (size_t k = 0; k < results; ++k) all[k].push_back(k < states ? state[k] : stacked(created[k - states]));
  }
  for (size_t k = 0; k < results; ++k) call.set(k, stacked(all[k]));
}

// (state..., scanned...); the body: (state..., elements...) to (state..., results...)
void scan(Call& call) {
  Builder& build = call.build();
  if (call.version() < 9) return scan_of_batches(call);
  const onnx::GraphDef& body = graph_of(call, "body");
  const auto inputs = static_cast<size_t>(call.integer("num_scan_inputs", 0));
  if (inputs == 0 || inputs > call.count()) throw Refused("num_scan_inputs is wrong");
  const size_t states = call.count() - inputs;
  const Ints axes = call.has_attribute("scan_input_axes") ? call.ints("scan_input_axes") : Ints(inputs, 0);
  const Ints directions =
      call.has_attribute("scan_input_directions") ? call.ints("scan_input_directions") : Ints(inputs, 0);
  const size_t results = call.node().outputs.size() - states;
  const Ints out_axes = call.has_attribute("scan_output_axes") ? call.ints("scan_output_axes") : Ints(results, 0);
  const Ints out_directions =
      call.has_attribute("scan_output_directions") ? call.ints("scan_output_directions") : Ints(results, 0);
  std::vector<ValueId> state(call.inputs().begin(), call.inputs().begin() + static_cast<std::ptrdiff_t>(states));
  std::vector<std::vector<ValueId>> created(results);
  int64_t steps = -1;
  for (size_t k = 0; k < inputs; ++k) {
    const ValueId x = call.in(states + k);
    steps = build.dims(x)[Builder::index(axes.at(k), build.rank(x))];
  }
  for (int64_t step = 0; step < steps; ++step) {
    std::vector<ValueId> given = state;
    for (size_t k = 0; k < inputs; ++k) {
      const ValueId x = call.in(states + k);
      const int64_t axis = Builder::index(axes[k], build.rank(x));
      const int64_t at = directions.at(k) != 0 ? steps - 1 - step : step;
      Ints sizes = build.sizes(x);
      sizes.erase(sizes.begin() + axis);
      given.push_back(build.view(build.slice(x, axis, at, at + 1), sizes));
    }
    const std::vector<ValueId> outputs = call.importer().inline_graph(body, given);
    if (outputs.size() < states + results) throw Refused("the body has too few outputs");
    for (size_t k = 0; k < states; ++k) state[k] = outputs[k];
    for (size_t k = 0; k < results; ++k) created[k].push_back(outputs[states + k]);
  }
  for (size_t k = 0; k < states; ++k) call.set(k, state[k]);
  for (size_t k = 0; k < results; ++k) {
    std::vector<Operand> parts;
    for (const ValueId one : created[k]) parts.push_back({one});
    if (out_directions.at(k) != 0) std::ranges::reverse(parts);
    if (parts.empty()) throw Refused("a scan of nothing has results of unknown type");
    const int64_t axis = Builder::index(out_axes.at(k), build.rank(created[k][0]) + 1);
    call.set(states + k, build.emit("Pack", std::move(parts), {{"axis", axis}}));
  }
}

constexpr LowerRow kRows[] = {
    {"If", branch},
    {"Loop", loop},
    {"Scan", scan},
};

}  // namespace

std::span<const LowerRow> control_rows() { return kRows; }

}  // namespace softnpu::graph
