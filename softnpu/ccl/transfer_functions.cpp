// The C functions of sends and receives, and of groups of them.

#include <algorithm>
#include <utility>
#include <vector>

#include "ccl/launch.h"
#include "ccl/transfer.h"
#include "softnpu/collectives.h"

namespace softnpu::ccl {
namespace {

struct Prepared {
  Transfer transfer;
  void* address = nullptr;
};

// The transfers of one communicator on one stream.
struct Batch {
  std::shared_ptr<Communicator> comm;
  aclrtStream stream = nullptr;
  std::vector<Prepared> transfers;
};

// Calls of this thread between HcclGroupStart and HcclGroupEnd.
struct Group {
  uint32_t depth = 0;
  std::vector<Batch> batches;
};
thread_local Group group;

Status prepare(const Communicator& comm, HcclSendRecvType kind, void* address, uint64_t count, HcclDataType type,
               uint32_t other, Prepared* out) {
  if (kind != HCCL_SEND && kind != HCCL_RECV) {
    return {ACL_ERROR_INVALID_PARAM, text("kind ", static_cast<int>(kind), ": there are HCCL_SEND and HCCL_RECV")};
  }
  const bool is_send = kind == HCCL_SEND;
  SOFTNPU_RETURN_IF_ERROR(check_root(comm, is_send ? "destRank" : "srcRank", other));
  uint64_t bytes = 0;
  SOFTNPU_RETURN_IF_ERROR(bytes_for(type, count, 1, &bytes));
  out->address = address;
  out->transfer.is_send = is_send;
  out->transfer.other = other;
  out->transfer.call = {.op = is_send ? Operator::kSend : Operator::kRecv,
                        .dtype = static_cast<uint32_t>(type),
                        .root = comm.id_of(other),
                        .count = count};
  return Buffer::find(comm, is_send ? "sendBuf" : "recvBuf", address, bytes, &out->transfer.buffer);
}

Status launch(const Batch& batch) {
  std::vector<Transfer> transfers;
  transfers.reserve(batch.transfers.size());
  for (const Prepared& prepared : batch.transfers) transfers.push_back(prepared.transfer);
  const Operator op = transfers.size() == 1 ? transfers.front().call.op : Operator::kBatch;
  std::vector<softnpuRange> written;
  for (const Prepared& prepared : batch.transfers) {
    const Transfer& transfer = prepared.transfer;
    if (!transfer.is_send && transfer.buffer.bytes() > 0) {
      written.push_back({prepared.address, transfer.buffer.bytes()});
    }
  }
  return Operation::launch(batch.comm, op, batch.stream, written,
                           [op, transfers](const auto& on, std::unique_ptr<Operation>* out) {
                             auto result = std::make_unique<Transfers>(on, op, transfers);
                             SOFTNPU_RETURN_IF_ERROR(result->prepare());
                             *out = std::move(result);
                             return Status::ok();
                           });
}

Status call_one(HcclSendRecvType kind, void* address, uint64_t count, HcclDataType type, uint32_t other, HcclComm comm,
                aclrtStream stream) {
  std::shared_ptr<Communicator> found;
  SOFTNPU_RETURN_IF_ERROR(find_for(comm, stream, &found));
  Prepared prepared;
  SOFTNPU_RETURN_IF_ERROR(prepare(*found, kind, address, count, type, other, &prepared));
  if (group.depth == 0) return launch({found, stream, {prepared}});
  auto same = std::ranges::find_if(group.batches,
                                   [&](const Batch& batch) { return batch.comm == found && batch.stream == stream; });
  if (same == group.batches.end()) same = group.batches.insert(same, {found, stream, {}});
  same->transfers.push_back(prepared);
  return Status::ok();
}

}  // namespace
}  // namespace softnpu::ccl

using softnpu::Status;
using namespace softnpu::ccl;  // NOLINT(google-build-using-namespace): this file is the namespace's C border

HcclResult HcclSend(void* sendBuf, uint64_t count, HcclDataType dataType, uint32_t destRank, HcclComm comm,
                    aclrtStream stream) {
  return hccl_api("HcclSend", [&] { return call_one(HCCL_SEND, sendBuf, count, dataType, destRank, comm, stream); });
}

HcclResult HcclRecv(void* recvBuf, uint64_t count, HcclDataType dataType, uint32_t srcRank, HcclComm comm,
                    aclrtStream stream) {
  return hccl_api("HcclRecv", [&] { return call_one(HCCL_RECV, recvBuf, count, dataType, srcRank, comm, stream); });
}

HcclResult HcclBatchSendRecv(HcclSendRecvItem* sendRecvInfo, uint32_t itemNum, HcclComm comm, aclrtStream stream) {
  return hccl_api("HcclBatchSendRecv", [&]() -> Status {
    std::shared_ptr<Communicator> found;
    SOFTNPU_RETURN_IF_ERROR(find_for(comm, stream, &found));
    SOFTNPU_RETURN_IF_ERROR(softnpu::require(sendRecvInfo, "sendRecvInfo"));
    if (itemNum == 0) return {ACL_ERROR_INVALID_PARAM, "itemNum is 0"};
    Batch batch{found, stream, std::vector<Prepared>(itemNum)};
    for (uint32_t i = 0; i < itemNum; ++i) {
      const HcclSendRecvItem& item = sendRecvInfo[i];
      const Status status =
          prepare(*found, item.sendRecvType, item.buf, item.count, item.dataType, item.remoteRank, &batch.transfers[i]);
      if (!status.is_ok()) return {status.code(), softnpu::text("item ", i, ": ", status.message())};
    }
    return launch(batch);
  });
}

HcclResult softnpuGroupStart() {
  ++group.depth;
  return HCCL_SUCCESS;
}

HcclResult softnpuGroupEnd() {
  return hccl_api("HcclGroupEnd", []() -> Status {
    if (group.depth == 0) return {ACL_ERROR_INVALID_PARAM, "no HcclGroupStart precedes it on this thread"};
    if (--group.depth > 0) return Status::ok();
    const std::vector<Batch> batches = std::exchange(group.batches, {});
    for (const Batch& batch : batches) SOFTNPU_RETURN_IF_ERROR(launch(batch));
    return Status::ok();
  });
}
