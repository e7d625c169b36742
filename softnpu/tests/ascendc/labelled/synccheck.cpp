// Bugs that synccheck reports.

#include "ascendc/labelled/labelled.h"
#include "kernel_operator.h"

namespace labelled {
namespace {

using namespace AscendC;

template <bool is_fixed>
void set_without_wait(GM_ADDR x, GM_ADDR, GM_ADDR z) {
  Flagged op;
  DataCopy(op.a, global(x), kTile);
  order<HardEvent::MTE2_V>(EVENT_ID0);
  Add(op.b, op.a, op.a, kTile);
  order<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(global(z), op.b, kTile);
  SetFlag<HardEvent::MTE3_V>(EVENT_ID0);
  if constexpr (is_fixed) WaitFlag<HardEvent::MTE3_V>(EVENT_ID0);
}

template <bool is_fixed>
void wait_without_set(GM_ADDR x, GM_ADDR, GM_ADDR z) {
  Flagged op;
  DataCopy(op.a, global(x), kTile);
  if constexpr (is_fixed) SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
  WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
  Add(op.b, op.a, op.a, kTile);
  order<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(global(z), op.b, kTile);
}

template <bool is_fixed>
void other_event(GM_ADDR x, GM_ADDR, GM_ADDR z) {
  Flagged op;
  DataCopy(op.a, global(x), kTile);
  SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
  WaitFlag<HardEvent::MTE2_V>(is_fixed ? EVENT_ID0 : EVENT_ID1);
  Add(op.b, op.a, op.a, kTile);
  order<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(global(z), op.b, kTile);
}

template <bool is_fixed>
void set_twice(GM_ADDR x, GM_ADDR, GM_ADDR z) {
  Flagged op;
  DataCopy(op.a, global(x), kTile / 2);
  SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
  DataCopy(op.a[kTile / 2], global(x)[kTile / 2], kTile / 2);
  SetFlag<HardEvent::MTE2_V>(is_fixed ? EVENT_ID1 : EVENT_ID0);
  WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
  WaitFlag<HardEvent::MTE2_V>(is_fixed ? EVENT_ID1 : EVENT_ID0);
  Add(op.b, op.a, op.a, kTile);
  order<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(global(z), op.b, kTile);
}

template <bool is_fixed>
void event_8(GM_ADDR x, GM_ADDR, GM_ADDR z) {
  Flagged op;
  DataCopy(op.a, global(x), kTile);
  order<HardEvent::MTE2_V>(EVENT_ID0);
  Add(op.b, op.a, op.a, kTile);
  order<HardEvent::V_MTE3>(is_fixed ? 7 : 8);
  DataCopy(global(z), op.b, kTile);
}

template <bool is_fixed>
void circle(GM_ADDR x, GM_ADDR, GM_ADDR z) {
  Flagged op;
  DataCopy(op.a, global(x), kTile);
  order<HardEvent::MTE2_V>(EVENT_ID0);
  if constexpr (is_fixed) SetFlag<HardEvent::S_V>(EVENT_ID0);
  WaitFlag<HardEvent::S_V>(EVENT_ID0);  // the vector unit waits for the program, which waits for the vector unit
  Add(op.b, op.a, op.a, kTile);
  order<HardEvent::V_S>(EVENT_ID0);
  if constexpr (!is_fixed) SetFlag<HardEvent::S_V>(EVENT_ID0);
  order<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(global(z), op.b, kTile);
}

template <bool is_fixed>
void empty_queue(GM_ADDR x, GM_ADDR, GM_ADDR z) {
  TPipe pipe;
  QueueIn in;
  QueueOut out;
  pipe.InitBuffer(in, 1, kTile * sizeof(float));
  pipe.InitBuffer(out, 1, kTile * sizeof(float));
  LocalTensor<float> a = in.AllocTensor<float>();
  DataCopy(a, global(x), kTile);
  if constexpr (is_fixed) in.EnQue(a);
  a = in.DeQue<float>();
  LocalTensor<float> b = out.AllocTensor<float>();
  Add(b, a, a, kTile);
  in.FreeTensor(a);
  out.EnQue(b);
  b = out.DeQue<float>();
  DataCopy(global(z), b, kTile);
  out.FreeTensor(b);
}

template <bool is_fixed>
void full_queue(GM_ADDR x, GM_ADDR, GM_ADDR z) {
  TPipe pipe;
  QueueIn in;  // of depth 1
  QueueOut out;
  pipe.InitBuffer(in, 2, kTile * sizeof(float));
  pipe.InitBuffer(out, 1, kTile * sizeof(float));
  const auto load = [&](uint32_t i) {
    LocalTensor<float> a = in.AllocTensor<float>();
    DataCopy(a, global(x)[i * kTile], kTile);
    in.EnQue(a);
  };
  const auto store = [&](uint32_t i) {
    LocalTensor<float> a = in.DeQue<float>();
    LocalTensor<float> b = out.AllocTensor<float>();
    Add(b, a, a, kTile);
    in.FreeTensor(a);
    out.EnQue(b);
    b = out.DeQue<float>();
    DataCopy(global(z)[i * kTile], b, kTile);
    out.FreeTensor(b);
  };
  load(0);
  if constexpr (is_fixed) store(0);
  load(1);
  if constexpr (!is_fixed) store(0);
  store(1);
}

template <bool is_fixed>
void left_in_queue(GM_ADDR x, GM_ADDR, GM_ADDR z) {
  TPipe pipe;
  QueueOut out;
  pipe.InitBuffer(out, 2, kTile * sizeof(float));
  LocalTensor<float> b = out.AllocTensor<float>();
  Duplicate(b, 1.0F, kTile);
  out.EnQue(b);
  if constexpr (is_fixed) b = out.DeQue<float>();
  DataCopy(global(z), b, kTile);
  out.FreeTensor(b);
  (void)x;
}

constexpr Row kRows[] = {
    {"set_without_wait", "synccheck", "nothing waits for a flag", &set_without_wait<false>, &set_without_wait<true>},
    {"wait_without_set", "synccheck", "nothing sets a flag", &wait_without_set<false>, &wait_without_set<true>},
    {"other_event", "synccheck", "sets one event and waits for another", &other_event<false>, &other_event<true>},
    {"set_twice", "synccheck", "sets a flag twice before the first wait", &set_twice<false>, &set_twice<true>},
    {"event_8", "synccheck", "uses an event beyond 7", &event_8<false>, &event_8<true>},
    {"circle", "synccheck", "program and vector unit wait for each other", &circle<false>, &circle<true>},
    {"empty_queue", "synccheck", "EnQue is missing", &empty_queue<false>, &empty_queue<true>},
    {"full_queue", "synccheck", "enqueues more than the queue's depth", &full_queue<false>, &full_queue<true>},
    {"left_in_queue", "synccheck", "DeQue is missing", &left_in_queue<false>, &left_in_queue<true>},
};

}  // namespace

std::span<const Row> synccheck_rows() { return kRows; }

}  // namespace labelled
