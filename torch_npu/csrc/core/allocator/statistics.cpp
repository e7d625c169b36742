#include "core/allocator/statistics.h"

namespace torch_npu {
namespace {

using c10::CachingAllocator::Stat;
using Values = Statistics::Values;

template <typename Change>
void for_each(Values& values, Change change) {
  for (auto field :
       {&Values::allocation, &Values::segment, &Values::active, &Values::inactive_split, &Values::allocated_bytes,
        &Values::reserved_bytes, &Values::active_bytes, &Values::inactive_split_bytes, &Values::requested_bytes}) {
    for (auto& stat : values.*field) change(stat);
  }
  change(values.oversize_allocations);
  change(values.oversize_segments);
}

}  // namespace

void Statistics::reset_accumulated() {
  for_each(values, [](Stat& stat) { stat.reset_accumulated(); });
  values.num_alloc_retries = values.num_ooms = values.num_sync_all_streams = 0;
  values.num_device_alloc = values.num_device_free = values.num_oom_rejections = 0;
}

void Statistics::reset_peaks() {
  for_each(values, [](Stat& stat) { stat.reset_peak(); });
}

}  // namespace torch_npu
