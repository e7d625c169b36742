#pragma once
// One run of a captured graph whose tasks park the stream. While one waits, those run that do not depend on it: the
// send and the receive of two ranks that exchange something are tasks of two streams.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <vector>

#include "base/status.h"
#include "runtime/stream/capture/graph.h"
#include "runtime/stream/steps.h"

namespace softnpu {

class GraphReplay final : public Steps {
 public:
  explicit GraphReplay(std::shared_ptr<const CapturedGraph> graph);

  // What runs as the graph's step `number`.
  void add(uint32_t number, std::shared_ptr<Steps> part);

  // Runs tasks until all that are left wait, also those after a failed one. Returns the first failure after the last.
  Status step(bool* again) override;
  // Whether no task waits for something outside.
  bool computes() const override { return computes_; }

 private:
  // False if it has to wait.
  bool run(uint32_t number);
  void end(uint32_t number, const Status& status);

  const std::shared_ptr<const CapturedGraph> graph_;
  std::vector<std::shared_ptr<Steps>> parts_;  // by the graph's steps; null where a step does not park the stream
  std::vector<uint32_t> waits_for_;            // by the graph's steps: how many have not ended
  // In the order of the capture.
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready_;
  std::vector<uint32_t> parked_;
  std::atomic<bool> computes_{false};  // read while the stream is parked
  Status failure_;
};

}  // namespace softnpu
