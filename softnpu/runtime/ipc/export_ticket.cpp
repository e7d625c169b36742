#include "runtime/ipc/export_ticket.h"

#include <array>
#include <cstdio>

namespace softnpu {
namespace {

constexpr const char* kMemoryLayout = "softnpu-%x-%x-%16llx%16llx%n";
constexpr const char* kEventLayout = "softnpu-event-%x-%x-%16llx%16llx%n";

}  // namespace

std::string ExportTicket::text() const {
  std::array<char, 64> result{};
  std::snprintf(result.data(), result.size(), "softnpu-%s%x-%x-%016llx%016llx", kind == Kind::kEvent ? "event-" : "",
                pid, tag, static_cast<unsigned long long>(high), static_cast<unsigned long long>(low));
  return result.data();
}

bool ExportTicket::parse(Kind kind, const std::string& text, ExportTicket* out) {
  unsigned long long high = 0;
  unsigned long long low = 0;
  int end = 0;
  *out = {};
  out->kind = kind;
  const int fields = std::sscanf(text.c_str(), kind == Kind::kEvent ? kEventLayout : kMemoryLayout, &out->pid,
                                 &out->tag, &high, &low, &end);
  out->high = high;
  out->low = low;
  return fields == 4 && static_cast<size_t>(end) == text.size() && out->text() == text;
}

uint64_t ExportTicket::number() const {
  return static_cast<uint64_t>(pid) << (kTagBits + kNumberBits) | static_cast<uint64_t>(tag) << kNumberBits | low;
}

ExportTicket ExportTicket::from_number(uint64_t number) {
  ExportTicket result;
  result.kind = Kind::kPhysical;
  result.low = number & ((uint64_t{1} << kNumberBits) - 1);
  result.tag = static_cast<uint32_t>(number >> kNumberBits & ((1U << kTagBits) - 1));
  result.pid = static_cast<uint32_t>(number >> (kTagBits + kNumberBits));
  return result;
}

std::string ExportTicket::socket_name() const { return "softnpu-" + std::to_string(pid) + "-" + std::to_string(tag); }

}  // namespace softnpu
