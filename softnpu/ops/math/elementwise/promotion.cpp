#include "ops/math/elementwise/promotion.h"

#include "base/text.h"

namespace softnpu {
namespace {

// The promoted type of a tensor of `dtype` and a zero-dimensional tensor of `single`, which counts only if its category
// is higher.
aclDataType with_single(aclDataType dtype, aclDataType single) {
  if (category_of(single) <= category_of(dtype)) return dtype;
  return is_floating(dtype) ? complex_of(dtype) : promote(dtype, single);
}

}  // namespace

aclDataType as_floating(aclDataType dtype, const aclTensor& out) {
  if (!is_integral(dtype)) return dtype;
  return is_known(out.dtype) && !is_integral(out.dtype) ? out.dtype : ACL_FLOAT;
}

Category scalar_category(const aclScalar& scalar) {
  if (scalar.is_bool()) return Category::kBool;
  if (scalar.is_integral()) return Category::kIntegral;
  return scalar.is_floating() ? Category::kFloating : Category::kComplex;
}

aclDataType with_scalar(aclDataType dtype, Category category, const aclTensor& out) {
  if (category <= category_of(dtype)) return dtype;
  switch (category) {
    case Category::kBool: return dtype;
    case Category::kIntegral:
      return is_known(out.dtype) && is_integral(out.dtype) && out.dtype != ACL_BOOL ? out.dtype : ACL_INT64;
    case Category::kFloating: return as_floating(dtype, out);
    case Category::kComplex: break;
  }
  if (is_known(out.dtype) && is_complex(out.dtype)) return out.dtype;
  return is_floating(dtype) ? complex_of(dtype) : ACL_COMPLEX64;
}

Status unknown_type(const aclTensor& tensor) {
  return {ACLNN_ERR_PARAM_INVALID, text("no operator computes with data type ", static_cast<int>(tensor.dtype))};
}

Status promoted_type(std::span<const MapInput> inputs, const aclTensor& out, aclDataType* common) {
  aclDataType whole = ACL_DT_UNDEFINED;   // of tensors with dimensions
  aclDataType single = ACL_DT_UNDEFINED;  // of zero-dimensional tensors
  for (const MapInput& input : inputs) {
    if (input.tensor == nullptr) continue;
    if (!is_known(input.tensor->dtype)) return unknown_type(*input.tensor);
    aclDataType& found = input.tensor->dims.empty() ? single : whole;
    const aclDataType before = found;
    found = before == ACL_DT_UNDEFINED ? input.tensor->dtype : promote(before, input.tensor->dtype);
    if (found == ACL_DT_UNDEFINED) {
      return {ACLNN_ERR_PARAM_INVALID,
              text(name_of(before), " and ", name_of(input.tensor->dtype), " have no common data type")};
    }
  }
  *common = whole == ACL_DT_UNDEFINED ? single : (single == ACL_DT_UNDEFINED ? whole : with_single(whole, single));
  if (*common == ACL_DT_UNDEFINED) {
    return {ACLNN_ERR_PARAM_INVALID, text(name_of(whole), " and ", name_of(single), " have no common data type")};
  }
  for (const MapInput& input : inputs) {
    if (input.scalar != nullptr) *common = with_scalar(*common, scalar_category(*input.scalar), out);
  }
  return Status::ok();
}

}  // namespace softnpu
