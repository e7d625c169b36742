#pragma once
// Products in small kernels: of a tile, by the matrix unit's instructions, and of matrices, by an object of the cube.

#include "ascendc/labelled/labelled.h"
#include "kernel_operator.h"
#include "lib/matmul_intf.h"

namespace labelled {

// z = x y^T of 16 by 16 numbers, ordered by flags.
struct TileProduct {
  static constexpr uint32_t kSize = 16;
  static constexpr uint32_t kFractal = 128;  // floats

  AscendC::TPipe pipe;
  AscendC::TBuf<AscendC::TPosition::A1> a1;
  AscendC::TBuf<AscendC::TPosition::A2> a2;
  AscendC::TBuf<AscendC::TPosition::B1> b1;
  AscendC::TBuf<AscendC::TPosition::B2> b2;
  AscendC::TBuf<AscendC::TPosition::CO1> sums;
  AscendC::TBuf<AscendC::TPosition::VECCALC> out;

  TileProduct() {
    constexpr uint32_t kBytes = kSize * kSize * sizeof(float);
    pipe.InitBuffer(a1, kBytes);
    pipe.InitBuffer(a2, 2 * kBytes);
    pipe.InitBuffer(b1, kBytes);
    pipe.InitBuffer(b2, kBytes);
    pipe.InitBuffer(sums, kBytes);
    pipe.InitBuffer(out, kBytes);
  }
  void load(const AscendC::GlobalTensor<float>& x, const AscendC::GlobalTensor<float>& y) {
    AscendC::Nd2NzParams rows;
    rows.nValue = rows.dValue = rows.srcDValue = rows.dstNzC0Stride = kSize;
    DataCopy(a1.Get<float>(), x, rows);
    DataCopy(b1.Get<float>(), y, rows);
    order<AscendC::HardEvent::MTE2_MTE1>(EVENT_ID0);
    AscendC::LoadData2dParams fractals;
    fractals.repeatTimes = 2;
    LoadData(b2.Get<float>(), b1.Get<float>(), fractals);
  }
  void to_left(uint32_t first, bool is_ordered = true) {
    AscendC::LoadData2dParams fractals;
    fractals.repeatTimes = 2;
    LoadData(a2.Get<float>()[first], a1.Get<float>(), fractals);
    if (is_ordered) order<AscendC::HardEvent::MTE1_M>(EVENT_ID0);
  }
  void multiply(uint16_t depth) {
    Mmad(sums.Get<float>(), a2.Get<float>(2 * kFractal), b2.Get<float>(), {kSize, kSize, depth});
  }
  void store(const AscendC::GlobalTensor<float>& z) {
    order<AscendC::HardEvent::M_V>(EVENT_ID0);
    AscendC::DataCopyEnhancedParams enhanced;
    enhanced.blockMode = AscendC::BlockMode::BLOCK_MODE_MATRIX;
    DataCopy(out.Get<float>(), sums.Get<float>(), AscendC::DataCopyParams(1, 1, 0, 0), enhanced);
    order<AscendC::HardEvent::V_MTE3>(EVENT_ID0);
    DataCopy(z, out.Get<float>(), kSize * kSize);
  }
};

// z = x y of 32 by 32 numbers, whose tiling says that rows are `columns` long.
struct WholeProduct {
  using Matrix = AscendC::MatmulType<AscendC::TPosition::GM, CubeFormat::ND, float>;
  static constexpr int32_t kSize = 32;

  AscendC::TPipe pipe;
  AscendC::Matmul<Matrix, Matrix, Matrix> product;

  explicit WholeProduct(int32_t columns) {
    TCubeTiling tiling;
    tiling.M = tiling.N = tiling.Ka = tiling.Kb = columns;
    REGIST_MATMUL_OBJ(&pipe, AscendC::GetSysWorkSpacePtr(), product, &tiling);
  }
  void multiply(GM_ADDR x, GM_ADDR y, GM_ADDR z) {
    product.SetTensorA(global(x));
    product.SetTensorB(global(y));
    product.SetSingleShape(kSize, kSize, kSize);
    product.IterateAll<false>(global(z), 0, false, true);
  }
};

}  // namespace labelled
