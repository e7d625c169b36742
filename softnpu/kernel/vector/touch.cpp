// What a vector instruction reads and writes, and which parameters the unit does not take.

#include <string>

#include "kernel/vector/lanes.h"

namespace softnpu::kernel {
namespace {

bool reads_destination(VectorOp op) { return op == VectorOp::kMulAddDst || op == VectorOp::kAxpy; }

void visit(const char* address, uint64_t bytes, bool writes, Touches* touches) {
  if (bytes == 0) return;
  if (writes) {
    touches->write(const_cast<char*>(address), bytes);
  } else {
    touches->read(address, bytes);
  }
}

// Calls touches for each run of active elements that is contiguous in memory.
void visit_operand(const VectorInstruction& v, const VectorOperand& operand, bool writes, Touches* touches) {
  const uint32_t bytes = bytes_of(operand.type);
  if (v.is_counted) {
    visit(static_cast<const char*>(operand.address), v.count * bytes, writes, touches);
    return;
  }
  const uint32_t lanes = lanes_of(v);
  for (uint32_t repeat = 0; repeat < v.repeats; ++repeat) {
    const char* begin = nullptr;
    const char* end = nullptr;
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      if (!is_active(v, lane)) continue;
      const char* at = element_of(operand, repeat, lane);
      if (at != end) {
        visit(begin, static_cast<uint64_t>(end - begin), writes, touches);
        begin = at;
      }
      end = at + bytes;
    }
    visit(begin, static_cast<uint64_t>(end - begin), writes, touches);
  }
}

void check_operand(const VectorInstruction& v, const VectorOperand& operand, const char* role, Touches* touches) {
  touches->operand(role, {operand.address, operand.tensor_bytes});
  const auto misuse = [&](const std::string& what) { touches->misuse((std::string(role) + what).c_str()); };
  if (reinterpret_cast<uintptr_t>(operand.address) % kVectorBlock != 0) {
    misuse(" does not begin at a multiple of 32 bytes");
  }
  if (v.is_counted) return;
  if (operand.block_stride > 65535) misuse(": the stride between blocks is more than 65535");
  if (operand.repeat_stride > 255) misuse(": the stride between repeats is more than 255 blocks");
}

void check_mask(const VectorInstruction& v, Touches* touches) {
  if (v.repeats > 255) {
    touches->misuse(("repeatTime is " + std::to_string(v.repeats) + ": there are 0 to 255").c_str());
  }
  const uint32_t lanes = lanes_of(v);
  const bool beyond = lanes <= 64 ? v.mask[1] != 0 || (lanes < 64 && (v.mask[0] >> lanes) != 0) : false;
  if (beyond) {
    touches->misuse(("the mask has elements beyond the " + std::to_string(lanes) + " of a repeat").c_str());
  }
}

}  // namespace

void touch_vector(const Instruction& instruction, Touches* touches) {
  const auto& v = static_cast<const VectorInstruction&>(instruction);
  static constexpr const char* kRoles[] = {"src0", "src1"};
  if (!v.is_counted) check_mask(v, touches);
  check_operand(v, v.destination, "dst", touches);
  for (int i = 0; i < v.sources; ++i) {
    check_operand(v, v.source[i], kRoles[i], touches);
    visit_operand(v, v.source[i], false, touches);
  }
  if (reads_destination(v.op)) visit_operand(v, v.destination, false, touches);
  visit_operand(v, v.destination, true, touches);
}

}  // namespace softnpu::kernel
