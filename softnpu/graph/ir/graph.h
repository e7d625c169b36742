#pragma once
// The graph: nodes are calls of operators by the name of their type (ops/registry), values are tensors of fixed sizes.

#include <memory>
#include <string>
#include <vector>

#include "ascendcl/op_attr.h"
#include "nnopbase/tensor.h"

namespace softnpu::graph {

using ValueId = int32_t;
constexpr ValueId kNoValue = -1;

// The bytes of a constant: those of a file or of `own`.
struct Bytes {
  const char* data = nullptr;
  size_t size = 0;
  std::shared_ptr<const void> owner;
};

// Copies `size` bytes.
Bytes copy_bytes(const void* data, size_t size);

enum class ValueKind : uint8_t {
  kInput,      // given at each run
  kConstant,   // has bytes
  kResult,     // an output of a node
  kView,       // the elements of `base` in the same order, with other sizes
  kParameter,  // device memory of the caller, `bytes`, read where it is; what it has may change between two runs
};

struct Value {
  std::string name;
  ValueKind kind = ValueKind::kResult;
  aclDataType dtype = ACL_FLOAT;
  Dims dims;
  ValueId base = kNoValue;
  Bytes bytes;
};

int64_t element_count(const Dims& dims);
size_t byte_count(const Value& value);

struct Operand {
  ValueId value = kNoValue;  // kNoValue: an optional input that is omitted
  bool on_host = false;      // a constant whose bytes the operator needs when it is planned
};

struct Node {
  std::string type;  // a row of ops/registry
  std::string name;  // that of the node in the model, for errors
  std::vector<Operand> inputs;
  std::vector<ValueId> outputs;
  std::shared_ptr<const aclopAttr> attributes;
};

struct Graph {
  std::string name;
  std::vector<Value> values;
  std::vector<Node> nodes;  // each behind those whose outputs it reads
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;

  // The value whose memory `id` has: not a view.
  ValueId root(ValueId id) const;
  ValueId add(Value value);
};

// Removes nodes and constants that no output depends on.
void remove_dead(Graph* graph);

// Checks what a graph from a file may violate: numbers of values, order of nodes, sizes, views, bytes of constants.
Status check(const Graph& graph);

}  // namespace softnpu::graph
