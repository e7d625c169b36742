#pragma once
// c10d's backend "hccl": collectives of npu tensors. Each runs on the caller's stream if the caller waits for it at
// once, else on the group's own stream of the device, which waits for the caller's.

#include <c10/core/Stream.h>
#include <c10/util/FunctionRef.h>

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "distributed/channel.h"
#include "distributed/communicator.h"
#include "distributed/options.h"
#include "distributed/watchdog.h"
#include "distributed/work.h"

namespace torch_npu {

class ProcessGroupHCCL final : public c10d::Backend {
 public:
  using Tensors = std::vector<at::Tensor>;
  using TensorLists = std::vector<std::vector<at::Tensor>>;
  using WorkPtr = c10::intrusive_ptr<c10d::Work>;

  ProcessGroupHCCL(c10::intrusive_ptr<c10d::Store> store, int rank, int size, c10::intrusive_ptr<HcclOptions> options);
  ~ProcessGroupHCCL() override;

  const std::string getBackendName() const override { return "hccl"; }
  c10::intrusive_ptr<Options> getBackendOptions() override { return options_; }
  const c10::intrusive_ptr<HcclOptions>& options() const { return options_; }
  bool supportsSplitting() const override { return true; }
  bool supportsCoalescing() const override { return true; }
  void setTimeout(std::chrono::milliseconds timeout) override;
  void setSequenceNumberForGroup() override {}  // every rank starts at 0
  uint64_t getSequenceNumberForGroup() override { return sequence_; }
  c10d::ErrorType getError() override;

  // Elementwise (reductions.cpp).
  WorkPtr allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) override;
  WorkPtr allreduce_coalesced(Tensors& tensors, const c10d::AllreduceCoalescedOptions& options) override;
  WorkPtr reduce(Tensors& tensors, const c10d::ReduceOptions& options) override;
  WorkPtr reduce_scatter(Tensors& outputs, TensorLists& inputs, const c10d::ReduceScatterOptions& options) override;
  WorkPtr _reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                               const c10d::ReduceScatterOptions& options) override;
  WorkPtr reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                          const c10d::ReduceScatterOptions& options) override;
  // `sizes`: how many rows of `input` each rank gets; empty for equal parts.
  WorkPtr reduce_scatter_uneven(at::Tensor& output, at::Tensor& input, std::vector<int64_t> sizes,
                                const c10d::ReduceScatterOptions& options);

  // One to all, all to all (exchanges.cpp, gathers.cpp).
  WorkPtr broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) override;
  WorkPtr allgather(TensorLists& outputs, Tensors& inputs, const c10d::AllgatherOptions& options) override;
  WorkPtr _allgather_base(at::Tensor& output, at::Tensor& input, const c10d::AllgatherOptions& options) override;
  WorkPtr allgather_coalesced(TensorLists& outputs, Tensors& inputs, const c10d::AllgatherOptions& options) override;
  WorkPtr allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                          const c10d::AllgatherOptions& options) override;
  WorkPtr allgather_uneven(at::Tensor& output, at::Tensor& input, std::vector<int64_t> sizes,
                           const c10d::AllgatherOptions& options);
  WorkPtr gather(TensorLists& outputs, Tensors& inputs, const c10d::GatherOptions& options) override;
  WorkPtr scatter(Tensors& outputs, TensorLists& inputs, const c10d::ScatterOptions& options) override;
  WorkPtr alltoall(Tensors& outputs, Tensors& inputs, const c10d::AllToAllOptions& options) override;
  WorkPtr alltoall_base(at::Tensor& output, at::Tensor& input, std::vector<int64_t>& output_sizes,
                        std::vector<int64_t>& input_sizes, const c10d::AllToAllOptions& options) override;
  WorkPtr alltoallvc(at::Tensor& output, at::Tensor& input, const std::vector<int64_t>& counts,
                     const c10d::AllToAllOptions& options);
  WorkPtr barrier(const c10d::BarrierOptions& options) override;

  // Between two ranks (point_to_point.cpp).
  WorkPtr send(Tensors& tensors, int rank, int tag) override;
  WorkPtr recv(Tensors& tensors, int rank, int tag) override;
  WorkPtr recvAnysource(Tensors& tensors, int tag) override;
  void startCoalescing() override;
  WorkPtr endCoalescing() override;
  WorkPtr batch_isend_irecv(const std::vector<std::string>& kinds, Tensors& tensors, const std::vector<int64_t>& ranks);

  // Life (process_group.cpp).
  void eagerConnectSingleDevice(at::Device device) override;
  c10::intrusive_ptr<Backend> split(const c10::intrusive_ptr<c10d::Store>& store, const std::vector<int>& ranks,
                                    const c10::intrusive_ptr<Options>& options) override;
  // Work in flight fails; later calls throw.
  void abort() override;
  // Waits for work in flight, then gives the communicators back.
  void shutdown() override;
  // Gives the communicators back; the next collective makes new ones.
  void reset_communicators(const std::string& reason);

  std::string comm_name(c10::DeviceIndex device, bool connects);
  int64_t comm_address(c10::DeviceIndex device);
  c10::Stream stream_of(c10::DeviceIndex device);
  c10::Stream stream_of(c10::DeviceIndex device, int peer, bool receives);

 private:
  // What the runner has to know of a collective.
  struct Call {
    c10d::OpType op;
    const char* name;
    bool is_async;
    std::chrono::milliseconds timeout;
    std::string peers = {};  // of sends and receives, for errors: ", to rank 1"
  };
  struct Peer {
    int rank;
    bool receives;
    at::Tensor tensor;
  };

  // Runs `enqueue` with the stream of the collective as the current one. All tensors are on one device.
  WorkPtr run(const Call& call, Tensors inputs, Tensors outputs, c10::function_ref<void(const Channel&)> enqueue);
  WorkPtr run_on(c10::DeviceIndex device, const Call& call, Tensors inputs, Tensors outputs,
                 c10::function_ref<void(const Channel&)> enqueue);
  WorkPtr finish(const Call& call, std::vector<FlightEnd> ends, Tensors inputs, Tensors outputs);
  WorkPtr point_to_point(std::vector<Peer> peers, c10d::OpType op);
  FlightEnd enqueue_peer(const Peer& peer);
  // A rank's sends to itself are copies into its receives from itself, in order. None without any.
  std::optional<FlightEnd> copy_own(const std::vector<Peer>& peers);

  std::shared_ptr<Communicator> communicator(c10::DeviceIndex device);
  // The communicator of this rank and `peer`, and the peer's rank in it.
  std::pair<std::shared_ptr<Communicator>, uint32_t> link(c10::DeviceIndex device, int peer);
  // A key of the store that no connection had so far; the same on all ranks that connect.
  std::string next_key(const std::string& purpose);
  std::vector<std::shared_ptr<Communicator>> communicators();
  void check_usable();
  c10::DeviceIndex barrier_device(const c10d::BarrierOptions& options);
  std::chrono::milliseconds timeout_of(std::chrono::milliseconds asked) const;
  std::string describe(const Call& call, const Tensors& inputs, const Tensors& outputs) const;
  void on_failure(const std::string& failure);

  c10::intrusive_ptr<c10d::Store> store_;
  c10::intrusive_ptr<HcclOptions> options_;
  HcclSettings settings_;
  std::atomic<uint64_t> sequence_{0};
  std::mutex mutex_;                                                                         // guards what follows
  std::map<std::pair<c10::DeviceIndex, int>, std::shared_ptr<Communicator>> communicators_;  // by device and peer
  std::map<std::tuple<c10::DeviceIndex, int, bool>, c10::Stream> streams_;
  std::unordered_map<std::string, int> connections_;  // by purpose, since the beginning
  std::string end_reason_;                            // why no collective may run; empty while they may
  std::atomic<bool> is_coalescing_{false};
  std::vector<Peer> coalesced_peers_;
  std::vector<FlightEnd> coalesced_ends_;
  Tensors coalesced_tensors_;
  std::shared_ptr<Watchdog> watchdog_;
};

// Ends all groups before the process releases its devices: by shutdown(), or by abort() after an error.
void end_process_groups(bool after_error) noexcept;

}  // namespace torch_npu
