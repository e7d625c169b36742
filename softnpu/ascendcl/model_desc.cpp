// Descriptions of models: their inputs and outputs.

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "acl/acl_mdl.h"
#include "ascendcl/api.h"
#include "ascendcl/model.h"
#include "base/handles.h"
#include "base/no_destroy.h"
#include "base/text.h"

using softnpu::api;
using softnpu::LoadedModel;
using softnpu::require;
using softnpu::Status;
using softnpu::text;

// Keeps its model loaded: names and sizes stay valid until it is destroyed.
struct aclmdlDesc {
  std::shared_ptr<LoadedModel> model;
  std::vector<softnpuModelTensor> inputs;
  std::vector<softnpuModelTensor> outputs;
};

namespace {

constexpr const char* kFixed = "the model has fixed sizes: compile one for each size with atc's --input_shape";

softnpu::Handles<aclmdlDesc>& descs() {
  static softnpu::NoDestroy<softnpu::Handles<aclmdlDesc>> instance("model description");
  return instance.get();
}

enum class Side : uint8_t { kInput, kOutput };

std::vector<softnpuModelTensor> tensors_of(const LoadedModel& model, int32_t is_output) {
  const softnpuGraphEngine* engine = softnpu::graph_engine();
  std::vector<softnpuModelTensor> tensors(engine->count(model.get(), is_output));
  for (size_t i = 0; i < tensors.size(); ++i) engine->describe(model.get(), is_output, i, &tensors[i]);
  return tensors;
}

Status find(const aclmdlDesc* handle, std::shared_ptr<aclmdlDesc>* out) {
  SOFTNPU_RETURN_IF_ERROR(descs().find(handle, out));
  if ((*out)->model != nullptr) return Status::ok();
  return {ACL_ERROR_INVALID_PARAM, "the description is of no model: call aclmdlGetDesc first"};
}

// Calls `use` with an input or output; returns `otherwise` if there is none.
template <typename Result, typename Use>
Result read(const char* function, const aclmdlDesc* handle, Side side, size_t index, Result otherwise, Use&& use) {
  Result result = otherwise;
  (void)api(function, [&]() -> Status {
    std::shared_ptr<aclmdlDesc> desc;
    SOFTNPU_RETURN_IF_ERROR(find(handle, &desc));
    const auto& tensors = side == Side::kInput ? desc->inputs : desc->outputs;
    if (index >= tensors.size()) {
      return {ACL_ERROR_INVALID_PARAM,
              text("the model has ", tensors.size(), side == Side::kInput ? " inputs" : " outputs", ", not ", index)};
    }
    result = use(tensors[index]);
    return Status::ok();
  });
  return result;
}

size_t count(const char* function, const aclmdlDesc* handle, Side side) {
  size_t result = 0;
  (void)api(function, [&] {
    std::shared_ptr<aclmdlDesc> desc;
    SOFTNPU_RETURN_IF_ERROR(find(handle, &desc));
    result = (side == Side::kInput ? desc->inputs : desc->outputs).size();
    return Status::ok();
  });
  return result;
}

aclError get_dims(const char* function, const aclmdlDesc* handle, Side side, size_t index, aclmdlIODims* out) {
  return api(function, [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(out, "dims"));
    std::shared_ptr<aclmdlDesc> desc;
    SOFTNPU_RETURN_IF_ERROR(find(handle, &desc));
    const auto& tensors = side == Side::kInput ? desc->inputs : desc->outputs;
    if (index >= tensors.size()) {
      return {ACL_ERROR_INVALID_PARAM,
              text("the model has ", tensors.size(), side == Side::kInput ? " inputs" : " outputs", ", not ", index)};
    }
    const softnpuModelTensor& tensor = tensors[index];
    *out = {};
    const std::string_view name(tensor.name);
    name.copy(out->name, ACL_MAX_TENSOR_NAME_LEN - 1);
    out->dimCount = std::min<size_t>(tensor.rank, ACL_MAX_DIM_CNT);
    std::copy(tensor.dims, tensor.dims + out->dimCount, out->dims);
    return Status::ok();
  });
}

aclError index_of(const char* function, const aclmdlDesc* handle, Side side, const char* name, size_t* out) {
  return api(function, [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(name, "name"));
    SOFTNPU_RETURN_IF_ERROR(require(out, "index"));
    std::shared_ptr<aclmdlDesc> desc;
    SOFTNPU_RETURN_IF_ERROR(find(handle, &desc));
    const auto& tensors = side == Side::kInput ? desc->inputs : desc->outputs;
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (std::strcmp(tensors[i].name, name) != 0) continue;
      *out = i;
      return Status::ok();
    }
    return {ACL_ERROR_INVALID_PARAM,
            text("the model has no ", side == Side::kInput ? "input" : "output", " of the name ", name)};
  });
}

// Answers for a model without lists of sizes.
template <typename Write>
aclError without_lists(const char* function, const aclmdlDesc* handle, const void* out, Write&& write) {
  return api(function, [&] {
    SOFTNPU_RETURN_IF_ERROR(require(out, "the result"));
    std::shared_ptr<aclmdlDesc> desc;
    SOFTNPU_RETURN_IF_ERROR(find(handle, &desc));
    write();
    return Status::ok();
  });
}

}  // namespace

aclmdlDesc* aclmdlCreateDesc() {
  aclmdlDesc* made = nullptr;
  (void)api("aclmdlCreateDesc", [&] {
    made = descs().add(std::make_shared<aclmdlDesc>());
    return Status::ok();
  });
  return made;
}

aclError aclmdlDestroyDesc(aclmdlDesc* modelDesc) {
  return api("aclmdlDestroyDesc", [&] { return descs().remove(modelDesc); });
}

aclError aclmdlGetDesc(aclmdlDesc* modelDesc, uint32_t modelId) {
  return api("aclmdlGetDesc", [&] {
    std::shared_ptr<aclmdlDesc> desc;
    SOFTNPU_RETURN_IF_ERROR(descs().find(modelDesc, &desc));
    std::shared_ptr<LoadedModel> model;
    SOFTNPU_RETURN_IF_ERROR(softnpu::find_model(modelId, &model));
    desc->inputs = tensors_of(*model, 0);
    desc->outputs = tensors_of(*model, 1);
    desc->model = std::move(model);
    return Status::ok();
  });
}

size_t aclmdlGetNumInputs(aclmdlDesc* modelDesc) { return count("aclmdlGetNumInputs", modelDesc, Side::kInput); }
size_t aclmdlGetNumOutputs(aclmdlDesc* modelDesc) { return count("aclmdlGetNumOutputs", modelDesc, Side::kOutput); }

size_t aclmdlGetInputSizeByIndex(aclmdlDesc* modelDesc, size_t index) {
  return read("aclmdlGetInputSizeByIndex", modelDesc, Side::kInput, index, size_t{0},
              [](const softnpuModelTensor& tensor) { return tensor.bytes; });
}
size_t aclmdlGetOutputSizeByIndex(aclmdlDesc* modelDesc, size_t index) {
  return read("aclmdlGetOutputSizeByIndex", modelDesc, Side::kOutput, index, size_t{0},
              [](const softnpuModelTensor& tensor) { return tensor.bytes; });
}

aclError aclmdlGetInputDims(const aclmdlDesc* modelDesc, size_t index, aclmdlIODims* dims) {
  return get_dims("aclmdlGetInputDims", modelDesc, Side::kInput, index, dims);
}
// Differs from aclmdlGetInputDims for models with image preprocessing (AIPP), of which there are none.
aclError aclmdlGetInputDimsV2(const aclmdlDesc* modelDesc, size_t index, aclmdlIODims* dims) {
  return get_dims("aclmdlGetInputDimsV2", modelDesc, Side::kInput, index, dims);
}
aclError aclmdlGetOutputDims(const aclmdlDesc* modelDesc, size_t index, aclmdlIODims* dims) {
  return get_dims("aclmdlGetOutputDims", modelDesc, Side::kOutput, index, dims);
}
aclError aclmdlGetCurOutputDims(const aclmdlDesc* modelDesc, size_t index, aclmdlIODims* dims) {
  return get_dims("aclmdlGetCurOutputDims", modelDesc, Side::kOutput, index, dims);
}

const char* aclmdlGetInputNameByIndex(const aclmdlDesc* modelDesc, size_t index) {
  return read("aclmdlGetInputNameByIndex", modelDesc, Side::kInput, index, static_cast<const char*>(""),
              [](const softnpuModelTensor& tensor) { return tensor.name; });
}
const char* aclmdlGetOutputNameByIndex(const aclmdlDesc* modelDesc, size_t index) {
  return read("aclmdlGetOutputNameByIndex", modelDesc, Side::kOutput, index, static_cast<const char*>(""),
              [](const softnpuModelTensor& tensor) { return tensor.name; });
}

aclFormat aclmdlGetInputFormat(const aclmdlDesc* modelDesc, size_t index) {
  return read("aclmdlGetInputFormat", modelDesc, Side::kInput, index, ACL_FORMAT_UNDEFINED,
              [](const softnpuModelTensor& tensor) { return tensor.format; });
}
aclFormat aclmdlGetOutputFormat(const aclmdlDesc* modelDesc, size_t index) {
  return read("aclmdlGetOutputFormat", modelDesc, Side::kOutput, index, ACL_FORMAT_UNDEFINED,
              [](const softnpuModelTensor& tensor) { return tensor.format; });
}

aclDataType aclmdlGetInputDataType(const aclmdlDesc* modelDesc, size_t index) {
  return read("aclmdlGetInputDataType", modelDesc, Side::kInput, index, ACL_DT_UNDEFINED,
              [](const softnpuModelTensor& tensor) { return tensor.dtype; });
}
aclDataType aclmdlGetOutputDataType(const aclmdlDesc* modelDesc, size_t index) {
  return read("aclmdlGetOutputDataType", modelDesc, Side::kOutput, index, ACL_DT_UNDEFINED,
              [](const softnpuModelTensor& tensor) { return tensor.dtype; });
}

aclError aclmdlGetInputIndexByName(const aclmdlDesc* modelDesc, const char* name, size_t* index) {
  return index_of("aclmdlGetInputIndexByName", modelDesc, Side::kInput, name, index);
}
aclError aclmdlGetOutputIndexByName(const aclmdlDesc* modelDesc, const char* name, size_t* index) {
  return index_of("aclmdlGetOutputIndexByName", modelDesc, Side::kOutput, name, index);
}

aclError aclmdlGetDynamicBatch(const aclmdlDesc* modelDesc, aclmdlBatch* batch) {
  return without_lists("aclmdlGetDynamicBatch", modelDesc, batch, [&] { batch->batchCount = 0; });
}
aclError aclmdlGetDynamicHW(const aclmdlDesc* modelDesc, size_t /*index*/, aclmdlHW* hw) {
  return without_lists("aclmdlGetDynamicHW", modelDesc, hw, [&] { hw->hwCount = 0; });
}
aclError aclmdlGetInputDynamicGearCount(const aclmdlDesc* modelDesc, size_t /*index*/, size_t* gearCount) {
  return without_lists("aclmdlGetInputDynamicGearCount", modelDesc, gearCount, [&] { *gearCount = 0; });
}
aclError aclmdlGetInputDynamicDims(const aclmdlDesc* modelDesc, size_t /*index*/, aclmdlIODims* dims,
                                   size_t gearCount) {
  return api("aclmdlGetInputDynamicDims", [&]() -> Status {
    std::shared_ptr<aclmdlDesc> desc;
    SOFTNPU_RETURN_IF_ERROR(require(dims, "dims"));
    SOFTNPU_RETURN_IF_ERROR(find(modelDesc, &desc));
    if (gearCount == 0) return Status::ok();
    return {ACL_ERROR_MODEL_NOT_DYNAMIC, kFixed};
  });
}

aclError aclmdlSetDynamicBatchSize(uint32_t, aclmdlDataset*, size_t, uint64_t) {
  return api("aclmdlSetDynamicBatchSize", [] { return Status(ACL_ERROR_MODEL_NOT_DYNAMIC, kFixed); });
}
aclError aclmdlSetDynamicHWSize(uint32_t, aclmdlDataset*, size_t, uint64_t, uint64_t) {
  return api("aclmdlSetDynamicHWSize", [] { return Status(ACL_ERROR_MODEL_NOT_DYNAMIC, kFixed); });
}
aclError aclmdlSetInputDynamicDims(uint32_t, aclmdlDataset*, size_t, const aclmdlIODims*) {
  return api("aclmdlSetInputDynamicDims", [] { return Status(ACL_ERROR_MODEL_NOT_DYNAMIC, kFixed); });
}
