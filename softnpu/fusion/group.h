#pragma once
// A fusion group: consecutive tasks of one stream that run tile by tile as one. A value whose store is dead (nobody but
// the group reads it) stays in the buffer of the group's later output.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

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
  FusionGroup() = default;
  FusionGroup(const FusionGroup&) = delete;
  FusionGroup& operator=(const FusionGroup&) = delete;
  virtual ~FusionGroup() = default;

  // The longest group that begins with the first stage and gives the same bytes wherever somebody may look; null where
  // that stage runs alone. The stages' fusibles outlive the group.
  static std::unique_ptr<const FusionGroup> analyse(std::span<const FusionStage> stages);

  // How many stages it has; at least two.
  virtual size_t size() const = 0;
  // Runs all of them. Throws where the root fails.
  virtual void run() const = 0;
};

}  // namespace softnpu
