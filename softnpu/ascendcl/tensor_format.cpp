// Conversion of tensor descriptions to another order of their dimensions.

#include <memory>
#include <string_view>

#include "ascendcl/api.h"
#include "ascendcl/tensor_desc.h"

using softnpu::api;
using softnpu::require;
using softnpu::Status;
using softnpu::tensor_descs;

namespace softnpu {
namespace {

// One letter per dimension; empty for blocked formats and for those that name no dimensions.
std::string_view letters(aclFormat format) {
  switch (format) {
    case ACL_FORMAT_NCHW: return "NCHW";
    case ACL_FORMAT_NHWC: return "NHWC";
    case ACL_FORMAT_HWCN: return "HWCN";
    case ACL_FORMAT_NCDHW: return "NCDHW";
    case ACL_FORMAT_NDHWC: return "NDHWC";
    default: return {};
  }
}

}  // namespace

Status transposed(const aclTensorDesc& desc, aclFormat format, aclTensorDesc* out) {
  *out = desc;
  out->format = format;
  out->storage_format.reset();
  out->storage_dims.reset();
  out->origin_format.reset();
  out->origin_dims.reset();
  out->constant.reset();
  if (format == desc.format || !desc.rank_is_known()) return Status::ok();
  std::string_view from = letters(desc.format);
  std::string_view to = letters(format);
  if (from.empty() || to.size() != from.size()) {
    return {ACL_ERROR_FORMAT_NOT_MATCH,
            text("from format ", static_cast<int>(desc.format), " to ", static_cast<int>(format),
                 ": sizes change places between NCHW, NHWC and HWCN, and between NCDHW and NDHWC")};
  }
  if (desc.dims.size() != from.size()) {
    return {ACL_ERROR_FORMAT_NOT_MATCH, text(desc.dims.size(), " sizes are not ", from)};
  }
  for (size_t i = 0; i < to.size(); ++i) {
    size_t source = from.find(to[i]);
    out->dims[i] = desc.dims[source];
    if (!desc.shape_range.empty()) out->shape_range[i] = desc.shape_range[source];
  }
  return Status::ok();
}

}  // namespace softnpu

// The caller destroys the result.
aclError aclTransTensorDescFormat(const aclTensorDesc* srcDesc, aclFormat dstFormat, aclTensorDesc** dstDesc) {
  return api("aclTransTensorDescFormat", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(dstDesc, "dstDesc"));
    *dstDesc = nullptr;
    std::shared_ptr<aclTensorDesc> source;
    SOFTNPU_RETURN_IF_ERROR(tensor_descs().find(srcDesc, &source));
    auto result = std::make_shared<aclTensorDesc>();
    SOFTNPU_RETURN_IF_ERROR(softnpu::transposed(*source, dstFormat, result.get()));
    *dstDesc = tensor_descs().add(std::move(result));
    return Status::ok();
  });
}
