#include "ops/math/elementwise/fill.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "fusion/elementwise_loop.h"
#include "ops/core/convert/element_rows.h"
#include "ops/core/rebindable_run.h"
#include "ops/math/elementwise/map_task.h"
#include "simd/fill.h"
#include "simd/non_temporal.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

bool is_uniform(const FillPattern& value) {
  return std::ranges::all_of(value, [&](std::byte byte) { return byte == value[0]; });
}

// `bytes` bytes of repeated elements.
void fill(void* to, size_t bytes, const FillPattern& value) {
  if (is_uniform(value)) {
    std::memset(to, std::to_integer<int>(value[0]), bytes);
  } else {
    fill_pattern(to, bytes, value);
  }
}

// Stored in the plan, without heap memory.
struct Fill {
  int64_t count;
  size_t bytes;       // of an element
  FillPattern value;  // the element, repeated
  std::array<void*, 1> operands;
  int threads = 1;

  static size_t operand_count() { return 1; }

  Status operator()(void* /*workspace*/) const {
    constexpr int64_t kGrainBytes = 1 << 17;
    parallel_for(count, kGrainBytes / static_cast<int64_t>(bytes), threads,
                 [this](int64_t first, int64_t last) { run(first, last); });
    return Status::ok();
  }
  void run(int64_t first, int64_t last) const {
    fill(static_cast<char*>(operands[0]) + static_cast<size_t>(first) * bytes,
         static_cast<size_t>(last - first) * bytes, value);
  }

  void put(Plan* plan) const {
    const bool is_small = count < kMinLoopElements;
    plan->work = is_small && work() < kSmallWork ? 0 : work();
    Fill run = *this;
    run.threads = threads_for(work());
    plan->run = run;
    plan->rebindable = &RebindableRun<Fill>::make;
    if (!is_small) plan->fusible = as_loop();
  }
  std::shared_ptr<const ElementwiseLoop> as_loop() const;

  double work() const { return static_cast<double>(bytes) * static_cast<double>(count); }
};

// A Fill that may be fused, alone or as part of a list's loop.
class FillLoop final : public ElementwiseLoop {
 public:
  explicit FillLoop(const Fill& fill) : fill_(fill) {}

  int64_t count() const override { return fill_.count; }
  double cost_per_element() const override { return static_cast<double>(fill_.bytes); }
  void add_accesses(std::vector<MemoryAccess>* to) const override {
    const auto* begin = static_cast<const char*>(fill_.operands[0]);
    to->push_back(
        {begin, begin + static_cast<size_t>(fill_.count) * fill_.bytes, static_cast<uint32_t>(fill_.bytes), true});
  }
  void run(int64_t first, int64_t last) const override { fill_.run(first, last); }
  bool can_rebind() const override { return true; }
  std::unique_ptr<const ElementwiseLoop> rebind(const BufferRebinding& rebinding) const override {
    Fill fill = fill_;
    if (rebinding.new_output != nullptr) fill.operands[0] = rebinding.new_output;
    return std::make_unique<const FillLoop>(fill);
  }

 private:
  const Fill fill_;
};

std::shared_ptr<const ElementwiseLoop> Fill::as_loop() const { return std::make_shared<const FillLoop>(*this); }

}  // namespace

bool plan_fill(const Mapping& mapping, std::span<const MapInput> inputs, const Space& space, Plan* plan) {
  const Operand& out = space.operand(0);
  const size_t bytes = aclDataTypeSize(out.dtype);
  if (space.operands() != 1 || !space.is_contiguous(0)) return false;
  if (space.count() * static_cast<int64_t>(bytes) >= kNonTemporalBytes) return false;
  alignas(16) std::array<FillPattern, MapTask::kMostInputs> values{};
  std::array<const void*, MapTask::kMostInputs> in{};
  for (size_t i = 0; i < inputs.size(); ++i) {
    put_input(*inputs[i].scalar, mapping, i, values[i].data());
    in[i] = values[i].data();
  }
  alignas(16) FillPattern computed{};
  mapping.kernel(computed.data(), in.data(), 1, mapping.constants.data());
  Fill fill{space.count(), bytes, {}, {out.data}};
  ElementWriter(mapping.dtype, out.dtype).write(computed.data(), 1, fill.value.data(), static_cast<ptrdiff_t>(bytes));
  for (size_t i = bytes; i < fill.value.size(); ++i) fill.value[i] = fill.value[i - bytes];
  fill.put(plan);
  return true;
}

}  // namespace softnpu
