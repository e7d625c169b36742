#include "ops/blas/onednn/runs.h"

#include "ops/blas/onednn/engine.h"

namespace softnpu {

void PrimitiveRuns::execute(std::span<void* const> addresses) const {
  std::unique_ptr<Objects> objects = take();
  for (size_t i = 0; i < addresses.size(); ++i) objects->memories[i].set_data_handle(addresses[i]);
  dnnl::error::wrap_c_api(
      dnnl_primitive_execute(primitive_.get(), onednn_stream().get(), static_cast<int>(objects->arguments.size()),
                             objects->arguments.data()),
      "a primitive did not run");
  std::lock_guard lock(mutex_);
  free_.push_back(std::move(objects));
}

std::unique_ptr<PrimitiveRuns::Objects> PrimitiveRuns::take() const {
  {
    std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      std::unique_ptr<Objects> kept = std::move(free_.back());
      free_.pop_back();
      return kept;
    }
  }
  auto result = std::make_unique<Objects>();
  for (const Argument& argument : arguments_) {
    result->memories.emplace_back(argument.desc, onednn_engine(), nullptr);
    result->arguments.push_back({argument.which, result->memories.back().get()});
  }
  return result;
}

}  // namespace softnpu
