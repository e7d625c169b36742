// Datasets: lists of data buffers.

#include "ascendcl/dataset.h"

#include <memory>

#include "ascendcl/api.h"
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

aclmdlDataset* aclmdlCreateDataset() {
  aclmdlDataset* made = nullptr;
  (void)api("aclmdlCreateDataset", [&] {
    made = datasets().add(std::make_shared<aclmdlDataset>());
    return Status::ok();
  });
  return made;
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
