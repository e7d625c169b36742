#pragma once
// Names something that a process exports: the process, its socket, and a secret that the exporter made.

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <tuple>

namespace softnpu {

struct ExportTicket {
  enum class Kind : uint32_t { kMemory, kPhysical, kEvent };

  Kind kind = Kind::kMemory;
  uint32_t pid = 0;
  uint32_t tag = 0;   // the process's socket is named by pid and tag
  uint64_t high = 0;  // the secret: 128 random bits; those of a number() have kNumberBits
  uint64_t low = 0;

  bool operator<(const ExportTicket& other) const {
    return std::tie(kind, pid, tag, high, low) < std::tie(other.kind, other.pid, other.tag, other.high, other.low);
  }

  // For memory and events: at most 63 characters. parse() is false for anything else than a result of text().
  std::string text() const;
  static bool parse(Kind kind, const std::string& text, ExportTicket* out);

  // For physical memory, whose handles are numbers.
  static constexpr unsigned kTagBits = 8;
  static constexpr unsigned kNumberBits = 34;
  uint64_t number() const;
  static ExportTicket from_number(uint64_t number);

  std::string socket_name() const;
};

}  // namespace softnpu
