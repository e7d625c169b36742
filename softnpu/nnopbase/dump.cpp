#include "nnopbase/dump.h"

#include <cstring>

#include "acl/acl.h"
#include "base/text.h"
#include "softnpu/softnpu.h"

namespace softnpu {
namespace {

// Appends the elements of dimension `dim` and those behind it, in order.
void append(const char* from, const CallTensor& tensor, size_t dim, size_t element, char** to) {
  if (dim == tensor.dims.size()) {
    std::memcpy(*to, from, element);
    *to += element;
    return;
  }
  if (dim + 1 == tensor.dims.size() && tensor.strides[dim] == 1) {
    const size_t bytes = static_cast<size_t>(tensor.dims[dim]) * element;
    std::memcpy(*to, from, bytes);
    *to += bytes;
    return;
  }
  const ptrdiff_t step = tensor.strides[dim] * static_cast<ptrdiff_t>(element);
  for (int64_t i = 0; i < tensor.dims[dim]; ++i) append(from + i * step, tensor, dim + 1, element, to);
}

Status copy(const CallTensor& tensor, std::vector<char>* out) {
  const size_t element = aclDataTypeSize(tensor.dtype);
  void* kernel = nullptr;
  if (softnpuProbeAddress(tensor.data, static_cast<size_t>(tensor.span()) * element, &kernel) != ACL_SUCCESS) {
    return {ACL_ERROR_RT_PARAM_INVALID,
            text("the dump: a tensor at ", tensor.data, " was freed before its operator ran")};
  }
  size_t count = 1;
  for (const int64_t size : tensor.dims) count *= static_cast<size_t>(size);
  out->resize(count * element);
  char* to = out->data();
  append(static_cast<const char*>(kernel), tensor, 0, element, &to);
  return Status::ok();
}

Status copy(const std::vector<CallTensor>& tensors, std::vector<std::vector<char>>* out) {
  out->resize(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) SOFTNPU_RETURN_IF_ERROR(copy(tensors[i], &(*out)[i]));
  return Status::ok();
}

std::vector<softnpuDumpTensor> described(const std::vector<CallTensor>& tensors,
                                         const std::vector<std::vector<char>>& bytes) {
  std::vector<softnpuDumpTensor> all;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const CallTensor& tensor = tensors[i];
    all.push_back(
        {tensor.dtype, tensor.format, tensor.dims.data(), tensor.dims.size(), bytes[i].data(), bytes[i].size()});
  }
  return all;
}

}  // namespace

Status DumpedCall::copy_inputs() {
  return (parts_ & SOFTNPU_DUMP_INPUTS) == 0 ? Status::ok() : copy(tensors_.inputs, &inputs_);
}

Status DumpedCall::write(const char* op, int32_t stream_id) {
  std::vector<Bytes> outputs;
  if ((parts_ & SOFTNPU_DUMP_OUTPUTS) != 0) SOFTNPU_RETURN_IF_ERROR(copy(tensors_.outputs, &outputs));
  const auto inputs = described(tensors_.inputs, inputs_);
  const auto results = described(tensors_.outputs, outputs);
  const aclError code = softnpuWriteDump(op, stream_id, inputs.data(), inputs.size(), results.data(), results.size());
  if (code == ACL_SUCCESS) return Status::ok();
  const char* reason = aclGetRecentErrMsg();
  return {code, reason == nullptr ? "the dump cannot be written" : reason};
}

}  // namespace softnpu
