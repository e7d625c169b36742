#pragma once
// oneDNN as softnpu uses it: one CPU engine, a stream a thread, and the number of threads stated by the task.

#include <oneapi/dnnl/dnnl.hpp>

namespace softnpu {

const dnnl::engine& onednn_engine();
dnnl::stream& onednn_stream();

// While it lives, oneDNN has `threads` threads on this one. A primitive is made and run under the same number, since
// its blocking and its scratchpad depend on it. Throws std::runtime_error where the system gives no threads.
class ThreadScope {
 public:
  explicit ThreadScope(int threads);
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;
  ~ThreadScope();

 private:
  const int previous_;
};

// The threads for a primitive of `flops`, whatever the workers are at: its blocking depends on their number.
int onednn_threads(double flops);

}  // namespace softnpu
