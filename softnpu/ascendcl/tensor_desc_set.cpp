// Tensor descriptions: setters for an existing description.

#include <memory>

#include "ascendcl/api.h"
#include "ascendcl/tensor_desc.h"

using softnpu::api;
using softnpu::require;
using softnpu::Status;
using softnpu::tensor_descs;
using softnpu::text;

namespace {

template <typename Set>
aclError set(const char* function, aclTensorDesc* handle, Set&& body) {
  return api(function, [&]() -> Status {
    std::shared_ptr<aclTensorDesc> desc;
    SOFTNPU_RETURN_IF_ERROR(tensor_descs().find(handle, &desc));
    return body(*desc);
  });
}

aclError set_format(const char* function, aclTensorDesc* handle, std::optional<aclFormat> aclTensorDesc::*field,
                    aclFormat format) {
  return set(function, handle, [&](aclTensorDesc& desc) {
    desc.*field = format;
    return Status::ok();
  });
}

aclError set_dims(const char* function, aclTensorDesc* handle,
                  std::optional<std::vector<int64_t>> aclTensorDesc::*field, int count, const int64_t* dims) {
  return set(function, handle, [&](aclTensorDesc& desc) {
    std::vector<int64_t> read;
    SOFTNPU_RETURN_IF_ERROR(softnpu::read_desc_dims(count, dims, &read));
    desc.*field = std::move(read);
    return Status::ok();
  });
}

Status read_range(size_t count, const int64_t (*ranges)[2], std::vector<aclTensorDesc::Range>* out) {
  if (count > 0) SOFTNPU_RETURN_IF_ERROR(require(ranges, "the range"));
  out->clear();
  for (size_t i = 0; i < count; ++i) out->push_back({ranges[i][0], ranges[i][1]});
  return Status::ok();
}

}  // namespace

aclError aclSetTensorShapeRange(aclTensorDesc* desc, size_t dimsCount,
                                int64_t dimsRange[][ACL_TENSOR_SHAPE_RANGE_NUM]) {
  return set("aclSetTensorShapeRange", desc, [&](aclTensorDesc& d) -> Status {
    if (!d.rank_is_known() || dimsCount != d.dims.size()) {
      return {ACL_ERROR_INVALID_PARAM, d.rank_is_known()
                                           ? text(dimsCount, " ranges for ", d.dims.size(), " sizes")
                                           : "the number of sizes is not known yet, so they have no ranges"};
    }
    std::vector<aclTensorDesc::Range> ranges;
    SOFTNPU_RETURN_IF_ERROR(read_range(dimsCount, dimsRange, &ranges));
    for (auto [first, last] : ranges) {
      if (first < 0 || (last != -1 && last < first)) {
        return {ACL_ERROR_INVALID_PARAM, text("a size from ", first, " to ", last)};
      }
    }
    d.shape_range = std::move(ranges);
    return Status::ok();
  });
}

aclError aclSetTensorValueRange(aclTensorDesc* desc, size_t valueCount,
                                int64_t valueRange[][ACL_TENSOR_VALUE_RANGE_NUM]) {
  return set("aclSetTensorValueRange", desc,
             [&](aclTensorDesc& d) { return read_range(valueCount, valueRange, &d.value_range); });
}

// Null removes the name.
void aclSetTensorDescName(aclTensorDesc* desc, const char* name) {
  (void)set("aclSetTensorDescName", desc, [&](aclTensorDesc& d) {
    d.name = name != nullptr ? name : "";
    return Status::ok();
  });
}

aclError aclSetTensorStorageFormat(aclTensorDesc* desc, aclFormat format) {
  return set_format("aclSetTensorStorageFormat", desc, &aclTensorDesc::storage_format, format);
}

aclError aclSetTensorFormat(aclTensorDesc* desc, aclFormat format) {
  return set_format("aclSetTensorFormat", desc, &aclTensorDesc::storage_format, format);
}

aclError aclSetTensorStorageShape(aclTensorDesc* desc, int numDims, const int64_t* dims) {
  return set_dims("aclSetTensorStorageShape", desc, &aclTensorDesc::storage_dims, numDims, dims);
}

aclError aclSetTensorShape(aclTensorDesc* desc, int numDims, const int64_t* dims) {
  return set_dims("aclSetTensorShape", desc, &aclTensorDesc::storage_dims, numDims, dims);
}

aclError aclSetTensorOriginFormat(aclTensorDesc* desc, aclFormat format) {
  return set_format("aclSetTensorOriginFormat", desc, &aclTensorDesc::origin_format, format);
}

aclError aclSetTensorOriginShape(aclTensorDesc* desc, int numDims, const int64_t* dims) {
  return set_dims("aclSetTensorOriginShape", desc, &aclTensorDesc::origin_dims, numDims, dims);
}

aclError aclSetTensorDynamicInput(aclTensorDesc* desc, const char* dynamicInputName) {
  return set("aclSetTensorDynamicInput", desc, [&](aclTensorDesc& d) {
    SOFTNPU_RETURN_IF_ERROR(require(dynamicInputName, "dynamicInputName"));
    d.dynamic_input = dynamicInputName;
    return Status::ok();
  });
}

aclError aclSetTensorConst(aclTensorDesc* desc, void* dataBuffer, size_t length) {
  return set("aclSetTensorConst", desc, [&](aclTensorDesc& d) {
    if (length > 0) SOFTNPU_RETURN_IF_ERROR(require(dataBuffer, "dataBuffer"));
    const char* bytes = static_cast<const char*>(dataBuffer);
    d.constant.emplace(bytes, bytes + length);
    return Status::ok();
  });
}

aclError aclSetTensorPlaceMent(aclTensorDesc* desc, aclMemType memType) {
  return set("aclSetTensorPlaceMent", desc, [&](aclTensorDesc& d) -> Status {
    if (memType < ACL_MEMTYPE_DEVICE || memType > ACL_MEMTYPE_HOST_COMPILE_INDEPENDENT) {
      return {ACL_ERROR_INVALID_PARAM, text("there is no kind of memory ", static_cast<int>(memType))};
    }
    d.placement = memType;
    return Status::ok();
  });
}
