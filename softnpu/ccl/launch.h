#pragma once
// Checks of the collectives' arguments, and their launch.

#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>

#include "base/text.h"
#include "ccl/api.h"
#include "ccl/collectives.h"
#include "softnpu/memory_events.h"

namespace softnpu::ccl {

Status check_type(HcclDataType type);
Status check_reduction(HcclReduceOp op);
Status check_root(const Communicator& comm, const char* role, uint32_t root);

// `count` elements of `type` for each of `parts` ranks, in bytes.
Status bytes_for(HcclDataType type, uint64_t count, uint64_t parts, uint64_t* out);

// One part for each rank of `comm`, in host memory. `bytes`: of the smallest buffer that holds them all.
Status read_parts(const Communicator& comm, const char* role, const void* counts, const void* displacements,
                  HcclDataType type, Parts* out, uint64_t* bytes);

// Fails if the buffers overlap, unless both begin where `in_place` says: `recv` at byte `offset` of `send`, which may
// be negative.
Status check_overlap(const Buffer& send, const Buffer& recv, int64_t offset);
Status check_no_overlap(const Buffer& send, const Buffer& recv);

// Enqueues the collective that `make()` returns; `written` is what it writes.
template <typename Make>
Status launch_collective(Communicator& comm, aclrtStream stream, const Buffer& written, void* address,
                         const Make& make) {
  std::lock_guard order(comm.order());
  std::unique_ptr<Collective> made = make();
  if (Status status = made->prepare(); !status.is_ok()) {
    comm.fail(status);  // the other ranks wait for it
    return status;
  }
  const softnpuRange range{address, written.bytes()};
  return Operation::launch(std::move(made), stream, {&range, range.bytes > 0 ? size_t{1} : size_t{0}});
}

}  // namespace softnpu::ccl
