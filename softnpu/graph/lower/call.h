#pragma once
// One node of an ONNX model while it is lowered: its inputs, attributes and outputs.

#include <string>
#include <string_view>
#include <vector>

#include "graph/lower/builder.h"
#include "graph/onnx/model.h"

namespace softnpu::graph {

class Importer;

class Call {
 public:
  Call(Importer& importer, Builder& builder, const onnx::NodeDef& node, int64_t version, std::vector<ValueId> inputs)
      : importer_(importer),
        builder_(builder),
        node_(node),
        version_(version),
        inputs_(std::move(inputs)),
        outputs_(node.outputs.size(), kNoValue) {}

  Importer& importer() { return importer_; }
  Builder& build() { return builder_; }
  const onnx::NodeDef& node() const { return node_; }
  // That of the model's operator set in the node's domain.
  int64_t version() const { return version_; }

  size_t count() const { return inputs_.size(); }
  // Refuses an input that is omitted.
  ValueId in(size_t i) const;
  // kNoValue if it is omitted.
  ValueId maybe(size_t i) const { return i < inputs_.size() ? inputs_[i] : kNoValue; }
  bool has(size_t i) const { return maybe(i) != kNoValue; }
  const std::vector<ValueId>& inputs() const { return inputs_; }

  const onnx::Attribute* attribute(std::string_view name) const;
  bool has_attribute(std::string_view name) const { return attribute(name) != nullptr; }
  int64_t integer(std::string_view name, int64_t otherwise) const;
  double real(std::string_view name, double otherwise) const;
  std::string words(std::string_view name, const char* otherwise) const;
  Ints ints(std::string_view name) const;
  // Integers that newer versions have as input `i`, older ones as an attribute.
  Ints ints_at(size_t i, std::string_view name);
  bool has_ints_at(size_t i, std::string_view name) const { return has(i) || has_attribute(name); }

  // Whether a later node may read output `i`.
  bool wants(size_t i) const { return i < node_.outputs.size() && !node_.outputs[i].empty(); }
  void set(size_t i, ValueId id) {
    if (i < outputs_.size()) outputs_[i] = id;
  }
  void set(ValueId id) { set(0, id); }
  const std::vector<ValueId>& outputs() const { return outputs_; }

 private:
  Importer& importer_;
  Builder& builder_;
  const onnx::NodeDef& node_;
  int64_t version_;
  std::vector<ValueId> inputs_;
  std::vector<ValueId> outputs_;
};

using Lower = void (*)(Call& call);

// The function that lowers an operator; null if it is missing. `domain` is "" for ai.onnx.
Lower find_lower(std::string_view domain, std::string_view type);

struct LowerRow {
  const char* type;
  Lower lower;
};

}  // namespace softnpu::graph
