#include <cstdint>

#include "acl/rt/memory.h"
#include "ascendcl/api.h"
#include "base/text.h"
#include "runtime/memory/address.h"
#include "runtime/memory/copy.h"
#include "runtime/stream/trace.h"

using softnpu::api;
using softnpu::Process;
using softnpu::require;
using softnpu::Status;
using softnpu::Stream;
using softnpu::text;

namespace {

// `count` copies, with the caller's attributes of their sides.
struct Batch {
  void** dsts;
  size_t* dest_max;
  void** srcs;
  size_t* sizes;
  size_t count;
  aclrtMemcpyBatchAttr* attrs;
  size_t* attrs_indexes;
  size_t attrs_count;
};

Status check(const Batch& batch, const size_t* fail_index) {
  SOFTNPU_RETURN_IF_ERROR(require(fail_index, "failIdx"));
  if (batch.count == 0) return {ACL_ERROR_INVALID_PARAM, "a batch of 0 copies"};
  SOFTNPU_RETURN_IF_ERROR(require(batch.dsts, "dsts"));
  SOFTNPU_RETURN_IF_ERROR(require(batch.dest_max, "destMax"));
  SOFTNPU_RETURN_IF_ERROR(require(batch.srcs, "srcs"));
  SOFTNPU_RETURN_IF_ERROR(require(batch.sizes, "sizes"));
  SOFTNPU_RETURN_IF_ERROR(require(batch.attrs, "attrs"));
  SOFTNPU_RETURN_IF_ERROR(require(batch.attrs_indexes, "attrsIndexes"));
  if (batch.attrs_count == 0 || batch.attrs_count > batch.count || batch.attrs_indexes[0] != 0) {
    return {ACL_ERROR_INVALID_PARAM, text(batch.attrs_count, " attributes for ", batch.count,
                                          " copies: there is one at least, and the first is for copy 0")};
  }
  for (size_t i = 1; i < batch.attrs_count; ++i) {
    if (batch.attrs_indexes[i] <= batch.attrs_indexes[i - 1] || batch.attrs_indexes[i] >= batch.count) {
      return {ACL_ERROR_INVALID_PARAM, text("attrsIndexes[", i, "] is ", batch.attrs_indexes[i],
                                            ": they rise, below the number of copies, ", batch.count)};
    }
  }
  return Status::ok();
}

Status check_side(const char* role, const void* address, const aclrtMemLocation& stated) {
  const bool on_device = Process::get().device_of(address) != nullptr;
  if (stated.type == ACL_MEM_LOCATION_TYPE_DEVICE ? on_device : !on_device) return Status::ok();
  return {ACL_ERROR_RT_PARAM_INVALID, text(role, " ", address, " lies on the ", on_device ? "device" : "host",
                                           ", which its attribute does not say")};
}

// Calls `copy` for each copy of the batch, in order. Stops at the first failure and reports its index.
template <typename Copy>
Status run(const Batch& batch, size_t* fail_index, Copy copy) {
  SOFTNPU_RETURN_IF_ERROR(check(batch, fail_index));
  *fail_index = SIZE_MAX;
  size_t attr = 0;
  for (size_t i = 0; i < batch.count; ++i) {
    if (attr + 1 < batch.attrs_count && batch.attrs_indexes[attr + 1] == i) ++attr;
    Status status = check_side("the destination", batch.dsts[i], batch.attrs[attr].dstLoc);
    if (status.is_ok()) status = check_side("the source", batch.srcs[i], batch.attrs[attr].srcLoc);
    if (status.is_ok())
      status = copy({batch.dsts[i], batch.dest_max[i], batch.srcs[i], batch.sizes[i], ACL_MEMCPY_DEFAULT});
    if (!status.is_ok()) {
      *fail_index = i;
      return {status.code(), text("copy ", i, " of the batch: ", status.message())};
    }
  }
  return Status::ok();
}

Status copy_async(void* dst, size_t dst_max, const void* src, size_t count, aclrtMemcpyKind kind, aclrtStream stream) {
  std::shared_ptr<Stream> target;
  SOFTNPU_RETURN_IF_ERROR(Process::get().stream(stream, &target));
  return softnpu::copy_async(Process::get(), {dst, dst_max, src, count, kind}, *target);
}

// Checks a range of device memory for operations that have nothing to do.
Status check_range(void* address, size_t size) {
  SOFTNPU_RETURN_IF_ERROR(Process::get().check_usable());
  softnpu::Location location;
  SOFTNPU_RETURN_IF_ERROR(softnpu::resolve(Process::get(), "the range", address, size, &location));
  if (location.on_device) return Status::ok();
  return {ACL_ERROR_RT_PARAM_INVALID, text(address, " is not a device address")};
}

}  // namespace

aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind) {
  return api("aclrtMemcpy", [&] {
    const softnpu::trace::Call call("aclrtMemcpy");
    return softnpu::copy(Process::get(), {dst, destMax, src, count, kind});
  });
}

aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind,
                          aclrtStream stream) {
  return api("aclrtMemcpyAsync", [&] {
    const softnpu::trace::Call call("aclrtMemcpyAsync");
    return copy_async(dst, destMax, src, count, kind, stream);
  });
}

aclError aclrtMemcpyAsyncWithCondition(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind,
                                       aclrtStream stream) {
  return api("aclrtMemcpyAsyncWithCondition", [&] { return copy_async(dst, destMax, src, count, kind, stream); });
}

aclError aclrtMemcpy2d(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                       aclrtMemcpyKind kind) {
  return api("aclrtMemcpy2d", [&] {
    return softnpu::copy_pitched(Process::get(), {dst, dpitch, src, spitch, width, height, kind});
  });
}

aclError aclrtMemcpy2dAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                            aclrtMemcpyKind kind, aclrtStream stream) {
  return api("aclrtMemcpy2dAsync", [&] {
    std::shared_ptr<Stream> target;
    SOFTNPU_RETURN_IF_ERROR(Process::get().stream(stream, &target));
    return softnpu::copy_pitched_async(Process::get(), {dst, dpitch, src, spitch, width, height, kind}, *target);
  });
}

aclError aclrtMemcpyBatch(void** dsts, size_t* destMax, void** srcs, size_t* sizes, size_t numBatches,
                          aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes, size_t numAttrs, size_t* failIdx) {
  return api("aclrtMemcpyBatch", [&] {
    return run({dsts, destMax, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs}, failIdx,
               [](const softnpu::CopyRequest& request) { return softnpu::copy(Process::get(), request); });
  });
}

aclError aclrtMemcpyBatchAsync(void** dsts, size_t* destMax, void** srcs, size_t* sizes, size_t numBatches,
                               aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes, size_t numAttrs, size_t* failIndex,
                               aclrtStream stream) {
  return api("aclrtMemcpyBatchAsync", [&] {
    std::shared_ptr<Stream> target;
    SOFTNPU_RETURN_IF_ERROR(Process::get().stream(stream, &target));
    return run(
        {dsts, destMax, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs}, failIndex,
        [&](const softnpu::CopyRequest& request) { return softnpu::copy_async(Process::get(), request, *target); });
  });
}

aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count) {
  return api("aclrtMemset", [&] { return softnpu::fill(Process::get(), devPtr, maxCount, value, count); });
}

aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count, aclrtStream stream) {
  return api("aclrtMemsetAsync", [&] {
    std::shared_ptr<Stream> target;
    SOFTNPU_RETURN_IF_ERROR(Process::get().stream(stream, &target));
    return softnpu::fill_async(Process::get(), devPtr, maxCount, value, count, *target);
  });
}

aclError aclrtMemFlush(void* devPtr, size_t size) {
  return api("aclrtMemFlush", [&] { return check_range(devPtr, size); });
}

aclError aclrtMemInvalidate(void* devPtr, size_t size) {
  return api("aclrtMemInvalidate", [&] { return check_range(devPtr, size); });
}
