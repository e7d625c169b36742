#include "tdt/dataset.h"

#include <algorithm>
#include <utility>

#include "base/border.h"
#include "base/no_destroy.h"
#include "base/text.h"

using softnpu::api;
using softnpu::data_items;
using softnpu::Handles;
using softnpu::require;
using softnpu::Status;
using softnpu::tdt_datasets;
using softnpu::text;

namespace {

constexpr size_t kMaxDims = 64;

// The item's field; `otherwise` if the handle names no item.
template <typename T>
T read(const char* function, const acltdtDataItem* handle, T acltdtDataItem::*field, T otherwise) {
  (void)api(function, [&] {
    std::shared_ptr<acltdtDataItem> item;
    SOFTNPU_RETURN_IF_ERROR(data_items().find(handle, &item));
    otherwise = (*item).*field;
    return Status::ok();
  });
  return otherwise;
}

Status check_item(acltdtTensorType type, const int64_t* dims, size_t count, const void* data, size_t size) {
  if (type < ACL_TENSOR_DATA_TENSOR || type > ACL_TENSOR_DATA_END_TENSOR) {
    return {ACL_ERROR_INVALID_PARAM, text("acltdtTensorType ", static_cast<int>(type), " does not exist")};
  }
  if (count > kMaxDims) return {ACL_ERROR_INVALID_PARAM, text(count, " dimensions; at most ", kMaxDims, " are taken")};
  if (count > 0) SOFTNPU_RETURN_IF_ERROR(require(dims, "dims"));
  for (size_t i = 0; i < count; ++i) {
    if (dims[i] < 0) return {ACL_ERROR_INVALID_PARAM, text("dimension ", i, " is ", dims[i])};
  }
  return size == 0 ? Status::ok() : require(data, "data");
}

}  // namespace

Handles<acltdtDataItem>& softnpu::data_items() {
  static NoDestroy<Handles<acltdtDataItem>> instance("data item");
  return instance.get();
}

Handles<acltdtDataset>& softnpu::tdt_datasets() {
  static NoDestroy<Handles<acltdtDataset>> instance("dataset of a channel");
  return instance.get();
}

void acltdtDataset::forget_received() {
  if (!is_received) return;
  for (const acltdtDataItem* item : items) (void)data_items().remove(item);  // the program may have destroyed it
  items.clear();
  is_received = false;
}

acltdtDataItem* acltdtCreateDataItem(acltdtTensorType tdtType, const int64_t* dims, size_t dimNum, aclDataType dataType,
                                     void* data, size_t size) {
  acltdtDataItem* created = nullptr;
  (void)api("acltdtCreateDataItem", [&] {
    SOFTNPU_RETURN_IF_ERROR(check_item(tdtType, dims, dimNum, data, size));
    created = data_items().add(std::make_shared<acltdtDataItem>(
        acltdtDataItem{tdtType, dataType, std::vector<int64_t>(dims, dims + dimNum), data, size, nullptr}));
    return Status::ok();
  });
  return created;
}

aclError acltdtDestroyDataItem(acltdtDataItem* dataItem) {
  return api("acltdtDestroyDataItem", [&] { return data_items().remove(dataItem); });
}

acltdtTensorType acltdtGetTensorTypeFromItem(const acltdtDataItem* dataItem) {
  return read("acltdtGetTensorTypeFromItem", dataItem, &acltdtDataItem::type, ACL_TENSOR_DATA_UNDEFINED);
}

aclDataType acltdtGetDataTypeFromItem(const acltdtDataItem* dataItem) {
  return read("acltdtGetDataTypeFromItem", dataItem, &acltdtDataItem::dtype, ACL_DT_UNDEFINED);
}

void* acltdtGetDataAddrFromItem(const acltdtDataItem* dataItem) {
  return read("acltdtGetDataAddrFromItem", dataItem, &acltdtDataItem::data, static_cast<void*>(nullptr));
}

size_t acltdtGetDataSizeFromItem(const acltdtDataItem* dataItem) {
  return read("acltdtGetDataSizeFromItem", dataItem, &acltdtDataItem::size, size_t{0});
}

size_t acltdtGetDimNumFromItem(const acltdtDataItem* dataItem) {
  size_t count = 0;
  (void)api("acltdtGetDimNumFromItem", [&] {
    std::shared_ptr<acltdtDataItem> item;
    SOFTNPU_RETURN_IF_ERROR(data_items().find(dataItem, &item));
    count = item->dims.size();
    return Status::ok();
  });
  return count;
}

aclError acltdtGetDimsFromItem(const acltdtDataItem* dataItem, int64_t* dims, size_t dimNum) {
  return api("acltdtGetDimsFromItem", [&]() -> Status {
    std::shared_ptr<acltdtDataItem> item;
    SOFTNPU_RETURN_IF_ERROR(data_items().find(dataItem, &item));
    if (dimNum < item->dims.size()) {
      return {ACL_ERROR_INVALID_PARAM, text("room for ", dimNum, " of ", item->dims.size(), " dimensions")};
    }
    if (!item->dims.empty()) SOFTNPU_RETURN_IF_ERROR(require(dims, "dims"));
    std::ranges::copy(item->dims, dims);
    return Status::ok();
  });
}

aclError acltdtGetSliceInfoFromItem(const acltdtDataItem* dataItem, size_t* sliceNum, size_t* sliceId) {
  return api("acltdtGetSliceInfoFromItem", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(sliceNum, "sliceNum"));
    SOFTNPU_RETURN_IF_ERROR(require(sliceId, "sliceId"));
    std::shared_ptr<acltdtDataItem> item;
    SOFTNPU_RETURN_IF_ERROR(data_items().find(dataItem, &item));
    *sliceNum = 0;
    *sliceId = 0;
    return Status::ok();
  });
}

acltdtDataset* acltdtCreateDataset() {
  acltdtDataset* created = nullptr;
  (void)api("acltdtCreateDataset", [&] {
    created = tdt_datasets().add(std::make_shared<acltdtDataset>());
    return Status::ok();
  });
  return created;
}

aclError acltdtDestroyDataset(acltdtDataset* dataset) {
  return api("acltdtDestroyDataset", [&] { return tdt_datasets().remove(dataset); });
}

acltdtDataItem* acltdtGetDataItem(const acltdtDataset* dataset, size_t index) {
  acltdtDataItem* item = nullptr;
  (void)api("acltdtGetDataItem", [&]() -> Status {
    std::shared_ptr<acltdtDataset> found;
    SOFTNPU_RETURN_IF_ERROR(tdt_datasets().find(dataset, &found));
    if (index >= found->items.size()) {
      return {ACL_ERROR_INVALID_PARAM, text("item ", index, " of a dataset of ", found->items.size())};
    }
    item = found->items[index];
    return Status::ok();
  });
  return item;
}

aclError acltdtAddDataItem(acltdtDataset* dataset, acltdtDataItem* dataItem) {
  return api("acltdtAddDataItem", [&]() -> Status {
    std::shared_ptr<acltdtDataset> found;
    SOFTNPU_RETURN_IF_ERROR(tdt_datasets().find(dataset, &found));
    std::shared_ptr<acltdtDataItem> item;
    SOFTNPU_RETURN_IF_ERROR(data_items().find(dataItem, &item));
    if (found->is_received) return {ACL_ERROR_INVALID_PARAM, "the dataset was received: add to one of your own"};
    found->items.push_back(dataItem);
    return Status::ok();
  });
}

size_t acltdtGetDatasetSize(const acltdtDataset* dataset) {
  size_t size = 0;
  (void)api("acltdtGetDatasetSize", [&] {
    std::shared_ptr<acltdtDataset> found;
    SOFTNPU_RETURN_IF_ERROR(tdt_datasets().find(dataset, &found));
    size = found->items.size();
    return Status::ok();
  });
  return size;
}

const char* acltdtGetDatasetName(const acltdtDataset* dataset) {
  const char* name = nullptr;
  (void)api("acltdtGetDatasetName", [&] {
    std::shared_ptr<acltdtDataset> found;
    SOFTNPU_RETURN_IF_ERROR(tdt_datasets().find(dataset, &found));
    name = found->name.c_str();
    return Status::ok();
  });
  return name;
}
