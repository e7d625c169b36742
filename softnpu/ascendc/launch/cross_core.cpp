// Flags between a cube core and its vector cores, which are signals of the launch.

#include <string>

#include "ascendc/launch/launch.h"
#include "softnpu_kernel/core.h"

namespace softnpu::kernel {
namespace {

constexpr uint32_t kFlags = 16;
// A flag of two cores; no block has so high a number.
constexpr uint32_t kOfCube = 3u << 30;
constexpr uint32_t kOfVector = 2u << 30;

// Which vector cores a call of a cube core is about.
struct VectorCores {
  uint32_t first;
  uint32_t behind;
};

// `*flag` becomes the number of the flag of each core.
VectorCores vector_cores_of(const Block& block, uint32_t* flag, bool each_has_own, const char* name,
                            const std::source_location& where) {
  const bool is_cube = block.kind == CoreKind::kCube;
  const uint32_t flags = is_cube && each_has_own ? kFlags * block.vector_cores : kFlags;
  if (*flag >= flags)
    fail((std::string(name) + ": flag " + std::to_string(*flag) + ": there are 0 to " + std::to_string(flags - 1))
             .c_str(),
         where);
  if (!is_cube) {
    const uint32_t own = block.index % block.vector_cores;
    return {own, own + 1};
  }
  if (!each_has_own) return {0, block.vector_cores};
  const uint32_t core = *flag / kFlags;
  *flag %= kFlags;
  return {core, core + 1};
}

uint32_t cube_of(const Block& block) {
  return block.kind == CoreKind::kCube ? block.index : block.index / block.vector_cores;
}

Block& block_of(const char* name, const std::source_location& where) {
  Block* block = current_block();
  if (block == nullptr) fail("it is called outside of a kernel", where);
  if (block->launch == nullptr || !block->launch->has_cube())
    fail((std::string(name) + ": the kernel has no cube cores: KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2)")
             .c_str(),
         where);
  return *block;
}

}  // namespace

void cross_core_set(uint32_t flag, bool each_has_own, const std::source_location& where) {
  const Block& block = block_of("CrossCoreSetFlag", where);
  const VectorCores cores = vector_cores_of(block, &flag, each_has_own, "CrossCoreSetFlag", where);
  const uint32_t receiver = (block.kind == CoreKind::kCube ? kOfVector : kOfCube) | cube_of(block);
  for (uint32_t core = cores.first; core < cores.behind; ++core) inter_block_set(receiver, core * kFlags + flag, where);
}

void cross_core_wait(uint32_t flag, bool each_has_own, const std::source_location& where) {
  const Block& block = block_of("CrossCoreWaitFlag", where);
  const VectorCores cores = vector_cores_of(block, &flag, each_has_own, "CrossCoreWaitFlag", where);
  const uint32_t receiver = (block.kind == CoreKind::kCube ? kOfCube : kOfVector) | cube_of(block);
  for (uint32_t core = cores.first; core < cores.behind; ++core)
    inter_block_wait(receiver, core * kFlags + flag, where);
}

}  // namespace softnpu::kernel
