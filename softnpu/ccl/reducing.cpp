// All-reduce, reduce and reduce-scatter.

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/text.h"
#include "ccl/algorithms.h"
#include "ccl/reduce.h"
#include "simd/non_temporal.h"

namespace softnpu::ccl {
namespace {

class Reducing : public Collective {
 public:
  using Collective::Collective;

 protected:
  size_t element() const { return size_of(static_cast<HcclDataType>(call().dtype)); }

  // Reduces `count` elements from element `first` of what all ranks send.
  Status reduce_from(uint64_t first, uint64_t count, char* output) const {
    if (count == 0) return Status::ok();
    std::vector<const char*> inputs(size());
    for (uint32_t other = 0; other < size(); ++other) {
      SOFTNPU_RETURN_IF_ERROR(source(other, first * element(), count * element(), &inputs[other]));
    }
    reduce(static_cast<HcclDataType>(call().dtype), static_cast<HcclReduceOp>(call().reduce), inputs, count, output,
           exceeds_caches());
    return Status::ok();
  }
};

class AllReduce final : public Reducing {
 public:
  using Reducing::Reducing;

  Status prepare() override {
    SOFTNPU_RETURN_IF_ERROR(Collective::prepare());
    if (is_small() || size() == 1 || recv().is_shared()) return Status::ok();
    final_ = recv_;
    return final_.stage(comm(), &recv_, &staged_);
  }

 private:
  uint64_t largest_contribution() const override { return call().count * element(); }
  bool waits_for_reader(uint32_t) const override { return true; }
  const Buffer* second_source() const override { return &recv(); }

  // What exceeds the caches is reduced in chunks, so that ranks gather each while it is in them. The same number on all
  // ranks: the call tells it, whatever is in place.
  uint64_t chunk_count() const {
    constexpr uint64_t kChunkBytes = uint64_t{4} << 20;
    constexpr uint64_t kMaxChunks = kRounds / 4;
    const uint64_t bytes = call().count * element();
    if (bytes < static_cast<uint64_t>(kNonTemporalBytes) / size()) return 1;
    return std::clamp<uint64_t>(bytes / kChunkBytes, 1, kMaxChunks);
  }

  // The elements of a chunk that a rank reduces: whole cache lines.
  std::pair<uint64_t, uint64_t> slice(uint64_t chunk, uint32_t of) const {
    const uint64_t line = 64 / element();
    const uint64_t lines = (call().count + line - 1) / line;
    const uint64_t parts = chunk_count() * size();
    const auto edge = [&](uint64_t part) { return std::min(call().count, lines * part / parts * line); };
    return {edge(chunk * size() + of), edge(chunk * size() + of + 1)};
  }

  // Round n reduces this rank's slice of chunk n and gathers the other ranks' slices of the chunk before.
  Status read(uint32_t round, bool* more) override {
    if (is_small() || size() == 1) return reduce_from(0, call().count, recv().data());
    *more = round < chunk_count();
    if (round > 0) SOFTNPU_RETURN_IF_ERROR(gather(round - 1));
    if (*more) {
      const auto [first, last] = slice(round, rank());
      return reduce_from(first, last - first, recv().data() + first * element());
    }
    if (final_.bytes() > 0) std::memcpy(final_.data(), recv().data(), recv().bytes());
    return Status::ok();
  }

  Status gather(uint64_t chunk) const {
    for (uint32_t i = 1; i < size(); ++i) {
      const uint32_t other = (rank() + i) % size();
      const auto [first, last] = slice(chunk, other);
      const uint64_t bytes = (last - first) * element();
      const char* from = nullptr;
      SOFTNPU_RETURN_IF_ERROR(source(other, first * element(), bytes, &from, true));
      copy(from, first * element(), bytes);
    }
    return Status::ok();
  }

  Buffer final_;  // where the result goes in the end, if other ranks cannot read it there
  std::shared_ptr<void> staged_;
};

class Reduce final : public Reducing {
 public:
  using Reducing::Reducing;

 private:
  bool is_root() const { return rank() == call().root; }
  uint64_t largest_contribution() const override { return call().count * element(); }
  bool waits_for_reader(uint32_t other) const override { return other == call().root; }
  Status read(uint32_t, bool*) override {
    return is_root() ? reduce_from(0, call().count, recv().data()) : Status::ok();
  }
};

class ReduceScatter final : public Reducing {
 public:
  using Reducing::Reducing;

 private:
  uint64_t largest_contribution() const override { return call().count * element() * size(); }
  bool waits_for_reader(uint32_t) const override { return true; }
  Status read(uint32_t, bool*) override { return reduce_from(call().count * rank(), call().count, recv().data()); }
};

class ReduceScatterV final : public Reducing {
 public:
  ReduceScatterV(const std::shared_ptr<Communicator>& comm, Call call, Buffer send, Buffer recv, Parts parts)
      : Reducing(comm, call, send, recv), parts_(std::move(parts)) {}

 private:
  // Never small: ranks would have to agree on the sum of the counts before they know that they do.
  uint64_t largest_contribution() const override { return UINT64_MAX; }
  bool waits_for_reader(uint32_t) const override { return true; }
  void publish_numbers() override {
    std::ranges::copy(parts_.counts, comm().control().counts(rank(), parity()));
    std::ranges::copy(parts_.displacements, comm().control().displacements(rank(), parity()));
  }
  Status check(uint32_t other, const Published&) override {
    const uint64_t theirs = comm().control().counts(other, parity())[rank()];
    first_.push_back(comm().control().displacements(other, parity())[rank()]);
    if (theirs == call().count) return Status::ok();
    return {ACL_ERROR_INVALID_PARAM, text("HcclReduceScatterV: rank ", rank(), " receives ", call().count,
                                          " elements, rank ", other, " has ", theirs, " for it")};
  }
  Status read(uint32_t, bool*) override {
    if (call().count == 0) return Status::ok();
    std::vector<const char*> inputs(size());
    for (uint32_t other = 0; other < size(); ++other) {
      if (first_[other] > UINT64_MAX / element()) first_[other] = UINT64_MAX / element();
      SOFTNPU_RETURN_IF_ERROR(source(other, first_[other] * element(), call().count * element(), &inputs[other]));
    }
    reduce(static_cast<HcclDataType>(call().dtype), static_cast<HcclReduceOp>(call().reduce), inputs, call().count,
           recv().data(), exceeds_caches());
    return Status::ok();
  }

  const Parts parts_;
  std::vector<uint64_t> first_;  // by rank: its element for this one
};

}  // namespace

std::unique_ptr<Collective> make_all_reduce(const std::shared_ptr<Communicator>& comm, Call call, Buffer send,
                                            Buffer recv) {
  return std::make_unique<AllReduce>(comm, call, send, recv);
}
std::unique_ptr<Collective> make_reduce(const std::shared_ptr<Communicator>& comm, Call call, Buffer send,
                                        Buffer recv) {
  return std::make_unique<Reduce>(comm, call, send, recv);
}
std::unique_ptr<Collective> make_reduce_scatter(const std::shared_ptr<Communicator>& comm, Call call, Buffer send,
                                                Buffer recv) {
  return std::make_unique<ReduceScatter>(comm, call, send, recv);
}
std::unique_ptr<Collective> make_reduce_scatter_v(const std::shared_ptr<Communicator>& comm, Call call, Buffer send,
                                                  Buffer recv, Parts parts) {
  return std::make_unique<ReduceScatterV>(comm, call, send, recv, std::move(parts));
}

}  // namespace softnpu::ccl
