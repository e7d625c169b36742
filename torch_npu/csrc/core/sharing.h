#pragma once
// npu storages shared between processes. The memory is identified by a key of the device. Its sender keeps it alive
// while another process uses it (sent_storages.h).

#include <c10/core/Storage.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace torch_npu {

struct StorageTicket {
  c10::DeviceIndex device = 0;
  std::string key;         // of the memory piece that contains the storage
  std::size_t nbytes = 0;  // of the storage
  std::size_t offset = 0;  // of the storage in that piece
  std::string sender;      // the socket of the process that sent it
  std::uint64_t user = 0;  // the sender's number for this user
};

// Allows another process to open `storage`, once per call. Waits for the device's current work first. Throws for a
// storage that another process owns.
StorageTicket share_storage(const c10::Storage& storage);

// The storage in this process, once for each share_storage(). Throws if the sender has ended, or knows no such ticket.
c10::Storage open_shared_storage(const StorageTicket& shared);

// Undoes one share_storage() that is not opened.
void release_shared(const StorageTicket& shared);

// Frees memory that this process has dropped and no other uses. Never throws.
void collect_shared() noexcept;

// Stops answering other processes, when this one ends.
void close_shared() noexcept;

}  // namespace torch_npu
