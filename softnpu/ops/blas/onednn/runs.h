#pragma once
// Runs of a primitive. Creating oneDNN's memory objects for its arguments takes longer than a small product: finished
// runs leave theirs to the next run, which changes their addresses.

#include <cstddef>
#include <memory>
#include <mutex>
#include <oneapi/dnnl/dnnl.hpp>
#include <span>
#include <utility>
#include <vector>

namespace softnpu {

// Shared by threads; each running thread has its own memory objects.
class PrimitiveRuns {
 public:
  struct Argument {
    int which;  // DNNL_ARG_SRC and so on
    dnnl::memory::desc desc;
  };

  PrimitiveRuns(dnnl::primitive primitive, std::vector<Argument> arguments)
      : primitive_(std::move(primitive)), arguments_(std::move(arguments)) {}

  // Runs with argument `i` at addresses[i], on the calling thread's stream. Throws dnnl::error.
  void execute(std::span<void* const> addresses) const;

 private:
  struct Objects {
    std::vector<dnnl::memory> memories;
    std::vector<dnnl_exec_arg_t> arguments;  // refer to `memories`
  };

  std::unique_ptr<Objects> take() const;

  const dnnl::primitive primitive_;
  const std::vector<Argument> arguments_;
  mutable std::mutex mutex_;  // guards free_
  mutable std::vector<std::unique_ptr<Objects>> free_;
};

}  // namespace softnpu
