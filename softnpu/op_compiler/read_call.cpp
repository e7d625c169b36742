#include "op_compiler/read_call.h"

#include <type_traits>

#include "ascendcl/data_buffer.h"
#include "base/border.h"
#include "base/checked.h"
#include "nnopbase/format.h"

namespace softnpu {
namespace {

// Bytes of a buffer for a tensor of sizes `dims`.
Checked bytes_of(const Dims& dims, aclDataType dtype) {
  Checked bytes = checked(aclDataTypeSize(dtype));
  for (int64_t size : dims) bytes = bytes * size;
  return bytes;
}

Status read_sizes(const std::string& role, const std::vector<int64_t>& sizes, Dims* out) {
  for (int64_t size : sizes) {
    if (size < 0) return {ACL_ERROR_INVALID_PARAM, text("the sizes of ", role, " are not all known")};
  }
  *out = Dims(sizes);
  return Status::ok();
}

Status read_data(const std::string& role, const aclTensorDesc& desc, const aclDataBuffer& buffer, RegistryTensor* out) {
  const Checked storage_shape = bytes_of(out->tensor.storage_dims, desc.dtype);
  const Checked seen = bytes_of(out->tensor.dims, desc.dtype);
  if (!storage_shape.fits() || !seen.fits()) {
    return {ACL_ERROR_INVALID_PARAM, text(role, " has more bytes than 64 bits count")};
  }
  const uint64_t needed = (is_blocked_format(out->tensor.format) ? storage_shape : seen).bytes();
  if (buffer.size < needed) {
    return {ACL_ERROR_INVALID_PARAM,
            text("the buffer of ", role, " has ", buffer.size, " bytes, where ", needed, " are needed")};
  }
  if (desc.placement == ACL_MEMTYPE_DEVICE) {
    out->tensor.data = buffer.data;
    return Status::ok();
  }
  if (needed != 0 && buffer.data == nullptr) return {ACL_ERROR_INVALID_PARAM, text("the buffer of ", role, " is null")};
  const auto* first = static_cast<const char*>(buffer.data);
  out->host.assign(first, first + needed);
  return Status::ok();
}

// Everything but the data.
Status read_description(const std::string& role, const aclTensorDesc& desc, RegistryTensor* out) {
  out->name = desc.name;
  out->is_given = true;
  aclTensor& tensor = out->tensor;
  tensor.dtype = desc.dtype;
  tensor.format = desc.storage_format.value_or(desc.format);
  // If a blocked tensor was described by its sizes in memory, origin_dims are the sizes that the program sees.
  const bool is_held = is_blocked_format(desc.format) && desc.origin_dims.has_value();
  SOFTNPU_RETURN_IF_ERROR(read_sizes(role, is_held ? *desc.origin_dims : desc.dims, &tensor.dims));
  SOFTNPU_RETURN_IF_ERROR(read_sizes(role, desc.storage_dims.value_or(desc.dims), &tensor.storage_dims));
  if (softnpu::set_contiguous_strides(tensor.dims, &tensor.strides)) return Status::ok();
  return {ACL_ERROR_INVALID_PARAM, text(role, " has more elements than 64 bits count")};
}

Status read_tensor(const std::string& role, const aclTensorDesc& desc, const aclDataBuffer* buffer_handle,
                   Reading reading, RegistryTensor* out) {
  const bool is_on_host = desc.placement != ACL_MEMTYPE_DEVICE;
  const bool needs_data = reading == Reading::kAll || (reading == Reading::kDescriptions && is_on_host);
  std::shared_ptr<aclDataBuffer> buffer;
  if (needs_data) SOFTNPU_RETURN_IF_ERROR(data_buffers().find(buffer_handle, &buffer));
  out->name = desc.name;
  if (desc.dtype == ACL_DT_UNDEFINED) return Status::ok();  // an omitted optional input
  SOFTNPU_RETURN_IF_ERROR(read_description(role, desc, out));
  return needs_data ? read_data(role, desc, *buffer, out) : Status::ok();
}

class KeyWriter {
 public:
  template <typename T>
  void add(T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    key.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <typename List>
  void add_list(const List& values) {
    add(values.size());
    for (const auto& value : values) add_value(value);
  }

  void add_value(const OpAttrValue& value) {
    add(value.index());
    std::visit([this](const auto& storage_shape) { add_value(storage_shape); }, value);
  }

  std::string key;

 private:
  template <typename T>
  void add_value(const T& value) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      add(value);
    } else {
      add_list(value);
    }
  }
  void add_value(std::vector<bool>::const_reference value) { add(value); }
};

}  // namespace

Status read_tensors(const char* role, int count, const aclTensorDesc* const* descs, const aclDataBuffer* const* buffers,
                    Reading reading, std::vector<RegistryTensor>* out) {
  if (count < 0) return {ACL_ERROR_INVALID_PARAM, text("a list of ", count, " ", role, "s")};
  if (count > 0 && (descs == nullptr || (buffers == nullptr && reading == Reading::kAll))) {
    return {ACL_ERROR_INVALID_PARAM, text("the list of ", role, "s is null")};
  }
  out->resize(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    const aclDataBuffer* buffer = buffers == nullptr ? nullptr : buffers[i];
    std::shared_ptr<aclTensorDesc> desc;
    SOFTNPU_RETURN_IF_ERROR(tensor_descs().find(descs[i], &desc));
    SOFTNPU_RETURN_IF_ERROR(read_tensor(text(role, " ", i), *desc, buffer, reading, &(*out)[static_cast<size_t>(i)]));
  }
  return Status::ok();
}

Status read_tensors(const char* role, std::span<const aclTensorDesc> descs, const aclDataBuffer* const* buffers,
                    std::vector<RegistryTensor>* out) {
  if (!descs.empty() && buffers == nullptr) return {ACL_ERROR_INVALID_PARAM, text("the list of ", role, "s is null")};
  out->resize(descs.size());
  for (size_t i = 0; i < descs.size(); ++i) {
    SOFTNPU_RETURN_IF_ERROR(read_tensor(text(role, " ", i), descs[i], buffers[i], Reading::kAll, &(*out)[i]));
  }
  return Status::ok();
}

Status read_attributes(const aclopAttr* attributes, std::shared_ptr<const aclopAttr>* out) {
  std::shared_ptr<aclopAttr> found;
  if (attributes != nullptr) SOFTNPU_RETURN_IF_ERROR(op_attrs().find(attributes, &found));
  // A copy: the program may change its attributes while this call is compiled.
  *out = found == nullptr ? std::make_shared<aclopAttr>() : std::make_shared<aclopAttr>(*found);
  return Status::ok();
}

Status read_call(const CallArguments& arguments, Reading reading, RegistryCall* call) {
  SOFTNPU_RETURN_IF_ERROR(require(arguments.type, "opType"));
  call->type = arguments.type;
  SOFTNPU_RETURN_IF_ERROR(
      read_tensors("input", arguments.input_count, arguments.input_descs, arguments.inputs, reading, &call->inputs));
  SOFTNPU_RETURN_IF_ERROR(read_tensors("output", arguments.output_count, arguments.output_descs, arguments.outputs,
                                       reading, &call->outputs));
  return read_attributes(arguments.attributes, &call->attributes);
}

Status check_kinds(aclopEngineType engine, aclopCompileType compile_type) {
  if (engine < ACL_ENGINE_SYS || engine > ACL_ENGINE_VECTOR) {
    return {ACL_ERROR_INVALID_PARAM, text("there is no engine ", static_cast<int>(engine))};
  }
  if (compile_type != ACL_COMPILE_SYS && compile_type != ACL_COMPILE_UNREGISTERED) {
    return {ACL_ERROR_INVALID_PARAM, text("there is no compile type ", static_cast<int>(compile_type))};
  }
  return Status::ok();
}

std::string key_of(const RegistryCall& call) {
  KeyWriter writer;
  writer.add_list(call.type);
  for (const auto* tensors : {&call.inputs, &call.outputs}) {
    writer.add(tensors->size());
    for (const RegistryTensor& operand : *tensors) {
      writer.add(operand.is_given);
      writer.add(operand.tensor.dtype);
      writer.add(operand.tensor.format);
      writer.add_list(operand.tensor.dims);
      writer.add_list(operand.tensor.storage_dims);
      writer.add_list(operand.name);
      writer.add_list(operand.host);
    }
  }
  for (const auto& [name, value] : call.attributes->values) {
    writer.add_list(name);
    writer.add_value(value);
  }
  return std::move(writer.key);
}

}  // namespace softnpu
