// What a vector instruction reads and writes, and which parameters the unit does not take.

#include "ascendc/instructions/vector/elementwise.h"

namespace softnpu::kernel {
namespace {

bool reads_destination(VectorOp op) { return op == VectorOp::kMulAddDst || op == VectorOp::kAxpy; }

}  // namespace

void touch_vector(const Instruction& instruction, Touches* touches) {
  const auto& v = static_cast<const VectorInstruction&>(instruction);
  static constexpr const char* kNames[] = {"src0", "src1"};
  if (!touch_mask(v, touches)) return;
  touch_operand("dst", v.destination, touches);
  for (int i = 0; i < v.sources; ++i) {
    touch_operand(kNames[i], v.source[i], touches);
    touch_elements(v, v.source[i], false, touches);
    touch_overlap(v, v.destination, kNames[i], v.source[i], touches);
  }
  if (reads_destination(v.op)) touch_elements(v, v.destination, false, touches);
  touch_elements(v, v.destination, true, touches);
}

}  // namespace softnpu::kernel
