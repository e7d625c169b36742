#include "graph/model/open_sizes.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "graph/model/bytes.h"
#include "graph/passes/passes.h"

namespace softnpu::graph {

std::string serialize(const Source& source) {
  Writer writer;
  writer.put(source.kind);
  writer.put(static_cast<uint64_t>(source.list.size()));
  for (const Ints& entry : source.list) writer.put_list(entry);
  writer.put(static_cast<uint64_t>(source.import.input_sizes.size()));
  for (const auto& [name, sizes] : source.import.input_sizes) {
    writer.put(name);
    writer.put_list(sizes);
  }
  writer.put_list(source.import.outputs);
  writer.put(static_cast<int32_t>(source.import.output_dtype));
  writer.put(static_cast<uint8_t>(source.import.allows_hf32));
  writer.put(static_cast<uint64_t>(source.import.output_dtypes.size()));
  for (const auto& [name, dtype] : source.import.output_dtypes) {
    writer.put(name);
    writer.put(static_cast<int32_t>(dtype));
  }
  writer.put_list(source.passes_off);
  writer.put(std::string(source.onnx.data, source.onnx.size));
  writer.put(static_cast<uint64_t>(source.external.size()));
  for (const auto& [key, bytes] : source.external) {
    writer.put(key);
    writer.put(std::string(bytes.data, bytes.size));
  }
  return writer.take();
}

Status read_model(const Source& source, onnx::Model* out) {
  onnx::ExternalData external = source.external;
  return onnx::read_model({source.onnx.data, source.onnx.size}, source.onnx.owner, {"", &external}, out);
}

Status deserialize(std::string_view bytes, const std::shared_ptr<const void>& owner, Source* out) {
  Parser parser(bytes);
  out->kind = parser.get<ListKind>();
  out->list.resize(parser.count(sizeof(uint64_t)));
  for (Ints& entry : out->list) entry = parser.list<int64_t>();
  const size_t inputs = parser.count(2 * sizeof(uint64_t));
  for (size_t i = 0; i < inputs; ++i) {
    const std::string name = parser.words();
    out->import.input_sizes[name] = parser.list<int64_t>();
  }
  out->import.outputs.resize(parser.count(sizeof(uint64_t)));
  for (std::string& name : out->import.outputs) name = parser.words();
  out->import.output_dtype = static_cast<aclDataType>(parser.get<int32_t>());
  out->import.allows_hf32 = parser.get<uint8_t>() != 0;
  const size_t dtypes = parser.count(sizeof(uint64_t) + sizeof(int32_t));
  for (size_t i = 0; i < dtypes; ++i) {
    const std::string name = parser.words();
    out->import.output_dtypes[name] = static_cast<aclDataType>(parser.get<int32_t>());
  }
  out->passes_off.resize(parser.count(sizeof(uint64_t)));
  for (std::string& name : out->passes_off) name = parser.words();
  const std::string_view onnx = parser.view();
  out->onnx = {onnx.data(), onnx.size(), owner};
  const size_t tensors = parser.count(2 * sizeof(uint64_t));
  for (size_t i = 0; i < tensors; ++i) {
    const std::string key = parser.words();
    const std::string_view bytes = parser.view();
    out->external[key] = {bytes.data(), bytes.size(), owner};
  }
  if (parser.is_at_end() && out->kind <= ListKind::kDims && (out->kind != ListKind::kNone) == !out->list.empty()) {
    return Status::ok();
  }
  return {ACL_ERROR_PARSE_MODEL, "the model's source is damaged"};
}

std::vector<OpenTensor> inputs_of(const onnx::Model& model, const Source& source) {
  std::vector<OpenTensor> inputs;
  for (const onnx::ValueInfo& info : model.graph.inputs) {
    const bool is_constant =
        std::ranges::find(model.graph.initializers, info.name, &onnx::Tensor::name) != model.graph.initializers.end();
    if (is_constant) continue;
    const auto given = source.import.input_sizes.find(info.name);
    inputs.push_back(
        {info.name, onnx::dtype_of(info.dtype), given == source.import.input_sizes.end() ? info.dims : given->second});
  }
  return inputs;
}

std::vector<OpenTensor> outputs_of(const onnx::Model& model, const Source& source) {
  std::vector<OpenTensor> outputs;
  for (const onnx::ValueInfo& info : model.graph.outputs) {
    const aclDataType own = onnx::dtype_of(info.dtype);
    const aclDataType wanted = source.import.dtype_of_output(info.name);
    outputs.push_back({info.name, wanted == ACL_DT_UNDEFINED ? own : wanted, info.dims});
  }
  if (source.import.outputs.empty()) return outputs;
  std::vector<OpenTensor> chosen;
  for (const std::string& name : source.import.outputs) {
    const auto found = std::ranges::find(outputs, name, &OpenTensor::name);
    chosen.push_back(found == outputs.end() ? OpenTensor{name, ACL_FLOAT, {}} : *found);
  }
  return chosen;
}

Status sizes_for(const std::vector<OpenTensor>& inputs, ListKind kind, const Ints& entry, std::vector<Ints>* out) {
  const Status unfit = {ACL_ERROR_INVALID_PARAM, "a list of sizes does not fit the open sizes (-1) of the inputs"};
  size_t next = 0;
  out->clear();
  for (const OpenTensor& input : inputs) {
    Ints sizes = input.sizes;
    if (kind != ListKind::kDims) next = 0;
    for (int64_t& size : sizes) {
      if (size >= 0) continue;
      if (kind == ListKind::kBatch) next = 0;
      if (next >= entry.size() || entry[next] < 0) return unfit;
      size = entry[next++];
    }
    if (kind == ListKind::kImage && next != 0 && next != entry.size()) return unfit;
    out->push_back(std::move(sizes));
  }
  return kind == ListKind::kDims && next != entry.size() ? unfit : Status::ok();
}

Status check_sizes(const std::vector<OpenTensor>& inputs, const std::vector<Ints>& sizes) {
  if (sizes.size() != inputs.size()) {
    return {ACL_ERROR_INVALID_PARAM, text("sizes of ", sizes.size(), " inputs, where the model has ", inputs.size())};
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    bool fits = sizes[i].size() == inputs[i].sizes.size();
    for (size_t k = 0; fits && k < sizes[i].size(); ++k) {
      fits = sizes[i][k] >= 0 && (inputs[i].sizes[k] < 0 || inputs[i].sizes[k] == sizes[i][k]);
    }
    if (!fits) {
      return {ACL_ERROR_MODEL_INPUT_NOT_MATCH, text("input ", i, " (", inputs[i].name,
                                                    ") does not have the sizes that the model was compiled for: set "
                                                    "them by aclmdlSetDatasetTensorDesc")};
    }
  }
  return Status::ok();
}

Status lower(const onnx::Model& model, const Source& source, const std::vector<OpenTensor>& inputs,
             const std::vector<Ints>& sizes, Graph* out) {
  SOFTNPU_RETURN_IF_ERROR(check_sizes(inputs, sizes));
  ImportOptions import = source.import;
  for (size_t i = 0; i < inputs.size(); ++i) import.input_sizes[inputs[i].name] = sizes[i];
  SOFTNPU_RETURN_IF_ERROR(import_model(model, import, out));
  return run_passes({source.passes_off, {}}, out);
}

}  // namespace softnpu::graph
