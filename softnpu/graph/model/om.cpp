#include "graph/model/om.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "base/text.h"
#include "graph/model/description.h"
#include "graph/model/serialize.h"

namespace softnpu::graph {
namespace {

constexpr uint32_t kMagic = 0x444F4D49;  // "IMOD" in a file
constexpr uint32_t kHeaderBytes = 256;
constexpr uint32_t kHeaderVersion = 0x10000000;
constexpr uint32_t kStructure = 0;  // types of partitions: the model, its weights
constexpr uint32_t kConstants = 1;
constexpr std::string_view kOwnMagic = "SOFTNPUG";
constexpr uint32_t kOwnVersion = 3;
constexpr size_t kAlignment = 64;

struct Header {
  uint32_t magic;
  uint32_t header_bytes;
  uint32_t version;
  std::array<char, 64> checksum;  // of everything behind the header, in hexadecimal digits
  uint32_t length;                // of what follows
  uint8_t is_encrypted;
  uint8_t is_checksum;
  uint8_t model_type;
  uint8_t generation_mode;
  std::array<char, 32> name;
  uint32_t operators;
  std::array<char, 32> user_info;
  uint32_t ir_version;
  uint32_t model_count;
  std::array<char, 20> platform_version;
  uint8_t platform_type;
  std::array<uint8_t, 3> padding;
  uint64_t model_length;
  uint8_t needs_os_check;
  uint8_t has_open_sizes;
  std::array<uint8_t, 62> reserved;
};
static_assert(sizeof(Header) == kHeaderBytes);

struct Partition {
  uint32_t type;
  uint32_t padding;
  uint64_t offset;  // behind the table
  uint64_t bytes;
};

struct Table {
  uint32_t count;
  uint32_t padding;
  std::array<Partition, 2> partitions;
};

// What the first partition has.
enum class Content : uint32_t { kGraph, kSource, kOperator };

struct OwnHeader {
  std::array<char, 8> magic;
  uint32_t version;
  Content content;
};

template <typename T>
void append(std::string* out, const T& value) {
  out->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

std::string hexadecimal(uint64_t value) {
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(value));
  return digits.data();
}

Status unusable(std::string sentence) { return {ACL_ERROR_PARSE_MODEL, std::move(sentence)}; }

template <typename T>
bool read(std::string_view bytes, size_t offset, T* out) {
  if (bytes.size() < sizeof(T) || offset > bytes.size() - sizeof(T)) return false;
  std::memcpy(out, bytes.data() + offset, sizeof(T));
  return true;
}

}  // namespace

std::string write_om(const CompiledModel& model) {
  const Graph& graph = model.graph;
  Serialized parts;
  Content content = Content::kGraph;
  if (model.source.has_value()) {
    content = Content::kSource;
    parts.structure = serialize(*model.source);
  } else if (model.description.has_value()) {
    content = Content::kOperator;
    parts.structure = serialize(*model.description);
  } else {
    parts = serialize(graph);
  }
  OwnHeader own{};
  std::ranges::copy(kOwnMagic, own.magic.begin());
  own.version = kOwnVersion;
  own.content = content;
  Table table{2, 0, {}};
  table.partitions[0] = {kStructure, 0, 0, sizeof(OwnHeader) + parts.structure.size()};
  // Constants are aligned in the file, and so in a buffer that is.
  const size_t before = kHeaderBytes + sizeof(Table) + table.partitions[0].bytes;
  const size_t gap = (kAlignment - before % kAlignment) % kAlignment;
  table.partitions[1] = {kConstants, 0, table.partitions[0].bytes + gap, parts.constants.size()};

  std::string body;
  body.reserve(sizeof(Table) + table.partitions[1].offset + parts.constants.size());
  append(&body, table);
  append(&body, own);
  body += parts.structure;
  body.append(gap, '\0');
  body += parts.constants;

  Header header{};
  header.magic = kMagic;
  header.header_bytes = kHeaderBytes;
  header.version = kHeaderVersion;
  std::ranges::copy(hexadecimal(hash_of(body)), header.checksum.begin());
  header.length = static_cast<uint32_t>(std::min<uint64_t>(body.size(), UINT32_MAX));
  header.is_checksum = 1;
  header.model_type = 0;
  const std::string_view name = content == Content::kOperator ? model.description->type : graph.name;
  std::ranges::copy(name.substr(0, header.name.size() - 1), header.name.begin());
  header.operators = content == Content::kOperator ? 1 : static_cast<uint32_t>(graph.nodes.size());
  std::ranges::copy(std::string_view("softnpu"), header.platform_version.begin());
  header.model_count = 1;
  header.has_open_sizes = content == Content::kSource ? 1 : 0;
  header.model_length = body.size();

  std::string file;
  file.reserve(sizeof(Header) + body.size());
  append(&file, header);
  return file + body;
}

Status read_om(std::string_view bytes, const std::shared_ptr<const void>& owner, CompiledModel* out) {
  Header header{};
  if (!read(bytes, 0, &header) || header.magic != kMagic) {
    return unusable("this is no compiled model (.om): compile one with atc");
  }
  if (header.header_bytes != kHeaderBytes) return unusable("the model's header is damaged");
  const std::string_view body = bytes.substr(kHeaderBytes);
  const std::string_view maker(header.platform_version.data(), strnlen(header.platform_version.data(), 20));
  if (maker != "softnpu") {
    return unusable("the model was compiled by CANN's own atc for an NPU: compile its source again with softnpu's atc");
  }
  if (header.model_length != body.size()) {
    return unusable(text("the model is truncated: it has ", body.size(), " bytes behind its header, where ",
                         header.model_length, " are needed"));
  }
  if (std::string_view(header.checksum.data(), 16) != hexadecimal(hash_of(body))) {
    return unusable("the model is damaged: its checksum is wrong");
  }
  Table table{};
  OwnHeader own{};
  if (!read(body, 0, &table) || table.count != 2) return unusable("the model's table of partitions is damaged");
  const std::string_view behind = body.substr(sizeof(Table));
  std::array<std::string_view, 2> parts;
  for (size_t i = 0; i < 2; ++i) {
    const Partition& partition = table.partitions[i];
    if (partition.type != i || partition.offset > behind.size() || partition.bytes > behind.size() - partition.offset) {
      return unusable("the model's table of partitions is damaged");
    }
    parts[i] = behind.substr(partition.offset, partition.bytes);
  }
  if (!read(parts[0], 0, &own) || std::string_view(own.magic.data(), own.magic.size()) != kOwnMagic) {
    return unusable("the model's graph is damaged");
  }
  if (own.version != kOwnVersion) {
    return unusable(text("the model has version ", own.version, " of softnpu's format, this softnpu reads version ",
                         kOwnVersion, ": compile it again"));
  }
  const std::string_view structure = parts[0].substr(sizeof(OwnHeader));
  switch (own.content) {
    case Content::kGraph: return deserialize(structure, parts[1], owner, &out->graph);
    case Content::kSource: return deserialize(structure, owner, &out->source.emplace());
    case Content::kOperator: return deserialize(structure, &out->description.emplace());
  }
  return unusable("the model's graph is damaged");
}

}  // namespace softnpu::graph
