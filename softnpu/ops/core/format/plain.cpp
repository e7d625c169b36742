#include "ops/core/format/plain.h"

#include <algorithm>

#include "base/text.h"
#include "nnopbase/format.h"

namespace softnpu {
namespace {

// The order of a format; empty if it follows from the number of sizes.
std::string_view own_order(aclFormat format) {
  switch (format) {
    case ACL_FORMAT_NHWC: return "NHWC";
    case ACL_FORMAT_HWCN: return "HWCN";
    case ACL_FORMAT_NDHWC: return "NDHWC";
    default: return {};
  }
}

bool is_plain(aclFormat format) {
  switch (format) {
    case ACL_FORMAT_ND:
    case ACL_FORMAT_NCHW:
    case ACL_FORMAT_NCDHW:
    case ACL_FORMAT_NC:
    case ACL_FORMAT_NCL: return true;
    default: return !own_order(format).empty();
  }
}

Status check_plain(aclFormat format, size_t rank) {
  if (!is_plain(format)) {
    return {ACLNN_ERR_PARAM_INVALID, text("the format ", static_cast<int>(format), " is none of those that are cast")};
  }
  const std::string_view order = own_order(format);
  if (order.empty() || order.size() == rank) return Status::ok();
  return {ACLNN_ERR_PARAM_INVALID, text(rank, " sizes are not ", order)};
}

// Finds the letters of `to` in `from`. Missing letters are sizes of 1.
DimOrder find(std::string_view to, std::string_view from) {
  DimOrder order;
  for (const char letter : to) {
    const size_t found = from.find(letter);
    order.push_back(found == std::string_view::npos ? kMissing : found);
  }
  return order;
}

DimOrder in_order(size_t rank) {
  DimOrder order;
  for (size_t i = 0; i < rank; ++i) order.push_back(i);
  return order;
}

}  // namespace

Status letters_of(aclFormat format, size_t rank, std::string_view* out) {
  static constexpr std::string_view kByNumber[] = {"", "C", "CH", "CHW", "NCHW", "NCDHW"};
  SOFTNPU_RETURN_IF_ERROR(check_plain(format, rank));
  *out = own_order(format);
  if (!out->empty()) return Status::ok();
  if (rank >= std::size(kByNumber)) return {ACLNN_ERR_PARAM_INVALID, text(rank, " sizes are neither NCHW nor NCDHW")};
  *out = kByNumber[rank];
  return Status::ok();
}

Status dim_order_for(const BlockFormat& format, aclFormat plain, size_t rank, DimOrder* out) {
  if (format.sizes == nullptr) {  // matrices, whatever their sizes mean
    SOFTNPU_RETURN_IF_ERROR(check_plain(plain, rank));
    *out = in_order(rank);
    while (out->size() < 2) out->push_back(kMissing);
    return Status::ok();
  }
  std::string_view letters;
  SOFTNPU_RETURN_IF_ERROR(letters_of(plain, rank, &letters));
  const std::string_view needed = format.sizes;
  if ((letters.size() == 5) != (needed.size() == 5)) {
    return {ACLNN_ERR_PARAM_INVALID, text(format.name, " is for ", needed, ", and there are ", rank, " sizes")};
  }
  *out = find(needed, letters);
  return Status::ok();
}

Status dim_order_between(aclFormat from, aclFormat to, size_t rank, DimOrder* out) {
  SOFTNPU_RETURN_IF_ERROR(check_plain(from, rank));
  SOFTNPU_RETURN_IF_ERROR(check_plain(to, rank));
  *out = in_order(rank);
  if (own_order(from) == own_order(to)) return Status::ok();
  std::string_view before;
  std::string_view after;
  SOFTNPU_RETURN_IF_ERROR(letters_of(from, rank, &before));
  SOFTNPU_RETURN_IF_ERROR(letters_of(to, rank, &after));
  *out = find(after, before);
  return Status::ok();
}

Dims arranged(const Dims& sizes, const DimOrder& order) {
  Dims out;
  for (const size_t location : order) out.push_back(location == kMissing ? 1 : sizes[location]);
  return out;
}

View arranged(const View& view, const DimOrder& order) {
  View out = view;
  out.sizes = arranged(view.sizes, order);
  out.strides.clear();
  for (const size_t location : order) out.strides.push_back(location == kMissing ? 0 : view.strides[location]);
  return out;
}

}  // namespace softnpu
