#include "runtime/memory/copy.h"

#include <cstring>

#include "base/copy_bytes.h"
#include "base/text.h"
#include "runtime/memory/address.h"
#include "runtime/memory/address_lock.h"
#include "runtime/memory/memory_blocks.h"
#include "runtime/stream/trace.h"

namespace softnpu {
namespace {

// A copy of this size takes a few microseconds: less than waking the executor.
constexpr size_t kSmallBytes = size_t{32} << 10;

bool is_from_device(aclrtMemcpyKind kind) {
  return kind != ACL_MEMCPY_HOST_TO_HOST && kind != ACL_MEMCPY_HOST_TO_DEVICE &&
         kind != ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE;
}

bool is_to_device(aclrtMemcpyKind kind) { return kind != ACL_MEMCPY_HOST_TO_HOST && kind != ACL_MEMCPY_DEVICE_TO_HOST; }

Status check_kind(aclrtMemcpyKind kind, bool from_device, bool to_device) {
  bool fits = true;
  switch (kind) {
    case ACL_MEMCPY_HOST_TO_HOST: fits = !from_device && !to_device; break;
    case ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE:
    case ACL_MEMCPY_HOST_TO_DEVICE: fits = !from_device && to_device; break;
    case ACL_MEMCPY_DEVICE_TO_HOST: fits = from_device && !to_device; break;
    case ACL_MEMCPY_INNER_DEVICE_TO_DEVICE:
    case ACL_MEMCPY_INTER_DEVICE_TO_DEVICE:
    case ACL_MEMCPY_DEVICE_TO_DEVICE: fits = from_device && to_device; break;
    case ACL_MEMCPY_DEFAULT: break;
    default: return {ACL_ERROR_RT_PARAM_INVALID, text("aclrtMemcpyKind ", static_cast<int>(kind), " does not exist")};
  }
  if (fits) return Status::ok();
  return {ACL_ERROR_RT_PARAM_INVALID,
          text("the copy's kind ", static_cast<int>(kind), " does not fit its addresses: source on the ",
               from_device ? "device" : "host", ", destination on the ", to_device ? "device" : "host")};
}

Status check(const Process& process, const CopyRequest& request, Location* dst, Location* src) {
  SOFTNPU_RETURN_IF_ERROR(process.check_usable());
  if (request.count > request.dst_max) {
    return {ACL_ERROR_INVALID_PARAM,
            text("a copy of ", request.count, " bytes into a destination of ", request.dst_max, " bytes")};
  }
  if (request.count > 0 && (request.dst == nullptr || request.src == nullptr)) {
    return {ACL_ERROR_INVALID_PARAM, text("a copy of ", request.count, " bytes with a null address")};
  }
  SOFTNPU_RETURN_IF_ERROR(resolve(process, "the destination", request.dst, request.count, dst));
  SOFTNPU_RETURN_IF_ERROR(resolve(process, "the source", request.src, request.count, src));
  // Tensors without elements have null addresses, which are on either side.
  return check_kind(request.kind, request.src == nullptr ? is_from_device(request.kind) : src->on_device,
                    request.dst == nullptr ? is_to_device(request.kind) : dst->on_device);
}

// Source and destination may overlap.
void move(char* dst, const char* src, size_t count) {
  if (count > 0) copy_bytes(dst, src, count);
}

// Raises the write epochs of `bytes` bytes at `dst`, if it is device memory, before they are written.
void mark(const Process& process, const void* dst, size_t bytes) {
  if (Device* device = process.device_of(dst); device != nullptr) device->write_epochs().bump(dst, bytes);
  MemoryBlocks::get().written(dst, bytes);
}

// Checks addresses when the copy runs: the memory may have been freed since it was queued.
Status copy_now(const Process& process, const CopyRequest& request) {
  const AddressHold hold;
  Location dst;
  Location src;
  SOFTNPU_RETURN_IF_ERROR(check(process, request, &dst, &src));
  mark(process, request.dst, request.count);
  move(dst.kernel, src.kernel, request.count);
  return Status::ok();
}

// Whether the memory of this side may be accessed after the call returns: it is on a device, or pinned.
bool queueable(Process& process, const Location& side, size_t count) {
  return side.on_device || process.host_memory().contains(side.kernel, count);
}

Status freed_too_early() { return {ACL_ERROR_RT_PARAM_INVALID, "pinned host memory was freed before its turn came"}; }

Status copy_in_turn(Process& process, const CopyRequest& request) {
  const AddressHold hold;
  Location dst;
  Location src;
  SOFTNPU_RETURN_IF_ERROR(check(process, request, &dst, &src));
  if (!queueable(process, dst, request.count) || !queueable(process, src, request.count)) {
    return freed_too_early();
  }
  move(dst.kernel, src.kernel, request.count);
  return Status::ok();
}

// The bytes from the first to the last one that a pitched copy accesses; fails if rows overlap or sizes overflow.
Status extent(const char* role, size_t pitch, size_t width, size_t height, size_t* out) {
  if (pitch < width) {
    return {ACL_ERROR_INVALID_PARAM, text(role, "'s rows of ", width, " bytes begin ", pitch, " bytes apart")};
  }
  size_t bytes = 0;
  if (__builtin_mul_overflow(pitch, height - 1, &bytes) || __builtin_add_overflow(bytes, width, &bytes)) {
    return {ACL_ERROR_INVALID_PARAM, text(height, " rows of ", pitch, " bytes are more than an address space holds")};
  }
  *out = bytes;
  return Status::ok();
}

struct Side {
  Location location;
  size_t bytes = 0;
};

Status check_pitched(const Process& process, const PitchedCopyRequest& request, Side* dst, Side* src) {
  SOFTNPU_RETURN_IF_ERROR(process.check_usable());
  if (request.width == 0 || request.height == 0) return Status::ok();
  if (request.dst == nullptr || request.src == nullptr) {
    return {ACL_ERROR_INVALID_PARAM, text("a copy of ", request.height, " rows with a null address")};
  }
  SOFTNPU_RETURN_IF_ERROR(extent("the destination", request.dst_pitch, request.width, request.height, &dst->bytes));
  SOFTNPU_RETURN_IF_ERROR(extent("the source", request.src_pitch, request.width, request.height, &src->bytes));
  SOFTNPU_RETURN_IF_ERROR(resolve(process, "the destination", request.dst, dst->bytes, &dst->location));
  SOFTNPU_RETURN_IF_ERROR(resolve(process, "the source", request.src, src->bytes, &src->location));
  return check_kind(request.kind, src->location.on_device, dst->location.on_device);
}

void move_rows(char* dst, const char* src, const PitchedCopyRequest& request) {
  if (request.width == 0) return;
  for (size_t row = 0; row < request.height; ++row) {
    copy_bytes(dst + row * request.dst_pitch, src + row * request.src_pitch, request.width);
  }
}

Status copy_rows_now(const Process& process, const PitchedCopyRequest& request) {
  const AddressHold hold;
  Side dst;
  Side src;
  SOFTNPU_RETURN_IF_ERROR(check_pitched(process, request, &dst, &src));
  mark(process, request.dst, dst.bytes);
  move_rows(dst.location.kernel, src.location.kernel, request);
  return Status::ok();
}

Status copy_rows_in_turn(Process& process, const PitchedCopyRequest& request) {
  const AddressHold hold;
  Side dst;
  Side src;
  SOFTNPU_RETURN_IF_ERROR(check_pitched(process, request, &dst, &src));
  if (!queueable(process, dst.location, dst.bytes) || !queueable(process, src.location, src.bytes)) {
    return freed_too_early();
  }
  move_rows(dst.location.kernel, src.location.kernel, request);
  return Status::ok();
}

Status check_fill(const Process& process, void* dst, size_t dst_max, size_t count, Location* side) {
  SOFTNPU_RETURN_IF_ERROR(process.check_usable());
  if (count > dst_max || (count > 0 && dst == nullptr)) {
    return {ACL_ERROR_INVALID_PARAM, text("a fill of ", count, " bytes at ", dst, " with room for ", dst_max)};
  }
  return resolve(process, "the destination", dst, count, side);
}

Status fill_now(const Process& process, void* dst, size_t dst_max, int32_t value, size_t count) {
  const AddressHold hold;
  Location side;
  SOFTNPU_RETURN_IF_ERROR(check_fill(process, dst, dst_max, count, &side));
  mark(process, dst, count);
  if (count > 0) std::memset(side.kernel, value, count);
  return Status::ok();
}

Status fill_in_turn(Process& process, void* dst, int32_t value, size_t count) {
  const AddressHold hold;
  Location side;
  SOFTNPU_RETURN_IF_ERROR(check_fill(process, dst, count, count, &side));
  if (!queueable(process, side, count)) return freed_too_early();
  if (count > 0) std::memset(side.kernel, value, count);
  return Status::ok();
}

constexpr const char* kPinIt = "use pinned memory (aclrtMallocHost), or copy before the capture";

TaskTraits writes(const softnpuRange& range) {
  TaskTraits traits;
  traits.written = {&range, 1};
  return traits;
}

// A copy that the host does in the place of `stream`, which is idle.
template <typename Copy>
Status copy_for(const Stream& stream, const char* name, size_t bytes, const Copy& copy) {
  const trace::Tag tag = trace::tag();
  if (!tag) [[likely]]
    return copy();
  const trace::Location position{stream.device(), stream.id()};
  trace::launched(tag, SOFTNPU_TRACE_WORK, name, position, 0, bytes);
  const int64_t begin = trace::now();
  Status status = copy();
  trace::ran(tag, position, begin, !status.is_ok());
  return status;
}

Cost cost_of(size_t count) { return count <= kSmallBytes ? Cost::kSmall : Cost::kLarge; }

}  // namespace

Status copy(Process& process, const CopyRequest& request) {
  SOFTNPU_RETURN_IF_ERROR(check_capture_allows("aclrtMemcpy"));
  return copy_now(process, request);
}

Status copy_async(Process& process, const CopyRequest& request, Stream& stream) {
  Location dst;
  Location src;
  SOFTNPU_RETURN_IF_ERROR(check(process, request, &dst, &src));
  if (queueable(process, dst, request.count) && queueable(process, src, request.count)) {
    mark(process, request.dst, request.count);
    const softnpuRange written{request.dst, request.count};
    return stream.submit(
        "aclrtMemcpyAsync", cost_of(request.count), [&process, request] { return copy_in_turn(process, request); },
        writes(written));
  }
  SOFTNPU_RETURN_IF_ERROR(stream.refuse_in_capture("a copy to or from pageable memory", kPinIt));
  SOFTNPU_RETURN_IF_ERROR(stream.synchronize(std::chrono::milliseconds(-1)));
  return copy_for(stream, "aclrtMemcpyAsync", request.count, [&] { return copy_now(process, request); });
}

Status copy_pitched(Process& process, const PitchedCopyRequest& request) {
  SOFTNPU_RETURN_IF_ERROR(check_capture_allows("aclrtMemcpy2d"));
  return copy_rows_now(process, request);
}

Status copy_pitched_async(Process& process, const PitchedCopyRequest& request, Stream& stream) {
  Side dst;
  Side src;
  SOFTNPU_RETURN_IF_ERROR(check_pitched(process, request, &dst, &src));
  if (queueable(process, dst.location, dst.bytes) && queueable(process, src.location, src.bytes)) {
    mark(process, request.dst, dst.bytes);
    const softnpuRange written{request.dst, dst.bytes};
    return stream.submit(
        "aclrtMemcpy2dAsync", cost_of(request.width * request.height),
        [&process, request] { return copy_rows_in_turn(process, request); }, writes(written));
  }
  SOFTNPU_RETURN_IF_ERROR(stream.refuse_in_capture("a copy to or from pageable memory", kPinIt));
  SOFTNPU_RETURN_IF_ERROR(stream.synchronize(std::chrono::milliseconds(-1)));
  return copy_for(stream, "aclrtMemcpy2dAsync", request.width * request.height,
                  [&] { return copy_rows_now(process, request); });
}

Status fill(Process& process, void* dst, size_t dst_max, int32_t value, size_t count) {
  SOFTNPU_RETURN_IF_ERROR(check_capture_allows("aclrtMemset"));
  return fill_now(process, dst, dst_max, value, count);
}

Status fill_async(Process& process, void* dst, size_t dst_max, int32_t value, size_t count, Stream& stream) {
  Location side;
  SOFTNPU_RETURN_IF_ERROR(check_fill(process, dst, dst_max, count, &side));
  if (queueable(process, side, count)) {
    mark(process, dst, count);
    const softnpuRange written{dst, count};
    return stream.submit(
        "aclrtMemsetAsync", cost_of(count),
        [&process, dst, value, count] { return fill_in_turn(process, dst, value, count); }, writes(written));
  }
  SOFTNPU_RETURN_IF_ERROR(stream.refuse_in_capture("a fill of pageable memory", kPinIt));
  SOFTNPU_RETURN_IF_ERROR(stream.synchronize(std::chrono::milliseconds(-1)));
  return fill_now(process, dst, dst_max, value, count);
}

}  // namespace softnpu
