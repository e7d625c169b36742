#pragma once
// Constants in device memory that several sessions of one model have in common: they have the same bytes on the host.

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "graph/ir/graph.h"
#include "graph/session/device_memory.h"

namespace softnpu::graph {

class SharedConstants {
 public:
  // The constant on the current device, copied at the first call. The bytes on the host must outlive this object.
  Status find(const Bytes& bytes, std::shared_ptr<DeviceMemory>* out);
  // Forgets constants that no session has any more.
  void prune();

 private:
  std::mutex mutex_;  // guards constants_
  std::map<std::pair<const char*, size_t>, std::weak_ptr<DeviceMemory>> constants_;
};

}  // namespace softnpu::graph
