#pragma once
// Device memory shared between processes. A key names the exporting process, its memory file and a range of it; the
// importer opens the file through /proc, which the kernel allows only to processes of the same user.

#include <cstddef>
#include <map>
#include <mutex>
#include <string>

#include "base/status.h"

namespace softnpu {

class Device;
class Process;

// The bytes of the longest key, with its terminating null.
constexpr size_t kKeySize = 65;

// What this process shares: keys for its own memory, and the memory that it imported by keys.
class Sharing {
 public:
  // The key of [address, address + size), which must be in one live allocation of a device.
  Status export_range(Process& process, const void* address, size_t size, std::string* key);

  // The memory that `key` names, mapped at an address of `device`. Importing a key again returns the same address.
  Status import_key(Device& device, const std::string& key, void** out);

  // Undoes one import_key(). Does nothing for a key that this process exported: its allocation owns the memory.
  Status close(const std::string& key);

  // Forgets all imports of `device`, whose addresses are gone.
  void drop(const Device& device);

 private:
  struct Import {
    Device* device = nullptr;
    void* mapped = nullptr;   // page-aligned
    void* address = nullptr;  // the memory that the key names
    int uses = 0;
  };

  std::mutex mutex_;  // guards imports_
  std::map<std::string, Import> imports_;
};

}  // namespace softnpu
