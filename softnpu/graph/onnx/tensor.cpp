// Tensors of ONNX: elements as raw bytes, as lists of numbers, or in another file.

#include <fstream>
#include <limits>

#include "base/text.h"
#include "graph/onnx/model.h"
#include "graph/onnx/wire.h"

namespace softnpu::graph::onnx {
namespace {

Status refused(std::string sentence) { return {ACL_ERROR_PARSE_MODEL, std::move(sentence)}; }

struct Elements {
  std::string_view raw;
  bool has_raw = false;
  bool is_external = false;
  std::map<std::string, std::string> external;
  std::vector<float> reals;
  std::vector<double> doubles;
  std::vector<int64_t> integers;  // of int32_data and int64_data
  std::vector<uint64_t> unsigneds;
};

template <typename To, typename From>
Bytes converted(const std::vector<From>& from) {
  std::vector<To> values;
  values.reserve(from.size());
  for (const From value : from) values.push_back(static_cast<To>(value));
  return copy_bytes(values.data(), values.size() * sizeof(To));
}

// Types of 8 and 16 bits are in int32_data, bit by bit.
Bytes listed(int32_t dtype, const Elements& elements) {
  switch (dtype) {
    case kFloat:
    case kComplex64: return copy_bytes(elements.reals.data(), elements.reals.size() * sizeof(float));
    case kDouble:
    case kComplex128: return copy_bytes(elements.doubles.data(), elements.doubles.size() * sizeof(double));
    case kInt64: return converted<int64_t>(elements.integers);
    case kInt32: return converted<int32_t>(elements.integers);
    case kUint32: return converted<uint32_t>(elements.unsigneds);
    case kUint64: return converted<uint64_t>(elements.unsigneds);
    case kInt8:
    case kUint8:
    case kBool: return converted<uint8_t>(elements.integers);
    default: return converted<uint16_t>(elements.integers);
  }
}

Status read_number(const std::map<std::string, std::string>& entries, const char* key, uint64_t otherwise,
                   uint64_t* out) {
  *out = otherwise;
  const auto found = entries.find(key);
  if (found == entries.end()) return Status::ok();
  if (found->second.empty() || found->second.find_first_not_of("0123456789") != std::string::npos ||
      found->second.size() > 18) {
    return refused(text("external data: ", key, " is \"", found->second, "\", where a number is needed"));
  }
  *out = std::stoull(found->second);
  return Status::ok();
}

// "weights.bin 4096 1024"
std::string key_of(const std::map<std::string, std::string>& entries) {
  std::string key;
  for (const char* part : {"location", "offset", "length"}) {
    const auto found = entries.find(part);
    key += text(key.empty() ? "" : " ", found == entries.end() ? "-" : found->second);
  }
  return key;
}

Status read_file(const std::string& folder, const Elements& elements, Bytes* out) {
  const auto location = elements.external.find("location");
  if (location == elements.external.end()) return refused("external data without a location");
  const std::string& name = location->second;
  if (name.empty() || name.front() == '/' || name.find("..") != std::string::npos) {
    return refused(text("external data in \"", name, "\", outside of the model's folder"));
  }
  if (folder.empty()) return refused(text("the data of ", name, " is not in the model: give the model as a file"));
  const std::string path = folder + "/" + name;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file.is_open()) return refused(text("the file ", path, " with external data cannot be read"));
  const auto size = static_cast<uint64_t>(file.tellg());
  uint64_t offset = 0;
  uint64_t length = 0;
  SOFTNPU_RETURN_IF_ERROR(read_number(elements.external, "offset", 0, &offset));
  if (offset > size) return refused(text(path, " has ", size, " bytes, the tensor begins at ", offset));
  SOFTNPU_RETURN_IF_ERROR(read_number(elements.external, "length", size - offset, &length));
  if (length > size - offset) return refused(text(path, " has ", size, " bytes, the tensor ends behind them"));
  auto own = std::make_shared<std::vector<char>>(length);
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(own->data(), static_cast<std::streamsize>(length));
  if (!file) return refused(text("the file ", path, " with external data cannot be read"));
  const char* first = own->data();
  *out = {first, length, std::move(own)};
  return Status::ok();
}

Status read_external(const ExternalFiles& files, const Elements& elements, Bytes* out) {
  if (files.known == nullptr) return read_file(files.folder, elements, out);
  const std::string key = key_of(elements.external);
  if (const auto found = files.known->find(key); found != files.known->end()) {
    *out = found->second;
    return Status::ok();
  }
  SOFTNPU_RETURN_IF_ERROR(read_file(files.folder, elements, out));
  (*files.known)[key] = *out;
  return Status::ok();
}

}  // namespace

aclDataType dtype_of(int32_t type) {
  switch (type) {
    case kFloat: return ACL_FLOAT;
    case kUint8: return ACL_UINT8;
    case kInt8: return ACL_INT8;
    case kUint16: return ACL_UINT16;
    case kInt16: return ACL_INT16;
    case kInt32: return ACL_INT32;
    case kInt64: return ACL_INT64;
    case kBool: return ACL_BOOL;
    case kFloat16: return ACL_FLOAT16;
    case kDouble: return ACL_DOUBLE;
    case kUint32: return ACL_UINT32;
    case kUint64: return ACL_UINT64;
    case kComplex64: return ACL_COMPLEX64;
    case kComplex128: return ACL_COMPLEX128;
    case kBfloat16: return ACL_BF16;
    default: return ACL_DT_UNDEFINED;
  }
}

const char* name_of(int32_t type) {
  static constexpr const char* kNames[] = {"undefined",      "float",    "uint8",        "int8",           "uint16",
                                           "int16",          "int32",    "int64",        "string",         "bool",
                                           "float16",        "double",   "uint32",       "uint64",         "complex64",
                                           "complex128",     "bfloat16", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2",
                                           "float8e5m2fnuz", "uint4",    "int4",         "float4e2m1"};
  return type >= 0 && static_cast<size_t>(type) < std::size(kNames) ? kNames[type] : "of an unknown type";
}

Status read_tensor(std::string_view message, const std::shared_ptr<const void>& owner, const ExternalFiles& files,
                   Tensor* out) {
  Elements elements;
  std::vector<int64_t> dims;
  Reader reader(message);
  while (reader.next()) {
    switch (reader.field()) {
      case 1: reader.append(&dims); break;
      case 2: out->dtype = static_cast<int32_t>(reader.integer()); break;
      case 4: reader.append(&elements.reals); break;
      case 5:
      case 7: reader.append(&elements.integers); break;
      case 8: out->name = reader.words(); break;
      case 9:
        elements.raw = reader.bytes();
        elements.has_raw = true;
        break;
      case 10: reader.append(&elements.doubles); break;
      case 11: reader.append(&elements.unsigneds); break;
      case 13: {
        std::string key;
        std::string value;
        Reader entry(reader.bytes());
        while (entry.next()) (entry.field() == 1 ? key : value) = entry.words();
        elements.external[key] = value;
        break;
      }
      case 14: elements.is_external = reader.integer() == 1; break;
      default: break;
    }
  }
  if (!reader.is_ok()) return refused(text("the tensor ", out->name, " is damaged"));
  const aclDataType dtype = dtype_of(out->dtype);
  if (dtype == ACL_DT_UNDEFINED) {
    return {ACL_ERROR_UNSUPPORTED_DATA_TYPE,
            text("the tensor ", out->name, " is ", name_of(out->dtype), ": operators do not have this type")};
  }
  Checked bytes = checked(aclDataTypeSize(dtype));
  for (const int64_t size : dims) {
    if (size < 0) return refused(text("the tensor ", out->name, " has a size of ", size));
    bytes = bytes * size;
  }
  out->dims = Dims(dims);
  if (elements.is_external) {
    SOFTNPU_RETURN_IF_ERROR(read_external(files, elements, &out->bytes));
  } else if (elements.has_raw) {
    out->bytes = {elements.raw.data(), elements.raw.size(), owner};
  } else {
    out->bytes = listed(out->dtype, elements);
  }
  if (!bytes.fits() || out->bytes.size != bytes.bytes()) {
    return refused(
        text("the tensor ", out->name, " has ", out->bytes.size, " bytes, where its sizes need ", bytes.bytes()));
  }
  return Status::ok();
}

}  // namespace softnpu::graph::onnx
