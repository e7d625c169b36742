#include "ops/math/elementwise/fill.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "ops/core/convert/element_rows.h"
#include "ops/core/operand_run.h"
#include "ops/math/elementwise/flat_loop.h"
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
  size_t element_bytes;
  FillPattern value;  // the element, repeated
  std::array<void*, 1> operands;
  int threads = 1;

  static size_t operand_count() { return 1; }

  Status operator()(void* /*workspace*/) const {
    constexpr int64_t kGrainBytes = 1 << 17;
    parallel_for(count, kGrainBytes / static_cast<int64_t>(element_bytes), threads,
                 [this](int64_t first, int64_t last) { run(first, last); });
    return Status::ok();
  }
  void run(int64_t first, int64_t last) const {
    fill(static_cast<char*>(operands[0]) + static_cast<size_t>(first) * element_bytes,
         static_cast<size_t>(last - first) * element_bytes, value);
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
  std::shared_ptr<const ElementwiseLoop> as_loop() const { return std::make_shared<const FlatLoop<Fill>>(*this); }

  double element_cost() const { return static_cast<double>(element_bytes); }
  double work() const { return element_cost() * static_cast<double>(count); }
};

}  // namespace

bool plan_fill(const Mapping& mapping, std::span<const MapInput> inputs, const Space& space, Plan* plan) {
  const Operand& out = space.operand(0);
  const size_t bytes = aclDataTypeSize(out.dtype);
  if (space.operands() != 1 || !space.is_contiguous(0)) return false;
  if (space.count() * static_cast<int64_t>(bytes) >= kNonTemporalBytes) return false;
  alignas(16) std::array<FillPattern, MapTask::kMaxInputs> values{};
  std::array<const void*, MapTask::kMaxInputs> in{};
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
