// Data buffers: an address and a size, for operators invoked through aclopCompileAndExecute.

#include "ascendcl/data_buffer.h"

#include <limits>
#include <memory>

#include "ascendcl/api.h"
#include "base/no_destroy.h"
#include "base/text.h"

using softnpu::api;
using softnpu::data_buffers;
using softnpu::Handles;
using softnpu::Status;

Handles<aclDataBuffer>& softnpu::data_buffers() {
  static NoDestroy<Handles<aclDataBuffer>> buffers("data buffer");
  return buffers.get();
}

namespace {

// A copy of the buffer's fields; null and 0 if the handle names no buffer.
aclDataBuffer read(const char* function, const aclDataBuffer* handle) {
  aclDataBuffer value;
  (void)api(function, [&] {
    std::shared_ptr<aclDataBuffer> buffer;
    SOFTNPU_RETURN_IF_ERROR(data_buffers().find(handle, &buffer));
    value = *buffer;
    return Status::ok();
  });
  return value;
}

}  // namespace

aclDataBuffer* aclCreateDataBuffer(void* data, size_t size) {
  aclDataBuffer* result = nullptr;
  (void)api("aclCreateDataBuffer", [&] {
    result = data_buffers().add(std::make_shared<aclDataBuffer>(aclDataBuffer{data, size}));
    return Status::ok();
  });
  return result;
}

aclError aclDestroyDataBuffer(const aclDataBuffer* dataBuffer) {
  return api("aclDestroyDataBuffer", [&] { return data_buffers().remove(dataBuffer); });
}

aclError aclUpdateDataBuffer(aclDataBuffer* dataBuffer, void* data, size_t size) {
  return api("aclUpdateDataBuffer", [&] {
    std::shared_ptr<aclDataBuffer> buffer;
    SOFTNPU_RETURN_IF_ERROR(data_buffers().find(dataBuffer, &buffer));
    *buffer = {data, size};
    return Status::ok();
  });
}

void* aclGetDataBufferAddr(const aclDataBuffer* dataBuffer) { return read("aclGetDataBufferAddr", dataBuffer).data; }

// A size that does not fit into 32 bits is an error and is not truncated.
uint32_t aclGetDataBufferSize(const aclDataBuffer* dataBuffer) {
  size_t size = read("aclGetDataBufferSize", dataBuffer).size;
  aclError code = api("aclGetDataBufferSize", [&]() -> Status {
    if (size <= std::numeric_limits<uint32_t>::max()) return Status::ok();
    return {ACL_ERROR_INVALID_PARAM,
            softnpu::text(size, " bytes are more than 32 bits hold: use aclGetDataBufferSizeV2")};
  });
  return code == ACL_SUCCESS ? static_cast<uint32_t>(size) : 0;
}

size_t aclGetDataBufferSizeV2(const aclDataBuffer* dataBuffer) {
  return read("aclGetDataBufferSizeV2", dataBuffer).size;
}
