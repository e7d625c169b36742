#pragma once
// Physical memory that other processes import by a number. The number encodes the exporting process and a descriptor of
// a record, which holds the memory's location and the processes that may import it.

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
  // `anybody`: any process may import it; otherwise only processes named by allow().
  Status export_physical(Device& device, void* handle, bool anybody, uint64_t* number);
  // `number` is one of this process's exports.
  Status allow(uint64_t number, const int32_t* pids, size_t count);
  // Makes a handle of `device` for the memory of `number`. The exporting process must be alive and still own it.
  Status import(uint64_t number, Device& device, void** handle);
  // Called when the memory is freed: invalidates its numbers.
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
