// Bugs that blockcheck reports: four blocks that get in each other's way in global memory.

#include "ascendc/labelled/labelled.h"
#include "kernel_operator.h"

namespace labelled {
namespace {

using namespace AscendC;

constexpr uint32_t kUnit = 8;  // floats of 32 bytes

uint32_t self() { return static_cast<uint32_t>(GetBlockIdx()); }

// Copies by way of local memory, ordered by flags.
struct Copier {
  TPipe pipe;
  TBuf<> buffer;
  LocalTensor<float> local;

  Copier() {
    pipe.InitBuffer(buffer, kElements * sizeof(float));
    local = buffer.Get<float>();
  }
  void load(const GlobalTensor<float>& from, uint32_t count,
            const std::source_location& where = std::source_location::current()) {
    order<HardEvent::MTE3_MTE2>(EVENT_ID0);
    DataCopy(local, from, count, where);
    order<HardEvent::MTE2_V>(EVENT_ID0);
  }
  void fill(float value, uint32_t count) {
    order<HardEvent::MTE3_V>(EVENT_ID0);
    Duplicate(local, value, count);
  }
  void store(const GlobalTensor<float>& to, uint32_t count,
             const std::source_location& where = std::source_location::current()) {
    order<HardEvent::V_MTE3>(EVENT_ID0);
    DataCopy(to, local, count, where);
  }
};

template <bool is_fixed>
void same_output(GM_ADDR x, GM_ADDR, GM_ADDR z) {
  Copier op;
  op.load(global(x)[self() * kTile], kTile);
  op.store(global(z)[is_fixed ? self() * kTile : 0], kTile);
}

template <bool is_fixed>
void overlapping_tiles(GM_ADDR x, GM_ADDR, GM_ADDR z) {
  Copier op;
  const uint32_t begin = self() * (is_fixed ? kTile : kTile - kUnit);
  op.load(global(x)[begin], kTile);
  op.store(global(z)[begin], kTile);
}

// 100 floats of each block end within a unit of 32 bytes, which DataCopy writes as a whole.
template <bool is_fixed>
void unit_of_neighbour(GM_ADDR, GM_ADDR, GM_ADDR z) {
  constexpr uint32_t kOwn = 100;
  Copier op;
  op.fill(static_cast<float>(self()), 104);
  order<HardEvent::V_MTE3>(EVENT_ID0);
  const GlobalTensor<float> to = global(z)[self() * kOwn];
  if constexpr (is_fixed)
    DataCopyPad(to, op.local, DataCopyExtParams(1, kOwn * sizeof(float), 0, 0, 0));
  else
    DataCopy(to, op.local, 104);
}

// Each block rounds its share up; the last one has fewer.
template <bool is_fixed>
void shares_rounded_up(GM_ADDR x, GM_ADDR, GM_ADDR z) {
  constexpr uint32_t kAll = 1000;
  constexpr uint32_t kShare = 256;
  Copier op;
  const uint32_t begin = self() * kShare;
  const uint32_t count = begin + kShare <= kAll ? kShare : kAll - begin;
  const uint32_t first = is_fixed ? begin : begin + count - kShare;  // a whole tile that ends with the share
  op.load(global(x)[first], is_fixed ? count : kShare);
  op.store(global(z)[first], is_fixed ? count : kShare);
}

// Columns of two units each, with a stride of eight units.
template <bool is_fixed>
void columns_beyond_row(GM_ADDR, GM_ADDR, GM_ADDR z) {
  constexpr uint16_t kRows = 16;
  constexpr uint16_t kWidth = is_fixed ? 2 : 3;
  Copier op;
  op.fill(1.0F, kRows * kWidth * kUnit);
  order<HardEvent::V_MTE3>(EVENT_ID0);
  DataCopy(global(z)[(is_fixed ? self() : self() % 3) * 2 * kUnit], op.local,
           DataCopyParams(kRows, kWidth, 0, 8 - kWidth));
}

// Each block writes a partial result to y; the first block adds them up.
template <bool syncs_before, bool syncs_behind>
void add_partials(GM_ADDR x, GM_ADDR y, GM_ADDR z) {
  Copier op;
  op.load(global(x)[self() * kTile], kUnit);
  if constexpr (syncs_before) SyncAll();
  op.store(global(y)[self() * kUnit], kUnit);
  if constexpr (syncs_behind) SyncAll();
  if (self() != 0) return;
  op.load(global(y), 4 * kUnit);
  op.store(global(z), 4 * kUnit);
}
template <bool is_fixed>
void sum_without_sync(GM_ADDR x, GM_ADDR y, GM_ADDR z) {
  add_partials<false, is_fixed>(x, y, z);
}
template <bool is_fixed>
void sync_too_early(GM_ADDR x, GM_ADDR y, GM_ADDR z) {
  add_partials<true, is_fixed>(x, y, z);
}

template <bool is_fixed>
void sum_without_atomic(GM_ADDR x, GM_ADDR, GM_ADDR z) {
  Copier op;
  if constexpr (is_fixed) {
    op.load(global(x)[self() * kTile], kTile);
    SetAtomicAdd<float>();
  } else {
    op.load(global(z), kTile);
    Adds(op.local, op.local, static_cast<float>(self()), kTile);
  }
  op.store(global(z), kTile);
  SetAtomicNone();
}

template <bool is_fixed>
void atomic_off_too_early(GM_ADDR x, GM_ADDR, GM_ADDR z) {
  Copier op;
  op.load(global(x), 2 * kTile);
  SetAtomicAdd<float>();
  op.store(global(z), kTile);
  if constexpr (!is_fixed) SetAtomicNone();
  op.store(global(z)[kTile], kTile);
  SetAtomicNone();
}

// The first block clears what all blocks add to.
template <bool is_fixed>
void cleared_while_added(GM_ADDR x, GM_ADDR, GM_ADDR z) {
  Copier op;
  if (self() == 0) {
    op.fill(0.0F, kTile);
    op.store(global(z), kTile);
  }
  if constexpr (is_fixed) SyncAll();
  op.load(global(x), kTile);
  SetAtomicAdd<float>();
  op.store(global(z), kTile);
  SetAtomicNone();
}

template <bool is_fixed>
void read_while_added(GM_ADDR x, GM_ADDR y, GM_ADDR z) {
  Copier op;
  op.fill(0.0F, kTile);
  if (self() == 0) op.store(global(y), kTile);
  SyncAll();
  op.load(global(x), kTile);
  SetAtomicAdd<float>();
  op.store(global(y), kTile);
  SetAtomicNone();
  if constexpr (is_fixed) SyncAll();
  if (self() != 3) return;
  op.load(global(y), kTile);
  op.store(global(z), kTile);
}

template <bool is_fixed>
void one_counter(GM_ADDR, GM_ADDR, GM_ADDR z) {
  GlobalTensor<float> to = global(z);
  const uint32_t index = is_fixed ? self() * kUnit : 0;
  to.SetValue(index, to.GetValue(index) + 1.0F);
}

// Two rounds use y: the second one may begin when all blocks have read the first one's.
template <bool is_fixed>
void next_round_overwrites(GM_ADDR x, GM_ADDR y, GM_ADDR z) {
  Copier op;
  for (uint32_t round = 0; round < 2; ++round) {
    op.load(global(x)[(2 * self() + round) * kUnit], kUnit);
    op.store(global(y)[self() * kUnit], kUnit);
    SyncAll();
    op.load(global(y)[(self() + 1) % 4 * kUnit], kUnit);
    op.store(global(z)[(2 * self() + round) * kUnit], kUnit);
    if constexpr (is_fixed) SyncAll();
  }
}

// In place, each element is replaced by its neighbour's, which is another block's at the end of a tile.
template <bool is_fixed>
void halo_in_place(GM_ADDR x, GM_ADDR, GM_ADDR z) {
  Copier op;
  const uint32_t count = self() == 3 ? kTile - kUnit : kTile;
  op.load(global(is_fixed ? x : z)[self() * kTile + kUnit], count);
  op.store(global(z)[self() * kTile], count);
}

// Block i gets what block i - 1 has written, and waits for the signal of `from`.
template <bool has_signal>
void hand_on(GM_ADDR x, GM_ADDR y, GM_ADDR z, int32_t from) {
  const GlobalTensor<int32_t> none;
  const LocalTensor<int32_t> work;
  const auto block = static_cast<int32_t>(self());
  Copier op;
  if (block == 0) {
    op.load(global(x), kTile);
  } else {
    if constexpr (has_signal) IBWait(none, work, from, 0);
    op.load(global(y)[(self() - 1) * kTile], kTile);
  }
  op.store(global(y)[self() * kTile], kTile);
  op.store(global(z)[self() * kTile], kTile);
  if constexpr (has_signal) IBSet(none, work, block, 0);
}
template <bool is_fixed>
void signal_missing(GM_ADDR x, GM_ADDR y, GM_ADDR z) {
  hand_on<is_fixed>(x, y, z, static_cast<int32_t>(self()) - 1);
}

// The signal comes before the copy that it is for.
template <bool is_fixed>
void signal_too_early(GM_ADDR x, GM_ADDR y, GM_ADDR z) {
  const GlobalTensor<int32_t> none;
  const LocalTensor<int32_t> work;
  Copier op;
  if (self() == 1) {
    op.load(global(x), kTile);
    if constexpr (!is_fixed) IBSet(none, work, 1, 2);
    op.store(global(y), kTile);
    if constexpr (is_fixed) IBSet(none, work, 1, 2);
  } else if (self() == 2) {
    IBWait(none, work, 1, 2);
    op.load(global(y), kTile);
    op.store(global(z), kTile);
  }
}

// Blocks 1 and 2 write; block 3 waits for one of them and reads both.
template <bool is_fixed>
void waits_for_one_of_two(GM_ADDR x, GM_ADDR y, GM_ADDR z) {
  const GlobalTensor<int32_t> none;
  const LocalTensor<int32_t> work;
  const auto block = static_cast<int32_t>(self());
  if (block == 0) return;
  Copier op;
  if (block < 3) {
    op.load(global(x), kTile);
    op.store(global(y)[(self() - 1) * kTile], kTile);
    IBSet(none, work, block, 0);
    return;
  }
  IBWait(none, work, 1, 0);
  if constexpr (is_fixed) IBWait(none, work, 2, 0);
  op.load(global(y), 2 * kTile);
  op.store(global(z), 2 * kTile);
}

#define ROW(name, bug) \
  { #name, "blockcheck", bug, &name < false>, &name < true>, 4 }
constexpr Row kRows[] = {
    ROW(same_output, "all blocks write the first tile"),
    ROW(overlapping_tiles, "tiles of neighbours have a unit in common"),
    ROW(unit_of_neighbour, "DataCopy writes a unit of 32 bytes that the next block has a part of"),
    ROW(shares_rounded_up, "the last block's tile reaches back into the share before it"),
    ROW(columns_beyond_row, "strided columns that are wider than their distance"),
    ROW(sum_without_sync, "SyncAll is missing before the sum of all blocks' results"),
    ROW(sync_too_early, "SyncAll comes before the copy that it is for"),
    ROW(sum_without_atomic, "adds to global memory by a load and a store"),
    ROW(atomic_off_too_early, "SetAtomicNone before the last copy"),
    ROW(cleared_while_added, "one block clears what others add to"),
    ROW(read_while_added, "one block reads what others add to"),
    ROW(one_counter, "all blocks count in one element"),
    ROW(next_round_overwrites, "the next round overwrites what others read"),
    ROW(halo_in_place, "reads the neighbour's elements while it replaces them"),
    ROW(signal_missing, "IBSet and IBWait are missing"),
    ROW(signal_too_early, "IBSet before the copy that it is for"),
    ROW(waits_for_one_of_two, "waits for one of two blocks that it reads from"),
};
#undef ROW

}  // namespace

std::span<const Row> blockcheck_rows() { return kRows; }

}  // namespace labelled
