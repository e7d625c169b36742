#include "runtime/memory/kernel_writes.h"

#include <algorithm>
#include <cstdint>

#include "runtime/memory/address.h"
#include "runtime/memory/address_lock.h"

namespace softnpu {
namespace {

// Tables of addresses and structures with addresses have one within this many bytes from their beginning.
constexpr size_t kMaxRead = 4096;
// Raising the epochs of a larger allocation takes longer than a launch; all of the device's are raised at once.
constexpr size_t kMaxRaised = size_t{256} << 20;

// Other streams, other blocks and the program may write there meanwhile.
__attribute__((no_sanitize("thread"))) uint64_t word_at(const unsigned char* memory) {
  uint64_t word = 0;
  for (size_t i = 0; i < sizeof word; ++i) word |= uint64_t{memory[i]} << (8 * i);
  return word;
}

// The addresses of all devices' memory, and of what is between them.
class Addresses {
 public:
  explicit Addresses(const Process& process) {
    for (int id = 0; id < Process::kMaxDevices; ++id) {
      Device* device = process.live_device(id);
      if (device == nullptr) continue;
      const auto begin = reinterpret_cast<uint64_t>(device->region().base());
      begin_ = std::min(begin_, begin);
      end_ = std::max(end_, begin + device->region().range());
    }
  }
  bool contain(uint64_t word) const { return word >= begin_ && word < end_; }

 private:
  uint64_t begin_ = UINT64_MAX;
  uint64_t end_ = 0;
};

// Calls visit(device, address, allocation) for each word that is an address in a live allocation. Words begin `step`
// bytes apart.
template <typename Visit>
void for_pointers(const Process& process, const void* memory, size_t size, size_t step, const Visit& visit) {
  const Addresses addresses(process);
  const auto* bytes = static_cast<const unsigned char*>(memory);
  for (size_t at = 0; at + sizeof(uint64_t) <= size; at += step) {
    const uint64_t word = word_at(bytes + at);
    if (!addresses.contain(word)) continue;
    const auto* address = reinterpret_cast<const void*>(word);
    Device* device = process.device_of(address);
    Allocation allocation;
    if (device != nullptr && device->find(address, &allocation)) visit(*device, address, allocation);
  }
}

// Raises all epochs of the devices that addresses in [memory, memory + size) are of.
void bump_devices_of(const Process& process, const void* memory, size_t size) {
  const Device* raised = nullptr;
  for_pointers(process, memory, size, sizeof(uint64_t), [&](Device& device, const void*, const Allocation&) {
    if (&device != raised) device.write_epochs().bump_all();
    raised = &device;
  });
}

}  // namespace

void bump_pointed_to(const Process& process, const void* arguments, size_t bytes) {
  for_pointers(process, arguments, bytes, 1, [](Device& device, const void*, const Allocation& allocation) {
    if (allocation.size > kMaxRaised) {
      device.write_epochs().bump_all();
    } else {
      device.write_epochs().bump(allocation.base, allocation.size);
    }
  });
}

void bump_reachable(Process& process, const void* arguments, size_t bytes) {
  const AddressHold hold;  // the memory may have been freed since the launch
  for_pointers(process, arguments, bytes, 1, [&](Device&, const void* address, const Allocation& allocation) {
    const size_t offset = std::min(allocation.offset_of(address), allocation.size);
    const size_t size = std::min(kMaxRead, allocation.size - offset);
    Location location;
    if (!resolve(process, "an argument", address, size, &location).is_ok()) return;
    bump_devices_of(process, location.kernel, size);
  });
  for (size_t at = 0; at + sizeof(uint64_t) <= bytes; at += sizeof(uint64_t)) {
    const auto* address = reinterpret_cast<const char*>(word_at(static_cast<const unsigned char*>(arguments) + at));
    if (!process.host_memory().contains(address, sizeof(uint64_t))) continue;
    size_t size = kMaxRead;
    while (!process.host_memory().contains(address, size)) size /= 2;
    bump_devices_of(process, address, size);
  }
}

}  // namespace softnpu
