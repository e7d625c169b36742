#pragma once
// Text in columns.

#include <algorithm>
#include <string>
#include <string_view>

namespace softnpu::monitor {

// `text` with spaces behind it up to `width`; a longer one is cut.
inline std::string left(std::string_view text, size_t width) {
  std::string out(text.substr(0, width));
  out.resize(width, ' ');
  return out;
}

// "3161 / 65536", as tables have amounts.
inline std::string of_total(uint64_t used, uint64_t total) {
  const std::string digits = std::to_string(used);
  return left(digits, std::max<size_t>(5, digits.size() + 1)) + "/ " + std::to_string(total);
}

}  // namespace softnpu::monitor
