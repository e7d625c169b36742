#pragma once
// softnpu's use of oneDNN: one CPU engine, a stream per thread, and a number of threads set by the task.

#include <oneapi/dnnl/dnnl.hpp>

namespace softnpu {

const dnnl::engine& onednn_engine();
dnnl::stream& onednn_stream();

// While it lives, oneDNN uses `threads` threads on this thread. A primitive must be created and run with the same
// number, since its blocking and its scratchpad depend on it. Throws std::runtime_error if the system provides no
// threads.
class ThreadScope {
 public:
  explicit ThreadScope(int threads);
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;
  ~ThreadScope();

 private:
  const int previous_;
};

// The threads for a primitive of `flops`, independent of the workers' state: its blocking depends on their number.
int onednn_threads(double flops);

}  // namespace softnpu
