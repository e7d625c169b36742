#pragma once
// A captured graph: tasks that were launched once and run at each replay, in the order of their capture, which respects
// every dependency.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/status.h"
#include "runtime/stream/capture/task.h"

namespace softnpu {

class CapturedGraph : public std::enable_shared_from_this<CapturedGraph> {
 public:
  CapturedGraph(uint32_t id, int32_t device) : id_(id), device_(device) {}
  CapturedGraph(const CapturedGraph&) = delete;
  CapturedGraph& operator=(const CapturedGraph&) = delete;
  ~CapturedGraph();

  uint32_t id() const { return id_; }
  int32_t device() const { return device_; }

  // Finds the fusion groups. `written` are the ranges whose write epochs a replay raises: those of all tasks, merged.
  // Called once, before the first run().
  void instantiate(std::vector<CapturedTask> tasks, std::vector<softnpuRange> written);

  const std::vector<CapturedTask>& tasks() const { return tasks_; }
  std::shared_ptr<const std::vector<softnpuRange>> written() const;
  // For an update whose tasks write other memory; before it.
  void set_written(std::vector<softnpuRange> written);
  // Replaces the work of the tasks `numbers`, which are a task group's, by that of as many others. Waits for nothing: a
  // task that runs ends as it began.
  void update(const std::vector<uint32_t>& numbers, std::vector<CapturedTask> updates);
  // Of a replay: the greatest of its tasks', and not small if there are many.
  Cost cost() const { return cost_; }

  // Whether tasks park the stream, such as collectives: replays are make_replay(), else run().
  bool has_steps() const { return has_steps_; }
  // Runs all tasks, also those after a failed one, as a stream does; returns the first failure with the task's name.
  // Replays that overlap take turns: they share the tasks' buffers.
  Status run() const;
  // The same as steps of a stream, for one launch. Replays that overlap are the program's error.
  Status make_replay(std::shared_ptr<Steps>* out) const;

  // One line a task: number, name, stream, what it waits for, what it is fused with.
  std::string describe() const;
  // The same as a trace that chrome://tracing and Perfetto show; times are numbers of tasks.
  std::string trace() const;

 private:
  friend class GraphReplay;
  using TaskWork = std::shared_ptr<const CapturedTask::Work>;
  // Tasks [first, first + count), fused where `group` is not null.
  struct Step {
    uint32_t first = 0;
    uint32_t count = 1;
    void* group = nullptr;
    // Where tasks park the stream: the steps that wait for this one, and for how many this one waits.
    std::vector<uint32_t> before;
    uint32_t waits_for = 0;
  };

  Step step_from(uint32_t first) const;
  void connect_steps();
  // Runs one step; recorded, if the replay is.
  Status run(const Step& step) const;
  Status run_step(const Step& step) const;
  // Of a task group's task.
  TaskWork newest_work(uint32_t task) const;
  // `status` in the words of the task that failed.
  Status named(const Step& step, const Status& status) const;

  const uint32_t id_;
  const int32_t device_;
  std::vector<CapturedTask> tasks_;
  std::vector<Step> steps_;
  Cost cost_ = Cost::kSmall;
  bool has_steps_ = false;
  mutable std::mutex running_;
  mutable std::mutex updating_;  // guards the members below; never held while a task runs
  std::shared_ptr<const std::vector<softnpuRange>> written_;
  std::map<uint32_t, TaskWork> updatable_;  // of task groups' tasks, by number; in place of their `work`
};

}  // namespace softnpu
