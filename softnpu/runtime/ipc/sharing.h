#pragma once
// Device memory shared between processes. A key is the text of an export's ticket (exports.h). It opens the memory
// while the allocation lives. Memory that importers have open is not reused, even if its owner frees it meanwhile.

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "base/status.h"
#include "runtime/ipc/imported_range.h"

namespace softnpu {

class Device;
class Process;

// The bytes of the longest key, with its terminating null.
constexpr size_t kKeySize = 65;

// What this process shares: keys for its own memory, and the memory that it imported by keys.
class Sharing {
 public:
  // The key of [address, address + size), which must be in one live allocation of a device. `anybody`: any process of
  // this user may import it; otherwise only processes named by allow().
  Status export_range(Process& process, const void* address, size_t size, bool anybody, std::string* key);
  // `key` is one of this process's.
  static Status allow(Process& process, const std::string& key, const int32_t* pids, size_t count);

  // The memory that `key` names, mapped at an address of `device`. Importing a key again returns the same address. The
  // exporter is asked each time.
  Status import_key(Device& device, const std::string& key, void** out);

  // Undoes one import_key(). Does nothing for a key that this process exported: its allocation owns the memory.
  Status close(const std::string& key);

  struct Import {
    Device* device = nullptr;
    void* mapped = nullptr;   // page-aligned
    void* address = nullptr;  // the memory that the key names
    int uses = 0;
    ImportedRange range;
  };
  using Imports = std::map<std::string, Import>;

  // Removes and returns all imports of `device`, whose addresses are about to go: their leases end after those.
  Imports take(const Device& device);

 private:
  std::mutex mutex_;  // guards imports_
  Imports imports_;
};

}  // namespace softnpu
