#include "core/named_groups.h"

#include <c10/util/Exception.h>

#include <map>
#include <memory>
#include <mutex>

namespace torch_npu {
namespace {

using WeakGroup = c10::weak_intrusive_ptr<c10d::Backend>;

struct Names {
  std::mutex mutex;  // guards the map
  std::map<std::string, WeakGroup> groups;
};

Names& names() {
  static auto& all = *std::make_unique<Names>().release();  // used until the end of the process
  return all;
}

}  // namespace

void name_group(const std::string& name, c10d::Backend& group) {
  auto held = c10::intrusive_ptr<c10d::Backend>::unsafe_reclaim_from_nonowning(&group);
  std::lock_guard lock(names().mutex);
  names().groups.insert_or_assign(name, WeakGroup(held));
}

c10::intrusive_ptr<c10d::Backend> group_named(const std::string& name) {
  std::lock_guard lock(names().mutex);
  const auto found = names().groups.find(name);
  c10::intrusive_ptr<c10d::Backend> group = found == names().groups.end() ? nullptr : found->second.lock();
  TORCH_CHECK_VALUE(group != nullptr, "hcom is '", name,
                    "', which names no hccl group of this process: take the name of get_hccl_comm_name");
  return group;
}

}  // namespace torch_npu
