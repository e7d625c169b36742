#pragma once
// Lines of a kernel, numbered, so that shadow memory can refer to them.

#include <cstdint>
#include <source_location>
#include <unordered_map>
#include <vector>

#include "softnpu_kernel/instruction.h"

namespace softnpu::kernel::check {

struct Site {
  const char* name;  // of the instruction
  Pipe pipe;
  std::source_location where;
};

class Sites {
 public:
  uint32_t number_of(const Site& site) {
    const Key key{site.name, site.where.file_name(), site.where.line(), site.where.column()};
    const auto [found, is_new] = numbers_.try_emplace(key, static_cast<uint32_t>(sites_.size()));
    if (is_new) sites_.push_back(site);
    return found->second;
  }
  const Site& operator[](uint32_t number) const { return sites_[number]; }

 private:
  // Literals: equal ones at two addresses give two numbers of one line, which does no harm.
  struct Key {
    const char* name;
    const char* file;
    uint32_t line;
    uint32_t column;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const {
      const auto mix = [](uint64_t a, uint64_t b) { return (a ^ b) * 0x9e3779b97f4a7c15ULL; };
      return mix(mix(mix(reinterpret_cast<uint64_t>(key.name), reinterpret_cast<uint64_t>(key.file)), key.line),
                 key.column);
    }
  };
  std::unordered_map<Key, uint32_t, Hash> numbers_;
  std::vector<Site> sites_;
};

}  // namespace softnpu::kernel::check
