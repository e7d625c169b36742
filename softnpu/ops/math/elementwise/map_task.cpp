#include "ops/math/elementwise/map_task.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "ops/core/convert/number.h"
#include "ops/core/element.h"
#include "ops/core/iterate/gather.h"
#include "simd/non_temporal.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

// The smallest piece for a thread.
constexpr int64_t kGrain = int64_t{1} << 14;
// The cost of one element: memory dominates.
constexpr double kElementFlops = 16;
// Shorter runs are gathered in tiles: calling the kernel takes longer than copying them.
constexpr int64_t kMinRun = 4;

// The memory of `operand` in `space`. If it is contiguous, its elements correspond to the loop's.
MemoryAccess memory_of(const Space& space, size_t operand, bool is_written) {
  const Operand& from = space.operand(operand);
  const auto size = static_cast<uint32_t>(aclDataTypeSize(from.dtype));
  const bool is_row = !from.is_constant && space.is_contiguous(operand);
  const auto [begin, end] = space.extent(operand);
  return {begin, end, is_row ? size : 0, is_written};
}

// Whether the result overlaps `operand` other than element for element.
bool is_overwritten(const Space& space, size_t operand) {
  const MemoryAccess result = memory_of(space, 0, true);
  const MemoryAccess read = memory_of(space, operand, false);
  if (read.end <= result.begin || result.end <= read.begin) return false;
  bool is_same = space.operand(operand).data == space.operand(0).data &&
                 aclDataTypeSize(space.operand(operand).dtype) == aclDataTypeSize(space.operand(0).dtype);
  for (size_t d = 0; is_same && d < space.dims(); ++d) is_same = space.stride(operand, d) == space.stride(0, d);
  return !is_same;
}

bool is_run_in_place(const Space& space, size_t operand) {
  return space.stride(operand, space.dims() - 1) ==
         static_cast<ptrdiff_t>(aclDataTypeSize(space.operand(operand).dtype));
}

// Whether the elements of `operand` follow one another.
bool is_dense(const Space& space, size_t operand) {
  auto next = static_cast<ptrdiff_t>(aclDataTypeSize(space.operand(operand).dtype));
  for (size_t d = space.dims(); d-- > 0; next *= space.size(d)) {
    if (space.stride(operand, d) != next) return false;
  }
  return true;
}

// The number of elements after which those of `operand` are the same again; 0 if they are not.
int64_t period_of(const Space& space, size_t operand) {
  if (space.stride(operand, 0) != 0) return 0;
  size_t d = 1;
  while (d < space.dims() && space.stride(operand, d) == 0) ++d;
  int64_t period = 1;
  for (; d < space.dims(); ++d) period *= space.size(d);
  return period;
}

// An operand whose runs are one element each, read from run to run.
class Repeats {
 public:
  Repeats(const Space& space, size_t operand, int64_t first)
      : cursor_(space.layout_of(operand), space.operand(operand).data, first) {}

  // Sets the next `count` values of `bytes` bytes, and some behind them; read(address, to) converts one.
  template <typename Read>
  void fill(size_t bytes, int64_t count, char* tile, const Read& read) {
    with_element(bytes, [&]<typename T>() {
      constexpr size_t kAtOnce = 32 / sizeof(T);
      alignas(32) T value[kAtOnce];
      auto* to = reinterpret_cast<T*>(tile);
      for (int64_t here = 0; count > 0; count -= here, to += here) {
        here = std::min(cursor_.run(), count);
        read(cursor_.position(), value);
        for (size_t i = 1; i < kAtOnce; ++i) value[i] = value[0];
        for (int64_t i = 0; i < here; i += kAtOnce) std::memcpy(to + i, value, sizeof value);
        cursor_.skip(here);
      }
    });
  }

 private:
  Cursor<AddressLayout> cursor_;
};

// Sets all of `count` values of `bytes` bytes to the first one.
void repeat_first(char* tile, size_t bytes, size_t count) {
  with_element(bytes, [&]<typename T>() {
    auto* values = reinterpret_cast<T*>(tile);
    std::fill_n(values, count, T(values[0]));
  });
}

// Repeats the first `period` bytes of a tile until `bytes` are filled.
void repeat_period(char* tile, size_t period, size_t bytes) {
  for (size_t filled = period; filled < bytes;) {
    const size_t more = std::min(filled, bytes - filled);
    std::memcpy(tile + filled, tile, more);
    filled += more;
  }
}

// Whether input `i`, a single number, is not rounded to the mapping's dtype.
bool keeps_digits(const Mapping& mapping, size_t i) {
  return mapping.keeps_number && i == 1 && !is_integral(mapping.dtype);
}

}  // namespace

double cost_of(const Mapping& mapping, int64_t count) {
  return kElementFlops * mapping.cost * static_cast<double>(count);
}

void put_input(const aclScalar& value, const Mapping& mapping, size_t i, void* to) {
  put_scalar(value, mapping.dtype, to);
  if (!keeps_digits(mapping, i)) round_value(mapping.dtype, to);
}

MapTask::MapTask(const Mapping& mapping, std::span<const MapInput> inputs, Space space)
    : mapping_(mapping), space_(std::move(space)), input_count_(inputs.size()) {
  compute_bytes_ = compute_type_size(compute_type_of(mapping.dtype));
  writer_ = ElementWriter(mapping.dtype, space_.operand(0).dtype);
  in_place_ = writer_.is_direct() && space_.is_contiguous(0);
  run_in_place_ = writer_.is_direct() && is_run_in_place(space_, 0);
  all_in_place_ = in_place_;
  Input* input = inputs_.data();
  size_t operand = 0;
  for (const MapInput& given : inputs) {
    if (given.scalar != nullptr) {
      put_input(*given.scalar, mapping, static_cast<size_t>(input - inputs_.data()), input->value.data());
      input->is_constant = true;
    } else {
      input->operand = ++operand;
      input->is_constant = space_.operand(operand).is_constant;
      const bool is_exact = input->is_constant && keeps_digits(mapping, static_cast<size_t>(input - inputs_.data()));
      input->reader =
          ElementReader(space_.operand(operand).dtype, is_exact ? computed_as(mapping.dtype) : mapping.dtype);
      if (!input->is_constant) {
        input->in_place = input->reader.is_direct() && space_.is_contiguous(operand);
        input->run_in_place = input->reader.is_direct() && is_run_in_place(space_, operand);
        input->run_repeats = inner_stride(operand) == 0;
        input->period = period_of(space_, operand);
      }
    }
    all_in_place_ = all_in_place_ && input->in_place;
    ++input;
  }
  by_runs_ = goes_by_runs();
  const bool needs_no_tile =
      run_in_place_ && std::ranges::all_of(this->inputs(), [](const Input& each) { return each.run_in_place; });
  if (needs_no_tile) step_ = std::numeric_limits<int64_t>::max();
  by_repeats_ = repeats_in_tiles();
  cost_ = cost_of(mapping, space_.count());
}

bool MapTask::is_loop() const {
  return in_place_ &&
         std::ranges::all_of(inputs(), [](const Input& input) { return input.is_constant || input.in_place; });
}

// Runs pay if they are long and the kernel can use some of them in place. If inputs are overwritten, tiles are used:
// they are read before they are written.
bool MapTask::goes_by_runs() const {
  if (space_.dims() < 2 || space_.size(space_.dims() - 1) < kMinRun) return false;
  bool found = run_in_place_;
  for (const Input& input : inputs()) {
    if (input.operand != 0 && is_overwritten(space_, input.operand)) return false;
    found = found || input.run_in_place;
  }
  return found;
}

// Operands that are broadcast along short runs, or repeat after few elements: a tile has many of them for one call of
// the kernel. Sets step_.
bool MapTask::repeats_in_tiles() {
  if (!writer_.is_direct() || space_.dims() < 2 || !is_dense(space_, 0)) return false;
  if (space_.size(space_.dims() - 1) > kTile / 2) return false;
  int64_t period = 1;
  for (Input& input : std::span(inputs_).first(input_count_)) {
    if (input.is_constant || (input.reader.is_direct() && is_dense(space_, input.operand))) continue;
    if (is_overwritten(space_, input.operand)) return false;
    if (input.period > kTile / 2 || (period > 1 && input.period != period)) input.period = 0;
    if (input.period == 0 && !input.run_repeats) return false;
    period = std::max(period, input.period);
  }
  step_ = kTile / period * period;
  return true;
}

// Whether the result is too large to remain in the caches, and does not overlap the inputs.
bool MapTask::uses_non_temporal_stores() const {
  if (!is_loop() || space_.count() * static_cast<int64_t>(compute_bytes_) < kNonTemporalBytes) return false;
  const MemoryAccess result = memory_of(space_, 0, true);
  return std::ranges::none_of(inputs(), [&](const Input& input) {
    if (input.operand == 0) return false;
    const MemoryAccess read = memory_of(space_, input.operand, false);
    return read.begin < result.end && result.begin < read.end;
  });
}

void MapTask::run_all(int threads) const {
  if (uses_non_temporal_stores()) {
    return parallel_for(count(), kGrain, threads, [this](int64_t first, int64_t last) {
      run_non_temporal(first, last);
      fence_non_temporal_stores();
    });
  }
  parallel_for(count(), kGrain, threads, [this](int64_t first, int64_t last) { run(first, last); });
}

void MapTask::add_accesses(std::vector<MemoryAccess>* to) const {
  for (size_t k = 0; k < space_.operands(); ++k) to->push_back(memory_of(space_, k, k == 0));
}

double MapTask::cost_per_element() const { return cost_of(mapping_, 1); }

std::unique_ptr<const ElementwiseLoop> MapTask::rebind(const BufferRebinding& rebinding) const {
  auto created = std::make_unique<MapTask>(*this);
  for (size_t k = 1; rebinding.input != nullptr && k < space_.operands(); ++k) {
    if (space_.operand(k).data == rebinding.input) created->space_.move(k, rebinding.new_input);
  }
  if (rebinding.new_output != nullptr) created->space_.move(0, rebinding.new_output);
  return created;
}

void MapTask::run(int64_t first, int64_t last) const {
  if (by_repeats_) return run_by_repeats(first, last);
  if (by_runs_) return run_by_runs(first, last);
  run_by_tiles(first, last);
}

void MapTask::run_by_tiles(int64_t first, int64_t last) const {
  alignas(64) Tile tiles[kMaxInputs + 1];
  const void* in[kMaxInputs] = {};
  fill_constants(std::min(kTile, last - first), tiles, in);
  const int64_t step = all_in_place_ ? last - first : kTile;
  for (int64_t at = first; at < last; at += step) {
    const int64_t here = std::min(step, last - at);
    const ptrdiff_t bytes = at * static_cast<int64_t>(compute_bytes_);
    for (size_t k = 0; k < input_count_; ++k) {
      const Input& input = inputs_[k];
      if (input.in_place) {
        in[k] = space_.operand(input.operand).data + bytes;
      } else if (!input.is_constant) {
        gather(input, at, here, tiles[k]);
      }
    }
    void* out = in_place_ ? space_.operand(0).data + bytes : tiles[kMaxInputs];
    mapping_.kernel(out, in, static_cast<size_t>(here), mapping_.constants.data());
    if (!in_place_) scatter(at, here, tiles[kMaxInputs]);
  }
}

// Tiles with non-temporal stores; non-constant inputs are read in place.
void MapTask::run_non_temporal(int64_t first, int64_t last) const {
  alignas(64) Tile tiles[kMaxInputs + 1];
  const void* in[kMaxInputs] = {};
  fill_constants(std::min(kTile, last - first), tiles, in);
  const NonTemporalCopy non_temporal = non_temporal_copy();
  const auto* ahead =
      std::find_if(inputs_.data(), inputs_.data() + input_count_, [](const Input& input) { return input.in_place; });
  for (int64_t at = first; at < last; at += kTile) {
    const int64_t here = std::min(kTile, last - at);
    const ptrdiff_t begin = at * static_cast<int64_t>(compute_bytes_);
    const size_t bytes = static_cast<size_t>(here) * compute_bytes_;
    for (size_t k = 0; k < input_count_; ++k) {
      if (inputs_[k].in_place) in[k] = space_.operand(inputs_[k].operand).data + begin;
    }
    mapping_.kernel(tiles[kMaxInputs], in, static_cast<size_t>(here), mapping_.constants.data());
    const bool reads = ahead != inputs_.data() + input_count_;
    non_temporal(space_.operand(0).data + begin, tiles[kMaxInputs], bytes,
                 reads ? static_cast<const char*>(in[ahead - inputs_.data()]) + bytes : nullptr);
  }
}

void MapTask::run_by_runs(int64_t first, int64_t last) const {
  alignas(64) Tile tiles[kMaxInputs + 1];
  const void* in[kMaxInputs] = {};
  fill_constants(std::min({kTile, last - first, space_.size(space_.dims() - 1)}), tiles, in);
  space_.for_all_runs(first, last - first, [&](const Space::Addresses& run, int64_t count) {
    for (size_t k = 0; k < input_count_; ++k) {
      const Input& input = inputs_[k];
      if (input.run_repeats) {
        input.reader.read(run[input.operand], 0, 1, tiles[k]);
        repeat_first(tiles[k], compute_bytes_, static_cast<size_t>(std::min(step_, count)));
      }
    }
    for (int64_t at = 0; at < count; at += step_) {
      const auto here = static_cast<size_t>(std::min(step_, count - at));
      for (size_t k = 0; k < input_count_; ++k) {
        const Input& input = inputs_[k];
        if (input.is_constant || input.run_repeats) continue;
        const ptrdiff_t stride = inner_stride(input.operand);
        const char* from = run[input.operand] + at * stride;
        if (input.run_in_place) {
          in[k] = from;
        } else {
          input.reader.read(from, stride, here, tiles[k]);
        }
      }
      const ptrdiff_t stride = inner_stride(0);
      char* to = run[0] + at * stride;
      mapping_.kernel(run_in_place_ ? to : tiles[kMaxInputs], in, here, mapping_.constants.data());
      if (!run_in_place_) writer_.write(tiles[kMaxInputs], here, to, stride);
    }
  });
}

void MapTask::run_by_repeats(int64_t first, int64_t last) const {
  alignas(64) Tile tiles[kMaxInputs + 1];
  const void* in[kMaxInputs] = {};
  std::array<std::optional<Repeats>, kMaxInputs> repeats;
  const int64_t step = std::min(step_, last - first);
  fill_constants(step, tiles, in);
  for (size_t k = 0; k < input_count_; ++k) {
    const Input& input = inputs_[k];
    if (input.is_constant) continue;
    if (input.period != 0) {
      fill_periods(input, first, step, tiles[k]);
    } else if (input.run_repeats) {
      repeats[k].emplace(space_, input.operand, first);
    }
  }
  for (int64_t at = first; at < last; at += step) {
    const int64_t here = std::min(step, last - at);
    const ptrdiff_t bytes = at * static_cast<int64_t>(compute_bytes_);
    for (size_t k = 0; k < input_count_; ++k) {
      const Input& input = inputs_[k];
      if (repeats[k]) {
        const auto convert = [&](const char* from, void* to) { input.reader.read(from, 0, 1, to); };
        const auto copy = [bytes = compute_bytes_](const char* from, void* to) { std::memcpy(to, from, bytes); };
        input.reader.is_direct() ? repeats[k]->fill(compute_bytes_, here, tiles[k], copy)
                                 : repeats[k]->fill(compute_bytes_, here, tiles[k], convert);
      } else if (!input.is_constant && input.period == 0) {
        in[k] = space_.operand(input.operand).data + bytes;
      }
    }
    mapping_.kernel(space_.operand(0).data + bytes, in, static_cast<size_t>(here), mapping_.constants.data());
  }
}

// Sets `count` values of a tile to those of the space from `first` on, of which the input has one period.
void MapTask::fill_periods(const Input& input, int64_t first, int64_t count, char* tile) const {
  const int64_t period = std::min(input.period, count);
  gather(input, first, period, tile);
  repeat_period(tile, static_cast<size_t>(period) * compute_bytes_, static_cast<size_t>(count) * compute_bytes_);
}

// Sets the kernel's inputs to the tiles, and fills the constant ones.
void MapTask::fill_constants(int64_t count, Tile* tiles, const void** in) const {
  for (size_t k = 0; k < input_count_; ++k) {
    in[k] = tiles[k];
    if (inputs_[k].is_constant) fill_constant(inputs_[k], static_cast<size_t>(count), tiles[k]);
  }
}

void MapTask::fill_constant(const Input& input, size_t count, char* tile) const {
  if (input.operand != 0) {
    input.reader.read(space_.operand(input.operand).data, 0, 1, tile);
  } else {
    std::memcpy(tile, input.value.data(), compute_bytes_);
  }
  repeat_first(tile, compute_bytes_, count);
}

void MapTask::gather(const Input& input, int64_t at, int64_t count, char* tile) const {
  softnpu::gather(space_, input.operand, input.reader, at, count, compute_bytes_, tile);
}

void MapTask::scatter(int64_t at, int64_t count, const char* tile) const {
  softnpu::scatter(space_, 0, writer_, at, count, compute_bytes_, tile);
}

}  // namespace softnpu
