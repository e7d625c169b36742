#pragma once
// Virtual memory management. Ranges of the region's window are reserved; physical memory comes from the heap; map()
// maps one into the other. Memory of other processes is mapped the same way.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "base/status.h"
#include "runtime/ipc/imported_range.h"
#include "runtime/memory/heap.h"
#include "runtime/memory/region.h"

namespace softnpu {

class VirtualMemory {
 public:
  // Sizes, addresses and offsets are multiples of it, so that mappings consist of huge pages.
  static constexpr size_t kGranularity = Region::kHugePage;

  // Borrows both; they must outlive it.
  VirtualMemory(Region* region, Heap* heap) : region_(region), heap_(heap) {}

  Status reserve(size_t size, void** out);
  // `address` is the start of a reservation without mappings.
  Status release(void* address);

  // Allocates memory without an address. The handle lives until free_physical(), the memory until it is also unmapped.
  Status allocate_physical(size_t size, void** handle);
  bool owns(const void* handle) const;
  // The offset of `handle` in the device's memory; fails for memory of another process.
  Status locate_physical(const void* handle, uint64_t* offset, uint64_t* size) const;
  // A handle for memory of another process.
  Status adopt(ImportedRange range, void** handle);
  Status free_physical(void* handle);

  // Maps `size` bytes of `handle` from `offset` at `address`, which is in a reservation and not mapped yet.
  Status map(void* address, size_t size, size_t offset, void* handle);
  // `address` is the start of a mapping; `size` returns its size.
  Status unmap(void* address, size_t* size);

  // Maps `size` bytes of `fd` from `offset` (a multiple of the page size) at an address of the window.
  Status import(int fd, size_t offset, size_t size, void** out);
  // `address` came from import().
  Status forget(void* address);

  // The run of adjacent mappings around `address`; false if it is not mapped.
  bool find(const void* address, Allocation* out) const;

  // The offset of the mapped range in the device's memory; false if it is not one contiguous range of this device.
  bool locate(const void* address, size_t size, size_t* offset) const;

  // The physical memory of `handle`, or of the range, is shared with another process from now on.
  void share(const void* handle);
  void share(const void* address, size_t size);
  // Whether the range is mapped, and no byte of it is mapped elsewhere or shared with another process.
  bool is_private(const void* address, size_t size) const;

  // Forgets everything (device reset).
  void clear();

 private:
  struct Physical {
    size_t offset = 0;  // in the region's memory, or in the file of `imported`
    size_t size = 0;
    ImportedRange imported;  // memory of another process; without a file: of this device
    bool is_imported() const { return imported.file.fd() >= 0; }
    int mappings = 0;
    bool freed = false;
    bool shared = false;  // with other processes
  };
  struct Mapping {
    size_t size = 0;
    size_t offset = 0;       // in the region's memory
    void* handle = nullptr;  // null for memory that import() mapped
  };
  using Mappings = std::map<char*, Mapping>;

  Status reserve_locked(size_t size, char** out);
  void drop_if_unused(Physical* physical);
  // The mapping that contains `address`, or end().
  Mappings::const_iterator holding(const char* address) const;

  Region* region_;
  Heap* heap_;
  mutable std::mutex mutex_;                                       // guards all members below
  std::map<char*, size_t> reservations_;                           // address -> size
  Mappings mappings_;                                              // by address
  std::unordered_map<void*, std::unique_ptr<Physical>> physical_;  // a handle is its record's address
};

}  // namespace softnpu
