#include "ops/math/reduce/reduce.h"

#include <algorithm>
#include <memory>
#include <string>

#include "base/text.h"
#include "ops/core/convert/element_rows.h"
#include "ops/core/describe.h"
#include "ops/core/iterate/view.h"
#include "ops/core/operand_run.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

// Results and values per tile: both fit the first-level cache.
constexpr int64_t kMaxLines = 512;
constexpr int64_t kTile = 1024;
constexpr size_t kMaxBytes = 16;
// Values of the smallest piece for a thread.
constexpr int64_t kGrain = 1 << 14;
// Enough pieces to keep any number of threads busy.
constexpr int64_t kManyTurns = 64;
// The cost of one value in the operations of threads_for: memory dominates.
constexpr double kFlopsPerValue = 16;

int64_t ceil_of(int64_t a, int64_t b) { return (a + b - 1) / b; }

// A planned reduction. Immutable: several threads may run it. The partition of the work, and thus every rounding,
// depends only on the shape.
class ReduceTask {
 public:
  // The addresses of `self` and of the wanted results.
  using Addresses = std::array<void*, 1 + kMaxResults>;

  ReduceTask(const Reduction& reduction, const ReduceKernel& kernel, const aclTensor& self, const Results& results,
             ReduceSpace space)
      : kernel_(kernel), constants_(reduction.constants), space_(std::move(space)) {
    reader_ = ElementReader(self.dtype, reduction.dtype);
    compute_bytes_ = static_cast<ptrdiff_t>(compute_type_size(compute_type_of(reduction.dtype)));
    for (size_t k = 0; k < kMaxResults; ++k) {
      wanted_[k] = results[k] != nullptr;
      if (!wanted_[k]) continue;
      writers_[k] = ElementWriter(reduction.results[k], results[k]->dtype);
      result_bytes_[k] = static_cast<ptrdiff_t>(compute_type_size(compute_type_of(reduction.results[k])));
    }
    by_columns_ = space_.is_by_columns();
    const int64_t most =
        by_columns_ ? std::min<int64_t>(kMaxLines, static_cast<int64_t>(kernel.most_columns)) : kMaxLines;
    const int64_t length = std::max<int64_t>(space_.reduced_count(), 1);
    block_ = std::clamp<int64_t>(by_columns_ ? most : ceil_of(kGrain, length), 1, most);
    blocks_ = ceil_of(space_.kept_count(), block_);
    chunk_ = length;
    if (blocks_ < kManyTurns / 4) {
      const int64_t chunks =
          std::min(ceil_of(kManyTurns, blocks_), ceil_of(length * std::min(block_, space_.kept_count()), 2 * kGrain));
      chunk_ = ceil_of(length, std::max<int64_t>(chunks, 1));
    }
    chunks_ = ceil_of(length, chunk_);
    addresses_[0] = const_cast<char*>(space_.in());
    for (size_t k = 0; k < kMaxResults; ++k) {
      if (wanted_[k]) addresses_[location_[k] = count_++] = space_.out(k);
    }
    message_ = describe_later({&self});
    const double values = static_cast<double>(space_.kept_count()) * static_cast<double>(length);
    const double cost = kFlopsPerValue * reduction.cost * values;
    threads_ = threads_for(cost);
    work_ = cost;
  }

  double work() const { return work_; }
  size_t operand_count() const { return count_; }
  std::string describe() const { return message_(); }
  const Addresses& addresses() const { return addresses_; }
  Checked workspace_bytes() const {
    return checked(chunks_ == 1 ? 0 : chunks_) * space_.kept_count() * kernel_.state_bytes;
  }

  bool needs_workspace() const { return chunks_ != 1; }

  // Without a workspace.
  Status run(const Addresses& memory, int threads) const {
    parallel_for(blocks_, turn(), threads, [&](int64_t first, int64_t last) {
      for (int64_t block = first; block < last; ++block) run_block(block, memory);
    });
    return Status::ok();
  }

  void run_chunks(void* workspace) const {
    auto* states = static_cast<char*>(workspace);
    parallel_for(blocks_ * chunks_, 1, threads_, [&](int64_t first, int64_t last) {
      for (int64_t turn = first; turn < last; ++turn) run_chunk(turn / chunks_, turn % chunks_, states);
    });
    for (int64_t block = 0; block < blocks_; ++block) {
      char* own = states + at(block, 0);
      const size_t count = lines(block);
      for (int64_t chunk = 1; chunk < chunks_; ++chunk) kernel_.merge(own, states + at(block, chunk), count);
      finish(block, own, addresses_);
    }
  }

 private:
  int64_t turn() const { return std::max<int64_t>(1, kGrain / std::max<int64_t>(1, block_ * space_.reduced_count())); }
  size_t lines(int64_t block) const {
    return static_cast<size_t>(std::min(block_, space_.kept_count() - block * block_));
  }
  // The offset in the workspace of the states of a chunk of a block.
  size_t at(int64_t block, int64_t chunk) const {
    return static_cast<size_t>(chunk * space_.kept_count() + block * block_) * kernel_.state_bytes;
  }

  void run_block(int64_t block, const Addresses& memory) const {
    alignas(64) char states[kMaxLines * kMaxStateBytes];
    kernel_.start(states, lines(block));
    reduce(block, 0, space_.reduced_count(), states, static_cast<const char*>(memory[0]));
    finish(block, states, memory);
  }

  void run_chunk(int64_t block, int64_t chunk, char* workspace) const {
    char* states = workspace + at(block, chunk);
    kernel_.start(states, lines(block));
    reduce(block, chunk * chunk_, std::min(space_.reduced_count(), (chunk + 1) * chunk_), states, space_.in());
  }

  void reduce(int64_t block, int64_t first, int64_t last, char* states, const char* in) const {
    const int64_t line = block * block_;
    space_.for_kept(line, line + static_cast<int64_t>(lines(block)), [&](const ReduceRun& kept) {
      int64_t index = first;
      space_.for_reduced(first, last, [&](const ReduceRun& reduced) {
        accumulate(states, kept, reduced, index, in);
        index += reduced.count;
      });
      states += static_cast<size_t>(kept.count) * kernel_.state_bytes;
    });
  }

  // Updates the states of the lines with a grid of lines and positions.
  void accumulate(char* states, const ReduceRun& kept, const ReduceRun& reduced, int64_t index, const char* in) const {
    const char* from = in + kept.in + reduced.in;
    const ReduceTile tile = by_columns_ ? kernel_.columns : kernel_.rows;
    const auto lines = static_cast<size_t>(kept.count);
    const ptrdiff_t inner = by_columns_ ? kept.in_stride : reduced.in_stride;
    const ptrdiff_t outer = by_columns_ ? reduced.in_stride : kept.in_stride;
    if (reader_.is_direct() && inner == compute_bytes_) {
      return tile(states, from, outer, lines, static_cast<size_t>(reduced.count), index, constants_.data());
    }
    alignas(64) char values[kTile * kMaxBytes];
    if (by_columns_) {
      const int64_t most = std::max<int64_t>(1, kTile / kept.count);
      for (int64_t r = 0; r < reduced.count; r += most) {
        const int64_t here = std::min(most, reduced.count - r);
        gather(from + r * outer, inner, kept.count, outer, here, values);
        tile(states, values, kept.count * compute_bytes_, lines, static_cast<size_t>(here), index + r,
             constants_.data());
      }
      return;
    }
    const int64_t length = std::min(kTile, reduced.count);
    const int64_t most = kTile / length;
    for (int64_t i = 0; i < kept.count; i += most) {
      const int64_t rows = std::min(most, kept.count - i);
      for (int64_t r = 0; r < reduced.count; r += length) {
        const int64_t here = std::min(length, reduced.count - r);
        gather(from + i * outer + r * inner, inner, here, outer, rows, values);
        tile(states + static_cast<size_t>(i) * kernel_.state_bytes, values, here * compute_bytes_,
             static_cast<size_t>(rows), static_cast<size_t>(here), index + r, constants_.data());
      }
    }
  }

  // Converts `rows` rows of `count` elements to contiguous values of the compute type.
  void gather(const char* from, ptrdiff_t stride, int64_t count, ptrdiff_t row, int64_t rows, char* values) const {
    if (row == stride * count) {
      count *= rows;
      rows = 1;
    }
    for (int64_t i = 0; i < rows; ++i, from += row, values += count * compute_bytes_) {
      reader_.read(from, stride, static_cast<size_t>(count), values);
    }
  }

  void finish(int64_t block, const char* states, const Addresses& memory) const {
    alignas(64) char values[kMaxResults][kMaxLines * kMaxBytes];
    kernel_.finish(states, lines(block), constants_.data(), wanted_[0] ? values[0] : nullptr,
                   wanted_[1] ? values[1] : nullptr);
    const int64_t line = block * block_;
    std::array<const char*, kMaxResults> next{values[0], values[1]};
    space_.for_kept(line, line + static_cast<int64_t>(lines(block)), [&](const ReduceRun& kept) {
      for (size_t k = 0; k < kMaxResults; ++k) {
        if (!wanted_[k]) continue;
        writers_[k].write(next[k], static_cast<size_t>(kept.count),
                          static_cast<char*>(memory[location_[k]]) + kept.out[k], kept.out_stride[k]);
        next[k] += kept.count * result_bytes_[k];
      }
    });
  }

  ReduceKernel kernel_;
  std::array<double, kMaxReduceConstants> constants_;
  ReduceSpace space_;
  ElementReader reader_;
  std::array<ElementWriter, kMaxResults> writers_;
  std::array<bool, kMaxResults> wanted_{};
  Addresses addresses_{};
  std::array<size_t, kMaxResults> location_{};  // of a wanted result's address
  size_t count_ = 1;                            // of addresses
  Describe message_;
  std::array<ptrdiff_t, kMaxResults> result_bytes_{};
  ptrdiff_t compute_bytes_ = 0;
  bool by_columns_ = false;
  double work_ = 0;
  int threads_ = 1;
  int64_t block_ = 1;  // results per block
  int64_t blocks_ = 0;
  int64_t chunk_ = 1;  // values of each result per chunk
  int64_t chunks_ = 1;
};

Status check_known(const aclTensor& tensor) {
  if (is_known(tensor.dtype)) return Status::ok();
  return {ACLNN_ERR_PARAM_INVALID, text("no operator computes with data type ", static_cast<int>(tensor.dtype))};
}

}  // namespace

Status plan_reduce(const Reduction& reduction, const aclTensor& self, const std::vector<bool>& marked, bool keepdim,
                   const Results& results, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(check_known(self));
  for (const aclTensor* result : results) {
    if (result != nullptr) SOFTNPU_RETURN_IF_ERROR(check_known(*result));
  }
  const ReduceKernel kernel = reduce_kernel(reduction.op, compute_type_of(reduction.dtype));
  if (kernel.rows == nullptr) {
    return {ACLNN_ERR_PARAM_INVALID, text("not defined for ", name_of(reduction.dtype), " values: ", describe(self))};
  }
  ReduceSpace space;
  SOFTNPU_RETURN_IF_ERROR(ReduceSpace::make(self, marked, keepdim, results, &space));
  if (space.kept_count() == 0) return plan_nothing(plan);
  if (reduction.needs_values && space.reduced_count() == 0) {
    return {ACLNN_ERR_PARAM_INVALID,
            text("no value to reduce in ", describe(self), ", and the operation has no neutral one")};
  }
  auto task = std::make_shared<const ReduceTask>(reduction, kernel, self, results, std::move(space));
  if (!task->needs_workspace()) {
    OperandRun<ReduceTask, 1 + kMaxResults>{task, task->addresses()}.put(plan);
    return Status::ok();
  }
  plan->work = task->work();
  plan->workspace_bytes = task->workspace_bytes();
  plan->run = [task](void* workspace) {
    task->run_chunks(workspace);
    return Status::ok();
  };
  plan->describe = [task] { return task->describe(); };
  return Status::ok();
}

}  // namespace softnpu
