#pragma once
// Models in device memory, by their ids.

#include <memory>
#include <string>

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

 private:
  softnpuModel* model_;
};

Status find_model(uint32_t id, std::shared_ptr<LoadedModel>* out);

}  // namespace softnpu
