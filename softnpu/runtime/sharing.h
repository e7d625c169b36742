#pragma once
// Device memory of one process in another. A key names the exporting process, its memory file and a range of it; the
// importer opens the file through /proc, which the kernel allows to processes of the same user only.

#include <cstddef>
#include <map>
#include <mutex>
#include <string>

#include "base/status.h"

namespace softnpu {

class Device;
class Process;

// A key with its end fits in as many bytes.
constexpr size_t kKeySize = 65;

// What this process shares with others: a key for memory of its own, and the memory that it opened by keys.
class Sharing {
 public:
  // The key of [address, address + size), which lies in one live allocation of a device.
  Status export_range(Process& process, const void* address, size_t size, std::string* key);

  // The memory that `key` names, at an address of `device`. Opened again, a key gives the same address.
  Status import_key(Device& device, const std::string& key, void** out);

  // Undoes one import_key(). For a key that this process exported it does nothing: the allocation decides.
  Status close(const std::string& key);

  // Forgets what was opened on `device`, whose addresses are gone.
  void drop(const Device& device);

 private:
  struct Import {
    Device* device = nullptr;
    void* mapped = nullptr;   // page-aligned
    void* address = nullptr;  // what the key names
    int uses = 0;
  };

  std::mutex mutex_;  // guards imports_
  std::map<std::string, Import> imports_;
};

}  // namespace softnpu
