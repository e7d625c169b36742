#include "graph/session/image_layouts.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

#include "graph/ir/elementwise.h"

namespace softnpu::graph {
namespace {

using std::literals::operator""sv;

// Operators with one image and one result, or several images of one layout. A type that is not here keeps its images as
// they are.
constexpr std::array kImageTypes = {"AdaptiveAvgPool2d"sv, "AvgPoolV2"sv,        "BNInfer"sv,
                                    "MaxPoolV3"sv,         "ResizeBilinearV2"sv, "ResizeNearestNeighborV2"sv,
                                    "softnpuMaxPool"sv,    "ConcatD"sv};
constexpr std::array kReductions = {"ReduceMax"sv, "ReduceMean"sv, "ReduceMin"sv, "ReduceSum"sv};

template <size_t kCount>
bool is_among(const std::array<std::string_view, kCount>& types, const Node& node) {
  return std::ranges::find(types, std::string_view(node.type)) != types.end();
}

// Groups of values that have one layout.
class Groups {
 public:
  explicit Groups(const Graph& graph)
      : graph_(graph),
        parents_(graph.values.size()),
        may_change_(graph.values.size()),
        has_convolution_(graph.values.size()) {
    std::iota(parents_.begin(), parents_.end(), 0);
    for (size_t i = 0; i < graph.values.size(); ++i) {
      const Value& value = graph.values[i];
      may_change_[i] = value.kind == ValueKind::kResult && value.dims.size() == 4 && element_count(value.dims) > 0;
    }
    for (size_t i = 0; i < graph.values.size(); ++i) {
      if (graph.values[i].kind == ValueKind::kView) keep(static_cast<ValueId>(i));
    }
    for (const ValueId id : graph.outputs) keep(id);
  }

  // The group stays as it is.
  void keep(ValueId id) {
    if (id != kNoValue) may_change_[static_cast<size_t>(find(graph_.root(id)))] = false;
  }
  // A convolution reads or writes it.
  void mark(ValueId id) { has_convolution_[static_cast<size_t>(find(id))] = true; }
  void unite(ValueId first, ValueId second) {
    const ValueId a = find(graph_.root(first));
    const ValueId b = find(graph_.root(second));
    if (a == b) return;
    parents_[static_cast<size_t>(b)] = a;
    may_change_[static_cast<size_t>(a)] = may_change_[static_cast<size_t>(a)] && may_change_[static_cast<size_t>(b)];
    has_convolution_[static_cast<size_t>(a)] =
        has_convolution_[static_cast<size_t>(a)] || has_convolution_[static_cast<size_t>(b)];
  }

  std::vector<bool> changed() {
    std::vector<bool> result(parents_.size());
    for (size_t i = 0; i < parents_.size(); ++i) {
      const auto group = static_cast<size_t>(find(static_cast<ValueId>(i)));
      result[i] = may_change_[group] && has_convolution_[group];
    }
    return result;
  }

 private:
  ValueId find(ValueId id) {
    while (parents_[static_cast<size_t>(id)] != id) {
      ValueId& parent = parents_[static_cast<size_t>(id)];
      parent = parents_[static_cast<size_t>(parent)];
      id = parent;
    }
    return id;
  }

  const Graph& graph_;
  std::vector<ValueId> parents_;
  std::vector<bool> may_change_;       // of a group's first value
  std::vector<bool> has_convolution_;  // a convolution reads or writes the group
};

// Operands of an elementwise node that are not broadcast lie as its result does, which may be written over them.
void unite_elements(const Graph& graph, const Node& node, Groups* groups) {
  const ValueId result = node.outputs[0];
  const int64_t count = element_count(graph.values[static_cast<size_t>(result)].dims);
  for (const Operand& input : node.inputs) {
    if (input.value == kNoValue) continue;
    if (element_count(graph.values[static_cast<size_t>(input.value)].dims) == count) {
      groups->unite(result, input.value);
    } else {
      groups->keep(input.value);
    }
  }
}

// `image` is the number of the operand that is one.
void read_convolution(const Node& node, size_t image, Groups* groups) {
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (i != image) groups->keep(node.inputs[i].value);
  }
  groups->mark(node.inputs[image].value);
  groups->mark(node.outputs[0]);
}

void read_image(const Graph& graph, const Node& node, Groups* groups) {
  for (const Operand& input : node.inputs) {
    if (input.value == kNoValue) continue;
    const bool is_image = !input.on_host && graph.values[static_cast<size_t>(input.value)].dims.size() == 4;
    if (is_image) {
      groups->unite(node.outputs[0], input.value);
    } else {
      groups->keep(input.value);
    }
  }
}

}  // namespace

std::vector<bool> values_with_channels_last(const Graph& graph) {
  Groups groups(graph);
  for (const Node& node : graph.nodes) {
    if (node.type == "Conv2D" || node.type == "Conv2DTranspose") {
      read_convolution(node, node.type == "Conv2D" ? 0 : 1, &groups);
    } else if (is_elementwise(node)) {
      unite_elements(graph, node, &groups);
    } else if (is_among(kImageTypes, node) && node.outputs.size() == 1) {
      read_image(graph, node, &groups);
    } else {
      // A reduction reads any layout.
      if (!is_among(kReductions, node)) {
        for (const Operand& input : node.inputs) groups.keep(input.value);
      }
      for (const ValueId id : node.outputs) groups.keep(id);
    }
  }
  return groups.changed();
}

}  // namespace softnpu::graph
