#pragma once
// Common parts of the family rules, and the rules in other files.

#include <string_view>

#include "fuzz/operators/families.h"

namespace fuzz {

using Sizes = std::vector<int64_t>;

inline bool has(std::string_view name, std::string_view part) { return name.find(part) != std::string_view::npos; }

// The 1, 2 or 3 before the letter d in the name of an image operator.
inline size_t dims_of(std::string_view name) {
  for (size_t dims = 1; dims <= 3; ++dims) {
    for (const char letter : {'d', 'D'}) {
      if (has(name, std::string{static_cast<char>('0' + dims), letter})) return dims;
    }
  }
  return 2;
}

inline Sizes joined(Sizes first, const Sizes& then) {
  first.insert(first.end(), then.begin(), then.end());
  return first;
}

inline Sizes some(Numbers& n, size_t count, uint32_t least, uint32_t most) {
  Sizes sizes(count);
  for (int64_t& size : sizes) size = least + n.below(most - least + 1);
  return sizes;
}

inline aclDataType floating(Numbers& n) { return n.one_of<aclDataType>({ACL_FLOAT, ACL_FLOAT, ACL_FLOAT16, ACL_BF16}); }

using Rule = Draft (*)(const Caller&, Numbers&);

// The rule for matrices, rows, losses and similar operators; null for others.
Rule rule_of_rows(std::string_view name);

// The rule for casts between formats.
Draft format_cast(const Caller& caller, Numbers& n);

}  // namespace fuzz
