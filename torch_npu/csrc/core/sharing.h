#pragma once
// npu storages in several processes. The memory goes by a key of the device; a counter, in host memory that the
// processes share, keeps it alive at its owner's as long as another process uses it.

#include <c10/core/Storage.h>

#include <cstddef>
#include <string>

namespace torch_npu {

struct StorageTicket {
  c10::DeviceIndex device = 0;
  std::string key;           // of the piece of memory that holds the storage
  std::size_t nbytes = 0;    // of the storage
  std::size_t offset = 0;    // of the storage in that piece
  std::string counter_file;  // where the counter of its users stands
  std::size_t counter = 0;   // and at which place
};

// Lets another process open `storage`, once for each call. What its device does now is done first.
// Throws for a storage that another process owns.
StorageTicket share_storage(const c10::Storage& storage);

// The storage in this process. It has to be opened, or release_shared() called, once for each share_storage().
c10::Storage open_shared_storage(const StorageTicket& shared);

// Takes back one share_storage() that is not opened.
void release_shared(const StorageTicket& shared);

// Frees what this process has dropped and no other uses any more. Never throws.
void collect_shared() noexcept;

// Leaves the counters to the other processes; when this process ends.
void close_shared() noexcept;

}  // namespace torch_npu
