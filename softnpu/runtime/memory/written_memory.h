#pragma once
// Which bytes of device memory something has written. Not synchronised.

#include <cstdint>
#include <map>

namespace softnpu {

class WrittenMemory {
 public:
  void write(uint64_t begin, uint64_t end);
  // The bytes hold nothing any more.
  void forget(uint64_t begin, uint64_t end);
  // The end of the written bytes that follow each other from `address` on; `address` where it is not written.
  uint64_t written_until(uint64_t address) const;
  void clear() { ends_.clear(); }

 private:
  std::map<uint64_t, uint64_t> ends_;  // disjoint ranges by begin, none of which ends where the next one begins
};

}  // namespace softnpu
