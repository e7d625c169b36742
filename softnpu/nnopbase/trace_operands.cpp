#include "nnopbase/trace_operands.h"

#include <algorithm>
#include <atomic>
#include <span>
#include <string_view>

#include "nnopbase/written.h"
#include "softnpu/trace.h"

namespace softnpu {
namespace {

bool wants(uint32_t bits) noexcept {
  static const auto* const wanted = reinterpret_cast<const std::atomic<uint32_t>*>(softnpuTraceWanted());
  return (wanted->load(std::memory_order_relaxed) & bits) != 0;
}

const char* name_of(aclDataType type) {
  switch (type) {
    case ACL_FLOAT: return "FLOAT";
    case ACL_FLOAT16: return "FLOAT16";
    case ACL_INT8: return "INT8";
    case ACL_INT32: return "INT32";
    case ACL_UINT8: return "UINT8";
    case ACL_INT16: return "INT16";
    case ACL_UINT16: return "UINT16";
    case ACL_UINT32: return "UINT32";
    case ACL_INT64: return "INT64";
    case ACL_UINT64: return "UINT64";
    case ACL_DOUBLE: return "DOUBLE";
    case ACL_BOOL: return "BOOL";
    case ACL_COMPLEX64: return "COMPLEX64";
    case ACL_COMPLEX128: return "COMPLEX128";
    case ACL_BF16: return "DT_BF16";
    case ACL_INT4: return "INT4";
    case ACL_COMPLEX32: return "COMPLEX32";
    case ACL_FLOAT8_E5M2: return "FLOAT8_E5M2";
    case ACL_FLOAT8_E4M3FN: return "FLOAT8_E4M3FN";
    default: return "UNDEFINED";
  }
}

const char* name_of(aclFormat format) {
  switch (format) {
    case ACL_FORMAT_NCHW: return "NCHW";
    case ACL_FORMAT_NHWC: return "NHWC";
    case ACL_FORMAT_ND: return "ND";
    case ACL_FORMAT_NC1HWC0: return "NC1HWC0";
    case ACL_FORMAT_FRACTAL_Z: return "FRACTAL_Z";
    case ACL_FORMAT_HWCN: return "HWCN";
    case ACL_FORMAT_NDHWC: return "NDHWC";
    case ACL_FORMAT_FRACTAL_NZ: return "FRACTAL_NZ";
    case ACL_FORMAT_NCDHW: return "NCDHW";
    case ACL_FORMAT_NDC1HWC0: return "NDC1HWC0";
    case ACL_FRACTAL_Z_3D: return "FRACTAL_Z_3D";
    case ACL_FORMAT_NCL: return "NCL";
    default: return "ND";
  }
}

// Shapes, data types and formats of one side of the call.
struct Side {
  std::string shapes;
  std::string types;
  std::string formats;
  bool is_empty = true;

  void add(const aclTensor& tensor) {
    if (!is_empty) {
      shapes += ';';
      types += ';';
      formats += ';';
    }
    is_empty = false;
    for (size_t i = 0; i < tensor.dims.size(); ++i) {
      if (i > 0) shapes += ',';
      shapes += std::to_string(tensor.dims[i]);
    }
    types += name_of(tensor.dtype);
    formats += name_of(tensor.format);
  }
};

bool is_written(const aclTensor& tensor, const Plan& plan) {
  const auto* first = static_cast<const char*>(device_bytes(tensor).address);
  return std::ranges::any_of(plan.written, [&](const softnpuRange& range) {
    const auto* begin = static_cast<const char*>(range.address);
    return begin <= first && first < begin + range.bytes;
  });
}

}  // namespace

bool traces_operands() noexcept { return wants(SOFTNPU_TRACE_DETAILS); }
bool traces_launches() noexcept { return wants(SOFTNPU_TRACE_CALLS | SOFTNPU_TRACE_TASKS); }

std::shared_ptr<const std::string> operands_of(const Planned& planned) {
  if (planned.keep == nullptr) return nullptr;
  std::unique_ptr<BoundCall> call;
  if (!planned.keep(planned.arguments, &call).is_ok()) return nullptr;
  const LaunchTemplate& launched = planned.launched();
  const bool is_inplace = std::string_view(launched.op).find("Inplace") != std::string_view::npos;
  Side inputs;
  Side outputs;
  const std::span<const BoundTensor> tensors = call->tensors();
  for (size_t i = 0; i < tensors.size(); ++i) {
    const aclTensor& tensor = *tensors[i].copy;
    const bool is_output = is_written(tensor, launched.plan);
    // Of two tensors in the same memory the first is read and the second is written.
    const bool is_read = std::ranges::any_of(tensors.subspan(i + 1), [&](const BoundTensor& other) {
      return device_bytes(*other.copy).address == device_bytes(tensor).address;
    });
    if (!is_output || is_inplace || is_read) inputs.add(tensor);
    if (is_output && !is_read) outputs.add(tensor);
  }
  return std::make_shared<const std::string>(inputs.shapes + '|' + inputs.types + '|' + inputs.formats + '|' +
                                             outputs.shapes + '|' + outputs.types + '|' + outputs.formats);
}

}  // namespace softnpu
