#pragma once
// One run of a captured graph whose tasks park the stream.

#include <atomic>
#include <cstddef>
#include <deque>
#include <memory>

#include "base/status.h"
#include "runtime/stream/capture/graph.h"
#include "runtime/stream/steps.h"

namespace softnpu {

class GraphReplay final : public Steps {
 public:
  explicit GraphReplay(std::shared_ptr<const CapturedGraph> graph) : graph_(std::move(graph)) {}

  // For the next of the tasks that have steps.
  void add(std::shared_ptr<Steps> part);

  // Runs tasks until one has to wait, also those after a failed one. Returns the first failure after the last task.
  Status step(bool* again) override;
  // As the task that has to wait.
  bool computes() const override { return computes_; }

 private:
  const std::shared_ptr<const CapturedGraph> graph_;
  size_t next_ = 0;                           // of the graph's steps
  std::deque<std::shared_ptr<Steps>> parts_;  // of the tasks that have not ended
  std::atomic<bool> computes_{false};         // read while the stream is parked
  Status failure_;
};

}  // namespace softnpu
