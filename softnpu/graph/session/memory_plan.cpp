#include "graph/session/memory_plan.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "graph/ir/elementwise.h"

namespace softnpu::graph {
namespace {

using Region = Placement::Region;
constexpr size_t kAlignment = 64;  // a cache line: two values never share one

constexpr size_t kMinShared = 1024;  // bytes: smaller constants are not worth an allocation

size_t aligned(size_t bytes) { return (std::max<size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment; }

// Free parts of one range of addresses, which grows.
class Arena {
 public:
  // The smallest free part that is large enough.
  size_t take(size_t bytes) {
    const auto found = by_size_.lower_bound({bytes, 0});
    if (found == by_size_.end()) return grow(bytes);
    const auto [size, offset] = *found;
    remove(offset, size);
    if (size > bytes) insert(offset + bytes, size - bytes);
    return offset;
  }

  void give_back(size_t offset, size_t bytes) {
    const auto next = by_offset_.lower_bound(offset);
    if (next != by_offset_.begin()) {
      const auto [before, size] = *std::prev(next);
      if (before + size == offset) {
        remove(before, size);
        offset = before;
        bytes += size;
      }
    }
    if (next != by_offset_.end() && next->first == offset + bytes) {
      const auto [after, size] = *next;
      remove(after, size);
      bytes += size;
    }
    insert(offset, bytes);
  }

  size_t size() const { return size_; }

 private:
  // A free part at the end becomes larger.
  size_t grow(size_t bytes) {
    size_t offset = size_;
    if (!by_offset_.empty()) {
      const auto [last, free] = *by_offset_.rbegin();
      if (last + free == size_) {
        remove(last, free);
        offset = last;
      }
    }
    size_ = offset + bytes;
    return offset;
  }
  void insert(size_t offset, size_t bytes) {
    by_offset_[offset] = bytes;
    by_size_.insert({bytes, offset});
  }
  void remove(size_t offset, size_t bytes) {
    by_offset_.erase(offset);
    by_size_.erase({bytes, offset});
  }

  size_t size_ = 0;
  std::map<size_t, size_t> by_offset_;
  std::set<std::pair<size_t, size_t>> by_size_;
};

class Planner {
 public:
  Planner(const Graph& graph, bool shares) : graph_(graph), shares_(shares) {
    plan_.placements.resize(graph.values.size());
    plan_.is_prologue.resize(graph.nodes.size());
    plan_.reads_parameters.resize(graph.nodes.size());
  }

  MemoryPlan run() {
    bind(graph_.inputs, Region::kInput);
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      plan_.placements[graph_.root(graph_.outputs[i])] = {Region::kOutput, i};
    }
    find_prologue();
    set_weights();
    set_work();
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      plan_.placements[i] = plan_.placements[graph_.root(static_cast<ValueId>(i))];
    }
    return std::move(plan_);
  }

 private:
  void bind(const std::vector<ValueId>& ids, Region region) {
    for (size_t i = 0; i < ids.size(); ++i) plan_.placements[ids[i]] = {region, i};
  }

  void find_prologue() {
    is_constant_.resize(graph_.values.size());
    is_variable_.resize(graph_.values.size());
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      const bool is_parameter = graph_.values[i].kind == ValueKind::kParameter;
      is_constant_[i] = is_parameter || graph_.values[i].kind == ValueKind::kConstant;
      is_variable_[i] = is_parameter;
      if (is_parameter) plan_.placements[i] = {Region::kParameter, 0};
    }
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      bool depends_on_constants = true;
      bool reads_parameters = false;
      for (const Operand& input : node.inputs) {
        if (input.value == kNoValue) continue;
        const ValueId root = graph_.root(input.value);
        depends_on_constants &= is_constant_[root];
        reads_parameters |= is_variable_[root];
      }
      // Outputs of the model are written at each run.
      for (const ValueId id : node.outputs) {
        depends_on_constants &= plan_.placements[graph_.root(id)].region != Region::kOutput;
      }
      plan_.is_prologue[i] = depends_on_constants;
      plan_.reads_parameters[i] = depends_on_constants && reads_parameters;
      for (const ValueId id : node.outputs) {
        is_constant_[graph_.root(id)] = depends_on_constants;
        is_variable_[graph_.root(id)] = plan_.reads_parameters[i];
      }
    }
  }

  // Constants, and results of the prologue that are read later.
  void set_weights() {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      for (const Operand& input : graph_.nodes[i].inputs) {
        if (input.value == kNoValue || input.on_host) continue;
        const ValueId root = graph_.root(input.value);
        Placement& placement = plan_.placements[root];
        const bool is_kept =
            graph_.values[root].kind == ValueKind::kConstant ||
            (is_constant_[root] && graph_.values[root].kind == ValueKind::kResult && !plan_.is_prologue[i]);
        if (!is_kept || placement.region != Region::kNone) continue;
        const bool is_large = byte_count(graph_.values[root]) >= kMinShared;
        if (shares_ && is_large && graph_.values[root].kind == ValueKind::kConstant) {
          placement = {Region::kShared, plan_.shared.size()};
          plan_.shared.push_back(root);
          continue;
        }
        placement = {Region::kWeights, plan_.weight_bytes};
        plan_.weight_bytes += aligned(byte_count(graph_.values[root]));
      }
    }
  }

  void set_work() {
    constexpr size_t kNever = SIZE_MAX;
    std::vector<size_t> last_use(graph_.values.size(), kNever);
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      for_each_root(graph_.nodes[i], [&](ValueId root) { last_use[root] = i; });
    }
    Arena arena;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const ValueId source = in_place_of(graph_.nodes[i], [&](ValueId root) { return last_use[root] == i; });
      if (source != kNoValue) {
        plan_.placements[graph_.nodes[i].outputs[0]] = plan_.placements[source];
        last_use[source] = kNever;
      }
      for (const ValueId id : graph_.nodes[i].outputs) {
        const ValueId root = graph_.root(id);
        if (plan_.placements[root].region != Region::kNone) continue;
        plan_.placements[root] = {Region::kWork, arena.take(aligned(byte_count(graph_.values[root])))};
      }
      for_each_root(graph_.nodes[i], [&](ValueId root) {
        const Placement& placement = plan_.placements[root];
        if (last_use[root] != i || placement.region != Region::kWork) return;
        arena.give_back(placement.offset, aligned(byte_count(graph_.values[root])));
        last_use[root] = kNever;
      });
    }
    plan_.work_bytes = arena.size();
  }

  // The operand in whose memory an elementwise node may write its result: it is read for the last time, by this node
  // only at the positions that it writes.
  template <typename IsLast>
  ValueId in_place_of(const Node& node, const IsLast& is_last) const {
    if (!is_elementwise(node)) return kNoValue;
    const ValueId output = node.outputs[0];
    const Value& result = graph_.values[output];
    if (result.kind != ValueKind::kResult || plan_.placements[output].region != Region::kNone) return kNoValue;
    for (const Operand& input : node.inputs) {
      if (input.value == kNoValue || input.on_host) continue;
      const ValueId root = graph_.root(input.value);
      const Value& read = graph_.values[input.value];
      const bool fits = read.dims == result.dims && aclDataTypeSize(read.dtype) == aclDataTypeSize(result.dtype);
      if (!fits || plan_.placements[root].region != Region::kWork || !is_last(root)) continue;
      const bool is_other = std::ranges::any_of(node.inputs, [&](const Operand& other) {
        return other.value != kNoValue && graph_.root(other.value) == root &&
               graph_.values[other.value].dims != result.dims;
      });
      if (!is_other) return root;
    }
    return kNoValue;
  }

  template <typename Visit>
  void for_each_root(const Node& node, Visit visit) const {
    for (const Operand& input : node.inputs) {
      if (input.value != kNoValue && !input.on_host) visit(graph_.root(input.value));
    }
    for (const ValueId id : node.outputs) visit(graph_.root(id));
  }

  const Graph& graph_;
  bool shares_;
  MemoryPlan plan_;
  std::vector<bool> is_constant_;  // known when a model is loaded, but for writes to parameters
  std::vector<bool> is_variable_;  // of those: depends on a parameter
};

}  // namespace

MemoryPlan plan_memory(const Graph& graph, bool shares) { return Planner(graph, shares).run(); }

}  // namespace softnpu::graph
