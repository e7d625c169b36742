#pragma once
// What a host's tiling asks of the NPU. Facts: Ascend/DrivingSDK (op_host), sgl-kernel-npu (csrc/lora/op_host). See
// PROVENANCE.md.

#include <cstdint>

namespace platform_ascendc {

enum class CoreMemType : std::uint8_t { UB, L1, L0_A, L0_B, L0_C };

// The cores and memories of an Ascend910B1, whatever it is made of.
class PlatformAscendC {
 public:
  PlatformAscendC() = default;
  template <typename Information>
  explicit PlatformAscendC(const Information*) {}

  std::uint32_t GetCoreNumAic() const { return 24; }
  std::uint32_t GetCoreNumAiv() const { return 48; }
  std::uint32_t GetCoreNum() const { return GetCoreNumAiv(); }
  // Bytes that the objects of the cube need of a workspace: none here.
  std::uint32_t GetLibApiWorkSpaceSize() const { return 0; }
  // `*bytes` of one core's memory.
  template <typename Size>
  void GetCoreMemSize(CoreMemType memory, Size& bytes) const {
    constexpr Size kKib[] = {192, 512, 64, 64, 128};
    bytes = kKib[static_cast<int>(memory)] << 10;
  }
};

class PlatformAscendCManager {
 public:
  static PlatformAscendC* GetInstance() {
    static PlatformAscendC platform;
    return &platform;
  }
};

}  // namespace platform_ascendc
