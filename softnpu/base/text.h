#pragma once

#include <sstream>
#include <string>

namespace softnpu {

// Concatenates the arguments as text: text("stream ", id, " is busy").
template <typename... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

}  // namespace softnpu
