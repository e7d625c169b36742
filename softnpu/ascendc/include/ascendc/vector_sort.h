#pragma once
// Sorting by value, with indices. Sources: their use in DrivingSDK kernels.

#include <cstdint>
#include <source_location>
#include <type_traits>

#include "ascendc/data_copy.h"
#include "ascendc/tensor.h"
#include "softnpu_kernel/vector_sort.h"

namespace AscendC {

// Four sorted queues of records.
template <typename T>
struct MrgSortSrcList {
  MrgSortSrcList() = default;
  MrgSortSrcList(const LocalTensor<T>& first, const LocalTensor<T>& second, const LocalTensor<T>& third,
                 const LocalTensor<T>& fourth)
      : src1(first), src2(second), src3(third), src4(fourth) {}

  LocalTensor<T> src1, src2, src3, src4;
};

// `elementLengths`: records of each queue. `validBit`: 0b11, 0b111 or 0b1111. With `ifExhaustedSuspension` the merge
// ends when one queue is empty.
struct MrgSort4Info {
  MrgSort4Info() = default;
  MrgSort4Info(const uint16_t lengths[4], bool stops, uint16_t valid, uint16_t repeats)
      : elementLengths{lengths[0], lengths[1], lengths[2], lengths[3]},
        ifExhaustedSuspension(stops),
        validBit(valid),
        repeatTimes(repeats) {}

  uint16_t elementLengths[4] = {};
  bool ifExhaustedSuspension = false;
  uint16_t validBit = 0;
  uint16_t repeatTimes = 1;
};

namespace sorting {

using Where = std::source_location;

template <typename T>
void sort(const char* name, const LocalTensor<T>& to, const LocalTensor<T>& values,
          const LocalTensor<uint32_t>& indices, const softnpu::kernel::Memory& work, uint32_t repeats, bool is_full,
          const Where& where) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, half>, "sorting takes float and half");
  if (repeats == 0) return;
  auto result = softnpu::kernel::make_instruction<softnpu::kernel::SortInstruction>(
      name, softnpu::kernel::Pipe::kV, &softnpu::kernel::execute_sort, &softnpu::kernel::touch_sort, where);
  result.destination = to.memory();
  result.values = values.memory();
  result.indices = indices.memory();
  result.work = work;
  result.repeats = repeats;
  result.group = softnpu::kernel::kSorted * (is_full ? repeats : 1);
  result.type = softnpu::kernel::data_type_of<T>();
  softnpu::kernel::issue(result);
}

}  // namespace sorting

// 32 values of each repeat become 32 records, the largest value first.
template <typename T>
void Sort32(const LocalTensor<T>& to, const LocalTensor<T>& values, const LocalTensor<uint32_t>& indices,
            int32_t repeats, const sorting::Where& where = sorting::Where::current()) {
  if (repeats < 0 || repeats > 255) softnpu::kernel::fail("Sort32: repeats are 0 to 255", where);
  sorting::sort("Sort32", to, values, indices, {}, static_cast<uint32_t>(repeats), false, where);
}

// The values as Sort takes them: 16 of each repeat. Where `concat` has no memory it becomes the source itself.
template <typename T>
void Concat(LocalTensor<T>& concat, const LocalTensor<T>& values, const LocalTensor<T>&, int32_t repeats,
            const sorting::Where& where = sorting::Where::current()) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, half>, "sorting takes float and half");
  if (concat.GetPhyAddr() == 0) {
    concat = values;
    return;
  }
  if (repeats <= 0 || concat.GetPhyAddr() == values.GetPhyAddr()) return;
  auto result = copying::between("Concat", concat, values, where);
  copying::set_count(&result, static_cast<uint32_t>(repeats) * 16);
  softnpu::kernel::issue(result);
}

// 32 values of each repeat: all of them are sorted with each other, or those of each repeat. `work` loses its contents.
template <typename T, bool is_full>
void Sort(const LocalTensor<T>& to, const LocalTensor<T>& values, const LocalTensor<uint32_t>& indices,
          const LocalTensor<T>& work, int32_t repeats, const sorting::Where& where = sorting::Where::current()) {
  if (repeats < 0) softnpu::kernel::fail("Sort: repeats are negative", where);
  sorting::sort("Sort", to, values, indices, work.memory(), static_cast<uint32_t>(repeats), is_full, where);
}

// Merges sorted queues of records.
template <typename T>
void MrgSort(const LocalTensor<T>& to, const MrgSortSrcList<T>& queues, const MrgSort4Info& info,
             const sorting::Where& where = sorting::Where::current()) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, half>, "sorting takes float and half");
  if (info.repeatTimes == 0) return;
  auto result = softnpu::kernel::make_instruction<softnpu::kernel::MergeInstruction>(
      "MrgSort", softnpu::kernel::Pipe::kV, &softnpu::kernel::execute_merge, &softnpu::kernel::touch_merge, where);
  result.destination = to.memory();
  const LocalTensor<T>* sources[4] = {&queues.src1, &queues.src2, &queues.src3, &queues.src4};
  for (int i = 0; i < 4; ++i) {
    result.queues[i] = sources[i]->memory();
    result.lengths[i] = info.elementLengths[i];
  }
  result.valid = info.validBit;
  result.repeats = info.repeatTimes;
  result.stops = info.ifExhaustedSuspension;
  result.touch_reads = result.stops;  // how much is written depends on the values
  result.type = softnpu::kernel::data_type_of<T>();
  softnpu::kernel::issue(result);
}
// How many records the last MrgSort has taken of each queue. The scalar unit waits for all pipes.
inline void GetMrgSortResult(uint16_t& first, uint16_t& second, uint16_t& third, uint16_t& fourth,
                             const sorting::Where& where = sorting::Where::current()) {
  softnpu::kernel::barrier(softnpu::kernel::kAllPipes, where);
  const uint16_t* counts = softnpu::kernel::merged_counts();
  first = counts[0];
  second = counts[1];
  third = counts[2];
  fourth = counts[3];
}

// The values and the indices of 32 records of each repeat.
template <typename T>
void Extract(const LocalTensor<T>& values, const LocalTensor<uint32_t>& indices, const LocalTensor<T>& records,
             int32_t repeats, const sorting::Where& where = sorting::Where::current()) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, half>, "sorting takes float and half");
  if (repeats <= 0) return;
  auto result = softnpu::kernel::make_instruction<softnpu::kernel::ExtractInstruction>(
      "Extract", softnpu::kernel::Pipe::kV, &softnpu::kernel::execute_extract, &softnpu::kernel::touch_extract, where);
  result.values = values.memory();
  result.indices = indices.memory();
  result.source = records.memory();
  result.repeats = static_cast<uint32_t>(repeats);
  result.type = softnpu::kernel::data_type_of<T>();
  softnpu::kernel::issue(result);
}

}  // namespace AscendC
