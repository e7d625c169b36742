#pragma once
// A random operator in two forms: seed and offset as numbers, and in device memory for captured graphs.

#include "core/aclnn.h"
#include "core/generator.h"

namespace torch_npu {

template <typename Numbers, typename InMemory>
class RandomOp {
 public:
  // Where the bound CANN lacks `in_memory`, captures refuse the operator.
  RandomOp(const char* numbers, const char* in_memory) : numbers_(numbers), in_memory_(in_memory) {}

  bool available() const { return numbers_.available(); }

  // Returns call(op, counter...), where the counter is seed and offset, or in a capture their tensors and what to add
  // to the offset. `generator` advances.
  template <typename Call>
  decltype(auto) draw(const std::optional<at::Generator>& generator, c10::DeviceIndex device, const Call& call) const {
    const Counter counter = next_counter(generator, device, in_memory_.available());
    if (!counter.memory.has_value()) [[likely]]
      return call(numbers_, counter.seed, counter.offset);
    return call(in_memory_, counter.memory->seed, counter.memory->offset, counter.offset);
  }

 private:
  AclnnOp<Numbers> numbers_;
  AclnnOp<InMemory> in_memory_;
};

}  // namespace torch_npu
