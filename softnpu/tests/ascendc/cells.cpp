#include "ascendc/cells.h"

#include <utility>

namespace cells {
namespace {

using Compare = void (*)();

std::vector<Compare>& to_run() {
  static std::vector<Compare> families;
  return families;
}

}  // namespace

std::set<Cell>& compared() {
  static std::set<Cell> cells;
  return cells;
}

Family::Family(Compare compare) : compare_(compare) { to_run().push_back(compare); }

void Family::run() const {
  std::erase(to_run(), compare_);
  compare_();
}

void Family::run_the_others() {
  const std::vector<Compare> others = std::exchange(to_run(), {});
  for (const Compare compare : others) compare();
}

}  // namespace cells
