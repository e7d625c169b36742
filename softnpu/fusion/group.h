#pragma once
// A fusion group: consecutive tasks of one stream that run tile by tile as one. A value whose store is dead (nobody but
// the group reads it) stays in the buffer of the group's later output.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "acl/acl_base.h"
#include "fusion/fusible.h"

namespace softnpu {

// One task, as a candidate for a group.
struct FusionStage {
  static constexpr size_t kOutsideGroup = SIZE_MAX;

  const Fusible* fusible = nullptr;
  void* workspace = nullptr;           // a root's
  size_t last_reader = kOutsideGroup;  // the last stage that may read this one's output
};

class ACL_FUNC_VISIBILITY FusionGroup {
 public:
  // The longest group that begins with the first stage and whose results are bitwise equal to those of the stages one
  // by one; none where that stage runs alone. The stages' fusibles outlive the group.
  static std::optional<FusionGroup> analyse(std::span<const FusionStage> stages);

  // How many stages it has; at least two.
  size_t size() const { return stages_.size(); }
  // Runs all of them. Throws where the root fails.
  void run() const;

 private:
  // What a stage reads and writes; a root's output is not among the accesses.
  struct StageMemory {
    std::vector<MemoryAccess> accesses;
    std::optional<MemoryAccess> output;  // where the stage may write into another buffer
  };

  // Stages [first, last] pass dead values on: each reads what the one before it wrote, and no other stage does. All of
  // these values share `buffer`; the last stage's output is stored in its own.
  struct DeadValues {
    size_t first = 0;
    size_t last = 0;
    char* buffer = nullptr;  // null where there are none: first == last
  };

  // The stages with the buffers that they run on.
  struct Bound;

  explicit FusionGroup(std::span<const FusionStage> stages);

  static StageMemory memory_of(const FusionStage& stage);
  void find_dead_values();
  DeadValues dead_values_from(size_t first) const;
  bool is_dead(size_t i) const;
  size_t last_of_dead(size_t first) const;
  char* shared_buffer(size_t first, size_t last) const;
  bool leaves_buffer_alone(size_t i, size_t first, size_t last, const MemoryAccess& buffer) const;
  bool root_may_write(size_t first, const MemoryAccess& buffer) const;
  Bound bind() const;
  bool leaves_root_alone(std::span<const ElementwiseLoop* const> loops) const;

  std::vector<FusionStage> stages_;
  std::vector<StageMemory> memory_;
  std::vector<DeadValues> dead_values_;  // each stage is in one of them, in order
};

}  // namespace softnpu
