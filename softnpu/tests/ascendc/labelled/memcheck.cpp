// Bugs that memcheck reports.

#include "ascendc/labelled/labelled.h"
#include "ascendc/labelled/products.h"
#include "kernel_operator.h"

namespace labelled {
namespace {

using namespace AscendC;

void copy_in(QueueIn* queue, const GlobalTensor<float>& from, uint32_t count) {
  LocalTensor<float> tensor = queue->AllocTensor<float>();
  DataCopy(tensor, from, count);
  queue->EnQue(tensor);
}
void copy_out(QueueOut* queue, const GlobalTensor<float>& to, uint32_t count) {
  LocalTensor<float> tensor = queue->DeQue<float>();
  DataCopy(to, tensor, count);
  queue->FreeTensor(tensor);
}

// z = x + x.
struct Double {
  TPipe pipe;
  QueueIn in;
  QueueOut out;

  explicit Double(uint32_t elements) {
    pipe.InitBuffer(in, 1, elements * sizeof(float));
    pipe.InitBuffer(out, 1, elements * sizeof(float));
  }
  void sum(uint32_t count) {
    LocalTensor<float> a = in.DeQue<float>();
    LocalTensor<float> b = out.AllocTensor<float>();
    Add(b, a, a, count);
    out.EnQue(b);
    in.FreeTensor(a);
  }
};

template <bool is_fixed>
void behind_global_tensor(GM_ADDR x, GM_ADDR, GM_ADDR z) {
  Double op(kTile);
  const uint32_t first = is_fixed ? kElements - kTile : kElements - kTile / 2;
  copy_in(&op.in, global(x)[first], kTile);
  op.sum(kTile);
  copy_out(&op.out, global(z), kTile);
}

template <bool is_fixed>
void behind_allocation(GM_ADDR x, GM_ADDR, GM_ADDR z) {
  Double op(kTile);
  GlobalTensor<float> input;
  input.SetGlobalBuffer(reinterpret_cast<float*>(x));
  const uint32_t first = is_fixed ? kElements - kTile : kElements - kTile / 2;
  copy_in(&op.in, input[first], kTile);
  op.sum(kTile);
  copy_out(&op.out, global(z), kTile);
}

// The kernel does not say how long y is: another tensor is behind it.
template <bool is_fixed>
void behind_tensor(GM_ADDR, GM_ADDR y, GM_ADDR z) {
  Double op(kTile);
  GlobalTensor<float> input;
  input.SetGlobalBuffer(reinterpret_cast<float*>(y));
  const uint32_t first = is_fixed ? kElements - kTile : kElements - kTile / 2;
  copy_in(&op.in, input[first], kTile);
  op.sum(kTile);
  copy_out(&op.out, global(z), kTile);
}

template <bool is_fixed>
void neighbouring_tensor(GM_ADDR x, GM_ADDR, GM_ADDR z) {
  Double op(kTile);
  copy_in(&op.in, global(x), kTile);
  op.sum(kTile);
  copy_out(&op.out, global(z, 2 * kElements)[is_fixed ? kElements - kTile : kElements], kTile);
}

template <bool is_fixed>
void behind_local_tensor(GM_ADDR x, GM_ADDR, GM_ADDR z) {
  Double op(kTile);
  copy_in(&op.in, global(x), kTile);
  op.sum(is_fixed ? kTile : kTile + 8);
  copy_out(&op.out, global(z), kTile);
}

template <bool is_fixed>
void odd_copy(GM_ADDR x, GM_ADDR, GM_ADDR z) {
  Double op(kTile);
  copy_in(&op.in, global(x), kTile);
  op.sum(kTile);
  copy_out(&op.out, global(z), is_fixed ? kTile : kTile - 3);
}

template <bool is_fixed>
void odd_address(GM_ADDR x, GM_ADDR, GM_ADDR z) {
  Double op(2 * kTile);
  LocalTensor<float> a = op.in.AllocTensor<float>();
  DataCopy(a[is_fixed ? 8 : 4], global(x), kTile);
  op.in.EnQue(a);
  a = op.in.DeQue<float>();
  LocalTensor<float> b = op.out.AllocTensor<float>();
  Add(b, a[8], a[8], kTile - 8);
  op.out.EnQue(b);
  op.in.FreeTensor(a);
  copy_out(&op.out, global(z), kTile - 8);
}

template <bool is_fixed>
void used_after_free(GM_ADDR x, GM_ADDR, GM_ADDR z) {
  Double op(kTile);
  copy_in(&op.in, global(x), kTile);
  LocalTensor<float> a = op.in.DeQue<float>();
  LocalTensor<float> b = op.out.AllocTensor<float>();
  if constexpr (!is_fixed) op.in.FreeTensor(a);
  Add(b, a, a, kTile);
  if constexpr (is_fixed) op.in.FreeTensor(a);
  op.out.EnQue(b);
  copy_out(&op.out, global(z), kTile);
}

template <bool is_fixed>
void never_freed(GM_ADDR x, GM_ADDR, GM_ADDR z) {
  Double op(kTile);
  copy_in(&op.in, global(x), kTile);
  LocalTensor<float> a = op.in.DeQue<float>();
  LocalTensor<float> b = op.out.AllocTensor<float>();
  Add(b, a, a, kTile);
  op.out.EnQue(b);
  if constexpr (is_fixed) op.in.FreeTensor(a);
  copy_out(&op.out, global(z), kTile);
}

template <bool is_fixed>
void freed_twice(GM_ADDR x, GM_ADDR, GM_ADDR z) {
  Double op(kTile);
  copy_in(&op.in, global(x), kTile);
  LocalTensor<float> a = op.in.DeQue<float>();
  LocalTensor<float> b = op.out.AllocTensor<float>();
  Add(b, a, a, kTile);
  op.out.EnQue(b);
  op.in.FreeTensor(a);
  if constexpr (!is_fixed) op.in.FreeTensor(a);
  copy_out(&op.out, global(z), kTile);
}

template <bool is_fixed>
void too_much_memory(GM_ADDR x, GM_ADDR, GM_ADDR z) {
  Double op(is_fixed ? 24 * kElements : 25 * kElements);
  copy_in(&op.in, global(x), kTile);
  op.sum(kTile);
  copy_out(&op.out, global(z), kTile);
}

template <bool is_fixed>
void scalar_behind_tensor(GM_ADDR x, GM_ADDR, GM_ADDR z) {
  Double op(kTile);
  copy_in(&op.in, global(x), kTile);
  LocalTensor<float> a = op.in.DeQue<float>();
  order<HardEvent::MTE2_S>(EVENT_ID0);
  const float last = a.GetValue(is_fixed ? kTile - 1 : kTile);
  LocalTensor<float> b = op.out.AllocTensor<float>();
  Duplicate(b, last, kTile);
  op.out.EnQue(b);
  op.in.FreeTensor(a);
  copy_out(&op.out, global(z), kTile);
}

template <bool is_fixed>
void strided_behind_tensor(GM_ADDR x, GM_ADDR, GM_ADDR z) {
  Double op(kTile);
  LocalTensor<float> a = op.in.AllocTensor<float>();
  // Blocks of 8 floats, every other one: the last one is the 31st.
  DataCopy(a, global(x), DataCopyParams(is_fixed ? 16 : 17, 1, 0, 1));
  op.in.EnQue(a);
  a = op.in.DeQue<float>();
  LocalTensor<float> b = op.out.AllocTensor<float>();
  Add(b, a, a, 8);
  op.out.EnQue(b);
  op.in.FreeTensor(a);
  copy_out(&op.out, global(z), 8);
}

template <bool is_fixed>
void empty_mask(GM_ADDR x, GM_ADDR, GM_ADDR z) {
  Double op(kTile);
  copy_in(&op.in, global(x), kTile);
  LocalTensor<float> a = op.in.DeQue<float>();
  LocalTensor<float> b = op.out.AllocTensor<float>();
  Copy(b, a, is_fixed ? 64 : 0, 1, CopyRepeatParams(1, 1, 8, 8));
  op.out.EnQue(b);
  op.in.FreeTensor(a);
  if constexpr (is_fixed) {
    copy_out(&op.out, global(z), 64);
  } else {
    b = op.out.DeQue<float>();
    op.out.FreeTensor(b);
  }
}

// z = x + x of some elements, by `add(b, a)`; the rest of z is x.
template <typename Call>
void add_some(GM_ADDR x, GM_ADDR z, const Call& add) {
  Double op(2 * kTile);
  copy_in(&op.in, global(x), 2 * kTile);
  LocalTensor<float> a = op.in.DeQue<float>();
  LocalTensor<float> b = op.out.AllocTensor<float>();
  Adds(b, a, 0.0F, 2 * kTile);
  add(b, a);
  op.out.EnQue(b);
  op.in.FreeTensor(a);
  copy_out(&op.out, global(z), 2 * kTile);
}

template <bool is_fixed>
void widened_mask(GM_ADDR x, GM_ADDR, GM_ADDR z) {
  add_some(x, z, [](const LocalTensor<float>& b, const LocalTensor<float>& a) {
    const uint64_t mask[2] = {0x5555555555555555, is_fixed ? 0 : 0x5555555555555555};
    Add(b, a, a, mask, 4, BinaryRepeatParams(1, 1, 1, 8, 8, 8));
  });
}

template <bool is_fixed>
void too_many_repeats(GM_ADDR x, GM_ADDR, GM_ADDR z) {
  add_some(x, z, [](const LocalTensor<float>& b, const LocalTensor<float>& a) {
    Add(b, a, a, 8, is_fixed ? 64 : 256, BinaryRepeatParams(1, 1, 1, 1, 1, 1));
  });
}

template <bool is_fixed>
void partial_overlap(GM_ADDR x, GM_ADDR, GM_ADDR z) {
  add_some(x, z,
           [](const LocalTensor<float>& b, const LocalTensor<float>& a) { Add(b[is_fixed ? 0 : 8], b, a, kTile); });
}

template <bool is_fixed>
void odd_fractal(GM_ADDR x, GM_ADDR y, GM_ADDR z) {
  TileProduct op;
  op.load(global(x), global(y));
  op.to_left(is_fixed ? 0 : 8);
  op.multiply(16);
  op.store(global(z));
}

template <bool is_fixed>
void deeper_product(GM_ADDR x, GM_ADDR y, GM_ADDR z) {
  TileProduct op;
  op.load(global(x), global(y));
  op.to_left(0);
  op.multiply(is_fixed ? 16 : 24);
  op.store(global(z));
}

template <bool is_fixed>
void tiling_of_other_sizes(GM_ADDR x, GM_ADDR y, GM_ADDR z) {
  WholeProduct op(is_fixed ? 32 : 16);
  if (GetBlockIdx() != 0) return;
  op.multiply(x, y, z);
  op.product.End();
}

constexpr Row kRows[] = {
    {"behind_global_tensor", "memcheck", "copies from behind the GlobalTensor", &behind_global_tensor<false>,
     &behind_global_tensor<true>},
    {"behind_allocation", "memcheck", "copies from behind the allocation", &behind_allocation<false>,
     &behind_allocation<true>},
    {"behind_tensor", "memcheck", "copies from behind the tensor that it was given", &behind_tensor<false>,
     &behind_tensor<true>},
    {"neighbouring_tensor", "memcheck", "a wrong length: copies to a tensor that it was not given",
     &neighbouring_tensor<false>, &neighbouring_tensor<true>},
    {"behind_local_tensor", "memcheck", "sums more than the tensors have", &behind_local_tensor<false>,
     &behind_local_tensor<true>},
    {"odd_copy", "memcheck", "copies bytes that fill no block", &odd_copy<false>, &odd_copy<true>},
    {"odd_address", "memcheck", "copies to an address within a block", &odd_address<false>, &odd_address<true>},
    {"used_after_free", "memcheck", "reads a tensor behind FreeTensor", &used_after_free<false>,
     &used_after_free<true>},
    {"never_freed", "memcheck", "FreeTensor is missing", &never_freed<false>, &never_freed<true>},
    {"freed_twice", "memcheck", "frees a tensor twice", &freed_twice<false>, &freed_twice<true>},
    {"too_much_memory", "memcheck", "gives queues more than the unified buffer has", &too_much_memory<false>,
     &too_much_memory<true>},
    {"scalar_behind_tensor", "memcheck", "reads the element behind the last", &scalar_behind_tensor<false>,
     &scalar_behind_tensor<true>},
    {"strided_behind_tensor", "memcheck", "the last burst of a strided copy is behind the tensor",
     &strided_behind_tensor<false>, &strided_behind_tensor<true>},
    {"widened_mask", "memcheck", "a mask with bits for elements that floats have not", &widened_mask<false>,
     &widened_mask<true>},
    {"too_many_repeats", "memcheck", "256 repeats, of which the 8 bits of the unit's field are 0",
     &too_many_repeats<false>, &too_many_repeats<true>},
    {"partial_overlap", "memcheck", "adds to where a part of the source is", &partial_overlap<false>,
     &partial_overlap<true>},
    {"odd_fractal", "memcheck", "loads a fractal to an address within one", &odd_fractal<false>, &odd_fractal<true>},
    {"deeper_product", "memcheck", "multiplies more columns than were loaded", &deeper_product<false>,
     &deeper_product<true>},
    {"tiling_of_other_sizes", "memcheck", "a product's tiling is for matrices of other sizes",
     &tiling_of_other_sizes<false>, &tiling_of_other_sizes<true>},
    {"empty_mask", "memcheck", "a vector instruction with an empty mask", &empty_mask<false>, &empty_mask<true>},
};

}  // namespace

std::span<const Row> memcheck_rows() { return kRows; }

}  // namespace labelled
