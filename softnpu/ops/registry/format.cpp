// Format casts invoked by type name. The descriptions state the formats; the plug-in's own casts are Identity with
// descriptions of two formats.

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "nnopbase/format.h"
#include "ops/core/copy/strided_copy.h"
#include "ops/core/format/operators.h"
#include "ops/registry/infer.h"
#include "ops/registry/registry.h"

namespace softnpu {
namespace {

constexpr std::pair<std::string_view, aclFormat> kPlain[] = {
    {"ND", ACL_FORMAT_ND},       {"NCHW", ACL_FORMAT_NCHW},   {"NHWC", ACL_FORMAT_NHWC}, {"HWCN", ACL_FORMAT_HWCN},
    {"NCDHW", ACL_FORMAT_NCDHW}, {"NDHWC", ACL_FORMAT_NDHWC}, {"NCL", ACL_FORMAT_NCL},   {"NC", ACL_FORMAT_NC},
};

// The name must be empty or match the description; for plain formats one of them may be ND, which means any order.
Status agree(const char* attribute, const std::string& name, aclFormat* format) {
  Status differs = {ACL_ERROR_INVALID_PARAM,
                    text(attribute, " is ", name, ", and the description says the format ", static_cast<int>(*format))};
  if (name.empty()) return Status::ok();
  if (const BlockFormat* blocks = find_block_format(*format); blocks != nullptr) {
    return name == blocks->name ? Status::ok() : differs;
  }
  const auto* named = std::ranges::find(kPlain, name, &std::pair<std::string_view, aclFormat>::first);
  if (named == std::end(kPlain)) return differs;
  if (*format == ACL_FORMAT_ND) *format = named->second;
  return named->second == *format || named->second == ACL_FORMAT_ND ? Status::ok() : differs;
}

Status plan_trans_data(Operands& of, Plan* plan) {
  aclTensor src = of.in(0);
  aclTensor& dst = of.out();
  if (of.integer("groups") > 1) return {ACL_ERROR_INVALID_PARAM, "weights without groups are implemented"};
  SOFTNPU_RETURN_IF_ERROR(agree("src_format", of.words("src_format"), &src.format));
  SOFTNPU_RETURN_IF_ERROR(agree("dst_format", of.words("dst_format"), &dst.format));
  return format_cast(src, dst, plan);
}

Status plan_identity(Operands& of, Plan* plan) {
  const bool casts = is_blocked_format(of.in(0).format) || is_blocked_format(of.out().format);
  return casts ? format_cast(of.in(0), of.out(), plan) : plan_copy(of.in(0), of.out(), plan);
}

}  // namespace

}  // namespace softnpu

#include "opgen/rows_format.inc"
