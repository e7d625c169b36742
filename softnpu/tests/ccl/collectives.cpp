#include "ccl/collectives.h"

#include <string>
#include <vector>

#include "acl/acl.h"
#include "ccl/processes.h"
#include "ccl/values.h"

namespace ccl_test {
namespace {

void expect_ok(const Side& side, HcclResult result, const std::string& what) {
  require(result == HCCL_SUCCESS, what);
  require(aclrtSynchronizeStream(side.stream) == ACL_SUCCESS, what);
}

void expect_equal(const Side& side, const std::string& what, const std::vector<double>& found,
                  const std::vector<double>& wanted, HcclDataType type) {
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (found[i] != wanted[i]) {
      fail(what + " of " + std::to_string(wanted.size()) + " elements of type " + std::to_string(type) + ", rank " +
           std::to_string(side.rank) + " of " + std::to_string(side.ranks) + ": element " + std::to_string(i) + " is " +
           std::to_string(found[i]) + ", not " + std::to_string(wanted[i]));
    }
  }
}

// Parts of ranks that differ in size, with gaps between them.
struct Parts {
  std::vector<uint64_t> counts;
  std::vector<uint64_t> displacements;
  size_t total = 0;
  void add(uint64_t count) {
    counts.push_back(count);
    displacements.push_back(total + 1);
    total += count + 2;
  }
};

}  // namespace

void check_all_reduce(const Side& side, HcclDataType type, HcclReduceOp op, size_t count, bool in_place,
                      uint64_t seed) {
  Array send(type, count);
  Array recv(type, count);
  send.write(values(side.rank, count, 0, seed));
  const Array& out = in_place ? send : recv;
  expect_ok(side, HcclAllReduce(send.data(), out.data(), count, type, op, side.comm, side.stream), "HcclAllReduce");
  expect_equal(side, "HcclAllReduce", out.read(), reduced(op, side.ranks, count, 0, seed), type);
}

void check_reduce(const Side& side, HcclDataType type, HcclReduceOp op, size_t count, uint32_t root, bool in_place,
                  uint64_t seed) {
  Array send(type, count);
  Array recv(type, count);
  send.write(values(side.rank, count, 0, seed));
  const Array& out = in_place ? send : recv;
  expect_ok(side, HcclReduce(send.data(), out.data(), count, type, op, root, side.comm, side.stream), "HcclReduce");
  if (side.rank == root) {
    expect_equal(side, "HcclReduce", out.read(), reduced(op, side.ranks, count, 0, seed), type);
  } else {
    expect_equal(side, "what HcclReduce sends", send.read(), values(side.rank, count, 0, seed), type);
  }
}

void check_reduce_scatter(const Side& side, HcclDataType type, HcclReduceOp op, size_t count, bool in_place,
                          uint64_t seed) {
  Array send(type, count * side.ranks);
  Array recv(type, count);
  send.write(values(side.rank, count * side.ranks, 0, seed));
  void* out = in_place ? send.at(side.rank * count) : recv.data();
  expect_ok(side, HcclReduceScatter(send.data(), out, count, type, op, side.comm, side.stream), "HcclReduceScatter");
  expect_equal(side, "HcclReduceScatter", in_place ? send.read(side.rank * count, count) : recv.read(),
               reduced(op, side.ranks, count, side.rank * count, seed), type);
}

void check_reduce_scatter_v(const Side& side, HcclDataType type, HcclReduceOp op, size_t count, uint64_t seed) {
  Parts parts;
  for (uint32_t rank = 0; rank < side.ranks; ++rank) parts.add(rank == 1 ? 0 : count + rank);
  Array send(type, parts.total);
  send.write(values(side.rank, parts.total, 0, seed));
  Array recv(type, parts.counts[side.rank]);
  expect_ok(side,
            HcclReduceScatterV(send.data(), parts.counts.data(), parts.displacements.data(), recv.data(), recv.count(),
                               type, op, side.comm, side.stream),
            "HcclReduceScatterV");
  expect_equal(side, "HcclReduceScatterV", recv.read(),
               reduced(op, side.ranks, recv.count(), parts.displacements[side.rank], seed), type);
}

void check_broadcast(const Side& side, HcclDataType type, size_t count, uint32_t root, uint64_t seed) {
  Array buffer(type, count);
  buffer.write(values(side.rank, count, 0, seed));
  expect_ok(side, HcclBroadcast(buffer.data(), count, type, root, side.comm, side.stream), "HcclBroadcast");
  expect_equal(side, "HcclBroadcast", buffer.read(), values(root, count, 0, seed), type);
}

void check_all_gather(const Side& side, HcclDataType type, size_t count, bool in_place, uint64_t seed) {
  Array send(type, count);
  Array recv(type, count * side.ranks);
  send.write(values(side.rank, count, 0, seed));
  recv.write(values(side.rank, count, 0, seed), side.rank * count);
  void* from = in_place ? recv.at(side.rank * count) : send.data();
  expect_ok(side, HcclAllGather(from, recv.data(), count, type, side.comm, side.stream), "HcclAllGather");
  for (uint32_t rank = 0; rank < side.ranks; ++rank) {
    expect_equal(side, "HcclAllGather", recv.read(rank * count, count), values(rank, count, 0, seed), type);
  }
}

void check_all_gather_v(const Side& side, HcclDataType type, size_t count, uint64_t seed) {
  Parts parts;
  for (uint32_t rank = 0; rank < side.ranks; ++rank) parts.add(rank == 1 ? 0 : count + rank);
  Array send(type, parts.counts[side.rank]);
  send.write(values(side.rank, send.count(), 0, seed));
  Array recv(type, parts.total);
  expect_ok(side,
            HcclAllGatherV(send.data(), send.count(), recv.data(), parts.counts.data(), parts.displacements.data(),
                           type, side.comm, side.stream),
            "HcclAllGatherV");
  for (uint32_t rank = 0; rank < side.ranks; ++rank) {
    expect_equal(side, "HcclAllGatherV", recv.read(parts.displacements[rank], parts.counts[rank]),
                 values(rank, parts.counts[rank], 0, seed), type);
  }
}

void check_scatter(const Side& side, HcclDataType type, size_t count, uint32_t root, bool in_place, uint64_t seed) {
  Array send(type, count * side.ranks);
  Array recv(type, count);
  send.write(values(side.rank, count * side.ranks, 0, seed));
  const bool is_inside = in_place && side.rank == root;
  void* out = is_inside ? send.at(side.rank * count) : recv.data();
  expect_ok(side,
            HcclScatter(side.rank == root ? send.data() : nullptr, out, count, type, root, side.comm, side.stream),
            "HcclScatter");
  expect_equal(side, "HcclScatter", is_inside ? send.read(side.rank * count, count) : recv.read(),
               values(root, count, side.rank * count, seed), type);
}

void check_all_to_all(const Side& side, HcclDataType type, size_t count, uint64_t seed) {
  Array send(type, count * side.ranks);
  Array recv(type, count * side.ranks);
  send.write(values(side.rank, count * side.ranks, 0, seed));
  expect_ok(side, HcclAlltoAll(send.data(), count, type, recv.data(), count, type, side.comm, side.stream),
            "HcclAlltoAll");
  for (uint32_t rank = 0; rank < side.ranks; ++rank) {
    expect_equal(side, "HcclAlltoAll", recv.read(rank * count, count), values(rank, count, side.rank * count, seed),
                 type);
  }
}

void check_all_to_all_v(const Side& side, HcclDataType type, size_t count, uint64_t seed) {
  const auto length = [&](uint32_t from, uint32_t to) { return from == 1 && to == 0 ? 0 : count + from + 2 * to; };
  const auto parts_of = [&](uint32_t from) {
    Parts parts;
    for (uint32_t to = 0; to < side.ranks; ++to) parts.add(length(from, to));
    return parts;
  };
  const Parts sent = parts_of(side.rank);
  Parts received;
  for (uint32_t from = 0; from < side.ranks; ++from) received.add(length(from, side.rank));
  Array send(type, sent.total);
  Array recv(type, received.total);
  send.write(values(side.rank, sent.total, 0, seed));
  expect_ok(side,
            HcclAlltoAllV(send.data(), sent.counts.data(), sent.displacements.data(), type, recv.data(),
                          received.counts.data(), received.displacements.data(), type, side.comm, side.stream),
            "HcclAlltoAllV");
  for (uint32_t rank = 0; rank < side.ranks; ++rank) {
    expect_equal(side, "HcclAlltoAllV", recv.read(received.displacements[rank], received.counts[rank]),
                 values(rank, received.counts[rank], parts_of(rank).displacements[side.rank], seed), type);
  }
}

void check_ring(const Side& side, HcclDataType type, size_t count, uint64_t seed) {
  const uint32_t next = (side.rank + 1) % side.ranks;
  const uint32_t previous = (side.rank + side.ranks - 1) % side.ranks;
  Array send(type, count);
  Array recv(type, count);
  send.write(values(side.rank, count, 0, seed));
  const auto do_send = [&] {
    expect_ok(side, HcclSend(send.data(), count, type, next, side.comm, side.stream), "HcclSend");
  };
  const auto do_recv = [&] {
    expect_ok(side, HcclRecv(recv.data(), count, type, previous, side.comm, side.stream), "HcclRecv");
  };
  if (side.rank == 0) do_send();
  do_recv();
  if (side.rank != 0) do_send();
  expect_equal(side, "HcclRecv", recv.read(), values(previous, count, 0, seed), type);
}

void check_batch(const Side& side, HcclDataType type, size_t count, uint64_t seed) {
  Array send(type, count * side.ranks);
  Array recv(type, count * side.ranks);
  send.write(values(side.rank, count * side.ranks, 0, seed));
  // Receives first, and in another order than the sends.
  std::vector<HcclSendRecvItem> items;
  for (uint32_t i = 0; i < side.ranks; ++i) {
    const uint32_t other = side.ranks - 1 - i;
    items.push_back({HCCL_RECV, recv.at(other * count), count, type, other});
  }
  for (uint32_t other = 0; other < side.ranks; ++other) {
    items.push_back({HCCL_SEND, send.at(other * count), count, type, other});
  }
  if (seed % 2 == 0) {
    expect_ok(side, HcclBatchSendRecv(items.data(), static_cast<uint32_t>(items.size()), side.comm, side.stream),
              "HcclBatchSendRecv");
  } else {
    require(HcclGroupStart() == HCCL_SUCCESS, "HcclGroupStart");
    for (const HcclSendRecvItem& item : items) {
      const auto call = item.sendRecvType == HCCL_SEND ? HcclSend : HcclRecv;
      require(call(item.buf, item.count, type, item.remoteRank, side.comm, side.stream) == HCCL_SUCCESS, "in a group");
    }
    expect_ok(side, HcclGroupEnd(), "HcclGroupEnd");
  }
  for (uint32_t rank = 0; rank < side.ranks; ++rank) {
    expect_equal(side, "HcclBatchSendRecv", recv.read(rank * count, count),
                 values(rank, count, side.rank * count, seed), type);
  }
}

void check_barrier(const Side& side) { expect_ok(side, HcclBarrier(side.comm, side.stream), "HcclBarrier"); }

}  // namespace ccl_test
