#pragma once
// Addresses and memory apart from each other: ranges of the region's window are reserved, physical memory comes from
// the heap, and mapping puts one behind the other. Memory of other processes is mapped the same way.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "base/file.h"
#include "base/status.h"
#include "runtime/heap.h"
#include "runtime/region.h"

namespace softnpu {

class VirtualMemory {
 public:
  // Sizes, addresses and offsets are multiples of it; so a mapping is made of huge pages.
  static constexpr size_t kGranularity = Region::kHugePage;

  // Borrows both, which must outlive it.
  VirtualMemory(Region* region, Heap* heap) : region_(region), heap_(heap) {}

  Status reserve(size_t size, void** out);
  // `address` is the start of a reservation that holds no mapping.
  Status release(void* address);

  // Memory without an address. The handle lives until free_physical(), the memory until it is also mapped nowhere.
  Status allocate_physical(size_t size, void** handle);
  bool owns(const void* handle) const;
  // Where in the device's memory `handle` lies; fails for another process's.
  Status locate_physical(const void* handle, uint64_t* offset, uint64_t* size) const;
  // A handle for memory of another process: `size` bytes of `file` from `offset`.
  Status adopt(File file, uint64_t offset, uint64_t size, void** handle);
  Status free_physical(void* handle);

  // Puts `size` bytes of `handle` from `offset` behind `address`, which lies in a reservation and is empty so far.
  Status map(void* address, size_t size, size_t offset, void* handle);
  // `address` is the start of a mapping, `size` what it had.
  Status unmap(void* address, size_t* size);

  // Maps `size` bytes of `fd` from `offset` (a multiple of the page size) at an address of the window.
  Status import(int fd, size_t offset, size_t size, void** out);
  // `address` came from import().
  Status forget(void* address);

  // The run of neighbouring mappings around `address`; false where nothing is mapped there.
  bool find(const void* address, Allocation* out) const;

  // Where in the device's memory the mapped range lies; false where it is not one piece of this device's.
  bool locate(const void* address, size_t size, size_t* offset) const;

  // The physical memory that `handle` names, or that the range lies in, is another process's too from now on.
  void share(const void* handle);
  void share(const void* address, size_t size);
  // Whether the range is mapped, every byte of it by no other address and for no other process.
  bool is_private(const void* address, size_t size) const;

  // Forgets everything (device reset).
  void clear();

 private:
  struct Physical {
    size_t offset = 0;  // in the region's memory, or in `file`
    size_t size = 0;
    File file;  // of another process; none for memory of this device
    int mappings = 0;
    bool freed = false;
    bool shared = false;  // with other processes
  };
  struct Mapping {
    size_t size = 0;
    size_t offset = 0;       // in the region's memory
    void* handle = nullptr;  // null for memory that was imported by a key
  };
  using Mappings = std::map<char*, Mapping>;

  Status reserve_locked(size_t size, char** out);
  void drop_if_unused(Physical* physical);
  // The mapping that holds `address`, or end().
  Mappings::const_iterator holding(const char* address) const;

  Region* region_;
  Heap* heap_;
  mutable std::mutex mutex_;                                       // guards all below
  std::map<char*, size_t> reservations_;                           // address -> size
  Mappings mappings_;                                              // by address
  std::unordered_map<void*, std::unique_ptr<Physical>> physical_;  // a handle is its record's address
};

}  // namespace softnpu
