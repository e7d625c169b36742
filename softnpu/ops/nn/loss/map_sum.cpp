#include "ops/nn/loss/map_sum.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "base/small_vector.h"
#include "base/text.h"
#include "ops/core/convert/element_rows.h"
#include "ops/core/describe.h"
#include "ops/core/iterate/space.h"
#include "ops/core/iterate/tiles.h"
#include "ops/core/tensor_memory.h"
#include "ops/nn/loss/functions.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

constexpr size_t kMaxInputs = 5;
constexpr int64_t kChunk = 64 * Tiles::kTile;
constexpr size_t kMaxBytes = sizeof(double);
constexpr double kFlopsPerElement = 16;

// A planned sum. Immutable: several threads may run it. Each piece writes its sum to the workspace.
class MapSumTask {
 public:
  MapSumTask(const Mapping& mapping, std::initializer_list<MapInput> inputs, bool mean, char* out,
             aclDataType out_dtype, Space space)
      : mapping_(mapping), out_(out) {
    is_double_ = compute_type_of(mapping.dtype) == ComputeType::kF64;
    total_ = total_kernel(compute_type_of(mapping.dtype));
    writer_ = ElementWriter(ACL_DOUBLE, out_dtype);
    divisor_ = mean ? static_cast<double>(space.count()) : 1;
    work_ = kFlopsPerElement * mapping.cost * static_cast<double>(space.count());
    threads_ = threads_for(work_);
    for (const MapInput& given : inputs) {
      if (given.scalar != nullptr) numbers_[count_] = given.scalar->as_double();
      ++count_;
    }
    std::array<Tiles::Use, kMaxInputs> uses;
    uses.fill({mapping.dtype, Tiles::Access::kRead});
    const size_t tensors = space.operands();
    tiles_ = Tiles(std::move(space), {uses.data(), tensors});
  }

  double work() const { return work_; }
  Checked workspace_bytes() const { return checked(pieces()) * sizeof(double); }

  void run(void* workspace) const {
    auto* sums = static_cast<double*>(workspace);
    parallel_for(pieces(), 1, threads_, [&](int64_t first, int64_t last) {
      for (int64_t chunk = first; chunk < last; ++chunk) {
        sums[chunk] = sum_of(chunk * kChunk, std::min(tiles_.count(), (chunk + 1) * kChunk));
      }
    });
    double sum = 0;
    for (int64_t chunk = 0; chunk < pieces(); ++chunk) sum += sums[chunk];
    sum /= divisor_;
    writer_.write(&sum, 1, out_, 0);
  }

 private:
  using Buffer = char[Tiles::kTile * kMaxBytes];

  int64_t pieces() const { return (tiles_.count() + kChunk - 1) / kChunk; }

  double sum_of(int64_t first, int64_t last) const {
    alignas(64) Buffer numbers[kMaxInputs];
    alignas(64) Buffer results;
    for (size_t k = 0; k < count_; ++k) {
      if (numbers_[k]) fill(*numbers_[k], numbers[k]);
    }
    double sum = 0;
    tiles_.run(first, last, [&](int64_t, void* const* values, size_t count) {
      const void* in[kMaxInputs] = {};
      for (size_t k = 0; k < count_; ++k) in[k] = numbers_[k] ? numbers[k] : *values++;
      mapping_.kernel(results, in, count, mapping_.constants.data());
      sum += total_(results, count);
    });
    return sum;
  }

  void fill(double number, char* to) const {
    if (is_double_) {
      std::fill_n(reinterpret_cast<double*>(to), Tiles::kTile, number);
    } else {
      std::fill_n(reinterpret_cast<float*>(to), Tiles::kTile, static_cast<float>(number));
    }
  }

  Mapping mapping_;
  Tiles tiles_;                                              // of the inputs that are tensors
  std::array<std::optional<double>, kMaxInputs> numbers_{};  // of inputs that are scalars
  size_t count_ = 0;
  ElementWriter writer_;
  char* out_ = nullptr;
  double divisor_ = 1;
  bool is_double_ = false;
  TotalKernel total_ = nullptr;
  double work_ = 0;
  int threads_ = 1;
};

}  // namespace

Status plan_map_sum(const Mapping& mapping, std::initializer_list<MapInput> inputs, bool mean, const aclTensor& out,
                    Plan* plan) {
  SmallVector<const aclTensor*, kMaxInputs> tensors;
  for (const MapInput& input : inputs) {
    if (input.tensor != nullptr) tensors.push_back(input.tensor);
  }
  const std::span<const aclTensor* const> all(tensors.data(), tensors.size());
  if (!is_known(out.dtype) || element_count(out) != 1) {
    return {ACLNN_ERR_PARAM_INVALID, text("the result is ", describe(out), " where one number is needed")};
  }
  if (mapping.kernel == nullptr) {
    return {ACLNN_ERR_PARAM_INVALID, text("not defined for ", name_of(mapping.dtype), " values: ", describe(all))};
  }
  Space space;
  SOFTNPU_RETURN_IF_ERROR(Space::make(all, 0, &space));
  void* memory = nullptr;
  SOFTNPU_RETURN_IF_ERROR(tensor_memory(out, "the result", &memory));
  auto task = std::make_shared<const MapSumTask>(mapping, inputs, mean, static_cast<char*>(memory), out.dtype,
                                                 std::move(space));
  plan->work = task->work();
  plan->workspace_bytes = task->workspace_bytes();
  plan->run = [task](void* workspace) {
    task->run(workspace);
    return Status::ok();
  };
  plan->describe = describe_later(all);
  return Status::ok();
}

}  // namespace softnpu
