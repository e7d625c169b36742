// Descriptions of models: their inputs and outputs.

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "acl/acl_mdl.h"
#include "ascendcl/api.h"
#include "ascendcl/dataset.h"
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

// The list of sizes that a model was compiled with.
struct List {
  int32_t kind = SOFTNPU_SIZES_FIXED;
  const int64_t* entries = nullptr;
  size_t count = 0;
  size_t width = 0;
};

List list_of(const LoadedModel& model) {
  List list;
  list.kind = softnpu::graph_engine()->list(model.get(), &list.entries, &list.count, &list.width);
  return list;
}

// Calls `use` with the list of the described model.
template <typename Use>
aclError read_list(const char* function, const aclmdlDesc* handle, const void* out, Use&& use) {
  return api(function, [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(out, "the result"));
    std::shared_ptr<aclmdlDesc> desc;
    SOFTNPU_RETURN_IF_ERROR(find(handle, &desc));
    return use(*desc, list_of(*desc->model));
  });
}

// Sets the sizes of a dataset's inputs to an entry of the model's list.
Status choose(uint32_t id, const aclmdlDataset* handle, int32_t kind, const std::vector<int64_t>& entry) {
  std::shared_ptr<LoadedModel> model;
  SOFTNPU_RETURN_IF_ERROR(softnpu::find_model(id, &model));
  std::shared_ptr<aclmdlDataset> dataset;
  SOFTNPU_RETURN_IF_ERROR(softnpu::datasets().find(handle, &dataset));
  const List list = list_of(*model);
  if (list.kind != kind) {
    return {ACL_ERROR_MODEL_NOT_DYNAMIC,
            "the model was not compiled with such a list of sizes (atc's --dynamic_batch_size, --dynamic_image_size, "
            "--dynamic_dims)"};
  }
  std::vector<std::vector<int64_t>> sizes;
  const auto report = [](void* state, size_t, const softnpuSizes* one) {
    static_cast<std::vector<std::vector<int64_t>>*>(state)->emplace_back(one->dims, one->dims + one->rank);
  };
  SOFTNPU_RETURN_IF_ERROR(
      softnpu::engine_status(softnpu::graph_engine()->sizes(model->get(), entry.data(), entry.size(), report, &sizes)));
  dataset->sizes = sizes;
  model->choose(std::move(sizes));
  return Status::ok();
}

// The open sizes among those of all inputs, one behind the other.
std::vector<int64_t> open_of(const LoadedModel& model, const std::vector<int64_t>& all) {
  std::vector<int64_t> open;
  size_t at = 0;
  for (const softnpuModelTensor& input : tensors_of(model, 0)) {
    for (size_t i = 0; i < input.rank && at < all.size(); ++i, ++at) {
      if (input.dims[i] < 0) open.push_back(all[at]);
    }
  }
  return open;
}

}  // namespace

aclmdlDesc* aclmdlCreateDesc() {
  aclmdlDesc* created = nullptr;
  (void)api("aclmdlCreateDesc", [&] {
    created = descs().add(std::make_shared<aclmdlDesc>());
    return Status::ok();
  });
  return created;
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
// For the sizes that the program chose last; those of the largest entry of the list if it did not.
aclError aclmdlGetCurOutputDims(const aclmdlDesc* modelDesc, size_t index, aclmdlIODims* dims) {
  const aclError code = get_dims("aclmdlGetCurOutputDims", modelDesc, Side::kOutput, index, dims);
  if (code != ACL_SUCCESS) return code;
  return api("aclmdlGetCurOutputDims", [&]() -> Status {
    std::shared_ptr<aclmdlDesc> desc;
    SOFTNPU_RETURN_IF_ERROR(find(modelDesc, &desc));
    const std::vector<std::vector<int64_t>> chosen = desc->model->chosen();
    if (chosen.empty()) return Status::ok();
    const std::vector<softnpuSizes> sizes = softnpu::engine_sizes(chosen);
    std::pair<size_t, aclmdlIODims*> wanted{index, dims};
    const auto report = [](void* state, size_t i, const softnpuModelTensor* tensor) {
      const auto& [number, out] = *static_cast<std::pair<size_t, aclmdlIODims*>*>(state);
      if (i != number) return;
      out->dimCount = std::min<size_t>(tensor->rank, ACL_MAX_DIM_CNT);
      std::copy(tensor->dims, tensor->dims + out->dimCount, out->dims);
    };
    const softnpuModelCall call{nullptr, 0, nullptr, 0, sizes.data(), sizes.size(), report, &wanted};
    return softnpu::engine_status(softnpu::graph_engine()->resolve(desc->model->get(), &call));
  });
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
  return read_list("aclmdlGetDynamicBatch", modelDesc, batch, [&](const aclmdlDesc&, const List& list) {
    const bool is_one = list.kind == SOFTNPU_SIZES_BATCH;
    batch->batchCount = is_one ? std::min<size_t>(list.count, ACL_MAX_BATCH_NUM) : 0;
    for (size_t i = 0; i < batch->batchCount; ++i) batch->batch[i] = static_cast<uint64_t>(list.entries[i]);
    return Status::ok();
  });
}

aclError aclmdlGetDynamicHW(const aclmdlDesc* modelDesc, size_t /*index*/, aclmdlHW* hw) {
  return read_list("aclmdlGetDynamicHW", modelDesc, hw, [&](const aclmdlDesc&, const List& list) {
    const bool is_one = list.kind == SOFTNPU_SIZES_IMAGE;
    hw->hwCount = is_one ? std::min<size_t>(list.count, ACL_MAX_HW_NUM) : 0;
    for (size_t i = 0; i < 2 * hw->hwCount; ++i) hw->hw[i / 2][i % 2] = static_cast<uint64_t>(list.entries[i]);
    return Status::ok();
  });
}

aclError aclmdlGetInputDynamicGearCount(const aclmdlDesc* modelDesc, size_t /*index*/, size_t* gearCount) {
  return read_list("aclmdlGetInputDynamicGearCount", modelDesc, gearCount, [&](const aclmdlDesc&, const List& list) {
    *gearCount = list.kind == SOFTNPU_SIZES_DIMS ? list.count : 0;
    return Status::ok();
  });
}

// The sizes of all inputs one behind the other, for each entry of the list.
aclError aclmdlGetInputDynamicDims(const aclmdlDesc* modelDesc, size_t /*index*/, aclmdlIODims* dims,
                                   size_t gearCount) {
  return read_list(
      "aclmdlGetInputDynamicDims", modelDesc, dims, [&](const aclmdlDesc& desc, const List& list) -> Status {
        const size_t count = list.kind == SOFTNPU_SIZES_DIMS ? list.count : 0;
        if (gearCount > count) {
          return {ACL_ERROR_MODEL_NOT_DYNAMIC, text("the model's list has ", count, " entries, not ", gearCount)};
        }
        for (size_t i = 0; i < gearCount; ++i) {
          dims[i] = {};
          const auto report = [](void* state, size_t, const softnpuSizes* one) {
            auto& out = *static_cast<aclmdlIODims*>(state);
            for (size_t k = 0; k < one->rank && out.dimCount < ACL_MAX_DIM_CNT; ++k)
              out.dims[out.dimCount++] = one->dims[k];
          };
          SOFTNPU_RETURN_IF_ERROR(softnpu::engine_status(softnpu::graph_engine()->sizes(
              desc.model->get(), list.entries + i * list.width, list.width, report, &dims[i])));
        }
        return Status::ok();
      });
}

aclError aclmdlSetDynamicBatchSize(uint32_t modelId, aclmdlDataset* dataset, size_t /*index*/, uint64_t batchSize) {
  return api("aclmdlSetDynamicBatchSize",
             [&] { return choose(modelId, dataset, SOFTNPU_SIZES_BATCH, {static_cast<int64_t>(batchSize)}); });
}

aclError aclmdlSetDynamicHWSize(uint32_t modelId, aclmdlDataset* dataset, size_t /*index*/, uint64_t height,
                                uint64_t width) {
  return api("aclmdlSetDynamicHWSize", [&] {
    return choose(modelId, dataset, SOFTNPU_SIZES_IMAGE, {static_cast<int64_t>(height), static_cast<int64_t>(width)});
  });
}

// `dims` has the sizes of all inputs one behind the other, or the open ones alone.
aclError aclmdlSetInputDynamicDims(uint32_t modelId, aclmdlDataset* dataset, size_t /*index*/,
                                   const aclmdlIODims* dims) {
  return api("aclmdlSetInputDynamicDims", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(dims, "dims"));
    if (dims->dimCount > ACL_MAX_DIM_CNT) return {ACL_ERROR_INVALID_PARAM, text(dims->dimCount, " sizes")};
    std::shared_ptr<LoadedModel> model;
    SOFTNPU_RETURN_IF_ERROR(softnpu::find_model(modelId, &model));
    std::vector<int64_t> sizes(dims->dims, dims->dims + dims->dimCount);
    if (sizes.size() != list_of(*model).width) sizes = open_of(*model, sizes);
    return choose(modelId, dataset, SOFTNPU_SIZES_DIMS, sizes);
  });
}
