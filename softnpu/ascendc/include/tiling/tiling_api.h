#pragma once
// The host's tiling of products: fills the TCubeTiling that REGIST_MATMUL_OBJ reads. Facts: Ascend/DrivingSDK
// (sparse_matmul, deformable_conv2d, op_host), sgl-kernel-npu (csrc/lora, ada_block_sparse_attention, op_host). See
// PROVENANCE.md.

#include <algorithm>
#include <cstdint>

#include "ascendc/cube_tiling.h"
#include "tiling/platform/platform_ascendc.h"

namespace matmul_tiling {

enum class TPosition : std::uint8_t { GM, VECIN, VECOUT, VECCALC, TSCM };
enum class CubeFormat : std::uint8_t { ND, ND_ALIGN, NZ, VECTOR };
enum class DataType : std::uint8_t { DT_FLOAT, DT_FLOAT16, DT_BF16, DT_BFLOAT16 = DT_BF16, DT_INT8, DT_INT32 };

// Of one core.
class MatmulApiTiling {
 public:
  MatmulApiTiling() = default;
  explicit MatmulApiTiling(const platform_ascendc::PlatformAscendC&) {}

  void SetAType(TPosition, CubeFormat, DataType type, bool = false) { type_ = type; }
  void SetBType(TPosition, CubeFormat, DataType type, bool = false) { type_of_b_ = type; }
  void SetCType(TPosition, CubeFormat, DataType type) { type_of_c_ = type; }
  void SetBiasType(TPosition, CubeFormat, DataType) {}
  // Products have no bias here: GetTiling() is -1 with one.
  void SetBias(bool bias) { has_bias_ = bias; }
  void EnableBias(bool bias) { has_bias_ = bias; }
  // The sizes of a product; 0 where they were set. Those of the matrices are the same unless SetOrgShape() was called.
  std::int32_t SetShape(std::int32_t m, std::int32_t n, std::int32_t k) {
    m_ = m;
    n_ = n;
    k_ = k;
    return 0;
  }
  std::int32_t SetOrgShape(std::int32_t m, std::int32_t n, std::int32_t k) { return SetOrgShape(m, n, k, k); }
  std::int32_t SetOrgShape(std::int32_t m, std::int32_t n, std::int32_t k_of_a, std::int32_t k_of_b) {
    stored_m_ = m;
    stored_n_ = n;
    stored_k_of_a_ = k_of_a;
    stored_k_of_b_ = k_of_b;
    return 0;
  }
  // Of what is computed at once; -1: as GetTiling() chooses.
  std::int32_t SetFixSplit(std::int32_t m = -1, std::int32_t n = -1, std::int32_t k = -1) {
    base_m_ = m;
    base_n_ = n;
    base_k_ = k;
    return 0;
  }
  // Bytes of the buffers; -1: all. They hold what GetTiling() chooses in any case.
  std::int32_t SetBufferSpace(std::int32_t = -1, std::int32_t = -1, std::int32_t = -1) { return 0; }

  // 0, or -1 where sizes or types are none that a product takes; `tiling` is unchanged then.
  std::int64_t GetTiling(TCubeTiling& tiling) const { return fill(1, 1, &tiling); }

 protected:
  std::int32_t m() const { return m_ > 0 ? m_ : stored_m_; }
  std::int32_t n() const { return n_ > 0 ? n_ : stored_n_; }

  // The same for one of `rows` by `columns` cores.
  std::int64_t fill(std::int32_t rows, std::int32_t columns, TCubeTiling* tiling) const {
    const std::int32_t depth = k_ > 0 ? k_ : stored_k_of_a_;
    if (m() <= 0 || n() <= 0 || depth <= 0 || has_bias_ || !has_types()) return -1;
    TCubeTiling result;
    result.M = stored_m_ > 0 ? stored_m_ : m();
    result.N = stored_n_ > 0 ? stored_n_ : n();
    result.Ka = stored_k_of_a_ > 0 ? stored_k_of_a_ : depth;
    result.Kb = stored_k_of_b_ > 0 ? stored_k_of_b_ : depth;
    result.singleCoreM = divided(m(), rows);
    result.singleCoreN = divided(n(), columns);
    result.singleCoreK = depth;
    // A tile of each operand in half of L0A and L0B, the result in L0C.
    constexpr std::int32_t kHalfBuffer = 32 << 10;
    const std::int32_t bytes = type_ == DataType::DT_FLOAT ? 4 : type_ == DataType::DT_INT8 ? 1 : 2;
    const std::int32_t unit = 32 / bytes;
    result.baseM = base_m_ > 0 ? base_m_ : rounded(result.singleCoreM, 16, 128);
    result.baseN = base_n_ > 0 ? base_n_ : rounded(result.singleCoreN, 16, 256);
    const std::int32_t most = kHalfBuffer / bytes / std::max(result.baseM, result.baseN) / unit * unit;
    result.baseK = base_k_ > 0 ? base_k_ : rounded(depth, unit, std::max(most, unit));
    result.usedCoreNum = divided(m(), result.singleCoreM) * divided(n(), result.singleCoreN);
    if (std::int64_t{result.baseM} * result.baseN > (128 << 10) / 4) return -1;
    *tiling = result;
    return 0;
  }

 private:
  static std::int32_t divided(std::int32_t size, std::int32_t parts) {
    return size / parts + (size % parts != 0 ? 1 : 0);
  }
  // The next multiple of `unit`; `most`, which is one, if that is less.
  static std::int32_t rounded(std::int32_t size, std::int32_t unit, std::int32_t most) {
    return size >= most ? most : divided(size, unit) * unit;
  }
  bool has_types() const {
    if (type_ != type_of_b_ || type_ == DataType::DT_INT32) return false;
    return (type_ == DataType::DT_INT8) == (type_of_c_ == DataType::DT_INT32) && type_of_c_ != DataType::DT_INT8;
  }

  DataType type_ = DataType::DT_FLOAT16;
  DataType type_of_b_ = DataType::DT_FLOAT16;
  DataType type_of_c_ = DataType::DT_FLOAT;
  bool has_bias_ = false;
  std::int32_t m_ = 0, n_ = 0, k_ = 0;
  std::int32_t stored_m_ = 0, stored_n_ = 0, stored_k_of_a_ = 0, stored_k_of_b_ = 0;
  std::int32_t base_m_ = -1, base_n_ = -1, base_k_ = -1;
};

// Of several cores, each of which computes a part of C.
class MultiCoreMatmulTiling : public MatmulApiTiling {
 public:
  using MatmulApiTiling::MatmulApiTiling;

  // More cores than any chip has count as 65536.
  void SetDim(std::int32_t cores) { cores_ = std::clamp(cores, 1, 1 << 16); }
  // Rows and columns of cores, whose parts are as square as they can be.
  std::int64_t GetTiling(TCubeTiling& tiling) const {
    std::int32_t best = 1;
    std::int64_t least = INT64_MAX;
    for (std::int32_t rows = 1; rows <= cores_; ++rows) {
      const std::int64_t columns = cores_ / rows;
      const std::int64_t height = (std::int64_t{m()} + rows - 1) / rows;
      const std::int64_t width = (std::int64_t{n()} + columns - 1) / columns;
      // What the slowest core computes and reads.
      const std::int64_t cost = height * width + 64 * (height + width);
      if (cost < least) {
        least = cost;
        best = rows;
      }
    }
    return fill(best, cores_ / best, &tiling);
  }

 private:
  std::int32_t cores_ = 1;
};

}  // namespace matmul_tiling
