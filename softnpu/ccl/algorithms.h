#pragma once
// The collectives. Their arguments have been checked; comm->order() is held.

#include <cstdint>
#include <memory>
#include <vector>

#include "ccl/collective.h"

namespace softnpu::ccl {

// One part of a buffer for each rank, in elements.
struct Parts {
  std::vector<uint64_t> counts;
  std::vector<uint64_t> displacements;
};

std::unique_ptr<Collective> make_all_reduce(const std::shared_ptr<Communicator>& comm, Call call, Buffer send,
                                            Buffer recv);
// `recv` counts on the root.
std::unique_ptr<Collective> make_reduce(const std::shared_ptr<Communicator>& comm, Call call, Buffer send, Buffer recv);
std::unique_ptr<Collective> make_reduce_scatter(const std::shared_ptr<Communicator>& comm, Call call, Buffer send,
                                                Buffer recv);
std::unique_ptr<Collective> make_reduce_scatter_v(const std::shared_ptr<Communicator>& comm, Call call, Buffer send,
                                                  Buffer recv, Parts parts);
std::unique_ptr<Collective> make_broadcast(const std::shared_ptr<Communicator>& comm, Call call, Buffer buffer);
std::unique_ptr<Collective> make_all_gather(const std::shared_ptr<Communicator>& comm, Call call, Buffer send,
                                            Buffer recv);
// `send` counts on the root.
std::unique_ptr<Collective> make_scatter(const std::shared_ptr<Communicator>& comm, Call call, Buffer send,
                                         Buffer recv);
std::unique_ptr<Collective> make_all_to_all(const std::shared_ptr<Communicator>& comm, Call call, Buffer send,
                                            Buffer recv);
// All-gather or all-to-all: what this rank sends to each, and gets from each.
std::unique_ptr<Collective> make_uneven(const std::shared_ptr<Communicator>& comm, Call call, Buffer send, Buffer recv,
                                        Parts sent, Parts received);
std::unique_ptr<Collective> make_barrier(const std::shared_ptr<Communicator>& comm);

}  // namespace softnpu::ccl
