#pragma once
// oneDNN as softnpu uses it: one CPU engine, a stream a thread, and the number of threads stated by the task.

#include <oneapi/dnnl/dnnl.hpp>

namespace softnpu {

const dnnl::engine& onednn_engine();
dnnl::stream& onednn_stream();

// While it lives, OpenMP regions of this thread have `threads` threads. A primitive is made and run under the same
// number, since its blocking and its scratchpad depend on it.
class ThreadScope {
 public:
  explicit ThreadScope(int threads);
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;
  ~ThreadScope();

 private:
  const int previous_;
};

// The threads for work (Plan::work): 1 below kSmallWork, else most_threads().
int threads_for(double work);

}  // namespace softnpu
