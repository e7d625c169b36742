#pragma once
// npu storages shared between processes. The memory is identified by a key of the device. A counter, in host memory
// that the processes share, keeps it alive in its owner while another process uses it.

#include <c10/core/Storage.h>

#include <cstddef>
#include <string>

namespace torch_npu {

struct StorageTicket {
  c10::DeviceIndex device = 0;
  std::string key;           // of the memory piece that contains the storage
  std::size_t nbytes = 0;    // of the storage
  std::size_t offset = 0;    // of the storage in that piece
  std::string counter_file;  // the file with the counter of its users
  std::size_t counter = 0;   // index in that file
};

// Allows another process to open `storage`, once per call. Waits for the device's current work first. Throws for a
// storage that another process owns.
StorageTicket share_storage(const c10::Storage& storage);

// The storage in this process. Must be opened, or release_shared() called, once for each share_storage().
c10::Storage open_shared_storage(const StorageTicket& shared);

// Undoes one share_storage() that is not opened.
void release_shared(const StorageTicket& shared);

// Frees memory that this process has dropped and no other uses. Never throws.
void collect_shared() noexcept;

// Stops using the counters, when this process ends.
void close_shared() noexcept;

}  // namespace torch_npu
