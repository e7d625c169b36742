// libascend_dump_parser.so: the headers of dumps as JSON. softnpu/ascendcl/dump.cpp writes them.

#include "softnpu/dump_parser.h"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace {

constexpr std::string_view kBegin = R"({"version": "softnpu 1", )";

// The header of a dump; empty if it has none.
std::string_view header_of(const char* data, size_t length) noexcept {
  uint64_t size = 0;
  if (data == nullptr || length < sizeof size) return {};
  std::memcpy(&size, data, sizeof size);
  if (size > length - sizeof size) return {};
  const std::string_view header(data + sizeof size, static_cast<size_t>(size));
  return header.starts_with(kBegin) && header.ends_with('}') ? header : std::string_view();
}

int write(const char* path, std::string_view text) noexcept {
  std::FILE* file = path == nullptr ? nullptr : std::fopen(path, "wb");
  if (file == nullptr) return 1;
  const bool is_whole = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return std::fclose(file) == 0 && is_whole ? 0 : 1;
}

}  // namespace

int ParseDumpProtoToJson(const char* data, size_t length, const char* jsonPath) {
  const std::string_view header = header_of(data, length);
  return header.empty() ? 1 : write(jsonPath, header);
}
