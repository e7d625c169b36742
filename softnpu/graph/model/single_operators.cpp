#include "graph/model/single_operators.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include "acl/acl_base.h"
#include "base/json.h"
#include "base/text.h"
#include "graph/model/om.h"
#include "graph/session/operators.h"

namespace softnpu::graph {
namespace {

constexpr size_t kMaxName = 128;  // of a file, without its ending

Status wrong(std::string sentence) { return {ACL_ERROR_INVALID_PARAM, std::move(sentence)}; }

std::string lower_case(std::string words) {
  std::ranges::transform(words, words.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c; });
  return words;
}

const std::map<std::string_view, aclDataType>& dtypes() {
  static const std::map<std::string_view, aclDataType> table = {
      {"bool", ACL_BOOL},     {"int8", ACL_INT8},           {"uint8", ACL_UINT8},          {"int16", ACL_INT16},
      {"uint16", ACL_UINT16}, {"int32", ACL_INT32},         {"uint32", ACL_UINT32},        {"int64", ACL_INT64},
      {"uint64", ACL_UINT64}, {"float16", ACL_FLOAT16},     {"half", ACL_FLOAT16},         {"fp16", ACL_FLOAT16},
      {"float", ACL_FLOAT},   {"float32", ACL_FLOAT},       {"double", ACL_DOUBLE},        {"bfloat16", ACL_BF16},
      {"bf16", ACL_BF16},     {"complex64", ACL_COMPLEX64}, {"complex128", ACL_COMPLEX128}};
  return table;
}

const std::map<std::string_view, aclFormat>& formats() {
  static const std::map<std::string_view, aclFormat> table = {
      {"nchw", ACL_FORMAT_NCHW},   {"nhwc", ACL_FORMAT_NHWC},   {"nd", ACL_FORMAT_ND},   {"hwcn", ACL_FORMAT_HWCN},
      {"ndhwc", ACL_FORMAT_NDHWC}, {"ncdhw", ACL_FORMAT_NCDHW}, {"ncl", ACL_FORMAT_NCL}, {"nc", ACL_FORMAT_NC}};
  return table;
}

template <typename Table>
std::string known(const Table& table) {
  std::string words;
  for (const auto& [name, value] : table) words += text(words.empty() ? "" : ", ", name);
  return words;
}

// `where` names the member in errors.
Status read_integer(const Json& json, const std::string& where, int64_t* out) {
  const double* number = std::get_if<double>(&json.value);
  constexpr double kExact = 9007199254740992;  // 2^53
  if (number == nullptr || std::trunc(*number) != *number || std::abs(*number) > kExact) {
    return wrong(where + " is no integer");
  }
  *out = static_cast<int64_t>(*number);
  return Status::ok();
}
Status read_value(const Json& json, const std::string& where, int64_t* out) { return read_integer(json, where, out); }
Status read_value(const Json& json, const std::string& where, float* out) {
  const double* number = std::get_if<double>(&json.value);
  if (number == nullptr) return wrong(where + " is no number");
  *out = static_cast<float>(*number);
  return Status::ok();
}
Status read_value(const Json& json, const std::string& where, bool* out) {
  const bool* flag = std::get_if<bool>(&json.value);
  if (flag == nullptr) return wrong(where + " is neither true nor false");
  *out = *flag;
  return Status::ok();
}
Status read_value(const Json& json, const std::string& where, std::string* out) {
  if (json.text() == nullptr) return wrong(where + " is no text");
  *out = *json.text();
  return Status::ok();
}
// A number of aclDataType, or a name with DT_ before it.
Status read_value(const Json& json, const std::string& where, aclDataType* out) {
  if (json.text() == nullptr) {
    int64_t number = 0;
    SOFTNPU_RETURN_IF_ERROR(read_integer(json, where, &number));
    *out = static_cast<aclDataType>(number);
    return Status::ok();
  }
  const std::string name = lower_case(*json.text());
  const auto found = dtypes().find(std::string_view(name).substr(name.starts_with("dt_") ? 3 : 0));
  if (found == dtypes().end()) return wrong(text(where, ": there is no data type ", *json.text()));
  *out = found->second;
  return Status::ok();
}
template <typename T>
Status read_value(const Json& json, const std::string& where, std::vector<T>* out) {
  if (json.list() == nullptr) return wrong(where + " is no list");
  for (const Json& one : *json.list()) {
    T value{};
    SOFTNPU_RETURN_IF_ERROR(read_value(one, where, &value));
    out->push_back(std::move(value));
  }
  return Status::ok();
}

Status find_member(const Json& json, const char* name, const std::string& where, const Json** out) {
  *out = json.find(name);
  return *out != nullptr ? Status::ok() : wrong(text(where, " has no \"", name, "\""));
}

Status read_tensor(const Json& json, const std::string& where, RegistryTensor* out) {
  const Json* member = nullptr;
  std::string type;
  std::string format;
  std::vector<int64_t> sizes;
  SOFTNPU_RETURN_IF_ERROR(find_member(json, "type", where, &member));
  SOFTNPU_RETURN_IF_ERROR(read_value(*member, where + ": \"type\"", &type));
  SOFTNPU_RETURN_IF_ERROR(find_member(json, "format", where, &member));
  SOFTNPU_RETURN_IF_ERROR(read_value(*member, where + ": \"format\"", &format));
  SOFTNPU_RETURN_IF_ERROR(find_member(json, "shape", where, &member));
  SOFTNPU_RETURN_IF_ERROR(read_value(*member, where + ": \"shape\"", &sizes));
  if (const Json* name = json.find("name"); name != nullptr) {
    SOFTNPU_RETURN_IF_ERROR(read_value(*name, where + ": \"name\"", &out->name));
  }
  type = lower_case(type);
  format = lower_case(format);
  if (type == "undefined" && format == "reserved") return Status::ok();  // an omitted optional input
  const auto dtype = dtypes().find(type);
  if (dtype == dtypes().end()) return wrong(text(where, ": \"type\" ", type, " is none of ", known(dtypes())));
  const auto layout = formats().find(format);
  if (layout == formats().end()) return wrong(text(where, ": \"format\" ", format, " is none of ", known(formats())));
  const bool is_any = sizes.size() == 1 && sizes[0] == -2;
  for (const int64_t size : sizes) {
    if (size < -1 && !is_any) return wrong(text(where, ": ", size, " is no size; -1 is any size, [-2] any sizes"));
  }
  out->is_given = true;
  out->tensor.dtype = dtype->second;
  out->tensor.format = layout->second;
  out->tensor.dims = Dims(sizes);
  out->tensor.storage_dims = out->tensor.dims;
  return Status::ok();
}

Status read_tensors(const Json& json, const char* name, const std::string& where, std::vector<RegistryTensor>* out) {
  const Json* member = json.find(name);
  if (member == nullptr) return Status::ok();
  if (member->list() == nullptr) return wrong(text(where, ": \"", name, "\" is no list"));
  for (const Json& one : *member->list()) {
    const std::string location = text(where, ": \"", name, "\" ", out->size());
    SOFTNPU_RETURN_IF_ERROR(read_tensor(one, location, &out->emplace_back()));
  }
  return Status::ok();
}

template <typename T>
Status read_alternative(const Json& json, const std::string& where, OpAttrValue* out) {
  return read_value(json, where, &out->emplace<T>());
}

using ReadAttribute = Status(const Json& json, const std::string& where, OpAttrValue* out);

const std::map<std::string_view, ReadAttribute*>& attribute_types() {
  static const std::map<std::string_view, ReadAttribute*> table = {
      {"bool", &read_alternative<bool>},
      {"int", &read_alternative<int64_t>},
      {"float", &read_alternative<float>},
      {"string", &read_alternative<std::string>},
      {"data_type", &read_alternative<aclDataType>},
      {"list_bool", &read_alternative<std::vector<bool>>},
      {"list_int", &read_alternative<std::vector<int64_t>>},
      {"list_float", &read_alternative<std::vector<float>>},
      {"list_string", &read_alternative<std::vector<std::string>>},
      {"list_list_int", &read_alternative<std::vector<std::vector<int64_t>>>},
  };
  return table;
}

Status read_attributes(const Json& json, const std::string& where, aclopAttr* out) {
  const Json* member = json.find("attr");
  if (member == nullptr) return Status::ok();
  if (member->list() == nullptr) return wrong(where + ": \"attr\" is no list");
  for (const Json& one : *member->list()) {
    const std::string location = text(where, ": \"attr\" ", out->values.size());
    std::string name;
    std::string type;
    SOFTNPU_RETURN_IF_ERROR(find_member(one, "name", location, &member));
    SOFTNPU_RETURN_IF_ERROR(read_value(*member, location + ": \"name\"", &name));
    SOFTNPU_RETURN_IF_ERROR(find_member(one, "type", location, &member));
    SOFTNPU_RETURN_IF_ERROR(read_value(*member, location + ": \"type\"", &type));
    SOFTNPU_RETURN_IF_ERROR(find_member(one, "value", location, &member));
    const auto found = attribute_types().find(type);
    if (found == attribute_types().end()) {
      return wrong(text(location, ": \"type\" ", type, " is none of ", known(attribute_types())));
    }
    SOFTNPU_RETURN_IF_ERROR(found->second(*member, text(location, ", ", name), &out->values[name]));
  }
  return Status::ok();
}

bool has_open_sizes(const RegistryCall& description) {
  const auto is_open = [](const RegistryTensor& one) {
    return std::ranges::any_of(one.tensor.dims, [](int64_t size) { return size < 0; });
  };
  return std::ranges::any_of(description.inputs, is_open) || std::ranges::any_of(description.outputs, is_open);
}

Status read_operator(const Json& json, const std::string& where, RegistryCall* out) {
  const Json* member = nullptr;
  SOFTNPU_RETURN_IF_ERROR(find_member(json, "op", where, &member));
  SOFTNPU_RETURN_IF_ERROR(read_value(*member, where + ": \"op\"", &out->type));
  const std::string location = text(where, " (", out->type, ")");
  SOFTNPU_RETURN_IF_ERROR(read_tensors(json, "input_desc", location, &out->inputs));
  SOFTNPU_RETURN_IF_ERROR(read_tensors(json, "output_desc", location, &out->outputs));
  auto attributes = std::make_shared<aclopAttr>();
  SOFTNPU_RETURN_IF_ERROR(read_attributes(json, location, attributes.get()));
  out->attributes = std::move(attributes);
  std::shared_ptr<const CompiledOperator> compiled;
  const Status status = compile(*out, &compiled);
  // A call with open sizes is checked when it has them.
  const bool is_known = status.code() != ACL_ERROR_OP_NOT_FOUND;
  if (status.is_ok() || (is_known && has_open_sizes(*out))) return Status::ok();
  return {status.code(), text(location, ": ", status.message())};
}

// "0_Add_0_2_8_0_2_8_0_2_8": number, type, then data type, format and sizes of each tensor.
std::string file_name(size_t number, const RegistryCall& description) {
  std::string name = text(number, "_", description.type);
  for (const auto* tensors : {&description.inputs, &description.outputs}) {
    for (const RegistryTensor& one : *tensors) {
      name += text("_", static_cast<int>(one.tensor.dtype), "_", static_cast<int>(one.tensor.format));
      for (const int64_t size : one.tensor.dims) name += text("_", size);
    }
  }
  return name.substr(0, kMaxName) + ".om";
}

}  // namespace

Status compile_operators(const std::string& path, const std::string& folder, std::vector<std::string>* files) {
  std::ifstream in(path, std::ios::binary);
  if (!in.is_open()) return {ACL_ERROR_INVALID_FILE, text("--singleop: ", path, " cannot be read")};
  const std::string words(std::istreambuf_iterator<char>(in), {});
  Json json;
  if (const Status status = parse_json(words, &json); !status.is_ok()) {
    return {status.code(), text(path, ": ", status.message())};
  }
  if (json.list() == nullptr) return wrong(path + " is no list of operators");
  std::vector<RegistryCall> descriptions;
  for (const Json& one : *json.list()) {
    if (const Json* flag = one.find("compile_flag"); flag != nullptr && one.find("op") == nullptr) continue;
    const std::string where = text(path, ": operator ", descriptions.size());
    SOFTNPU_RETURN_IF_ERROR(read_operator(one, where, &descriptions.emplace_back()));
  }
  if (descriptions.empty()) return wrong(path + " has no operators");
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  for (size_t i = 0; i < descriptions.size(); ++i) {
    const std::string file = (std::filesystem::path(folder) / file_name(i, descriptions[i])).string();
    const std::string bytes = write_om({{}, {}, descriptions[i]});
    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    out.close();
    if (!out.good()) return {ACL_ERROR_WRITE_FILE, text("the file ", file, " cannot be written")};
    files->push_back(file);
  }
  return Status::ok();
}

}  // namespace softnpu::graph
