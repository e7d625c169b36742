#pragma once

#include <future>
#include <string>

#include "acl/acl.h"
#include "make_task.h"

// A task that occupies its stream's executor until release(), then ends with the given code.
class BlockingTask {
 public:
  explicit BlockingTask(aclError result = ACL_SUCCESS) : result_(result) {}
  BlockingTask(const BlockingTask&) = delete;
  BlockingTask& operator=(const BlockingTask&) = delete;

  aclError launch(aclrtStream stream) {
    const softnpuTask task = make_task("blocking", 0, &run, this);
    return softnpuLaunch(stream, &task);
  }
  void wait_until_it_runs() { running_.get_future().wait(); }
  void release() { go_.set_value(); }

 private:
  static aclError run(void* state, char* message, size_t size) {
    auto& own = *static_cast<BlockingTask*>(state);
    own.running_.set_value();
    own.go_.get_future().wait();
    std::string("the blocking task failed").copy(message, size - 1);
    return own.result_;
  }

  const aclError result_;
  std::promise<void> running_;
  std::promise<void> go_;
};

// A task of one statement: launch(stream, [&] { order.push_back(1); }). Objects that it refers to must outlive it.
template <typename Function>
aclError launch(aclrtStream stream, Function& function, bool small = false) {
  const auto run = [](void* state, char*, size_t) -> aclError {
    (*static_cast<Function*>(state))();
    return ACL_SUCCESS;
  };
  const softnpuTask task = make_task("counted", small ? 1 : 0, run, &function);
  return softnpuLaunch(stream, &task);
}
