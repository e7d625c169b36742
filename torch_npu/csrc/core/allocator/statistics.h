#pragma once
// The statistics of torch.npu.memory_stats.

#include <c10/core/CachingDeviceAllocator.h>

namespace torch_npu {

// Its functions are called under the lock of its cache.
class Statistics {
 public:
  using Values = c10::CachingDeviceAllocator::DeviceStats;
  using Pool = c10::CachingAllocator::StatType;
  using Field = c10::CachingAllocator::StatArray Values::*;

  // Adds to the statistics of `pool` and of all pools.
  void count(Field field, Pool pool, std::int64_t amount) {
    auto& stats = values.*field;
    add(stats[static_cast<std::size_t>(Pool::AGGREGATE)], amount);
    add(stats[static_cast<std::size_t>(pool)], amount);
  }
  void count_oversize(c10::CachingAllocator::Stat Values::*field, std::int64_t amount) { add(values.*field, amount); }

  void reset_accumulated();
  void reset_peaks();

  Values values;

 private:
  static void add(c10::CachingAllocator::Stat& stat, std::int64_t amount) {
    if (amount >= 0) {
      stat.increase(static_cast<std::size_t>(amount));
    } else {
      stat.decrease(static_cast<std::size_t>(-amount));
    }
  }
};

}  // namespace torch_npu
