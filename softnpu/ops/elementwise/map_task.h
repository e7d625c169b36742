#pragma once
// One planned mapping over operands of any strides and dtypes.

#include <array>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include "fusion/elementwise_loop.h"
#include "ops/convert/element_rows.h"
#include "ops/elementwise/map.h"
#include "ops/iterate/space.h"

namespace softnpu {

// What `count` elements cost, in the operations that threads_for counts.
double cost_of(const Mapping& mapping, int64_t count);

// `value` as input `i` of the mapping, in its compute type: rounded to its dtype unless the mapping says otherwise.
void put_input(const aclScalar& value, const Mapping& mapping, size_t i, void* to);

// Immutable: several threads run it. The kernel reads and writes memory where it lies as the kernel wants it, be it the
// whole operand or its innermost dimension; everything else goes through tiles.
class MapTask final : public ElementwiseLoop {
 public:
  static constexpr size_t kMostInputs = Space::kMostOperands - 1;

  // `space`: of the result and the inputs that are tensors.
  MapTask(const Mapping& mapping, std::span<const MapInput> inputs, Space space);

  double work() const { return cost_; }
  // Whether the kernel reads and writes memory element behind element: what is gathered or converted takes longer than
  // memory, and gains nothing from the cache.
  bool is_loop() const;
  void run_all() const;

  int64_t count() const override { return space_.count(); }
  void add_accesses(std::vector<MemoryAccess>* to) const override;
  double cost_per_element() const override;
  void run(int64_t first, int64_t last) const override;
  bool can_rebind() const override { return true; }
  std::unique_ptr<const ElementwiseLoop> rebind(const BufferRebinding& rebinding) const override;

 private:
  // Values at a time where operands are brought into tiles: all of them fit into the first-level cache.
  static constexpr int64_t kTile = 512;
  static constexpr size_t kMostBytes = 16;
  using Tile = char[kTile * kMostBytes];

  struct Input {
    size_t operand = 0;                                     // of the space; 0, the result, for a scalar
    alignas(16) std::array<std::byte, kMostBytes> value{};  // the scalar's, in the compute type
    ElementReader reader;
    bool is_constant = false;
    bool in_place = false;      // the kernel reads the tensor's memory
    bool run_in_place = false;  // it does so for a run along the innermost dimension
    bool run_repeats = false;   // such a run sees one element
  };

  bool goes_by_runs() const;
  void run_by_tiles(int64_t first, int64_t last) const;
  void run_by_runs(int64_t first, int64_t last) const;
  bool uses_non_temporal_stores() const;
  void run_non_temporal(int64_t first, int64_t last) const;
  void fill_constants(int64_t count, Tile* tiles, const void** in) const;
  void fill_constant(const Input& input, size_t count, char* tile) const;
  void gather(const Input& input, int64_t at, int64_t count, char* tile) const;
  void scatter(int64_t at, int64_t count, const char* tile) const;
  ptrdiff_t inner_stride(size_t operand) const { return space_.stride(operand, space_.dims() - 1); }
  std::span<const Input> inputs() const { return {inputs_.data(), input_count_}; }

  Mapping mapping_;
  Space space_;
  size_t input_count_ = 0;
  std::array<Input, kMostInputs> inputs_{};
  ElementWriter writer_;
  size_t compute_bytes_ = 0;
  bool in_place_ = false;      // the kernel writes the result's memory
  bool run_in_place_ = false;  // it does so for a run along the innermost dimension
  bool all_in_place_ = false;
  bool by_runs_ = false;
  int64_t step_ = kTile;  // values of a run at a time
  double cost_ = 0;
};

}  // namespace softnpu
