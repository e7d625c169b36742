// Collectives that move data: broadcast, all-gather, scatter, all-to-all, barrier.

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "ccl/algorithms.h"

namespace softnpu::ccl {
namespace {

class Moving : public Collective {
 public:
  using Collective::Collective;

 protected:
  size_t element() const { return size_of(static_cast<HcclDataType>(call().dtype)); }

  // Copies `bytes` from byte `offset` of what `other` sends to byte `to` of the receive buffer.
  Status take(uint32_t other, uint64_t offset, uint64_t bytes, uint64_t to) const {
    if (bytes == 0) return Status::ok();
    const char* from = nullptr;
    SOFTNPU_RETURN_IF_ERROR(source(other, offset, bytes, &from));
    copy(from, to, bytes);
    return Status::ok();
  }

  // Calls `take_from(other)` for each rank. Ranks begin with different ones, so that they read different memory.
  template <typename TakeFrom>
  Status from_all(const TakeFrom& take_from) const {
    for (uint32_t i = 0; i < size(); ++i) SOFTNPU_RETURN_IF_ERROR(take_from((rank() + i) % size()));
    return Status::ok();
  }
};

class Broadcast final : public Moving {
 public:
  using Moving::Moving;

 private:
  uint64_t largest_contribution() const override { return call().count * element(); }
  bool waits_for_reader(uint32_t) const override { return rank() == call().root; }
  Status read(uint32_t, bool*) override {
    return rank() == call().root ? Status::ok() : take(call().root, 0, recv().bytes(), 0);
  }
};

class AllGather final : public Moving {
 public:
  using Moving::Moving;

 private:
  uint64_t largest_contribution() const override { return call().count * element(); }
  bool waits_for_reader(uint32_t) const override { return true; }
  Status read(uint32_t, bool*) override {
    const uint64_t bytes = call().count * element();
    return from_all([&](uint32_t other) { return take(other, 0, bytes, other * bytes); });
  }
};

class Scatter final : public Moving {
 public:
  using Moving::Moving;

 private:
  uint64_t largest_contribution() const override { return call().count * element() * size(); }
  bool waits_for_reader(uint32_t) const override { return rank() == call().root; }
  Status read(uint32_t, bool*) override {
    const uint64_t bytes = call().count * element();
    return take(call().root, rank() * bytes, bytes, 0);
  }
};

class AllToAll final : public Moving {
 public:
  using Moving::Moving;

 private:
  uint64_t largest_contribution() const override { return call().count * element() * size(); }
  bool waits_for_reader(uint32_t) const override { return true; }
  Status read(uint32_t, bool*) override {
    const uint64_t bytes = call().count * element();
    return from_all([&](uint32_t other) { return take(other, rank() * bytes, bytes, other * bytes); });
  }
};

// All-gather and all-to-all whose parts differ in size.
class Uneven final : public Moving {
 public:
  Uneven(const std::shared_ptr<Communicator>& comm, Call call, Buffer send, Buffer recv, Parts sent, Parts received)
      : Moving(comm, call, send, recv), sent_(std::move(sent)), received_(std::move(received)), first_(size()) {}

 private:
  // Never small: a rank does not know what the others contribute.
  uint64_t largest_contribution() const override { return UINT64_MAX; }
  bool waits_for_reader(uint32_t) const override { return true; }
  void publish_numbers() override {
    std::ranges::copy(sent_.counts, comm().control().counts(rank(), parity()));
    std::ranges::copy(sent_.displacements, comm().control().displacements(rank(), parity()));
  }
  Status check(uint32_t other, const Published&) override {
    const uint64_t theirs = comm().control().counts(other, parity())[rank()];
    first_[other] = std::min(comm().control().displacements(other, parity())[rank()], UINT64_MAX / element());
    if (theirs == received_.counts[other]) return Status::ok();
    return {ACL_ERROR_INVALID_PARAM, text(name_of(call().op), ": rank ", other, " sends rank ", rank(), " ", theirs,
                                          " elements, which expects ", received_.counts[other])};
  }
  Status read(uint32_t, bool*) override {
    return from_all([&](uint32_t other) {
      return take(other, first_[other] * element(), received_.counts[other] * element(),
                  received_.displacements[other] * element());
    });
  }

  const Parts sent_;
  const Parts received_;
  std::vector<uint64_t> first_;  // by rank: its element for this one
};

class Barrier final : public Collective {
 public:
  using Collective::Collective;

 private:
  uint64_t largest_contribution() const override { return 0; }
  bool waits_for_reader(uint32_t) const override { return false; }
  Status read(uint32_t, bool*) override { return Status::ok(); }
};

}  // namespace

std::unique_ptr<Collective> make_broadcast(const std::shared_ptr<Communicator>& comm, Call call, Buffer buffer) {
  const bool is_root = comm->rank() == call.root;
  return std::make_unique<Broadcast>(comm, call, is_root ? buffer : Buffer(), buffer);
}
std::unique_ptr<Collective> make_all_gather(const std::shared_ptr<Communicator>& comm, Call call, Buffer send,
                                            Buffer recv) {
  return std::make_unique<AllGather>(comm, call, send, recv);
}
std::unique_ptr<Collective> make_scatter(const std::shared_ptr<Communicator>& comm, Call call, Buffer send,
                                         Buffer recv) {
  return std::make_unique<Scatter>(comm, call, send, recv);
}
std::unique_ptr<Collective> make_all_to_all(const std::shared_ptr<Communicator>& comm, Call call, Buffer send,
                                            Buffer recv) {
  return std::make_unique<AllToAll>(comm, call, send, recv);
}
std::unique_ptr<Collective> make_uneven(const std::shared_ptr<Communicator>& comm, Call call, Buffer send, Buffer recv,
                                        Parts sent, Parts received) {
  return std::make_unique<Uneven>(comm, call, send, recv, std::move(sent), std::move(received));
}
std::unique_ptr<Collective> make_barrier(const std::shared_ptr<Communicator>& comm) {
  return std::make_unique<Barrier>(comm, Call{.op = Operator::kBarrier}, Buffer(), Buffer());
}

}  // namespace softnpu::ccl
