#pragma once
// Checks of the collectives' arguments, and their launch.

#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "base/text.h"
#include "ccl/algorithms.h"
#include "ccl/api.h"
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

// Enqueues the collective `op`, which make(comm) makes, also at each replay of a graph; `written` is what it writes.
template <typename Make>
Status launch_collective(const std::shared_ptr<Communicator>& comm, Operator op, aclrtStream stream,
                         const Buffer& written, void* address, Make make) {
  const softnpuRange range{address, written.bytes()};
  return Operation::launch(comm, op, stream, {&range, range.bytes > 0 ? size_t{1} : size_t{0}},
                           [make = std::move(make)](const auto& on, std::unique_ptr<Operation>* out) {
                             std::unique_ptr<Collective> result = make(on);
                             SOFTNPU_RETURN_IF_ERROR(result->prepare());
                             *out = std::move(result);
                             return Status::ok();
                           });
}

}  // namespace softnpu::ccl
