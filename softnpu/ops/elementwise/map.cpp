#include "ops/elementwise/map.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "base/text.h"
#include "ops/convert/element_rows.h"
#include "ops/describe.h"
#include "ops/iterate/space.h"
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
constexpr double kFlopsPerElement = 16;

// One planned mapping. Immutable: several threads run it.
class MapTask {
 public:
  MapTask(const Mapping& mapping, Space space) : mapping_(mapping), space_(std::move(space)) {
    wide_bytes_ = wide_size(wide_of(mapping.dtype));
    writer_ = ElementWriter(mapping.dtype, space_.operand(0).dtype);
    in_place_ = writer_.is_direct() && space_.is_contiguous(0);
    all_in_place_ = in_place_;
    for (size_t k = 1; k < space_.operands(); ++k) {
      Input& input = inputs_[k - 1];
      input.reader = ElementReader(space_.operand(k).dtype, mapping.dtype);
      input.is_constant = space_.operand(k).is_constant;
      input.in_place = !input.is_constant && input.reader.is_direct() && space_.is_contiguous(k);
      all_in_place_ = all_in_place_ && input.in_place;
    }
    const double cost = kFlopsPerElement * mapping.cost * static_cast<double>(space_.count());
    threads_ = threads_for(cost);
    small_ = cost < kSmallFlops;
  }

  bool is_small() const { return small_; }

  void run() const {
    parallel_for(space_.count(), kGrain, threads_, [this](int64_t first, int64_t last) { run_piece(first, last); });
  }

 private:
  struct Input {
    ElementReader reader;
    bool is_constant = false;
    bool in_place = false;  // the kernel reads the tensor's memory
  };

  void run_piece(int64_t first, int64_t last) const {
    const size_t inputs = space_.operands() - 1;
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
          in[k] = space_.operand(k + 1).data + at * static_cast<int64_t>(wide_bytes_);
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

  void gather(size_t k, int64_t at, int64_t count, char* tile) const {
    space_.for_runs(k + 1, at, count, [&](const char* from, ptrdiff_t stride, size_t here) {
      inputs_[k].reader.read(from, stride, here, tile);
      tile += here * wide_bytes_;
    });
  }

  void fill_constant(size_t k, size_t count, char* tile) const {
    inputs_[k].reader.read(space_.operand(k + 1).data, 0, count, tile);
  }

  void scatter(int64_t at, int64_t count, const char* tile) const {
    space_.for_runs(0, at, count, [&](char* to, ptrdiff_t stride, size_t here) {
      writer_.write(tile, here, to, stride);
      tile += here * wide_bytes_;
    });
  }

  Mapping mapping_;
  Space space_;
  std::array<Input, kMostInputs> inputs_{};
  ElementWriter writer_;
  size_t wide_bytes_ = 0;
  bool in_place_ = false;  // the kernel writes the result's memory
  bool all_in_place_ = false;
  bool small_ = false;
  int threads_ = 1;
};

template <typename T>
void put(double re, double im, int64_t integer, bool integral, void* to) {
  T value;
  if constexpr (std::is_integral_v<T>) {
    value = integral ? static_cast<T>(integer) : static_cast<T>(re);
  } else if constexpr (std::is_floating_point_v<T>) {
    value = integral ? static_cast<T>(integer) : static_cast<T>(re);
  } else {
    value = T(static_cast<typename T::value_type>(re), static_cast<typename T::value_type>(im));
  }
  std::memcpy(to, &value, sizeof value);
}

}  // namespace

void Mapping::set(size_t i, const aclScalar& value) {
  void* to = constants.data() + i * wide_size(wide_of(dtype));
  with_wide(wide_of(dtype), [&]<typename T>() {
    put<T>(value.value, 0, value.integer, is_integral(value.dtype), to);
  });
}

void Mapping::set(size_t i, double value) {
  void* to = constants.data() + i * wide_size(wide_of(dtype));
  with_wide(wide_of(dtype), [&]<typename T>() { put<T>(value, 0, 0, false, to); });
}

Status plan_map(const Mapping& mapping, std::initializer_list<const aclTensor*> inputs, const aclTensor& out,
                Plan* plan) {
  std::array<const aclTensor*, Space::kMostOperands> tensors{&out};
  std::copy(inputs.begin(), inputs.end(), tensors.begin() + 1);
  const std::span<const aclTensor* const> all(tensors.data(), inputs.size() + 1);
  for (const aclTensor* tensor : all) {
    if (!is_known(tensor->dtype)) {
      return {ACLNN_ERR_PARAM_INVALID, text("no operator computes with data type ", static_cast<int>(tensor->dtype))};
    }
  }
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
  auto task = std::make_shared<const MapTask>(mapping, std::move(space));
  plan->is_small = task->is_small();
  plan->run = [task](void*) {
    task->run();
    return Status::ok();
  };
  plan->describe = [said = describe(all)] { return said; };
  return Status::ok();
}

}  // namespace softnpu
