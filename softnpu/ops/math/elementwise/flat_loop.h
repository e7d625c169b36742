#pragma once
// The loop over contiguous elements that an operator makes which is stored in its plan.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "fusion/elementwise_loop.h"

namespace softnpu {

// Run must have `operands`, the result before the inputs, of which operand_count() are used; `count` elements of
// `element_bytes` each; element_cost(); and run(first, last). It is copied.
template <typename Run>
class FlatLoop final : public ElementwiseLoop {
 public:
  explicit FlatLoop(const Run& run) : run_(run) {}

  int64_t count() const override { return static_cast<int64_t>(run_.count); }
  double cost_per_element() const override { return run_.element_cost(); }
  void add_accesses(std::vector<MemoryAccess>* to) const override {
    const size_t bytes = static_cast<size_t>(run_.count) * run_.element_bytes;
    for (size_t k = 0; k < run_.operand_count(); ++k) {
      const auto* begin = static_cast<const char*>(run_.operands[k]);
      to->push_back({begin, begin + bytes, static_cast<uint32_t>(run_.element_bytes), k == 0});
    }
  }
  void run(int64_t first, int64_t last) const override { run_.run(first, last); }
  bool can_rebind() const override { return true; }
  std::unique_ptr<const ElementwiseLoop> rebind(const BufferRebinding& rebinding) const override {
    Run other = run_;
    for (size_t k = 1; rebinding.input != nullptr && k < other.operand_count(); ++k) {
      if (other.operands[k] == rebinding.input) other.operands[k] = rebinding.new_input;
    }
    if (rebinding.new_output != nullptr) other.operands[0] = rebinding.new_output;
    return std::make_unique<const FlatLoop>(other);
  }

 private:
  const Run run_;
};

}  // namespace softnpu
