#include "ops/nn/loss/map_sum.h"

#include <algorithm>
#include <memory>

#include "base/small_vector.h"
#include "base/text.h"
#include "ops/core/convert/element_rows.h"
#include "ops/core/describe.h"
#include "ops/core/iterate/space.h"
#include "ops/core/tensor_memory.h"
#include "ops/nn/loss/functions.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

constexpr size_t kMaxInputs = 5;
constexpr int64_t kTile = 512;  // values per tile
constexpr int64_t kChunk = 64 * kTile;
constexpr size_t kMaxBytes = sizeof(double);
constexpr double kFlopsPerElement = 16;

// A planned sum. Immutable: several threads may run it. Each piece writes its sum to the workspace.
class MapSumTask {
 public:
  MapSumTask(const Mapping& mapping, std::initializer_list<MapInput> inputs, bool mean, char* out,
             aclDataType out_dtype, Space space)
      : mapping_(mapping), space_(std::move(space)), out_(out) {
    is_double_ = compute_type_of(mapping.dtype) == ComputeType::kF64;
    compute_bytes_ = is_double_ ? sizeof(double) : sizeof(float);
    total_ = total_kernel(compute_type_of(mapping.dtype));
    writer_ = ElementWriter(ACL_DOUBLE, out_dtype);
    divisor_ = mean ? static_cast<double>(space_.count()) : 1;
    size_t operand = 0;
    for (const MapInput& given : inputs) {
      Input& input = inputs_[count_++];
      if (given.scalar != nullptr) {
        input.value = given.scalar->as_double();
        input.is_scalar = true;
      } else {
        input.operand = operand++;
        input.reader = ElementReader(space_.operand(input.operand).dtype, mapping.dtype);
        const Operand& read = space_.operand(input.operand);
        const bool is_direct = input.reader.is_direct() && !read.is_constant;
        if (is_direct && space_.is_contiguous(input.operand)) input.memory = read.data;
      }
    }
    const double cost = kFlopsPerElement * mapping.cost * static_cast<double>(space_.count());
    threads_ = threads_for(cost);
    work_ = cost;
  }

  double work() const { return work_; }
  Checked workspace_bytes() const { return checked(pieces()) * sizeof(double); }

  void run(void* workspace) const {
    auto* sums = static_cast<double*>(workspace);
    parallel_for(pieces(), 1, threads_, [&](int64_t first, int64_t last) {
      for (int64_t chunk = first; chunk < last; ++chunk) {
        sums[chunk] = sum_of(chunk * kChunk, std::min(space_.count(), (chunk + 1) * kChunk));
      }
    });
    double sum = 0;
    for (int64_t chunk = 0; chunk < pieces(); ++chunk) sum += sums[chunk];
    sum /= divisor_;
    writer_.write(&sum, 1, out_, 0);
  }

 private:
  struct Input {
    ElementReader reader;
    size_t operand = 0;
    double value = 0;
    bool is_scalar = false;
    const char* memory = nullptr;  // the elements, if they are contiguous and in the compute type
  };

  int64_t pieces() const { return (space_.count() + kChunk - 1) / kChunk; }

  double sum_of(int64_t first, int64_t last) const {
    alignas(64) char tiles[kMaxInputs + 1][kTile * kMaxBytes];
    const void* in[kMaxInputs] = {};
    for (size_t k = 0; k < count_; ++k) {
      in[k] = tiles[k];
      if (!inputs_[k].is_scalar) continue;
      if (is_double_) {
        std::fill_n(reinterpret_cast<double*>(tiles[k]), kTile, inputs_[k].value);
      } else {
        std::fill_n(reinterpret_cast<float*>(tiles[k]), kTile, static_cast<float>(inputs_[k].value));
      }
    }
    double sum = 0;
    for (int64_t at = first; at < last; at += kTile) {
      const int64_t here = std::min(kTile, last - at);
      for (size_t k = 0; k < count_; ++k) {
        const Input& input = inputs_[k];
        if (input.memory != nullptr) {
          in[k] = input.memory + static_cast<size_t>(at) * compute_bytes_;
        } else if (!input.is_scalar) {
          gather(input, at, here, tiles[k]);
        }
      }
      mapping_.kernel(tiles[count_], in, static_cast<size_t>(here), mapping_.constants.data());
      sum += total_(tiles[count_], static_cast<size_t>(here));
    }
    return sum;
  }

  void gather(const Input& input, int64_t at, int64_t count, char* tile) const {
    space_.for_runs(input.operand, at, count, [&](const char* from, ptrdiff_t stride, size_t here) {
      input.reader.read(from, stride, here, tile);
      tile += here * compute_bytes_;
    });
  }

  Mapping mapping_;
  Space space_;
  std::array<Input, kMaxInputs> inputs_{};
  size_t count_ = 0;
  ElementWriter writer_;
  char* out_ = nullptr;
  double divisor_ = 1;
  size_t compute_bytes_ = 0;
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
