// Bugs that racecheck reports.

#include "ascendc/labelled/labelled.h"
#include "ascendc/labelled/products.h"
#include "kernel_operator.h"

namespace labelled {
namespace {

using namespace AscendC;

template <bool is_fixed>
void sum_before_copy(GM_ADDR x, GM_ADDR, GM_ADDR z) {
  Flagged op;
  DataCopy(op.a, global(x), kTile);
  if constexpr (is_fixed) order<HardEvent::MTE2_V>(EVENT_ID0);
  Add(op.b, op.a, op.a, kTile);
  order<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(global(z), op.b, kTile);
}

template <bool is_fixed>
void store_before_sum(GM_ADDR x, GM_ADDR, GM_ADDR z) {
  Flagged op;
  DataCopy(op.a, global(x), kTile);
  order<HardEvent::MTE2_V>(EVENT_ID0);
  Add(op.b, op.a, op.a, kTile);
  if constexpr (is_fixed) order<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(global(z), op.b, kTile);
}

template <bool is_fixed>
void barrier_of_one_pipe(GM_ADDR x, GM_ADDR, GM_ADDR z) {
  Flagged op;
  DataCopy(op.a, global(x), kTile);
  PipeBarrier<is_fixed ? PIPE_ALL : PIPE_MTE2>();
  Add(op.b, op.a, op.a, kTile);
  order<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(global(z), op.b, kTile);
}

// The flags of a loop: forth for each tile, and back so that the next tile does not overwrite it.
template <bool has_input_back, bool has_output_back>
void loop(GM_ADDR x, GM_ADDR z) {
  Flagged op;
  if constexpr (has_input_back) SetFlag<HardEvent::V_MTE2>(EVENT_ID0);
  if constexpr (has_output_back) SetFlag<HardEvent::MTE3_V>(EVENT_ID0);
  for (uint32_t i = 0; i < kElements; i += kTile) {
    if constexpr (has_input_back) WaitFlag<HardEvent::V_MTE2>(EVENT_ID0);
    DataCopy(op.a, global(x)[i], kTile);
    order<HardEvent::MTE2_V>(EVENT_ID0);
    if constexpr (has_output_back) WaitFlag<HardEvent::MTE3_V>(EVENT_ID0);
    Add(op.b, op.a, op.a, kTile);
    if constexpr (has_input_back) SetFlag<HardEvent::V_MTE2>(EVENT_ID0);
    order<HardEvent::V_MTE3>(EVENT_ID0);
    DataCopy(global(z)[i], op.b, kTile);
    if constexpr (has_output_back) SetFlag<HardEvent::MTE3_V>(EVENT_ID0);
  }
  if constexpr (has_input_back) WaitFlag<HardEvent::V_MTE2>(EVENT_ID0);
  if constexpr (has_output_back) WaitFlag<HardEvent::MTE3_V>(EVENT_ID0);
}

template <bool is_fixed>
void next_copy_before_sum(GM_ADDR x, GM_ADDR, GM_ADDR z) {
  loop<is_fixed, true>(x, z);
}
template <bool is_fixed>
void next_sum_before_store(GM_ADDR x, GM_ADDR, GM_ADDR z) {
  loop<true, is_fixed>(x, z);
}

template <bool is_fixed>
void queue_not_used(GM_ADDR x, GM_ADDR, GM_ADDR z) {
  TPipe pipe;
  TQue<QuePosition::VECIN, 1> in;
  TQue<QuePosition::VECOUT, 1> out;
  pipe.InitBuffer(in, 1, kTile * sizeof(float));
  pipe.InitBuffer(out, 1, kTile * sizeof(float));
  LocalTensor<float> a = in.AllocTensor<float>();
  DataCopy(a, global(x), kTile);
  if constexpr (is_fixed) {
    in.EnQue(a);
    a = in.DeQue<float>();
  }
  LocalTensor<float> b = out.AllocTensor<float>();
  Add(b, a, a, kTile);
  in.FreeTensor(a);
  out.EnQue(b);
  b = out.DeQue<float>();
  DataCopy(global(z), b, kTile);
  out.FreeTensor(b);
}

template <bool is_fixed>
void scalar_before_copy(GM_ADDR x, GM_ADDR, GM_ADDR z) {
  Flagged op;
  DataCopy(op.a, global(x), kTile);
  if constexpr (is_fixed) order<HardEvent::MTE2_S>(EVENT_ID0);
  Duplicate(op.b, op.a.GetValue(1), kTile);
  order<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(global(z), op.b, kTile);
}

template <bool is_fixed>
void sum_before_scalar(GM_ADDR x, GM_ADDR, GM_ADDR z) {
  Flagged op;
  DataCopy(op.a, global(x), kTile);
  order<HardEvent::MTE2_S>(EVENT_ID0);
  op.a.SetValue(0, 5.0F);
  if constexpr (is_fixed) order<HardEvent::S_V>(EVENT_ID0);
  order<HardEvent::MTE2_V>(EVENT_ID0);
  Add(op.b, op.a, op.a, kTile);
  order<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(global(z), op.b, kTile);
}

template <bool is_fixed>
void loaded_before_stored(GM_ADDR x, GM_ADDR y, GM_ADDR z) {
  Flagged op;
  DataCopy(op.a, global(x), kTile);
  order<HardEvent::MTE2_MTE3>(EVENT_ID0);
  DataCopy(global(y), op.a, kTile);  // as a workspace
  if constexpr (is_fixed) order<HardEvent::MTE3_MTE2>(EVENT_ID0);
  DataCopy(op.b, global(y), kTile);
  order<HardEvent::MTE2_MTE3>(EVENT_ID1);
  DataCopy(global(z), op.b, kTile);
}

template <bool is_fixed>
void flag_of_other_buffer(GM_ADDR x, GM_ADDR, GM_ADDR z) {
  TPipe pipe;
  TBuf<> buffer;
  pipe.InitBuffer(buffer, 3 * kTile * sizeof(float));
  LocalTensor<float> tiles[2] = {buffer.Get<float>(), buffer.Get<float>()[kTile]};
  LocalTensor<float> sum = buffer.Get<float>()[2 * kTile];
  for (int32_t i = 0; i < 2; ++i) {
    DataCopy(tiles[i], global(x)[i * kTile], kTile);
    SetFlag<HardEvent::MTE2_V>(i);
  }
  for (int32_t i = 0; i < 2; ++i) {
    const int32_t tile = is_fixed ? i : 1 - i;
    WaitFlag<HardEvent::MTE2_V>(i);
    Add(i == 0 ? sum : tiles[tile], tiles[tile], tiles[tile], kTile);
  }
  order<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(global(z), sum, kTile);
}

template <bool is_fixed>
void product_before_load(GM_ADDR x, GM_ADDR y, GM_ADDR z) {
  TileProduct op;
  op.load(global(x), global(y));
  op.to_left(0, is_fixed);
  op.multiply(16);
  op.store(global(z));
}

// Both products have their left tile in the same place.
template <bool is_fixed>
void next_load_before_product(GM_ADDR x, GM_ADDR y, GM_ADDR z) {
  TileProduct op;
  op.load(global(x), global(y));
  op.to_left(0);
  op.multiply(16);
  if constexpr (is_fixed) order<HardEvent::M_MTE1>(EVENT_ID0);
  op.to_left(0);
  op.multiply(16);
  op.store(global(z));
}

template <bool is_fixed>
void read_before_product(GM_ADDR x, GM_ADDR y, GM_ADDR z) {
  WholeProduct op(32);
  if (GetBlockIdx() != 0) return;
  TBuf<> buffer;
  op.pipe.InitBuffer(buffer, kTile * sizeof(float));
  const LocalTensor<float> local = buffer.Get<float>();
  op.multiply(x, y, z);
  if constexpr (is_fixed) op.product.WaitIterateAll();
  DataCopy(local, global(z), kTile);
  order<HardEvent::MTE2_V>(EVENT_ID0);
  Adds(local, local, 1.0F, kTile);
  order<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(global(z), local, kTile);
  op.product.End();
}

constexpr Row kRows[] = {
    {"sum_before_copy", "racecheck", "the flag MTE2_V is missing", &sum_before_copy<false>, &sum_before_copy<true>},
    {"store_before_sum", "racecheck", "the flag V_MTE3 is missing", &store_before_sum<false>, &store_before_sum<true>},
    {"barrier_of_one_pipe", "racecheck", "a barrier of one pipe in place of a flag", &barrier_of_one_pipe<false>,
     &barrier_of_one_pipe<true>},
    {"next_copy_before_sum", "racecheck", "the flag back, V_MTE2, is missing in a loop", &next_copy_before_sum<false>,
     &next_copy_before_sum<true>},
    {"next_sum_before_store", "racecheck", "the flag back, MTE3_V, is missing in a loop", &next_sum_before_store<false>,
     &next_sum_before_store<true>},
    {"queue_not_used", "racecheck", "EnQue and DeQue are missing", &queue_not_used<false>, &queue_not_used<true>},
    {"scalar_before_copy", "racecheck", "the flag MTE2_S is missing", &scalar_before_copy<false>,
     &scalar_before_copy<true>},
    {"sum_before_scalar", "racecheck", "the flag S_V is missing", &sum_before_scalar<false>, &sum_before_scalar<true>},
    {"loaded_before_stored", "racecheck", "the flag MTE3_MTE2 is missing between copies of global memory",
     &loaded_before_stored<false>, &loaded_before_stored<true>},
    {"product_before_load", "racecheck", "the flag MTE1_M is missing", &product_before_load<false>,
     &product_before_load<true>},
    {"next_load_before_product", "racecheck", "the flag back, M_MTE1, is missing between products in one place",
     &next_load_before_product<false>, &next_load_before_product<true>},
    {"read_before_product", "racecheck", "WaitIterateAll is missing", &read_before_product<false>,
     &read_before_product<true>},
    {"flag_of_other_buffer", "racecheck", "waits for the flag of the other buffer", &flag_of_other_buffer<false>,
     &flag_of_other_buffer<true>},
};

}  // namespace

std::span<const Row> racecheck_rows() { return kRows; }

}  // namespace labelled
