#pragma once
// A primitive's runs. The memory objects that oneDNN wants for its arguments take longer to make than a small product:
// those of a run that has ended are pointed at the next one's memory.

#include <cstddef>
#include <memory>
#include <mutex>
#include <oneapi/dnnl/dnnl.hpp>
#include <span>
#include <utility>
#include <vector>

namespace softnpu {

// Shared by threads, each of which has objects of its own while it runs.
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
    std::vector<dnnl_exec_arg_t> arguments;  // name the memories
  };

  std::unique_ptr<Objects> take() const;

  const dnnl::primitive primitive_;
  const std::vector<Argument> arguments_;
  mutable std::mutex mutex_;  // guards free_
  mutable std::vector<std::unique_ptr<Objects>> free_;
};

}  // namespace softnpu
