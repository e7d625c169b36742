// Bugs that initcheck reports.

#include "ascendc/labelled/labelled.h"
#include "kernel_operator.h"

namespace labelled {
namespace {

using namespace AscendC;

// Two inputs, one output.
struct Sum {
  TPipe pipe;
  QueueIn in_x;
  QueueIn in_y;
  QueueOut out;

  Sum() {
    pipe.InitBuffer(in_x, 1, kTile * sizeof(float));
    pipe.InitBuffer(in_y, 1, kTile * sizeof(float));
    pipe.InitBuffer(out, 1, kTile * sizeof(float));
  }
  void add(uint32_t count) {
    LocalTensor<float> x = in_x.DeQue<float>();
    LocalTensor<float> y = in_y.DeQue<float>();
    LocalTensor<float> z = out.AllocTensor<float>();
    Add(z, x, y, count);
    out.EnQue(z);
    in_x.FreeTensor(x);
    in_y.FreeTensor(y);
  }
  void store(const GlobalTensor<float>& to, uint32_t count) {
    LocalTensor<float> z = out.DeQue<float>();
    DataCopy(to, z, count);
    out.FreeTensor(z);
  }
};

template <bool is_fixed>
void forgotten_copy(GM_ADDR x, GM_ADDR y, GM_ADDR z) {
  Sum op;
  LocalTensor<float> a = op.in_x.AllocTensor<float>();
  LocalTensor<float> b = op.in_y.AllocTensor<float>();
  DataCopy(a, global(x), kTile);
  if constexpr (is_fixed) DataCopy(b, global(y), kTile);
  op.in_x.EnQue(a);
  op.in_y.EnQue(b);
  op.add(kTile);
  op.store(global(z), kTile);
}

template <bool is_fixed>
void longer_than_copied(GM_ADDR x, GM_ADDR y, GM_ADDR z) {
  Sum op;
  LocalTensor<float> a = op.in_x.AllocTensor<float>();
  LocalTensor<float> b = op.in_y.AllocTensor<float>();
  DataCopy(a, global(x), kTile / 2);
  DataCopy(b, global(y), kTile / 2);
  op.in_x.EnQue(a);
  op.in_y.EnQue(b);
  op.add(is_fixed ? kTile / 2 : kTile);
  op.store(global(z), kTile / 2);
}

template <bool is_fixed>
void accumulator(GM_ADDR x, GM_ADDR, GM_ADDR z) {
  TPipe pipe;
  QueueIn in;
  QueueOut out;
  pipe.InitBuffer(in, 1, kTile * sizeof(float));
  pipe.InitBuffer(out, 1, kTile * sizeof(float));
  LocalTensor<float> sum = out.AllocTensor<float>();
  if constexpr (is_fixed) Duplicate(sum, 0.0F, kTile);
  for (uint32_t i = 0; i < kElements; i += kTile) {
    LocalTensor<float> a = in.AllocTensor<float>();
    DataCopy(a, global(x)[i], kTile);
    in.EnQue(a);
    a = in.DeQue<float>();
    Add(sum, sum, a, kTile);
    in.FreeTensor(a);
  }
  out.EnQue(sum);
  sum = out.DeQue<float>();
  DataCopy(global(z), sum, kTile);
  out.FreeTensor(sum);
}

template <bool is_fixed>
void second_tile(GM_ADDR x, GM_ADDR y, GM_ADDR z) {
  Sum op;
  for (uint32_t i = 0; i < 2; ++i) {
    LocalTensor<float> a = op.in_x.AllocTensor<float>();
    LocalTensor<float> b = op.in_y.AllocTensor<float>();
    DataCopy(a, global(x)[i * kTile], kTile);
    if (is_fixed || i == 0) DataCopy(b, global(y), kTile);  // y is meant to stay where it is
    op.in_x.EnQue(a);
    op.in_y.EnQue(b);
    op.add(kTile);
    op.store(global(z)[i * kTile], kTile);
  }
}

template <bool is_fixed>
void scalar_before_result(GM_ADDR x, GM_ADDR, GM_ADDR z) {
  TPipe pipe;
  TBuf<> buffer;
  pipe.InitBuffer(buffer, 2 * kTile * sizeof(float));
  LocalTensor<float> a = buffer.Get<float>();
  LocalTensor<float> b = a[kTile];
  DataCopy(a, global(x), kTile);
  order<HardEvent::MTE2_V>(EVENT_ID0);
  if constexpr (is_fixed) Add(b, a, a, kTile);
  order<HardEvent::V_S>(EVENT_ID0);
  const float first = b.GetValue(0);
  Duplicate(b, first, kTile);
  order<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(global(z), b, kTile);
}

template <bool is_fixed>
void gaps(GM_ADDR x, GM_ADDR, GM_ADDR z) {
  TPipe pipe;
  TBuf<> buffer;
  pipe.InitBuffer(buffer, 2 * kTile * sizeof(float));
  LocalTensor<float> a = buffer.Get<float>();
  LocalTensor<float> b = a[kTile];
  // Blocks of 8 floats; with a gap of one behind each they fill every other one.
  DataCopy(a, global(x), DataCopyParams(kTile / 16, 1, 0, is_fixed ? 0 : 1));
  order<HardEvent::MTE2_V>(EVENT_ID0);
  Add(b, a, a, kTile / 2);
  order<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(global(z), b, kTile / 2);
}

template <bool is_fixed>
void stored_before_computed(GM_ADDR x, GM_ADDR, GM_ADDR z) {
  TPipe pipe;
  QueueOut out;
  pipe.InitBuffer(out, 2, kTile * sizeof(float));
  LocalTensor<float> a = out.AllocTensor<float>();
  Duplicate(a, 1.0F, is_fixed ? kTile : kTile / 2);
  out.EnQue(a);
  a = out.DeQue<float>();
  DataCopy(global(z), a, kTile);
  out.FreeTensor(a);
  (void)x;
}

// The following have y as a workspace that nothing has written.
template <bool is_fixed>
void sum_into_empty(GM_ADDR x, GM_ADDR y, GM_ADDR z) {
  Flagged op;
  if constexpr (is_fixed) {
    Duplicate(op.b, 0.0F, kTile);
    order<HardEvent::V_MTE3>(EVENT_ID0);
    DataCopy(global(y), op.b, kTile);
  }
  DataCopy(op.a, global(x), kTile);
  order<HardEvent::MTE2_MTE3>(EVENT_ID0);
  SetAtomicAdd<float>();
  DataCopy(global(y), op.a, kTile);
  SetAtomicNone();
  order<HardEvent::MTE3_MTE2>(EVENT_ID0);
  DataCopy(op.a, global(y), kTile);
  order<HardEvent::MTE2_MTE3>(EVENT_ID0);
  DataCopy(global(z), op.a, kTile);
}

template <bool is_fixed>
void half_of_workspace(GM_ADDR x, GM_ADDR y, GM_ADDR z) {
  Flagged op;
  DataCopy(op.a, global(x), kTile);
  order<HardEvent::MTE2_MTE3>(EVENT_ID0);
  DataCopy(global(y), op.a, is_fixed ? kTile : kTile / 2);
  order<HardEvent::MTE3_MTE2>(EVENT_ID0);
  DataCopy(op.b, global(y), kTile);
  order<HardEvent::MTE2_MTE3>(EVENT_ID0);
  DataCopy(global(z), op.b, kTile);
}

template <bool is_fixed>
void counter_never_set(GM_ADDR, GM_ADDR y, GM_ADDR z) {
  GlobalTensor<float> counter = global(y);
  if constexpr (is_fixed) counter.SetValue(0, 0.0F);
  global(z).SetValue(0, counter.GetValue(0) + 1.0F);
}

constexpr Row kRows[] = {
    {"forgotten_copy", "initcheck", "one input is never copied", &forgotten_copy<false>, &forgotten_copy<true>},
    {"longer_than_copied", "initcheck", "sums twice as many elements as were copied", &longer_than_copied<false>,
     &longer_than_copied<true>},
    {"accumulator", "initcheck", "adds to a sum that never was zero", &accumulator<false>, &accumulator<true>},
    {"second_tile", "initcheck", "relies on what a tensor held before it was freed", &second_tile<false>,
     &second_tile<true>},
    {"scalar_before_result", "initcheck", "reads a result that nothing computes", &scalar_before_result<false>,
     &scalar_before_result<true>},
    {"gaps", "initcheck", "reads the gaps of a strided copy", &gaps<false>, &gaps<true>},
    {"stored_before_computed", "initcheck", "stores twice as many elements as were filled",
     &stored_before_computed<false>, &stored_before_computed<true>},
    {"sum_into_empty", "initcheck", "adds to global memory that was never zero", &sum_into_empty<false>,
     &sum_into_empty<true>, 1, true},
    {"half_of_workspace", "initcheck", "reads more of a workspace than was written", &half_of_workspace<false>,
     &half_of_workspace<true>, 1, true},
    {"counter_never_set", "initcheck", "counts in an element that nothing has set", &counter_never_set<false>,
     &counter_never_set<true>, 1, true},
};

}  // namespace

std::span<const Row> initcheck_rows() { return kRows; }

}  // namespace labelled
