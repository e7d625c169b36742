#include "op_compiler/operator_models.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "base/no_destroy.h"
#include "base/text.h"
#include "nnopbase/operator_model.h"

namespace softnpu {
namespace {

constexpr int64_t kAnySize = -1;
constexpr int64_t kAnyRank = -2;
constexpr size_t kMaxListed = 8;  // models in an error

struct Models {
  std::shared_mutex mutex;
  std::map<std::string, std::vector<RegistryCall>, std::less<>> by_type;
};

Models& models() {
  static NoDestroy<Models> instance;
  return instance.get();
}

bool sizes_match(const Dims& description, const Dims& call) {
  if (description.size() == 1 && description[0] == kAnyRank) return true;
  return std::equal(description.begin(), description.end(), call.begin(), call.end(),
                    [](int64_t one, int64_t other) { return one == other || one == kAnySize; });
}

bool tensors_match(const std::vector<RegistryTensor>& description, const std::vector<RegistryTensor>& call) {
  return std::equal(description.begin(), description.end(), call.begin(), call.end(),
                    [](const RegistryTensor& one, const RegistryTensor& other) {
                      if (one.is_given != other.is_given) return false;
                      return !one.is_given ||
                             (one.tensor.dtype == other.tensor.dtype && one.tensor.format == other.tensor.format &&
                              sizes_match(one.tensor.dims, other.tensor.dims));
                    });
}

bool matches(const RegistryCall& description, const RegistryCall& call) {
  return tensors_match(description.inputs, call.inputs) && tensors_match(description.outputs, call.outputs) &&
         description.attributes->values == call.attributes->values;
}

struct ShowAttribute {
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(aclDataType value) const { return text("type ", static_cast<int>(value)); }
  template <typename T>
  std::string operator()(const std::vector<T>& values) const {
    std::string list;
    for (const T& value : values) list += text(list.empty() ? "" : ",", (*this)(value));
    return text("[", list, "]");
  }
  template <typename T>
  std::string operator()(const T& value) const {
    return text(value);
  }
};

std::string shown(const std::vector<RegistryTensor>& tensors) {
  std::string list;
  for (const RegistryTensor& one : tensors) {
    list += list.empty() ? "" : ", ";
    if (!one.is_given) {
      list += "none";
      continue;
    }
    std::string sizes;
    for (const int64_t size : one.tensor.dims) sizes += text(sizes.empty() ? "" : ",", size);
    list += text("type ", static_cast<int>(one.tensor.dtype), " format ", static_cast<int>(one.tensor.format), " [",
                 sizes, "]");
  }
  return list;
}

// "(type 0 format 2 [2,8]) -> (type 0 format 2 [2,8]) {axes: [0]}"
std::string shown(const RegistryCall& call) {
  std::string attributes;
  for (const auto& [name, value] : call.attributes->values) {
    attributes += text(attributes.empty() ? " {" : ", ", name, ": ", std::visit(ShowAttribute(), value));
  }
  return text("(", shown(call.inputs), ") -> (", shown(call.outputs), ")", attributes, attributes.empty() ? "" : "}");
}

Status read_model(const void* bytes, size_t size, RegistryCall* out) {
  OperatorModelLibrary library;
  SOFTNPU_RETURN_IF_ERROR(load_operator_models(&library));
  Status status;
  library.read(bytes, size, out, &status);
  return status;
}

Status read_file(const std::filesystem::path& path, RegistryCall* out) {
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open()) return {ACL_ERROR_INVALID_FILE, text(path.string(), ": cannot be read")};
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  const Status status = read_model(bytes.data(), bytes.size(), out);
  return status.is_ok() ? Status::ok() : Status(status.code(), text(path.string(), ": ", status.message()));
}

}  // namespace

void add_operator_model(RegistryCall description) {
  std::unique_lock lock(models().mutex);
  std::vector<RegistryCall>& known = models().by_type[description.type];
  if (std::ranges::none_of(known, [&](const RegistryCall& one) { return matches(one, description); })) {
    known.push_back(std::move(description));
  }
}

Status add_operator_model(const void* bytes, size_t size) {
  RegistryCall description;
  SOFTNPU_RETURN_IF_ERROR(read_model(bytes, size, &description));
  add_operator_model(std::move(description));
  return Status::ok();
}

Status add_operator_models_of(const std::string& folder) {
  std::error_code error;
  std::filesystem::directory_iterator entries(folder, error);
  if (error) return {ACL_ERROR_INVALID_FILE, text("the folder ", folder, " cannot be read: ", error.message())};
  std::set<std::filesystem::path> files;  // in the order of their names
  for (const auto& entry : entries) {
    if (entry.path().extension() == ".om") files.insert(entry.path());
  }
  if (files.empty())
    return {ACL_ERROR_INVALID_FILE, text("the folder ", folder, " has no .om: atc --singleop makes them")};
  std::vector<RegistryCall> descriptions(files.size());
  size_t count = 0;
  for (const std::filesystem::path& file : files) SOFTNPU_RETURN_IF_ERROR(read_file(file, &descriptions[count++]));
  for (RegistryCall& description : descriptions) add_operator_model(std::move(description));
  return Status::ok();
}

Status find_operator_model(const RegistryCall& call) {
  std::shared_lock lock(models().mutex);
  const auto& by_type = models().by_type;
  const auto found = by_type.find(call.type);
  std::string loaded;
  if (found == by_type.end()) {
    for (const auto& [type, list] : by_type) loaded += text(loaded.empty() ? "" : ", ", type);
    return {ACL_ERROR_OP_NOT_FOUND,
            text("no model of the operator ", call.type, " is loaded; loaded are ", loaded.empty() ? "none" : loaded,
                 ": aclopSetModelDir, aclopLoad and aclopCompile load models")};
  }
  const std::vector<RegistryCall>& known = found->second;
  if (std::ranges::any_of(known, [&](const RegistryCall& one) { return matches(one, call); })) return Status::ok();
  for (size_t i = 0; i < std::min(known.size(), kMaxListed); ++i) loaded += text("\n  ", shown(known[i]));
  if (known.size() > kMaxListed) loaded += text("\n  and ", known.size() - kMaxListed, " more");
  return {ACL_ERROR_OP_NOT_FOUND,
          text("no model of the operator ", call.type, " fits ", shown(call), "; loaded are:", loaded)};
}

Status write_operator_model(const RegistryCall& call, const std::string& folder, bool overwrites) {
  OperatorModelLibrary library;
  SOFTNPU_RETURN_IF_ERROR(load_operator_models(&library));
  std::string bytes;
  library.write(&call, &bytes);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const std::string hash = text(std::hex, std::hash<std::string>()(bytes));
  const std::filesystem::path path = std::filesystem::path(folder) / text(call.type, "_", hash, ".om");
  if (!overwrites && std::filesystem::exists(path, error)) return Status::ok();
  // Another process may read or write the folder: the file appears whole.
  const std::filesystem::path partial = path.string() + text(".", static_cast<const void*>(&bytes), ".partial");
  std::ofstream file(partial, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (file.good()) std::filesystem::rename(partial, path, error);
  if (!file.good() || error) return {ACL_ERROR_WRITE_FILE, text("the file ", path.string(), " cannot be written")};
  return Status::ok();
}

}  // namespace softnpu
