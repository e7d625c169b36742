#include "ops/registry/operands.h"

#include <algorithm>
#include <string_view>
#include <variant>

#include "base/text.h"
#include "ops/core/describe.h"
#include "ops/core/typed_call.h"

namespace softnpu {
namespace {

// Planners use sizes and strides: tensors in blocked formats must be cast first.
Status check_plain(const TypedTensor& typed, const std::string& role, bool may_lie_in_host_memory,
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

const aclTensor* Operands::maybe(size_t place) const {
  return place < call_.inputs.size() && call_.inputs[place].is_given ? &call_.inputs[place].tensor : nullptr;
}

aclTensorList Operands::list(size_t first) const {
  aclTensorList tensors;
  for (size_t i = first; i < call_.inputs.size(); ++i) tensors.values.push_back(&call_.inputs[i].tensor);
  return tensors;
}

aclScalar Operands::number(size_t place) {
  const TypedTensor& typed = call_.inputs[place];
  aclScalar value = integer_scalar(0);
  if (typed.host.empty() || element_count(typed.tensor) != 1) {
    fail(text("input ", place, " is ", describe(typed.tensor), ", where one number in host memory is needed"));
    return value;
  }
  if (Status status = read_scalar(typed.host.data(), typed.tensor.dtype, &value); !status.is_ok()) {
    fail(text("input ", place, ": ", status.message()));
  }
  return value;
}

aclIntArray Operands::numbers(size_t place) {
  const TypedTensor& typed = call_.inputs[place];
  const auto count = static_cast<size_t>(element_count(typed.tensor));
  aclIntArray array;
  if (typed.host.empty() && count != 0) {
    fail(text("input ", place, " lies in device memory, where numbers in host memory are needed"));
    return array;
  }
  const size_t element = aclDataTypeSize(typed.tensor.dtype);
  for (size_t i = 0; i < count; ++i) {
    aclScalar value;
    if (Status status = read_scalar(typed.host.data() + i * element, typed.tensor.dtype, &value); !status.is_ok()) {
      fail(text("input ", place, ": ", status.message()));
      return array;
    }
    array.values.push_back(value.as_int64());
  }
  return array;
}

MapInput Operands::value(size_t place, aclScalar* number) {
  if (call_.inputs[place].host.empty()) return call_.inputs[place].tensor;
  *number = this->number(place);
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

bool Operands::flag(const char* name, bool fallback) { return attribute(name, fallback); }
int64_t Operands::integer(const char* name, int64_t fallback) { return attribute(name, fallback); }
std::string Operands::words(const char* name, const char* fallback) { return attribute<std::string>(name, fallback); }

double Operands::real(const char* name, double fallback) {
  const auto found = call_.attributes->values.find(name);
  if (found == call_.attributes->values.end()) return fallback;
  if (const auto* whole = std::get_if<int64_t>(&found->second)) return static_cast<double>(*whole);
  return attribute(name, static_cast<float>(fallback));
}

aclScalar Operands::scalar(const char* name, double fallback) { return real_scalar(real(name, fallback)); }

aclIntArray Operands::integers(const char* name) {
  aclIntArray array;
  for (int64_t value : attribute(name, std::vector<int64_t>())) array.values.push_back(value);
  return array;
}

Status check_operands(const char* inputs, size_t outputs, bool takes_blocked_formats, const TypedCall& call) {
  const std::string_view letters = inputs;
  const auto optional = static_cast<size_t>(std::ranges::count(letters, '?'));
  const bool many = letters.ends_with('*');
  const size_t most = letters.size() - optional - (many ? 1 : 0);
  if (call.inputs.size() < most - optional || (call.inputs.size() > most && !many)) {
    return check_counts(call, most, outputs);
  }
  if (call.outputs.size() != outputs) return check_counts(call, call.inputs.size(), outputs);
  size_t at = 0;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const char letter = letters[at];
    const char mark = at + 1 < letters.size() ? letters[at + 1] : '\0';
    if (mark != '*') at += mark == '?' ? 2 : 1;
    const TypedTensor& typed = call.inputs[i];
    if (mark == '?' && !typed.is_given) continue;
    SOFTNPU_RETURN_IF_ERROR(check_plain(typed, text("input ", i), letter != 't', takes_blocked_formats));
  }
  for (size_t i = 0; i < outputs; ++i) {
    SOFTNPU_RETURN_IF_ERROR(check_plain(call.outputs[i], text("output ", i), false, takes_blocked_formats));
  }
  return Status::ok();
}

}  // namespace softnpu
