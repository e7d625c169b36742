#include "core/task_group.h"

#include <c10/util/Exception.h>

#include <exception>
#include <optional>
#include <unordered_map>
#include <utility>

#include "core/acl.h"
#include "core/allocator/mem_pool.h"
#include "core/capture.h"
#include "core/device.h"
#include "core/stream.h"
#include "core/task_queue.h"

namespace torch_npu {
namespace {

// Allocations on `stream` come from the pool while it lives.
class AllocatesToPool {
 public:
  AllocatesToPool(c10::Stream stream, c10::MempoolId_t pool) : device_(stream.device_index()), pool_(pool) {
    use_pool(device_, pool_, {});  // the graph may be reset meanwhile
    begin_capture_to_pool(device_, pool_, [id = stream.id()](c10::StreamId asking) { return asking == id; });
    ongoing_.emplace();
  }
  AllocatesToPool(const AllocatesToPool&) = delete;
  AllocatesToPool& operator=(const AllocatesToPool&) = delete;
  ~AllocatesToPool() {
    ongoing_.reset();
    try {
      end_capture_to_pool(device_, pool_);
      release_pool(device_, pool_);
    } catch (const std::exception& e) {
      TORCH_WARN("the memory of a task group's update was not released: ", e.what());
    }
  }

 private:
  const c10::DeviceIndex device_;
  const c10::MempoolId_t pool_;
  std::optional<OngoingCapture> ongoing_;
};

struct Registry {
  std::mutex mutex;  // guards the members
  std::unordered_map<aclmdlRI, std::weak_ptr<UpdateMemory>> graphs;
  std::unordered_map<c10::Stream, std::unique_ptr<AllocatesToPool>> updates;  // that have begun, by their stream
};

Registry& registry() {
  static auto& instance = *std::make_unique<Registry>().release();  // used until the end of the process
  return instance;
}

// The update of `stream`, if there is one, is over. Destroyed without the registry's mutex.
std::unique_ptr<AllocatesToPool> take_update(c10::Stream stream) {
  std::lock_guard lock(registry().mutex);
  auto found = registry().updates.extract(stream);
  return found.empty() ? nullptr : std::move(found.mapped());
}

}  // namespace

std::shared_ptr<UpdateMemory> UpdateMemory::create(c10::DeviceIndex device, c10::MempoolId_t graph, aclmdlRI model) {
  std::shared_ptr<UpdateMemory> memory(new UpdateMemory(device, graph, model));
  std::lock_guard lock(registry().mutex);
  registry().graphs[model] = memory;
  return memory;
}

UpdateMemory::~UpdateMemory() {
  if (in_bad_fork()) return;
  {
    std::lock_guard lock(registry().mutex);
    const auto found = registry().graphs.find(model_);
    // Another graph may have the handle by now.
    if (found != registry().graphs.end() && found->second.expired()) registry().graphs.erase(found);
  }
  for (const c10::MempoolId_t& pool : pools_) {
    try {
      release_pool(device_, pool);
    } catch (const std::exception& e) {
      TORCH_WARN("the memory of a graph's updates was not released: ", e.what());
    }
  }
}

std::shared_ptr<UpdateMemory> UpdateMemory::of(aclmdlRI model) {
  std::lock_guard lock(registry().mutex);
  const auto found = registry().graphs.find(model);
  return found == registry().graphs.end() ? nullptr : found->second.lock();
}

c10::MempoolId_t UpdateMemory::pool(c10::StreamId captured, c10::StreamId updating) {
  // new_pool_id() gives ids whose first number is 0. A device has fewer than 2^16 streams.
  const auto streams = static_cast<c10::CaptureId_t>(captured) << 16 | static_cast<c10::CaptureId_t>(updating);
  const c10::MempoolId_t id{graph_.second, streams};
  std::lock_guard lock(mutex_);
  if (!pools_.contains(id)) {
    use_pool(device_, id, {});
    pools_.insert(id);
  }
  return id;
}

void begin_task_group(c10::Stream stream) {
  acl_check(aclmdlRICaptureTaskGrpBegin(Enqueue(stream).handle()), "aclmdlRICaptureTaskGrpBegin");
}

TaskGroup end_task_group(c10::Stream stream) {
  TaskGroup group{.handle = nullptr, .stream = stream.id(), .memory = UpdateMemory::of(capture_of(stream))};
  acl_check(aclmdlRICaptureTaskGrpEnd(Enqueue(stream).handle(), &group.handle), "aclmdlRICaptureTaskGrpEnd");
  return group;
}

void begin_task_update(c10::Stream stream, const TaskGroup& group) {
  acl_check(aclmdlRICaptureTaskUpdateBegin(Enqueue(stream).handle(), group.handle), "aclmdlRICaptureTaskUpdateBegin");
  (void)take_update(stream);  // one that a reset of the device dropped
  const auto memory = group.memory.lock();
  if (memory == nullptr) return;  // the program captured without torch
  auto update = std::make_unique<AllocatesToPool>(stream, memory->pool(group.stream, stream.id()));
  std::lock_guard lock(registry().mutex);
  registry().updates[stream] = std::move(update);
}

void end_task_update(c10::Stream stream) {
  const auto update = take_update(stream);  // lives until the runtime has ended it, also if that fails
  acl_check(aclmdlRICaptureTaskUpdateEnd(Enqueue(stream).handle()), "aclmdlRICaptureTaskUpdateEnd");
}

}  // namespace torch_npu
