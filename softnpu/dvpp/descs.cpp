// Memory of pictures, and the descriptions of pictures and pieces of streams.

#include <memory>

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

// Calls `use` with the live object of `handle`.
template <typename T, typename Use>
aclError with(const char* function, const Handles<T>& handles, const void* handle, const Use& use) {
  return api(function, [&] {
    std::shared_ptr<T> object;
    SOFTNPU_RETURN_IF_ERROR(handles.find(handle, &object));
    use(*object);
    return Status::ok();
  });
}

template <typename T>
T* make(const char* function, Handles<T>& handles) {
  T* created = nullptr;
  (void)api(function, [&] {
    created = handles.add(std::make_shared<T>());
    return Status::ok();
  });
  return created;
}

}  // namespace

aclError acldvppMalloc(void** devPtr, size_t size) { return aclrtMalloc(devPtr, size, ACL_MEM_MALLOC_HUGE_FIRST); }
aclError acldvppFree(void* devPtr) { return aclrtFree(devPtr); }

acldvppPicDesc* acldvppCreatePicDesc() { return make("acldvppCreatePicDesc", pictures()); }
aclError acldvppDestroyPicDesc(acldvppPicDesc* picDesc) {
  return api("acldvppDestroyPicDesc", [&] { return pictures().remove(picDesc); });
}
acldvppStreamDesc* acldvppCreateStreamDesc() { return make("acldvppCreateStreamDesc", stream_pieces()); }
aclError acldvppDestroyStreamDesc(acldvppStreamDesc* streamDesc) {
  return api("acldvppDestroyStreamDesc", [&] { return stream_pieces().remove(streamDesc); });
}

// A setter and a getter of one field each.
#define SOFTNPU_FIELD(name, handles, Object, object, Type, argument, field)                             \
  aclError acldvppSet##name(Object* object, Type argument) {                                            \
    return with("acldvppSet" #name, handles, object, [&](Object& found) { found.field = argument; });   \
  }                                                                                                     \
  Type acldvppGet##name(const Object* object) {                                                         \
    Type value{};                                                                                       \
    (void)with("acldvppGet" #name, handles, object, [&](const Object& found) { value = found.field; }); \
    return value;                                                                                       \
  }

SOFTNPU_FIELD(PicDescData, pictures(), acldvppPicDesc, picDesc, void*, dataDev, data)
SOFTNPU_FIELD(PicDescSize, pictures(), acldvppPicDesc, picDesc, uint32_t, size, size)
SOFTNPU_FIELD(PicDescFormat, pictures(), acldvppPicDesc, picDesc, acldvppPixelFormat, format, format)
SOFTNPU_FIELD(PicDescWidth, pictures(), acldvppPicDesc, picDesc, uint32_t, width, width)
SOFTNPU_FIELD(PicDescHeight, pictures(), acldvppPicDesc, picDesc, uint32_t, height, height)
SOFTNPU_FIELD(PicDescWidthStride, pictures(), acldvppPicDesc, picDesc, uint32_t, widthStride, width_stride)
SOFTNPU_FIELD(PicDescHeightStride, pictures(), acldvppPicDesc, picDesc, uint32_t, heightStride, height_stride)
SOFTNPU_FIELD(PicDescRetCode, pictures(), acldvppPicDesc, picDesc, uint32_t, retCode, ret_code)
SOFTNPU_FIELD(StreamDescData, stream_pieces(), acldvppStreamDesc, streamDesc, void*, dataDev, data)
SOFTNPU_FIELD(StreamDescSize, stream_pieces(), acldvppStreamDesc, streamDesc, uint32_t, size, size)
SOFTNPU_FIELD(StreamDescFormat, stream_pieces(), acldvppStreamDesc, streamDesc, acldvppStreamFormat, format, format)
SOFTNPU_FIELD(StreamDescTimestamp, stream_pieces(), acldvppStreamDesc, streamDesc, uint64_t, timestamp, timestamp)
SOFTNPU_FIELD(StreamDescRetCode, stream_pieces(), acldvppStreamDesc, streamDesc, uint32_t, retCode, ret_code)
SOFTNPU_FIELD(StreamDescEos, stream_pieces(), acldvppStreamDesc, streamDesc, uint8_t, eos, eos)
#undef SOFTNPU_FIELD
