#pragma once
// Physical memory that other processes import by a number: the exporting process and a descriptor of a record that says
// where the memory lies and who may have it.

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "base/file.h"
#include "base/status.h"

namespace softnpu {

class Device;

class Shareables {
 public:
  // `anybody`: whether processes have to be named by allow() before they can import.
  Status export_physical(Device& device, void* handle, bool anybody, uint64_t* number);
  // `number` is one of this process's exports.
  Status allow(uint64_t number, const int32_t* pids, size_t count);
  // Makes a handle of `device` for what `number` names. The exporter has to live, and to keep the memory.
  Status import(uint64_t number, Device& device, void** handle);
  // The memory is freed: its numbers name nothing any more.
  void forget(const void* handle);

 private:
  struct Export {
    File record;
    const void* handle = nullptr;
  };

  std::mutex mutex_;  // guards exports_
  std::map<uint64_t, Export> exports_;
};

}  // namespace softnpu
