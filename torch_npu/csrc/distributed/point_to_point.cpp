// Sends and receives. A pair of ranks has a communicator of its own, so that the others need not come, and so that both
// use the same one whatever collectives they call in between. It connects in the background. Each peer and direction
// has a stream: a send waits for its receiver, and nothing else for it.

#include <c10/core/DeviceGuard.h>
#include <c10/core/StreamGuard.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/device.h"
#include "core/format.h"
#include "core/stream.h"
#include "distributed/checks.h"
#include "distributed/data_type.h"
#include "distributed/process_group.h"
#include "distributed/profiled_call.h"

namespace torch_npu {
namespace {

using c10d::OpType;

void check_peer(const at::Tensor& tensor, int64_t peer, int size, const char* operation) {
  checks::dense(tensor, operation);
  TORCH_CHECK_VALUE(peer >= 0 && peer < size, operation, ": rank ", peer, " is not in a group of ", size);
}

// What an error says of the other ranks.
std::string name_peers(const std::set<int>& sent_to, const std::set<int>& received_from) {
  std::string text;
  for (const auto& [ranks, before] : {std::pair(&sent_to, ", to rank "), std::pair(&received_from, ", from rank ")}) {
    for (const int rank : *ranks) text += c10::str(rank == *ranks->begin() ? before : " and ", rank);
  }
  return text;
}

}  // namespace

FlightEnd ProcessGroupHCCL::enqueue_peer(const Peer& peer) {
  static const HcclCollective<decltype(HcclSend)> send_function("HcclSend");
  static const HcclCollective<decltype(HcclRecv)> receive_function("HcclRecv");
  const c10::DeviceIndex device = peer.tensor.device().index();
  const auto [communicator, remote] = link(device, peer.rank);
  const c10::Stream stream = stream_of(device, peer.rank, peer.receives);
  const c10::Stream caller = current_stream(device);
  c10::Event before(c10::DeviceType::PrivateUse1);
  before.record(caller);
  before.block(stream);
  if (peer.tensor.numel() != 0) {
    const WireType wire = moved_as(peer.tensor.scalar_type());
    const auto count = static_cast<uint64_t>(peer.tensor.numel()) * wire.per_element;
    const Channel channel{*communicator, stream};
    if (peer.receives) {
      channel.call(receive_function, mutable_plain_data(peer.tensor), count, wire.type, remote);
    } else {
      channel.call(send_function, mutable_plain_data(peer.tensor), count, wire.type, remote);
    }
  }
  auto end = std::make_shared<c10::Event>(c10::DeviceType::PrivateUse1);
  end->record(stream);
  return {stream, std::move(end)};
}

std::optional<FlightEnd> ProcessGroupHCCL::copy_own(const std::vector<Peer>& peers) {
  Tensors sent;
  Tensors received;
  for (const Peer& peer : peers) {
    if (peer.rank == rank_) (peer.receives ? received : sent).push_back(peer.tensor);
  }
  TORCH_CHECK_VALUE(sent.size() == received.size(), "batch_isend_irecv: rank ", rank_, " sends ", sent.size(),
                    " tensors to itself and receives ", received.size(),
                    ": a rank is its own peer only in a batch that has a receive for each such send");
  if (sent.empty()) return std::nullopt;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    checks::compatible(received[i], sent[i], "batch_isend_irecv");
    checks::parts_of(received[i], sent[i], 1, "batch_isend_irecv: a rank receives what it sends to itself");
  }
  const c10::DeviceIndex device = sent.front().device().index();
  const c10::Stream stream = stream_of(device, rank_, true);
  c10::Event before(c10::DeviceType::PrivateUse1);
  before.record(current_stream(device));
  before.block(stream);
  {
    const c10::StreamGuard guard(stream);
    for (std::size_t i = 0; i < sent.size(); ++i) {
      received[i].copy_(sent[i].reshape({-1}).view(received[i].sizes()));
    }
  }
  auto end = std::make_shared<c10::Event>(c10::DeviceType::PrivateUse1);
  end->record(stream);
  return FlightEnd{stream, std::move(end)};
}

ProcessGroupHCCL::WorkPtr ProcessGroupHCCL::point_to_point(std::vector<Peer> peers, OpType op) {
  check_usable();
  const char* name = op == OpType::SEND ? "send" : op == OpType::RECV ? "recv" : "batch_isend_irecv";
  const ProfiledCall profiled(name, {});
  const c10::DeviceIndex device = peers.front().tensor.device().index();
  const c10::DeviceGuard device_guard(npu_device(device));
  // With a CANN that connects only while both wait, one order on all ranks avoids a circle of ranks in a batch.
  std::vector<std::pair<int, int>> pairs;
  for (const Peer& peer : peers) {
    if (peer.rank != rank_) pairs.emplace_back(std::minmax(rank_, peer.rank));
  }
  std::ranges::sort(pairs);
  for (const auto& [low, high] : pairs) link(device, low == rank_ ? high : low);
  std::vector<FlightEnd> ends;
  if (auto own = copy_own(peers)) ends.push_back(std::move(*own));
  Tensors inputs;
  Tensors outputs;
  std::set<int> sent_to;
  std::set<int> received_from;
  for (const Peer& peer : peers) {
    (peer.receives ? received_from : sent_to).insert(peer.rank);
    if (peer.rank != rank_) ends.push_back(enqueue_peer(peer));
    (peer.receives ? outputs : inputs).push_back(peer.tensor);
  }
  return finish({op, name, true, options_->operation_timeout(), name_peers(sent_to, received_from)}, std::move(ends),
                std::move(inputs), std::move(outputs));
}

ProcessGroupHCCL::WorkPtr ProcessGroupHCCL::send(Tensors& tensors, int rank, int) {
  at::Tensor& tensor = checks::only(tensors, "send");
  check_peer(tensor, rank, size_, "send");
  if (is_coalescing_) {
    const std::lock_guard lock(mutex_);
    coalesced_peers_.push_back({rank, false, tensor});
    return nullptr;
  }
  return point_to_point({{rank, false, tensor}}, OpType::SEND);
}

ProcessGroupHCCL::WorkPtr ProcessGroupHCCL::recv(Tensors& tensors, int rank, int) {
  at::Tensor& tensor = checks::only(tensors, "recv");
  check_peer(tensor, rank, size_, "recv");
  if (is_coalescing_) {
    const std::lock_guard lock(mutex_);
    coalesced_peers_.push_back({rank, true, tensor});
    return nullptr;
  }
  return point_to_point({{rank, true, tensor}}, OpType::RECV);
}

ProcessGroupHCCL::WorkPtr ProcessGroupHCCL::recvAnysource(Tensors&, int) {
  TORCH_CHECK_NOT_IMPLEMENTED(false,
                              "ProcessGroupHCCL does not support recv from any rank: HCCL receives from one "
                              "that is named, so pass src or group_src");
}

void ProcessGroupHCCL::startCoalescing() {
  TORCH_CHECK(!is_coalescing_, "a batch of this hccl process group has begun already");
  const std::lock_guard lock(mutex_);
  coalesced_peers_.clear();
  coalesced_ends_.clear();
  coalesced_tensors_.clear();
  is_coalescing_ = true;
}

ProcessGroupHCCL::WorkPtr ProcessGroupHCCL::endCoalescing() {
  TORCH_CHECK(is_coalescing_, "no batch of this hccl process group has begun");
  is_coalescing_ = false;
  std::vector<Peer> peers;
  std::vector<FlightEnd> ends;
  Tensors tensors;
  {
    const std::lock_guard lock(mutex_);
    peers.swap(coalesced_peers_);
    ends.swap(coalesced_ends_);
    tensors.swap(coalesced_tensors_);
  }
  if (ends.empty()) return peers.empty() ? nullptr : point_to_point(std::move(peers), OpType::COALESCED);
  TORCH_CHECK(peers.empty(), "a batch of an hccl process group has either sends and receives or collectives");
  return finish({OpType::COALESCED, "coalesced", true, options_->operation_timeout()}, std::move(ends), {},
                std::move(tensors));
}

ProcessGroupHCCL::WorkPtr ProcessGroupHCCL::batch_isend_irecv(const std::vector<std::string>& kinds, Tensors& tensors,
                                                              const std::vector<int64_t>& ranks) {
  TORCH_CHECK_VALUE(!kinds.empty() && kinds.size() == tensors.size() && kinds.size() == ranks.size(),
                    "batch_isend_irecv: ", kinds.size(), " kinds, ", tensors.size(), " tensors and ", ranks.size(),
                    " ranks");
  std::vector<Peer> peers;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const bool receives = kinds[i] == "irecv" || kinds[i] == "recv";
    TORCH_CHECK_VALUE(receives || kinds[i] == "isend" || kinds[i] == "send", "batch_isend_irecv: no kind ", kinds[i],
                      ": it takes isend and irecv");
    check_peer(tensors[i], ranks[i], size_, kinds[i].c_str());
    peers.push_back({static_cast<int>(ranks[i]), receives, tensors[i]});
  }
  return point_to_point(std::move(peers), OpType::COALESCED);
}

}  // namespace torch_npu
