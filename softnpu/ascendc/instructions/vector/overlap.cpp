#include "ascendc/instructions/vector/overlap.h"

#include <algorithm>

namespace softnpu::kernel {
namespace {

struct Hull {
  uint64_t begin = ~uint64_t{0};
  uint64_t end = 0;
};

Hull hull_of(const Footprint& footprint) {
  Hull hull;
  for (const Footprint::Run& run : footprint.runs) {
    hull.begin = std::min(hull.begin, run.begin);
    hull.end = std::max(hull.end, run.end);
  }
  return hull;
}

}  // namespace

Footprint footprint_of(const RepeatMask& mask, uint32_t repeats, const RepeatLayout& layout, const Memory& memory) {
  Footprint result{reinterpret_cast<uint64_t>(memory.address), layout.repeat_step * kBlockBytes, {}};
  const uint64_t count = repeats_of(mask, repeats, layout.of_repeat);
  for (uint64_t r = 0; r < count; ++r) {
    for_masked_runs(mask, r, layout, [&](uint32_t, uint32_t elements, uint64_t offset) {
      const uint64_t end = std::min(offset + uint64_t{elements} * layout.element_bytes, memory.bytes);
      if (offset < end) result.runs.push_back({r, result.first + offset, result.first + end});
    });
  }
  return result;
}

std::string misuse_of_overlap(const Footprint& destination, const Footprint& source, const std::string& name) {
  const Hull written = hull_of(destination);
  const Hull read = hull_of(source);
  const uint64_t begin = std::max(written.begin, read.begin);
  const uint64_t end = std::min(written.end, read.end);
  if (begin >= end) return "";
  // Of each byte the last repeat that reads it, from 1 on; 0: none does. Runs are in the order of their repeats.
  std::vector<uint64_t> last_reader(end - begin, 0);
  for (const Footprint::Run& run : source.runs) {
    for (uint64_t at = std::max(run.begin, begin); at < std::min(run.end, end); ++at)
      last_reader[at - begin] = run.repeat + 1;
  }
  for (const Footprint::Run& run : destination.runs) {
    const uint64_t to = destination.first + run.repeat * destination.step;
    const uint64_t from = source.first + run.repeat * source.step;
    for (uint64_t at = std::max(run.begin, begin); at < std::min(run.end, end); ++at) {
      const uint64_t reader = last_reader[at - begin];
      if (reader > run.repeat + 1) return "dst overlaps " + name + ": a repeat writes what a later one reads";
      if (reader < run.repeat + 1 || to == from) continue;
      const uint64_t distance = to > from ? to - from : from - to;
      return "dst overlaps " + name + " in part: it begins " + std::to_string(distance) + " bytes " +
             (to > from ? "behind" : "before") + " it";
    }
  }
  return "";
}

}  // namespace softnpu::kernel
