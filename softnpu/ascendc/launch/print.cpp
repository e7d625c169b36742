#include "ascendc/print.h"

#include <cstdio>
#include <cstring>
#include <string>

namespace softnpu::kernel {
namespace {

template <typename T>
std::string text_of(const void* element) {
  T value;
  std::memcpy(&value, element, sizeof(value));
  if constexpr (std::is_integral_v<T>) {
    return std::to_string(value);
  } else {
    char text[32];
    std::snprintf(text, sizeof(text), "%g", static_cast<double>(static_cast<float>(value)));
    return text;
  }
}

struct Format {
  size_t bytes;
  std::string (*text)(const void* element);
};
template <typename T>
Format format_as() {
  return {sizeof(T), &text_of<T>};
}

Format format_of(DataType type) {
  switch (type) {
    case DataType::kHalf: return format_as<half>();
    case DataType::kBfloat16: return format_as<bfloat16_t>();
    case DataType::kInt8: return format_as<int8_t>();
    case DataType::kInt16: return format_as<int16_t>();
    case DataType::kUint16: return format_as<uint16_t>();
    case DataType::kInt32: return format_as<int32_t>();
    case DataType::kUint32: return format_as<uint32_t>();
    case DataType::kInt64: return format_as<int64_t>();
    case DataType::kUint64: return format_as<uint64_t>();
    case DataType::kFloat: return format_as<float>();
    default: return format_as<uint8_t>();
  }
}

}  // namespace

void print(const char* text) { std::fputs(text, stdout); }

void print_elements(const void* elements, DataType type, uint32_t count, uint32_t number,
                    const std::source_location& where) {
  const Format format = format_of(type);
  std::string text = "DumpTensor " + std::to_string(number) + ", block " + std::to_string(current_block()->index) +
                     ", " + where.file_name() + ":" + std::to_string(where.line()) + ": [";
  for (uint32_t i = 0; i < count; ++i) {
    if (i > 0) text += ", ";
    text += format.text(static_cast<const uint8_t*>(elements) + i * format.bytes);
  }
  print((text + "]\n").c_str());
}

}  // namespace softnpu::kernel
