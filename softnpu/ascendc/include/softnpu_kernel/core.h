#pragma once
// The core that the calling thread emulates, as kernels' headers see it. A call in release mode does its work at once;
// with SOFTNPU_KERNEL_CHECK=1 the same call goes to the checks first.

#include <cstdint>
#include <source_location>

#include "softnpu_kernel/export.h"
#include "softnpu_kernel/instruction.h"

namespace softnpu::kernel {

// Whether this process checks its kernels. Constant after the library was loaded.
extern SOFTNPU_KERNEL_EXPORT const bool is_checked;

SOFTNPU_KERNEL_EXPORT void issue_checked(const Instruction& instruction);

// What the calling thread's block did last, for the report of a crash: an instruction or access and its line.
struct LastAction {
  const char* name = "";
  std::source_location where;
};
// Reached without a call, which scalar loops would notice.
extern SOFTNPU_KERNEL_EXPORT constinit thread_local LastAction last_action __attribute__((tls_model("initial-exec")));

// Executes `instruction`, or queues it.
inline void issue(const Instruction& instruction) {
  last_action.name = instruction.name;
  last_action.where = instruction.where;
  if (is_checked) [[unlikely]] {
    issue_checked(instruction);
  } else {
    instruction.execute(instruction);
  }
}

// Before the scalar unit reads or writes local or global memory itself.
SOFTNPU_KERNEL_EXPORT void scalar_access_checked(const Memory& memory, uint64_t bytes, bool writes,
                                                 const std::source_location& where);
inline void scalar_access(const Memory& memory, uint64_t bytes, bool writes, const std::source_location& where) {
  last_action.name = writes ? "SetValue" : "GetValue";
  last_action.where = where;
  if (is_checked) [[unlikely]]
    scalar_access_checked(memory, bytes, writes, where);
}

// Events between pipes; nothing to do in release mode, where instructions are executed in the order of the program.
SOFTNPU_KERNEL_EXPORT void set_flag_checked(Pipe from, Pipe to, int event, const std::source_location& where);
SOFTNPU_KERNEL_EXPORT void wait_flag_checked(Pipe from, Pipe to, int event, const std::source_location& where);
// All instructions of `pipe` before the barrier end before those behind it begin; kAllPipes: of all pipes.
inline constexpr int kAllPipes = -1;
SOFTNPU_KERNEL_EXPORT void barrier_checked(int pipe, const std::source_location& where);

inline void set_flag(Pipe from, Pipe to, int event, const std::source_location& where) {
  if (is_checked) [[unlikely]]
    set_flag_checked(from, to, event, where);
}
inline void wait_flag(Pipe from, Pipe to, int event, const std::source_location& where) {
  if (is_checked) [[unlikely]]
    wait_flag_checked(from, to, event, where);
}
inline void barrier(int pipe, const std::source_location& where) {
  if (is_checked) [[unlikely]]
    barrier_checked(pipe, where);
}

// What copies to global memory do with the elements that are there: SetAtomicAdd and similar functions.
enum class AtomicOperation : uint8_t { kNone, kAdd, kMax, kMin };
struct AtomicMode {
  AtomicOperation operation = AtomicOperation::kNone;
  DataType type = DataType::kFloat;
};

// What a block runs on. A kernel for both kinds is run for each cube core and for its vector cores.
enum class CoreKind : uint8_t { kVector, kCube };

// What is known of the block that the calling thread runs. Null outside of kernels.
struct Block {
  uint32_t index;            // GetBlockIdx
  uint32_t count;            // GetBlockNum
  uint8_t* local[16];        // each local memory's first byte, by LocalMemory
  uint64_t local_bytes[16];  // and size
  const char* kernel;
  // The vector unit's mask register, bits 0 to 63 first. In counter mode the first word is a number of elements.
  uint64_t vector_mask[2] = {~uint64_t{0}, ~uint64_t{0}};
  bool mask_counter_mode = false;
  AtomicMode atomic;             // of what the block writes to global memory
  void* pipe = nullptr;          // AscendC::TPipe, the newest
  uint8_t* workspace = nullptr;  // SetSysWorkspace
  uint64_t tiling_key = 0;       // TILING_KEY_IS
  class Launch* launch = nullptr;
  CoreKind kind = CoreKind::kVector;
  uint32_t vector_cores = 1;  // of each cube core, where the launch has those: GetTaskRation
  uint32_t number = 0;        // of all runs of the kernel in the launch: vector cores first
};
enum class LocalMemory : uint8_t { kUnified, kL1, kL0A, kL0B, kL0C, kBias, kFixpipe };
SOFTNPU_KERNEL_EXPORT Block* current_block();

// The address at which a kernel reads what is at the device address `address`; other addresses stay as they are.
SOFTNPU_KERNEL_EXPORT void* device_pointer(void* address);

// Waits until all blocks of the launch are here; of vector cores alone, or of both kinds.
SOFTNPU_KERNEL_EXPORT void sync_all(const std::source_location& where);
SOFTNPU_KERNEL_EXPORT void sync_all_cores(const std::source_location& where);

// The kernel is for cube cores, each with `vector_cores` vector cores. The launch runs it for them, too; each block has
// to say the same.
SOFTNPU_KERNEL_EXPORT void use_both_cores(uint32_t vector_cores, const std::source_location& where);
// The block asks its cube core for products. A kernel that has not said for which cores it is runs on two vector cores
// of each cube core. A cube core's block ends here.
SOFTNPU_KERNEL_EXPORT void use_cube(const std::source_location& where);

// Flags between a cube core and its vector cores, 0 to 15. A vector core's is set for its cube core, which waits for
// that of each vector core; a cube core's is set for each vector core. `each_has_own`: the cube core's flag `flag` is
// that of its first vector core, `flag` + 16 that of the second.
SOFTNPU_KERNEL_EXPORT void cross_core_set(uint32_t flag, bool each_has_own, const std::source_location& where);
SOFTNPU_KERNEL_EXPORT void cross_core_wait(uint32_t flag, bool each_has_own, const std::source_location& where);

// A counting semaphore of the launch for each `block` and `event`: raises it; waits until it is above zero, and lowers
// it.
SOFTNPU_KERNEL_EXPORT void inter_block_set(uint32_t block, uint32_t event, const std::source_location& where);
SOFTNPU_KERNEL_EXPORT void inter_block_wait(uint32_t block, uint32_t event, const std::source_location& where);

// Ends the kernel with an error that names kernel, block and line. Does not return.
[[noreturn]] SOFTNPU_KERNEL_EXPORT void fail(const char* sentence, const std::source_location& where);
// The same for what is wrong with the order of instructions: checked mode reports it under synccheck.
[[noreturn]] SOFTNPU_KERNEL_EXPORT void fail_order(const char* sentence, const std::source_location& where);

// For checked mode: a local tensor's memory was taken or given back by a queue, a buffer or the pipe.
enum class LocalEvent : uint8_t { kInitBuffer, kAlloc, kFree, kEnque, kDeque, kReset };
SOFTNPU_KERNEL_EXPORT void local_event_checked(LocalEvent event, const Memory& memory, const void* owner,
                                               const std::source_location& where);
inline void local_event(LocalEvent event, const Memory& memory, const void* owner, const std::source_location& where) {
  if (is_checked) [[unlikely]]
    local_event_checked(event, memory, owner, where);
}

}  // namespace softnpu::kernel
