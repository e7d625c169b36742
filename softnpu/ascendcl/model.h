#pragma once
// Models in device memory, by their ids.

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/status.h"
#include "softnpu/graph.h"

namespace softnpu {

// The graph engine, which is loaded at the first call. Null if its library is missing.
const softnpuGraphEngine* graph_engine();
Status require_graph_engine(const softnpuGraphEngine** out);

// The status of a function of the engine, with its message.
Status engine_status(aclError code);

// Owns a model of the engine.
class LoadedModel {
 public:
  explicit LoadedModel(softnpuModel* model) : model_(model) {}
  LoadedModel(const LoadedModel&) = delete;
  LoadedModel& operator=(const LoadedModel&) = delete;
  ~LoadedModel() { graph_engine()->unload(model_); }

  softnpuModel* get() const { return model_; }

  // The sizes of the inputs that a program chose last from the model's list; empty if it did not.
  std::vector<std::vector<int64_t>> chosen() const {
    std::lock_guard lock(mutex_);
    return chosen_;
  }
  void choose(std::vector<std::vector<int64_t>> sizes) {
    std::lock_guard lock(mutex_);
    chosen_ = std::move(sizes);
  }

 private:
  softnpuModel* model_;
  mutable std::mutex mutex_;  // guards chosen_
  std::vector<std::vector<int64_t>> chosen_;
};

// Sizes as the engine takes them; they refer to `sizes`.
inline std::vector<softnpuSizes> engine_sizes(const std::vector<std::vector<int64_t>>& sizes) {
  std::vector<softnpuSizes> result;
  result.reserve(sizes.size());
  for (const std::vector<int64_t>& one : sizes) result.push_back({one.data(), one.size()});
  return result;
}

Status find_model(uint32_t id, std::shared_ptr<LoadedModel>* out);

}  // namespace softnpu
