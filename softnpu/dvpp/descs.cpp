// Memory of pictures, and the descriptions of pictures and pieces of streams.

#include <memory>
#include <string>

#include "acl/acl.h"
#include "acl/acl_rt.h"
#include "base/border.h"
#include "base/no_destroy.h"
#include "dvpp/picture.h"
#include "dvpp/stream_desc.h"

using softnpu::api;
using softnpu::Handles;
using softnpu::pictures;
using softnpu::Status;

namespace {

Handles<acldvppStreamDesc>& stream_pieces() {
  static softnpu::NoDestroy<Handles<acldvppStreamDesc>> instance("description of a stream");
  return instance.get();
}

// The handles of a kind; a function, so that they are made within a guard.
template <typename T>
using HandlesOf = Handles<T>& (*)();

template <typename T>
T* make(const char* function, HandlesOf<T> handles) {
  T* created = nullptr;
  (void)api(function, [&] {
    created = handles().add(std::make_shared<T>());
    return Status::ok();
  });
  return created;
}

template <typename T, typename Field, typename Value>
aclError set(const char* function, HandlesOf<T> handles, const void* handle, Field T::*field, Value value) {
  return api(function, [&] {
    std::shared_ptr<T> object;
    SOFTNPU_RETURN_IF_ERROR(handles().find(handle, &object));
    (*object).*field = value;
    return Status::ok();
  });
}

// The field; 0 or null where the handle names nothing.
template <typename Value, typename T, typename Field>
Value get(const char* function, HandlesOf<T> handles, const void* handle, Field T::*field) {
  Value value{};
  (void)api(function, [&] {
    std::shared_ptr<T> object;
    SOFTNPU_RETURN_IF_ERROR(handles().find(handle, &object));
    value = (*object).*field;
    return Status::ok();
  });
  return value;
}

// What a function of the runtime returned, with its text.
Status status_of(aclError code) {
  if (code == ACL_SUCCESS) return Status::ok();
  const char* recent = aclGetRecentErrMsg();
  const std::string text = recent == nullptr ? "" : recent;
  return {code, text.substr(0, text.rfind(" [error "))};
}

}  // namespace

aclError acldvppMalloc(void** devPtr, size_t size) {
  return api("acldvppMalloc", [&] { return status_of(aclrtMalloc(devPtr, size, ACL_MEM_MALLOC_HUGE_FIRST)); });
}
aclError acldvppFree(void* devPtr) {
  return api("acldvppFree", [&] { return status_of(aclrtFree(devPtr)); });
}

acldvppPicDesc* acldvppCreatePicDesc() { return make("acldvppCreatePicDesc", pictures); }
aclError acldvppDestroyPicDesc(acldvppPicDesc* picDesc) {
  return api("acldvppDestroyPicDesc", [&] { return pictures().remove(picDesc); });
}
acldvppStreamDesc* acldvppCreateStreamDesc() { return make("acldvppCreateStreamDesc", stream_pieces); }
aclError acldvppDestroyStreamDesc(acldvppStreamDesc* streamDesc) {
  return api("acldvppDestroyStreamDesc", [&] { return stream_pieces().remove(streamDesc); });
}

aclError acldvppSetPicDescData(acldvppPicDesc* picDesc, void* dataDev) {
  return set("acldvppSetPicDescData", pictures, picDesc, &acldvppPicDesc::data, dataDev);
}
void* acldvppGetPicDescData(const acldvppPicDesc* picDesc) {
  return get<void*>("acldvppGetPicDescData", pictures, picDesc, &acldvppPicDesc::data);
}
aclError acldvppSetPicDescSize(acldvppPicDesc* picDesc, uint32_t size) {
  return set("acldvppSetPicDescSize", pictures, picDesc, &acldvppPicDesc::size, size);
}
uint32_t acldvppGetPicDescSize(const acldvppPicDesc* picDesc) {
  return get<uint32_t>("acldvppGetPicDescSize", pictures, picDesc, &acldvppPicDesc::size);
}
aclError acldvppSetPicDescFormat(acldvppPicDesc* picDesc, acldvppPixelFormat format) {
  return set("acldvppSetPicDescFormat", pictures, picDesc, &acldvppPicDesc::format, format);
}
acldvppPixelFormat acldvppGetPicDescFormat(const acldvppPicDesc* picDesc) {
  return get<acldvppPixelFormat>("acldvppGetPicDescFormat", pictures, picDesc, &acldvppPicDesc::format);
}
aclError acldvppSetPicDescWidth(acldvppPicDesc* picDesc, uint32_t width) {
  return set("acldvppSetPicDescWidth", pictures, picDesc, &acldvppPicDesc::width, width);
}
uint32_t acldvppGetPicDescWidth(const acldvppPicDesc* picDesc) {
  return get<uint32_t>("acldvppGetPicDescWidth", pictures, picDesc, &acldvppPicDesc::width);
}
aclError acldvppSetPicDescHeight(acldvppPicDesc* picDesc, uint32_t height) {
  return set("acldvppSetPicDescHeight", pictures, picDesc, &acldvppPicDesc::height, height);
}
uint32_t acldvppGetPicDescHeight(const acldvppPicDesc* picDesc) {
  return get<uint32_t>("acldvppGetPicDescHeight", pictures, picDesc, &acldvppPicDesc::height);
}
aclError acldvppSetPicDescWidthStride(acldvppPicDesc* picDesc, uint32_t widthStride) {
  return set("acldvppSetPicDescWidthStride", pictures, picDesc, &acldvppPicDesc::width_stride, widthStride);
}
uint32_t acldvppGetPicDescWidthStride(const acldvppPicDesc* picDesc) {
  return get<uint32_t>("acldvppGetPicDescWidthStride", pictures, picDesc, &acldvppPicDesc::width_stride);
}
aclError acldvppSetPicDescHeightStride(acldvppPicDesc* picDesc, uint32_t heightStride) {
  return set("acldvppSetPicDescHeightStride", pictures, picDesc, &acldvppPicDesc::height_stride, heightStride);
}
uint32_t acldvppGetPicDescHeightStride(const acldvppPicDesc* picDesc) {
  return get<uint32_t>("acldvppGetPicDescHeightStride", pictures, picDesc, &acldvppPicDesc::height_stride);
}
aclError acldvppSetPicDescRetCode(acldvppPicDesc* picDesc, uint32_t retCode) {
  return set("acldvppSetPicDescRetCode", pictures, picDesc, &acldvppPicDesc::ret_code, retCode);
}
uint32_t acldvppGetPicDescRetCode(const acldvppPicDesc* picDesc) {
  return get<uint32_t>("acldvppGetPicDescRetCode", pictures, picDesc, &acldvppPicDesc::ret_code);
}
aclError acldvppSetStreamDescData(acldvppStreamDesc* streamDesc, void* dataDev) {
  return set("acldvppSetStreamDescData", stream_pieces, streamDesc, &acldvppStreamDesc::data, dataDev);
}
void* acldvppGetStreamDescData(const acldvppStreamDesc* streamDesc) {
  return get<void*>("acldvppGetStreamDescData", stream_pieces, streamDesc, &acldvppStreamDesc::data);
}
aclError acldvppSetStreamDescSize(acldvppStreamDesc* streamDesc, uint32_t size) {
  return set("acldvppSetStreamDescSize", stream_pieces, streamDesc, &acldvppStreamDesc::size, size);
}
uint32_t acldvppGetStreamDescSize(const acldvppStreamDesc* streamDesc) {
  return get<uint32_t>("acldvppGetStreamDescSize", stream_pieces, streamDesc, &acldvppStreamDesc::size);
}
aclError acldvppSetStreamDescFormat(acldvppStreamDesc* streamDesc, acldvppStreamFormat format) {
  return set("acldvppSetStreamDescFormat", stream_pieces, streamDesc, &acldvppStreamDesc::format, format);
}
acldvppStreamFormat acldvppGetStreamDescFormat(const acldvppStreamDesc* streamDesc) {
  return get<acldvppStreamFormat>("acldvppGetStreamDescFormat", stream_pieces, streamDesc, &acldvppStreamDesc::format);
}
aclError acldvppSetStreamDescTimestamp(acldvppStreamDesc* streamDesc, uint64_t timestamp) {
  return set("acldvppSetStreamDescTimestamp", stream_pieces, streamDesc, &acldvppStreamDesc::timestamp, timestamp);
}
uint64_t acldvppGetStreamDescTimestamp(const acldvppStreamDesc* streamDesc) {
  return get<uint64_t>("acldvppGetStreamDescTimestamp", stream_pieces, streamDesc, &acldvppStreamDesc::timestamp);
}
aclError acldvppSetStreamDescRetCode(acldvppStreamDesc* streamDesc, uint32_t retCode) {
  return set("acldvppSetStreamDescRetCode", stream_pieces, streamDesc, &acldvppStreamDesc::ret_code, retCode);
}
uint32_t acldvppGetStreamDescRetCode(const acldvppStreamDesc* streamDesc) {
  return get<uint32_t>("acldvppGetStreamDescRetCode", stream_pieces, streamDesc, &acldvppStreamDesc::ret_code);
}
aclError acldvppSetStreamDescEos(acldvppStreamDesc* streamDesc, uint8_t eos) {
  return set("acldvppSetStreamDescEos", stream_pieces, streamDesc, &acldvppStreamDesc::eos, eos);
}
uint8_t acldvppGetStreamDescEos(const acldvppStreamDesc* streamDesc) {
  return get<uint8_t>("acldvppGetStreamDescEos", stream_pieces, streamDesc, &acldvppStreamDesc::eos);
}
