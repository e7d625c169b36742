#include "graph/onnxruntime/model.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "base/text.h"

namespace softnpu::graph::ort {
namespace {

// AttributeProto.AttributeType of each AttributeType.
constexpr int kOnnxTypes[] = {0, 2, 7, 1, 6, 3, 8, 5, 4};

onnx::Tensor tensor_of(const Api& api, const OrtValue* value, std::string name, bool copies) {
  OrtTensorTypeAndShapeInfo* info = api.get(get_type_and_shape, value);
  const std::unique_ptr<OrtTensorTypeAndShapeInfo, void (*)(OrtTensorTypeAndShapeInfo*)> owner(
      info, api(release_type_and_shape));
  onnx::Tensor tensor;
  tensor.name = std::move(name);
  tensor.dtype = api.get(get_element_type, static_cast<const OrtTensorTypeAndShapeInfo*>(info));
  if (onnx::dtype_of(tensor.dtype) == ACL_DT_UNDEFINED) {
    throw Failure(text("the constant ", tensor.name, " is ", onnx::name_of(tensor.dtype)));
  }
  const std::vector<int64_t> sizes =
      api.list(get_dimensions_count, get_dimensions, static_cast<const OrtTensorTypeAndShapeInfo*>(info));
  tensor.dims = Dims(sizes);
  const size_t bytes = api.get(tensor_bytes, value);
  const void* data = bytes == 0 ? nullptr : api.get(tensor_data, value);
  tensor.bytes = copies ? copy_bytes(data, bytes) : Bytes{static_cast<const char*>(data), bytes, nullptr};
  return tensor;
}

template <class T>
std::vector<T> elements_of(const Api& api, const OrtOpAttr* attribute, int type) {
  size_t bytes = 0;
  // Fails for want of room, and reports how much it needs.
  if (OrtStatus* status = api(read_attribute)(attribute, type, nullptr, 0, &bytes)) api(release_status)(status);
  std::vector<T> out((bytes + sizeof(T) - 1) / sizeof(T));
  if (bytes > 0) api.check(api(read_attribute)(attribute, type, out.data(), bytes, &bytes));
  return out;
}

onnx::Attribute attribute_of(const Api& api, const OrtOpAttr* from) {
  onnx::Attribute out;
  out.name = api.get(attribute_name, from);
  const int type = api.get(attribute_type, from);
  switch (type) {
    case kInt: out.integer = elements_of<int64_t>(api, from, type).at(0); break;
    case kInts: out.integers = elements_of<int64_t>(api, from, type); break;
    case kFloat: out.real = elements_of<float>(api, from, type).at(0); break;
    case kFloats: out.reals = elements_of<float>(api, from, type); break;
    case kString: {
      const std::vector<char> words = elements_of<char>(api, from, type);
      out.words.assign(words.begin(), words.end());
      if (!out.words.empty() && out.words.back() == '\0') out.words.pop_back();
      break;
    }
    case kStrings: {  // each ends with a zero
      const std::vector<char> words = elements_of<char>(api, from, type);
      for (auto at = words.begin(); at != words.end();) {
        const auto end = std::find(at, words.end(), '\0');
        out.strings.emplace_back(at, end);
        at = end == words.end() ? end : end + 1;
      }
      break;
    }
    case kTensor: {
      OrtValue* value = api.get(attribute_tensor, from);
      const std::unique_ptr<OrtValue, void (*)(OrtValue*)> owner(value, api(release_value));
      out.tensor = std::make_shared<const onnx::Tensor>(tensor_of(api, value, out.name, true));
      break;
    }
    default: throw Failure(text("the attribute ", out.name, " is of a type that is not implemented"));
  }
  out.type = kOnnxTypes[type];
  return out;
}

onnx::ValueInfo info_of(const Api& api, const OrtValueInfo* value) {
  onnx::ValueInfo out;
  out.name = name_of(api, value);
  const OrtTypeInfo* type = api.get(value_type, value);
  out.is_tensor = type != nullptr && api.get(get_onnx_type, type) == kTypeTensor;
  if (!out.is_tensor) return out;
  const OrtTensorTypeAndShapeInfo* info = api.get(cast_to_tensor_info, type);
  out.dtype = api.get(get_element_type, info);
  out.dims = api.list(get_dimensions_count, get_dimensions, info);
  // 1.23 does not tell a scalar from a tensor whose rank is not known.
  out.has_shape = !out.dims.empty() || (api.minor() >= 24 && api(has_shape)(info));
  return out;
}

onnx::NodeDef node_of(const Api& api, const OrtNode* node) {
  onnx::NodeDef out;
  out.type = api.get(node_type, node);
  out.domain = api.get(node_domain, node);
  if (out.domain == "ai.onnx") out.domain.clear();
  out.name = api.get(node_name, node);
  if (api.get(node_subgraph_count, node) > 0) throw Failure("graphs in attributes are not taken");
  if (out.domain.empty() && api.get(node_since_version, node) > kNewestOpset) {
    throw Failure(text("its version is ", api.get(node_since_version, node), "; opsets up to ", kNewestOpset,
                       " are implemented"));
  }
  for (const OrtValueInfo* input : api.list(node_input_count, node_inputs, node)) {
    out.inputs.push_back(input == nullptr ? std::string() : name_of(api, input));
  }
  for (const OrtValueInfo* output : api.list(node_output_count, node_outputs, node)) {
    out.outputs.push_back(output == nullptr ? std::string() : name_of(api, output));
  }
  for (const OrtOpAttr* attribute : api.list(node_attribute_count, node_attributes, node)) {
    out.attributes.push_back(attribute_of(api, attribute));
  }
  return out;
}

}  // namespace

std::string name_of(const Api& api, const OrtValueInfo* value) { return api.get(value_name, value); }

onnx::Model model_of(const Api& api, const OrtGraph* graph, const std::vector<const OrtNode*>& nodes,
                     const std::vector<const OrtValueInfo*>& outputs, bool copies) {
  onnx::Model model;
  std::vector<const char*> domains(api.get(operator_set_count, graph));
  std::vector<int64_t> versions(domains.size());
  api.check(api(operator_sets)(graph, domains.data(), versions.data(), domains.size()));
  for (size_t i = 0; i < domains.size(); ++i) {
    const std::string domain = std::strcmp(domains[i], "ai.onnx") == 0 ? "" : domains[i];
    // A node's meaning is that of its own version, which is not newer.
    model.opsets[domain] = domain.empty() ? std::min(versions[i], kNewestOpset) : versions[i];
  }
  std::set<std::string> known;
  for (const OrtNode* node : nodes) {
    onnx::NodeDef def = node_of(api, node);
    for (const OrtValueInfo* input : api.list(node_input_count, node_inputs, node)) {
      if (input == nullptr || name_of(api, input).empty() || !known.insert(name_of(api, input)).second) continue;
      if (api.get(is_constant_initializer, input)) {
        model.graph.initializers.push_back(
            tensor_of(api, api.get(initializer_value, input), name_of(api, input), copies));
        continue;
      }
      onnx::ValueInfo info = info_of(api, input);
      if (info.is_tensor && !info.has_shape) throw Failure(text("the rank of its input ", info.name, " is not known"));
      if (std::ranges::any_of(info.dims, [](int64_t size) { return size < 0; })) {
        throw Failure(text("the sizes of its input ", info.name,
                           " are open: set them by SessionOptions.add_free_dimension_override_by_name"));
      }
      model.graph.inputs.push_back(std::move(info));
    }
    known.insert(def.outputs.begin(), def.outputs.end());
    model.graph.nodes.push_back(std::move(def));
  }
  for (const OrtValueInfo* output : outputs) model.graph.outputs.push_back(info_of(api, output));
  return model;
}

}  // namespace softnpu::graph::ort
