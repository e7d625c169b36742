#include "ops/elementwise/map.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "base/small_vector.h"
#include "base/text.h"
#include "ops/convert/element_rows.h"
#include "ops/describe.h"
#include "ops/iterate/space.h"
#include "ops/iterate/sweeps.h"
#include "ops/parallel.h"

namespace softnpu {
namespace {

constexpr size_t kMostInputs = Space::kMostOperands - 1;
// Values at a time where operands are converted: all of them fit into the first-level cache.
constexpr int64_t kTile = 512;
constexpr size_t kMostBytes = 16;
// The least that is worth a thread's turn.
constexpr int64_t kGrain = 32 * kTile;
// About what one element costs, in the operations that threads_for counts: it waits for memory.
constexpr double kElementFlops = 16;

double cost_of(const Mapping& mapping, int64_t count) {
  return kElementFlops * mapping.cost * static_cast<double>(count);
}

// `value` in the wide type of `dtype`, as PyTorch converts a number of Python's: an integer wraps at the dtype's width,
// a floating-point number keeps the precision of the wide type.
void put(const aclScalar& value, aclDataType dtype, void* to) {
  with_wide(wide_of(dtype), [&]<typename T>() {
    T converted;
    if constexpr (std::is_same_v<T, uint64_t>) {
      converted = value.as_uint64();
    } else if constexpr (std::is_integral_v<T>) {
      converted = static_cast<T>(value.as_int64());
    } else if constexpr (std::is_floating_point_v<T>) {
      converted = static_cast<T>(value.as_double());
    } else {
      converted = static_cast<T>(value.as_complex());
    }
    std::memcpy(to, &converted, sizeof converted);
  });
  if (!is_integral(dtype)) return;
  uint64_t narrow = 0;
  store_row(dtype)(to, 1, &narrow, sizeof narrow);
  load_row(dtype)(&narrow, sizeof narrow, 1, to);
}

// A small mapping whose kernel finds its operands as it wants them. It lies in the plan, nothing of it on the heap.
struct FlatMap {
  MapKernel kernel;
  void* out;
  size_t count;
  std::array<const void*, kMostInputs> in;
  decltype(Mapping::constants) constants;

  // Whether all of `space`, whose operands are the result and the inputs, is such memory.
  static bool fits(const Mapping& mapping, size_t inputs, const Space& space) {
    if (space.operands() != inputs + 1 || cost_of(mapping, space.count()) >= kSmallFlops)
      return false;  // or there are scalars
    for (size_t k = 0; k <= inputs; ++k) {
      const Operand& operand = space.operand(k);
      if (operand.is_constant || !is_direct(operand.dtype, mapping.dtype) || !space.is_contiguous(k)) return false;
    }
    return true;
  }

  FlatMap(const Mapping& mapping, const Space& space)
      : kernel(mapping.kernel),
        out(space.operand(0).data),
        count(static_cast<size_t>(space.count())),
        in{},
        constants(mapping.constants) {
    for (size_t k = 1; k < space.operands(); ++k) in[k - 1] = space.operand(k).data;
  }

  Status operator()(void* /*workspace*/) const {
    kernel(out, in.data(), count, constants.data());
    return Status::ok();
  }
};

// The bytes of `operand` in `space`. Where it lies element behind element, the sweep's elements are its own.
SweepMemory memory_of(const Space& space, size_t operand, bool is_written) {
  const Operand& from = space.operand(operand);
  const auto size = static_cast<uint32_t>(aclDataTypeSize(from.dtype));
  const bool is_row = !from.is_constant && space.is_contiguous(operand);
  const char* begin = from.data;
  const char* end = from.data + size;
  for (size_t d = 0; !from.is_constant && d < space.dims(); ++d) {
    const ptrdiff_t reach = (space.size(d) - 1) * space.stride(operand, d);
    (reach < 0 ? begin : end) += reach;
  }
  return {begin, end, is_row ? size : 0, is_written};
}

// One planned mapping. Immutable: several threads run it.
class MapTask final : public Sweep {
 public:
  MapTask(const Mapping& mapping, std::initializer_list<MapInput> inputs, Space space)
      : mapping_(mapping), space_(std::move(space)), input_count_(inputs.size()) {
    wide_bytes_ = wide_size(wide_of(mapping.dtype));
    writer_ = ElementWriter(mapping.dtype, space_.operand(0).dtype);
    in_place_ = writer_.is_direct() && space_.is_contiguous(0);
    all_in_place_ = in_place_;
    Input* input = inputs_.data();
    size_t operand = 0;
    for (const MapInput& given : inputs) {
      if (given.scalar != nullptr) {
        put(*given.scalar, mapping.dtype, input->value.data());
        input->is_constant = true;
      } else {
        input->operand = ++operand;
        input->reader = ElementReader(space_.operand(operand).dtype, mapping.dtype);
        input->is_constant = space_.operand(operand).is_constant;
        input->in_place = !input->is_constant && input->reader.is_direct() && space_.is_contiguous(operand);
      }
      all_in_place_ = all_in_place_ && input->in_place;
      ++input;
    }
    cost_ = cost_of(mapping, space_.count());
  }

  bool is_small() const { return cost_ < kSmallFlops; }
  // Whether the kernel reads and writes memory element behind element: what is gathered or converted takes longer than
  // memory, and gains nothing from the cache.
  bool is_sweep() const {
    return in_place_ && std::all_of(inputs_.begin(), inputs_.begin() + static_cast<ptrdiff_t>(input_count_),
                                    [](const Input& input) { return input.is_constant || input.in_place; });
  }

  void run_all() const {
    parallel_for(count(), kGrain, threads_for(cost_), [this](int64_t first, int64_t last) { run(first, last); });
  }

  int64_t count() const override { return space_.count(); }

  void add_memory(std::vector<SweepMemory>* to) const override {
    for (size_t k = 0; k < space_.operands(); ++k) to->push_back(memory_of(space_, k, k == 0));
  }

  void run_together(std::span<const Sweep* const> sweeps) const override {
    run_sweeps(sweeps, cost_ * static_cast<double>(sweeps.size()));
  }

  void run(int64_t first, int64_t last) const override {
    const size_t inputs = input_count_;
    alignas(64) char tiles[kMostInputs + 1][kTile * kMostBytes];
    const void* in[kMostInputs] = {};
    for (size_t k = 0; k < inputs; ++k) {
      in[k] = tiles[k];
      if (inputs_[k].is_constant) fill_constant(k, static_cast<size_t>(std::min(kTile, last - first)), tiles[k]);
    }
    const int64_t step = all_in_place_ ? last - first : kTile;
    for (int64_t at = first; at < last; at += step) {
      const int64_t here = std::min(step, last - at);
      for (size_t k = 0; k < inputs; ++k) {
        const Input& input = inputs_[k];
        if (input.in_place) {
          in[k] = space_.operand(input.operand).data + at * static_cast<int64_t>(wide_bytes_);
        } else if (!input.is_constant) {
          gather(k, at, here, tiles[k]);
        }
      }
      if (in_place_) {
        mapping_.kernel(space_.operand(0).data + at * static_cast<int64_t>(wide_bytes_), in, static_cast<size_t>(here),
                        mapping_.constants.data());
      } else {
        mapping_.kernel(tiles[inputs], in, static_cast<size_t>(here), mapping_.constants.data());
        scatter(at, here, tiles[inputs]);
      }
    }
  }

 private:
  struct Input {
    size_t operand = 0;                                     // of the space; 0, the result, for a scalar
    alignas(16) std::array<std::byte, kMostBytes> value{};  // the scalar's, in the wide type
    ElementReader reader;
    bool is_constant = false;
    bool in_place = false;  // the kernel reads the tensor's memory
  };

  void gather(size_t k, int64_t at, int64_t count, char* tile) const {
    space_.for_runs(inputs_[k].operand, at, count, [&](const char* from, ptrdiff_t stride, size_t here) {
      inputs_[k].reader.read(from, stride, here, tile);
      tile += here * wide_bytes_;
    });
  }

  void fill_constant(size_t k, size_t count, char* tile) const {
    const Input& input = inputs_[k];
    if (input.operand != 0) return input.reader.read(space_.operand(input.operand).data, 0, count, tile);
    std::memcpy(tile, input.value.data(), wide_bytes_);
    for (size_t filled = 1; filled < count; filled *= 2) {
      std::memcpy(tile + filled * wide_bytes_, tile, std::min(filled, count - filled) * wide_bytes_);
    }
  }

  void scatter(int64_t at, int64_t count, const char* tile) const {
    space_.for_runs(0, at, count, [&](char* to, ptrdiff_t stride, size_t here) {
      writer_.write(tile, here, to, stride);
      tile += here * wide_bytes_;
    });
  }

  Mapping mapping_;
  Space space_;
  size_t input_count_ = 0;
  std::array<Input, kMostInputs> inputs_{};
  ElementWriter writer_;
  size_t wide_bytes_ = 0;
  bool in_place_ = false;  // the kernel writes the result's memory
  bool all_in_place_ = false;
  double cost_ = 0;
};

}  // namespace

void Mapping::set(size_t i, const aclScalar& value) {
  put(value, dtype, constants.data() + i * wide_size(wide_of(dtype)));
}

void Mapping::set(size_t i, double value) {
  const Wide wide = wide_of(dtype);
  with_wide(wide, [&]<typename T>() {
    const T converted = static_cast<T>(value);
    std::memcpy(constants.data() + i * sizeof converted, &converted, sizeof converted);
  });
}

Status plan_map(const Mapping& mapping, std::initializer_list<MapInput> inputs, const aclTensor& out, Plan* plan) {
  SmallVector<const aclTensor*, Space::kMostOperands> tensors;
  tensors.push_back(&out);
  for (const MapInput& input : inputs) {
    if (input.tensor != nullptr) tensors.push_back(input.tensor);
  }
  const std::span<const aclTensor* const> all(tensors.data(), tensors.size());
  if (mapping.kernel == nullptr) {
    return {ACLNN_ERR_PARAM_INVALID, text("not defined for ", name_of(mapping.dtype), " values: ", describe(all))};
  }
  Space space;
  SOFTNPU_RETURN_IF_ERROR(Space::make(all, 1, &space));
  if (space.count() == 0) {
    plan->is_small = true;
    plan->run = [](void*) { return Status::ok(); };
    return Status::ok();
  }
  plan->describe = describe_later(all);
  if (FlatMap::fits(mapping, inputs.size(), space)) {
    plan->is_small = true;
    plan->run = FlatMap(mapping, space);
    return Status::ok();
  }
  auto task = std::make_shared<const MapTask>(mapping, inputs, std::move(space));
  plan->is_small = task->is_small();
  if (task->is_sweep()) plan->sweep = task;
  plan->run = [task = std::move(task)](void*) {
    task->run_all();
    return Status::ok();
  };
  return Status::ok();
}

}  // namespace softnpu
