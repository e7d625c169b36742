#pragma once
// A planned mapping over operands of any strides and dtypes.

#include <array>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include "fusion/elementwise_loop.h"
#include "ops/core/convert/element_rows.h"
#include "ops/core/iterate/space.h"
#include "ops/math/elementwise/map.h"

namespace softnpu {

// The cost of `count` elements in the operations of threads_for.
double cost_of(const Mapping& mapping, int64_t count);

// `value` as input `i` of the mapping, in its compute type: rounded to its dtype unless the mapping says otherwise.
void put_input(const aclScalar& value, const Mapping& mapping, size_t i, void* to);

// Immutable: several threads may run it. The kernel accesses memory in place if its type and layout match, for the
// whole operand or for runs of the innermost dimension; other operands are copied through tiles.
class MapTask final : public ElementwiseLoop {
 public:
  static constexpr size_t kMaxInputs = Space::kMaxOperands - 1;

  // `space`: the result and those inputs that are tensors.
  MapTask(const Mapping& mapping, std::span<const MapInput> inputs, Space space);

  double work() const { return cost_; }
  // Whether the kernel accesses all operands in place, contiguously: gathering or converting takes longer than memory
  // accesses and does not benefit from cached data.
  bool is_loop() const;
  // With up to `threads` threads.
  void run_all(int threads) const;

  int64_t count() const override { return space_.count(); }
  void add_accesses(std::vector<MemoryAccess>* to) const override;
  double cost_per_element() const override;
  void run(int64_t first, int64_t last) const override;
  bool can_rebind() const override { return true; }
  std::unique_ptr<const ElementwiseLoop> rebind(const BufferRebinding& rebinding) const override;

 private:
  // Elements per tile: the tiles of all operands fit the first-level cache.
  static constexpr int64_t kTile = 512;
  static constexpr size_t kMaxBytes = 16;
  // What writes whole chunks may write this many bytes behind the last value.
  static constexpr size_t kChunk = 32;
  using Tile = char[kTile * kMaxBytes + kChunk];

  struct Input {
    size_t operand = 0;                                    // index in the space; 0, the result, for a scalar
    alignas(16) std::array<std::byte, kMaxBytes> value{};  // of a scalar, in the compute type
    ElementReader reader;
    bool is_constant = false;
    bool in_place = false;      // the kernel reads the tensor directly
    bool run_in_place = false;  // for a run along the innermost dimension
    bool run_repeats = false;   // all elements of a run are the same one
    int64_t period = 0;         // elements after which a short operand repeats; 0: it does not
  };

  bool goes_by_runs() const;
  bool repeats_in_tiles();
  void run_by_tiles(int64_t first, int64_t last) const;
  void run_by_runs(int64_t first, int64_t last) const;
  void run_by_repeats(int64_t first, int64_t last) const;
  bool uses_non_temporal_stores() const;
  void run_non_temporal(int64_t first, int64_t last) const;
  void fill_constants(int64_t count, Tile* tiles, const void** in) const;
  void fill_periods(const Input& input, int64_t first, int64_t count, char* tile) const;
  void fill_constant(const Input& input, size_t count, char* tile) const;
  void gather(const Input& input, int64_t at, int64_t count, char* tile) const;
  void scatter(int64_t at, int64_t count, const char* tile) const;
  ptrdiff_t inner_stride(size_t operand) const { return space_.stride(operand, space_.dims() - 1); }
  std::span<const Input> inputs() const { return {inputs_.data(), input_count_}; }

  Mapping mapping_;
  Space space_;
  size_t input_count_ = 0;
  std::array<Input, kMaxInputs> inputs_{};
  ElementWriter writer_;
  size_t compute_bytes_ = 0;
  bool in_place_ = false;      // the kernel writes the result directly
  bool run_in_place_ = false;  // for a run along the innermost dimension
  bool all_in_place_ = false;
  bool by_runs_ = false;
  bool by_repeats_ = false;
  int64_t step_ = kTile;  // values per kernel call of a run, or of repeated operands
  double cost_ = 0;
};

}  // namespace softnpu
