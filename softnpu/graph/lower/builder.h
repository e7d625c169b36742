#pragma once
// Builds a graph: adds nodes, whose results' types and sizes are inferred, and computes values that decide sizes.

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "graph/ir/graph.h"

namespace softnpu::graph {

// Why a node cannot be lowered. The importer adds the node.
struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Sizes of a model's tensor. Refuses a dimension that there is not.
class CheckedDims {
 public:
  explicit CheckedDims(const Dims& dims) : dims_(dims) {}
  template <std::integral Index>
  int64_t operator[](Index dim) const {
    return at(static_cast<int64_t>(dim));
  }
  int64_t at(int64_t dim) const;
  size_t size() const { return dims_.size(); }
  operator const Dims&() const { return dims_; }

 private:
  const Dims& dims_;
};

using Attributes = std::map<std::string, OpAttrValue, std::less<>>;
using Ints = std::vector<int64_t>;

class Builder {
 public:
  Graph& graph() { return graph_; }

  // After an input was added to the graph.
  void note_input() { is_known_.resize(graph_.values.size()); }
  // The constant that was computed for a value, or the value.
  ValueId resolve(ValueId id) const;

  // Nodes that are added from now on have this name.
  void set_node_name(std::string name) { node_name_ = std::move(name); }

  const Value& value(ValueId id) const { return graph_.values[id]; }
  CheckedDims dims(ValueId id) const { return CheckedDims(graph_.values[id].dims); }
  Ints sizes(ValueId id) const { return {value(id).dims.begin(), value(id).dims.end()}; }
  aclDataType dtype(ValueId id) const { return graph_.values[id].dtype; }
  int64_t rank(ValueId id) const { return static_cast<int64_t>(dims(id).size()); }
  int64_t count(ValueId id) const { return element_count(dims(id)); }

  // A constant for operators; one with the given bytes.
  ValueId constant(aclDataType dtype, const Ints& dims, Bytes bytes);
  ValueId ints(const Ints& values) { return ints(values, {static_cast<int64_t>(values.size())}); }
  ValueId ints(const Ints& values, const Ints& dims);
  ValueId reals(const std::vector<double>& values, aclDataType dtype, const Ints& dims);
  ValueId scalar(double value, aclDataType dtype) { return reals({value}, dtype, {}); }

  // Operands that an operator needs when it is planned: integers, one number.
  Operand host(const Ints& values) { return {ints(values), true}; }
  Operand host_int(int64_t value) { return {ints({value}, {}), true}; }
  Operand number(double value) { return {scalar(value, ACL_DOUBLE), true}; }
  // A number for an operator on `like`, which is of integers or real.
  Operand number_for(ValueId like, double value);

  // The results of an operator.
  std::vector<ValueId> emit_all(const std::string& type, std::vector<Operand> inputs, Attributes attributes = {});
  ValueId emit(const std::string& type, std::vector<Operand> inputs, Attributes attributes = {}) {
    return emit_all(type, std::move(inputs), std::move(attributes))[0];
  }
  // The same elements with other sizes, one of which may be -1.
  ValueId view(ValueId x, const Ints& dims);

  ValueId cast(ValueId x, aclDataType dtype);
  ValueId transpose(ValueId x, const Ints& order);
  ValueId broadcast(ValueId x, const Ints& dims);
  // Elements [first, last) along one dimension, which must be within it.
  ValueId slice(ValueId x, int64_t dim, int64_t first, int64_t last);
  ValueId concatenate(const std::vector<ValueId>& xs, int64_t dim);
  // Along `dim` the elements at `positions`.
  ValueId take(ValueId x, int64_t dim, const Ints& positions);
  ValueId add(Operand a, Operand b) { return emit("Add", {a, b}); }
  ValueId add(ValueId a, ValueId b) { return emit("Add", {{a}, {b}}); }
  ValueId sub(ValueId a, ValueId b) { return emit("Sub", {{a}, {b}}); }
  ValueId mul(ValueId a, ValueId b) { return emit("Mul", {{a}, {b}}); }
  ValueId div(ValueId a, ValueId b) { return emit("RealDiv", {{a}, {b}}); }
  ValueId scaled(ValueId x, double factor) { return emit("Mul", {{x}, number_for(x, factor)}); }
  ValueId shifted(ValueId x, double number) { return emit("Add", {{x}, number_for(x, number)}); }
  ValueId reduce(const char* type, ValueId x, const Ints& axes, bool keep) {
    return emit(type, {{x}, host(axes)}, {{"keep_dims", keep}});
  }

  // Whether the value depends on no input.
  bool is_known(ValueId id) const;
  // Its bytes; computes them now if it is a node's result. Refuses a value that depends on an input.
  Bytes bytes_of(ValueId id);
  Ints ints_of(ValueId id);
  // Its first element.
  int64_t int_of(ValueId id);
  std::vector<double> reals_of(ValueId id);
  double real_of(ValueId id);

  // `dim` in [-rank, rank) as an index.
  static int64_t index(int64_t dim, int64_t rank);

 private:
  ValueId evaluate(ValueId id);
  // The type and bytes of a value that is known.
  Value computed(ValueId id);
  Value result(const aclTensor& tensor);

  Graph graph_;
  std::string node_name_;
  std::unordered_map<ValueId, size_t> producers_;   // of results: the node
  std::unordered_map<ValueId, ValueId> evaluated_;  // results that were computed: the constant
  std::vector<bool> is_known_;
};

// Sizes that both broadcast to.
Ints broadcast_sizes(const Ints& a, const Ints& b);

}  // namespace softnpu::graph
