#pragma once
// Physical memory that other processes import by a number, the short form of an export's ticket (exports.h). The number
// opens the memory while its handle lives; the memory lives until the last handle and mapping of any process are gone.

#include <cstddef>
#include <cstdint>

#include "base/status.h"

namespace softnpu {

class Device;
class Process;

namespace shareable {

// `anybody`: any process of this user may import it; otherwise only processes named by allow().
Status export_physical(Process& process, Device& device, void* handle, bool anybody, uint64_t* number);
// `number` is one of this process's exports.
Status allow(Process& process, uint64_t number, const int32_t* pids, size_t count);
// Makes a handle of `device` for the memory of `number`. The exporting process must be alive and still own it.
Status import(uint64_t number, Device& device, void** handle);

}  // namespace shareable
}  // namespace softnpu
