#pragma once
// Small kernels with one bug each, and their fixed twins: what the checks of kernels are measured with.

#include <span>

#include "kernel_operator.h"

namespace labelled {

inline constexpr uint32_t kElements = 1024;  // of x, y and z
inline constexpr uint32_t kTile = 256;

using Kernel = void (*)(GM_ADDR x, GM_ADDR y, GM_ADDR z);

struct Row {
  const char* name;
  const char* check;  // which has to report the bug
  const char* bug;    // what it is
  Kernel buggy;
  Kernel fixed;
  uint32_t blocks = 1;
  bool is_y_unwritten = false;  // y is a tensor that nothing has written
};

// One table for each check.
std::span<const Row> memcheck_rows();
std::span<const Row> initcheck_rows();
std::span<const Row> synccheck_rows();
std::span<const Row> racecheck_rows();
std::span<const Row> blockcheck_rows();

// z = x + y with double-buffered queues, tile by tile: without a bug, for the time that checking takes.
void timed_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t elements);

// `elements` floats of global memory.
inline AscendC::GlobalTensor<float> global(GM_ADDR address, uint64_t elements = kElements) {
  AscendC::GlobalTensor<float> tensor;
  tensor.SetGlobalBuffer(reinterpret_cast<float*>(address), elements);
  return tensor;
}

// `event` is set and waited for at once: what is behind it comes after what is before it.
template <AscendC::HardEvent event>
void order(int32_t id, const std::source_location& where = std::source_location::current()) {
  AscendC::SetFlag<event>(id, where);
  AscendC::WaitFlag<event>(id, where);
}

using QueueIn = AscendC::TQue<AscendC::QuePosition::VECIN, 1>;
using QueueOut = AscendC::TQue<AscendC::QuePosition::VECOUT, 1>;

// One buffer for an input and an output, ordered by flags.
struct Flagged {
  AscendC::TPipe pipe;
  AscendC::TBuf<> buffer;
  AscendC::LocalTensor<float> a;
  AscendC::LocalTensor<float> b;

  Flagged() {
    pipe.InitBuffer(buffer, 2 * kTile * sizeof(float));
    a = buffer.Get<float>();
    b = a[kTile];
  }
};

}  // namespace labelled
