#pragma once
// A communicator of HCCL: this process's rank among `size` others, on one device.

#include <c10/core/Device.h>
#include <hccl/hccl_types.h>

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <memory>
#include <mutex>
#include <string>

namespace torch_npu {

class Communicator {
 public:
  // Meets the other ranks by means of `store`, under `key`: rank 0 leaves HCCL's root information there. Blocks until
  // all have come. `config` may be null. The device becomes this thread's.
  static std::shared_ptr<Communicator> connect(c10d::Store& store, const std::string& key, int rank, int size,
                                               c10::DeviceIndex device, HcclCommConfig* config);
  // Two ranks of a group, `low` and `high`, of which this process is `rank`. Returns at once where the CANN can connect
  // in the background: work on the communicator waits in its stream until both have come. Otherwise as connect().
  static std::shared_ptr<Communicator> connect_pair(c10d::Store& store, const std::string& key, int low, int high,
                                                    int rank, c10::DeviceIndex device, HcclCommConfig* config);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  // For a call that enqueues. Throws after abort().
  HcclComm handle() const;
  std::string name() const;
  c10::DeviceIndex device() const { return device_; }

  // The failure of a collective that was enqueued; empty if there is none.
  std::string async_error() const noexcept;

  // Ends it: collectives in flight fail, later ones throw `reason`. Never throws; the second call does nothing.
  void abort(const std::string& reason) noexcept { end(reason, true); }
  // The same, but collectives in flight go on.
  void close(const std::string& reason) noexcept { end(reason, false); }

 private:
  Communicator(HcclComm handle, c10::DeviceIndex device) : handle_(handle), device_(device) {}

  void end(const std::string& reason, bool fails_flights) noexcept;

  mutable std::mutex mutex_;  // guards handle_ and reason_
  HcclComm handle_;
  std::string reason_;
  c10::DeviceIndex device_;
};

}  // namespace torch_npu
