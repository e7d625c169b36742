#pragma once
// Runs kernels on tiles of several tensors: gathers the values, computes, and writes them back.

#include <algorithm>
#include <array>
#include <span>

#include "ops/core/convert/element_rows.h"
#include "ops/core/iterate/space.h"

namespace softnpu {

// Immutable: several threads may use it.
class Tiles {
 public:
  // Values per tile: the tiles of all operands fit the first-level cache.
  static constexpr int64_t kTile = 512;
  // The smallest piece for a thread. Pieces of this size are the same for every number of threads.
  static constexpr int64_t kGrain = 16 * kTile;

  enum class Access : uint8_t { kRead, kWrite, kUpdate };
  struct Use {
    aclDataType as = ACL_FLOAT;  // the type in which the operand is computed
    Access access = Access::kRead;
  };

  // Whether a tile may be a run of elements in place, or has kTile values unless it is the last.
  enum class Length : uint8_t { kAny, kWhole };

  Tiles() = default;
  // One use per operand of the space.
  Tiles(Space space, std::span<const Use> uses, Length length = Length::kAny);

  int64_t count() const { return space_.count(); }

  // Calls body(index of the first value, values, count) for each tile of [first, last). values[k] are operand k's,
  // contiguous in its compute type; those of a kRead operand must not be written.
  template <typename Body>
  void run(int64_t first, int64_t last, const Body& body) const {
    if (has_runs_in_place_) return run_in_place(first, last, body);
    alignas(64) char buffers[Space::kMaxOperands][kTile * kMaxBytes];
    void* values[Space::kMaxOperands];
    for (int64_t at = first; at < last; at += kTile) {
      const int64_t here = std::min(kTile, last - at);
      for (size_t k = 0; k < space_.operands(); ++k) values[k] = load(k, at, here, buffers[k]);
      body(at, static_cast<void* const*>(values), static_cast<size_t>(here));
      for (size_t k = 0; k < space_.operands(); ++k) {
        if (values[k] == buffers[k]) put_back(k, at, here, buffers[k]);
      }
    }
  }

 private:
  static constexpr size_t kMaxBytes = 16;
  struct OperandAccess {
    ElementReader reader;
    ElementWriter writer;
    int64_t compute_bytes = 0;
    Access access = Access::kRead;
    bool is_direct = false;  // memory has the compute type
    bool in_place = false;   // and all elements are contiguous
  };

  // Runs of at least so many values in place are tiles of their own.
  static constexpr int64_t kMinRun = 32;

  template <typename Body>
  void run_in_place(int64_t first, int64_t last, const Body& body) const {
    int64_t at = first;
    space_.for_all_runs(first, last - first, [&](const Space::Addresses& addresses, int64_t count) {
      for (int64_t done = 0; done < count; done += kTile) {
        void* values[Space::kMaxOperands];
        for (size_t k = 0; k < space_.operands(); ++k) values[k] = addresses[k] + done * accesses_[k].compute_bytes;
        const int64_t here = std::min(kTile, count - done);
        body(at + done, static_cast<void* const*>(values), static_cast<size_t>(here));
      }
      at += count;
    });
  }

  // The values in place, if they are contiguous and in the compute type; else copied to `buffer`.
  void* load(size_t k, int64_t at, int64_t count, char* buffer) const;
  void put_back(size_t k, int64_t at, int64_t count, const char* buffer) const;

  Space space_;
  std::array<OperandAccess, Space::kMaxOperands> accesses_{};
  // All operands have runs along the innermost dimension, in place, and one of them has gaps between its runs.
  bool has_runs_in_place_ = false;
};

}  // namespace softnpu
