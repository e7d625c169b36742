#pragma once
// The status page of a process on softnpu: what npu-smi and libdcmi read of it. It is a memfd named kStatusName, which
// only its process writes and which ends with the process; readers find it among the process's descriptors. Its size is
// sealed, so that nobody can truncate it under a reader or the writer. Each field is valid by itself at any time.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace softnpu {

constexpr const char* kStatusName = "softnpu-status";
constexpr uint64_t kStatusMagic = 0x7375746174736e73;
constexpr uint32_t kStatusVersion = 1;

// One device of the process. Times are CLOCK_MONOTONIC, in nanoseconds.
struct alignas(64) DeviceStatus {
  std::atomic<uint32_t> is_open{0};   // whether the process has contexts on it
  std::atomic<uint32_t> number{0};    // of the device in the machine
  std::atomic<uint64_t> capacity{0};  // bytes
  std::atomic<uint64_t> used{0};      // bytes
  std::atomic<uint64_t> busy{0};      // time that ended tasks took, from the start of the process
  std::atomic<uint64_t> since{0};     // when the executor's running task began; 0: none runs
};

struct StatusLayout {
  static constexpr size_t kDevices = 16;

  std::atomic<uint64_t> magic{0};  // kStatusMagic, written last
  uint32_t version = kStatusVersion;
  int32_t pid = 0;
  int32_t installed = 0;  // devices of the machine, as the process counts them
  int32_t cores = 0;      // host threads that emulate one device's cores
  std::array<char, 40> soc{};
  std::array<DeviceStatus, kDevices> devices;
};
static_assert(std::atomic<uint64_t>::is_always_lock_free && std::atomic<uint32_t>::is_always_lock_free);

}  // namespace softnpu
