#include "ops/tensor/shape/joined_blocks.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/copy_bytes.h"
#include "ops/core/contiguous.h"
#include "ops/core/iterate/view.h"
#include "ops/core/operand_run.h"
#include "ops/core/tensor_memory.h"
#include "simd/non_temporal.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

// A block of every row of the result.
struct Block {
  int64_t offset;
  int64_t bytes;
};

struct JoinedBlocks {
  static constexpr size_t kMaxOperands = 6;  // of a cached launch

  std::vector<Block> blocks;  // in ascending order of their offsets
  int64_t row_bytes = 0;
  int64_t rows = 0;
  double cost = 0;
  Describe message;

  double work() const { return cost; }
  size_t operand_count() const { return blocks.size() + 1; }
  std::string describe() const { return message(); }

  // `at`: the result, then the tensors.
  Status run(std::span<void* const> at, int threads) const {
    constexpr int64_t kGrainBytes = 1 << 16;
    parallel_for(row_bytes * rows, kGrainBytes, threads, [&](int64_t first, int64_t last) { copy(at, first, last); });
    return Status::ok();
  }

 private:
  // The bytes [first, last) of the result.
  void copy(std::span<void* const> at, int64_t first, int64_t last) const {
    const int64_t in_row = first % row_bytes;
    const auto behind = [](int64_t byte, const Block& block) { return byte < block.offset; };
    auto block = std::ranges::prev(std::upper_bound(blocks.begin(), blocks.end(), in_row, behind));
    for (int64_t row = first / row_bytes; first < last; ++row, block = blocks.begin()) {
      for (; block != blocks.end() && first < last; ++block) {
        const int64_t skipped = first - row * row_bytes - block->offset;
        const int64_t here = std::min(last - first, block->bytes - skipped);
        const auto* from = static_cast<const char*>(at[static_cast<size_t>(block - blocks.begin()) + 1]);
        copy_bytes(static_cast<char*>(at[0]) + first, from + row * block->bytes + skipped, static_cast<size_t>(here));
        first += here;
      }
    }
  }
};

}  // namespace

Status plan_joined_blocks(std::span<const aclTensor* const> tensors, size_t along, const aclTensor& out,
                          Describe message, Plan* plan, bool* is_planned) {
  *is_planned = false;
  const auto element = static_cast<int64_t>(aclDataTypeSize(out.dtype));
  const int64_t bytes = element_count(out) * element;
  if (bytes == 0 || bytes >= kNonTemporalBytes || !is_contiguous(out)) return Status::ok();
  auto task = std::make_shared<JoinedBlocks>();
  task->rows = 1;
  for (size_t i = 0; i < along; ++i) task->rows *= out.dims[i];
  task->row_bytes = bytes / task->rows;
  std::vector<void*> operands(1);
  SOFTNPU_RETURN_IF_ERROR(tensor_memory(out, "out", operands.data()));
  int64_t offset = 0;
  for (const aclTensor* tensor : tensors) {
    const int64_t own = element_count(*tensor) * element / task->rows;
    if (own == 0) continue;
    if (tensor->dtype != out.dtype || !is_contiguous(*tensor)) return Status::ok();
    SOFTNPU_RETURN_IF_ERROR(tensor_memory(*tensor, "a tensor", &operands.emplace_back()));
    task->blocks.push_back({offset, own});
    offset += own;
  }
  task->cost = effort_of(static_cast<double>(element_count(out))).work;
  task->message = std::move(message);
  *is_planned = true;
  if (operands.size() <= JoinedBlocks::kMaxOperands) {
    OperandRun<JoinedBlocks, JoinedBlocks::kMaxOperands> run{std::move(task)};
    std::ranges::copy(operands, run.operands.begin());
    run.put(plan);
    return Status::ok();
  }
  plan->work = task->cost;
  plan->describe = [task] { return task->describe(); };
  plan->run = [task, operands = std::move(operands), threads = threads_for(task->cost)](void*) {
    return task->run(operands, threads);
  };
  return Status::ok();
}

}  // namespace softnpu
