// The C functions of collectives with a count for each rank.

#include "ccl/launch.h"

namespace softnpu::ccl {
namespace {

Status find_buffers(const Communicator& comm, const void* send, uint64_t sent, const void* recv, uint64_t received,
                    Buffer* send_buffer, Buffer* recv_buffer) {
  SOFTNPU_RETURN_IF_ERROR(Buffer::find(comm, "sendBuf", send, sent, send_buffer));
  return Buffer::find(comm, "recvBuf", recv, received, recv_buffer);
}

}  // namespace
}  // namespace softnpu::ccl

using softnpu::Status;
using namespace softnpu::ccl;  // NOLINT(google-build-using-namespace): this file is the namespace's C border

HcclResult HcclAlltoAllV(const void* sendBuf, const void* sendCounts, const void* sdispls, HcclDataType sendType,
                         const void* recvBuf, const void* recvCounts, const void* rdispls, HcclDataType recvType,
                         HcclComm comm, aclrtStream stream) {
  return hccl_api("HcclAlltoAllV", [&]() -> Status {
    std::shared_ptr<Communicator> found;
    SOFTNPU_RETURN_IF_ERROR(find_for(comm, stream, &found));
    if (sendType != recvType) return {ACL_ERROR_INVALID_PARAM, "sendType and recvType differ"};
    Parts sent;
    Parts received;
    uint64_t send_bytes = 0;
    uint64_t recv_bytes = 0;
    SOFTNPU_RETURN_IF_ERROR(read_parts(*found, "sendBuf", sendCounts, sdispls, sendType, &sent, &send_bytes));
    SOFTNPU_RETURN_IF_ERROR(read_parts(*found, "recvBuf", recvCounts, rdispls, recvType, &received, &recv_bytes));
    Buffer send;
    Buffer recv;
    SOFTNPU_RETURN_IF_ERROR(find_buffers(*found, sendBuf, send_bytes, recvBuf, recv_bytes, &send, &recv));
    SOFTNPU_RETURN_IF_ERROR(check_no_overlap(send, recv));
    const Call call{.op = Operator::kAllToAllV, .dtype = static_cast<uint32_t>(sendType)};
    return launch_collective(found, call.op, stream, recv, const_cast<void*>(recvBuf),
                             [=](const auto& on) { return make_uneven(on, call, send, recv, sent, received); });
  });
}

HcclResult HcclAllGatherV(const void* sendBuf, uint64_t sendCount, const void* recvBuf, const void* recvCounts,
                          const void* rdispls, HcclDataType dataType, HcclComm comm, aclrtStream stream) {
  return hccl_api("HcclAllGatherV", [&]() -> Status {
    std::shared_ptr<Communicator> found;
    SOFTNPU_RETURN_IF_ERROR(find_for(comm, stream, &found));
    Parts received;
    uint64_t send_bytes = 0;
    uint64_t recv_bytes = 0;
    SOFTNPU_RETURN_IF_ERROR(bytes_for(dataType, sendCount, 1, &send_bytes));
    SOFTNPU_RETURN_IF_ERROR(read_parts(*found, "recvBuf", recvCounts, rdispls, dataType, &received, &recv_bytes));
    Buffer send;
    Buffer recv;
    SOFTNPU_RETURN_IF_ERROR(find_buffers(*found, sendBuf, send_bytes, recvBuf, recv_bytes, &send, &recv));
    const auto own = static_cast<int64_t>(received.displacements[found->rank()] * size_of(dataType));
    SOFTNPU_RETURN_IF_ERROR(check_overlap(send, recv, -own));
    const Parts sent{std::vector<uint64_t>(found->size(), sendCount), std::vector<uint64_t>(found->size(), 0)};
    const Call call{.op = Operator::kAllGatherV, .dtype = static_cast<uint32_t>(dataType), .count = sendCount};
    return launch_collective(found, call.op, stream, recv, const_cast<void*>(recvBuf),
                             [=](const auto& on) { return make_uneven(on, call, send, recv, sent, received); });
  });
}

HcclResult HcclReduceScatterV(const void* sendBuf, const void* sendCounts, const void* sdispls, const void* recvBuf,
                              uint64_t recvCount, HcclDataType dataType, HcclReduceOp op, HcclComm comm,
                              aclrtStream stream) {
  return hccl_api("HcclReduceScatterV", [&]() -> Status {
    std::shared_ptr<Communicator> found;
    SOFTNPU_RETURN_IF_ERROR(find_for(comm, stream, &found));
    SOFTNPU_RETURN_IF_ERROR(check_reduction(op));
    Parts sent;
    uint64_t send_bytes = 0;
    uint64_t recv_bytes = 0;
    SOFTNPU_RETURN_IF_ERROR(read_parts(*found, "sendBuf", sendCounts, sdispls, dataType, &sent, &send_bytes));
    SOFTNPU_RETURN_IF_ERROR(bytes_for(dataType, recvCount, 1, &recv_bytes));
    Buffer send;
    Buffer recv;
    SOFTNPU_RETURN_IF_ERROR(find_buffers(*found, sendBuf, send_bytes, recvBuf, recv_bytes, &send, &recv));
    const auto own = static_cast<int64_t>(sent.displacements[found->rank()] * size_of(dataType));
    SOFTNPU_RETURN_IF_ERROR(check_overlap(send, recv, own));
    const Call call{.op = Operator::kReduceScatterV,
                    .dtype = static_cast<uint32_t>(dataType),
                    .reduce = static_cast<uint32_t>(op),
                    .count = recvCount};
    return launch_collective(found, call.op, stream, recv, const_cast<void*>(recvBuf),
                             [=](const auto& on) { return make_reduce_scatter_v(on, call, send, recv, sent); });
  });
}
