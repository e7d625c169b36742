// Tensor descriptions: create, destroy, read.

#include "ascendcl/tensor_desc.h"

#include <algorithm>
#include <memory>

#include "ascendcl/api.h"
#include "base/no_destroy.h"

using softnpu::api;
using softnpu::Handles;
using softnpu::require;
using softnpu::Status;
using softnpu::tensor_descs;
using softnpu::text;

Handles<aclTensorDesc>& softnpu::tensor_descs() {
  static NoDestroy<Handles<aclTensorDesc>> descs("tensor description");
  return descs.get();
}

Status softnpu::read_desc_dims(int count, const int64_t* dims, std::vector<int64_t>* out) {
  if (count < 0) return {ACL_ERROR_INVALID_PARAM, text("a tensor of ", count, " dimensions")};
  if (count > 0) SOFTNPU_RETURN_IF_ERROR(require(dims, "dims"));
  for (int i = 0; i < count; ++i) {
    if (dims[i] >= aclTensorDesc::kAnySize || (count == 1 && dims[i] == aclTensorDesc::kAnyRank)) continue;
    return {ACL_ERROR_INVALID_PARAM,
            text("size ", i, " is ", dims[i], ": a size is at least 0, or -1 for any; -2 alone is any number of them")};
  }
  out->assign(dims, dims + count);
  return Status::ok();
}

namespace {

// Runs `read` on the description; returns `neutral` if there is none or `read` fails.
template <typename T, typename Read>
T value_of(const char* function, const aclTensorDesc* handle, T neutral, Read&& read) {
  T value = neutral;
  aclError code = api(function, [&]() -> Status {
    std::shared_ptr<aclTensorDesc> desc;
    SOFTNPU_RETURN_IF_ERROR(tensor_descs().find(handle, &desc));
    return read(*desc, &value);
  });
  return code == ACL_SUCCESS ? value : neutral;
}

Status require_dim(const aclTensorDesc& desc, size_t index) {
  if (desc.rank_is_known() && index < desc.dims.size()) return Status::ok();
  return {ACL_ERROR_INVALID_PARAM, desc.rank_is_known()
                                       ? text("there is no size ", index, " among ", desc.dims.size())
                                       : text("the number of sizes is not known yet, so there is no size ", index)};
}

// 0 if a size is not known yet.
Status element_count(const aclTensorDesc& desc, size_t* out) {
  size_t count = 1;
  bool known = true;
  for (int64_t size : desc.dims) {
    known = known && size >= 0;
    if (known && __builtin_mul_overflow(count, static_cast<size_t>(size), &count)) {
      return {ACL_ERROR_INVALID_PARAM, "the tensor has more elements than 64 bits count"};
    }
  }
  *out = known ? count : 0;
  return Status::ok();
}

size_t element_bits(aclDataType dtype) {
  switch (dtype) {
    case ACL_UINT1: return 1;
    case ACL_INT4:
    case ACL_FLOAT4_E2M1:
    case ACL_FLOAT4_E1M2: return 4;
    case ACL_FLOAT6_E3M2:
    case ACL_FLOAT6_E2M3: return 6;
    default: return aclDataTypeSize(dtype) * 8;
  }
}

}  // namespace

aclTensorDesc* aclCreateTensorDesc(aclDataType dataType, int numDims, const int64_t* dims, aclFormat format) {
  aclTensorDesc* result = nullptr;
  (void)api("aclCreateTensorDesc", [&] {
    auto desc = std::make_shared<aclTensorDesc>();
    SOFTNPU_RETURN_IF_ERROR(softnpu::read_desc_dims(numDims, dims, &desc->dims));
    desc->dtype = dataType;
    desc->format = format;
    result = tensor_descs().add(std::move(desc));
    return Status::ok();
  });
  return result;
}

// Null is allowed, as for free().
void aclDestroyTensorDesc(const aclTensorDesc* desc) {
  if (desc == nullptr) return;
  (void)api("aclDestroyTensorDesc", [&] { return tensor_descs().remove(desc); });
}

aclDataType aclGetTensorDescType(const aclTensorDesc* desc) {
  return value_of("aclGetTensorDescType", desc, ACL_DT_UNDEFINED, [](const aclTensorDesc& d, aclDataType* out) {
    *out = d.dtype;
    return Status::ok();
  });
}

aclFormat aclGetTensorDescFormat(const aclTensorDesc* desc) {
  return value_of("aclGetTensorDescFormat", desc, ACL_FORMAT_UNDEFINED, [](const aclTensorDesc& d, aclFormat* out) {
    *out = d.format;
    return Status::ok();
  });
}

size_t aclGetTensorDescSize(const aclTensorDesc* desc) {
  return value_of("aclGetTensorDescSize", desc, size_t{0}, [](const aclTensorDesc& d, size_t* out) -> Status {
    size_t bits = 0;
    SOFTNPU_RETURN_IF_ERROR(element_count(d, &bits));
    if (__builtin_mul_overflow(bits, element_bits(d.dtype), &bits)) {
      return {ACL_ERROR_INVALID_PARAM, "the tensor has more bits than 64 bits count"};
    }
    *out = bits / 8 + (bits % 8 != 0 ? 1 : 0);
    return Status::ok();
  });
}

size_t aclGetTensorDescElementCount(const aclTensorDesc* desc) {
  return value_of("aclGetTensorDescElementCount", desc, size_t{0}, element_count);
}

size_t aclGetTensorDescNumDims(const aclTensorDesc* desc) {
  return value_of("aclGetTensorDescNumDims", desc, size_t{0}, [](const aclTensorDesc& d, size_t* out) {
    *out = d.rank_is_known() ? d.dims.size() : ACL_UNKNOWN_RANK;
    return Status::ok();
  });
}

// Also -1 if there is no such dimension; aclGetTensorDescDimV2 distinguishes the two.
int64_t aclGetTensorDescDim(const aclTensorDesc* desc, size_t index) {
  return value_of("aclGetTensorDescDim", desc, aclTensorDesc::kAnySize, [&](const aclTensorDesc& d, int64_t* out) {
    SOFTNPU_RETURN_IF_ERROR(require_dim(d, index));
    *out = d.dims[index];
    return Status::ok();
  });
}

aclError aclGetTensorDescDimV2(const aclTensorDesc* desc, size_t index, int64_t* dimSize) {
  return api("aclGetTensorDescDimV2", [&] {
    std::shared_ptr<aclTensorDesc> found;
    SOFTNPU_RETURN_IF_ERROR(tensor_descs().find(desc, &found));
    SOFTNPU_RETURN_IF_ERROR(require(dimSize, "dimSize"));
    SOFTNPU_RETURN_IF_ERROR(require_dim(*found, index));
    *dimSize = found->dims[index];
    return Status::ok();
  });
}

// A known size without an explicit range is its own range.
aclError aclGetTensorDescDimRange(const aclTensorDesc* desc, size_t index, size_t dimRangeNum, int64_t* dimRange) {
  return api("aclGetTensorDescDimRange", [&]() -> Status {
    std::shared_ptr<aclTensorDesc> found;
    SOFTNPU_RETURN_IF_ERROR(tensor_descs().find(desc, &found));
    SOFTNPU_RETURN_IF_ERROR(require(dimRange, "dimRange"));
    if (dimRangeNum < ACL_TENSOR_SHAPE_RANGE_NUM) {
      return {ACL_ERROR_INVALID_PARAM, text("a range is two numbers; there is room for ", dimRangeNum)};
    }
    SOFTNPU_RETURN_IF_ERROR(require_dim(*found, index));
    int64_t size = found->dims[index];
    if (found->shape_range.empty() && size == aclTensorDesc::kAnySize) {
      return {ACL_ERROR_INVALID_PARAM, text("size ", index, " is not known and has no range")};
    }
    aclTensorDesc::Range range =
        found->shape_range.empty() ? aclTensorDesc::Range{size, size} : found->shape_range[index];
    std::copy(range.begin(), range.end(), dimRange);
    return Status::ok();
  });
}

// Valid until the name is set again or the description is destroyed.
const char* aclGetTensorDescName(aclTensorDesc* desc) {
  return value_of("aclGetTensorDescName", desc, "", [](const aclTensorDesc& d, const char** out) {
    *out = d.name.c_str();
    return Status::ok();
  });
}

aclTensorDesc* aclGetTensorDescByIndex(aclTensorDesc* desc, size_t index) {
  return value_of("aclGetTensorDescByIndex", desc, static_cast<aclTensorDesc*>(nullptr),
                  [&](const aclTensorDesc&, aclTensorDesc** out) -> Status {
                    if (index > 0) return {ACL_ERROR_INVALID_PARAM, text("there is no description ", index, " in it")};
                    *out = desc;
                    return Status::ok();
                  });
}

void* aclGetTensorDescAddress(const aclTensorDesc* desc) {
  return value_of("aclGetTensorDescAddress", desc, static_cast<void*>(nullptr), [](aclTensorDesc& d, void** out) {
    *out = d.constant ? d.constant->data() : nullptr;
    return Status::ok();
  });
}
