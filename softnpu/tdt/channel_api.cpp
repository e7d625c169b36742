// libacl_tdt_channel.so: the functions of channels. Datasets are copied on their way through one.

#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "acl/acl_rt.h"
#include "base/border.h"
#include "base/text.h"
#include "base/unsupported.h"
#include "tdt/channel.h"

using softnpu::api;
using softnpu::Channel;
using softnpu::channel_handles;
using softnpu::data_items;
using softnpu::require;
using softnpu::Status;
using softnpu::tdt_datasets;
using softnpu::text;

namespace {

constexpr size_t kDefaultCapacity = 128;

Status check_device(uint32_t device) {
  uint32_t count = 0;
  if (const aclError code = aclrtGetDeviceCount(&count); code != ACL_SUCCESS) {
    return {code, "the devices cannot be counted"};
  }
  if (device < count) return Status::ok();
  return {ACL_ERROR_RT_INVALID_DEVICEID, text("device ", device, " does not exist: there are ", count)};
}

acltdtChannelHandle* create(const char* function, uint32_t device, const char* name, size_t capacity) {
  acltdtChannelHandle* created = nullptr;
  (void)api(function, [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(name, "name"));
    if (capacity == 0) return {ACL_ERROR_INVALID_PARAM, "a channel of capacity 0 carries nothing"};
    SOFTNPU_RETURN_IF_ERROR(check_device(device));
    auto handle = std::make_shared<acltdtChannelHandle>();
    handle->name = name;
    handle->channel = Channel::get(device, handle->name, capacity);
    created = channel_handles().add(std::move(handle));
    return Status::ok();
  });
  return created;
}

// A copy of the item with memory of its own.
Status copy_item(const acltdtDataItem* handle, Channel::Items* out) {
  std::shared_ptr<acltdtDataItem> item;
  SOFTNPU_RETURN_IF_ERROR(data_items().find(handle, &item));
  acltdtDataItem copy = *item;
  copy.own = nullptr;
  copy.data = nullptr;
  if (copy.size > 0) {
    copy.own = std::make_shared_for_overwrite<char[]>(copy.size);
    std::memcpy(copy.own.get(), item->data, copy.size);
    copy.data = copy.own.get();
  }
  out->push_back(std::move(copy));
  return Status::ok();
}

}  // namespace

acltdtChannelHandle* acltdtCreateChannel(uint32_t deviceId, const char* name) {
  return create("acltdtCreateChannel", deviceId, name, kDefaultCapacity);
}

acltdtChannelHandle* acltdtCreateChannelWithCapacity(uint32_t deviceId, const char* name, size_t capacity) {
  return create("acltdtCreateChannelWithCapacity", deviceId, name, capacity);
}

aclError acltdtStopChannel(acltdtChannelHandle* handle) {
  return api("acltdtStopChannel", [&] {
    std::shared_ptr<acltdtChannelHandle> found;
    SOFTNPU_RETURN_IF_ERROR(channel_handles().find(handle, &found));
    found->channel->stop(&found->stopped);
    return Status::ok();
  });
}

// Threads that still wait on the handle keep it alive until they have returned.
aclError acltdtDestroyChannel(acltdtChannelHandle* handle) {
  return api("acltdtDestroyChannel", [&] {
    std::shared_ptr<acltdtChannelHandle> found;
    SOFTNPU_RETURN_IF_ERROR(channel_handles().find(handle, &found));
    SOFTNPU_RETURN_IF_ERROR(channel_handles().remove(handle));
    found->channel->stop(&found->stopped);
    return Status::ok();
  });
}

aclError acltdtSendTensor(const acltdtChannelHandle* handle, const acltdtDataset* dataset, int32_t timeout) {
  return api("acltdtSendTensor", [&] {
    std::shared_ptr<acltdtChannelHandle> found;
    SOFTNPU_RETURN_IF_ERROR(channel_handles().find(handle, &found));
    std::shared_ptr<acltdtDataset> from;
    SOFTNPU_RETURN_IF_ERROR(tdt_datasets().find(dataset, &from));
    Channel::Items items;
    for (const acltdtDataItem* item : from->items) SOFTNPU_RETURN_IF_ERROR(copy_item(item, &items));
    return found->channel->send(std::move(items), std::chrono::milliseconds(timeout), found->stopped);
  });
}

aclError acltdtReceiveTensor(const acltdtChannelHandle* handle, acltdtDataset* dataset, int32_t timeout) {
  return api("acltdtReceiveTensor", [&]() -> Status {
    std::shared_ptr<acltdtChannelHandle> found;
    SOFTNPU_RETURN_IF_ERROR(channel_handles().find(handle, &found));
    std::shared_ptr<acltdtDataset> to;
    SOFTNPU_RETURN_IF_ERROR(tdt_datasets().find(dataset, &to));
    if (!to->is_received && !to->items.empty()) {
      return {ACL_ERROR_INVALID_PARAM, "the dataset has items that were added: receive into an empty one"};
    }
    Channel::Items items;
    SOFTNPU_RETURN_IF_ERROR(found->channel->receive(&items, std::chrono::milliseconds(timeout), found->stopped));
    to->forget_received();
    to->is_received = true;
    to->name = found->name;
    for (acltdtDataItem& item : items) {
      to->items.push_back(data_items().add(std::make_shared<acltdtDataItem>(std::move(item))));
    }
    return Status::ok();
  });
}

aclError acltdtQueryChannelSize(const acltdtChannelHandle* handle, size_t* size) {
  return api("acltdtQueryChannelSize", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(size, "size"));
    std::shared_ptr<acltdtChannelHandle> found;
    SOFTNPU_RETURN_IF_ERROR(channel_handles().find(handle, &found));
    *size = found->channel->size();
    return Status::ok();
  });
}

// No source states its arguments, so no header declares it.
extern "C" {
ACL_FUNC_VISIBILITY aclError acltdtCleanChannel() {
  return softnpu::unsupported(__func__, "channels cannot be emptied in one call: receive until the channel is empty");
}
}
