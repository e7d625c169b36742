// Nodes that depend on constants only are computed when a model is compiled.

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "graph/passes/passes.h"
#include "graph/session/session.h"

namespace softnpu::graph {
namespace {

// A larger result that has more bytes than its operands stays a node, which runs when the model is loaded: a file
// grows by no zeros.
constexpr size_t kMinLimit = size_t{64} << 10;

class Folder {
 public:
  explicit Folder(Graph* graph) : graph_(*graph), is_known_(graph->values.size()), is_kept_(graph->values.size()) {}

  Status run() {
    for (size_t i = 0; i < graph_.values.size(); ++i) is_known_[i] = graph_.values[i].kind == ValueKind::kConstant;
    for (const ValueId id : graph_.outputs) is_kept_[graph_.root(id)] = true;
    std::vector<bool> is_folded(graph_.nodes.size());
    bool is_empty = true;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      is_folded[i] = can_fold(graph_.nodes[i]);
      is_empty &= !is_folded[i];
      for (const ValueId id : graph_.nodes[i].outputs) is_known_[graph_.root(id)] = is_folded[i];
    }
    if (is_empty) return Status::ok();
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      for (const Operand& input : graph_.nodes[i].inputs) {
        if (is_folded[i] || input.value == kNoValue) continue;
        const ValueId root = graph_.root(input.value);
        if (graph_.values[root].kind == ValueKind::kResult && is_known_[root]) is_kept_[root] = true;
      }
    }
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (is_folded[i]) copy(graph_.nodes[i]);
    }
    SOFTNPU_RETURN_IF_ERROR(compute());
    std::vector<Node> rest;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (!is_folded[i]) rest.push_back(std::move(graph_.nodes[i]));
    }
    graph_.nodes = std::move(rest);
    remove_dead(&graph_);
    return Status::ok();
  }

 private:
  bool can_fold(const Node& node) const {
    size_t read = 0;
    for (const Operand& input : node.inputs) {
      if (input.value == kNoValue) continue;
      if (!is_known_[graph_.root(input.value)]) return false;
      read += byte_count(graph_.values[input.value]);
    }
    size_t written = 0;
    for (const ValueId id : node.outputs) {
      const Value& value = graph_.values[id];
      if (value.kind != ValueKind::kResult || is_kept_[id]) return false;
      written += byte_count(value);
    }
    return written <= std::max(read, kMinLimit);
  }

  // The value in the part that is computed.
  ValueId copied(ValueId id) {
    if (id == kNoValue) return id;
    const auto found = copies_.find(id);
    if (found != copies_.end()) return found->second;
    Value copy = graph_.values[id];
    if (copy.kind == ValueKind::kView) copy.base = copied(copy.base);
    return copies_[id] = part_.add(std::move(copy));
  }

  void copy(const Node& node) {
    Node one = node;
    for (Operand& input : one.inputs) input.value = copied(input.value);
    for (ValueId& id : one.outputs) {
      const ValueId before = id;
      id = copied(id);
      if (!is_kept_[before]) continue;
      part_.outputs.push_back(id);
      results_.push_back(before);
    }
    part_.nodes.push_back(std::move(one));
  }

  Status compute() {
    std::unique_ptr<Session> session;
    SOFTNPU_RETURN_IF_ERROR(Session::create(std::make_shared<Graph>(std::move(part_)), {}, &session));
    std::vector<std::unique_ptr<DeviceMemory>> memory;
    std::vector<Buffer> buffers;
    for (const ValueId id : results_) {
      memory.push_back(std::make_unique<DeviceMemory>());
      const size_t bytes = byte_count(graph_.values[id]);
      SOFTNPU_RETURN_IF_ERROR(memory.back()->allocate(std::max<size_t>(bytes, 1)));
      buffers.push_back({memory.back()->data(), bytes});
    }
    SOFTNPU_RETURN_IF_ERROR(session->run({}, buffers, nullptr));
    SOFTNPU_RETURN_IF_ERROR(session->wait());
    for (size_t i = 0; i < results_.size(); ++i) {
      auto own = std::make_shared<std::vector<char>>(buffers[i].bytes);
      if (!own->empty()) {
        SOFTNPU_RETURN_IF_ERROR(
            status_of(aclrtMemcpy(own->data(), own->size(), buffers[i].data, own->size(), ACL_MEMCPY_DEVICE_TO_HOST)));
      }
      Value& value = graph_.values[results_[i]];
      value.kind = ValueKind::kConstant;
      const char* first = own->data();
      const size_t size = own->size();
      value.bytes = {first, size, std::move(own)};
    }
    return Status::ok();
  }

  Graph& graph_;
  std::vector<bool> is_known_;  // roots that depend on constants only
  std::vector<bool> is_kept_;   // outputs of the graph, and results that other nodes read
  Graph part_;
  std::unordered_map<ValueId, ValueId> copies_;
  std::vector<ValueId> results_;  // the part's outputs in the graph
};

}  // namespace

Status fold_constants(Graph* graph) { return Folder(graph).run(); }

}  // namespace softnpu::graph
