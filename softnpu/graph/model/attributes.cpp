#include "graph/model/attributes.h"

#include <utility>

namespace softnpu::graph {
namespace {

// A value's alternative is stored by its index.
template <typename T>
void put_value(Writer* writer, const T& value) {
  writer->put(value);
}
void put_value(Writer* writer, bool value) { writer->put(static_cast<uint8_t>(value)); }
void put_value(Writer* writer, aclDataType value) { writer->put(static_cast<int32_t>(value)); }
template <typename T>
void put_value(Writer* writer, const std::vector<T>& values) {
  writer->put(static_cast<uint64_t>(values.size()));
  for (const T& value : values) put_value(writer, value);
}

template <typename T>
void get_value(Parser* parser, T* out) {
  *out = parser->get<T>();
}
void get_value(Parser* parser, bool* out) { *out = parser->get<uint8_t>() != 0; }
void get_value(Parser* parser, std::string* out) { *out = parser->words(); }
void get_value(Parser* parser, aclDataType* out) { *out = static_cast<aclDataType>(parser->get<int32_t>()); }
template <typename T>
void get_value(Parser* parser, std::vector<T>* out) {
  const size_t count = parser->count(1);
  for (size_t i = 0; i < count && parser->is_ok(); ++i) {
    T value{};
    get_value(parser, &value);
    out->push_back(std::move(value));
  }
}

// Reads the alternative with this index.
template <size_t kIndex = 0>
bool get_alternative(Parser* parser, size_t index, OpAttrValue* out) {
  if constexpr (kIndex < std::variant_size_v<OpAttrValue>) {
    if (index != kIndex) return get_alternative<kIndex + 1>(parser, index, out);
    get_value(parser, &out->emplace<kIndex>());
    return parser->is_ok();
  } else {
    return false;
  }
}

}  // namespace

void put_attributes(Writer* writer, const aclopAttr& attributes) {
  writer->put(static_cast<uint64_t>(attributes.values.size()));
  for (const auto& [name, value] : attributes.values) {
    writer->put(name);
    writer->put(static_cast<uint8_t>(value.index()));
    std::visit([&](const auto& alternative) { put_value(writer, alternative); }, value);
  }
}

bool read_attributes(Parser* parser, aclopAttr* out) {
  const size_t count = parser->count(2);
  for (size_t i = 0; i < count; ++i) {
    const std::string name = parser->words();
    const auto index = parser->get<uint8_t>();
    if (!parser->is_ok() || !get_alternative(parser, index, &out->values[name])) return false;
  }
  return parser->is_ok();
}

}  // namespace softnpu::graph
