#include "ops/registry/operands.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "base/text.h"
#include "ops/core/describe.h"
#include "ops/core/registry_call.h"
#include "ops/registry/registry.h"

namespace softnpu {
namespace {

// Planners use sizes and strides: tensors in blocked formats must be cast first.
Status check_plain(const RegistryTensor& typed, const std::string& role, bool may_lie_in_host_memory,
                   bool takes_blocked_formats) {
  if (!may_lie_in_host_memory) SOFTNPU_RETURN_IF_ERROR(check_given(typed, role));
  if (!typed.is_given) return {ACL_ERROR_INVALID_PARAM, role + " is left out"};
  if (takes_blocked_formats) return Status::ok();
  switch (typed.tensor.format) {
    case ACL_FORMAT_ND:
    case ACL_FORMAT_NCHW:
    case ACL_FORMAT_NHWC:
    case ACL_FORMAT_NCDHW:
    case ACL_FORMAT_NDHWC:
    case ACL_FORMAT_HWCN:
    case ACL_FORMAT_NCL:
    case ACL_FORMAT_NC: return Status::ok();
    default: break;
  }
  return {ACL_ERROR_INVALID_PARAM,
          text(role, " is ", describe(typed.tensor), " in the format ", static_cast<int>(typed.tensor.format))};
}

}  // namespace

aclScalar real_scalar(double value) {
  aclScalar scalar;
  scalar.dtype = ACL_DOUBLE;
  scalar.number = value;
  return scalar;
}

aclScalar integer_scalar(int64_t value) {
  aclScalar scalar;
  scalar.dtype = ACL_INT64;
  scalar.kind = aclScalar::Kind::kSigned;
  scalar.integer = static_cast<uint64_t>(value);
  return scalar;
}

void Operands::fail(std::string message) {
  if (status_.is_ok()) status_ = {ACL_ERROR_INVALID_PARAM, std::move(message)};
}

const aclTensor* Operands::maybe(size_t location) const {
  return location < call_.inputs.size() && call_.inputs[location].is_given ? &call_.inputs[location].tensor : nullptr;
}

aclTensorList Operands::list(size_t first) const {
  aclTensorList tensors;
  for (size_t i = first; i < call_.inputs.size(); ++i) tensors.values.push_back(&call_.inputs[i].tensor);
  return tensors;
}

aclScalar Operands::number(size_t location) {
  const RegistryTensor& typed = call_.inputs[location];
  aclScalar value = integer_scalar(0);
  if (typed.host.empty() || element_count(typed.tensor) != 1) {
    fail(text("input ", location, " is ", describe(typed.tensor), ", where one number in host memory is needed"));
    return value;
  }
  if (Status status = read_scalar(typed.host.data(), typed.tensor.dtype, &value); !status.is_ok()) {
    fail(text("input ", location, ": ", status.message()));
  }
  return value;
}

aclIntArray Operands::numbers(size_t location) {
  const RegistryTensor& typed = call_.inputs[location];
  const auto count = static_cast<size_t>(element_count(typed.tensor));
  aclIntArray array;
  if (typed.host.empty() && count != 0) {
    fail(text("input ", location, " lies in device memory, where numbers in host memory are needed"));
    return array;
  }
  const size_t element = aclDataTypeSize(typed.tensor.dtype);
  for (size_t i = 0; i < count; ++i) {
    aclScalar value;
    if (Status status = read_scalar(typed.host.data() + i * element, typed.tensor.dtype, &value); !status.is_ok()) {
      fail(text("input ", location, ": ", status.message()));
      return array;
    }
    array.values.push_back(value.as_int64());
  }
  return array;
}

MapInput Operands::value(size_t location, aclScalar* number) {
  if (call_.inputs[location].host.empty()) return call_.inputs[location].tensor;
  *number = this->number(location);
  return *number;
}

template <typename T>
T Operands::attribute(const char* name, T fallback) {
  T value = fallback;
  if (Status status = read_attribute(call_, name, std::move(fallback), &value); !status.is_ok()) {
    fail(status.message());
  }
  return value;
}

double Operands::fallback(const char* name, const char** words) {
  const auto found = std::ranges::find_if(
      row_.attributes, [&](const AttributeRow& attribute) { return std::string_view(attribute.name) == name; });
  if (found == row_.attributes.end()) {
    fail(text("the operator's row has no attribute ", name));
    return 0;
  }
  if (words != nullptr) *words = found->words;
  return found->number;
}

bool Operands::has(const char* name) const { return call_.attributes->values.contains(name); }
bool Operands::flag(const char* name) { return attribute(name, fallback(name) != 0); }

int64_t Operands::integer(const char* name) {
  const auto otherwise = static_cast<int64_t>(fallback(name));
  const auto found = call_.attributes->values.find(name);
  if (found != call_.attributes->values.end()) {
    if (const auto* dtype = std::get_if<aclDataType>(&found->second)) return *dtype;
  }
  return attribute(name, otherwise);
}

std::string Operands::words(const char* name) {
  const char* words = "";
  (void)fallback(name, &words);
  return attribute<std::string>(name, words);
}

double Operands::real(const char* name) {
  const double otherwise = fallback(name);
  const auto found = call_.attributes->values.find(name);
  if (found == call_.attributes->values.end()) return otherwise;
  if (const auto* whole = std::get_if<int64_t>(&found->second)) return static_cast<double>(*whole);
  return attribute(name, static_cast<float>(otherwise));
}

aclScalar Operands::scalar(const char* name) { return real_scalar(real(name)); }

aclIntArray Operands::integers(const char* name) {
  aclIntArray array;
  (void)fallback(name);
  for (int64_t value : attribute(name, std::vector<int64_t>())) array.values.push_back(value);
  return array;
}

Status check_inputs(const OperatorRow& row, const RegistryCall& call) {
  const std::span<const OperandRow> rows = row.inputs;
  const bool has_list = !rows.empty() && rows.back().kind == OperandKind::kList;
  const size_t most = rows.size() - (has_list ? 1 : 0);
  const auto optional = static_cast<size_t>(std::ranges::count(rows, true, &OperandRow::is_optional));
  if (call.inputs.size() < most - optional || (call.inputs.size() > most && !has_list)) {
    return check_counts(call, most, row.outputs.size());
  }
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const OperandRow& operand = rows[std::min(i, rows.size() - 1)];
    const RegistryTensor& typed = call.inputs[i];
    if (operand.is_optional && !typed.is_given) continue;
    const bool may_lie_in_host_memory = operand.kind >= OperandKind::kHost;
    SOFTNPU_RETURN_IF_ERROR(check_plain(typed, text("input ", i), may_lie_in_host_memory, row.takes_blocked_formats));
  }
  return Status::ok();
}

Status check_outputs(const OperatorRow& row, const RegistryCall& call) {
  const size_t outputs = row.outputs.size();
  if (call.outputs.size() != outputs) return check_counts(call, call.inputs.size(), outputs);
  for (size_t i = 0; i < outputs; ++i) {
    SOFTNPU_RETURN_IF_ERROR(check_plain(call.outputs[i], text("output ", i), false, row.takes_blocked_formats));
  }
  return Status::ok();
}

Status infer_outputs(RegistryCall* call) {
  const OperatorRow* row = find_operator(call->type);
  if (row == nullptr) return {ACL_ERROR_OP_NOT_FOUND, "no operator is of this type"};
  SOFTNPU_RETURN_IF_ERROR(check_inputs(*row, *call));
  call->outputs.assign(row->outputs.size(), {});
  Operands operands(*row, *call);
  Status inferred = row->infer(operands);
  SOFTNPU_RETURN_IF_ERROR(operands.status());
  SOFTNPU_RETURN_IF_ERROR(std::move(inferred));
  for (RegistryTensor& output : call->outputs) {
    aclTensor& tensor = output.tensor;
    output.is_given = true;
    tensor.format = ACL_FORMAT_ND;
    tensor.storage_dims = tensor.dims;
    if (!set_contiguous_strides(tensor.dims, &tensor.strides)) {
      return {ACL_ERROR_INVALID_PARAM, "a result has more elements than 64 bits count"};
    }
  }
  return Status::ok();
}

}  // namespace softnpu
