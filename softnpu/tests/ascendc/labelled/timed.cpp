// The kernel by which the time that checking takes is measured.

#include "ascendc/labelled/labelled.h"
#include "kernel_operator.h"

namespace labelled {

using namespace AscendC;

void timed_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t elements) {
  constexpr uint32_t kLarge = 4096;  // floats of a tile
  TPipe pipe;
  TQue<QuePosition::VECIN, 2> in_x;
  TQue<QuePosition::VECIN, 2> in_y;
  TQue<QuePosition::VECOUT, 2> out;
  pipe.InitBuffer(in_x, 2, kLarge * sizeof(float));
  pipe.InitBuffer(in_y, 2, kLarge * sizeof(float));
  pipe.InitBuffer(out, 2, kLarge * sizeof(float));
  const uint32_t each = elements / GetBlockNum();
  const uint32_t begin = each * GetBlockIdx();
  for (uint32_t i = begin; i < begin + each; i += kLarge) {
    LocalTensor<float> a = in_x.AllocTensor<float>();
    LocalTensor<float> b = in_y.AllocTensor<float>();
    DataCopy(a, global(x, elements)[i], kLarge);
    DataCopy(b, global(y, elements)[i], kLarge);
    in_x.EnQue(a);
    in_y.EnQue(b);
    a = in_x.DeQue<float>();
    b = in_y.DeQue<float>();
    LocalTensor<float> c = out.AllocTensor<float>();
    Add(c, a, b, kLarge);
    out.EnQue(c);
    in_x.FreeTensor(a);
    in_y.FreeTensor(b);
    c = out.DeQue<float>();
    DataCopy(global(z, elements)[i], c, kLarge);
    out.FreeTensor(c);
  }
}

}  // namespace labelled
