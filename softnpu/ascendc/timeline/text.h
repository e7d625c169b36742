#pragma once
// Text from numbers, lists, and JSON strings.

#include <cstdio>
#include <string>

namespace softnpu::kernel::timeline {

// As printf does.
template <typename... T>
std::string format(const char* text, T... values) {
  const int length = std::snprintf(nullptr, 0, text, values...);
  std::string result(length < 0 ? 0 : static_cast<size_t>(length), '\0');
  std::snprintf(result.data(), result.size() + 1, text, values...);
  return result;
}

inline void append_to_list(std::string* list, const std::string& item, const char* separator = ", ") {
  if (!list->empty()) list->append(separator);
  list->append(item);
}

// `text` as a JSON string, with its quotes.
inline std::string quoted(const std::string& text) {
  std::string result(1, '"');
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (static_cast<unsigned char>(c) < ' ')
      result += format("\\u%04x", static_cast<unsigned>(c));
    else
      result += c;
  }
  result += '"';
  return result;
}

}  // namespace softnpu::kernel::timeline
