#pragma once
// What the objects of the cube are told of their matrices. Facts: Ascend/DrivingSDK (sparse_matmul, deformable_conv2d),
// sgl-kernel-npu (csrc/lora, ada_block_sparse_attention). See PROVENANCE.md.

#include <cstdint>

#include "ascendc/types.h"

// ND: rows. ND_ALIGN: rows that begin at multiples of 32 bytes. VECTOR: one row. NZ: fractals.
enum class CubeFormat : uint8_t { ND, ND_ALIGN, NZ, VECTOR };

namespace AscendC {

enum class LayoutMode : uint8_t { NONE };
enum class BatchMode : uint8_t { BATCH_LESS_THAN_L1 };

// A matrix: where it is, its format and type, and whether SetTensorA or SetTensorB may be told that it is transposed.
// `is_shared`: both vector cores of a cube core have the same; it makes no difference here.
template <TPosition position, CubeFormat layout, typename Element, bool may_be_transposed = false,
          LayoutMode batches = LayoutMode::NONE, bool is_shared = false>
struct MatmulType {
  using T = Element;
  static constexpr TPosition pos = position;
  static constexpr CubeFormat format = layout;
  static constexpr bool isTrans = may_be_transposed;
};

// How the real library copies and computes. It makes no difference here, where all of them are one.
struct MatmulConfig {
  uint8_t kind = 0;
};
template <typename... Options>
constexpr MatmulConfig GetNormalConfig(Options...) {
  return {0};
}
template <typename... Options>
constexpr MatmulConfig GetMDLConfig(Options...) {
  return {1};
}
template <typename... Options>
constexpr MatmulConfig GetIBShareNormConfig(Options...) {
  return {2};
}

}  // namespace AscendC

inline constexpr AscendC::MatmulConfig CFG_NORM = AscendC::GetNormalConfig();
inline constexpr AscendC::MatmulConfig CFG_MDL = AscendC::GetMDLConfig();
inline constexpr AscendC::MatmulConfig CFG_IBSHARE_NORM = AscendC::GetIBShareNormConfig();
