#include "ccl/launch.h"

#include <algorithm>

namespace softnpu::ccl {
namespace {

Status too_many(uint64_t count) {
  return {ACL_ERROR_INVALID_PARAM, text(count, " elements are more than there are addresses")};
}

// Offsets in device memory are below this, so that sums of two do not wrap.
constexpr uint64_t kMaxBytes = uint64_t{1} << 62;

}  // namespace

Status check_type(HcclDataType type) {
  if (size_of(type) > 0) return Status::ok();
  return {ACL_ERROR_INVALID_PARAM, text("data type ", static_cast<int>(type), ": there are 0 (INT8) to 11 (BFP16)")};
}

Status check_reduction(HcclReduceOp op) {
  if (is_reduction(op)) return Status::ok();
  return {ACL_ERROR_INVALID_PARAM, text("reduction ", static_cast<int>(op), ": there are sum, prod, max and min")};
}

Status check_root(const Communicator& comm, const char* role, uint32_t root) {
  if (root < comm.size()) return Status::ok();
  return {ACL_ERROR_INVALID_PARAM, text(role, " is ", root, ": the communicator has ranks 0 to ", comm.size() - 1)};
}

Status bytes_for(HcclDataType type, uint64_t count, uint64_t parts, uint64_t* out) {
  SOFTNPU_RETURN_IF_ERROR(check_type(type));
  if (count > kMaxBytes / size_of(type) / parts) return too_many(count);
  *out = count * size_of(type) * parts;
  return Status::ok();
}

Status read_parts(const Communicator& comm, const char* role, const void* counts, const void* displacements,
                  HcclDataType type, Parts* out, uint64_t* bytes) {
  SOFTNPU_RETURN_IF_ERROR(check_type(type));
  if (counts == nullptr || displacements == nullptr) {
    return {ACL_ERROR_INVALID_PARAM, text("the counts or the displacements of ", role, " are null")};
  }
  const auto* first_count = static_cast<const uint64_t*>(counts);
  const auto* first_displacement = static_cast<const uint64_t*>(displacements);
  out->counts.assign(first_count, first_count + comm.size());
  out->displacements.assign(first_displacement, first_displacement + comm.size());
  *bytes = 0;
  for (uint32_t rank = 0; rank < comm.size(); ++rank) {
    const uint64_t most = kMaxBytes / size_of(type);
    const uint64_t count = out->counts[rank];
    if (count == 0) continue;
    if (count > most || out->displacements[rank] > most - count) return too_many(count);
    *bytes = std::max(*bytes, (out->displacements[rank] + count) * size_of(type));
  }
  return Status::ok();
}

Status check_overlap(const Buffer& send, const Buffer& recv, int64_t offset) {
  if (!send.overlaps(recv) || recv.data() == send.data() + offset) return Status::ok();
  return {ACL_ERROR_INVALID_PARAM, text("sendBuf and recvBuf overlap: in place recvBuf begins at byte ", offset,
                                        " of sendBuf, not at ", recv.data() - send.data())};
}

Status check_no_overlap(const Buffer& send, const Buffer& recv) {
  if (!send.overlaps(recv)) return Status::ok();
  return {ACL_ERROR_INVALID_PARAM, "sendBuf and recvBuf overlap: this call has no form in place"};
}

}  // namespace softnpu::ccl
