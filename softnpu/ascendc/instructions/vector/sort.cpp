// Sorting by value: records of a value and an index.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "ascendc/instructions/vector/repeats.h"
#include "softnpu_kernel/vector_sort.h"

namespace softnpu::kernel {
namespace {

constinit thread_local std::array<uint16_t, 4> counts{};

struct Record {
  char bytes[kRecordBytes];
};

float value_of(const Record& record, DataType type) {
  if (type == DataType::kFloat) {
    float value;
    std::memcpy(&value, record.bytes, sizeof value);
    return value;
  }
  half value;
  std::memcpy(&value, record.bytes, sizeof value);
  return static_cast<float>(value);
}

// Whether `a` comes before `b` because of its value.
bool is_larger(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && !std::isnan(b);
  return a > b;
}

const Record* records_of(const Memory& memory) { return static_cast<const Record*>(memory.address); }

// What one repeat of a merge took of each queue. Calls take(queue, record) for each record, in their order.
template <typename Take>
std::array<uint16_t, 4> merge_once(const MergeInstruction& merge, uint64_t first, const Take& take) {
  std::array<uint16_t, 4> taken{};
  const auto has = [&](int i) { return (merge.valid >> i & 1) != 0 && taken[i] < merge.lengths[i]; };
  const auto is_over = [&] {
    if (merge.stops) {
      for (int i = 0; i < 4; ++i) {
        if ((merge.valid >> i & 1) != 0 && !has(i)) return true;
      }
    }
    return !has(0) && !has(1) && !has(2) && !has(3);
  };
  while (!is_over()) {
    int best = -1;
    float best_value = 0;
    for (int i = 0; i < 4; ++i) {
      if (!has(i)) continue;
      const float value = value_of(records_of(merge.queues[i])[first + taken[i]], merge.type);
      if (best >= 0 && !is_larger(value, best_value)) continue;
      best = i;
      best_value = value;
    }
    take(records_of(merge.queues[best])[first + taken[best]]);
    ++taken[best];
  }
  return taken;
}

// Records of one repeat: of all four queues, whether they take part or not.
uint64_t of_repeat(const MergeInstruction& merge) {
  uint64_t sum = 0;
  for (int i = 0; i < 4; ++i) sum += (merge.valid >> i & 1) != 0 ? merge.lengths[i] : 0;
  return sum;
}

void check_alignment(const char* name, std::initializer_list<const Memory*> operands, Touches* touches) {
  for (const Memory* operand : operands) {
    if (!is_aligned(*operand, kBlockBytes))
      touches->misuse((std::string(name) + ": an operand's address is no multiple of 32").c_str());
  }
}

}  // namespace

uint16_t* merged_counts() { return counts.data(); }

void execute_sort(const Instruction& instruction) {
  const auto& sort = static_cast<const SortInstruction&>(instruction);
  const uint32_t width = bytes_of(sort.type);
  const auto* values = static_cast<const char*>(sort.values.address);
  const auto* indices = static_cast<const char*>(sort.indices.address);
  const size_t count = size_t{sort.repeats} * kSorted;
  std::vector<Record> records(count);
  for (size_t i = 0; i < count; ++i) {
    records[i] = {};
    std::memcpy(records[i].bytes, values + i * width, width);
    std::memcpy(records[i].bytes + 4, indices + i * 4, 4);
  }
  for (size_t at = 0; at < count; at += sort.group) {
    std::stable_sort(
        records.begin() + static_cast<ptrdiff_t>(at), records.begin() + static_cast<ptrdiff_t>(at + sort.group),
        [&](const Record& a, const Record& b) { return is_larger(value_of(a, sort.type), value_of(b, sort.type)); });
  }
  std::memcpy(sort.destination.address, records.data(), count * kRecordBytes);
}

void touch_sort(const Instruction& instruction, Touches* touches) {
  const auto& sort = static_cast<const SortInstruction&>(instruction);
  check_alignment(sort.name, {&sort.destination, &sort.values, &sort.indices}, touches);
  touches->operand("dst", sort.destination);
  touches->operand("src0", sort.values);
  touches->operand("src1", sort.indices);
  const uint64_t count = uint64_t{sort.repeats} * kSorted;
  touches->read(sort.values.address, count * bytes_of(sort.type));
  touches->read(sort.indices.address, count * 4);
  touches->write(sort.destination.address, count * kRecordBytes);
  if (sort.work.address == nullptr) return;
  touches->operand("tmp", sort.work);
  // How much of it the unit needs is not known.
  touches->write(sort.work.address, std::min(sort.work.bytes, count * kRecordBytes));
}

void execute_merge(const Instruction& instruction) {
  const auto& merge = static_cast<const MergeInstruction&>(instruction);
  std::vector<Record> merged;
  for (uint64_t r = 0; r < merge.repeats; ++r)
    counts = merge_once(merge, r * of_repeat(merge), [&](const Record& record) { merged.push_back(record); });
  std::memcpy(merge.destination.address, merged.data(), merged.size() * kRecordBytes);
}

void touch_merge(const Instruction& instruction, Touches* touches) {
  const auto& merge = static_cast<const MergeInstruction&>(instruction);
  static constexpr const char* kNames[] = {"src1", "src2", "src3", "src4"};
  constexpr uint32_t kMaxRecords = 4095;
  check_alignment(merge.name, {&merge.destination}, touches);
  if (merge.valid != 0b11 && merge.valid != 0b111 && merge.valid != 0b1111)
    touches->misuse("MrgSort: validBit is not 0b11, 0b111 or 0b1111");
  if (merge.repeats > 1 && (merge.valid != 0b1111 || merge.stops))
    touches->misuse("MrgSort: several repeats need all four queues, and no ifExhaustedSuspension");
  touches->operand("dst", merge.destination);
  const uint64_t step = of_repeat(merge);
  for (int i = 0; i < 4; ++i) {
    if ((merge.valid >> i & 1) == 0) continue;
    if (merge.lengths[i] > kMaxRecords)
      touches->misuse(("MrgSort: a queue of " + std::to_string(merge.lengths[i]) + " records, at most 4095").c_str());
    if (merge.repeats > 1 && merge.lengths[i] != merge.lengths[0])
      touches->misuse("MrgSort: several repeats need four queues of one length");
    touches->operand(kNames[i], merge.queues[i]);
    for (uint64_t r = 0; r < merge.repeats; ++r)
      touches->read(records_of(merge.queues[i]) + r * step, uint64_t{merge.lengths[i]} * kRecordBytes);
  }
  uint64_t written = step * merge.repeats;
  if (merge.stops) {
    written = 0;
    merge_once(merge, 0, [&](const Record&) { ++written; });
  }
  if (written > 0) touches->write(merge.destination.address, written * kRecordBytes);
}

void execute_extract(const Instruction& instruction) {
  const auto& extract = static_cast<const ExtractInstruction&>(instruction);
  const uint32_t width = bytes_of(extract.type);
  auto* values = static_cast<char*>(extract.values.address);
  auto* indices = static_cast<char*>(extract.indices.address);
  const size_t count = size_t{extract.repeats} * kSorted;
  // The results may be where the records are.
  const std::vector<Record> records(records_of(extract.source), records_of(extract.source) + count);
  for (size_t i = 0; i < count; ++i) {
    std::memcpy(values + i * width, records[i].bytes, width);
    std::memcpy(indices + i * 4, records[i].bytes + 4, 4);
  }
}

void touch_extract(const Instruction& instruction, Touches* touches) {
  const auto& extract = static_cast<const ExtractInstruction&>(instruction);
  check_alignment(extract.name, {&extract.values, &extract.indices, &extract.source}, touches);
  touches->operand("dst value", extract.values);
  touches->operand("dst index", extract.indices);
  touches->operand("src", extract.source);
  const uint64_t count = uint64_t{extract.repeats} * kSorted;
  touches->read(extract.source.address, count * kRecordBytes);
  touches->write(extract.values.address, count * bytes_of(extract.type));
  touches->write(extract.indices.address, count * 4);
}

}  // namespace softnpu::kernel
