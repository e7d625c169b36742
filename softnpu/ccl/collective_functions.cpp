// The C functions of collectives.

#include <utility>

#include "ccl/launch.h"

namespace softnpu::ccl {
namespace {

// What the arguments of a collective with one send and one receive buffer come to.
struct Arguments {
  std::shared_ptr<Communicator> comm;
  Buffer send;
  Buffer recv;
};

// Finds communicator and buffers: `sent` and `received` parts of `count` elements.
Status find_arguments(HcclComm comm, aclrtStream stream, const void* send, const void* recv, uint64_t count,
                      HcclDataType type, bool sends_all, bool receives_all, Arguments* out) {
  SOFTNPU_RETURN_IF_ERROR(find_for(comm, stream, &out->comm));
  const uint64_t ranks = out->comm->size();
  uint64_t sent = 0;
  uint64_t received = 0;
  SOFTNPU_RETURN_IF_ERROR(bytes_for(type, count, sends_all ? ranks : 1, &sent));
  SOFTNPU_RETURN_IF_ERROR(bytes_for(type, count, receives_all ? ranks : 1, &received));
  SOFTNPU_RETURN_IF_ERROR(Buffer::find(*out->comm, "sendBuf", send, send == nullptr ? 0 : sent, &out->send));
  SOFTNPU_RETURN_IF_ERROR(Buffer::find(*out->comm, "recvBuf", recv, recv == nullptr ? 0 : received, &out->recv));
  return Status::ok();
}

Status require_buffer(const Buffer& buffer, const char* role, uint64_t count) {
  if (buffer.bytes() > 0 || count == 0) return Status::ok();
  return {ACL_ERROR_INVALID_PARAM, text(role, " is null")};
}

Call call_of(Operator op, HcclDataType type, uint64_t count) {
  return {.op = op, .dtype = static_cast<uint32_t>(type), .count = count};
}

// Of a collective with both buffers.
using Make = std::unique_ptr<Collective> (*)(const std::shared_ptr<Communicator>&, Call, Buffer, Buffer);

Status launch(const Arguments& arguments, aclrtStream stream, void* recv, const Call& call, Make make) {
  return launch_collective(arguments.comm, call.op, stream, arguments.recv, recv,
                           [=, send = arguments.send, recv_buffer = arguments.recv](const auto& comm) {
                             return make(comm, call, send, recv_buffer);
                           });
}

// All-reduce, all-gather, reduce-scatter and all-to-all: each rank has both buffers.
Status launch_both(const Arguments& arguments, aclrtStream stream, void* recv, const Call& call, Make make) {
  SOFTNPU_RETURN_IF_ERROR(require_buffer(arguments.send, "sendBuf", call.count));
  SOFTNPU_RETURN_IF_ERROR(require_buffer(arguments.recv, "recvBuf", call.count));
  return launch(arguments, stream, recv, call, make);
}

int64_t own_part(const Communicator& comm, HcclDataType type, uint64_t count) {
  return static_cast<int64_t>(comm.rank() * count * size_of(type));
}

}  // namespace
}  // namespace softnpu::ccl

using softnpu::Status;
using namespace softnpu::ccl;  // NOLINT(google-build-using-namespace): this file is the namespace's C border

HcclResult HcclAllReduce(void* sendBuf, void* recvBuf, uint64_t count, HcclDataType dataType, HcclReduceOp op,
                         HcclComm comm, aclrtStream stream) {
  return hccl_api("HcclAllReduce", [&]() -> Status {
    Arguments arguments;
    SOFTNPU_RETURN_IF_ERROR(find_arguments(comm, stream, sendBuf, recvBuf, count, dataType, false, false, &arguments));
    SOFTNPU_RETURN_IF_ERROR(check_reduction(op));
    SOFTNPU_RETURN_IF_ERROR(check_overlap(arguments.send, arguments.recv, 0));
    Call call = call_of(Operator::kAllReduce, dataType, count);
    call.reduce = static_cast<uint32_t>(op);
    return launch_both(arguments, stream, recvBuf, call, make_all_reduce);
  });
}

HcclResult HcclReduce(void* sendBuf, void* recvBuf, uint64_t count, HcclDataType dataType, HcclReduceOp op,
                      uint32_t root, HcclComm comm, aclrtStream stream) {
  return hccl_api("HcclReduce", [&]() -> Status {
    Arguments arguments;
    SOFTNPU_RETURN_IF_ERROR(find_arguments(comm, stream, sendBuf, recvBuf, count, dataType, false, false, &arguments));
    SOFTNPU_RETURN_IF_ERROR(check_reduction(op));
    SOFTNPU_RETURN_IF_ERROR(check_root(*arguments.comm, "root", root));
    SOFTNPU_RETURN_IF_ERROR(require_buffer(arguments.send, "sendBuf", count));
    if (arguments.comm->rank() == root) {
      SOFTNPU_RETURN_IF_ERROR(require_buffer(arguments.recv, "recvBuf", count));
      SOFTNPU_RETURN_IF_ERROR(check_overlap(arguments.send, arguments.recv, 0));
    } else {
      arguments.recv = {};  // only the root writes it
    }
    Call call = call_of(Operator::kReduce, dataType, count);
    call.reduce = static_cast<uint32_t>(op);
    call.root = root;
    return launch(arguments, stream, recvBuf, call, make_reduce);
  });
}

HcclResult HcclBroadcast(void* buf, uint64_t count, HcclDataType dataType, uint32_t root, HcclComm comm,
                         aclrtStream stream) {
  return hccl_api("HcclBroadcast", [&]() -> Status {
    Arguments arguments;
    SOFTNPU_RETURN_IF_ERROR(find_arguments(comm, stream, nullptr, buf, count, dataType, false, false, &arguments));
    SOFTNPU_RETURN_IF_ERROR(check_root(*arguments.comm, "root", root));
    SOFTNPU_RETURN_IF_ERROR(require_buffer(arguments.recv, "buf", count));
    Call call = call_of(Operator::kBroadcast, dataType, count);
    call.root = root;
    const bool is_root = arguments.comm->rank() == root;
    return launch_collective(arguments.comm, call.op, stream, is_root ? Buffer() : arguments.recv, buf,
                             [call, recv = arguments.recv](const auto& on) { return make_broadcast(on, call, recv); });
  });
}

HcclResult HcclReduceScatter(void* sendBuf, void* recvBuf, uint64_t recvCount, HcclDataType dataType, HcclReduceOp op,
                             HcclComm comm, aclrtStream stream) {
  return hccl_api("HcclReduceScatter", [&]() -> Status {
    Arguments arguments;
    SOFTNPU_RETURN_IF_ERROR(
        find_arguments(comm, stream, sendBuf, recvBuf, recvCount, dataType, true, false, &arguments));
    SOFTNPU_RETURN_IF_ERROR(check_reduction(op));
    SOFTNPU_RETURN_IF_ERROR(
        check_overlap(arguments.send, arguments.recv, own_part(*arguments.comm, dataType, recvCount)));
    Call call = call_of(Operator::kReduceScatter, dataType, recvCount);
    call.reduce = static_cast<uint32_t>(op);
    return launch_both(arguments, stream, recvBuf, call, make_reduce_scatter);
  });
}

HcclResult HcclAllGather(void* sendBuf, void* recvBuf, uint64_t sendCount, HcclDataType dataType, HcclComm comm,
                         aclrtStream stream) {
  return hccl_api("HcclAllGather", [&]() -> Status {
    Arguments arguments;
    SOFTNPU_RETURN_IF_ERROR(
        find_arguments(comm, stream, sendBuf, recvBuf, sendCount, dataType, false, true, &arguments));
    SOFTNPU_RETURN_IF_ERROR(
        check_overlap(arguments.send, arguments.recv, -own_part(*arguments.comm, dataType, sendCount)));
    return launch_both(arguments, stream, recvBuf, call_of(Operator::kAllGather, dataType, sendCount), make_all_gather);
  });
}

HcclResult HcclScatter(void* sendBuf, void* recvBuf, uint64_t recvCount, HcclDataType dataType, uint32_t root,
                       HcclComm comm, aclrtStream stream) {
  return hccl_api("HcclScatter", [&]() -> Status {
    Arguments arguments;
    std::shared_ptr<Communicator> found;
    SOFTNPU_RETURN_IF_ERROR(find_for(comm, stream, &found));
    SOFTNPU_RETURN_IF_ERROR(check_root(*found, "root", root));
    const bool is_root = found->rank() == root;
    SOFTNPU_RETURN_IF_ERROR(find_arguments(comm, stream, is_root ? sendBuf : nullptr, recvBuf, recvCount, dataType,
                                           true, false, &arguments));
    if (is_root) {
      SOFTNPU_RETURN_IF_ERROR(require_buffer(arguments.send, "sendBuf", recvCount));
      SOFTNPU_RETURN_IF_ERROR(check_overlap(arguments.send, arguments.recv, own_part(*found, dataType, recvCount)));
    }
    SOFTNPU_RETURN_IF_ERROR(require_buffer(arguments.recv, "recvBuf", recvCount));
    Call call = call_of(Operator::kScatter, dataType, recvCount);
    call.root = root;
    return launch(arguments, stream, recvBuf, call, make_scatter);
  });
}

HcclResult HcclAlltoAll(const void* sendBuf, uint64_t sendCount, HcclDataType sendType, const void* recvBuf,
                        uint64_t recvCount, HcclDataType recvType, HcclComm comm, aclrtStream stream) {
  return hccl_api("HcclAlltoAll", [&]() -> Status {
    Arguments arguments;
    if (sendType != recvType || sendCount != recvCount) {
      return {ACL_ERROR_INVALID_PARAM, "what is sent to each rank and received from each differs in count or type"};
    }
    SOFTNPU_RETURN_IF_ERROR(
        find_arguments(comm, stream, sendBuf, recvBuf, sendCount, sendType, true, true, &arguments));
    SOFTNPU_RETURN_IF_ERROR(check_no_overlap(arguments.send, arguments.recv));
    return launch_both(arguments, stream, const_cast<void*>(recvBuf), call_of(Operator::kAllToAll, sendType, sendCount),
                       make_all_to_all);
  });
}

HcclResult HcclBarrier(HcclComm comm, aclrtStream stream) {
  return hccl_api("HcclBarrier", [&]() -> Status {
    std::shared_ptr<Communicator> found;
    SOFTNPU_RETURN_IF_ERROR(find_for(comm, stream, &found));
    return launch_collective(found, Operator::kBarrier, stream, {}, nullptr, make_barrier);
  });
}
