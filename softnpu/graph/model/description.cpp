#include "graph/model/description.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/text.h"
#include "graph/model/attributes.h"
#include "graph/model/bytes.h"
#include "graph/model/om.h"
#include "nnopbase/format.h"
#include "nnopbase/operator_model.h"

namespace softnpu::graph {
namespace {

constexpr int64_t kAnyRank = -2;

void put(Writer* writer, const RegistryTensor& tensor) {
  writer->put(static_cast<uint8_t>(tensor.is_given));
  writer->put(tensor.name);
  writer->put(static_cast<int32_t>(tensor.tensor.dtype));
  writer->put(static_cast<int32_t>(tensor.tensor.format));
  writer->put_list(tensor.tensor.dims);
}

bool read(Parser* parser, RegistryTensor* out) {
  out->is_given = parser->get<uint8_t>() != 0;
  out->name = parser->words();
  out->tensor.dtype = static_cast<aclDataType>(parser->get<int32_t>());
  out->tensor.format = static_cast<aclFormat>(parser->get<int32_t>());
  const std::vector<int64_t> sizes = parser->list<int64_t>();
  const bool is_any = sizes.size() == 1 && sizes[0] == kAnyRank;
  if (!is_any && std::ranges::any_of(sizes, [](int64_t size) { return size < -1; })) return false;
  out->tensor.dims = Dims(sizes);
  out->tensor.storage_dims = out->tensor.dims;
  return parser->is_ok() && (!out->is_given || aclDataTypeSize(out->tensor.dtype) != 0);
}

Status add_value(const RegistryCall& description, const RegistryTensor& tensor, const std::string& name, ValueKind kind,
                 Graph* graph, ValueId* id) {
  if (std::ranges::any_of(tensor.tensor.dims, [](int64_t size) { return size < 0; })) {
    return {ACL_ERROR_INVALID_PARAM,
            text("the operator ", description.type, " has open sizes: run it by aclopExecuteV2")};
  }
  if (is_blocked_format(tensor.tensor.format)) {
    return {ACL_ERROR_INVALID_PARAM,
            text("the operator ", description.type, " has a blocked format: run it by aclopExecuteV2")};
  }
  Value value;
  value.name = tensor.name.empty() ? name : tensor.name;
  value.kind = kind;
  value.dtype = tensor.tensor.dtype;
  value.dims = tensor.tensor.dims;
  *id = graph->add(std::move(value));
  return Status::ok();
}

}  // namespace

std::string serialize(const RegistryCall& description) {
  Writer writer;
  writer.put(description.type);
  for (const auto* tensors : {&description.inputs, &description.outputs}) {
    writer.put(static_cast<uint64_t>(tensors->size()));
    for (const RegistryTensor& tensor : *tensors) put(&writer, tensor);
  }
  put_attributes(&writer, *description.attributes);
  return writer.take();
}

Status deserialize(std::string_view bytes, RegistryCall* out) {
  const Status damaged = {ACL_ERROR_PARSE_MODEL, "the model's operator is damaged"};
  Parser parser(bytes);
  out->type = parser.words();
  for (auto* tensors : {&out->inputs, &out->outputs}) {
    tensors->resize(parser.count(25));  // a tensor has at least as many bytes
    for (RegistryTensor& tensor : *tensors) {
      if (!read(&parser, &tensor)) return damaged;
    }
  }
  auto attributes = std::make_shared<aclopAttr>();
  if (!read_attributes(&parser, attributes.get()) || !parser.is_at_end()) return damaged;
  out->attributes = std::move(attributes);
  return Status::ok();
}

Status graph_of(const RegistryCall& description, Graph* out) {
  out->name = description.type;
  Node node{description.type, description.type, {}, {}, description.attributes};
  for (const RegistryTensor& input : description.inputs) {
    ValueId id = kNoValue;
    if (input.is_given) {
      const std::string name = text("input", out->inputs.size());
      SOFTNPU_RETURN_IF_ERROR(add_value(description, input, name, ValueKind::kInput, out, &id));
      out->inputs.push_back(id);
    }
    node.inputs.push_back({id});
  }
  for (const RegistryTensor& output : description.outputs) {
    ValueId id = kNoValue;
    const std::string name = text("output", out->outputs.size());
    SOFTNPU_RETURN_IF_ERROR(add_value(description, output, name, ValueKind::kResult, out, &id));
    out->outputs.push_back(id);
    node.outputs.push_back(id);
  }
  out->nodes.push_back(std::move(node));
  return check(*out);
}

}  // namespace softnpu::graph

void softnpuReadOperatorModel(const void* bytes, size_t size, softnpu::RegistryCall* out, softnpu::Status* status) {
  softnpu::graph::CompiledModel model;
  *status = softnpu::graph::read_om({static_cast<const char*>(bytes), size}, nullptr, &model);
  if (!status->is_ok()) return;
  if (model.description.has_value()) {
    *out = std::move(*model.description);
    return;
  }
  *status = {ACL_ERROR_OP_LOAD_FAILED, "the model has no single operator: load it by aclmdlLoadFromMem"};
}

void softnpuWriteOperatorModel(const softnpu::RegistryCall* description, std::string* out) {
  *out = softnpu::graph::write_om({{}, {}, *description});
}
