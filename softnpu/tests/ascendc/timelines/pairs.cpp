#include "ascendc/timelines/pairs.h"

namespace timelines {
namespace {

using namespace AscendC;

constexpr uint32_t kTile = 4096;  // floats

GlobalTensor<float> global(GM_ADDR address) {
  GlobalTensor<float> tensor;
  tensor.SetGlobalBuffer(reinterpret_cast<float*>(address), kElements);
  return tensor;
}
uint32_t share() { return kElements / static_cast<uint32_t>(GetBlockNum()); }
uint32_t begin() { return share() * static_cast<uint32_t>(GetBlockIdx()); }

template <HardEvent event>
void order() {
  SetFlag<event>(EVENT_ID0);
  WaitFlag<event>(EVENT_ID0);
}

// z = x + y by queues of `buffers` buffers, `tile` floats at a time.
template <uint32_t buffers, uint32_t tile = kTile>
void add_by_queues(const Arguments& a) {
  TPipe pipe;
  TQue<QuePosition::VECIN, buffers> in_x;
  TQue<QuePosition::VECIN, buffers> in_y;
  TQue<QuePosition::VECOUT, buffers> out;
  pipe.InitBuffer(in_x, buffers, tile * sizeof(float));
  pipe.InitBuffer(in_y, buffers, tile * sizeof(float));
  pipe.InitBuffer(out, buffers, tile * sizeof(float));
  for (uint32_t i = begin(); i < begin() + share(); i += tile) {
    LocalTensor<float> x = in_x.template AllocTensor<float>();
    LocalTensor<float> y = in_y.template AllocTensor<float>();
    DataCopy(x, global(a.x)[i], tile);
    DataCopy(y, global(a.y)[i], tile);
    in_x.EnQue(x);
    in_y.EnQue(y);
    x = in_x.template DeQue<float>();
    y = in_y.template DeQue<float>();
    LocalTensor<float> z = out.template AllocTensor<float>();
    Add(z, x, y, tile);
    out.EnQue(z);
    in_x.FreeTensor(x);
    in_y.FreeTensor(y);
    z = out.template DeQue<float>();
    DataCopy(global(a.z)[i], z, tile);
    out.FreeTensor(z);
  }
}

// One tile after the other: load, `compute(tile)`, store.
struct Tiles {
  TPipe pipe;
  TBuf<> buffer;
  LocalTensor<float> tile;
  LocalTensor<float> other;

  Tiles() {
    pipe.InitBuffer(buffer, 2 * kTile * sizeof(float));
    tile = buffer.Get<float>();
    other = tile[kTile];
  }
  template <typename Compute>
  void pass(const GlobalTensor<float>& from, const GlobalTensor<float>& to, const Compute& compute) {
    for (uint32_t i = begin(); i < begin() + share(); i += kTile) {
      order<HardEvent::MTE3_MTE2>();
      DataCopy(tile, from[i], kTile);
      order<HardEvent::MTE2_V>();
      compute();
      order<HardEvent::V_MTE3>();
      DataCopy(to[i], tile, kTile);
    }
  }
};

// Bursts of 64 bytes, every fourth, from `first` on; x repeats itself every 32 bytes.
template <uint32_t first>
void load_bursts(const Arguments& a) {
  constexpr uint16_t kBursts = 64;
  constexpr uint32_t kUnit = 8;  // floats
  Tiles op;
  for (uint32_t i = begin(); i + kBursts * 8 * kUnit < begin() + share(); i += kBursts * 8 * kUnit) {
    order<HardEvent::MTE3_MTE2>();
    DataCopy(op.tile, global(a.x)[i + first], DataCopyParams(kBursts, 2, 6, 0));
    order<HardEvent::MTE2_MTE3>();
    DataCopy(global(a.z)[i], op.tile, kBursts * 2 * kUnit);
  }
}

// The first 256 bytes of each KiB: read alone, or with all that is between them.
template <bool reads_all>
void columns(const Arguments& a) {
  constexpr uint16_t kRows = 16;
  constexpr uint16_t kUnits = 8;  // of 32 bytes that are needed of a row
  constexpr uint32_t kRow = 256;  // floats
  Tiles op;
  for (uint32_t i = begin(); i < begin() + share(); i += kRows * kRow) {
    order<HardEvent::V_MTE2>();
    if constexpr (reads_all) {
      DataCopy(op.tile, global(a.x)[i], kRows * kRow);
      order<HardEvent::MTE2_V>();
      order<HardEvent::MTE3_V>();
      Copy(op.other, op.tile, 64, kRows, CopyRepeatParams(1, 1, 8, kRow / 8));
    } else {
      DataCopy(op.tile, global(a.x)[i], DataCopyParams(kRows, kUnits, kRow / 8 - kUnits, 0));
      order<HardEvent::MTE2_V>();
      order<HardEvent::MTE3_V>();
      Copy(op.other, op.tile, 64, kRows, CopyRepeatParams(1, 1, 8, 8));
    }
    order<HardEvent::V_MTE3>();
    DataCopy(global(a.z)[i], op.other, kRows * 64);
  }
}

// max(x + 1, 0) * 2.
void unfused(const Arguments& a) {
  Tiles op;
  op.pass(global(a.x), global(a.workspace), [&] { Adds(op.tile, op.tile, 1.0F, kTile); });
  op.pass(global(a.workspace), global(a.workspace), [&] { Relu(op.tile, op.tile, kTile); });
  op.pass(global(a.workspace), global(a.z), [&] { Muls(op.tile, op.tile, 2.0F, kTile); });
}
void fused(const Arguments& a) {
  Tiles op;
  op.pass(global(a.x), global(a.z), [&] {
    Adds(op.tile, op.tile, 1.0F, kTile);
    Relu(op.tile, op.tile, kTile);
    Muls(op.tile, op.tile, 2.0F, kTile);
  });
}

// The same sum, one repeat or a whole tile at a time.
template <bool is_whole>
void sums(const Arguments& a) {
  constexpr uint32_t kRepeat = 64;
  Tiles op;
  op.pass(global(a.x), global(a.z), [&] {
    if constexpr (is_whole) {
      Adds(op.tile, op.tile, 1.0F, kTile);
    } else {
      for (uint32_t i = 0; i < kTile; i += kRepeat) Adds(op.tile[i], op.tile[i], 1.0F, kRepeat);
    }
  });
}

// One element at a time by the scalar unit, of a part of each tile.
template <bool is_vector>
void first_elements(const Arguments& a) {
  constexpr uint32_t kSome = 64;
  Tiles op;
  op.pass(global(a.x), global(a.z), [&] {
    if constexpr (is_vector) {
      Adds(op.tile, op.tile, 1.0F, kSome);
    } else {
      order<HardEvent::MTE2_S>();
      for (uint32_t i = 0; i < kSome; ++i) op.tile.SetValue(i, op.tile.GetValue(i) + 1.0F);
      order<HardEvent::S_MTE3>();
    }
  });
}

// What is computed from a tile by some instructions is needed twice.
void derive(const Tiles& op) {
  Adds(op.other, op.tile, 1.0F, kTile);
  for (int i = 0; i < 5; ++i) Muls(op.other, op.other, 0.5F, kTile);
}
void recomputed(const Arguments& a) {
  Tiles op;
  op.pass(global(a.x), global(a.z), [&] {
    derive(op);
    Add(op.tile, op.tile, op.other, kTile);
    Sub(op.tile, op.tile, op.other, kTile);  // gives the tile back
    derive(op);
    Adds(op.tile, op.other, 0.0F, kTile);
  });
}
void reloaded(const Arguments& a) {
  Tiles op;
  for (uint32_t i = begin(); i < begin() + share(); i += kTile) {
    order<HardEvent::MTE3_MTE2>();
    DataCopy(op.tile, global(a.x)[i], kTile);
    order<HardEvent::MTE2_V>();
    derive(op);
    order<HardEvent::V_MTE3>();
    DataCopy(global(a.workspace)[i], op.other, kTile);
    Add(op.tile, op.tile, op.other, kTile);
    Sub(op.tile, op.tile, op.other, kTile);
    order<HardEvent::MTE3_MTE2>();
    order<HardEvent::V_MTE2>();
    DataCopy(op.other, global(a.workspace)[i], kTile);
    order<HardEvent::MTE2_V>();
    Adds(op.tile, op.other, 0.0F, kTile);
    order<HardEvent::V_MTE3>();
    DataCopy(global(a.z)[i], op.tile, kTile);
  }
}

constexpr Pair kPairs[] = {
    {"buffers",
     "with two buffers a tile is copied while another one is computed",
     {&add_by_queues<1>, 4},
     {&add_by_queues<2>, 4},
     nullptr},
    {"alignment",
     "64 bytes from byte 32 of a line on are two lines",
     {&load_bursts<8>, 32},
     {&load_bursts<0>, 32},
     nullptr},
    {"bursts",
     "16 addresses cost more than the three quarters of the bytes that are not needed",
     {&columns<false>, 2},
     {&columns<true>, 2},
     "burst 0\n"},
    {"fusion", "one load and one store in place of three", {&unfused, 32}, {&fused, 32}, nullptr},
    {"blocks", "32 cores in place of 2", {&add_by_queues<2>, 2}, {&add_by_queues<2>, 32}, nullptr},
    {"instructions", "one start of the vector unit in place of 64", {&sums<false>, 8}, {&sums<true>, 8}, nullptr},
    {"scalar",
     "64 elements in one instruction in place of 128 accesses",
     {&first_elements<false>, 8},
     {&first_elements<true>, 8},
     nullptr},
    {"recomputation",
     "six instructions take less time than a store and a load that 32 cores share",
     {&reloaded, 32},
     {&recomputed, 32},
     "hbm_bandwidth 12000  # ten times\n"},
};

}  // namespace

std::span<const Pair> pairs() { return kPairs; }

// All of the unified buffer.
void add(const Arguments& a) { add_by_queues<2, 2 * kTile>(a); }

}  // namespace timelines
