#pragma once
// Reads JSON: configuration files.

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/status.h"

namespace softnpu {

struct Json {
  using List = std::vector<Json>;
  using Object = std::map<std::string, Json, std::less<>>;
  std::variant<std::nullptr_t, bool, double, std::string, List, Object> value = nullptr;

  // The member of an object; null if there is none, or if it is no object.
  const Json* find(std::string_view name) const;
  const std::string* text() const { return std::get_if<std::string>(&value); }
  const List* list() const { return std::get_if<List>(&value); }
};

// An error says where the text is no JSON.
Status parse_json(std::string_view text, Json* out);

}  // namespace softnpu
