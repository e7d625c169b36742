// Datasets: lists of data buffers.

#include "ascendcl/dataset.h"

#include <algorithm>
#include <memory>

#include "ascendcl/api.h"
#include "ascendcl/tensor_desc.h"
#include "base/no_destroy.h"
#include "base/text.h"

using softnpu::api;
using softnpu::datasets;
using softnpu::Handles;
using softnpu::require;
using softnpu::Status;

Handles<aclmdlDataset>& softnpu::datasets() {
  static NoDestroy<Handles<aclmdlDataset>> instance("dataset");
  return instance.get();
}

aclmdlDataset::~aclmdlDataset() {
  for (const aclTensorDesc* desc : descs) (void)softnpu::tensor_descs().remove(desc);
}

aclmdlDataset* aclmdlCreateDataset() {
  aclmdlDataset* result = nullptr;
  (void)api("aclmdlCreateDataset", [&] {
    result = datasets().add(std::make_shared<aclmdlDataset>());
    return Status::ok();
  });
  return result;
}

// Its buffers stay.
aclError aclmdlDestroyDataset(const aclmdlDataset* dataset) {
  return api("aclmdlDestroyDataset", [&] { return datasets().remove(dataset); });
}

aclError aclmdlAddDatasetBuffer(aclmdlDataset* dataset, aclDataBuffer* dataBuffer) {
  return api("aclmdlAddDatasetBuffer", [&] {
    std::shared_ptr<aclmdlDataset> found;
    SOFTNPU_RETURN_IF_ERROR(datasets().find(dataset, &found));
    SOFTNPU_RETURN_IF_ERROR(require(dataBuffer, "dataBuffer"));
    found->buffers.push_back(dataBuffer);
    return Status::ok();
  });
}

size_t aclmdlGetDatasetNumBuffers(const aclmdlDataset* dataset) {
  size_t count = 0;
  (void)api("aclmdlGetDatasetNumBuffers", [&] {
    std::shared_ptr<aclmdlDataset> found;
    SOFTNPU_RETURN_IF_ERROR(datasets().find(dataset, &found));
    count = found->buffers.size();
    return Status::ok();
  });
  return count;
}

aclDataBuffer* aclmdlGetDatasetBuffer(const aclmdlDataset* dataset, size_t index) {
  aclDataBuffer* buffer = nullptr;
  (void)api("aclmdlGetDatasetBuffer", [&]() -> Status {
    std::shared_ptr<aclmdlDataset> found;
    SOFTNPU_RETURN_IF_ERROR(datasets().find(dataset, &found));
    if (index >= found->buffers.size()) {
      return {ACL_ERROR_INVALID_PARAM, softnpu::text("buffer ", index, " of ", found->buffers.size())};
    }
    buffer = found->buffers[index];
    return Status::ok();
  });
  return buffer;
}

// The sizes of an input of the next runs. The description may be destroyed afterwards.
aclError aclmdlSetDatasetTensorDesc(aclmdlDataset* dataset, aclTensorDesc* tensorDesc, size_t index) {
  return api("aclmdlSetDatasetTensorDesc", [&]() -> Status {
    std::shared_ptr<aclmdlDataset> found;
    SOFTNPU_RETURN_IF_ERROR(datasets().find(dataset, &found));
    std::shared_ptr<aclTensorDesc> desc;
    SOFTNPU_RETURN_IF_ERROR(softnpu::tensor_descs().find(tensorDesc, &desc));
    if (index >= found->buffers.size()) {
      return {ACL_ERROR_INVALID_PARAM, softnpu::text("buffer ", index, " of ", found->buffers.size())};
    }
    found->sizes.resize(std::max(found->sizes.size(), index + 1));
    found->sizes[index] = desc->dims;
    return Status::ok();
  });
}

// Of an output, after a run of a model with open sizes; the dataset owns it.
aclTensorDesc* aclmdlGetDatasetTensorDesc(const aclmdlDataset* dataset, size_t index) {
  aclTensorDesc* desc = nullptr;
  (void)api("aclmdlGetDatasetTensorDesc", [&]() -> Status {
    std::shared_ptr<aclmdlDataset> found;
    SOFTNPU_RETURN_IF_ERROR(datasets().find(dataset, &found));
    if (index >= found->descs.size()) {
      return {ACL_ERROR_INVALID_PARAM, softnpu::text("the dataset has descriptions of ", found->descs.size(),
                                                     " outputs: a run of a model with open sizes writes them")};
    }
    desc = found->descs[index];
    return Status::ok();
  });
  return desc;
}
