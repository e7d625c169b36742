// An addition as kernel authors write it: with double-buffered queues, and with a buffer and explicit flags.

#include <gtest/gtest.h>

#include <vector>

#include "ascendc/kernel_run.h"
#include "kernel_operator.h"

namespace {

using namespace AscendC;

constexpr int32_t kBuffers = 2;

struct Tiling {
  uint32_t total;
  uint32_t tiles;
};

// Stands for the vector instruction: `count` sums.
void add(const LocalTensor<float>& to, const LocalTensor<float>& a, const LocalTensor<float>& b, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) to.SetValue(i, a.GetValue(i) + b.GetValue(i));
}

class QueuedAdd {
 public:
  __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t total, uint32_t tiles) {
    ASSERT(GetBlockNum() != 0 && "no blocks");
    const uint32_t length = total / GetBlockNum();
    tiles_ = tiles;
    tile_ = length / tiles / kBuffers;
    x_.SetGlobalBuffer((__gm__ float*)x + length * GetBlockIdx(), length);
    y_.SetGlobalBuffer((__gm__ float*)y + length * GetBlockIdx(), length);
    z_.SetGlobalBuffer((__gm__ float*)z + length * GetBlockIdx(), length);
    pipe_.InitBuffer(in_x_, kBuffers, tile_ * sizeof(float));
    pipe_.InitBuffer(in_y_, kBuffers, tile_ * sizeof(float));
    pipe_.InitBuffer(out_, kBuffers, tile_ * sizeof(float));
  }
  __aicore__ inline void Process() {
    for (uint32_t i = 0; i < tiles_ * kBuffers; ++i) {
      CopyIn(i);
      Compute();
      CopyOut(i);
    }
  }

 private:
  __aicore__ inline void CopyIn(uint32_t i) {
    LocalTensor<float> x = in_x_.AllocTensor<float>();
    LocalTensor<float> y = in_y_.AllocTensor<float>();
    DataCopy(x, x_[i * tile_], tile_);
    DataCopy(y, y_[i * tile_], tile_);
    in_x_.EnQue(x);
    in_y_.EnQue(y);
  }
  __aicore__ inline void Compute() {
    LocalTensor<float> x = in_x_.DeQue<float>();
    LocalTensor<float> y = in_y_.DeQue<float>();
    LocalTensor<float> z = out_.AllocTensor<float>();
    add(z, x, y, tile_);
    out_.EnQue<float>(z);
    in_x_.FreeTensor(x);
    in_y_.FreeTensor(y);
  }
  __aicore__ inline void CopyOut(uint32_t i) {
    LocalTensor<float> z = out_.DeQue<float>();
    DataCopy(z_[i * tile_], z, tile_);
    out_.FreeTensor(z);
  }

  TPipe pipe_;
  TQue<QuePosition::VECIN, kBuffers> in_x_, in_y_;
  TQue<QuePosition::VECOUT, kBuffers> out_;
  GlobalTensor<float> x_, y_, z_;
  uint32_t tiles_ = 0;
  uint32_t tile_ = 0;
};

extern "C" __global__ __aicore__ void queued_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR, GM_ADDR tiling) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
  GET_TILING_DATA_WITH_STRUCT(Tiling, data, tiling);
  if (TILING_KEY_IS(0)) {
    QueuedAdd op;
    op.Init(x, y, z, data.total, data.tiles);
    op.Process();
  }
}

extern "C" __global__ __aicore__ void flagged_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR, GM_ADDR tiling) {
  GET_TILING_DATA_WITH_STRUCT(Tiling, data, tiling);
  if ASCEND_IS_AIV {
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    const uint32_t length = data.total / GetBlockNum();
    pipe.InitBuffer(buffer, 3 * length * sizeof(float));
    LocalTensor<float> a = buffer.Get<float>();
    LocalTensor<float> b = a[length];
    LocalTensor<float> sum = buffer.GetWithOffset<float>(length, 2 * length * sizeof(float));
    GlobalTensor<float> global;
    const auto offset = GetBlockIdx() * length;
    global.SetGlobalBuffer((__gm__ float*)x + offset);
    DataCopy(a, global, {1, static_cast<uint16_t>(length / 8), 0, 0});
    global.SetGlobalBuffer((__gm__ float*)y + offset);
    DataCopyPad(b, global, {1, static_cast<uint32_t>(length * sizeof(float)), 0, 0, 0}, {false, 0, 0, 0});
    auto id = static_cast<event_t>(GetTPipePtr()->FetchEventID(HardEvent::MTE2_S));
    SetFlag<HardEvent::MTE2_S>(id);
    WaitFlag<HardEvent::MTE2_S>(id);
    add(sum, a, b, length);
    set_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
    global.SetGlobalBuffer((__gm__ float*)z + offset);
    DataCopyExtParams out{1, static_cast<uint32_t>(length * sizeof(float)), 0, 0, 0};
    DataCopyPad(global, sum, out);
    PipeBarrier<PIPE_ALL>();
  }
}

using Kernel = void (*)(GM_ADDR, GM_ADDR, GM_ADDR, GM_ADDR, GM_ADDR);

struct Arguments {
  Kernel kernel;
  GM_ADDR x, y, z, workspace, tiling;
};

class KernelAdd : public KernelTest, public ::testing::WithParamInterface<Kernel> {};

TEST_P(KernelAdd, GivesTheSums) {
  constexpr uint32_t kTotal = 8 * 2048;
  std::vector<float> x(kTotal);
  std::vector<float> y(kTotal);
  std::vector<float> want(kTotal);
  for (uint32_t i = 0; i < kTotal; ++i) {
    x[i] = static_cast<float>(i);
    y[i] = 0.5F * static_cast<float>(i % 97);
    want[i] = x[i] + y[i];
  }
  float* z = on_device(std::vector<float>(kTotal, -1));
  const auto address = [](auto* device) { return reinterpret_cast<GM_ADDR>(kernel_address(device)); };
  const Arguments arguments{GetParam(),
                            address(on_device(x)),
                            address(on_device(y)),
                            address(z),
                            nullptr,
                            address(on_device(std::vector<Tiling>{{kTotal, 8}}))};
  ASSERT_EQ(run("add", 8, arguments, [](const Arguments& a) { a.kernel(a.x, a.y, a.z, a.workspace, a.tiling); }),
            ACL_SUCCESS)
      << recent_error();
  EXPECT_EQ(on_host(z, kTotal), want);
}

INSTANTIATE_TEST_SUITE_P(Forms, KernelAdd, ::testing::Values(&queued_add, &flagged_add));

}  // namespace
