#pragma once
// An operation of all ranks. It publishes the call and waits for the others', checks that they agree, reads the others'
// memory in one or two rounds, and ends when those who read this rank's memory have done so.
//
// A small one publishes its data with the call, and ends when it has the others': the next collective publishes
// elsewhere, and the one after it begins when all ranks have called the next.

#include <string>
#include <vector>

#include "ccl/buffer.h"
#include "ccl/operation.h"

namespace softnpu::ccl {

class Collective : public Operation {
 public:
  // `send`: what other ranks read of this one. comm->order() is held until the launch.
  Collective(const std::shared_ptr<Communicator>& comm, Call call, Buffer send, Buffer recv);

  // Before the launch, what may fail.
  virtual Status prepare();

 protected:
  const Call& call() const { return call_; }
  const Buffer& send() const { return send_; }
  const Buffer& recv() const { return recv_; }
  uint32_t rank() const { return comm().rank(); }
  uint32_t size() const { return comm().size(); }
  uint64_t parity() const { return number_ % RankSlot::kParities; }

  // Whether `rank`'s data is published with the call; the same on all ranks that agree.
  bool is_small() const { return largest_contribution() <= RankSlot::kPayload; }
  // The bytes of the rank that contributes most, as the call tells.
  virtual uint64_t largest_contribution() const = 0;
  // Whether it ends only after `other` has read this rank's memory.
  virtual bool waits_for_reader(uint32_t other) const = 0;
  // Checks further what `other` published. `theirs` agrees with the call.
  virtual Status check(uint32_t other, const Published& theirs);
  // Reads other ranks' memory; all have published. With `*more` it is called once more when all have returned.
  virtual Status read(uint32_t round, bool* more) = 0;
  // Writes numbers into the control area, before the call is published.
  virtual void publish_numbers() {}
  // The buffer that others read in the second round; published as Published::recv.
  virtual const Buffer* second_source() const { return nullptr; }

  // [offset, offset + bytes) of what `other` sends; `from_recv`: of its receive buffer instead.
  Status source(uint32_t other, uint64_t offset, uint64_t bytes, const char** out, bool from_recv = false) const;
  void copy(const char* from, uint64_t offset, uint64_t bytes) const;
  // Whether the buffers of all ranks fill the last level of the caches, which they share.
  bool exceeds_caches() const;

  Buffer recv_;  // a subclass may put a copy in its place

 private:
  enum class Stage { kTurn, kCalled, kReading, kEnding };

  Status proceed(bool* done) override;
  bool is_ready() const noexcept override;
  bool is_hopeless() const noexcept override;
  Status explain(bool is_late) const override;
  std::string describe() const override;
  std::string trace_detail() const override { return trace_detail_of(call_, number_, -1, all_called_at_); }

  void publish();
  Status check_calls();
  Status mismatch(uint32_t other, const Published& theirs) const;
  // Whether it waits for `other`'s progress now, and for which.
  bool awaits(uint32_t other) const noexcept;
  bool is_behind(uint32_t other) const noexcept;
  void finish();

  const Call call_;
  Buffer send_;                     // or a copy that others can read
  const char* original_ = nullptr;  // of a copied one
  std::shared_ptr<void> staged_;
  const uint64_t number_;
  int64_t all_called_at_ = 0;  // for profilers
  Stage stage_ = Stage::kTurn;
  uint32_t round_ = 0;    // rounds of reading that are done
  uint64_t awaited_ = 0;  // progress
  std::vector<Published> theirs_;
};

}  // namespace softnpu::ccl
