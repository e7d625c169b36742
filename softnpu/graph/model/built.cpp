// Graphs that a program builds node by node: the functions of softnpu/graph_builder.h.

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/border.h"
#include "base/text.h"
#include "graph/ir/print.h"
#include "graph/lower/builder.h"
#include "graph/model/buffers.h"
#include "graph/passes/passes.h"
#include "graph/session/session.h"
#include "softnpu/graph_builder.h"

struct softnpuBuiltGraph {
  softnpu::graph::Builder builder;
  std::shared_ptr<const softnpu::graph::Graph> graph;  // compiled
  std::unique_ptr<softnpu::graph::Session> session;
  std::string shown;
};

namespace softnpu::graph {
namespace {

Status wrong(std::string sentence) { return {ACL_ERROR_INVALID_PARAM, std::move(sentence)}; }

// Runs `body`, whose refusals are errors.
template <typename Body>
Status taken(Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (const Refused& reason) {
    return wrong(reason.what());
  }
}

Status check_id(softnpuBuiltGraph& graph, ValueId id) {
  if (graph.session != nullptr) return wrong("the graph is compiled: nothing can be added");
  if (id >= 0 && id < static_cast<ValueId>(graph.builder.graph().values.size())) return Status::ok();
  return wrong(text("there is no value ", id));
}

aclError create(softnpuBuiltGraph** out) {
  return api("softnpuGraphBuilder.create", [&] {
    *out = std::make_unique<softnpuBuiltGraph>().release();
    return Status::ok();
  });
}

void destroy(softnpuBuiltGraph* graph) { std::unique_ptr<softnpuBuiltGraph>(graph).reset(); }

aclError add_value(softnpuBuiltGraph* graph, const softnpuGraphValue* given, int32_t* out) {
  return api("softnpuGraphBuilder.addValue", [&] {
    Builder& build = graph->builder;
    if (given->kind == SOFTNPU_VALUE_CONSTANT) {
      *out = build.constant(given->dtype, sizes_of(given->sizes), copy_bytes(given->bytes.data, given->bytes.bytes));
      return Status::ok();
    }
    Value value;
    value.dtype = given->dtype;
    value.dims = Dims(sizes_of(given->sizes));
    const bool is_input = given->kind == SOFTNPU_VALUE_INPUT;
    value.kind = is_input ? ValueKind::kInput : ValueKind::kParameter;
    value.name = text(is_input ? "input" : "parameter", build.graph().values.size());
    if (!is_input) value.bytes = {static_cast<const char*>(given->bytes.data), given->bytes.bytes, nullptr};
    *out = build.graph().add(std::move(value));
    if (is_input) build.graph().inputs.push_back(*out);
    build.note_input();
    return Status::ok();
  });
}

aclError add_view(softnpuBuiltGraph* graph, int32_t value, const softnpuSizes* sizes, int32_t* out) {
  return api("softnpuGraphBuilder.addView", [&] {
    return taken([&] {
      SOFTNPU_RETURN_IF_ERROR(check_id(*graph, value));
      *out = graph->builder.view(value, sizes_of(*sizes));
      return Status::ok();
    });
  });
}

OpAttrValue attribute_of(const softnpuGraphAttribute& given) {
  switch (given.kind) {
    case SOFTNPU_ATTRIBUTE_BOOL: return given.integer != 0;
    case SOFTNPU_ATTRIBUTE_INTEGER: return given.integer;
    case SOFTNPU_ATTRIBUTE_REAL: return static_cast<float>(given.real);
    case SOFTNPU_ATTRIBUTE_WORDS: return std::string(given.words);
    default: return Ints(given.list, given.list + given.count);
  }
}

aclError add_node(softnpuBuiltGraph* graph, const softnpuGraphNode* node, void (*report)(void* state, int32_t value),
                  void* state) {
  return api("softnpuGraphBuilder.addNode", [&] {
    return taken([&] {
      std::vector<Operand> operands;
      for (const softnpuGraphOperand& one : std::span(node->operands, node->operandCount)) {
        if (one.value != kNoValue) SOFTNPU_RETURN_IF_ERROR(check_id(*graph, one.value));
        operands.push_back({one.value, one.onHost != 0});
      }
      Attributes attributes;
      for (const softnpuGraphAttribute& one : std::span(node->attributes, node->attributeCount)) {
        attributes[one.name] = attribute_of(one);
      }
      graph->builder.set_node_name(node->name);
      for (const ValueId id : graph->builder.emit_all(node->type, std::move(operands), std::move(attributes))) {
        report(state, id);
      }
      return Status::ok();
    });
  });
}

aclError describe(const softnpuBuiltGraph* graph, int32_t id, softnpuModelTensor* out) {
  return api("softnpuGraphBuilder.describe", [&] {
    const std::vector<Value>& values = const_cast<softnpuBuiltGraph*>(graph)->builder.graph().values;
    if (id < 0 || id >= static_cast<ValueId>(values.size())) return wrong(text("there is no value ", id));
    const Value& value = values[id];
    *out = {value.name.c_str(), value.dtype, ACL_FORMAT_ND, value.dims.begin(), value.dims.size(), byte_count(value)};
    return Status::ok();
  });
}

// Each output has memory of its own, which a run gives.
void set_outputs(Builder& build, std::span<const int32_t> outputs) {
  Graph& graph = build.graph();
  std::vector<ValueId> written;
  for (const int32_t one : outputs) {
    ValueId id = build.resolve(one);
    const ValueId root = graph.root(id);
    const bool is_own = graph.values[root].kind == ValueKind::kResult && !build.is_known(id) &&
                        std::ranges::find(written, root) == written.end();
    if (!is_own) id = build.emit("Identity", {{id}});
    written.push_back(graph.root(id));
    graph.outputs.push_back(id);
  }
}

aclError compile(softnpuBuiltGraph* graph, const int32_t* outputs, size_t count, int32_t is_unfused) {
  return api("softnpuGraphBuilder.compile", [&] {
    return taken([&] {
      for (const int32_t id : std::span(outputs, count)) SOFTNPU_RETURN_IF_ERROR(check_id(*graph, id));
      set_outputs(graph->builder, {outputs, count});
      auto built = std::make_shared<Graph>(std::move(graph->builder.graph()));
      remove_dead(built.get());
      SOFTNPU_RETURN_IF_ERROR(check(*built));
      SOFTNPU_RETURN_IF_ERROR(run_passes({}, built.get()));
      graph->graph = built;
      Session::GivenMemory given;
      given.fuses = is_unfused == 0;
      SOFTNPU_RETURN_IF_ERROR(Session::create(graph->graph, given, &graph->session));
      return graph->session->try_plan();
    });
  });
}

aclError run(softnpuBuiltGraph* graph, const softnpuBuffer* inputs, size_t input_count, const softnpuBuffer* outputs,
             size_t output_count, aclrtStream stream) {
  return api("softnpuGraphBuilder.run", [&] {
    if (graph->session == nullptr) return wrong("the graph is not compiled");
    return graph->session->run(buffers(inputs, input_count), buffers(outputs, output_count), stream);
  });
}

const char* show(softnpuBuiltGraph* graph) {
  if (graph->shown.empty() && graph->graph != nullptr) graph->shown = print(*graph->graph);
  return graph->shown.c_str();
}

void memory(const softnpuBuiltGraph* graph, softnpuGraphMemory* out) {
  *out = {0, 0, 0};
  if (graph->graph == nullptr) return;
  const MemoryPlan plan = plan_memory(*graph->graph);
  out->work = plan.work_bytes;
  out->weights = plan.weight_bytes;
  for (const Value& value : graph->graph->values) {
    if (value.kind == ValueKind::kParameter) out->parameters += byte_count(value);
  }
}

constexpr softnpuGraphBuilder kBuilder = {&create,   &destroy, &add_value, &add_view, &add_node,
                                          &describe, &compile, &run,       &show,     &memory};

}  // namespace
}  // namespace softnpu::graph

const softnpuGraphBuilder* softnpuGetGraphBuilder() { return &softnpu::graph::kBuilder; }
