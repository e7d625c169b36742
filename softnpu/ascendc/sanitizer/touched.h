#pragma once
// What an instruction touches, collected from its touch().

#include <cstdint>
#include <string>
#include <vector>

#include "softnpu_kernel/instruction.h"

namespace softnpu::kernel::check {

struct Range {
  uint64_t address;
  uint64_t bytes;
};

// An operand's tensor from the operand's first byte on.
struct Operand {
  const char* name;
  uint64_t address;
  uint64_t bytes;  // kUnknownBytes where the kernel has not said
};

class Touched final : public Touches {
 public:
  void operand(const char* name, const Memory& memory) override {
    operands_.push_back({name, reinterpret_cast<uint64_t>(memory.address), memory.bytes});
  }
  void read(const void* address, uint64_t bytes) override { add(&reads_, address, bytes); }
  void write(void* address, uint64_t bytes) override { add(&writes_, address, bytes); }
  void combine(void* address, uint64_t bytes) override {
    is_atomic_ = true;
    Touches::combine(address, bytes);
  }
  void misuse(const char* sentence) override { misuses_.emplace_back(sentence); }

  void clear();
  // The operand that the byte is of; null where it is of none.
  const Operand* operand_of(uint64_t address) const;

  std::vector<Range>& reads() { return reads_; }
  std::vector<Range>& writes() { return writes_; }
  // Whether its writes to global memory are atomic.
  bool is_atomic() const { return is_atomic_; }
  const std::vector<std::string>& misuses() const { return misuses_; }

 private:
  void add(std::vector<Range>* ranges, const void* address, uint64_t bytes);

  std::vector<Operand> operands_;
  std::vector<Range> reads_;
  std::vector<Range> writes_;
  std::vector<std::string> misuses_;
  bool is_atomic_ = false;
};

}  // namespace softnpu::kernel::check
